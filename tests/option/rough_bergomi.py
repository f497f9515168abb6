"""Calls in the rough Bergomi model, by another way than sim's: the numbers of option_rough.c.

Y and W on the grid are drawn from their exact joint law (a Cholesky factor of their covariance, no hybrid scheme), and
the price is the mean of Black and Scholes' formula given the variance's own Brownian motion (M. Romano and N. Touzi,
Mathematical Finance 7 (1997) 399). The sums over the steps take the variance at each step's beginning, as sim does.
Only the law of Y differs, by the hybrid scheme's error. Needs NumPy and SciPy: rough_bergomi.py STEPS PATHS.
"""

import sys

import numpy as np
from scipy.special import hyp2f1
from scipy.stats import norm


def factor(hurst, T, n):
    """Times, and the Cholesky factor of the covariance of (Y, W) at them."""
    t = T * np.arange(1, n + 1) / n
    more = hurst + 0.5
    cov = np.zeros((2 * n, 2 * n))
    for i in range(n):
        s, late = t[: i + 1], t[i]
        cov[i, : i + 1] = 2 * hurst * s**more * late ** (hurst - 0.5) / more * hyp2f1(1, 0.5 - hurst, hurst + 1.5, s / late)
        cov[i, i] = late ** (2 * hurst)
        cov[: i + 1, i] = cov[i, : i + 1]
        first = np.minimum(late, t)
        cov[i, n:] = np.sqrt(2 * hurst) / more * (late**more - (late - first) ** more)
        cov[n:, i] = cov[i, n:]
    cov[n:, n:] = np.minimum.outer(t, t)
    return t, np.linalg.cholesky(cov + 1e-14 * np.eye(2 * n))


def black(S, K, w):
    d = np.log(S / K) / np.sqrt(w) + np.sqrt(w) / 2
    return S * norm.cdf(d) - K * norm.cdf(d - np.sqrt(w))


def calls(hurst, eta, rho, xi, T, n, strikes, paths, seed=1, batch=4096):
    """Means and standard errors of calls on S = 100, without interest; xi: a function of the end of time's steps."""
    t, L = factor(hurst, T, n)
    dt, random = T / n, np.random.default_rng(seed)
    level = np.array([xi] * n) if np.isscalar(xi) else np.array([xi(k * dt, (k + 1) * dt) for k in range(n)])
    total = squares = count = 0
    while count < paths:
        z = random.standard_normal((2 * n, batch))
        value = 0
        for side in (1, -1):
            X = L @ (side * z)
            late = np.exp(eta * X[: n - 1] - eta**2 / 2 * t[: n - 1, None] ** (2 * hurst))
            V = level[:, None] * np.vstack([np.ones((1, batch)), late])
            dW = np.diff(np.vstack([np.zeros((1, batch)), X[n:]]), axis=0)
            held, moved = V.sum(0) * dt, (np.sqrt(V) * dW).sum(0)
            S = 100 * np.exp(rho * moved - rho**2 / 2 * held)
            value = value + np.array([black(S, K, (1 - rho**2) * held) for K in strikes]) / 2
        total, squares, count = total + value.sum(1), squares + (value**2).sum(1), count + batch
    mean = total / count
    return mean, np.sqrt((squares / count - mean**2) / count)


if __name__ == "__main__":
    n, paths = int(sys.argv[1]), float(sys.argv[2])
    print("H 0.07", *calls(0.07, 1.9, -0.9, 0.235**2, 1, n, [80, 100, 120], paths))
    print("H 0.3, xi 0.03 + 0.04 t", *calls(0.3, 1.2, -0.5, lambda a, b: 0.03 + 0.02 * (a + b), 1, n, [80, 100, 120], paths))
