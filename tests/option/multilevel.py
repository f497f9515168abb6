"""Prices of models whose steps are not exact: the numbers of option_multilevel.c.

Heston's calls and digitals by his integral of the characteristic function (1993; in the form of Albrecher et al. 2007, "the little trap");
the square-root CEV model dS = r S dt + a sqrt(S) dW by its law, a noncentral chi-squared one that ends at 0 (Schroder
1989); its barrier at dates by integrals of that law from date to date. No formula of the engine is used. Needs NumPy
and SciPy.
"""

import numpy as np
from scipy.integrate import quad
from scipy.stats import ncx2


def heston(S, K, r, T, v, kappa, theta, sigma, rho):
    """Call and digital (pays 1 above K)."""
    def phi(u):
        d = np.sqrt((rho * sigma * 1j * u - kappa) ** 2 + sigma**2 * (1j * u + u**2))
        g = (kappa - rho * sigma * 1j * u - d) / (kappa - rho * sigma * 1j * u + d)
        e = np.exp(-d * T)
        C = r * 1j * u * T + kappa * theta / sigma**2 * (
            (kappa - rho * sigma * 1j * u - d) * T - 2 * np.log((1 - g * e) / (1 - g)))
        D = (kappa - rho * sigma * 1j * u - d) / sigma**2 * (1 - e) / (1 - g * e)
        return np.exp(C + D * v + 1j * u * np.log(S))
    share = lambda f: 0.5 + quad(f, 1e-9, 400, limit=2000, epsabs=1e-12)[0] / np.pi
    p2 = share(lambda u: (np.exp(-1j * u * np.log(K)) * phi(u) / (1j * u)).real)
    p1 = share(lambda u: (np.exp(-1j * u * np.log(K)) * phi(u - 1j) / (1j * u * phi(-1j))).real)
    return S * p1 - K * np.exp(-r * T) * p2, np.exp(-r * T) * p2


def cev_law(S, r, a, t):
    """Scale c and noncentrality such that c S(t) has, above 0, the law whose density is that of ncx2(4, x) in x."""
    c = 4 * r / (a**2 * -np.expm1(-r * t))  # x = c S(t) exp(-r t)
    return c, c * S


def cev_call(S, K, r, a, T):
    c, x0 = cev_law(S, r, a, T)
    k = c * K * np.exp(-r * T)
    return S * (1 - ncx2.cdf(k, 4, x0)) - K * np.exp(-r * T) * ncx2.cdf(x0, 2, k)


def cev_digital(S, K, r, a, T):
    """Pays 1 above K."""
    c, x0 = cev_law(S, r, a, T)
    return np.exp(-r * T) * ncx2.cdf(x0, 2, c * K * np.exp(-r * T))


def cev_density(S0, S1, r, a, t):
    """Density of S1 at t, from S0."""
    c, x0 = cev_law(S0, r, a, t)
    x = c * S1 * np.exp(-r * t)
    return ncx2.pdf(x0, 4, x) * c * np.exp(-r * t)


def cev_barrier(S, K, low, r, a, T, dates, nodes=800):
    """Call that is knocked out below `low` at equal dates, the last one T."""
    x, w = np.polynomial.legendre.leggauss(nodes)
    high = S * 8
    grid, weight = low + (high - low) * (x + 1) / 2, w * (high - low) / 2
    # the payoff has a kink at K: its own nodes for the last date
    last = np.concatenate([np.maximum(K, low) + (high - max(K, low)) * (x + 1) / 2])
    pay, of = last - K, w * (high - max(K, low)) / 2
    dt = T / dates
    value = (cev_density(grid[:, None], last[None, :], r, a, dt) * (pay * of)[None, :]).sum(1)
    step = cev_density(grid[:, None], grid[None, :], r, a, dt) * weight[None, :]
    for _ in range(dates - 2):
        value = step @ value
    return np.exp(-r * T) * (cev_density(S, grid, r, a, dt) * weight) @ value


if __name__ == "__main__":
    for case in [(100, 100, 0.03, 1, 0.04, 2, 0.06, 0.5, -0.7), (100, 120, 0.03, 1, 0.04, 2, 0.06, 0.5, -0.7),
                 (100, 100, 0, 5, 0.04, 0.5, 0.04, 1, -0.9), (100, 100, 0.05, 1, 0.4, 8, 0.02, 0.5, -0.5)]:
        print("heston", case, "%.7f %.7f" % heston(*case))
    for K in (80, 100, 130):
        print("cev", K, "%.7f" % cev_call(100, K, 0.04, 3.0, 2))
    print("cev digital of 10", "%.7f" % (10 * cev_digital(100, 100, 0.04, 3.0, 2)))
    print("cev that ends at 0: call of 10 sqrt(S) %.7f" % cev_call(100, 100, 0.04, 10.0, 1),
          "of 20 sqrt(S) %.7f, below 1 %.7f, above 50 %.7f" % (
              cev_call(100, 100, 0.04, 20.0, 1), np.exp(-0.04) - cev_digital(100, 1, 0.04, 20.0, 1),
              cev_digital(100, 50, 0.04, 20.0, 1)))
    print("barrier", "%.7f %.7f" % (cev_barrier(100, 100, 85, 0.04, 3.0, 2, 8), cev_barrier(100, 100, 85, 0.04, 3.0, 2, 8, 1600)))
    print("barrier far below = call", "%.7f" % cev_barrier(100, 100, 1e-3, 0.04, 3.0, 2, 2))
    case, h = (100, 100, 0.03, 1, 0.04, 2, 0.06, 0.5, -0.7), 1e-4
    def at(S=0, r=0, vol=0):
        c = list(case)
        c[0], c[2], c[4], c[6] = c[0] + S, c[2] + r, (c[4] ** 0.5 + vol) ** 2, (c[6] ** 0.5 + vol) ** 2
        return heston(*c)[0]
    print("delta %.6f, rho %.5f, vega %.5f" % ((at(S=0.01) - at(S=-0.01)) / 0.02, (at(r=h) - at(r=-h)) / (2 * h), (at(vol=h) - at(vol=-h)) / (2 * h)))
    print("cev delta %.6f" % ((cev_call(100.01, 100, 0.04, 3.0, 2) - cev_call(99.99, 100, 0.04, 3.0, 2)) / 0.02))
