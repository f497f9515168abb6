"""Maps of fields: a plane with contours, a line, or a line over time. A film updates them from frame to frame."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from simview.errors import NotFoundError, UsageError
from simview.hdf5 import Array
from simview.look import Look, axis_label, colour_bar, place, title
from simview.snapshot import MEMBER, Field, Snapshot
from simview.style import DIVERGING, MAPS, set_title

CONTOURS, CROWD = 10, 25  # contours of a map (an even number: none at zero); most that a row of cells may cross
STRIP = 13  # least number of snapshots for a map of line and time of a field along a line


class Map:
    """A field on a plane, or along a line where it has one axis only. Contours are drawn where they do not crowd."""

    def __init__(self, samples: Sequence[Snapshot], look: Look, name: str, across: int = 0) -> None:
        self.name, self.look, self.first, self.across = name, look, samples[-1], across
        self.drawn: list[Any] = []
        self.span(samples)

    def geometry(self, snapshot: Snapshot) -> Field:
        """A field on the grid of the map."""
        return snapshot.field(self.name)

    def unit(self, field: Field) -> str:
        """The unit of the values."""
        return field.unit

    def values(self, snapshot: Snapshot) -> tuple[Array, str]:
        """The values to show of a snapshot, and for three axes the plane's position as text."""
        return self.slice(self.geometry(snapshot))

    def span(self, snapshots: Sequence[Snapshot]) -> None:
        """Sets the limits to the least and the greatest value in these snapshots; deleted snapshots are skipped.

        Where few values are far out, as at the corner of a lid, the limits leave out a thousandth at either end.
        """
        lows, highs, inner = [], [], []
        for snapshot in snapshots:
            with suppress(NotFoundError):
                values = self.values(snapshot)[0]
                finite = values[np.isfinite(values)]
                if finite.size:
                    lows.append(float(finite.min()))
                    highs.append(float(finite.max()))
                    inner.append(np.percentile(finite, (0.1, 99.9)))
        self.low, self.high = (min(lows), max(highs)) if lows else (0.0, 1.0)
        self.beyond = False
        if inner and len(self.geometry(self.first).shape) > 1:
            ends = float(min(pair[0] for pair in inner)), float(max(pair[1] for pair in inner))
            if 0 < 2 * (ends[1] - ends[0]) < self.high - self.low:
                (self.low, self.high), self.beyond = ends, True
        # A field of both signs has limits symmetric about zero.
        self.signed = is_signed(self.low, self.high)
        if self.signed:
            self.high = max(-self.low, self.high)
            self.low = -self.high
        self.levels = np.linspace(self.low, self.high, CONTOURS + 2)[1:-1]

    @property
    def options(self) -> tuple[str, ...]:
        rank = len(self.geometry(self.first).shape)
        return ("field", *(("axes", "at") if rank == 3 else ()), *(("map",) if rank > 1 and not self.signed else ()))

    @property
    def shape(self) -> float:
        """Height over width of the map; 1 for a line, and where members are one of its axes."""
        field = self.geometry(self.first)
        if MEMBER in self.dims(field):
            return 1.0
        spans = [field.bounds[dim][1] - field.bounds[dim][0] for dim in self.dims(field)]
        return spans[0] / spans[1] if len(spans) == 2 else 1.0

    def dims(self, field: Field) -> list[str]:
        """The axes of the map, in the order of the array."""
        return [dim for i, dim in enumerate(field.dims) if len(field.dims) < 3 or i != self.across]

    def index(self, field: Field) -> int:
        """Index of the plane across three axes: the middle one, of members the first, or the one nearest to the user's position."""
        dim = field.dims[self.across]
        if self.look.at is None:
            return 0 if dim == MEMBER else field.shape[self.across] // 2
        low, high = field.bounds[dim]
        if not low <= self.look.at <= high:
            raise UsageError(f"at: {self.look.at:g} is outside the grid, {low:g} to {high:g} along {dim}")
        return int(np.abs(np.asarray(field.coords[dim]) - self.look.at).argmin())

    def slice(self, field: Field) -> tuple[Array, str]:
        """The values of the plane, and for three axes its position as text."""
        if len(field.shape) < 3:
            return field[...], ", ".join(place(field.snapshot, axis, at) for axis, at in sorted(field.cut.items()))
        dim, index = field.dims[self.across], self.index(field)
        return field[(slice(None),) * self.across + (index,)], place(field.snapshot, dim, field.coords[dim][index])

    def draw(self, axes: Any, bar: str | None = "right") -> None:
        field = self.geometry(self.first)
        self.axes = axes
        label = self.first.units.label(self.name, self.unit(field))
        dims = self.dims(field)
        if len(field.shape) == 1:
            (self.line,) = axes.plot(field.coords[dims[0]], np.zeros(field.shape))
            margin = 0.05 * (self.high - self.low) or 0.5
            axes.set(ylim=(self.low - margin, self.high + margin), xlabel=axis_label(self.first, dims[0]), ylabel=label)
            return
        bounds = [*field.bounds[dims[1]], *field.bounds[dims[0]]]
        self.image = axes.imshow(
            np.zeros(self.values(self.first)[0].shape), origin="lower", extent=bounds, vmin=self.low, vmax=self.high,
            cmap=DIVERGING if self.signed else self.look.map or MAPS[0], interpolation="nearest",
            aspect="auto" if MEMBER in dims else None,
        )  # fmt: skip
        colour_bar(axes, self.image, label, bar, **({"extend": "both"} if self.beyond else {}))
        axes.set(xlabel=axis_label(self.first, dims[1]), ylabel=axis_label(self.first, dims[0]))

    def show(self, snapshot: Snapshot) -> None:
        values, where = self.values(snapshot)
        if values.ndim == 1:
            self.line.set_ydata(values)
        else:
            self.image.set_data(values)
            for artist in self.drawn:
                artist.remove()
            self.drawn = []
            self.lines(snapshot, values)
        set_title(self.axes, title(snapshot, where))

    def lines(self, snapshot: Snapshot, values: Array) -> None:
        """Draws contours, so that steps can be counted; `drawn` gets the artists to remove before the next snapshot."""
        if not self.low < self.high or min(values.shape) < 8 or not np.isfinite(values).all():
            return
        between = np.digitize(values, self.levels)
        steps = [np.abs(np.diff(between, axis=axis)) for axis in (0, 1)]
        crossed = max(float((step > 0).mean()) for step in steps)
        most = max(float((step > 0).sum(axis=axis).mean()) for axis, step in enumerate(steps))  # lines that a row or column crosses
        jumps = float(sum(step.sum() for step in steps)) > 2 * sum(int((step > 0).sum()) for step in steps)  # on each other
        if 0 < crossed < 0.25 and most <= CROWD and not jumps and not self.specks(values, crossed):
            field = self.geometry(snapshot)
            up, right = self.dims(field)
            levels = self.levels[(values.min() < self.levels) & (self.levels < values.max())]
            self.drawn = [self.axes.contour(field.coords[right], field.coords[up], values, levels, linewidths=0.45,
                                            colors=[(0, 0, 0, 0.55) if self.signed else (1, 1, 1, 0.6)], linestyles="solid")]  # fmt: skip

    def specks(self, values: Array, crossed: float) -> bool:
        """Whether contours are mostly rings about single cells, as in noise: means of 2 x 2 cells then have far fewer of them."""
        rows, columns = (side - side % 2 for side in values.shape)
        between = np.digitize(values[:rows, :columns].reshape(rows // 2, 2, columns // 2, 2).mean(axis=(1, 3)), self.levels)
        left = max(float((np.diff(between, axis=axis) != 0).mean()) for axis in (0, 1))
        return left < 0.5 * crossed  # a line that goes on crosses as many rows, of half as many cells: 2 times


def is_signed(low: float, high: float) -> bool:
    """Whether values from `low` to `high` are of both signs: the smaller of the two ends is more than a quarter of the other.

    With less, as of a concentration that undershoots 0, colours symmetric about zero would be used by little more than half.
    """
    return low < 0 < high and min(-low, high) > 0.25 * max(-low, high)


def across(samples: Sequence[Snapshot], look: Look, names: Sequence[str]) -> int:
    """The normal of planes through fields on three axes: the first axis, unless another one gives more contrast.

    Of an ensemble it is the axis of the members: a plane is one member.
    The contrast of a plane is the standard deviation of its values over that for the axis with the greatest one; the
    least over all fields and snapshots counts. `look.axes` names the plane.
    """
    dims = samples[-1].field(names[0]).dims
    if len(dims) < 3:
        return 0
    if look.axes:
        left = [i for i, dim in enumerate(dims) if dim not in look.axes]
        if len(left) != 1 or len(look.axes) != 2:
            raise UsageError(f"axes '{look.axes}': wanted two of x, y and z, such as xz")
        return left[0]
    if MEMBER in dims:
        return dims.index(MEMBER)
    least = np.ones(3)
    for snapshot in samples:
        for name in names:
            field = snapshot.field(name)
            contrast = np.array([float(np.std(field[(slice(None),) * axis + (field.shape[axis] // 2,)])) for axis in range(3)])
            if np.isfinite(contrast).all() and contrast.max() > 0:
                least = np.minimum(least, contrast / contrast.max())
    best = 0
    for axis in (1, 2):
        if least[axis] > 1.1 * least[best]:
            best = axis
    return best


class Strip:
    """A field along a line over time: one line for each of a few snapshots, or a map of many."""

    def __init__(self, series: Sequence[Snapshot], look: Look, name: str) -> None:
        kept = series[:: -(-len(series) // 2000)]
        self.map, self.series = Map(kept, look, name), kept

    @property
    def options(self) -> tuple[str, ...]:
        return ("field",) if self.map.signed and len(self.series) >= STRIP else ("field", "map")

    def draw(self, axes: Any, bar: str | None = "right") -> None:
        first, image = self.series[-1], self.map
        field = first.field(image.name)
        label, time = first.units.label(image.name, field.unit), first.units.label("time", first.time_unit)
        values = [np.asarray(snapshot.field(image.name)) for snapshot in self.series]
        times = np.array([snapshot.time for snapshot in self.series])
        if len(self.series) < STRIP:
            import matplotlib

            shades = matplotlib.colormaps[image.look.map or MAPS[0]](np.linspace(0.9, 0, len(times)))
            for line, at, shade in zip(values, times, shades):
                axes.plot(field.coords[field.dims[0]], line, color=shade, label=f"{at:.4g}")
            axes.set(xlabel=axis_label(first, field.dims[0]), ylabel=label)
            axes.set_title(image.slice(field)[1])
            side = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.02), "borderaxespad": 0.0, "handlelength": 1.4}
            axes.legend(title=time, title_fontsize=7, **side)
            return
        ends = np.concatenate([times[:1], (times[1:] + times[:-1]) / 2, times[-1:]])  # edges between the snapshots
        walls = np.linspace(*field.bounds[field.dims[0]], field.shape[0] + 1)
        shown = axes.pcolormesh(
            walls, ends, np.stack(values), vmin=image.low, vmax=image.high, rasterized=True,
            cmap=DIVERGING if image.signed else image.look.map or MAPS[0],
        )  # fmt: skip
        colour_bar(axes, shown, label, bar)
        where = [image.slice(field)[1]] if field.cut else []
        axes.set(xlabel=axis_label(first, field.dims[0]), ylabel=time, title=", ".join([*where, f"{len(self.series)} snapshots"]))

    def show(self, snapshot: Snapshot) -> None:
        """Does nothing: all times are drawn already."""


def stages(series: Sequence[Snapshot]) -> list[Snapshot]:
    """The first, an early and the last of several snapshots, to show how a field developed."""
    last = len(series) - 1
    return [series[i] for i in sorted({0, round(last**0.5), last})]
