#!/usr/bin/env python3
"""How long `sim` takes to start: --version, and a scenario's first step with all that comes before and after it.

usage: startup.py PATH/TO/sim [--rounds R]     prints a JSON object of milliseconds: median and least
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("sim")
parser.add_argument("--rounds", type=int, default=11)
arguments = parser.parse_args()

SCENARIO = """return sim.nbody { bodies = { sim.plummer { n = 1000, mass = 1, radius = 1 } }, gravity = { softening = 0.05 },
  integrate = { dt = 1/1024, t_end = 1/1024 }, precision = "single",
  output = { snapshots = "never", tables = "never", checkpoint = "never" } }
"""


def seconds(command):
    begin = time.perf_counter()
    code = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE).returncode
    return time.perf_counter() - begin, code


with tempfile.TemporaryDirectory() as folder:
    scenario = os.path.join(folder, "one.lua")
    with open(scenario, "w") as file:
        file.write(SCENARIO)
    run = [arguments.sim, "run", scenario, "-q", "--force", "-o", os.path.join(folder, "out"), "--device"]
    commands = {"version": [arguments.sim, "--version"], "first step, cpu": run + ["cpu"], "first step, cuda": run + ["cuda"]}
    found = {}
    for name, command in commands.items():
        times = []
        for _ in range(arguments.rounds):
            took, code = seconds(command)
            if code != 0:
                break
            times.append(1e3 * took)
        if times:
            found[name] = {"median": statistics.median(times), "min": min(times)}
        elif name != "first step, cuda":
            sys.exit(f"startup.py: {' '.join(command)} ends with {code}")
print(json.dumps(found))
