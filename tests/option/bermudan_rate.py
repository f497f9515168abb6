"""Bermudan options under Black and Scholes with Hull and White's short rate: the numbers of option_hull_white.c.

Backwards over the dates by quadrature: ln S, x and the integral of x over a step are jointly normal, and the discount
factor along the step shifts their means (Girsanov), so that holding on is a mean over two normals. Cubic splines between
the points of a grid in ln S and x. Needs NumPy and SciPy; --quantlib compares a price with finite differences of QuantLib.
"""

import sys

import numpy as np
from scipy.integrate import quad
from scipy.interpolate import RectBivariateSpline

S, K, VOL, Q, F = 100.0, 100.0, 0.2, 0.03, 0.04
A, SIGMA = 0.1, 0.03


def price(rho, T, dates, sign=-1, points=(240, 81), nodes=(48, 24), width=6.5):
    """Price today of max(sign (S - K), 0) at any of the equal dates."""
    dt = T / dates
    B = lambda u: -np.expm1(-A * u) / A
    inner = lambda f, end: quad(f, 0, end, epsabs=1e-14)[0]
    V = lambda t: SIGMA**2 * inner(lambda s: B(s) ** 2, t)
    # e: new part of x; i: of the integral of x; w = VOL (increment of the asset's Brownian motion)
    ee, ii, ei = SIGMA**2 * inner(lambda s: np.exp(-2 * A * s), dt), V(dt), SIGMA**2 * inner(lambda s: B(s) * np.exp(-A * s), dt)
    ew, iw, ww = rho * VOL * SIGMA * B(dt), rho * VOL * SIGMA * inner(B, dt), VOL**2 * dt
    yy, xy = ww + 2 * iw + ii, ew + ei  # variance of the step of ln S, and its covariance with e
    c11, c21 = np.sqrt(yy), xy / np.sqrt(yy)
    c22 = np.sqrt(ee - c21**2)
    deviation_y, deviation_x = np.sqrt(VOL**2 * T + V(T) + 2 * abs(rho) * VOL * np.sqrt(V(T) * T)), np.sqrt(SIGMA**2 * inner(lambda s: np.exp(-2 * A * s), T))
    y = np.log(S) + np.linspace(-width, width, points[0]) * deviation_y
    x = np.linspace(-width, width, points[1]) * deviation_x
    (zy, wy), (zx, wx) = (np.polynomial.hermite_e.hermegauss(n) for n in nodes)
    weights = np.outer(wy / wy.sum(), wx / wx.sum())
    pays = lambda ys: np.maximum(sign * (np.exp(ys) - K), 0)
    value = np.repeat(pays(y)[:, None], len(x), axis=1)
    for step in range(dates, 0, -1):
        rise = (V(step * dt) - V((step - 1) * dt)) / 2
        at_y, at_x = (y[:, None], x[None, :]) if step > 1 else (np.array([[np.log(S)]]), np.array([[0.0]]))
        grown = F * dt + rise + B(dt) * at_x
        discount = np.exp(-grown + ii / 2)
        mean_y, mean_x = at_y + grown - Q * dt - ww / 2 - iw - ii, np.exp(-A * dt) * at_x - ei
        # the payment of the last date is not smooth: its mean over ln S is known
        hold = np.zeros(np.broadcast(mean_y, mean_x).shape)
        if step == dates:
            from scipy.stats import norm

            d = (mean_y - np.log(K)) / c11
            hold = sign * (np.exp(mean_y + yy / 2) * norm.cdf(sign * (d + c11)) - K * norm.cdf(sign * d))
        else:
            spline = RectBivariateSpline(y, x, value, kx=3, ky=3)
            for k, z in enumerate(zy):
                for j, u in enumerate(zx):
                    ys, xs = np.broadcast_arrays(mean_y + c11 * z, mean_x + c21 * z + c22 * u)
                    hold += weights[k, j] * spline.ev(np.clip(ys, y[0], y[-1]), np.clip(xs, x[0], x[-1]))
        value = discount * hold
        if step > 1:
            value = np.maximum(value, pays(y)[:, None])
    return float(np.squeeze(value))


def quantlib(rho, T, dates):
    """The same put by QuantLib's finite differences of Heston with a variance that stays, and Hull and White."""
    import QuantLib as ql

    ql.Settings.instance().evaluationDate = today = ql.Date(1, 1, 2024)
    count = ql.Actual365Fixed()
    days = [round(365 * T * (k + 1) / dates) for k in range(dates)]
    flat = lambda r: ql.YieldTermStructureHandle(ql.FlatForward(today, r, count))
    heston = ql.HestonModel(ql.HestonProcess(flat(F), flat(Q), ql.QuoteHandle(ql.SimpleQuote(S)), VOL**2, 1.0, VOL**2, 1e-3, 0.0))
    process = ql.HullWhiteProcess(flat(F), A, SIGMA)
    option = ql.VanillaOption(ql.PlainVanillaPayoff(ql.Option.Put, K), ql.BermudanExercise([today + d for d in days]))
    option.setPricingEngine(ql.FdHestonHullWhiteVanillaEngine(heston, process, rho, 60, 200, 10, 40))
    return option.NPV()


if __name__ == "__main__":
    for rho in (0.4, -0.5):
        for dates, sign in ((1, -1), (3, -1), (3, 1), (10, -1)):
            print("rho %4.1f, %2d dates, %s: %.5f" % (rho, dates, "put" if sign < 0 else "call", price(rho, 3.0, dates, sign)), flush=True)
    if "--quantlib" in sys.argv:
        print("QuantLib: %.4f %.4f" % (quantlib(0.4, 3.0, 10), quantlib(-0.5, 3.0, 10)))
