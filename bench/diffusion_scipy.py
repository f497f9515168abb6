#!/usr/bin/env python3
"""The same step with scipy.fft, all workers, and bench/cubic.lua, in turn so that both have the same load. Reaction and
multiplication are loops of Numba over all threads, or of NumPy where Numba is not installed.

    bench/diffusion_scipy.py PATH/TO/sim [--n N]... [--rounds R] [--threads T]

Needs h5py, numpy and scipy, and numba to be fair. First both make four steps from one start, and their fields are compared.
"""

import argparse
import os
import sys
import tempfile
import time

import numpy
import scipy.fft

import steps

D, H = numpy.float32(0.01), numpy.float32(0.01)


def start(n):
    at = (numpy.arange(n) + 0.5) * (2 * numpy.pi / n)
    x, y, z = at[None, None, :], at[None, :, None], at[:, None, None]
    return (numpy.sin(x) * numpy.cos(2 * y) + 0.5 * numpy.cos(3 * z)).astype(numpy.float32)


def multiplier(n):
    k, last = numpy.fft.fftfreq(n, 1 / n), numpy.arange(n // 2 + 1)
    k2 = k[:, None, None] ** 2 + k[None, :, None] ** 2 + last[None, None, :] ** 2
    return numpy.exp(-float(D) * float(H) * k2).astype(numpy.float32)


def pointwise(threads):
    """u + h (u - u^3) and a spectrum's product, both in place, of whole arrays."""
    try:
        import numba
    except ImportError:
        print("numba is not installed: NumPy reacts and multiplies, on one thread")

        def react(u):
            u += H * (u - u * u * u)

        return react, lambda spectrum, factor: numpy.multiply(spectrum, factor, out=spectrum)
    numba.set_num_threads(threads)

    @numba.njit(parallel=True, fastmath=True)
    def react(u):
        a = u.reshape(-1)
        for i in numba.prange(a.size):
            a[i] += H * (a[i] - a[i] * a[i] * a[i])

    @numba.njit(parallel=True, fastmath=True)
    def multiply(spectrum, factor):
        a, b = spectrum.reshape(-1), factor.reshape(-1)
        for i in numba.prange(a.size):
            a[i] *= b[i]

    return react, multiply


def step(u, factor, workers, react, multiply):
    react(u)
    spectrum = scipy.fft.rfftn(u, workers=workers, overwrite_x=True)
    multiply(spectrum, factor)
    return scipy.fft.irfftn(spectrum, s=u.shape, workers=workers, overwrite_x=True)


def ours(program, command, n, threads, *more):
    return steps.sim(program, command, "cubic", "--device", "cpu", "--set", f"n={n}", "--threads", str(threads), *more)


def compare(program, n, threads, passes):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "out")
        ours(program, "run", n, threads, "--set", "steps=4", "--output", path)
        got = steps.last_field(path, "u")[0]
    want, factor = start(n), multiplier(n)
    for _ in range(4):
        want = step(want, factor, threads, *passes)
    error = numpy.linalg.norm((got - want).ravel()) / numpy.linalg.norm(want.ravel())
    # eight transforms in fp32 on each side, each some log2(n^3) 2^-24
    if not error < 16 * 24 * 2.0**-24:
        sys.exit(f"{n}^3: the fields differ by {error:.2g}")
    return error


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--n", type=int, action="append")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    options = parser.parse_args()
    os.environ.setdefault("NUMBA_NUM_THREADS", str(options.threads))
    passes = pointwise(options.threads)
    for n in options.n or [128, 256]:
        error = compare(options.program, n, options.threads, passes)
        u, factor = start(n), multiplier(n)
        best = [float("inf"), float("inf")]
        for _ in range(options.rounds):
            best[0] = min(best[0], 1e3 * n**3 / steps.rate(ours(options.program, "bench", n, options.threads)))
            u = step(u, factor, options.threads, *passes)
            for _ in range(5):
                begin = time.perf_counter()
                u = step(u, factor, options.threads, *passes)
                best[1] = min(best[1], 1e3 * (time.perf_counter() - begin))
        print(
            f"{n}^3, {options.threads} threads: ours {best[0]:.2f} ms, scipy.fft {best[1]:.1f} ms,"
            f" {best[1] / best[0]:.1f} times; the fields differ by {error:.1e}"
        )


if __name__ == "__main__":
    main()
