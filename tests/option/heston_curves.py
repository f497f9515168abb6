"""Calls in Heston's model with piecewise parameters, by its characteristic function: the numbers of option_curves.c.

For a log-forward x and variance v the characteristic function is exp(C + D v) with
    D' = sigma^2 D^2/2 + (i u rho sigma - kappa) D - (u^2 + i u)/2,    C' = kappa theta D
in the time to maturity. Parameters that are constant over periods: D at the end of one period (in the time to maturity)
is the start of the next, each in closed form (S. Mikhailov and U. Noegel, Wilmott Magazine (July 2003) 74). Parameters
that are linear in time: the equations are solved numerically. Prices by A. Lewis's integral (2000). Jumps (Bates)
multiply by their own characteristic function. Needs NumPy and SciPy.
"""

import numpy as np
from scipy.integrate import quad, solve_ivp


def period(u, D, h, tau):
    """C and D after tau more of the time to maturity, from D, with constant h = (kappa, theta, sigma, rho)."""
    kappa, theta, sigma, rho = h
    b, s2 = kappa - 1j * u * rho * sigma, sigma * sigma
    d = np.sqrt(b * b + s2 * (1j * u + u * u))
    low, high = (b - d) / s2, (b + d) / s2  # roots of D' = 0
    g = (D - low) / (D - high)
    e = np.exp(-d * tau)
    return kappa * theta * (low * tau - 2 / s2 * np.log((1 - g * e) / (1 - g))), (low - high * g * e) / (1 - g * e)


def pieces(u, v, periods):
    """periods: [(length, (kappa, theta, sigma, rho))], the first from time 0."""
    C = D = 0
    for length, h in reversed(periods):
        more, D = period(u, D, h, length)
        C = C + more
    return np.exp(C + D * v)


def curves(u, v, T, at):
    """at(t): (kappa, theta, sigma, rho)."""

    def slope(tau, y):
        kappa, theta, sigma, rho = at(T - tau)
        D = y[1]
        return [kappa * theta * D, sigma**2 * D * D / 2 + (1j * u * rho * sigma - kappa) * D - (u * u + 1j * u) / 2]

    end = solve_ivp(slope, (0, T), [0j, 0j], rtol=1e-10, atol=1e-13, method="DOP853").y[:, -1]
    return np.exp(end[0] + end[1] * v)


def call(S, K, r, T, phi):
    k = np.log(S / K) + r * T
    f = lambda u: (np.exp(1j * u * k) * phi(u - 0.5j)).real / (u * u + 0.25)
    return S - np.sqrt(S * K) * np.exp(-r * T / 2) / np.pi * quad(f, 0, 200, limit=1000, epsabs=1e-10, epsrel=1e-10)[0]


def jumps(u, T, rate, mean, deviation):
    drift = np.expm1(mean + deviation**2 / 2)
    return np.exp(rate * T * (np.exp(1j * u * mean - u * u * deviation**2 / 2) - 1 - 1j * u * drift))


FLAT = [(0.3, (3.0, 0.03, 0.4, -0.8)), (0.3, (1.0, 0.09, 0.9, -0.2)), (0.4, (2.0, 0.05, 0.3, -0.6))]


def line(t):
    return 1 + 2 * t, 0.03 + 0.06 * t, 0.8 - 0.5 * t, -0.9 + 0.8 * t


if __name__ == "__main__":
    S, r, v, T = 100, 0.03, 0.04, 1
    for K in (80, 100, 120):
        flat = call(S, K, r, T, lambda u: pieces(u, v, FLAT))
        bates = call(S, K, r, T, lambda u: pieces(u, v, FLAT) * jumps(u, T, 0.8, -0.12, 0.1))
        linear = call(S, K, r, T, lambda u: curves(u, v, T, line))
        print(f"K = {K}: flat {flat:.6f}, with jumps {bates:.6f}, linear {linear:.6f}")
    late = call(S, 100, r, 0.5, lambda u: pieces(u, v, [FLAT[0], (0.2, FLAT[1][1])]))
    print(f"flat until 0.5: {late:.6f}")

    def moved(dv=0.0, dT=0.0, dS=0.0):
        shift = lambda x: (np.sqrt(x) + dv) ** 2
        now = [(length, (kappa, shift(theta), sigma, rho)) for length, (kappa, theta, sigma, rho) in FLAT]
        now[2] = (now[2][0] + dT, now[2][1])
        return call(S + dS, 100, r, T + dT, lambda u: pieces(u, shift(v), now))

    h = 1e-3
    print("delta %.6f" % ((moved(dS=h) - moved(dS=-h)) / (2 * h)))
    print("vega %.5f" % ((moved(dv=h) - moved(dv=-h)) / (2 * h)))
    print("theta %.6f" % (-(moved(dT=h) - moved(dT=-h)) / (2 * h)))
