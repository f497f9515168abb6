#!/usr/bin/env python3
"""An Asian call on 252 prices on one GPU: bench/option.lua, cuRAND in a fused kernel, Numba CUDA and JAX, in turn, in
one run, all with fp32 paths.

usage: option_gpu.py PATH/TO/sim PATH/TO/bench_option_curand [--rounds R]
"""
import argparse
import math
import os
import subprocess
import sys
import time

import steps

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("program")
parser.add_argument("curand")
parser.add_argument("--rounds", type=int, default=3)
arguments = parser.parse_args()
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"

import numpy as np

if not hasattr(np, "row_stack"):  # numba.cuda may still need it, and NumPy 2.5 no longer has it
    np.row_stack = np.vstack

STEPS, KNOWN, DISCOUNT = 252, 5.781824, math.exp(-0.05)
DRIFT, VOL = np.float32(0.03 / STEPS), np.float32(0.2 / math.sqrt(STEPS))


def numba_sampler(threads=132 * 2048, per_thread=16):
    from numba import cuda, float32
    from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_normal_float32

    @cuda.jit(fastmath=True)
    def kernel(states, sums):
        i = cuda.grid(1)
        total = 0.0
        for _ in range(per_thread):
            x = mean = float32(0)
            for _ in range(STEPS):
                x += DRIFT + VOL * xoroshiro128p_normal_float32(states, i)
                mean += math.exp(x)
            total += max(float32(100) * mean / float32(STEPS) - float32(100), float32(0))
        sums[i] = total

    states = create_xoroshiro128p_states(threads, seed=1)
    sums = cuda.device_array(threads)

    def sample():
        kernel[threads // 256, 256](states, sums)
        cuda.synchronize()

    return sample, lambda: sums.copy_to_host().sum() / (threads * per_thread), threads * per_thread


def jax_sampler(paths=1 << 21):
    import jax
    import jax.numpy as jnp

    @jax.jit
    def mean(key):
        def step(state, k):
            x, total = state
            x += DRIFT + VOL * jax.random.normal(k, (paths,), dtype=jnp.float32)
            return (x, total + jnp.exp(x)), None

        start = (jnp.zeros(paths), jnp.zeros(paths))
        (_, total), _ = jax.lax.scan(step, start, jax.random.split(key, STEPS), unroll=4)
        return jnp.maximum(100 * total / STEPS - 100, 0).mean()

    box, keys = {}, iter(jax.random.split(jax.random.PRNGKey(1), 1000))

    def sample():
        box["mean"] = mean(next(keys)).block_until_ready()

    return sample, lambda: float(box["mean"]), paths


def rate(name, sampler, repeats=4):
    try:
        sample, value, paths = sampler()
        sample()
    except Exception as error:  # not installed, or not for this GPU
        print(f"{name}: {error}", file=sys.stderr)
        return math.nan
    best = math.inf
    for _ in range(repeats):
        start = time.perf_counter()
        sample()
        best = min(best, time.perf_counter() - start)
    if not abs(value() * DISCOUNT - KNOWN) <= 5 * 8 / math.sqrt(paths):  # 8: of the payoff's deviation
        print(f"{name}: the price is wrong: {value() * DISCOUNT}", file=sys.stderr)
        return math.nan
    return paths * STEPS / best


def curand():
    try:
        return float(subprocess.run(arguments.curand, check=True, capture_output=True, text=True).stdout)
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        print(f"cuRAND: {error}", file=sys.stderr)
        return math.nan


table = []
for _ in range(arguments.rounds):
    table.append((steps.rate(steps.sim(arguments.program, "bench", "option", "--device", "cuda")), curand(),
                  rate("Numba", numba_sampler), rate("JAX", jax_sampler)))
ours, curand, by_numba, by_jax = np.max(np.array(table), axis=0) / 1e9
print(f"Asian 252, 1e9 path-steps/s (best of {arguments.rounds}): ours {ours:.0f}, cuRAND {curand:.0f}"
      f" ({ours / curand:.2f}), Numba {by_numba:.0f} ({ours / by_numba:.2f}), JAX {by_jax:.0f} ({ours / by_jax:.2f})")
