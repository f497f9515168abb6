"""Known values under Hull and White's short rate: the numbers of option_hull_white.c.

ln S at t and ln D, the discount factor until T, are jointly normal, with the integrals of x in both. Means of exp(ln D)
over half lines of ln S give everything by quadrature; no formula of the engine is used. Needs NumPy and SciPy.
"""

import numpy as np
from scipy.integrate import quad
from scipy.stats import norm

A, SIGMA = 0.1, 0.02
FORWARD = lambda t: 0.02 + 0.006 * t


def joint(S, q, vol, rho, t, T, more=0.0, a=A):
    """Mean and variance of ln S(t), those of ln D(T), covariance; `more`: on the forward rates."""
    B = lambda u: -np.expm1(-a * u) / a if a > 0 else u
    inner = lambda f, end: quad(f, 0, end, epsabs=1e-13, epsrel=1e-12)[0]
    V = lambda end: SIGMA**2 * inner(lambda s: B(end - s) ** 2, end)
    f = lambda end: inner(FORWARD, end) + more * end
    with_price = rho * vol * SIGMA
    variance = vol**2 * t + V(t) + 2 * with_price * inner(lambda s: B(t - s), t)
    covariance = -SIGMA**2 * inner(lambda s: B(T - s) * B(t - s), t) - with_price * inner(lambda s: B(T - s), t)
    return np.log(S) + f(t) + V(t) / 2 - q * t - vol**2 * t / 2, variance, -f(T) - V(T) / 2, V(T), covariance


def bond_where(above, level, *asset, **more):
    """E D(T) over S(t) above or below the level."""
    m, v, d, w, c = joint(*asset, **more)
    x = (m + c - np.log(level)) / np.sqrt(v)
    return np.exp(d + w / 2) * norm.cdf(x if above else -x)


def call(S, K, q, vol, rho, T, sign=1, **more):
    m, v, d, w, c = joint(S, q, vol, rho, T, T, **more)
    x = (m + c - np.log(K)) / np.sqrt(v)
    price = np.exp(d + m + (w + v) / 2 + c)  # E D S
    return sign * (price * norm.cdf(sign * (x + np.sqrt(v))) - K * np.exp(d + w / 2) * norm.cdf(sign * x))


def note(level, coupon, t, T, *asset):
    """100 (1 + coupon) at t where S(t) >= level, else 100 at T."""
    return 100 * ((1 + coupon) * bond_where(True, level, *asset, t, t) + bond_where(False, level, *asset, t, T))


if __name__ == "__main__":
    one, two, h = (0.01, 0.2, 0.4), (0.0, 0.3, -0.3), 1e-4
    print("bond %.7f" % np.exp(joint(100, *one, 5, 5)[2] + joint(100, *one, 5, 5)[3] / 2))
    print("calls %.6f %.6f %.6f" % (call(100, 120, *one, 5), call(90, 100, *two, 5, -1), call(100, 110, *one, 2.5)))
    print("delta %.6f" % ((call(100 + h, 120, *one, 5) - call(100 - h, 120, *one, 5)) / 2 / h))
    print("vega %.5f" % ((call(100, 120, 0.01, 0.2 + h, 0.4, 5) - call(100, 120, 0.01, 0.2 - h, 0.4, 5)) / 2 / h))
    print("rho %.5f" % ((call(100, 120, *one, 5, more=h) - call(100, 120, *one, 5, more=-h)) / 2 / h))
    print("theta %.5f" % (-(call(100, 120, *one, 5 + h) - call(100, 120, *one, 5 - h)) / 2 / h))
    print("note %.5f" % note(105, 0.15, 2.5, 5, 100, *one))
    print("digital %.6f" % bond_where(True, 110, 100, *one, 5, 5))
    print("independent %.6f" % call(100, 120, 0.01, 0.2, 0, 5))
    print("Ho and Lee %.6f" % call(100, 120, *one, 5, a=0))
