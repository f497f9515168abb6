"""Weak orders of calls in the rough Bergomi model: the assumption of `bias_error` in a run.

Y and W are drawn from their exact joint law on the finest grid (rough_bergomi.py), and coarser grids see every second of
its times, so that the differences between prices of n and 2 n steps are of the same paths. Needs NumPy and SciPy:
rough_orders.py PATHS FINEST. Of 65536 paths and 256 steps at K = 120, eta 1.9 and rho -0.9: H = 0.07 from 16 steps on
0.64, 0.58, 0.54, H = 0.1 0.67, 0.64, 0.60 (each +- 0.15); but -0.6 and -0.1 from 8 to 16.
"""

import sys

import numpy as np

from rough_bergomi import black, factor


def differences(hurst, eta, rho, xi, T, finest, strikes, paths, seed=1, batch=2048):
    """Numbers of steps, means of price(n) - price(2 n) and their standard errors: [steps][strikes]."""
    t, L = factor(hurst, T, finest)
    random, grids = np.random.default_rng(seed), [2**k for k in range(1, int(np.log2(finest)) + 1)]
    total = squares = count = 0
    while count < paths:
        z = random.standard_normal((2 * finest, batch))
        value = 0
        for side in (1, -1):
            X = L @ (side * z)
            W = np.vstack([np.zeros((1, batch)), X[finest:]])
            prices = []
            for n in grids:
                m = finest // n
                Y, late = X[m - 1 : finest : m][: n - 1], t[m - 1 :: m][: n - 1, None]
                V = xi * np.vstack([np.ones((1, batch)), np.exp(eta * Y - eta**2 / 2 * late ** (2 * hurst))])
                held, moved = V.sum(0) * T / n, (np.sqrt(V) * np.diff(W[::m], axis=0)).sum(0)
                S = 100 * np.exp(rho * moved - rho**2 / 2 * held)
                prices.append([black(S, K, (1 - rho**2) * held) for K in strikes])
            value = value + np.array(prices) / 2
        off = value[:-1] - value[1:]
        total, squares, count = total + off.sum(2), squares + (off**2).sum(2), count + batch
    mean = total / count
    return grids[:-1], mean, np.sqrt((squares / count - mean**2) / count)


if __name__ == "__main__":
    for hurst, eta, rho in ((0.07, 1.9, -0.9), (0.05, 1.5, -0.5), (0.1, 1.9, -0.9), (0.2, 1.5, -0.7), (0.3, 1.2, -0.5)):
        print(f"H = {hurst}, eta = {eta}, rho = {rho}")
        grids, mean, error = differences(
            hurst, eta, rho, 0.235**2, 1, int(sys.argv[2]), [80, 100, 120], float(sys.argv[1])
        )
        for k, n in enumerate(grids):
            order = -np.log2(np.abs(mean[k + 1] / mean[k])) if k + 1 < len(grids) else np.full(3, np.nan)
            print(n, " ".join(f"{m:9.5f} +- {e:.5f} order {o:5.2f}" for m, e, o in zip(mean[k], error[k], order)))
