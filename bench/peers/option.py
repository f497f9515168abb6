#!/usr/bin/env python3
"""Paths as users of PyTorch and CuPy simulate them on one GPU: the Asian call on 252 prices, or a European call; fp32 paths.

usage: option.py torch|compiled|cupy asian|european

The price is checked before it is timed. Prints {"rate": ...}: 10^9 path-steps (of european, paths) a second, the best of
some repeats; exit 77: not installed, or no GPU.
"""
import json
import math
import sys
import time

library, work = sys.argv[1:]
STEPS = 252 if work == "asian" else 1
KNOWN = 5.781824 if work == "asian" else 10.450584
PATHS = 1 << 21 if work == "asian" else 1 << 26
DRIFT, VOL = 0.03 / STEPS, 0.2 / math.sqrt(STEPS)

try:
    if library == "cupy":
        import cupy
        wait = cupy.cuda.Device().synchronize
    else:
        import torch
        if not torch.cuda.is_available():
            raise ImportError("no GPU")
        wait = torch.cuda.synchronize
except ImportError as reason:
    print("skipped:", reason)
    sys.exit(77)


def of_torch():
    def asian():
        x = torch.zeros(PATHS, device="cuda")
        total = torch.zeros(PATHS, device="cuda")
        for _ in range(STEPS):
            x = x + (DRIFT + VOL * torch.randn(PATHS, device="cuda"))
            total = total + torch.exp(x)
        return torch.clamp(100 * total / STEPS - 100, min=0).mean()

    # Compiled, the loop of 252 steps takes minutes to compile: one step is, then.
    @torch.compile
    def step(x, total):
        x = x + (DRIFT + VOL * torch.randn(PATHS, device="cuda"))
        return x, total + torch.exp(x)

    def asian_compiled():
        x = torch.zeros(PATHS, device="cuda")
        total = torch.zeros(PATHS, device="cuda")
        for _ in range(STEPS):
            x, total = step(x, total)
        return torch.clamp(100 * total / STEPS - 100, min=0).mean()

    def european():
        return torch.clamp(100 * torch.exp(DRIFT + VOL * torch.randn(PATHS, device="cuda")) - 100, min=0).mean()

    if work == "asian":
        return asian_compiled if library == "compiled" else asian
    return torch.compile(european) if library == "compiled" else european


def of_cupy():
    @cupy.fuse()
    def step(x, total, normal):
        x = x + (cupy.float32(DRIFT) + cupy.float32(VOL) * normal)
        return x, total + cupy.exp(x)

    def asian():
        x, total = cupy.zeros(PATHS, cupy.float32), cupy.zeros(PATHS, cupy.float32)
        for _ in range(STEPS):
            x, total = step(x, total, cupy.random.standard_normal(PATHS, dtype=cupy.float32))
        return cupy.maximum(100 * total / STEPS - 100, 0).mean()

    def european():
        normal = cupy.random.standard_normal(PATHS, dtype=cupy.float32)
        return cupy.maximum(100 * cupy.exp(cupy.float32(DRIFT) + cupy.float32(VOL) * normal) - 100, 0).mean()

    return asian if work == "asian" else european


sample = of_cupy() if library == "cupy" else of_torch()
price = float(sample()) * math.exp(-0.05)
if abs(price - KNOWN) > 5 * 15 / math.sqrt(PATHS):  # 15: at least the payoff's deviation
    sys.exit(f"the price is wrong: {price}")
best = math.inf
for _ in range(5):
    wait()
    begin = time.perf_counter()
    sample()
    wait()
    best = min(best, time.perf_counter() - begin)
print(json.dumps({"rate": PATHS * STEPS / best / 1e9}))
