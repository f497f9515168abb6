#!/usr/bin/env python3
"""Steps of a fluid beside lbmpy's, on one thread.

    fluid.py PATH/TO/sim [--n N] [--rounds R] [--steps S]

N^3 cells (96), D3Q19, single precision. `sim` makes the steps of bench/fluid.lua, by moments and by populations (trt).
lbmpy makes those of its own kernels, TRT for AVX-512, for each of its streaming patterns, without the copies that make a
box periodic. Both are timed by the time of the processor; `sim` by that of S + 2 steps less that of 2, each the least of
R rounds. All run in turn; printed are the best rates, in million cells a second. Needs lbmpy 2 and a C++ compiler."""
import argparse
import os
import pathlib
import resource
import subprocess
import time

os.environ["OMP_NUM_THREADS"] = "1"
import numpy as np
import pystencils as ps
from lbmpy import LBMConfig, LBMOptimisation, LBStencil, Method, Stencil, create_lb_update_rule
from lbmpy.advanced_streaming import Timestep, is_inplace

words = argparse.ArgumentParser()
words.add_argument("sim")
words.add_argument("--n", type=int, default=96)
words.add_argument("--rounds", type=int, default=3)
words.add_argument("--steps", type=int, default=20)
words = words.parse_args()
n, here = words.n, pathlib.Path(__file__).resolve().parent.parent


def peer(pattern):
    """A function that makes a step, or for a pattern in place two."""
    shape, stencil = (n + 2,) * 3, LBStencil(Stencil.D3Q19)
    src, dst = (np.full((19,) + shape, 1 / 19, np.float32).transpose(1, 2, 3, 0) for _ in range(2))
    f, g = (ps.Field.create_from_numpy_array(name, a, index_dimensions=1) for name, a in (("f", src), ("g", dst)))
    config = LBMConfig(stencil=stencil, method=Method.TRT, relaxation_rates=[1.6, 1.2], compressible=True,
                       streaming_pattern=pattern, zero_centered=False)
    kernels = []
    for when in (Timestep.EVEN, Timestep.ODD) if is_inplace(pattern) else (Timestep.BOTH,):
        rule = create_lb_update_rule(
            lbm_config=LBMConfig(**{**config.__dict__, "timestep": when}) if is_inplace(pattern) else config,
            lbm_optimisation=LBMOptimisation(symbolic_field=f, symbolic_temporary_field=g))
        options = ps.CreateKernelConfig(target=ps.Target.X86_AVX512, default_dtype="float32", ghost_layers=1)
        options.cpu.vectorize.enable = options.cpu.vectorize.assume_inner_stride_one = True
        kernels.append(ps.create_kernel(rule, config=options).compile())
    arrays = {"f": src} if is_inplace(pattern) else {"f": src, "g": dst}

    def step():
        for kernel in kernels:
            kernel(**arrays)
    return step, len(kernels)


def rate_of(step, each):
    step()
    begin = time.process_time()
    for _ in range(words.steps // each):
        step()
    return n**3 * (words.steps // each) * each / (time.process_time() - begin) / 1e6


def own(collision, steps):
    """Seconds of the processor for a run of `sim`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([words.sim, "bench", here / "fluid.lua", "--device", "cpu", "--threads", "1", "--set", f"n={n}",
                    "--set", f"collision={collision}", "--warm", "1", "--steps", str(steps)],
                   stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


peers, best, least = {}, {}, {}
for pattern in ("pull", "aa", "esopull"):
    try:
        peers[pattern] = peer(pattern)
    except Exception as fault:  # a pattern that this version cannot compile is told and left out
        print(f"lbmpy {pattern}: {fault}")
for _ in range(words.rounds):
    for pattern, (step, each) in peers.items():
        best["lbmpy " + pattern] = max(best.get("lbmpy " + pattern, 0), rate_of(step, each))
    for run in [(collision, steps) for collision in ("regularised", "trt") for steps in (2, words.steps + 2)]:
        least[run] = min(least.get(run, float("inf")), own(*run))
for collision in ("regularised", "trt"):
    best["sim " + collision] = n**3 * words.steps / (least[collision, words.steps + 2] - least[collision, 2]) / 1e6
for name, rate in best.items():
    print(f"{name:16} {rate:8.1f}")
