#!/usr/bin/env python3
"""Vector sum, matrix product and transform of bench_rows as PyTorch and Numba CUDA users write them.

usage: rows.py torch|numba [--rounds R]     prints a JSON object of microseconds of one; exit 77: not installed, no GPU
"""
import argparse
import json
import sys

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("library", choices=["torch", "numba"])
parser.add_argument("--rounds", type=int, default=21)
arguments = parser.parse_args()

VECTOR, M, N = 10_000_000, 1024, 8192

try:
    import numpy as np
    if not hasattr(np, "row_stack"):
        np.row_stack = np.vstack  # some versions of numba ask for it
except ImportError as reason:
    print("skipped:", reason)
    sys.exit(77)


def inputs():
    rng = np.random.default_rng(1)
    uniform = lambda *shape: rng.random(shape, dtype=np.float32) - np.float32(0.5)
    return (uniform(VECTOR), uniform(VECTOR)), (uniform(M, M), uniform(M, M)), uniform(N, 2).view(np.complex64)[:, 0]


def check(name, got, expected, bound):
    error = np.abs(np.asarray(got) - expected).max()
    if not error <= bound:
        sys.exit(f"{name} is wrong by {error}")


def check_all(add, matmul, fft, vectors, matrices, signal):
    check("the sum", add(), vectors[0] + vectors[1], 0)
    check("the product", matmul(), matrices[0].astype(float) @ matrices[1].astype(float), 1024 * 256 * 2.0**-24)
    check("the transform", fft(), np.fft.fft(signal.astype(complex)), 13 * 5 * 37 * 2.0**-23)


def of_torch():
    import torch
    if not torch.cuda.is_available():
        raise ImportError("no GPU")
    torch.backends.cuda.matmul.allow_tf32 = False
    vectors, matrices, signal = inputs()
    a, b = (torch.from_numpy(v).cuda() for v in vectors)
    p, q = (torch.from_numpy(m).cuda() for m in matrices)
    s = torch.from_numpy(signal).cuda()
    c, r, f = torch.empty_like(a), torch.empty_like(p), torch.empty_like(s)
    calls = {"add": lambda: torch.add(a, b, out=c), "matmul": lambda: torch.mm(p, q, out=r),
             "fft": lambda: torch.fft.fft(s, out=f)}
    check_all(*(lambda call=call: call().cpu().numpy() for call in calls.values()), vectors, matrices, signal)
    return calls, lambda: torch.cuda.Event(enable_timing=True), lambda a, b: a.elapsed_time(b)


def of_numba():
    import math
    from numba import cuda, float32
    if not cuda.is_available():
        raise ImportError("no GPU")
    vectors, matrices, signal = inputs()
    TILE = 32

    @cuda.jit
    def add(a, b, c):
        i = cuda.grid(1)
        if i < c.size:
            c[i] = a[i] + b[i]

    @cuda.jit(fastmath=True)
    def matmul(a, b, c):
        left, right = cuda.shared.array((TILE, TILE), float32), cuda.shared.array((TILE, TILE), float32)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        row, column = cuda.blockIdx.y * TILE + y, cuda.blockIdx.x * TILE + x
        total = float32(0)
        for k in range(0, M, TILE):
            left[y, x] = a[row, k + x]
            right[y, x] = b[k + y, column]
            cuda.syncthreads()
            for e in range(TILE):
                total += left[y, e] * right[e, x]
            cuda.syncthreads()
        c[row, column] = total

    @cuda.jit
    def butterfly(source, target, stride):  # Stockham, radix 2: a launch a level
        j = cuda.grid(1)
        if j < N // 2:
            angle = -math.pi * (j % stride) / stride
            w = complex(math.cos(angle), math.sin(angle))
            a, b = source[j], source[j + N // 2] * w
            at = j // stride * stride * 2 + j % stride
            target[at] = a + b
            target[at + stride] = a - b

    a, b = map(cuda.to_device, vectors)
    p, q = map(cuda.to_device, matrices)
    s = cuda.to_device(signal)
    c, r = cuda.device_array_like(a), cuda.device_array_like(p)
    rooms = [cuda.device_array_like(s), cuda.device_array_like(s)]
    last = rooms[(N.bit_length() - 2) % 2]

    def transform():
        source, stride, turn = s, 1, 0
        while stride < N:
            butterfly[N // 512, 256](source, rooms[turn], stride)
            source, stride, turn = rooms[turn], stride * 2, 1 - turn

    calls = {"add": lambda: add[(VECTOR + 255) // 256, 256](a, b, c),
             "matmul": lambda: matmul[(M // TILE, M // TILE), (TILE, TILE)](p, q, r), "fft": transform}

    def result(call, array):
        call()
        return array.copy_to_host()

    check_all(lambda: result(calls["add"], c), lambda: result(calls["matmul"], r), lambda: result(transform, last),
              vectors, matrices, signal)
    return calls, cuda.event, cuda.event_elapsed_time


def main():
    calls, event, elapsed = {"torch": of_torch, "numba": of_numba}[arguments.library]()
    medians = {}
    for name, call in calls.items():
        times = []
        for r in range(-2, arguments.rounds):
            begin, end = event(), event()
            begin.record()
            for _ in range(100):
                call()
            end.record()
            end.synchronize()
            if r >= 0:
                times.append(10 * elapsed(begin, end))
        medians[name] = sorted(times)[len(times) // 2]
    print(json.dumps(medians))


try:
    main()
except ImportError as reason:
    print("skipped:", reason)
    sys.exit(77)
