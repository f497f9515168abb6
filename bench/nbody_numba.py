#!/usr/bin/env python3
"""Direct sums: bench/bodies.lua and the loop that a careful Numba user writes, in turn, in one run.

usage: nbody_numba.py PATH/TO/sim [--n N]... [--rounds R] [--threads T]
"""
import argparse
import os
import sys
import time

import steps

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("program")
parser.add_argument("--n", type=int, action="append")
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
arguments = parser.parse_args()
os.environ["NUMBA_NUM_THREADS"] = str(arguments.threads)

import numba
import numpy as np


@numba.njit(parallel=True, fastmath=True)
def accelerate(m, x, y, z, eps2, ax, ay, az):
    for i in numba.prange(m.size):
        xi, yi, zi = x[i], y[i], z[i]
        sx = sy = sz = x.dtype.type(0)
        for j in range(m.size):
            dx, dy, dz = x[j] - xi, y[j] - yi, z[j] - zi
            s2 = dx * dx + dy * dy + dz * dz + eps2
            inverse = x.dtype.type(1) / np.sqrt(s2)
            f = m[j] * inverse * inverse * inverse
            sx += f * dx
            sy += f * dy
            sz += f * dz
        ax[i], ay[i], az[i] = sx, sy, sz


def make(n, dtype):
    rng = np.random.default_rng(1)
    m = (rng.random(n) + 0.5).astype(dtype)
    x, y, z = (rng.random((3, n)) - 0.5).astype(dtype)
    return [m, x, y, z, dtype(1e-4), *(np.empty(n, dtype) for _ in range(3))]


def check(dtype):
    """Checks against NumPy in float64 on 500 bodies: 500 terms, each rounded a few times."""
    a = make(500, dtype)
    accelerate(*a)
    m, x = a[0].astype(float), np.array(a[1:4], float)
    d = x[:, None, :] - x[:, :, None]
    f = m / ((d**2).sum(0) + float(a[4])) ** 1.5
    error = np.abs((f * d).sum(2) - np.array(a[5:8])).max() / np.abs(f * d).sum(2).max()
    if error > 500 * np.finfo(dtype).eps:
        sys.exit(f"the Numba loop is wrong by {error}")


def numba_rate(n, dtype, seconds=1.0):
    a = make(n, dtype)
    accelerate(*a)
    best, start = np.inf, time.perf_counter()
    while time.perf_counter() - start < seconds:
        before = time.perf_counter()
        accelerate(*a)
        best = min(best, time.perf_counter() - before)
    return n * (n - 1) / best


def own_rate(n, precision):
    return steps.rate(steps.sim(arguments.program, "bench", "bodies", "--device", "cpu", "--precision", precision, "--set",
                                f"n={n}", "--threads", str(arguments.threads)))


for precision, dtype in ("single", np.float32), ("double", np.float64):
    check(dtype)
    for n in arguments.n or [16384]:
        rounds = [(own_rate(n, precision), numba_rate(n, dtype)) for _ in range(arguments.rounds)]
        own, other = np.array(rounds).T / 1e9
        print(f"{precision} n={n}: ours {own.max():.2f}, Numba {other.max():.2f} e9 interactions/s (best);"
              f" ratio of the bests {own.max() / other.max():.2f}, median of the rounds {np.median(own / other):.2f},"
              f" {arguments.threads} threads", flush=True)
