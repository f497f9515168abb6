"""Figures of option prices: their convergence, and their errors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import erf, exp, log, sqrt
from typing import Any, NamedTuple

import numpy as np

from simview.hdf5 import Array
from simview.runs import Run
from simview.style import COLOURS, legend

_CONSTANT = re.compile(r"^result = ([-+0-9.eE]+)$")


def number(value: Any) -> float | None:
    """A number, also if given as a constant function ('result = 0.2')."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    match = _CONSTANT.match(value) if isinstance(value, str) else None
    return float(match[1]) if match else None


def maturity(payoff: dict[str, Any], parameters: dict[str, Any]) -> float | None:
    """The payment date of a payoff: its own, or that of the run."""
    own = number(payoff.get("maturity"))
    return number(parameters.get("maturity")) if own is None else own


def _known(payoff: dict[str, Any], asset: dict[str, Any], parameters: dict[str, Any]) -> list[float] | None:
    """Spot, strike, volatility, dividend, rate, maturity of a European payoff on one asset, if all are constant."""
    if payoff.get("$type") != "european" or parameters.get("hull_white") not in (None, "none", {}):
        return None
    # An asset with another model (Heston, jumps, ...) has other keys, or tables for these; one in a currency has its number.
    others = [value for key, value in asset.items() if key not in ("spot", "vol", "dividend")]
    if any(value not in (None, "none", 0) and value not in ({}, []) for value in others):
        return None
    found = [number(v) for v in (asset.get("spot"), payoff.get("strike"), asset.get("vol"), asset.get("dividend", 0.0),
                                 parameters.get("rate"), maturity(payoff, parameters))]  # fmt: skip
    kept = [value for value in found if value is not None]
    return kept if len(kept) == len(found) and min(kept[0], kept[1], kept[2], kept[5]) > 0 else None


def _black_scholes(sign: float, market: Sequence[float]) -> float:
    """The price of a call (sign 1) or put (-1) in a market as returned by `_known`."""
    spot, strike, vol, dividend, rate, time = market
    deviation = vol * sqrt(time)
    d1 = (log(spot / strike) + (rate - dividend) * time) / deviation + deviation / 2

    def normal(x: float) -> float:
        return 0.5 * (1 + erf(x / sqrt(2)))

    held, paid = spot * exp(-dividend * time), strike * exp(-rate * time)
    return sign * (held * normal(sign * d1) - paid * normal(sign * (d1 - deviation)))


def _greek_parts(column: str) -> tuple[str, str]:
    """A Greek's name and its assets: ("delta", "2") of delta_2, ("cross_gamma", "1_2") of cross_gamma_1_2."""
    name = "cross_gamma" if column.startswith("cross_gamma") else column.partition("_")[0]
    return name, column[len(name) + 1 :]


_SECOND = {"vanna": (0, 2), "volga": (2, 2), "charm": (0, 5)}  # places in a market of the two parameters


def _second(sign: float, market: list[float], name: str) -> float:
    """A second derivative of the formula of Black and Scholes, by central differences: accurate to 1e-5."""
    first, other = _SECOND[name]
    steps = 1e-3 * abs(market[first]), 1e-3 * abs(market[other])

    def at(up: int, right: int) -> float:
        moved = list(market)
        moved[first] += up * steps[0]
        moved[other] += right * steps[1]
        return _black_scholes(sign, moved)

    if first == other:
        return (at(1, 0) - 2 * at(0, 0) + at(-1, 0)) / steps[0] ** 2
    return (at(1, 1) - at(1, -1) - at(-1, 1) + at(-1, -1)) / (4 * steps[0] * steps[1]) * (-1 if name == "charm" else 1)


def reference(parameters: dict[str, Any], which: int = 0, greek: str = "") -> float | None:
    """The price of a European payoff, or one of its Greeks, after F. Black and M. Scholes (J. Pol. Econ. 81, 1973).

    None where no closed form applies. Greeks are differences of the formula: accurate to 1e-7.
    """
    payoffs, assets = parameters.get("payoffs"), parameters.get("assets")
    if not isinstance(payoffs, list) or not isinstance(assets, list) or not 0 <= which < len(payoffs):
        return None
    payoff = payoffs[which]
    at = int(payoff.get("asset", 1)) - 1
    name, other = _greek_parts(greek)
    market = _known(payoff, assets[at], parameters) if 0 <= at < len(assets) else None
    if market is None or name == "cross_gamma" or (other and int(other) - 1 != at):
        return None
    sign = -1.0 if payoff.get("type") == "put" else 1.0
    if name in _SECOND:
        return _second(sign, market, name)
    place = {"delta": 0, "gamma": 0, "vega": 2, "rho": 4, "theta": 5}.get(name)
    if place is None:
        return None if greek else _black_scholes(sign, market)
    size = max(abs(market[place]), 1e-2)  # a rate may be 0
    step = (1e-3 if name == "gamma" else 1e-4) * size
    above, below = (_black_scholes(sign, [*market[:place], market[place] + h, *market[place + 1 :]]) for h in (step, -step))
    if name == "gamma":
        return (above - 2 * _black_scholes(sign, market) + below) / step**2
    return (above - below) / (2 * step) * (-1 if name == "theta" else 1)


def _priced(run: Run) -> Any:
    """The rows of the table `price` that have a price."""
    frame = run.tables["price"]
    return frame[frame["price"].notna()]


def _exact(run: Run) -> float | None:
    """The first price, where it is known exactly: from the formula, or from a column `reference`."""
    frame = run.tables["price"]
    if "reference" in frame and np.isfinite(frame["reference"].iloc[-1]):
        return float(frame["reference"].iloc[-1])
    return reference(run.parameters)


def price(run: Run, axes: Any) -> None:
    """The price against the number of paths, with bars of one standard error, and the exact price where it is known.

    Rows with an error above ten times the last one would hide the others: `convergence` shows them.
    """
    frame = _priced(run)
    near = frame["standard_error"] <= 10 * frame["standard_error"].iloc[-1]
    frame = frame[near] if near.any() else frame
    axes.errorbar(frame["paths"], frame["price"], frame["standard_error"], color=COLOURS[0], marker="o", ms=3, lw=0.7, capsize=2.5,
                  elinewidth=1.2, label="price")  # fmt: skip
    exact = _exact(run)
    if exact is not None:
        axes.axhline(exact, color=COLOURS[1], ls="--", label="exact")
        legend(axes)
    label = run.units.label("price", run.tables["price"].attrs["units"].get("price", "1"))
    axes.set(xscale="log", xlabel="paths", ylabel=f"{label} ± one standard error")
    axes.margins(x=0.1, y=0.1)
    axes.ticklabel_format(axis="y", useOffset=False)


def convergence(run: Run, axes: Any) -> None:
    """The standard error against the number of paths, the slope for independent paths, and the true error if known."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    frame = _priced(run)
    frame = frame[frame["standard_error"] > 0]
    paths, error = frame["paths"].to_numpy(), frame["standard_error"].to_numpy()
    axes.loglog(paths, error, color=COLOURS[0], marker="o", ms=3, label="standard error")
    exact = _exact(run)
    if exact is not None:
        axes.loglog(paths, (frame["price"] - exact).abs(), color=COLOURS[1], marker="D", ms=3, ls="none", label="|price − exact|")
    if len(paths) > 1:
        axes.loglog(paths, error[-1] * np.sqrt(paths[-1] / paths), color="#888888", lw=0.8, ls="--", label=r"$\propto$ paths$^{-1/2}$")
    axes.set(xlabel="paths", ylabel="standard error of the price")
    low, high = axes.get_ylim()
    if high < 100 * low:
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
    legend(axes)


def _name(payoff: dict[str, Any], number_of: int) -> str:
    """The name that the scenario gives, or a description such as 'American put 40'."""
    if isinstance(own := payoff.get("name"), str):
        return own
    kind = str(payoff.get("$type", f"payoff {number_of}")).replace("_", "-")
    bermudan = kind == "american" and (int(payoff.get("every", 1)) > 1 or bool(payoff.get("dates")))
    kind = "bermudan" if bermudan else kind
    if kind == "barrier":
        kind = f"{payoff.get('direction', 'down')}-{payoff.get('knock', 'out')}"
    kind = kind.capitalize() if kind in ("european", "american", "bermudan", "asian") else kind
    words = [str(payoff[key]) for key in ("type", "strike") if isinstance(payoff.get(key), (str, int, float)) and payoff[key] != "none"]
    words = [] if isinstance(payoff.get("exercise"), str) and payoff["exercise"] != "none" else words
    words += {"best_of": ["on the best"], "worst_of": ["on the worst"], "basket": ["on the basket"]}.get(str(payoff.get("on")), [])
    more = [f"{key} {payoff[key]:g}" for key in ("level",) if isinstance(payoff.get(key), (int, float))]
    more += [str(payoff[key]) for key in ("monitoring",) if payoff.get(key) == "continuous"]
    more += [f"every {payoff['every']} steps"] if bermudan and not payoff.get("dates") else []
    return ",\n".join([f"{kind} {' '.join(words)}".strip(), *([", ".join(more)] if more else [])])


def _function_name(place: int, functions: int) -> str:
    """Name of a result of the scenario's own function, as in messages of sim: 'payoff', or 'result 2 of payoff'."""
    return f"result {place} of payoff" if functions > 1 else "payoff"


class Column(NamedTuple):
    """One quantity of all payoffs, in their order: value, standard error, and exact value (NaN where unknown)."""

    name: str
    values: Array
    errors: Array
    exact: Array


_ROWS, _COLUMNS = 12, 12  # most rows and columns of the figure of estimates


def swept(runs: Sequence[Run], column: str) -> tuple[str, list[float]]:
    """Name and exact values of a column of a sweep's table ('price.price', 'prices.payoff_2', 'vegas.payoff_1_2').

    The name is such as 'price of the European call', without keys that differ from run to run. The exact value of each
    run is NaN where it is unknown.
    """
    table, _, name = column.partition(".")
    columns = _payoff_columns(runs[0]) if runs else []
    of, asset = name, ""
    while of not in columns and "_" in of:
        of, _, last = of.rpartition("_")
        asset = f"{last}_{asset}".strip("_")
    place = columns.index(of) + 1 if of in columns else 1
    greek = name if table == "price" and name != "price" else "" if table in ("price", "prices") else f"{table.removesuffix('s')}_{asset}".strip("_")
    if not runs:
        return column, []
    count = len(columns)
    held = [payoffs if isinstance(payoffs := run.parameters.get("payoffs"), list) else [] for run in runs]
    which = place - 1 - max(0, count - len(held[0]))
    exact = [reference(run.parameters, which, greek) for run in runs]
    told = _function_name(place, count - len(held[0]))
    if 0 <= which < len(held[0]):
        payoff = {key: value for key, value in held[0][which].items() if all(p[which].get(key) == value for p in held if which < len(p))}
        told = _name(payoff, place).replace("\n", " ")
    kind, assets = _greek_parts(greek)
    what = f"{kind}, asset {assets}" if assets else kind or "price"
    return f"{what} of {'' if told.startswith('result') else 'the '}{told}", [np.nan if value is None else value for value in exact]


def _names(run: Run) -> list[str]:
    payoffs = run.parameters.get("payoffs")
    named = payoffs if isinstance(payoffs, list) else []
    columns = _payoff_columns(run)
    functions = max(0, len(columns) - len(named))  # functions come first
    dates = [maturity(payoff, run.parameters) for payoff in named]
    told = [_name(payoff, functions + i + 1) + (f", to {date:g}" if date is not None and len(set(dates)) > 1 and "name" not in payoff else "")
            for i, (payoff, date) in enumerate(zip(named, dates))]  # fmt: skip
    return [*(_function_name(i + 1, functions) for i in range(functions)), *told][: min(_ROWS, len(columns))]


def _payoff_columns(run: Run) -> list[str]:
    several = {"prices", "errors"} <= set(run.tables)
    return [name for name in run.tables["prices"].columns if name not in ("step", "time")] if several else ["price"]


def _last(run: Run, table: str, column: str) -> float:
    frame = run.tables[table] if table in run.tables else None
    return float(frame[column].iloc[-1]) if frame is not None and len(frame) and column in frame else np.nan


def columns(run: Run, most: int = _ROWS) -> list[Column]:
    """The estimated quantities of the first payoffs, at most `most`: price, then Greeks; for several assets the Greeks of each."""
    payoffs = _payoff_columns(run)[:most]
    named = run.parameters.get("payoffs")
    functions = max(0, len(_payoff_columns(run)) - (len(named) if isinstance(named, list) else 0))
    price_columns = run.tables["price"].columns
    greeks = [name for name in price_columns if f"{name}_error" in price_columns and name not in ("relative", "bias", "cva", "dva", "leverage_miss")
              and not name.startswith(("vega_bucket", "rho_bucket"))]  # of simview.buckets
    found = []
    for greek in ["", *greeks]:
        name, asset = _greek_parts(greek)
        values, errors, exact = [], [], []
        for i, payoff in enumerate(payoffs):
            column = f"{payoff}_{asset}" if asset else payoff
            if len(payoffs) == 1:
                held = _last(run, "price", greek or "price"), _last(run, "price", f"{greek}_error" if greek else "standard_error")
            elif greek:
                held = _last(run, f"{name}s", column), _last(run, f"{name}_errors", column)
            else:
                held = _last(run, "prices", payoff), _last(run, "errors", payoff)
            known = reference(run.parameters, i - functions, greek)
            if i == 0 and not greek:
                known = _exact(run)
            values.append(held[0])
            errors.append(held[1])
            exact.append(np.nan if known is None else known)
        name = "upper bound" if name == "upper" else name
        told = f"assets {asset.replace('_', ' and ')}" if "_" in asset else f"asset {asset}"
        found.append(Column(f"{name.replace('_', ' ')}, {told}" if asset else name or "price", np.array(values), np.array(errors), np.array(exact)))
    return found[:_COLUMNS]


def _biases(run: Run) -> tuple[Array, Array]:
    """The shift of the prices by finite steps, and its standard error; NaN where it is not estimated."""
    payoffs = _payoff_columns(run)[:_ROWS]
    tables = ("price", "price") if len(payoffs) == 1 else ("biases", "bias_errors")
    names = [("bias", "bias_error")] if len(payoffs) == 1 else [(name, name) for name in payoffs]
    held = [[_last(run, table, pair[k]) for pair in names] for k, table in enumerate(tables)]
    return np.array(held[0]), np.array(held[1])


def _digits(error: float) -> int:
    """Number of decimals that show two digits of the error."""
    return max(0, min(9, 1 - int(np.floor(np.log10(error))))) if error > 0 else 6


def _minus(text: str) -> str:
    return text.replace("-", "\u2212")


def _draw_column(axes: Any, column: Column, wide: float) -> None:
    """Points with bars of one standard error and their numbers, one below the other; `wide`: axes' width in inches."""
    places = np.arange(len(column.values))[::-1]
    bars = np.nan_to_num(column.errors)
    axes.hlines(places, 0, 1, transform=axes.get_yaxis_transform(), color="#e4e4e4", lw=0.6, zorder=0)
    axes.errorbar(column.values, places, xerr=bars, color=COLOURS[0], marker="o", ms=3, ls="none", capsize=2.5)
    unknown = np.isfinite(column.values) & ~np.isfinite(column.errors)
    axes.plot(column.values[unknown], places[unknown], color=COLOURS[0], mfc="white", marker="o", ms=3, ls="none", zorder=3)
    axes.plot(column.exact, places, color=COLOURS[1], marker="|", ms=9, mew=1.3, ls="none")
    for at, value, error in zip(places, column.values, column.errors):
        if not np.isfinite(value):
            continue
        known = bool(np.isfinite(error))
        digits = _digits(error)
        told = f"{value:.{digits}f}" if known and 0 < digits < 8 else "0" if known and abs(value) < error else f"{value:.6g}"
        bar = "?" if not known else f"{error:.{digits}f}" if digits < 8 else f"{error:.1e}"
        beside = {"textcoords": "offset points", "ha": "center", "fontsize": 6.5}
        axes.annotate(_minus(told), (value, at), (0, 6), va="bottom", **beside)
        axes.annotate(_minus(f"± {bar}"), (value, at), (0, -6), va="top", color="#555555", **beside)
    ends = np.concatenate([column.values - bars, column.values + bars, column.exact])
    ends = ends[np.isfinite(ends)]
    low, high = (float(ends.min()), float(ends.max())) if ends.size else (0.0, 1.0)
    middle, half = (low + high) / 2, (high - low) / 2 or 1e-3 * abs(high) or 1.0
    reach = 0.5 * wide / max(0.5 * wide - 0.36, 0.11 * wide) * half  # outermost numbers are inside
    axes.set_xlim(middle - reach, middle + reach)
    axes.set_title(column.name)


def _draw_errors(axes: Any, prices: Column, bias: tuple[Array, Array]) -> None:
    """The bias of the steps, and the deviation from the exact price, compared with the standard error of the price."""
    places = np.arange(len(prices.values))[::-1].astype(float)
    unit = np.where(prices.errors > 0, prices.errors, np.nan)
    axes.axvspan(-1, 1, color=COLOURS[4], alpha=0.3, lw=0)
    axes.axvline(0, color="#888888", lw=0.6)
    axes.plot((prices.values - prices.exact) / unit, places, color=COLOURS[1], marker="D", ms=3.5, ls="none")
    shift, error = bias
    axes.errorbar(shift / unit, places - 0.12, xerr=np.nan_to_num(error / unit), color=COLOURS[2], marker="s", ms=3, ls="none", capsize=2.5)
    held = np.concatenate([np.abs(prices.values - prices.exact) / unit, (np.abs(shift) + np.nan_to_num(error)) / unit])
    most = max(2.5, 1.15 * float(np.nanmax(held, initial=0.0)))
    axes.set_xlim(-most, most)
    axes.set_title("off, in standard\nerrors of the price")


def _has_errors(run: Run) -> bool:
    return bool(np.isfinite(columns(run)[0].exact).any() or np.isfinite(_biases(run)[0]).any())


def _lines(run: Run, width: float) -> list[int]:
    """Number of quantities side by side, for each line."""
    count, most = len(columns(run)) + _has_errors(run), 5 if width > 5 else 2
    lines = -(-count // most)
    return [count // lines + (i < count % lines) for i in range(lines)]


def size(run: Run, width: float) -> tuple[float, float]:
    """Size in inches of a figure of the estimates alone."""
    return width, 0.55 + len(_lines(run, width)) * (0.75 + 0.48 * len(_names(run)))


def estimates(run: Run, axes: Any) -> None:
    """Prices and Greeks of all payoffs with one standard error, as on the terminal, and the bias of the steps."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    names, found, bias = _names(run), columns(run), _biases(run)
    wide = float(axes.figure.get_size_inches()[0])
    lines = _lines(run, wide)
    axes.set_axis_off()
    drawn = 0
    gap = 0.6 / (size(run, wide)[1] - 1)  # space for ticks and titles between two lines
    height = (1 + gap) / len(lines) - gap
    for line, count in enumerate(lines):
        for k in range(count):
            share = 1 / count
            part = axes.inset_axes((k * share, (len(lines) - 1 - line) * (height + gap), 0.9 * share, height))
            if drawn < len(found):
                _draw_column(part, found[drawn], 0.9 * share * (wide - 1.1))
            else:
                _draw_errors(part, found[0], bias)
            drawn += 1
            part.set_ylim(-0.65, len(names) - 0.35)
            part.set_yticks(np.arange(len(names))[::-1], names if k == 0 else [""] * len(names))
            part.tick_params(axis="y", length=0)
            part.ticklabel_format(axis="x", useOffset=False)
            part.locator_params(axis="x", nbins=3)
            part.tick_params(axis="x", labelsize=6)
    handles: list[Any] = [Line2D([], [], color=COLOURS[0], marker="o", ms=3, label="estimate ± one standard error")]
    if any(np.isfinite(column.exact).any() for column in found):
        handles.append(Line2D([], [], color=COLOURS[1], marker="|", ms=9, mew=1.3, ls="none", label="Black and Scholes"))
        handles.append(Line2D([], [], color=COLOURS[1], marker="D", ms=3.5, ls="none", label="price \u2212 Black and Scholes"))
    if np.isfinite(bias[0]).any():
        handles.append(Line2D([], [], color=COLOURS[2], marker="s", ms=3, label="bias of the time steps ± one standard error"))
    if _has_errors(run):
        handles.append(Patch(color=COLOURS[4], alpha=0.3, lw=0, label="one standard error of the price"))
    if any((np.isfinite(column.values) & ~np.isfinite(column.errors)).any() for column in found):
        handles.append(Line2D([], [], color=COLOURS[0], mfc="white", marker="o", ms=3, ls="none", label="error unknown: too few paths"))
    elif "paths carry" in str(run.provenance.get("remark", "")):
        handles.append(Line2D([], [], ls="none", label="few paths: an error may be too small (remark)"))
    below = -0.35 / (size(run, wide)[1] - 1)
    count = len(_payoff_columns(run))
    left_out = f"the first {len(names)} of {count} payoffs" if count > len(names) else None
    axes.legend(handles=handles, title=left_out, loc="upper center", bbox_to_anchor=(0.45, below), ncols=1 if wide < 5 else 3, columnspacing=1.2, handletextpad=0.5)
