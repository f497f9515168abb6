"""Greeks over the strikes, of payoffs that differ by their strike alone."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from simview.options import Column, columns
from simview.runs import Run
from simview.style import COLOURS, DASHES, legend

_MANY = 10000  # most payoffs of a run that are read
_LEAST = 3  # least number of strikes for a line


class Line(NamedTuple):
    """Payoffs that differ by their strikes alone: their name, strikes in order, and indices among all payoffs."""

    name: str
    strikes: list[float]
    places: list[int]


def lines(run: Run) -> list[Line]:
    """A line for each kind of payoff with at least three strikes."""
    payoffs = run.parameters.get("payoffs")
    if not isinstance(payoffs, list):
        return []
    count = len(columns(run, _MANY)[0].values)
    first = max(0, count - len(payoffs))  # results of the scenario's own function come first
    found: dict[str, list[tuple[float, int]]] = {}
    for i, payoff in enumerate(payoffs):
        strike = payoff.get("strike")
        if isinstance(strike, (int, float)) and first + i < count:
            rest = {key: value for key, value in sorted(payoff.items()) if key not in ("strike", "name", "$type", "type")}
            kind = f"{str(payoff.get('$type', 'payoff')).replace('_', ' ')} {payoff.get('type', '')}".strip()
            more = ", ".join(f"{key} {value}" for key, value in rest.items() if value not in (1, 0, "none", "run", "maturity", None, []))
            found.setdefault(f"{kind}, {more}" if more else kind, []).append((float(strike), first + i))
    kept = [(name, sorted(parts)) for name, parts in found.items() if len({strike for strike, _ in parts}) >= _LEAST]
    return [Line(name, [strike for strike, _ in parts], [place for _, place in parts]) for name, parts in kept]


def estimated(run: Run) -> list[Column]:
    """The columns that are drawn over the strikes: every Greek that the run estimates."""
    return columns(run, _MANY)[1:] if lines(run) else []


def over_strikes(run: Run, axes: Any, which: int) -> None:
    """One Greek over the strikes: bars of one standard error, and the exact value as a thin line where it is known."""
    column = estimated(run)[which]
    known = False
    for k, line in enumerate(lines(run)):
        values, errors, exact = (np.asarray(part)[line.places] for part in (column.values, column.errors, column.exact))
        shade = COLOURS[k % len(COLOURS)]
        axes.errorbar(line.strikes, values, np.nan_to_num(errors), color=shade, ls=DASHES[k % len(DASHES)], marker="o", ms=2.5, lw=0.9, capsize=2,
                      label=line.name)  # fmt: skip
        if np.isfinite(exact).all():
            axes.plot(line.strikes, exact, color="#444444", lw=0.7, label=None if known else "Black and Scholes")
            known = True
    axes.set(xlabel="strike", ylabel=f"{column.name}\n± one standard error")
    legend(axes)
