#!/usr/bin/env python3
"""An Asian call on 252 prices: bench_option beside NumPy and Numba (parallel), in turn, in one run, all in fp32.

usage: option_numba.py PATH/TO/bench_option [--rounds R] [--threads T]
"""
import argparse
import math
import os
import subprocess
import sys
import time

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("program")
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
arguments = parser.parse_args()
os.environ["NUMBA_NUM_THREADS"] = str(arguments.threads)

import numba
import numpy as np

STEPS, KNOWN = 252, 5.781824
DRIFT, VOL = np.float32((0.05 - 0.02) / STEPS), np.float32(0.2 / math.sqrt(STEPS))


@numba.njit(parallel=True, fastmath=True)
def numba_sum(chunks, paths):
    total = np.zeros(chunks)
    for chunk in numba.prange(chunks):
        for _ in range(paths):
            x = mean = np.float32(0)
            for _ in range(STEPS):
                x += DRIFT + VOL * np.float32(np.random.standard_normal())
                mean += np.exp(x)
            total[chunk] += max(np.float32(100) * mean / np.float32(STEPS) - np.float32(100), np.float32(0))
    return total.sum() / (chunks * paths)


def numpy_mean(paths, rng=np.random.Generator(np.random.SFC64(1))):
    x = np.cumsum(DRIFT + VOL * rng.standard_normal((STEPS, paths), dtype=np.float32), axis=0)
    return np.maximum(100 * np.exp(x).mean(axis=0) - 100, 0).mean(dtype=float)


def rate(mean, paths, seconds=1.0):
    mean()
    best, values, start = 0.0, [], time.perf_counter()
    while time.perf_counter() - start < seconds:
        before = time.perf_counter()
        values.append(mean())
        best = max(best, paths * STEPS / (time.perf_counter() - before))
    error = 8.0 / math.sqrt(len(values) * paths)  # of the payoff's deviation, 8
    if abs(np.mean(values) * math.exp(-0.05) - KNOWN) > 5 * error:
        sys.exit(f"a price is wrong: {np.mean(values) * math.exp(-0.05)}")
    return best


def own_rate():
    command = [arguments.program, "--work", "asian", "--threads", str(arguments.threads), "--rate-only"]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


rounds = np.array([(own_rate(), rate(lambda: numba_sum(64, 256), 64 * 256), rate(lambda: numpy_mean(4096), 4096))
                   for _ in range(arguments.rounds)]) / 1e9
own, by_numba, by_numpy = rounds.max(axis=0)
print(f"Asian 252: ours {own:.3f}, Numba {by_numba:.4f}, NumPy {by_numpy:.4f} e9 path-steps/s (best);"
      f" {own / max(by_numba, by_numpy):.1f} times the better, {arguments.threads} threads")
