"""Figures of option prices: how they close in, and how well each is known."""

from __future__ import annotations

import re
from math import erf, exp, log, sqrt
from typing import Any

import numpy as np

from simview.run import Run
from simview.style import COLOURS, legend

_CONSTANT = re.compile(r"^result = ([-+0-9.eE]+)$")


def number(value: Any) -> float | None:
    """A number, also one that stands as a constant function ('result = 0.2')."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    match = _CONSTANT.match(value) if isinstance(value, str) else None
    return float(match[1]) if match else None


def reference(parameters: dict[str, Any], which: int = 0) -> float | None:
    """The price of a European payoff after F. Black and M. Scholes (J. Pol. Econ. 81, 1973); None where it has none."""
    payoffs, assets = parameters.get("payoffs"), parameters.get("assets")
    if not isinstance(payoffs, list) or not isinstance(assets, list) or which >= len(payoffs):
        return None
    payoff = payoffs[which]
    at = int(payoff.get("asset", 1)) - 1
    if payoff.get("$type") != "european" or not 0 <= at < len(assets):
        return None
    asset = assets[at]
    # An asset of a model of its own (Heston, jumps, ...) has other keys, or these as tables.
    if any(value not in (None, "none") and value != {} for key, value in asset.items() if key not in ("spot", "vol", "dividend")):
        return None
    found = [number(v) for v in (asset.get("spot"), payoff.get("strike"), asset.get("vol"), asset.get("dividend", 0.0),
                                 parameters.get("rate"), parameters.get("maturity"))]  # fmt: skip
    if any(value is None for value in found):
        return None
    spot, strike, vol, dividend, rate, maturity = (float(value or 0.0) for value in found)
    if not (min(spot, strike, vol, maturity) > 0):
        return None
    deviation = vol * sqrt(maturity)
    d1 = (log(spot / strike) + (rate - dividend) * maturity) / deviation + deviation / 2
    sign = -1.0 if payoff.get("type") == "put" else 1.0

    def normal(x: float) -> float:
        return 0.5 * (1 + erf(x / sqrt(2)))

    held, paid = spot * exp(-dividend * maturity), strike * exp(-rate * maturity)
    return sign * (held * normal(sign * d1) - paid * normal(sign * (d1 - deviation)))


def convergence(run: Run, axes: Any) -> None:
    """The price against the number of paths, with a band of one standard error and the reference where there is one."""
    frame = run.tables["price"]
    frame = frame[frame["price"].notna()]
    paths, value = frame["paths"].to_numpy(), frame["price"].to_numpy()
    band = frame["standard_error"].to_numpy()
    exact = reference(run.parameters)
    if "reference" in frame and np.isfinite(frame["reference"].iloc[-1]):
        exact = float(frame["reference"].iloc[-1])
    if len(paths) > 1:
        axes.fill_between(paths, value - band, value + band, color=COLOURS[4], alpha=0.4, lw=0, label="± standard error")
        axes.plot(paths, value, color=COLOURS[0], marker="o", ms=2.5, label="price")
    else:
        axes.errorbar(paths, value, band, color=COLOURS[0], marker="o", ms=3, capsize=3, label="price ± standard error")
    if exact is not None:
        axes.axhline(exact, color=COLOURS[1], ls="--", label="reference")
    label = run.units.label("price", run.tables["price"].attrs["units"].get("price", "1"))
    axes.set(xscale="log", xlabel="paths", ylabel=label)
    # The first rows are wide of the mark: the limits follow the last three quarters.
    kept = slice(len(paths) // 4, None)
    low, high = (value - band)[kept].min(), (value + band)[kept].max()
    if exact is not None:
        low, high = min(low, exact), max(high, exact)
    if np.isfinite([low, high]).all() and high > low:
        axes.set_ylim(low - 0.2 * (high - low), high + 0.2 * (high - low))
    axes.ticklabel_format(axis="y", useOffset=False)
    legend(axes)


def _name(payoff: dict[str, Any], number_of: int) -> str:
    """Such as 'put 40, american'."""
    kind = str(payoff.get("$type", f"payoff {number_of}")).replace("_", " ")
    bermudan = kind == "american" and int(payoff.get("every", 1)) > 1
    kind = "bermudan" if bermudan else kind
    words = [str(payoff[key]) for key in ("type", "strike") if isinstance(payoff.get(key), (str, int, float))]
    more = [f"{key} {payoff[key]:g}" for key in ("level",) if isinstance(payoff.get(key), (int, float))]
    more += [str(payoff[key]) for key in ("monitoring",) if payoff.get(key) == "continuous"]
    more += [f"each {payoff['every']} steps"] if bermudan else []
    return ", ".join([f"{kind} {' '.join(words)}".strip(), *more])


def _rows(run: Run) -> list[tuple[str, float, float, float | None]]:
    """What was estimated: name, value, standard error, reference. Payoffs first, then the Greeks of the first."""
    found: list[tuple[str, float, float, float | None]] = []
    payoffs = run.parameters.get("payoffs")
    about = payoffs if isinstance(payoffs, list) else []
    last = run.tables["price"].iloc[-1]
    several = {"prices", "errors"} <= set(run.tables)
    columns = [name for name in run.tables["prices"].columns if name.startswith("payoff_")] if several else ["price"]
    for i, column in enumerate(columns):
        value = float((run.tables["prices"].iloc[-1] if several else last)[column])
        error = float(run.tables["errors"].iloc[-1][column] if several else last["standard_error"])
        name = _name(about[i], i + 1) if i < len(about) else (f"payoff {i + 1}" if several else "price")
        found.append((name, value, error, reference(run.parameters, i)))
    for column in last.index:
        if f"{column}_error" in last.index and column not in ("relative", "bias"):
            found.append((str(column).replace("_", " "), float(last[column]), float(last[f"{column}_error"]), None))
    return found[:16]


def estimates(run: Run, axes: Any) -> None:
    """Each estimate by name and value with its standard error, as in the terminal, and how large its standard error is beside it."""
    rows = [row for row in _rows(run) if row[1] != 0 and np.isfinite(row[1:3]).all()]
    places = np.arange(len(rows))[::-1]
    relative = np.array([max(abs(error / value), 1e-16) for _, value, error, _ in rows])
    axes.hlines(places, relative.min() / 3, relative, color="#bbbbbb", lw=1)
    axes.plot(relative, places, "o", ms=4, color=COLOURS[0])
    axes.set(xscale="log", xlabel="standard error / value", xlim=(relative.min() / 3, relative.max() * 1e3))
    for at, (_, value, error, exact), x in zip(places, rows, relative):
        digits = max(0, min(8, 2 - int(np.floor(np.log10(max(error, 1e-12))))))
        text = f"{value:.{digits}f} ± {error:.{digits}f}" + (f" (exact {exact:.{digits}f})" if exact is not None else "")
        axes.annotate(text.replace("-", "\u2212"), (x, at), (6, 0), textcoords="offset points", va="center", fontsize=7)
    axes.set_yticks(places, [row[0] for row in rows])
    axes.set_ylim(-0.7, len(rows) - 0.3)
    axes.set_title("values ± standard error" + (", and Black and Scholes" if any(row[3] is not None for row in rows) else ""))
