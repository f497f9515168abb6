"""Figures of tables: energy, radii, temperature, price, spectrum; each draws into axes that it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from simview.hdf5 import Array
from simview.run import Run
from simview.snapshot import Snapshot
from simview.style import COLOURS, DASHES

if TYPE_CHECKING:
    import pandas as pd


def _label(run: Run, frame: pd.DataFrame, column: str, name: str | None = None) -> str:
    return run.units.label(name or column, frame.attrs["units"].get(column, "1"))


def _marker(frame: pd.DataFrame) -> str | None:
    return "o" if len(frame) < 3 else None


def _log(axes: Any) -> None:
    """A logarithmic scale; over few decades with plain numbers, some of them between the powers of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_yscale("log")
    low, high = axes.get_ylim()
    if 1e-4 < low and high < 1e5 and high < 300 * low:
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 30 * low else (1,)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())


def energy(run: Run, axes: Any) -> None:
    """The error of the energy over time. Zeros have no place on a logarithmic scale and are left out."""
    frame = run.tables["energy"]
    error = frame["error"].abs().where(lambda e: e > 0)
    axes.plot(frame["time"], error, color=COLOURS[0], marker=_marker(frame), ms=3)
    if error.notna().any():
        axes.set_yscale("log")
        # At least two decades, so that noise looks like noise.
        low, high = float(error.min()), float(error.max())
        middle = np.sqrt(low * high)
        axes.set_ylim(min(low / 1.5, middle / 10), max(high * 1.5, middle * 10))
    axes.set(xlabel=_label(run, frame, "time"), ylabel=r"$|\Delta E/E_0|$")
    axes.grid(True, axis="y")


def lagrangian(run: Run, axes: Any) -> None:
    """Radii that hold a tenth, a quarter ... of the mass."""
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
    """Names lines at their right end, at least a line of text apart."""
    low, high = np.log10(axes.get_ylim())
    apart = 0.08
    ends = sorted(ends, key=lambda end: end[0])
    places = [float((np.log10(value) - low) / (high - low)) for value, _, _ in ends]
    for i in range(1, len(places)):
        places[i] = max(places[i], places[i - 1] + apart)
    for i in reversed(range(len(places))):
        places[i] = min(places[i], 1 - apart * (len(places) - 1 - i))
    for at, (_, name, colour) in zip(places, ends):
        axes.text(1.015, at, name, color=colour, transform=axes.transAxes, fontsize=7, va="center", clip_on=False)


def virial(run: Run, axes: Any) -> None:
    """2 K / |W|, which is 1 in balance."""
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
        axes.legend()
    if (value > 0).all():
        _log(axes)
    axes.set(xlabel=_label(run, frame, "time"), ylabel=_label(run, frame, "temperature"))


def haff(time: Array, temperature: Array) -> float | None:
    """Haff's time by least squares of sqrt(T0/T) - 1 = t/tau; None where the law does not describe the cooling."""
    if len(time) < 4 or not (temperature > 0).all() or not temperature[-1] < temperature[0] / 2:
        return None
    t, rise = time - time[0], np.sqrt(temperature[0] / temperature) - 1
    tau = float((t * t).sum() / (t * rise).sum()) if (t * rise).sum() > 0 else 0.0
    if tau <= 0 or np.abs(rise - t / tau).max() > 0.1 * rise.max():
        return None
    return tau


def price(run: Run, axes: Any) -> None:
    """The price against the number of paths, with the band of 95 % and the reference where there is one."""
    frame = run.tables["price"]
    paths, value = frame["paths"].to_numpy(), frame["price"].to_numpy()
    band = 1.96 * frame["standard_error"].to_numpy()
    axes.fill_between(paths, value - band, value + band, color=COLOURS[4], alpha=0.4, lw=0, label="95 %")
    axes.plot(paths, value, color=COLOURS[0], marker="o", ms=2.5, label="price")
    if "reference" in frame and np.isfinite(frame["reference"].iloc[-1]):
        axes.axhline(frame["reference"].iloc[-1], color=COLOURS[1], ls="--", label="reference")
    axes.set(xscale="log", xlabel="paths", ylabel=_label(run, frame, "price"))
    # The first rows are wide of the mark: the limits follow the last three quarters.
    kept = slice(len(paths) // 4, None)
    low, high = (value - band)[kept].min(), (value + band)[kept].max()
    if np.isfinite([low, high]).all() and high > low:
        axes.set_ylim(low - 0.2 * (high - low), high + 0.2 * (high - low))
    axes.legend()


def power(values: Array) -> tuple[Array, Array]:
    """The power of a periodic field over shells of whole wave numbers.

    Returns
    -------
    k, p
        Wave numbers 1, 2, ... in units of 2 pi over the box, and the mean of squares that each shell holds: over all
        shells and the mean itself they sum to the mean of the squares (Parseval).
    """
    spectrum = np.abs(np.fft.fftn(values) / values.size) ** 2
    squares = sum(k**2 for k in np.meshgrid(*(np.fft.fftfreq(n, 1 / n) for n in values.shape), indexing="ij"))
    shell = np.rint(np.sqrt(squares)).astype(int)
    total = np.bincount(shell.ravel(), spectrum.ravel())
    return np.arange(1, len(total)), total[1:]


def spectrum(snapshot: Snapshot, axes: Any, fields: list[str]) -> None:
    """Power spectra of fields."""
    for i, name in enumerate(fields):
        values = np.asarray(snapshot.field(name), dtype=float)
        k, p = power(values)
        kept = k <= min(values.shape) // 2  # beyond, a shell is not whole
        axes.loglog(k[kept], np.maximum(p[kept], 1e-300), color=COLOURS[i % 7], ls=DASHES[i % 7], label=name)
    low, high = axes.get_ylim()
    axes.set(xlabel=r"wave number $k L / 2\pi$", ylabel="power", ylim=(max(low, high * 1e-16), high))
    axes.legend()


def columns(run: Run, axes: Any, table: str) -> None:
    """Any other table: its columns over time."""
    frame = run.tables[table]
    names = [name for name in frame.columns if name not in ("step", "time")]
    for i, name in enumerate(names[: len(COLOURS)]):
        axes.plot(frame["time"], frame[name], color=COLOURS[i], ls=DASHES[i], marker=_marker(frame), ms=3, label=name)
    units = {frame.attrs["units"].get(name, "1") for name in names}
    axes.set(xlabel=_label(run, frame, "time"), ylabel=_label(run, frame, names[0], table) if len(units) == 1 else table)
    axes.legend()
