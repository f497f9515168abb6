#!/usr/bin/env python3
"""Known values of option_leverage.c: a local volatility surface that is Heston's own, and Heston's prices.

The local volatility of Heston's model is E[v | S]^(1/2). With it the leverage function is 1, and all prices are
Heston's: calls by A. Lewis's integral of the characteristic function, calls that start later by the same integral under
the measure of the price, where v has the reversion kappa - rho sigma. Run: tests/option/leverage.py > leverage_known.h
"""
import numpy as np

V, KAPPA, THETA, SIGMA, RHO, RATE, SPOT = 0.04, 2.0, 0.05, 0.4, -0.6, 0.03, 100.0
U = (np.arange(20000) + 0.5) * 0.02  # the integrand is below 1e-16 at its end


def exponents(u, t, kappa=KAPPA, theta=THETA):
    """A and B of E[exp(i u x_t)] = exp(A + B v), x the logarithm of the price over its forward."""
    beta, square = kappa - 1j * RHO * SIGMA * u, SIGMA**2
    d = np.sqrt(beta**2 + square * (1j * u + u**2))
    g = (beta - d) / (beta + d)
    e = np.exp(-d * t)
    return (kappa * theta / square * ((beta - d) * t - 2 * np.log((1 - g * e) / (1 - g))),
            (beta - d) / square * (1 - e) / (1 - g * e))


def function(t):
    a, b = exponents(U - 0.5j, t)
    return np.exp(a + b * V)


def of_forward(phi, k):
    """A call as a share of the forward, strike forward e^k."""
    return 1 - np.exp(k / 2) / np.pi * np.sum((np.exp(-1j * U * k) * phi).real / (U**2 + 0.25)) * (U[1] - U[0])


def local(k, t):
    """Dupire's local volatility: dc/dt = sigma^2/2 (c_kk - c_k)."""
    h = 1e-4 * t
    slope = (function(t + h) - function(t - h)) / (2 * h)
    w = np.exp(-1j * U * k)
    return np.sqrt(-2 * np.sum((w * slope).real / (U**2 + 0.25)) / np.sum((w * function(t)).real))


def call(strike, t):
    return SPOT * of_forward(function(t), np.log(strike / SPOT) - RATE * t)


def forward_start(start, t, moneyness):
    """E max(S_t - moneyness S_start, 0), discounted, with weights S_start/SPOT: under its measure v has other drifts."""
    a, b = exponents(U - 0.5j, t - start)
    kappa = KAPPA - RHO * SIGMA
    theta, e = KAPPA * THETA / kappa, np.exp(-kappa * start)
    c = SIGMA**2 * (1 - e) / (2 * kappa)
    moment = np.exp(b * V * e / (1 - c * b)) / (1 - c * b) ** (2 * kappa * theta / SIGMA**2)
    return SPOT * of_forward(np.exp(a) * moment, np.log(moneyness) - RATE * (t - start))


def numbers(name, values):
    rows = [", ".join(f"{v:.6g}" for v in values[i : i + 10]) for i in range(0, len(values), 10)]
    print(f"static double {name}[] = {{\n    " + ",\n    ".join(rows) + "};")


def main():
    times = np.array([0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
    spots = SPOT * np.exp(np.linspace(-0.8, 0.6, 43))
    vols = []
    for t in times:
        width = 3.2 * np.sqrt(THETA * t)  # farther out the integrals have no digits left: constant there
        vols += [local(np.clip(np.log(s / SPOT) - RATE * t, -1.1 * width, 0.9 * width), t) for s in spots]
    print("/* A local volatility surface that is Heston's own, and Heston's prices: made by leverage.py beside this file. */")
    print("#ifndef TESTS_OPTION_LEVERAGE_KNOWN_H\n#define TESTS_OPTION_LEVERAGE_KNOWN_H\n")
    numbers("known_times", times)
    numbers("known_spots", spots)
    numbers("known_vols", np.array(vols))
    numbers("known_calls", np.array([call(k, 1) for k in (80, 100, 120)] + [call(k, 0.5) for k in (90, 110)]))
    numbers("known_forward_starts", np.array([forward_start(0.5, 1, m) for m in (0.9, 1, 1.1)]))
    print("\n#endif")


main()
