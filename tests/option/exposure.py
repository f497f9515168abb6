#!/usr/bin/env python3
"""Reference values of option_exposure.c: exposures from values by formulas, quadrature and trees, not by regression.

Rate 0.05; S = 100, volatility 0.2 and strike 100 unless said otherwise; the quantile is 0.95. Each line has EPE, ENE and
PFE of a contract at t, with standard errors of what is sampled (outer paths alone: the values have no noise but a common
one below 2e-3). `less`: the contract less a European call of strike 105 and the same maturity 1.
Run: python3 exposure.py (NumPy and SciPy, some two minutes).
"""

import sys

import numpy as np
from scipy.interpolate import CubicSpline, RectBivariateSpline
from scipy.special import roots_hermitenorm
from scipy.stats import norm

R, VOL, S0, K = 0.05, 0.2, 100.0, 100.0
N = 400_000
RNG = np.random.default_rng(7)


def black(forward, strike, deviation):
    d = np.log(forward / strike) / deviation + deviation / 2
    return forward * norm.cdf(d) - strike * norm.cdf(d - deviation)


def call(spot, strike, left):
    return np.exp(-R * left) * black(spot * np.exp(R * left), strike, VOL * np.sqrt(left))


def tell(name, t, value, less=None):
    value = np.asarray(value)
    for what, v in ((name, value), *(((f"{name} less", value - less),) if less is not None else ())):
        p, m = np.maximum(v, 0), np.maximum(-v, 0)
        q = np.sort(v)
        n, s = len(v), np.sqrt(len(v) * 0.05 * 0.95)
        a = int(np.ceil(0.95 * n)) - 1
        print(f"{what:16s} t {t}: EPE {p.mean():.4f} +- {p.std() / n**0.5:.4f}, ENE {m.mean():.4f} +- {m.std() / n**0.5:.4f}, "
              f"PFE {q[a]:.4f} +- {(q[int(a + s)] - q[int(a - s)]) / 2:.4f}")


def steps(spot, times, count=None):
    """Prices at ascending times, [times][count], from prices or a price at time 0."""
    out, before, s = [], 0.0, spot
    for t in times:
        z = RNG.standard_normal(N if count is None else count)
        s = s * np.exp((R - VOL**2 / 2) * (t - before) + VOL * np.sqrt(t - before) * z)
        out.append(s)
        before = t
    return np.array(out)


def asian():
    """Twelve monthly fixings, t = 0.5: the value is S f((12 K - sum)/S)."""
    path = steps(S0, np.arange(1, 7) / 12)
    ratios = steps(1.0, np.arange(1, 7) / 12, 1_000_000).sum(0)
    x = np.linspace(0, 14, 600)
    f = CubicSpline(x, [np.maximum(ratios - k, 0).mean() * np.exp(-R * 0.5) / 12 for k in x])
    arg = (12 * K - path.sum(0)) / path[-1]
    value = path[-1] * f(np.clip(arg, 0, 14))
    tell("asian", 0.5, value, call(path[-1], 105, 0.5))


def on_grid(payoff, left, watched, alive, low=20.0, high=500.0):
    """Values on a grid of prices, by quadrature from one date to the next: payoff(S) at the end, alive(S, v) at each date."""
    x = np.linspace(np.log(low), np.log(high), 3001)
    node = np.linspace(-7, 7, 2801)  # payoffs that jump: a rule of high order would not do
    weight = norm.pdf(node) * (node[1] - node[0])
    v = payoff(np.exp(x))
    for k in range(len(watched) - 1, -1, -1):
        dt = left[k]
        ahead = x[:, None] + (R - VOL**2 / 2) * dt + VOL * np.sqrt(dt) * node
        v = np.exp(-R * dt) * (np.interp(ahead, x, v) * weight).sum(1)
        v = alive(np.exp(x), v, watched[k])
    return lambda s: np.interp(np.log(s), x, v)


def barrier():
    """Down-and-out call, level 90 watched monthly, t = 0.5."""
    path = steps(S0, np.arange(1, 7) / 12)
    end = np.where(90 < np.exp(np.linspace(np.log(20), np.log(500), 3001)), 1.0, 0.0)
    payoff = lambda s: np.maximum(s - K, 0) * end
    value = on_grid(payoff, [1 / 12] * 6, [False] + [True] * 5, lambda s, v, w: np.where(s > 90, v, 0) if w else v)
    alive = (path > 90).all(0)
    tell("barrier", 0.5, np.where(alive, value(path[-1]), 0), call(path[-1], 105, 0.5))


def note():
    """Autocallable of 100: level 105 at 0.25, 0.5, 0.75 and 1, coupon 0.04 a date, protection 70; t = 0.6."""
    path = steps(S0, [0.25, 0.5, 0.6])

    def end(s):
        return np.where(s >= 105, 100 * 1.16, np.where(s >= 70, 100, s))

    value = on_grid(end, [0.15, 0.25], [0, 3], lambda s, v, w: np.where(s >= 105, 100 * (1 + 0.04 * w), v) if w else v)
    alive = (path[:2] < 105).all(0)
    tell("note", 0.6, np.where(alive, value(path[-1]), 0))


def bermudan():
    """Bermudan put at 0.25, 0.5, 0.75 and 1; t = 0.5 (before the payments of that date) and 0.6."""
    payoff = lambda s: np.maximum(K - s, 0)
    rule = lambda s, v, w: np.maximum(payoff(s), v) if w else v
    at = {0.25: on_grid(payoff, [0.25] * 3, [1, 1, 1], rule), 0.5: on_grid(payoff, [0.25] * 2, [1, 1], rule),
          0.6: on_grid(payoff, [0.15, 0.25], [0, 1], rule)}
    path = steps(S0, [0.25, 0.5, 0.6])
    alive = np.ones(N, bool)
    alive &= ~((payoff(path[0]) > 0) & (payoff(path[0]) >= at[0.25](path[0]) - 1e-9))
    tell("bermudan", 0.5, np.where(alive, at[0.5](path[1]), 0), call(path[1], 105, 0.5))
    alive &= ~((payoff(path[1]) > 0) & (payoff(path[1]) >= at[0.5](path[1]) - 1e-9))
    tell("bermudan", 0.6, np.where(alive, at[0.6](path[2]), 0), call(path[2], 105, 0.4))


def best():
    """Call on the best of two, volatilities 0.2 and 0.3, correlation 0.5, t = 0.5."""
    vols, left, rho = np.array([0.2, 0.3]), 0.5, 0.5
    node, weight = roots_hermitenorm(400)
    weight = weight / np.sqrt(2 * np.pi)
    grid = np.linspace(np.log(35), np.log(300), 121)
    value = np.empty((121, 121))
    # Given the first normal, the second price is lognormal: its maximum with max(S1, K) has a closed form.
    for i, a in enumerate(grid):
        first = np.exp(a + (R - vols[0] ** 2 / 2) * left + vols[0] * np.sqrt(left) * node)
        floor = np.maximum(first, K)
        for j, b in enumerate(grid):
            mean = b + (R - vols[1] ** 2 / 2) * left + vols[1] * np.sqrt(left) * rho * node
            dev = vols[1] * np.sqrt(left * (1 - rho**2))
            forward = np.exp(mean + dev**2 / 2)
            value[i, j] = np.exp(-R * left) * ((floor - K + black(forward, floor, dev)) * weight).sum()
    f = RectBivariateSpline(grid, grid, value)
    z = RNG.standard_normal((2, N))
    z[1] = rho * z[0] + np.sqrt(1 - rho**2) * z[1]
    x = [np.log(S0) + (R - v**2 / 2) * 0.5 + v * np.sqrt(0.5) * w for v, w in zip(vols, z)]
    tell("best", 0.5, f(*x, grid=False), call(np.exp(x[0]), 105, 0.5))


def heston():
    """Call under v = 0.04, kappa 1.5, theta 0.06, sigma 0.5, rho -0.7; t = 0.5, by the cosine expansion of F. Fang and
    C. Oosterlee (2008) on a grid; 400 Euler steps of full truncation for the outer paths."""
    kappa, theta, sigma, rho, left = 1.5, 0.06, 0.5, -0.7, 0.5

    def prices(ratio, v):
        """Call values over the strike, for S/K = ratio."""
        width = 6.0
        a, b, terms = -width / 2, width / 2, 700
        k = np.arange(terms)
        u = k * np.pi / (b - a)
        d = np.sqrt((kappa - 1j * rho * sigma * u) ** 2 + sigma**2 * (1j * u + u**2))
        g = (kappa - 1j * rho * sigma * u - d) / (kappa - 1j * rho * sigma * u + d)
        e = np.exp(-d * left)
        c = kappa * theta / sigma**2 * ((kappa - 1j * rho * sigma * u - d) * left - 2 * np.log((1 - g * e) / (1 - g)))
        dd = (kappa - 1j * rho * sigma * u - d) / sigma**2 * (1 - e) / (1 - g * e)
        phi = np.exp(c + dd * v + 1j * u * R * left)
        chi = (np.cos(k * np.pi) * 0 + (np.cos(u * (b - a)) * np.exp(b) - np.cos(u * (0 - a))
               + u * np.sin(u * (b - a)) * np.exp(b) - u * np.sin(u * (0 - a))) / (1 + u**2))
        psi = np.where(k == 0, b, (np.sin(u * (b - a)) - np.sin(u * (0 - a))) / np.where(k == 0, 1, u))
        vk = 2 / (b - a) * (chi - psi)
        vk[0] /= 2
        x = np.log(ratio)
        return np.exp(-R * left) * np.real(np.exp(1j * np.outer(x - a, u)) @ (phi * vk))

    xs, vs = np.linspace(-1.2, 0.9, 211), np.linspace(0, 0.6, 121) ** 2 / 0.6
    vs = np.concatenate([vs, [0.7, 0.8]])
    f = RectBivariateSpline(xs, vs, np.array([prices(np.exp(xs), v) for v in vs]).T)
    x, v, dt = np.zeros(N), np.full(N, 0.04), 0.5 / 400
    for _ in range(400):
        z = RNG.standard_normal((2, N))
        p = np.maximum(v, 0)
        w = rho * z[0] + np.sqrt(1 - rho**2) * z[1]
        x += (R - p / 2) * dt + np.sqrt(p * dt) * w
        v += kappa * (theta - p) * dt + sigma * np.sqrt(p * dt) * z[0]
    value = K * f(np.clip(x, -1.2, 0.9), np.clip(v, 0, 0.8), grid=False)
    print("  price of the call", K * prices(np.ones(1), 0.04)[0], "for half a year from now, and S at 0.95",
          np.quantile(S0 * np.exp(x), 0.95))
    tell("heston", 0.5, value, S0 * np.exp(x) - 90 * np.exp(-R * 0.5))  # less a forward at 90


if __name__ == "__main__":
    for each in sys.argv[1:] or ("asian", "barrier", "note", "bermudan", "best", "heston"):
        globals()[each]()
