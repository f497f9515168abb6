"""Figures of tables: energy, radii, temperature, fields, spectrum ...; each draws into given axes."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from simview.hdf5 import Array
from simview.runs import Run
from simview.snapshot import MEMBER, Snapshot
from simview.style import COLOURS, DASHES, legend

if TYPE_CHECKING:
    import pandas as pd


def _label(run: Run, frame: pd.DataFrame, column: str, name: str | None = None) -> str:
    return run.units.label(name or column, frame.attrs["units"].get(column, "1"))


def _marker(frame: pd.DataFrame) -> str | None:
    return "o" if len(frame) < 3 else None


def _log(axes: Any) -> None:
    """Sets a logarithmic scale; over few decades with plain numbers, some of them between the powers of ten.

    Ranges of less than a factor of four stay linear.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axes.get_ylim()
    if 0 < low and high < 4 * low:
        return
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    if 1e-4 < low and high < 1e5 and high < 300 * low:
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 30 * low else (1,)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())


def energy(run: Run, axes: Any) -> None:
    """The error of the energy over time; zeros, which a logarithmic scale cannot show, are left out."""
    frame = run.tables["energy"]
    error = frame["error"].abs().where(lambda e: e > 0)
    axes.plot(frame["time"], error, color=COLOURS[0], marker=_marker(frame), ms=3)
    if error.notna().any():
        axes.set_yscale("log")
        # Show at least two decades, so that noise looks like noise.
        low, high = float(error.min()), float(error.max())
        middle = np.sqrt(low * high)
        axes.set_ylim(min(low / 1.5, middle / 10), max(high * 1.5, middle * 10))
    axes.set(xlabel=_label(run, frame, "time"), ylabel=r"$|\Delta E/E_0|$")
    axes.grid(True, axis="y")


def lagrangian(run: Run, axes: Any) -> None:
    """Radii that contain a tenth, a quarter ... of the mass."""
    frame = run.tables["lagrangian"]
    columns = [name for name in frame.columns if name[:1] == "r" and name[1:].isdigit()]
    import matplotlib

    shades = matplotlib.colormaps["cividis"](np.linspace(0, 0.8, len(columns)))
    heights = []
    for name, shade in zip(columns, shades):
        radius = frame[name].where(lambda r: r > 0)
        axes.plot(frame["time"], radius, color=shade, marker=_marker(frame), ms=3)
        if radius.notna().any():
            last = float(radius.dropna().iloc[-1])
            heights.append((last, f"{int(name[1:])} %", shade))
    if heights:
        _log(axes)
        _label_ends(axes, heights)
    axes.set(xlabel=_label(run, frame, "time"), ylabel=_label(run, frame, columns[0], "radius holding mass"))
    axes.grid(True, axis="y")


def _label_ends(axes: Any, ends: list[tuple[float, str, Any]]) -> None:
    """Labels lines at their right ends, at least a line of text apart."""
    scale = np.log10 if axes.get_yscale() == "log" else np.asarray
    low, high = scale(axes.get_ylim())
    apart = 0.08
    ends = sorted(ends, key=lambda end: end[0])
    places = [float((scale(value) - low) / (high - low)) for value, _, _ in ends]
    for i in range(1, len(places)):
        places[i] = max(places[i], places[i - 1] + apart)
    for i in reversed(range(len(places))):
        places[i] = min(places[i], 1 - apart * (len(places) - 1 - i))
    for at, (_, name, colour) in zip(places, ends):
        axes.text(1.015, at, name, color=colour, transform=axes.transAxes, fontsize=7, va="center", clip_on=False)


def virial(run: Run, axes: Any) -> None:
    """2 K / |W|, which is 1 in virial equilibrium."""
    frame = run.tables["energy"]
    axes.axhline(1, color="#888888", lw=0.8, ls="--")
    axes.plot(frame["time"], frame["virial_ratio"], color=COLOURS[0], marker=_marker(frame), ms=3)
    axes.set(xlabel=_label(run, frame, "time"), ylabel=r"virial ratio $2K/|W|$", ylim=(0, None))


def temperature(run: Run, axes: Any) -> None:
    """Cooling, with P. K. Haff's law (J. Fluid Mech. 134 (1983) 401), T0 / (1 + t/tau)^2, where it applies."""
    table = next(name for name, frame in run.tables.items() if "temperature" in frame)
    frame = run.tables[table]
    time, value = frame["time"].to_numpy(), frame["temperature"].to_numpy()
    axes.plot(time, value, color=COLOURS[0], marker=_marker(frame), ms=3, label="run")
    tau = haff(time, value)
    if tau is not None:
        law = value[0] / (1 + (time - time[0]) / tau) ** 2
        axes.plot(time, law, color=COLOURS[1], ls="--", label=rf"Haff, $\tau$ = {tau:.3g}")
        legend(axes)
    if (value > 0).all():
        _log(axes)
    axes.set(xlabel=_label(run, frame, "time"), ylabel=_label(run, frame, "temperature"))


def haff(time: Array, temperature: Array) -> float | None:
    """Haff's time tau by least squares of sqrt(T0/T) - 1 = t/tau; None where the law does not describe the cooling."""
    if len(time) < 4 or not (temperature > 0).all() or not temperature[-1] < temperature[0] / 2:
        return None
    t, rise = time - time[0], np.sqrt(temperature[0] / temperature) - 1
    tau = float((t * t).sum() / (t * rise).sum()) if (t * rise).sum() > 0 else 0.0
    if tau <= 0 or np.abs(rise - t / tau).max() > 0.1 * rise.max():
        return None
    return tau


def power(values: Array, sides: Sequence[float]) -> tuple[Array, Array]:
    """The power of a periodic field over shells of wave numbers.

    Parameters
    ----------
    values
        The field.
    sides
        Lengths of the box, in the order of the array's axes.

    Returns
    -------
    k, p
        Wave numbers 1, 2, ... in units of 2 pi over the longest side, and the mean square in each shell: the sum over
        all shells and the square of the mean is the mean of the squares (Parseval).
    """
    scales = max(sides) / np.array(sides)
    spectrum = np.abs(np.fft.fftn(values) / values.size) ** 2
    squares = sum(k**2 for k in np.meshgrid(*(s * np.fft.fftfreq(n, 1 / n) for s, n in zip(scales, values.shape)), indexing="ij"))
    shell = np.rint(np.sqrt(squares)).astype(int)
    total = np.bincount(shell.ravel(), spectrum.ravel())
    return np.arange(1, len(total)), total[1:]


def spectrum(snapshot: Snapshot, axes: Any, fields: list[str]) -> None:
    """Power spectra of fields."""
    alone, uneven = len(fields) == 1, False
    for i, name in enumerate(fields):
        field = snapshot.field(name)
        own = [i for i, dim in enumerate(field.dims) if dim != MEMBER]  # axes in space; of an ensemble the mean over its members
        sides = [field.bounds[field.dims[i]][1] - field.bounds[field.dims[i]][0] for i in own]
        uneven = uneven or max(sides) > (1 + 1e-9) * min(sides)
        values = np.asarray(field, dtype=float)
        each = [power(part, sides) for part in (values if len(own) < values.ndim else values[None])]  # members come first
        k, p = each[0][0], np.mean([one for _, one in each], axis=0)
        kept = 2 * k < max(sides) / max(field.grid.spacing[i] for i in own)  # shells beyond are incomplete
        axes.loglog(k[kept], np.where(p[kept] > 0, p[kept], np.nan), color=COLOURS[i % 7], ls=DASHES[i % 7],
                    label=None if alone else name)  # fmt: skip
    if not any(np.isfinite(line.get_ydata()).any() for line in axes.get_lines()):
        axes.text(0.5, 0.5, "no power: constant", transform=axes.transAxes, ha="center", va="center")
    low, high = axes.get_ylim()
    which = ", L: longest side" if uneven else ""
    axes.set(xlabel=rf"wave number $k L / 2\pi${which}", ylabel=f"power of {fields[0]}" if alone else "power", ylim=(max(low, high * 1e-16), high))
    legend(axes)


def spectra(run: Run, axes: Any) -> None:
    """The run's table `spectrum`: power by wave number, at the start and at the end, of each field."""
    frame = run.tables["spectrum"]
    fields = list(dict.fromkeys(name.rsplit("_", 1)[0] for name in frame.columns if _bin(name) is not None))
    for i, field in enumerate(fields):
        found = {_bin(name): name for name in frame.columns if name.rsplit("_", 1)[0] == field and _bin(name)}
        for row, dash in ((0, ":"), (len(frame) - 1, "-")):
            power = np.array([frame[name].iloc[row] for name in found.values()])
            if (power > 0).any():
                label = f"{field}, {_label(run, frame, 'time', 't')} = {frame['time'].iloc[row]:.4g}"
                axes.loglog(list(found), np.where(power > 0, power, np.nan), dash, color=COLOURS[i % 7], label=label)
    low, high = axes.get_ylim()
    unit = next((frame.attrs["units"].get(name, "1") for name in frame.columns if _bin(name) is not None), "1")
    axes.set(xlabel="wave number over the least one", ylabel=run.units.label("power", unit), ylim=(max(low, high * 1e-16), high))
    legend(axes)


def _bin(name: str) -> int | None:
    """The number of the bin of a column such as 'u_12'."""
    last = name.rsplit("_", 1)[-1]
    return int(last) if "_" in name and last.isdigit() else None


def fields(run: Run, axes: Any) -> None:
    """The mean of each field, and a band from its least to its greatest value."""
    frame = run.tables["fields"]
    names = [name.removesuffix("_mean") for name in frame.columns if name.endswith("_mean")]
    about = "mean, least, greatest"
    if len(names) == 1:
        least, greatest, mean = (frame[f"{names[0]}_{what}"].to_numpy() for what in ("min", "max", "mean"))
        if max(np.ptp(least), np.ptp(greatest)) < 1e-2 * np.ptp(mean):  # narrow: a band would show nothing
            axes.plot(frame["time"], mean, color=COLOURS[0], lw=1.5, marker=_marker(frame), ms=3)
            unit = frame.attrs["units"].get(f"{names[0]}_mean", "1")
            axes.set(xlabel=_label(run, frame, "time"), ylabel=run.units.label(f"mean of {names[0]}", unit))
            return
        about += f" of {names[0]}"
    powers = _powers(frame, names)
    for i, name in enumerate(names[: len(COLOURS)]):
        least, greatest, mean = (frame[f"{name}_{what}"] / 10.0 ** powers[i] for what in ("min", "max", "mean"))
        ends = least, greatest
        if len(names) == 1:
            axes.fill_between(frame["time"], *ends, color=COLOURS[i], alpha=0.2, lw=0)
        for end in ends:
            axes.plot(frame["time"], end, color=COLOURS[i], ls=DASHES[i], lw=0.5)
        axes.plot(frame["time"], mean, color=COLOURS[i], ls=DASHES[i], lw=1.5, marker=_marker(frame), ms=3,
                  label=f"{name} / {_ten(powers[i])}" if powers[i] else name if len(names) > 1 else None)  # fmt: skip
    unit = frame.attrs["units"].get(f"{names[0]}_mean", "1")
    axes.set(xlabel=_label(run, frame, "time"), ylabel=run.units.label(about, unit))
    legend(axes)


def _powers(frame: pd.DataFrame, names: Sequence[str]) -> list[int]:
    """The powers of ten over which fields are drawn: 0, but where the largest field is more than 30 times the smallest."""
    ends = [np.abs(frame[[f"{name}_min", f"{name}_max"]].to_numpy(float)) for name in names]
    sizes = [float(np.nanmax(end, where=np.isfinite(end), initial=0.0)) for end in ends]
    known = [size for size in sizes if size > 0]
    if not known or max(known) <= 30 * min(known):
        return [0] * len(names)
    return [round(math.log10(size)) if size > 0 else 0 for size in sizes]


def _ten(power: int) -> str:
    """A power of ten as text."""
    return f"{10**power}" if 0 < power < 4 else f"$10^{{{power}}}$"


_BAND = "\n± deviation in time"  # what the bands around means over time show


def profile(run: Run, axes: Any, table: str) -> None:
    """A profile across the box: the mean over the last half of the run, and its standard deviation in time."""
    frame = run.tables[table]
    names = [name for name in frame.columns if name.startswith("slice")]
    rows = frame[names].to_numpy()[len(frame) // 2 :]
    about = run.parameters.get("profile")
    axis = str(about.get("axis", "")) if isinstance(about, dict) else ""
    at, label = np.arange(len(names)) + 0.5, "slice"
    box = run.parameters.get("box")
    if axis and axis in "xyz" and isinstance(box, dict) and {"size", "origin"} <= set(box):
        k = "xyz".index(axis)
        at = float(box["origin"][k]) + float(box["size"][k]) * at / len(names)
        label = run.units.label(axis, run.units.text((1,)))
    held = np.isfinite(rows)  # False: a slice without grains has no velocity
    count = np.where(held.any(axis=0), held.sum(axis=0), np.nan)
    mean = np.where(held, rows, 0.0).sum(axis=0) / count
    stray = np.sqrt((np.where(held, rows - mean, 0.0) ** 2).sum(axis=0) / count)
    axes.fill_between(at, mean - stray, mean + stray, color=COLOURS[4], alpha=0.4, lw=0)
    axes.plot(at, mean, color=COLOURS[0], marker="o", ms=2.5)
    what = table.removeprefix("profile_").replace("_", " ")
    axes.set(xlabel=label, ylabel=run.units.label(what, frame.attrs["units"].get(names[0], "1")) + _BAND)


def budget(run: Run, axes: Any, table: str) -> None:
    """A table by wave number: each field's mean over the last half of the run, and its standard deviation in time."""
    frame = run.tables[table]
    names = [name for name in frame.columns if _bin(name) is not None]
    fields = list(dict.fromkeys(name.rsplit("_", 1)[0] for name in names))
    axes.axhline(0, color="#888888", lw=0.8, ls="--")
    for i, field in enumerate(fields):
        own = [name for name in names if name.rsplit("_", 1)[0] == field]
        at, rows = [_bin(name) for name in own], frame[own].to_numpy()[len(frame) // 2 :]
        mean, stray = rows.mean(axis=0), rows.std(axis=0)
        axes.fill_between(at, mean - stray, mean + stray, color=COLOURS[i % 7], alpha=0.2, lw=0)
        axes.plot(at, mean, color=COLOURS[i % 7], ls=DASHES[i % 7], marker="o", ms=2.5, label=field if len(fields) > 1 else None)
    what = table.replace("_", " ")
    one = len(fields) == 1 and fields[0] != "bin"  # `bin`: of the velocity, not of a field
    axes.set(xlabel="wave number over the least one", ylabel=(f"{what} of {fields[0]}" if one else what) + _BAND)
    legend(axes)


def radial(run: Run, axes: Any) -> None:
    """The radial distribution function: the mean over the last half of the run, and its standard deviation in time."""
    frame = run.tables["rdf"]
    names = [name for name in frame.columns if name.startswith("g_")]
    rows = frame[names].to_numpy()[len(frame) // 2 :]
    about, box = run.parameters.get("rdf"), run.parameters.get("box")
    radius = about.get("radius") if isinstance(about, dict) else None
    if not isinstance(radius, (int, float)):
        radius = float(box["size"]) / 2 if isinstance(box, dict) else 1.0
    at = float(radius) * (np.arange(len(names)) + 0.5) / len(names)
    mean, stray = rows.mean(axis=0), rows.std(axis=0)
    axes.axhline(1, color="#888888", lw=0.8, ls="--")
    axes.fill_between(at, mean - stray, mean + stray, color=COLOURS[4], alpha=0.4, lw=0)
    axes.plot(at, mean, color=COLOURS[0], lw=1.5)
    axes.set(xlabel=run.units.label("r", run.units.text((1,))), ylabel="g(r)" + _BAND, xlim=(0, float(radius)), ylim=(0, None))


def lyapunov(run: Run, axes: Any) -> None:
    """The largest Lyapunov exponent by all intervals so far, with one standard error where it is known."""
    frame = run.tables["lyapunov"]
    time, mean = frame["time"].to_numpy(), frame["exponent"].to_numpy()
    error = frame["error"].to_numpy()
    axes.axhline(0, color="#888888", lw=0.8, ls="--")
    axes.fill_between(time, mean - error, mean + error, color=COLOURS[4], alpha=0.4, lw=0)
    axes.plot(time, mean, color=COLOURS[0], marker=_marker(frame), ms=3)
    about = "\n± one standard error" if np.isfinite(mean + error).any() else "\n(error not known yet)"
    if not np.isfinite(mean).any():
        axes.text(0.5, 0.5, "no interval yet", transform=axes.transAxes, ha="center", va="center")
    axes.set(xlabel=_label(run, frame, "time"), ylabel=_label(run, frame, "exponent", "largest Lyapunov exponent") + about)


def structure(run: Run, axes: Any) -> None:
    """Structure functions over the distance: each mean over the last half of the run, and its standard deviation in time.

    The scales are logarithmic; where a mean is not positive, that of the values is linear.
    """
    frame = run.tables["structure"]
    grid, about = run.parameters.get("grid"), run.parameters.get("structure")
    cell = float(grid["size"][0]) / float(grid["n"][0]) if isinstance(grid, dict) and {"n", "size"} <= set(grid) else 1.0
    positive, at = True, []
    for i, kind in enumerate(("along", "across")):
        own = [name for name in frame.columns if _bin(name) is not None and name.rsplit("_", 1)[0] == kind]
        if not own:
            continue
        at, rows = [cell * (_bin(name) or 0) for name in own], frame[own].to_numpy()[len(frame) // 2 :]
        mean, stray = rows.mean(axis=0), rows.std(axis=0)
        positive = positive and bool((mean > 0).all())
        axes.fill_between(at, mean - stray, mean + stray, color=COLOURS[i], alpha=0.2, lw=0)
        axes.plot(at, mean, color=COLOURS[i], ls=DASHES[i], marker="o", ms=2.5, label=f"{kind} r")
    axes.set_xscale("log")
    axes.set_xticks(at, [f"{r:.3g}" for r in at])
    axes.set_xticks([], minor=True)
    if positive:
        means = np.concatenate([line.get_ydata() for line in axes.get_lines()])
        axes.set(yscale="log", ylim=(means.min() / 3, means.max() * 3))
    else:
        axes.axhline(0, color="#888888", lw=0.8, ls="--")
    order = about.get("order") if isinstance(about, dict) else None
    words = f"structure function of order {order}" if order is not None else "structure function"
    unit = frame.attrs["units"].get(frame.columns[2], "1")
    axes.set(xlabel=run.units.label("r", run.units.text((1,))), ylabel=run.units.label(words, unit) + _BAND)
    legend(axes)


_GATE = re.compile(r"^gate(\d+)_(grains|mass)$")


_LONG = 48  # most letters of a label
_LOOSE = ("a", "an", "the", "of", "at", "in", "on", "to", "with", "through", "along", "that", "which", "/")  # not at the end


def _clause(text: str) -> list[str]:
    """The words of a description's first clause; of a long clause only the part before its comma."""
    whole = re.split("[;:(]", text)[0].strip()
    return (whole if len(whole) <= _LONG else whole.split(",")[0]).split()


def _common(words: Sequence[list[str]]) -> list[str]:
    """The words that all lists begin with."""
    count = next((i for i, some in enumerate(zip(*words)) if len(set(some)) > 1), min(map(len, words)))
    return words[0][:count]


def _subject(frame: pd.DataFrame, table: str, names: Sequence[str]) -> str:
    """Label of an axis for these columns: from the first clause of their descriptions, their names, or the table."""
    told = frame.attrs.get("description", {})
    clauses = [_clause(str(told.get(name, ""))) for name in names]
    if any({"this", "its"} & set(clause) for clause in clauses):  # refers to the table's own text
        return table.replace("_", " ")
    if table == "observe" or any(" ".join(clause[:2]).rstrip(",") in ("the same", "their mass", "the function") for clause in clauses):
        clauses = [[] for _ in names]  # a column's own name says more
    if len(names) == 1 and sum(_clause(str(text)) == clauses[0] for text in told.values()) > 1:
        clauses = [[]]  # as for one component of a vector
    said = _common(clauses)
    while said and said[-1] in _LOOSE:
        said.pop()
    if len(names) > 1 and " ".join(said) in frame.columns:
        said = []  # the name of one column, with which the sum "kinetic + rotational + ..." begins
    if said and len(" ".join(said)) <= _LONG:
        return " ".join(said).rstrip(",")
    if len(names) == 1:
        return names[0]
    words = [name.split("_") for name in names]
    return " ".join(_common(words) or _common([part[::-1] for part in words])[::-1]) or table.replace("_", " ")


def columns(run: Run, axes: Any, table: str, names: Sequence[str]) -> None:
    """Columns with one unit and one `display`, of any other table, over time.

    Lines leave out those too small to be seen beside the others, and several so small that they lie on each other; a logarithmic scale shows them all.
    """
    frame = run.tables[table]
    display = frame.attrs["display"].get(names[0], "line")
    logarithmic = display in ("log", "error")
    sizes = {name: float(np.nan_to_num(frame[name].abs().max(), posinf=0.0)) for name in names}
    largest = max(sizes.values(), default=0.0)
    kept = [name for name in names if logarithmic or sizes[name] >= 5e-3 * largest] or list(names)
    near = [name for name in kept if not logarithmic and sizes[name] < 2e-2 * largest]
    if len(near) > 1:  # on each other about zero
        kept = [name for name in kept if name not in near]
    kept = kept[: len(COLOURS)]
    drawn = {name: frame[name].abs() if display == "error" else frame[name] for name in kept}
    if display == "ratio":
        axes.axhline(1, color="#888888", lw=0.8, ls="--")
    for i, name in enumerate(kept):
        # A curve that a later curve covers is drawn wide, so that it shows on both sides.
        covered = any(float((frame[name] - frame[other]).abs().max()) < 1e-2 * largest for other in kept[i + 1 :])
        values = drawn[name].where(drawn[name] > 0) if logarithmic else drawn[name]
        axes.plot(frame["time"], values, color=COLOURS[i], ls=DASHES[i], marker=_marker(frame), ms=3,
                  **({"lw": 3.5, "alpha": 0.45} if covered else {}), label=_GATE.sub(r"through gate \1", name))  # fmt: skip
    axes.ticklabel_format(axis="y", useOffset=False)
    beyond = "" if logarithmic else _limit(axes, np.concatenate([values.to_numpy(float) for values in drawn.values()]))
    if logarithmic and any((values > 0).any() for values in drawn.values()):
        _log(axes)
    about = _subject(frame, table, kept)
    counted = run.provenance.get("model") == "option"  # its time is the number of paths
    axes.set(xlabel="paths" if counted else _label(run, frame, "time"), ylabel=_label(run, frame, kept[0], f"|{about}|" if display == "error" else about) + beyond)
    if len(kept) > 1:
        legend(axes)


def _limit(axes: Any, values: Array) -> str:
    """Leaves a few values far out, such as a peak at the start, beyond the limits; returns the remark for the label."""
    values = values[np.isfinite(values)]
    if values.size < 100:
        return ""
    low, high = (float(v) for v in np.percentile(values, (1, 99)))
    margin = 0.15 * (high - low)
    outside = int(((values < low - margin) | (values > high + margin)).sum())
    if not high > low or float(np.ptp(values)) < 4 * (high - low) or not outside:
        return ""
    axes.set_ylim(low - margin, high + margin)
    return f"\n({outside} of {values.size} values beyond)"


def groups(run: Run, table: str) -> dict[str, list[str]]:
    """The columns of a table that share an axis, by the name of their panel.

    Columns with the same unit and the same `display` share an axis; a column to be drawn alone has its own, and a
    column that is only a number is not drawn. A single panel has the table's name, several have 'TABLE.COLUMN' after
    their first column.
    """
    frame = run.tables[table]
    found: dict[tuple[str, str], list[str]] = {}
    for name in frame.columns[2:]:  # without step and time, which come first
        display = frame.attrs["display"].get(name, "line")
        if display != "number" and frame[name].notna().any():
            found.setdefault((display, name if display == "alone" else frame.attrs["units"].get(name, "1")), []).append(name)
    return {table if len(found) == 1 else f"{table}.{names[0]}": names for names in found.values()}
