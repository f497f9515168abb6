"""Implied volatilities of European payoffs: smiles over strikes, and surfaces over strikes and maturities."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log, pi, sqrt
from typing import Any, NamedTuple

import numpy as np

from simview.options import _black_scholes, columns, maturity, number
from simview.runs import Run
from simview.style import COLOURS, DASHES, legend


_MANY = 10000  # most payoffs of a run that are read


class Point(NamedTuple):
    """One price as a volatility: the volatility that gives it by Black and Scholes' formula, and its standard error."""

    strike: float
    maturity: float
    volatility: float
    error: float


def volatility(price: float, sign: float, market: Sequence[float]) -> float | None:
    """The volatility at which the formula gives a price; None where there is none.

    Parameters
    ----------
    sign
        1 for a call, -1 for a put.
    market
        Spot, strike, dividend, rate and maturity.
    """
    spot, strike, dividend, rate, maturity = market

    def value(vol: float) -> float:
        return _black_scholes(sign, (spot, strike, vol, dividend, rate, maturity))

    low, high = 1e-6 / sqrt(maturity), 20.0 / sqrt(maturity)
    if not value(low) < price < value(high):
        return None
    for _ in range(200):
        middle = (low + high) / 2
        if value(middle) < price:
            low = middle
        else:
            high = middle
        if high - low <= 1e-14 * high:
            break
    return (low + high) / 2


def _vega(vol: float, market: Sequence[float]) -> float:
    spot, strike, dividend, rate, maturity = market
    deviation = vol * sqrt(maturity)
    d1 = (log(spot / strike) + (rate - dividend) * maturity) / deviation + deviation / 2
    return spot * exp(-dividend * maturity) * exp(-d1 * d1 / 2) / sqrt(2 * pi) * sqrt(maturity)


def points(runs: Sequence[Run]) -> list[Point]:
    """Points, by strike, of all European payoffs on the first asset for which the market is constant.

    A price outside the formula's range, or without a standard error, is left out. Of several payoffs of a run at one strike
    and maturity, such as a call and a put, the one with the least error counts.
    """
    found: dict[tuple[int, float, float], Point] = {}
    for k, run in enumerate(runs):
        payoffs, assets = run.parameters.get("payoffs"), run.parameters.get("assets")
        if not isinstance(payoffs, list) or not isinstance(assets, list) or not assets or assets[0].get("dividends"):
            continue
        prices = columns(run, _MANY)[0]
        functions = max(0, len(prices.values) - len(payoffs))
        for i, payoff in enumerate(payoffs):
            place = i + functions
            if payoff.get("$type") != "european" or int(payoff.get("asset", 1)) != 1 or place >= len(prices.values):
                continue
            held = [number(v) for v in (assets[0].get("spot"), payoff.get("strike"), assets[0].get("dividend", 0.0),
                                        run.parameters.get("rate"), maturity(payoff, run.parameters))]  # fmt: skip
            market = [value for value in held if value is not None]
            price, error = float(prices.values[place]), float(prices.errors[place])
            if len(market) < 5 or min(market[0], market[1], market[4]) <= 0 or not np.isfinite(error):
                continue
            vol = volatility(price, -1.0 if payoff.get("type") == "put" else 1.0, market)
            if vol is not None and _vega(vol, market) > 0:
                point = Point(market[1], market[4], vol, error / _vega(vol, market))
                key = k, point.strike, point.maturity
                if key not in found or point.error < found[key].error:
                    found[key] = point
    return sorted(found.values())


def lines(axes: Any, found: Sequence[Point]) -> None:
    """Draws a line over the strikes for each maturity, with bars of one standard error."""
    maturities = sorted({point.maturity for point in found})
    for k, maturity in enumerate(maturities):
        part = [point for point in found if point.maturity == maturity]
        axes.errorbar([p.strike for p in part], [p.volatility for p in part], [p.error for p in part], color=COLOURS[k % 7], ls=DASHES[k % 7],
                      marker="o", ms=2.5, lw=0.9, capsize=2, label=f"maturity {maturity:g}")  # fmt: skip
    axes.set(xlabel="strike", ylabel="implied volatility\n± one standard error")
    if len(maturities) > 1:
        legend(axes)


def smile(run: Run, axes: Any) -> None:
    """Draws the smile of one run."""
    lines(axes, points([run]))


def is_surface(found: Sequence[Point]) -> bool:
    """Whether there are three or more strikes and maturities."""
    return min(len({point[k] for point in found}) for k in (0, 1)) > 2


def surface_of(run: Run, axes: Any) -> None:
    """Draws the surface of one run."""
    surface(axes, points([run]))


def surface(axes: Any, found: Sequence[Point]) -> None:
    """Draws volatilities over strikes and maturities, linear between the points where all are known, with
    contours; where some are not, each point as a rectangle."""
    strikes, maturities = (np.array(sorted({point[k] for point in found})) for k in (0, 1))
    values = np.full((len(maturities), len(strikes)), np.nan)
    for point in found:
        values[np.searchsorted(maturities, point.maturity), np.searchsorted(strikes, point.strike)] = point.volatility
    whole = bool(np.isfinite(values).all())
    drawn = axes.pcolormesh(strikes, maturities, values, shading="gouraud" if whole else "nearest", cmap="viridis", rasterized=True)
    axes.plot([p.strike for p in found], [p.maturity for p in found], color="#222222", mfc="#ffffff", mew=0.6, marker="o", ms=3, ls="none", clip_on=False)
    if whole and np.ptp(values) > 0:
        axes.clabel(axes.contour(strikes, maturities, values, 7, colors="white", linewidths=0.6), fontsize=6)
    axes.figure.colorbar(drawn, ax=axes, pad=0.02).set_label(f"implied volatility\n± at most {max(p.error for p in found):.1g} (one standard error)")
    axes.set(xlabel="strike", ylabel="maturity", xlim=strikes[[0, -1]], ylim=maturities[[0, -1]])  # nothing beyond the points
