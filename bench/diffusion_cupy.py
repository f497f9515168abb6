#!/usr/bin/env python3
"""Reaction-diffusion as a CuPy user would write it, timed with events, and its field compared with that of cubic.lua.

    sim run cubic.lua --device cuda --set n=N --set steps=3 --output FOLDER
    diffusion_cupy.py N [FOLDER]

Rates as one fused kernel, rfftn, a multiplication by a table, irfftn.
"""
import sys

import cupy
import numpy

import steps

STEPS, D, DT = 3, 0.01, 0.01


def start(n):
    at = (cupy.arange(n) + 0.5) * (2 * numpy.pi / n)
    x, y, z = at[None, None, :], at[None, :, None], at[:, None, None]
    return (cupy.sin(x) * cupy.cos(2 * y) + 0.5 * cupy.cos(3 * z)).astype(cupy.float32)


@cupy.fuse()
def react(u):
    return u + cupy.float32(DT) * (u - u * u * u)


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
        ours = steps.last_field(sys.argv[2], "u")[0]
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
