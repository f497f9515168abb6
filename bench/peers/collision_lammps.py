#!/usr/bin/env python3
"""The gas of bench/gas.lua in LAMMPS (gran.in): grain steps a second, temperature and coordination.

usage: collision_lammps.py N COMMAND [--warm STEPS] [--steps STEPS]      COMMAND: such as 'mpirun -np 2 lmp'
"""
import argparse
import os
import re
import subprocess
import sys


def timed(command, n, warm, steps):
    """Million grain steps a second, temperature, coordination; RuntimeError says why there are none."""
    cells = round(n ** (1 / 3))
    words = command.split() + ["-log", "none", "-in", os.path.join(os.path.dirname(os.path.abspath(__file__)), "gran.in")]
    for name, value in ("cells", cells), ("warm", warm), ("steps", steps):
        words += ["-var", name, str(value)]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        lines = (done.stderr + done.stdout).strip().splitlines() or [f"exit {done.returncode}"]
        raise RuntimeError(f"{words[0]}: {lines[0]}")
    loops = re.findall(r"Loop time of ([\d.]+) on (\d+) procs", done.stdout)
    rows = re.findall(rf"^ *{warm + steps} +([\d.e+-]+) +([\d.e+-]+)", done.stdout, re.M)
    if not loops or not rows:
        raise RuntimeError("no 'Loop time' with a last row in what it prints")
    ranks = re.search(r" -np? (\d+) ", command)
    if ranks and loops[-1][1] != ranks[1]:
        raise RuntimeError(f"{ranks[1]} ranks were asked for, it ran on {loops[-1][1]}: lmp is of another MPI than mpirun")
    return cells**3 * steps / float(loops[-1][0]) / 1e6, float(rows[-1][0]), float(rows[-1][1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("n", type=int)
    parser.add_argument("command")
    parser.add_argument("--warm", type=int, default=300)
    parser.add_argument("--steps", type=int, default=100)
    arguments = parser.parse_args()
    try:
        rate, temperature, coordination = timed(arguments.command, arguments.n, arguments.warm, arguments.steps)
    except (OSError, RuntimeError) as reason:
        sys.exit(f"LAMMPS: {reason}")
    print(f"lammps {rate:.2f} million particle-steps a second, temperature {temperature:.5f}, coordination {coordination:.4f}")


if __name__ == "__main__":
    main()
