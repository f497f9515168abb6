"""Exposure of a netted book over time: expected and potential future exposure at each date."""

from __future__ import annotations

from typing import Any

import numpy as np

from simview.hdf5 import Array
from simview.runs import Run
from simview.style import COLOURS, DASHES, legend

TABLES = ("exposure_times", "epe", "epe_errors", "ene", "ene_errors", "pfe", "pfe_errors")


def has_exposure(run: Run) -> bool:
    """Whether a run has the tables of an exposure, with a row."""
    return all(name in run.tables and len(run.tables[name]) > 0 for name in TABLES)


def _row(run: Run, table: str) -> Array:
    frame = run.tables[table]
    return np.array([float(frame[name].iloc[-1]) for name in frame.columns if name.startswith("date_")])


def exposure(run: Run, axes: Any) -> None:
    """Draws EPE, ENE below 0, and PFE against time, with bars of one standard error."""
    times = _row(run, "exposure_times")
    asked = run.parameters.get("exposure")
    quantile = asked.get("quantile", 0.95) if isinstance(asked, dict) else 0.95
    drawn = (("pfe", 1.0, f"PFE, {quantile:.6g}"), ("epe", 1.0, "EPE"), ("ene", -1.0, "\u2212ENE"))
    axes.axhline(0, color="#888888", lw=0.6)
    for k, (name, sign, label) in enumerate(drawn):
        axes.errorbar(times, sign * _row(run, name), _row(run, f"{name}_errors"), color=COLOURS[k], ls=DASHES[k], marker="o", ms=2.5, lw=0.9,
                      capsize=2, label=label)  # fmt: skip
    axes.set(xlabel="time", ylabel="exposure of the netted book\n± one standard error")
    price = run.tables["price"]
    for name in ("cva", "dva"):
        if name in price.columns:  # words in the legend, without a line
            axes.plot([], [], ls="", label=f"{name.upper()} {float(price[name].iloc[-1]):.3g}")
    legend(axes)
