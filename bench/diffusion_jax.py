#!/usr/bin/env python3
"""Gray-Scott by ETDRK4 as a JAX user would write it: one jitted step, timed, and its fields compared with
those of gray_scott.lua.

    sim run gray_scott.lua --device cuda --set n=N --set steps=10 --output FOLDER
    diffusion_jax.py N [FOLDER]
"""
import sys
import time

import jax
import jax.numpy as jnp
import numpy

import steps

DT, D, F, K = 1.0, (2e-5, 1e-5), 0.0367, 0.0649


def quotients(z):
    e = numpy.exp(z)
    return (
        (numpy.exp(z / 2) - 1) / z,
        (-4 - z + e * (4 - 3 * z + z**2)) / z**3,
        (2 + z + e * (z - 2)) / z**3,
        (-4 - 3 * z - z**2 + e * (4 - z)) / z**3,
    )


def tables(n):
    side = n / 1000
    k = 2 * numpy.pi / side * numpy.fft.fftfreq(n, 1 / n)
    half = 2 * numpy.pi / side * numpy.fft.rfftfreq(n, 1 / n)
    k2 = (k**2)[:, None] + (half**2)[None, :]
    out = []
    for d in D:
        c = -d * k2 * DT
        parts = [numpy.empty_like(c) for _ in range(4)]
        near = numpy.abs(c) < 1  # there by means over a circle (Kassam and Trefethen)
        for part, value in zip(parts, quotients(c[~near])):
            part[~near] = value
        turns = numpy.exp(1j * numpy.pi * (2 * numpy.arange(32) + 1) / 32)
        for part, value in zip(parts, quotients(c[near][:, None] + turns)):
            part[near] = value.real.mean(axis=1)
        out.append([numpy.exp(c), numpy.exp(c / 2)] + [DT * p for p in parts])
    return [jnp.asarray(numpy.stack([f[t] for f in out]), dtype=jnp.float32) for t in range(6)]


def main():
    n = int(sys.argv[1])
    whole, half, q, f1, f2, f3 = tables(n)

    def rates(spectrum):
        u, v = jnp.fft.irfft2(spectrum, s=(n, n))
        reaction = u * v * v
        return jnp.fft.rfft2(jnp.stack([F * (1 - u) - reaction, reaction - (F + K) * v]))

    @jax.jit
    def step(s, whole, half, q, f1, f2, f3):
        nu = rates(s)
        a = half * s + q * nu
        na = rates(a)
        b = half * s + q * na
        nb = rates(b)
        c = half * a + q * (2 * nb - nu)
        nc = rates(c)
        return whole * s + f1 * nu + 2 * f2 * (na + nb) + f3 * nc

    x = (numpy.arange(n) + 0.5) / n - 0.5
    g = numpy.exp(-50 * (x[None, :] ** 2 + x[:, None] ** 2))
    s = jnp.fft.rfft2(jnp.asarray(numpy.stack([1 - 0.5 * g, 0.25 * g]), dtype=jnp.float32))
    for _ in range(10):
        s = step(s, whole, half, q, f1, f2, f3)
    fields = numpy.asarray(jnp.fft.irfft2(s, s=(n, n)))
    if len(sys.argv) > 2:
        ours = steps.last_field(sys.argv[2], "u", "v")
        apart = numpy.abs(ours - fields).max() / numpy.abs(fields).max()
        print(f"fields differ by {apart:.2g} (greatest, relative)")
        if not apart < 1e-5:  # fp32's rounding of ten steps of four transforms: 1e-6
            sys.exit("the fields are not the same")
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        for _ in range(10):
            s = step(s, whole, half, q, f1, f2, f3)
        s.block_until_ready()
        times.append((time.perf_counter() - begin) / 10)
    print(f"{n}^2 JAX {jax.__version__}: {1e3 * sorted(times)[2]:.4f} ms a step")


if __name__ == "__main__":
    main()
