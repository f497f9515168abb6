#!/usr/bin/env python3
"""A gas of spheres: bench_collision beside the cells that a careful Numba user writes, and LAMMPS, in turn, in one run.

usage: collision_numba.py PATH/TO/bench_collision [--n N]... [--warm STEPS] [--steps STEPS] [--rounds R] [--threads T]
                          [--lammps COMMAND]
"""
import argparse
import math
import os
import re
import subprocess
import sys
import time

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("program")
parser.add_argument("--n", type=int, action="append")
parser.add_argument("--warm", type=int, default=300)
parser.add_argument("--steps", type=int, default=100)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
parser.add_argument("--lammps", default="", help="such as 'mpirun -np 2 lmp'")
arguments = parser.parse_args()
os.environ["NUMBA_NUM_THREADS"] = str(arguments.threads)

import numba
import numpy as np

F = np.float32
STIFFNESS, DT, PACKING, TEMPERATURE = F(1000), F(0.0014), 0.3, 0.1


@numba.njit(parallel=True, fastmath=True)
def sort(x, v, sx, sv, cells, side, cell, first, at):
    """Counting sort by cells; positions and velocities into sx, sv."""
    n, total = x.shape[0], cells**3
    scale = F(cells) / side
    for i in numba.prange(n):
        c = 0
        for k in range(3):
            c = c * cells + min(int(x[i, k] * scale), cells - 1)
        cell[i] = c
    first[:] = 0
    for i in range(n):
        first[cell[i] + 1] += 1
    for c in range(total):
        first[c + 1] += first[c]
        at[c] = first[c]
    for i in range(n):
        to = at[cell[i]]
        at[cell[i]] = to + 1
        for k in range(3):
            sx[to, k] = x[i, k]
            sv[to, k] = v[i, k]


@numba.njit(parallel=True, fastmath=True)
def forces(x, cells, side, first, f, touching):
    """Each grain by itself, from its own and the 26 cells around it."""
    half = F(0.5) * side
    for row in numba.prange(cells * cells):
        cx, cy = row // cells, row % cells
        for cz in range(cells):
            for i in range(first[row * cells + cz], first[row * cells + cz + 1]):
                a = b = c = F(0)
                count = 0
                for ox in range(-1, 2):
                    for oy in range(-1, 2):
                        line = (((cx + ox) % cells) * cells + (cy + oy) % cells) * cells
                        for oz in range(-1, 2):
                            there = line + (cz + oz) % cells
                            for j in range(first[there], first[there + 1]):
                                dx, dy, dz = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]
                                if dx > half: dx -= side
                                elif dx < -half: dx += side
                                if dy > half: dy -= side
                                elif dy < -half: dy += side
                                if dz > half: dz -= side
                                elif dz < -half: dz += side
                                square = dx * dx + dy * dy + dz * dz
                                if square < F(1) and j != i:
                                    r = math.sqrt(square)
                                    push = STIFFNESS * (F(1) - r) / r
                                    a += push * dx
                                    b += push * dy
                                    c += push * dz
                                    count += 1
                f[i, 0], f[i, 1], f[i, 2] = a, b, c
                touching[i] = count


@numba.njit(parallel=True, fastmath=True)
def move(x, v, f, side):
    for i in numba.prange(x.shape[0]):
        for k in range(3):
            v[i, k] += f[i, k] * DT
            w = x[i, k] + v[i, k] * DT
            x[i, k] = w - side if w >= side else (w + side if w < F(0) else w)


class Gas:
    def __init__(self, n):
        m = math.ceil(n ** (1 / 3) - 1e-9)
        self.side = F((n * math.pi / 6 / PACKING) ** (1 / 3))
        places = np.stack(np.meshgrid(*[np.arange(m)] * 3, indexing="ij"), -1).reshape(-1, 3)
        places = places[np.linspace(0, m**3 - 1, n).astype(int)]
        self.x = ((places + 0.5) * (float(self.side) / m)).astype(F)
        self.v = np.random.default_rng(1).normal(0, math.sqrt(TEMPERATURE), (n, 3))
        self.v = (self.v - self.v.mean(0)).astype(F)
        self.cells = int(self.side)
        self.sx, self.sv, self.f = np.empty_like(self.x), np.empty_like(self.v), np.empty_like(self.x)
        self.cell, self.at = np.empty(n, np.int32), np.empty(self.cells**3, np.int32)
        self.first, self.touching = np.zeros(self.cells**3 + 1, np.int32), np.zeros(n, np.int32)

    def step(self):
        sort(self.x, self.v, self.sx, self.sv, self.cells, self.side, self.cell, self.first, self.at)
        self.x, self.sx, self.v, self.sv = self.sx, self.x, self.sv, self.v
        forces(self.x, self.cells, self.side, self.first, self.f, self.touching)
        move(self.x, self.v, self.f, self.side)


def check():
    """Forces of 1000 grains against all pairs in float64: fp32 positions of 12 and an overlap of 0.01."""
    gas = Gas(1000)
    for _ in range(400):
        gas.step()
    gas.f[:] = 0
    sort(gas.x, gas.v, gas.sx, gas.sv, gas.cells, gas.side, gas.cell, gas.first, gas.at)
    forces(gas.sx, gas.cells, gas.side, gas.first, gas.f, gas.touching)
    x = gas.sx.astype(float)
    d = x[:, None] - x[None]
    d -= float(gas.side) * np.round(d / float(gas.side))
    r = np.sqrt((d**2).sum(2)) + 10 * np.eye(len(x))
    expected = (np.where(r < 1, 1000 * (1 - r) / r, 0)[:, :, None] * d).sum(1)
    if np.abs(gas.f - expected).max() > 1e-2 or not (r < 1).any():
        sys.exit("the Numba program's forces are wrong")


def timed_numba(n):
    gas = Gas(n)
    for _ in range(arguments.warm):
        gas.step()
    start = time.perf_counter()
    for _ in range(arguments.steps):
        gas.step()
    seconds = time.perf_counter() - start
    return n * arguments.steps / seconds / 1e6, (gas.v.astype(float) ** 2).mean(), gas.touching.mean() / 2


def timed_ours(n):
    command = [arguments.program, "--n", str(n), "--threads", str(arguments.threads), "--warm", str(arguments.warm),
               "--steps", str(arguments.steps)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.search(r"step, ([\d.]+) million.*temperature ([\d.]+), ([\d.]+) contacts", text)
    return tuple(float(word) for word in found.groups())


def timed_lammps(n):
    cells = round(n ** (1 / 3))
    given = {"cells": cells, "warm": arguments.warm, "steps": arguments.steps}
    command = arguments.lammps.split() + ["-log", "none", "-in", os.path.join(os.path.dirname(__file__), "peers/gran.in")]
    for name, value in given.items():
        command += ["-var", name, str(value)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    seconds = float(re.findall(r"Loop time of ([\d.]+)", text)[-1])
    row = re.findall(rf"^ *{arguments.warm + arguments.steps} +([\d.e+-]+) +([\d.e+-]+)", text, re.M)[-1]
    return cells**3 * arguments.steps / seconds / 1e6, float(row[0]), float(row[1]) / 2


check()
for n in arguments.n or [1000000]:
    programs = {"ours": timed_ours, "numba": timed_numba}
    if arguments.lammps:
        programs["lammps"] = timed_lammps
    best = dict.fromkeys(programs, 0.0)
    for _ in range(arguments.rounds):
        for name, program in programs.items():
            rate, temperature, contacts = program(n)
            best[name] = max(best[name], rate)
            print(f"  {name:6} n {n}: {rate:8.2f} million particle-steps a second, temperature {temperature:.5f}, "
                  f"{contacts:.4f} contacts a grain", flush=True)
    print(f"n {n}, {arguments.threads} threads: " + ", ".join(f"{k} {v:.1f}" for k, v in best.items()) + "; ours is "
          + ", ".join(f"{best['ours'] / v:.1f} x {k}" for k, v in best.items() if k != "ours"))
