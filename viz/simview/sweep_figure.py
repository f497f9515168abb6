"""Figures of a sweep: a sheet of its last snapshots, and results against the parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from simview import smile
from simview.bodies import Bodies
from simview.errors import NotFoundError, SimviewError, UsageError
from simview.figure import checked
from simview.look import Look
from simview.maps import Map
from simview.options import swept
from simview.pictures import pictures, refuse_unused
from simview.snapshot import Snapshot
from simview.style import COLOURS, DASHES, SETTINGS, WIDTHS, legend, wrap
from simview.summary import digests
from simview.sweeps import Sweep

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 64  # most pictures on a sheet
_MARKERS = "os^Dv<>"
_FIRST = ("price.price", "prices.", "price.", "energy.error", "gas.temperature", "flow.removed", "observe.", "fields.")
_LAST = ("step", "time", "_error", "mass", "balance", "reference", "paths")


def draw_sweep(sweep: Sweep, *, only: Sequence[str] | None = None, look: Look | None = None, width: str = "page") -> Figure:
    """Draws a sweep.

    Parameters
    ----------
    sweep
        The sweep.
    only
        'pictures', or columns such as 'fields.v_mean'; None: the pictures where at most two parameters of at most 64
        runs with fields vary, else the columns that differ from run to run.
    look
        Field, limits and colours.
    width
        'column' (86 mm) or 'page' (178 mm).

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib

    only, look = checked(sweep, Sweep, only, look, width)
    frame = sweep.frame
    varying = [name for name in sweep.parameters if frame[name].nunique() > 1] or list(sweep.parameters[:1])
    results = [name for name in frame.columns if "." in name and name not in sweep.parameters]
    with matplotlib.rc_context(SETTINGS):
        if only == ["pictures"] or (only is None and len(varying) <= 2 and 1 < len(frame) <= MOST):
            last = [_last(sweep, str(name)) for name in frame.index]
            if any(snapshot is not None for snapshot in last) and (only or any(s is not None and s.fields for s in last)):
                return _sheet(sweep, last, varying, look, width)
            if only:
                raise NotFoundError(f"{sweep.path}: no snapshots in its runs")
        found = _smiles(sweep)
        for name in only or ():
            if name not in (*results, *found):
                raise NotFoundError(f"{sweep.path}: no column '{name}'; there are: {', '.join(['pictures', *found, *results])}")
        chosen = list(only) if only else [*found, *_telling(sweep, results)[: 4 - len(found)]]
        if not chosen:
            raise NotFoundError(f"{sweep.path}: nothing to draw: no run has written a table yet")
        refuse_unused(look, [])
        return _curves(sweep, chosen, varying, width)


def _smiles(sweep: Sweep) -> dict[str, list[smile.Point]]:
    """Implied volatilities: `smile` for European options of three or more strikes, `surface` for as many maturities."""
    runs = [sweep[str(row)] for row in sweep.frame.index if sweep._written(str(row)) and str(row) not in sweep._damaged]
    runs = [run for run in runs if "price" in run.tables and len(run.tables["price"])]
    points = smile.points(runs)
    if len({point.strike for point in points}) < 3 or len(points) != len({point[:2] for point in points}):  # another parameter varies too
        return {}
    return {"smile": points, **({"surface": points} if smile.is_surface(points) else {})}


def _last(sweep: Sweep, name: str) -> Snapshot | None:
    if name in sweep._damaged:
        return None
    try:
        run = sweep[name]
        return run[-1] if len(run) else None
    except NotFoundError:
        return None


def _telling(sweep: Sweep, results: Sequence[str]) -> list[str]:
    frame = sweep.frame
    numeric = [name for name in results if frame[name].dtype.kind in "if" and frame[name].nunique() > 1]
    kept = [name for name in numeric if not name.endswith(_LAST) and not name.startswith("errors.")] or numeric
    if "price.price" in kept and any(name.startswith("prices.") for name in kept):  # equal to the first of these
        kept.remove("price.price")

    def rank(name: str) -> int:
        return next((i for i, first in enumerate(_FIRST) if name.startswith(first)), len(_FIRST))

    return sorted(kept, key=rank)[:4]


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, (int, float, np.number)) else str(value)


def _heading(sweep: Sweep, varying: Sequence[str]) -> str:
    """A heading such as 'Spots that divide, by F and k'."""
    return f"{sweep.title}, by {' and '.join(filter(None, [', '.join(varying[:-1]), varying[-1]]))}" if varying else sweep.title


def _error_of(name: str, columns: Sequence[str]) -> str | None:
    """The column with the standard error of another column."""
    table, _, column = name.partition(".")
    other = {"price.price": "price.standard_error", "lyapunov.exponent": "lyapunov.error", f"prices.{column}": f"errors.{column}"}.get(name)
    for candidate in (other, f"{table}.{column}_error", f"{table.removesuffix('s')}_errors.{column}"):
        if candidate in columns and candidate != name:
            return candidate
    return None


def _sheet(sweep: Sweep, last: Sequence[Snapshot | None], varying: Sequence[str], look: Look, width: str) -> Figure:
    """A sheet with one parameter to the right and the other upwards; all pictures have the same colours."""
    from matplotlib.figure import Figure

    frame = sweep.frame
    across = varying[-1]
    columns = sorted(frame[across].unique())
    down = varying[0] if len(varying) == 2 else None
    rows = sorted(frame[down].unique(), reverse=True) if down else [None]
    wrapped = down is None and len(columns) > 4
    if wrapped:  # one parameter of many values: wrapped like lines of text
        per = math.ceil(math.sqrt(len(columns)))
        shape = math.ceil(len(columns) / per), per
    else:
        shape = len(rows), len(columns)
    held = [snapshot for snapshot in last if snapshot is not None]
    first = held[-1]
    if look.fields is None and first.fields:
        look = copy(look)
        look.fields = first.fields[-1:]
    if look.fields is not None and len(look.fields) > 1:
        raise UsageError(f"{sweep.path}: a sheet shows one field, not {', '.join(look.fields)}")
    base = pictures(held, look)[0]
    refuse_unused(look, [base])
    unit = f" {first.time_unit}" if first.units.names else ""
    times = {f"t = {snapshot.time:.6g}{unit}" for snapshot in held}
    wide = WIDTHS[width]
    figure = Figure(figsize=(wide, min(9.0, 0.5 + (wide - 0.9) / shape[1] * shape[0] + (0.12 if len(times) == 1 else 0.25) * shape[0])))
    grid = figure.add_gridspec(*shape)
    drawn: Any = None
    for snapshot, (name, row) in zip(last, frame.iterrows()):
        number = columns.index(row[across])
        place = divmod(number, shape[1]) if wrapped else (rows.index(row[down]) if down else 0, number)
        axes = figure.add_subplot(grid[place])
        axes.set_box_aspect(1)
        if snapshot is None:
            said = "damaged" if str(name) in sweep._damaged else str(row["state"])
            axes.text(0.5, 0.5, said, ha="center", va="center", transform=axes.transAxes)
        else:
            picture = copy(base)
            if isinstance(picture, Bodies):
                picture.named = False  # no room for a legend in each picture
            picture.draw(axes, None)
            picture.show(snapshot)
            drawn = picture
        axes.set(title="", xlabel="", ylabel="", xticks=[], yticks=[])
        if snapshot is not None and len(times) > 1:
            axes.set_title(f"t = {snapshot.time:.6g}{unit}", fontsize=7, pad=2)
        if wrapped or place[0] == shape[0] - 1:
            axes.set_xlabel(f"{across} = {_text(row[across])}", labelpad=2)
        if down and place[1] == 0:
            axes.set_ylabel(f"{down} = {_text(row[down])}", labelpad=2)
    image = getattr(drawn, "image", None) or getattr(drawn, "colours", None) or getattr(drawn, "artist", None)
    if isinstance(base, Map) and image is not None:
        label = first.units.label(base.name, base.unit(base.geometry(first)))
        figure.colorbar(image, ax=figure.axes, shrink=0.6, pad=0.01, aspect=30).set_label(label)
    when = f", {times.pop()}" if len(times) == 1 else ""
    figure.suptitle(wrap(_heading(sweep, varying) + when, 0.95 * figure.get_figwidth(), 9), fontsize=9)
    return figure


def _curves(sweep: Sweep, chosen: Sequence[str], varying: Sequence[str], width: str) -> Figure:
    """Columns against the parameter with the most values; a line for each value of another one."""
    from matplotlib.figure import Figure

    frame = sweep.frame
    numeric = [name for name in varying if frame[name].dtype.kind in "if"]
    others_first = [name for name in numeric if name != "seed"] or numeric
    along = max(others_first, key=lambda name: int(frame[name].nunique()), default=None)
    parts = [name for name in varying if name not in (along, "seed")]
    columns = 1 if width == "column" or len(chosen) == 1 else 2
    lines = math.ceil(len(chosen) / columns)
    wide = WIDTHS[width] if columns == 2 or width == "column" else 4.6
    figure = Figure(figsize=(wide, 0.3 + 2.4 * lines))
    grid = figure.add_gridspec(lines, columns)
    for i, name in enumerate(chosen):
        axes = figure.add_subplot(grid[i // columns, i % columns])
        if name in ("smile", "surface"):
            {"smile": smile.lines, "surface": smile.surface}[name](axes, _smiles(sweep)[name])
            continue
        groups, over = list(frame.groupby(parts, sort=True)) if parts else [((), frame)], ""
        for k, (values, group) in enumerate(groups[:14]):
            values = values if isinstance(values, tuple) else (values,)
            label = ", ".join(f"{part} = {_text(value)}" for part, value in zip(parts, values))
            style: dict[str, Any] = {"color": COLOURS[k % 7], "marker": _MARKERS[k % 7], "ms": 3, "label": label or None}
            if along is None:
                axes.plot(range(len(group)), group[name], ls="none", **style)
                continue
            error = _error_of(name, list(frame.columns))
            bars = group[error] if error else None
            mean, of_mean = group.groupby(along)[name].mean(), None
            seeds = 0 if error or along == "seed" or "seed" not in varying else int(group.groupby(along)[name].count().min())
            if seeds > 1:  # single seeds, small and pale, and their mean with its error
                axes.plot(group[along], group[name], color=COLOURS[k % 7], ls="none", marker=".", ms=2, alpha=0.5)
                of_mean = group.groupby(along)[name].sem()
                over = f"mean of {seeds} seeds ± one standard error"
            else:
                axes.errorbar(group[along], group[name], yerr=bars, **{**style, "label": None}, ls="none", capsize=2)
            axes.errorbar(mean.index, mean, yerr=of_mean, color=COLOURS[k % 7], ls=DASHES[k % 7], marker=_MARKERS[k % 7], ms=3, capsize=2,
                          label=label or None)  # fmt: skip
            if along != "seed" and min(mean.index) > 0 and max(mean.index) > 30 * min(mean.index):
                axes.set_xscale("log")
        if axes.get_xscale() == "linear":
            axes.locator_params(axis="x", nbins=5)
        shown = name.split(".", 1)[1] if name.startswith("fields.") else name
        shown += f"\n{over}" if over else ""
        if _error_of(name, list(frame.columns)):
            written = [str(row) for row in frame.index if sweep._written(str(row)) and str(row) not in sweep._damaged]
            about, exact = (name, []) if name.startswith("lyapunov.") else swept([sweep[row] for row in written], name)
            shown = f"{about}\n± one standard error"
            if along and not parts and exact and np.isfinite(exact).any():
                axes.plot(frame.loc[written, along], exact, color=COLOURS[1], ls="--", lw=1, label="Black and Scholes", zorder=3)
        axes.set(xlabel=along or "run", ylabel=wrap(shown, axes.get_position().height * figure.get_figheight(), 8))
        if i == 0 or chosen[i - 1] in ("smile", "surface"):
            legend(axes)
    figure.suptitle(wrap(_heading(sweep, varying), 0.95 * figure.get_figwidth(), 9), fontsize=9)
    return figure


def sweep_summary(sweep: Sweep, *, verify: bool = False) -> tuple[str, bool]:
    """A sweep in a few lines of text, with the faults of its runs' files; and whether nothing is damaged. As `summary`."""
    frame = sweep.frame
    states = ", ".join(f"{count} {state}" for state, count in frame["state"].value_counts().items())
    try:
        title = sweep.title
    except SimviewError:
        title = sweep.name
    lines = [f"{sweep.path}: {title}", f"  runs        {len(frame)}: {states}"]
    for name in sweep.parameters:
        values = list(dict.fromkeys(_text(value) for value in frame[name]))
        lines.append(f"  {name:<10}  {', '.join(values[:12])}{', ...' if len(values) > 12 else ''}")
    faults = sweep.leave_out_damaged()
    if verify:
        lines.append(f"  {'verified':<10}  {digests(sweep.path, faults)}")
    return "\n".join([*lines, *(f"  ! {fault}" for fault in faults)]), not faults
