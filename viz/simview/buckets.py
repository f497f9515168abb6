"""Vega and rho of options by node of the curves of volatility and rate."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from simview.style import COLOURS, DASHES, legend

if TYPE_CHECKING:
    import xarray as xr

    from simview.runs import Run

_KINDS = ("vega", "rho")
TABLES = tuple(f"{kind}_bucket{end}" for kind in _KINDS for end in ("s", "_errors"))  # which the panels show
_MOST = 6  # payoffs that are drawn beside each other


def panels(run: Run) -> dict[str, Any]:
    """The panels of a run with nodes: ``vega_by_node`` and ``rho_by_node``."""
    return {f"{kind}_by_node": partial(over_nodes, run, kind=kind) for kind in _KINDS if (run.path / f"{kind}_buckets.h5").exists()}


def over_nodes(run: Run, axes: Any, kind: str) -> None:
    """The derivative by each node as bars with one standard error: a colour a payoff, one after another the nodes of each asset."""
    nodes: xr.Dataset = getattr(run, f"{kind}_buckets")
    count = min(nodes.sizes["payoff"], _MOST)
    places, width = np.arange(nodes.sizes["node"]), 0.8 / count
    for k in range(count):
        values, errors = nodes[kind].to_numpy()[k], nodes[f"{kind}_error"].to_numpy()[k]
        name = str(nodes["payoff"].values[k]).partition(" ")[2]
        axes.bar(places + (k - (count - 1) / 2) * width, values, width, yerr=np.nan_to_num(errors), color=COLOURS[k % len(COLOURS)], capsize=1.5,
                 error_kw={"lw": 0.7}, label=name or None)  # fmt: skip
    times = [f"{time:.3g}" for time in nodes["time"].to_numpy()]
    assets = nodes["asset"].to_numpy() if "asset" in nodes else np.ones(len(times))
    many = len(set(assets)) > 1
    axes.set_xticks(places, [f"{time}\n{int(asset)}" for time, asset in zip(times, assets, strict=True)] if many else times)
    axes.axhline(0, color="#888888", lw=0.6)
    for k in np.flatnonzero(np.diff(assets)):
        axes.axvline(k + 0.5, color="#888888", lw=0.6, ls=DASHES[1])
    axes.set(xlabel="time of the node" + (", asset" if many else ""), ylabel=f"{kind} by node\n\u00b1 one standard error")
    legend(axes)
