"""Moments of the integral I of Heston's variance, exactly and by the steps of Andersen's scheme: the numbers of
option_models.c, test_heston_steps, and of option_bias.c.

The mean m and the variance V of v follow m' = kappa (theta - m), V' = sigma^2 m - 2 kappa V; the covariance of v at
s < t is V(s) exp(-kappa (t - s)). Var I is twice the integral of it over the s < t of I, and the scheme's I is the
sum of dt/2 (v + v') over its steps. Everything by quadrature and matrices; no formula of the engine is used. Needs NumPy
and SciPy.
"""

import numpy as np
from scipy.integrate import quad, solve_ivp


def averaged(v, kappa, theta, sigma, T, steps, every):
    """Of the integral of w^2 v, w the share of the fixings after a time, one each `every` steps."""
    path = solve_ivp(lambda t, y: [kappa * (theta - y[0]), sigma**2 * y[0] - 2 * kappa * y[1]], (0, T), [v, 0],
                     rtol=1e-11, atol=1e-15, dense_output=True, method="DOP853").sol
    dt, n = T / steps, steps // every
    w = np.array([(n - s // every) / n for s in range(steps)]) ** 2
    x, gauss = np.polynomial.legendre.leggauss(12)
    at = ((np.arange(steps)[:, None] + (x + 1) / 2) * dt).ravel()  # nodes of each step, and their weights
    weight = np.outer(w, gauss * dt / 2).ravel()
    covariance = lambda t: path(np.minimum.outer(t, t).ravel())[1].reshape(t.size, t.size) * np.exp(
        -kappa * np.abs(np.subtract.outer(t, t)))
    # within a step the covariance has a kink at equal times: 2 times the integral over s < t there
    inside = 0
    for s in range(steps):
        for t, g in zip(s * dt + (x + 1) / 2 * dt, gauss * dt / 2):
            u, h = s * dt + (x + 1) / 2 * (t - s * dt), gauss * (t - s * dt) / 2
            inside += 2 * w[s] ** 2 * g * (h * path(u)[1] * np.exp(-kappa * (t - u))).sum()
    C, step = covariance(at), np.repeat(np.arange(steps), x.size)
    C[step[:, None] == step[None, :]] = 0
    exact, mean = weight @ C @ weight + inside, weight @ path(at)[0]
    ends = np.linspace(0, T, steps + 1)
    trapezoid = np.zeros(steps + 1)
    trapezoid[:-1] += w * dt / 2
    trapezoid[1:] += w * dt / 2
    return trapezoid @ path(ends)[0] / mean - 1, (trapezoid @ covariance(ends) @ trapezoid - exact) / mean**2


def moments(v, kappa, theta, sigma, T, steps, start=0):
    """Of the integral from the end of step `start` to T."""
    path = solve_ivp(lambda t, y: [kappa * (theta - y[0]), sigma**2 * y[0] - 2 * kappa * y[1]], (0, T), [v, 0],
                     rtol=1e-11, atol=1e-15, dense_output=True, method="DOP853").sol
    begin = T * start / steps
    mean = quad(lambda t: path(t)[0], begin, T, epsabs=0, epsrel=1e-10, limit=500)[0]
    variance = 2 * quad(lambda s: path(s)[1] * -np.expm1(-kappa * (T - s)) / kappa, begin, T, epsabs=0,
                        epsrel=1e-10, limit=500)[0]
    t = np.linspace(begin, T, steps - start + 1)
    weight = np.full(steps - start + 1, T / steps)
    weight[[0, -1]] /= 2
    m, V = path(t)
    covariance = np.minimum.outer(t, t)  # the earlier of two times
    covariance = np.interp(covariance, t, V) * np.exp(-kappa * np.abs(np.subtract.outer(t, t)))
    return weight @ m / mean - 1, (weight @ covariance @ weight - variance) / mean**2


if __name__ == "__main__":
    for row in [(0.4, 8, 0.02, 0.5, 1, 1), (0.4, 8, 0.02, 0.5, 1, 4), (0.002, 3, 0.04, 2, 2, 3),
                (0.04, 0.004, 0.05, 0.3, 1, 2), (0.04, 50, 0.04, 0.5, 1, 8), (0.4, 8, 0.02, 0.5, 1, 4, 1),
                (0.01, 1, 0.08, 1.2, 8, 16, 15)]:
        print("%s: mean %.7f, variance %.7f" % ((row,) + moments(*row)))
    print("8 steps, fixings each 2: mean %.7f, variance %.7f" % averaged(0.02, 2, 0.06, 0.9, 2, 8, 2))
