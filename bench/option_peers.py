#!/usr/bin/env python3
"""An Asian call on 252 prices on the CPU: bench/option.lua, NumPy, Numba (parallel), JAX and QuantLib, in turn, in
one run; all with fp32 paths except QuantLib, which has fp64. Programs that are not installed are left out.

usage: option_peers.py PATH/TO/sim [--rounds R] [--threads T] [--seconds S]
"""
import argparse
import math
import os
import re
import time

import steps

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("program")
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
parser.add_argument("--seconds", type=float, default=1.0, help="of each in each round")
arguments = parser.parse_args()
for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[name] = str(arguments.threads)
os.environ["JAX_PLATFORMS"] = "cpu"

import numpy as np

STEPS, KNOWN, DISCOUNT = 252, 5.781824, math.exp(-0.05)
DRIFT, VOL = np.float32(0.03 / STEPS), np.float32(0.2 / math.sqrt(STEPS))


def with_numpy(paths=4096):
    """One generator for each thread: NumPy lets other threads run while it fills or computes an array."""
    import concurrent.futures

    pool = concurrent.futures.ThreadPoolExecutor(arguments.threads)
    generators = [np.random.Generator(np.random.SFC64(seed)) for seed in np.random.SeedSequence(1).spawn(arguments.threads)]

    def part(random):
        x = random.standard_normal((STEPS, paths), dtype=np.float32)
        x *= VOL
        x += DRIFT
        np.cumsum(x, axis=0, out=x)
        np.exp(x, out=x)
        return np.maximum(100 * x.mean(axis=0) - 100, 0).mean(dtype=float)

    return lambda: float(np.mean(list(pool.map(part, generators)))), arguments.threads * paths


def with_numba(chunks=64, paths=1024, lanes=64):
    """Paths side by side in arrays, so that loops over them become vectors: xorshift128 (Marsaglia 2003) and Box-Muller."""
    import numba

    F, U = np.float32, np.uint32
    TURN, STEP = F(2 * math.pi / 2**24), F(2.0**-24)

    @numba.njit(parallel=True, fastmath=True)
    def price(state):
        total = np.zeros(chunks)
        for chunk in numba.prange(chunks):
            a, b, c, d = state[chunk, 0], state[chunk, 1], state[chunk, 2], state[chunk, 3]
            x, sum_of = np.empty(lanes, np.float32), np.empty(lanes, np.float32)
            for _ in range(paths // lanes):
                for k in range(lanes):
                    x[k] = sum_of[k] = F(0)
                for _ in range(STEPS // 2):
                    for k in range(lanes):
                        t = a[k] ^ U(a[k] << U(11))
                        u = d[k] ^ U(d[k] >> U(19)) ^ t ^ U(t >> U(8))
                        t = b[k] ^ U(b[k] << U(11))
                        v = u ^ U(u >> U(19)) ^ t ^ U(t >> U(8))
                        a[k], b[k], c[k], d[k] = c[k], d[k], u, v
                        far = VOL * np.sqrt(F(-2) * np.log((F(u >> U(8)) + F(0.5)) * STEP))
                        angle = F(v >> U(8)) * TURN
                        first = x[k] + DRIFT + far * np.cos(angle)
                        x[k] = first + DRIFT + far * np.sin(angle)
                        sum_of[k] += np.exp(first) + np.exp(x[k])
                for k in range(lanes):
                    total[chunk] += max(F(100) * sum_of[k] / F(STEPS) - F(100), F(0))
        return total.sum() / (chunks * paths)

    state = np.random.default_rng(1).integers(1, 2**32, (chunks, 4, lanes), dtype=np.uint32)
    return lambda: price(state), chunks * paths


def with_jax(paths=1 << 16):
    import jax
    import jax.numpy as jnp

    @jax.jit
    def price(key):
        def step(carry, k):
            x, total = carry
            x = x + DRIFT + VOL * jax.random.normal(jax.random.fold_in(key, k), (paths,), jnp.float32)
            return (x, total + jnp.exp(x)), None

        zero = jnp.zeros(paths, jnp.float32)
        (_, total), _ = jax.lax.scan(step, (zero, zero), jnp.arange(STEPS))
        return jnp.maximum(100 * total / STEPS - 100, 0).mean()

    keys = (jax.random.key(k) for k in range(1 << 30))
    return lambda: float(price(next(keys))), paths


def quantlib_mean(seed, paths):
    import QuantLib as ql

    today = ql.Date(1, 1, 2025)
    ql.Settings.instance().evaluationDate = today
    count = ql.Actual365Fixed()
    fixings = [today + round(365 * (k + 1) / STEPS) for k in range(STEPS)]
    flat = lambda rate: ql.YieldTermStructureHandle(ql.FlatForward(today, rate, count))
    vol = ql.BlackVolTermStructureHandle(ql.BlackConstantVol(today, ql.NullCalendar(), 0.2, count))
    spot = ql.QuoteHandle(ql.SimpleQuote(100))
    process = ql.BlackScholesMertonProcess(spot, flat(0.0), flat(0.05), vol)
    option = ql.DiscreteAveragingAsianOption(ql.Average.Arithmetic, 0, 0, fixings,
                                             ql.PlainVanillaPayoff(ql.Option.Call, 100),
                                             ql.EuropeanExercise(fixings[-1]))
    option.setPricingEngine(ql.MCDiscreteArithmeticAPEngine(process, "pr", requiredSamples=paths, seed=seed))
    return option.NPV() / DISCOUNT


def with_quantlib(paths=4096):
    """QuantLib has one thread, so there are as many processes as threads."""
    import concurrent.futures
    import itertools
    import multiprocessing
    import QuantLib  # noqa: F401

    pool = concurrent.futures.ProcessPoolExecutor(arguments.threads, multiprocessing.get_context("spawn"))
    seeds = itertools.count(1)

    def mean():
        parts = [pool.submit(quantlib_mean, next(seeds), paths) for _ in range(arguments.threads)]
        return float(np.mean([part.result() for part in parts]))

    return mean, arguments.threads * paths


def check(name, value, error):
    if not abs(value - KNOWN) <= 5 * error:
        raise RuntimeError(f"{name}: the price {value:.5f} is not {KNOWN} +- {error:.5f}")


def rate(name, mean, paths):
    values, best, begin = [], 0.0, time.perf_counter()
    while time.perf_counter() - begin < arguments.seconds or len(values) < 2:
        before = time.perf_counter()
        values.append(mean())
        best = max(best, paths * STEPS / (time.perf_counter() - before))
    check(name, np.mean(values) * DISCOUNT, 8.0 / math.sqrt(len(values) * paths))  # the payoff's deviation is 8
    return best


def own_rate():
    text = steps.sim(arguments.program, "bench", "option", "--device", "cpu", "--threads", str(arguments.threads))
    price, error = re.search(r"price ([\d.]+), standard_error ([\d.e-]+)", text).groups()
    check("ours", float(price), float(error))
    return steps.rate(text)


def main():
    peers = {}
    for name, make in (("NumPy", with_numpy), ("Numba", with_numba), ("JAX", with_jax), ("QuantLib", with_quantlib)):
        try:
            peers[name] = make()
            peers[name][0]()  # compiles
        except Exception as error:  # not installed, or not for this machine
            print(f"{name} is left out: {error}")
            peers.pop(name, None)
    own, best = 0.0, dict.fromkeys(peers, 0.0)
    for _ in range(arguments.rounds):
        own = max(own, own_rate())
        for name in list(best):
            try:
                best[name] = max(best[name], rate(name, *peers[name]))
            except Exception as error:
                print(f"{name} is left out: {error}")
                del best[name]
    table = ", ".join(f"{name} {other / 1e9:.4f}" for name, other in best.items())
    print(f"Asian 252: ours {own / 1e9:.3f}{', ' if table else ''}{table} e9 path-steps/s (best of {arguments.rounds})"
          + (f"; {own / max(best.values()):.1f} times the best" if best else "") + f", {arguments.threads} threads")


if __name__ == "__main__":
    main()
