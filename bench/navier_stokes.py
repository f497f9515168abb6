#!/usr/bin/env python3
"""A stage of navier_stokes.lua on the CPU beside the same in NumPy with the transforms of scipy.fft and of FFTW, in turn, by
processor time.

    bench/navier_stokes.py PATH/TO/sim [--n N] [--rounds R] [--steps S] [--threads T]

Needs h5py, numpy and scipy; pyfftw where it is installed (plans by FFTW_MEASURE). First the fields are compared after two
steps of 32^3.
"""

import argparse
import importlib.util
import os
import resource
import sys
import tempfile
import time

import numpy
import scipy.fft

import steps

D, H = 1e-3, 1e-3


def wavenumbers(n):
    k = numpy.fft.fftfreq(n, 1 / n).astype(numpy.float32)
    x, y, z = numpy.abs(k[None, None, : n // 2 + 1]), k[None, :, None], k[:, None, None]
    cut = (3 * numpy.abs(x) < n) & (3 * numpy.abs(y) < n) & (3 * numpy.abs(z) < n)
    return (x, y, z), cut.astype(numpy.float32)


def start(n):
    at = (numpy.arange(n) + 0.5) * (2 * numpy.pi / n)
    x, y, z = at[None, None, :], at[None, :, None], at[:, None, None]
    u = numpy.sin(x) * numpy.cos(y) * numpy.cos(z)
    v = -numpy.cos(x) * numpy.sin(y) * numpy.cos(z)
    return numpy.stack([u, v, numpy.zeros_like(u)]).astype(numpy.float32)


class Flow:
    """ETDRK2 of the coefficients, two stages a step; velocity times vorticity, cut and projected."""

    def __init__(self, n, workers):
        self.n, self.workers = n, workers
        self.k, self.cut = wavenumbers(n)
        k2 = sum(a.astype(float) ** 2 for a in self.k)
        self.over = (self.cut / numpy.where(k2 > 0, k2, 1)).astype(numpy.float32)
        c = -D * H * k2
        near = numpy.where(c == 0, 1, c)
        phi1 = numpy.where(c == 0, 1, numpy.expm1(near) / near)
        series = 0.5 + c / 6 + c**2 / 24 + c**3 / 120
        phi2 = numpy.where(numpy.abs(c) < 1e-2, series, (phi1 - 1) / near)
        self.tables = [(a * self.cut).astype(numpy.float32) for a in (numpy.exp(c), H * phi1, H * phi2)]
        self.state = self.forward(start(n)) * self.cut

    def forward(self, fields):
        return scipy.fft.rfftn(fields, axes=(1, 2, 3), workers=self.workers)

    def inverse(self, spectra):
        return scipy.fft.irfftn(spectra, s=(self.n,) * 3, axes=(1, 2, 3), workers=self.workers)

    def rates(self, s):
        x, y, z = self.k
        u, v, w = self.inverse(s)
        a, b, c = self.inverse(
            1j * numpy.stack([y * s[2] - z * s[1], z * s[0] - x * s[2], x * s[1] - y * s[0]])
        )
        out = self.forward(numpy.stack([v * c - w * b, w * a - u * c, u * b - v * a]))
        along = (x * out[0] + y * out[1] + z * out[2]) * self.over
        for axis in range(3):
            out[axis] *= self.cut
            out[axis] -= self.k[axis] * along
        return out

    def step(self):
        e, p1, p2 = self.tables
        old = self.rates(self.state)
        state = e * self.state + p1 * old
        self.state = state + p2 * (self.rates(state) - old)


def run(program, n, threads, count, *more):
    steps.sim(program, "run", "navier_stokes", "--device", "cpu", "--set", f"n={n}", "--threads", str(threads),
              "--set", f"steps={count}", *more)


def compare(program, threads):
    n = 32
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "out")
        run(program, n, threads, 2, "--set", "snapshots=ends", "--output", path)
        got = steps.last_field(path, "u", "v", "w")
    flow = Flow(n, threads)
    flow.step()
    flow.step()
    want = flow.inverse(flow.state)
    error = numpy.linalg.norm((got - want).ravel()) / numpy.linalg.norm(want.ravel())
    # ten rounds of transforms in fp32 on each side, each some log2(n^3) 2^-24
    if not error < 20 * 15 * 2.0**-24:
        sys.exit(f"{n}^3: the fields differ by {error:.2g}")
    return error


def children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def ours(program, n, threads, count):
    """Processor time of a stage: that of a run less that of a run with one step."""
    times = []
    for length in 1, 1 + count:
        with tempfile.TemporaryDirectory() as folder:
            begin = children()
            run(program, n, threads, length, "--output", os.path.join(folder, "out"))
            times.append(children() - begin)
    return (times[1] - times[0]) / (2 * count)


def theirs(flow):
    begin = time.process_time()
    flow.step()
    return (time.process_time() - begin) / 2


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--n", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    os.environ["OMP_WAIT_POLICY"] = "passive"
    error = compare(options.program, options.threads)
    backends = ["scipy.fft"]
    if importlib.util.find_spec("pyfftw"):
        import pyfftw

        pyfftw.interfaces.cache.enable()
        pyfftw.interfaces.cache.set_keepalive_time(3600)
        pyfftw.config.PLANNER_EFFORT = "FFTW_MEASURE"
        backends.append("FFTW")
    flow = Flow(options.n, options.threads)
    best = dict.fromkeys(["ours", *backends], float("inf"))
    for turn in range(options.rounds):
        best["ours"] = min(best["ours"], ours(options.program, options.n, options.threads, options.steps))
        for name in backends:
            with scipy.fft.set_backend(pyfftw.interfaces.scipy_fft if name == "FFTW" else "scipy"):
                if turn == 0:
                    flow.step()  # plans
                best[name] = min(best[name], theirs(flow))
    print(
        f"{options.n}^3, {options.threads} threads, processor time of a stage: ours {1e3 * best['ours']:.0f} ms, "
        + ", ".join(f"{name} {1e3 * best[name]:.0f} ms, {best[name] / best['ours']:.1f} times" for name in backends)
        + f"; the fields differ by {error:.1e}"
    )


if __name__ == "__main__":
    main()
