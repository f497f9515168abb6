"""Moments of the integral I of Heston's variance, exactly and by the steps of Andersen's scheme: the numbers of
option_models.c, test_heston_steps.

The mean m and the variance V of v follow m' = kappa (theta - m), V' = sigma^2 m - 2 kappa V; the covariance of v at
s < t is V(s) exp(-kappa (t - s)). Var I is twice the integral of it over the s < t of I, and the scheme's I is the
sum of dt/2 (v + v') over its steps. Everything by quadrature and matrices; no formula of the engine is used. Needs NumPy
and SciPy.
"""

import numpy as np
from scipy.integrate import quad, solve_ivp


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
