"""Known values of tests/option/option_desk.c, by quadrature and Black's formula: NumPy and SciPy alone.

An accumulator is a recursion over its dates: V(S) before a date is the purchase there, or 0 where it is knocked out,
and the discounted mean of V of the next date. The mean over one step of a lognormal price is a sum over normals on a
grid that is fine at the knock-out, so that its jump is integrated on both sides of it.

python3 tests/option/accumulator.py
"""
import numpy as np
from scipy.stats import norm

NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)


def purchase(S, K, gearing, call):
    beyond = S < K if call else S > K
    return np.where(beyond, gearing, 1.0) * (S - K if call else K - S)


def pieces(points, low, high):
    """Gauss nodes and weights on the intervals between sorted points inside low .. high, each cut in pieces of 0.25."""
    cuts = np.concatenate([[low], [p for p in sorted(points) if low < p < high], [high]])
    x, w = [], []
    for a, b in zip(cuts[:-1], cuts[1:]):
        n = max(1, int(np.ceil((b - a) / 0.05)))
        for i in range(n):
            c, d = a + (b - a) * i / n, a + (b - a) * (i + 1) / n
            x.append((c + d) / 2 + (d - c) / 2 * NODES)
            w.append((d - c) / 2 * WEIGHTS)
    return np.concatenate(x), np.concatenate(w)


def accumulator(S=100.0, K=97.0, level=106.0, gearing=2.0, guaranteed=0, call=True, settle="fixings", vol=0.2, r=0.05,
                q=0.02, T=1.0, n=12):
    """Value now of one share a date at T/n, 2 T/n, ..., T. level None: no knock-out."""
    dt = T / n
    s = vol * np.sqrt(dt)
    m = (r - q - vol * vol / 2) * dt
    sign = 1 if call else -1
    x, w = pieces([np.log(K)] + ([np.log(level)] if level else []), np.log(S) - 8 * vol * np.sqrt(T),
                  np.log(S) + 8 * vol * np.sqrt(T))
    price = np.exp(x)
    kernel = norm.pdf((x[None, :] - x[:, None] - m) / s) / s * w[None, :] * np.exp(-r * dt)
    out = (price >= level if call else price <= level) if level else np.zeros(len(x), bool)
    alive, dead = np.zeros(len(x)), np.zeros(len(x))  # value of what is still to come after a date
    for d in range(n, 0, -1):
        left = T - d * dt
        if settle == "fixings":
            pay = purchase(price, K, gearing, call)
        else:
            units = np.where(price < K if call else price > K, gearing, 1.0)
            pay = units * sign * (price * np.exp(-q * left) - K * np.exp(-r * left))
        sure = pay if d <= guaranteed else 0.0
        open_ = pay if d > guaranteed else 0.0
        at_dead = sure + dead
        at_alive = np.where(out, at_dead, sure + open_ + alive)
        row = norm.pdf((x - np.log(S) - m) / s) / s * w * np.exp(-r * dt)
        if d == 1:
            return float(row @ at_alive)
        alive, dead = kernel @ at_alive, kernel @ at_dead


def black(F, K, dev, sign=1):
    d = np.log(F / K) / dev + dev / 2
    return sign * (F * norm.cdf(sign * d) - K * norm.cdf(sign * (d - dev)))


def sum_of_options(S=100.0, K=97.0, gearing=2.0, vol=0.2, r=0.05, q=0.02, T=1.0, n=12):
    """An accumulator without knock-out: a call less `gearing` puts at each date."""
    total = 0
    for k in range(1, n + 1):
        t = T * k / n
        F = S * np.exp((r - q) * t)
        total += np.exp(-r * t) * (black(F, K, vol * np.sqrt(t)) - gearing * black(F, K, vol * np.sqrt(t), -1))
    return total


def bermudan(S=100.0, K=110.0, vol=0.25, drift=0.03, r=0.05, T=1.0, n=4, sign=-1):
    """Early exercise at T/n, ..., T of a price with another drift than the rate; sign 0: of |S - K|."""
    dt = T / n
    s, m = vol * np.sqrt(dt), (drift - vol * vol / 2) * dt
    x, w = pieces([np.log(K)], np.log(S) - 8 * vol * np.sqrt(T), np.log(S) + 8 * vol * np.sqrt(T))
    pay = np.maximum(sign * (np.exp(x) - K), 0) if sign else np.abs(np.exp(x) - K)
    kernel = norm.pdf((x[None, :] - x[:, None] - m) / s) / s * w[None, :] * np.exp(-r * dt)
    v = pay
    for _ in range(n - 1):
        v = np.maximum(pay, kernel @ v)
    return float((norm.pdf((x - np.log(S) - m) / s) / s * w * np.exp(-r * dt)) @ v)


def lookback(S=100.0, K=95.0, vol=0.25, r=0.15, q=0.08, T=1.0, n=6, early=True, h=0.004):
    """A call on the highest price at T/n, 2 T/n, ... so far, exercised at any of them: states price and highest price.

    Trapezoidal rule of spacing h; the slope of the value at x = highest costs h^2, which two spacings take off.
    """
    dt = T / n
    s, m = vol * np.sqrt(dt), (r - q - vol * vol / 2) * dt
    x = np.arange(-int(6 * vol / h), int(6 * vol / h) + 1) * h
    kernel = norm.pdf((x[None, :] - x[:, None] - m) / s) / s * h * np.exp(-r * dt)
    pay = np.maximum(S * np.exp(x) - K, 0)[None, :]
    known = np.tril(np.ones((len(x), len(x)))).T  # [price, highest]: highest >= price
    value = np.where(known > 0, pay, 0.0)
    half = np.where(np.eye(len(x)) > 0, 0.5, known)
    for _ in range(n - 1):
        diagonal = np.diag(value)
        tail = np.cumsum((kernel * diagonal[None, :])[:, ::-1], axis=1)[:, ::-1]  # over prices from each highest on
        tail -= 0.5 * kernel * diagonal[None, :]
        hold = kernel @ (value * half) + tail
        value = np.where(known > 0, np.maximum(pay, hold) if early else hold, 0.0)
    middle = len(x) // 2
    return float(kernel[middle] @ np.diag(value))


if __name__ == "__main__":
    for early in (False, True):
        coarse, fine = lookback(early=early), lookback(early=early, h=0.002)
        print("lookback", "with" if early else "without", "early exercise", coarse, fine, fine + (fine - coarse) / 3)
    print("no knock-out", accumulator(level=None), sum_of_options())
    h = 1e-3
    for name, keys in (("knock-out", {}), ("guaranteed 3", {"guaranteed": 3}), ("at maturity", {"settle": "maturity"}),
                       ("decumulator", {"call": False, "K": 103.0, "level": 94.0, "gearing": 1.5}),
                       ("at maturity, guaranteed 3", {"settle": "maturity", "guaranteed": 3})):
        value = accumulator(**keys)
        delta = (accumulator(S=100 + h, **keys) - accumulator(S=100 - h, **keys)) / (2 * h)
        vega = (accumulator(vol=0.2 + h / 10, **keys) - accumulator(vol=0.2 - h / 10, **keys)) / (h / 5)
        rho = (accumulator(r=0.05 + h / 10, **keys) - accumulator(r=0.05 - h / 10, **keys)) / (h / 5)
        print("%-26s %.6f delta %.5f vega %.4f rho %.4f" % (name, value, delta, vega, rho))
    print("straddle with early exercise", bermudan(K=100.0, drift=0.07, r=0.15, n=6, sign=0))
    # early exercise of a quanto: S 100, vol 0.25, dividend 0.01, foreign rate 0.03, exchange 0.12, correlation -0.4
    drift = 0.03 - 0.01 + 0.4 * 0.25 * 0.12
    print("bermudan quanto put", bermudan(drift=drift), "one date", bermudan(drift=drift, n=1),
          np.exp(-0.05) * black(100 * np.exp(drift), 110, 0.25, -1))
