"""Levels of a multilevel run of options: mean and deviation of each difference, and paths."""

from __future__ import annotations

from typing import Any

import numpy as np

from simview.hdf5 import Array
from simview.runs import Run
from simview.style import COLOURS, DASHES, legend

TABLES = ("level_paths", "level_means", "level_deviations")


def has_levels(run: Run) -> bool:
    """Whether a run has the tables of its levels, with a row."""
    return all(name in run.tables and len(run.tables[name]) > 0 for name in TABLES)


def _row(run: Run, table: str) -> Array:
    """The last row, of the levels that have paths."""
    frame = run.tables[table]
    values = np.array([float(frame[name].iloc[-1]) for name in frame.columns if name.startswith("level_")])
    return values[~np.isnan(values)]


def levels(run: Run, axes: Any) -> None:
    """Draws deviation and mean of each level, with its standard error, and the share of all paths, against the level."""
    paths, means, deviations = (_row(run, name) for name in TABLES)
    at = np.arange(len(paths))
    if len(paths) == 0:
        return
    errors = deviations / np.sqrt(paths)
    axes.plot(at, deviations, color=COLOURS[0], ls=DASHES[0], marker="o", ms=2.5, label="deviation of a path")
    axes.errorbar(at, np.abs(means), [np.minimum(errors, 0.9 * np.abs(means)), errors], color=COLOURS[1], ls=DASHES[1], marker="s", ms=2.5, lw=0.9,
                  capsize=2, label="|mean|, ± one standard error")  # fmt: skip
    axes.plot(at, paths / paths.sum(), color=COLOURS[2], ls=DASHES[2], marker="^", ms=2.5, label="share of all paths")
    axes.set(yscale="log", xlabel="level: each step in 2^level pieces", ylabel="difference to the level before;\nshare of the paths")
    axes.set_xticks(at)
    legend(axes)
