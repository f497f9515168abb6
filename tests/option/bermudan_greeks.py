"""A Bermudan put by quadrature between its boundaries, and Greeks by differences of it: numbers of option_early.c.

Between two dates the value is the integral of the normal density and the value at the later date: of the payment below
the boundary in closed form, of the value of holding on above it by Gauss and Legendre. Needs NumPy and SciPy.
"""

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm


def price(S=100.0, K=100.0, r=0.05, vol=0.2, T=1.0, dates=10, points=200):
    dt = T / dates
    mean, deviation, bond = (r - vol**2 / 2) * dt, vol * np.sqrt(dt), np.exp(-r * dt)
    top = np.log(S / K) + 8 * vol * np.sqrt(T) + abs(r) * T + 1
    node, weight = np.polynomial.legendre.leggauss(points)

    def paid_below(y, edge):
        """Discounted mean of (K - K e^X)+ where X < edge, X normal from y on."""
        m = y + mean
        d = (np.minimum(edge, 0) - m) / deviation
        return bond * K * (norm.cdf(d) - np.exp(m + deviation**2 / 2) * norm.cdf(d - deviation))

    def hold(y):  # before the last date
        return paid_below(np.asarray(y, float), np.inf)

    for _ in range(dates - 1):
        edge = brentq(lambda y: hold(np.array([y]))[0] - K * (1 - np.exp(y)), -3, -1e-12)
        x, w = (top + edge) / 2 + (top - edge) / 2 * node, (top - edge) / 2 * weight

        def hold(y, edge=edge, x=x, values=w * hold(x)):
            y = np.atleast_1d(np.asarray(y, float))
            density = norm.pdf((x[None] - y[:, None] - mean) / deviation) / deviation
            return paid_below(y, edge) + bond * density @ values

    return float(hold(np.array([np.log(S / K)]))[0])


if __name__ == "__main__":
    h = 1e-3
    print("price", price(), price(points=400))
    print("delta", (price(S=100 + h) - price(S=100 - h)) / (2 * h))
    print("vega", (price(vol=0.2 + h) - price(vol=0.2 - h)) / (2 * h))
    print("rho", (price(r=0.05 + h) - price(r=0.05 - h)) / (2 * h))
    print("theta", -(price(T=1 + h) - price(T=1 - h)) / (2 * h))
