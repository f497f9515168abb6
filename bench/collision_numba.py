#!/usr/bin/env python3
"""A gas of spheres: bench/gas.lua beside two programs in Numba and LAMMPS, in turn, in one run. The first one in Numba
searches its cells anew in every step; the second one, as a careful user would, keeps lists of neighbours with a skin until a
grain has moved by half of it. A program that fails, or whose temperature and contacts differ from ours, is left out
with a line that says why.

usage: collision_numba.py PATH/TO/sim [--n N]... [--warm STEPS] [--steps STEPS] [--rounds R] [--threads T]
                          [--lammps COMMAND]
"""
import argparse
import functools
import math
import os
import re
import sys
import time

import steps

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
    """Forces on each grain separately, from its own cell and the 26 cells around it."""
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


@numba.njit(parallel=True, fastmath=True)
def make_lists(x, cells, side, first, reach, near, count):
    """Indices of all grains nearer than reach to each one. count may exceed the size of near: the caller checks."""
    half, room = F(0.5) * side, near.shape[1]
    for row in numba.prange(cells * cells):
        cx, cy = row // cells, row % cells
        around = np.empty(27, np.int64)
        for cz in range(cells):
            m = 0
            for ox in range(-1, 2):
                for oy in range(-1, 2):
                    line = (((cx + ox) % cells) * cells + (cy + oy) % cells) * cells
                    for oz in range(-1, 2):
                        around[m] = line + (cz + oz) % cells
                        m += 1
            for i in range(first[row * cells + cz], first[row * cells + cz + 1]):
                found = 0
                for there in around:
                    for j in range(first[there], first[there + 1]):
                        dx, dy, dz = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]
                        if dx > half: dx -= side
                        elif dx < -half: dx += side
                        if dy > half: dy -= side
                        elif dy < -half: dy += side
                        if dz > half: dz -= side
                        elif dz < -half: dz += side
                        if dx * dx + dy * dy + dz * dz < reach * reach and j != i:
                            if found < room: near[i, found] = j
                            found += 1
                count[i] = found


@numba.njit(parallel=True, fastmath=True)
def forces_by_lists(x, side, near, count, f, touching):
    half = F(0.5) * side
    for i in numba.prange(x.shape[0]):
        a = b = c = F(0)
        met = 0
        for k in range(count[i]):
            j = near[i, k]
            dx, dy, dz = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]
            if dx > half: dx -= side
            elif dx < -half: dx += side
            if dy > half: dy -= side
            elif dy < -half: dy += side
            if dz > half: dz -= side
            elif dz < -half: dz += side
            square = dx * dx + dy * dy + dz * dz
            if square < F(1):
                r = math.sqrt(square)
                push = STIFFNESS * (F(1) - r) / r
                a += push * dx
                b += push * dy
                c += push * dz
                met += 1
        f[i, 0], f[i, 1], f[i, 2] = a, b, c
        touching[i] = met


@numba.njit(parallel=True, fastmath=True)
def farthest(x, from_x, side):
    """Square of the greatest displacement from from_x."""
    most = F(0)
    for i in numba.prange(x.shape[0]):
        square = F(0)
        for k in range(3):
            d = x[i, k] - from_x[i, k]
            d -= side * np.rint(d / side)
            square += d * d
        most = max(most, square)
    return most


class Gas:
    """New cells in every step."""

    reach = 1.0

    def __init__(self, n):
        m = math.ceil(n ** (1 / 3) - 1e-9)
        self.side = F((n * math.pi / 6 / PACKING) ** (1 / 3))
        places = np.stack(np.meshgrid(*[np.arange(m)] * 3, indexing="ij"), -1).reshape(-1, 3)
        places = places[np.linspace(0, m**3 - 1, n).astype(int)]
        self.x = ((places + 0.5) * (float(self.side) / m)).astype(F)
        self.v = np.random.default_rng(1).normal(0, math.sqrt(TEMPERATURE), (n, 3))
        self.v = (self.v - self.v.mean(0)).astype(F)
        self.cells = int(float(self.side) / self.reach)
        self.sx, self.sv, self.f = np.empty_like(self.x), np.empty_like(self.v), np.empty_like(self.x)
        self.cell, self.at = np.empty(n, np.int32), np.empty(self.cells**3, np.int32)
        self.first, self.touching = np.zeros(self.cells**3 + 1, np.int32), np.zeros(n, np.int32)

    def sort(self):
        sort(self.x, self.v, self.sx, self.sv, self.cells, self.side, self.cell, self.first, self.at)
        self.x, self.sx, self.v, self.sv = self.sx, self.x, self.sv, self.v

    def forces(self):
        self.sort()
        forces(self.x, self.cells, self.side, self.first, self.f, self.touching)

    def step(self):
        self.forces()
        move(self.x, self.v, self.f, self.side)


class Lists(Gas):
    """Lists with a skin of 0.3 (the fastest of 0.2, 0.3 and 0.4), sorted by cells when they are built."""

    reach = 1.3

    def __init__(self, n):
        super().__init__(n)
        self.near, self.count, self.from_x = np.empty((n, 32), np.int32), np.zeros(n, np.int32), None

    def forces(self):
        half = (self.reach - 1.0) / 2
        if self.from_x is None or farthest(self.x, self.from_x, self.side) > (0.99 * half) ** 2:
            self.sort()
            make_lists(self.x, self.cells, self.side, self.first, F(self.reach), self.near, self.count)
            if self.count.max() > self.near.shape[1]:
                raise RuntimeError("its lists have no room")
            self.from_x = self.x.copy()
        forces_by_lists(self.x, self.side, self.near, self.count, self.f, self.touching)


def check(program):
    """Forces of 1000 grains against all pairs in float64: fp32 positions of 12 and an overlap of 0.01."""
    gas = program(1000)
    for _ in range(400):
        gas.step()
    gas.forces()
    x = gas.x.astype(float)
    d = x[:, None] - x[None]
    d -= float(gas.side) * np.round(d / float(gas.side))
    r = np.sqrt((d**2).sum(2)) + 10 * np.eye(len(x))
    expected = (np.where(r < 1, 1000 * (1 - r) / r, 0)[:, :, None] * d).sum(1)
    if np.abs(gas.f - expected).max() > 1e-2 or not (r < 1).any():
        sys.exit("the Numba program's forces are wrong")


def timed_numba(program, n):
    gas = program(n)
    for _ in range(arguments.warm):
        gas.step()
    start = time.perf_counter()
    for _ in range(arguments.steps):
        gas.step()
    seconds = time.perf_counter() - start
    return n * arguments.steps / seconds / 1e6, (gas.v.astype(float) ** 2).mean(), gas.touching.mean()


def timed_ours(n):
    text = steps.sim(arguments.program, "bench", "gas", "--device", "cpu", "--set", f"n={n}", "--threads",
                     str(arguments.threads), "--warm", str(arguments.warm), "--steps", str(arguments.steps))
    temperature, coordination = (re.search(rf"{word} ([\d.]+)", text)[1] for word in ("temperature", "coordination"))
    return steps.rate(text) / 1e6, float(temperature), float(coordination)


def agree(name, n, found, ours):
    """Gases of other random velocities: the mean of 3 n squares has a relative error of (2 / 3n)^1/2, a number of contacts of
    about (1 / number)^1/2, half the coordination a grain; four times the error of a difference."""
    for what, theirs, own, error in (("temperature", found[0], ours[0], math.sqrt(2 / (3 * n))),
                                     ("coordination", found[1], ours[1], 1 / math.sqrt(n * ours[1] / 2))):
        if not abs(theirs / own - 1) < 4 * math.sqrt(2) * error:
            raise RuntimeError(f"{what} {theirs:.5f}, ours {own:.5f}: not the same gas")


PROGRAMS = {"ours": timed_ours, "numba": functools.partial(timed_numba, Gas),
            "numba-lists": functools.partial(timed_numba, Lists)}
if arguments.lammps:
    from peers import collision_lammps

    PROGRAMS["lammps"] = lambda n: collision_lammps.timed(arguments.lammps, n, arguments.warm, arguments.steps)
check(Gas)
check(Lists)
for n in arguments.n or [1000000]:
    best, ours = dict.fromkeys(PROGRAMS, 0.0), None
    for _ in range(arguments.rounds):
        for name, program in PROGRAMS.items():
            if name not in best:
                continue
            try:
                rate, *found = program(n)
                ours = ours or found
                agree(name, n, found, ours)
            except Exception as reason:
                if name == "ours":
                    raise
                print(f"  {name} is left out: {reason}", flush=True)
                del best[name]
                continue
            best[name] = max(best[name], rate)
            print(f"  {name:11} n {n}: {rate:8.2f} million particle-steps a second, temperature {found[0]:.5f}, "
                  f"coordination {found[1]:.4f}", flush=True)
    print(f"n {n}, {arguments.threads} threads: " + ", ".join(f"{k} {v:.1f}" for k, v in best.items()) + "; ours is "
          + ", ".join(f"{best['ours'] / v:.1f} x {k}" for k, v in best.items() if k != "ours"))
