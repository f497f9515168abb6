"""Ladders of scenarios and paths of options: arrays with named axes in files of their own, and the ladder's pictures."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simview.hdf5 import reading, text
from simview.style import COLOURS, DASHES, DIVERGING, legend

if TYPE_CHECKING:
    import xarray as xr

    from simview.runs import Run


def _told(array: Any) -> dict[str, str]:
    """What an array is, and the unit of its numbers; files of earlier versions have no units."""
    return {name: text(array.attrs[name]) for name in ("description", "units") if name in array.attrs}


def dataset(path: Path) -> xr.Dataset:
    """A file with dimension scales, such as ``ladder.h5``, in memory."""
    import xarray as xr

    with reading(path) as file:
        names = [name for name in file if name != "provenance"]
        scales = {name for name in names if "DIMENSION_LIST" not in file[name].attrs}
        arrays, axes = {}, {}
        for name in names:
            values = file[name][()]
            if name in scales:
                labels = [text(label) for label in values] if values.dtype == object else values
                axes[name] = (name, labels, _told(file[name]))
            else:
                dims = [file[entry[0]].name.lstrip("/") for entry in file[name].attrs["DIMENSION_LIST"]]
                arrays[name] = (dims, values, _told(file[name]))
        return xr.Dataset(arrays, axes, {"description": text(file.attrs["description"])})


def has_ladder(run: Run) -> bool:
    """Whether a run has written a ladder."""
    return (run.path / "ladder.h5").exists()


def ladder_panels(run: Run) -> dict[str, Any]:
    """The panels of each payoff: prices over the spot, and changes over spot and volatility."""
    found: dict[str, Any] = {}
    ladder = run.ladder
    for which in range(ladder.sizes["payoff"]):
        number = "" if which == 0 else f".{which + 1}"
        found[f"ladder{number}"] = partial(prices, run, which=which)
        if ladder.sizes["spot"] > 1 and ladder.sizes["vol"] > 1:
            found[f"ladder_changes{number}"] = partial(changes, run, which=which)
    return found


def _payoff(ladder: xr.Dataset, which: int) -> str:
    label = str(ladder["payoff"].values[which])
    return label.partition(" ")[2] or label


def _shift(name: str, value: float) -> str:
    if name != "time":
        return f"{name} {value:+g}"
    return f"{value:.3g} later" if value else "today"


def prices(run: Run, axes: Any, which: int = 0) -> None:
    """Prices over the spot with one standard error: a colour a volatility, a dash a time; over the volatility or time where the spot is one."""
    ladder = run.ladder.isel(payoff=which)
    along = next((name for name in ("spot", "vol", "time") if ladder.sizes[name] > 1), "spot")
    colour, dash = (name for name in ("vol", "time", "spot") if name != along)
    for i, first in enumerate(ladder[colour].values):
        for k, second in enumerate(ladder[dash].values):
            line = ladder.isel({colour: i, dash: k})
            told = [_shift(name, float(value)) for name, value in ((colour, first), (dash, second)) if ladder.sizes[name] > 1]
            axes.errorbar(line[along], line["price"], line["price_error"], color=COLOURS[i % len(COLOURS)], ls=DASHES[k % len(DASHES)],
                          marker="o", ms=2.5, lw=0.9, capsize=2, label=", ".join(told) or None)  # fmt: skip
    words = {"spot": "relative shift of the spot", "vol": "shift of the volatility", "time": "how much later"}
    axes.set(xlabel=words[along], ylabel=f"price of {_payoff(run.ladder, which)}\n± one standard error")
    legend(axes)


def changes(run: Run, axes: Any, which: int = 0) -> None:
    """Changes against today's price over spot and volatility as colours, each with its standard error where there is room."""
    ladder = run.ladder.isel(payoff=which, time=0)
    values, errors = ladder["change"].to_numpy(), ladder["change_error"].to_numpy()
    most = float(np.nanmax(np.abs(values))) or 1.0
    image = axes.imshow(values, origin="lower", aspect="auto", cmap=DIVERGING, vmin=-most, vmax=most)
    for name, set_ticks in (("spot", axes.set_xticks), ("vol", axes.set_yticks)):
        set_ticks(range(ladder.sizes[name]), [f"{value:+g}" for value in ladder[name].values])
    if ladder.sizes["spot"] <= 7 and ladder.sizes["vol"] <= 9:
        for (row, column), value in np.ndenumerate(values):
            pale = "white" if abs(value) > 0.6 * most else "black"
            told = f"{value:.3g}" + ("" if errors[row, column] == 0 else f"\n±{errors[row, column]:.1g}".replace("nan", "?"))
            axes.text(column, row, told, ha="center", va="center", fontsize=5.5, color=pale)
    axes.set(xlabel="relative shift of the spot", ylabel=f"shift of the volatility, {_shift('time', float(ladder['time']))}")
    axes.figure.colorbar(image, ax=axes, label=f"change of {_payoff(run.ladder, which)}")
