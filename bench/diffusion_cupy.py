#!/usr/bin/env python3
"""Reaction-diffusion as a CuPy user would write it, timed with events, and its field beside that of bench_diffusion_cuda.

    bench_diffusion_cuda --n N --steps 3 --file field.bin
    diffusion_cupy.py N [field.bin]

u_t = D lap u + 0.1 (u - u^3) in a box of side 2 pi, fp32, dt = 0.1, D = 0.01: rates as one fused kernel, rfftn, a
multiplication by a table, irfftn. The file is that after 3 steps.
"""
import sys

import cupy
import numpy

STEPS, D, DT = 3, 0.01, 0.1


def start(n):
    word = cupy.arange(n**3, dtype=cupy.uint32) * cupy.uint32(2654435761)
    word ^= word >> cupy.uint32(15)
    word *= cupy.uint32(2246822519)
    word ^= word >> cupy.uint32(13)
    return ((word >> cupy.uint32(8)).astype(cupy.float32) * cupy.float32(2.0**-23) - cupy.float32(1)).reshape(n, n, n)


@cupy.fuse()
def react(u):
    return u + cupy.float32(DT) * (cupy.float32(0.1) * (u - u * u * u))


def main():
    n = int(sys.argv[1])
    k = cupy.fft.fftfreq(n, 1 / n)
    half = cupy.fft.rfftfreq(n, 1 / n)
    k2 = (k**2)[:, None, None] + (k**2)[None, :, None] + (half**2)[None, None, :]
    multiplier = cupy.exp(-D * DT * k2).astype(cupy.float32)
    del k2

    def step(u):
        spectrum = cupy.fft.rfftn(react(u))
        spectrum *= multiplier
        return cupy.fft.irfftn(spectrum, s=(n, n, n))

    u = start(n)
    for _ in range(STEPS):
        u = step(u)
    if len(sys.argv) > 2:
        ours = numpy.fromfile(sys.argv[2], dtype=numpy.float32).reshape(n, n, n)
        theirs = cupy.asnumpy(u)
        apart = numpy.abs(ours - theirs).max() / numpy.abs(theirs).max()
        print(f"fields differ by {apart:.2g} (greatest, relative)")
        if not apart < 1e-5:  # fp32's rounding of three steps: 1e-6
            sys.exit("the fields are not the same")
    begin, end = cupy.cuda.Event(), cupy.cuda.Event()
    times = []
    batch = 3 if n > 600 else 10
    for _ in range(5):
        begin.record()
        for _ in range(batch):
            u = step(u)
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(begin, end) / batch)
    print(f"{n}^3 CuPy {cupy.__version__}: {sorted(times)[2]:.4f} ms a step")


if __name__ == "__main__":
    main()
