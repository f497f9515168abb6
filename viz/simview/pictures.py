"""Pictures of one snapshot: density, bodies, grains, tracks and field maps. A film changes them from frame to frame."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from simview.density import Image, limits, project, smooth
from simview.errors import NotFoundError, UsageError, finite_number, names_of, one_name, one_of, whole_number
from simview.hdf5 import Array
from simview.snapshot import Field, Snapshot
from simview.style import COLOURS, DIVERGING, MAPS, legend, set_title

FEW, SOME = 16, 2000  # bodies that are drawn with their tracks; as points
DENSITY = "magma"  # colours of a density: dark where nothing is
SEEN = 3000  # grains that are drawn one before the other; of more a cut through the middle is shown
CONTOURS, CROWD = 10, 25  # of a map (an even number: none at zero), and how many a row of cells may cross
STRIP = 13  # snapshots from which on a field along a line is a map of line and time
SIZES = 1e-30, 1e30  # half the side of a picture; matplotlib's own arithmetic is good for these
PIXELS = 16, 4096
OPTIONS = ("time", "step", "species", "field", "axes", "at", "view", "size", "pixels", "map", "most")  # of the command
_BARS = {"right": "vertical", "bottom": "horizontal"}


@dataclass
class Look:
    """What the user chose; None: simview chooses."""

    species: Sequence[str] | None = None
    axes: str | None = None
    size: float | None = None
    pixels: int = 800  # along a side of a density
    map: str | None = None
    fields: Sequence[str] | None = None
    most: int | None = None  # particles that are drawn; of more one of n
    at: float | None = None  # where a plane cuts fields on three axes
    view: tuple[float, float] | None = None  # azimuth and elevation of the eye in degrees, of pictures in space
    given: Sequence[str] = ()  # options of the command that are refused where they change nothing

    def __post_init__(self) -> None:
        self.species = None if self.species is None else names_of(self.species, "species")
        self.fields = None if self.fields is None else names_of(self.fields, "fields")
        if self.axes is not None and (len(one_name(self.axes, "axes")) != 2 or len({*self.axes} & {*"xyz"}) != 2):
            raise UsageError(f"axes '{self.axes}': wanted two of x, y and z, such as xz")
        if self.size is not None:
            self.size = finite_number(self.size, "size", *SIZES)
        self.pixels = whole_number(self.pixels, "pixels", PIXELS[0], PIXELS[1])
        if self.map is not None:
            self.map = one_of(self.map, "map", MAPS)
        if self.most is not None:
            self.most = whole_number(self.most, "most", 1)
        if self.at is not None:
            self.at = finite_number(self.at, "at")
        if self.view is not None:
            azimuth, elevation = self.view
            self.view = finite_number(azimuth, "view", -360, 360), finite_number(elevation, "view", -90, 90)


class Picture(Protocol):
    """Draws itself into axes once, with the colour bar at one side or none; then shows one snapshot after another."""

    @property
    def options(self) -> tuple[str, ...]: ...  # what of a `Look` changes the picture, as the command names it

    def draw(self, axes: Any, bar: str | None = "right") -> None: ...

    def show(self, snapshot: Snapshot) -> None: ...


def chosen_species(snapshot: Snapshot, look: Look) -> list[str]:
    """The named species; else all, but without haloes of dark matter where there is anything else to see."""
    if look.species:
        snapshot.particles(look.species)
        return list(look.species)
    visible = [name for name in snapshot.species if not name.endswith("halo")]
    return visible or list(snapshot.species)


def _title(snapshot: Snapshot, more: str) -> str:
    unit = f" {snapshot.time_unit}" if snapshot.units.names else ""
    return f"t = {snapshot.time:.6g}{unit}" + (f", {more}" if more else "")


def _outside(count: int) -> str:
    return f", {count} outside the frame" if count else ""


def _label(snapshot: Snapshot, axis: str) -> str:
    return snapshot.units.label(axis, snapshot.units.text((1,)))


def _length(snapshot: Snapshot) -> str:
    """The unit of length behind a number, where the scenario states one."""
    return f" {snapshot.units.text((1,))}" if snapshot.units.names else ""


def _colour_bar(axes: Any, artist: Any, label: str, side: str | None, **options: Any) -> None:
    """As long as the picture's own side, and as far from it and as wide however the picture is shaped."""
    if side:
        from matplotlib.transforms import Bbox

        apart, wide = (0.09, 0.11) if side == "right" else (0.46, 0.1)  # inches

        def place(*_: Any) -> Any:
            box, (w, h) = axes.get_position(), axes.figure.get_size_inches()
            if side == "right":
                return Bbox.from_bounds(box.x1 + apart / w, box.y0 + 0.01 * box.height, wide / w, 0.98 * box.height)
            return Bbox.from_bounds(box.x0 + 0.03 * box.width, box.y0 - (apart + wide) / h, 0.94 * box.width, wide / h)

        inset = axes.inset_axes((0, 0, 1, 1))
        inset.set_axes_locator(place)
        axes.figure.colorbar(artist, cax=inset, orientation=_BARS[side], **options).set_label(label)


def upright(snapshot: Snapshot) -> str:
    """The axes of a picture that nobody chose: from the side where something pulls down along z."""
    gravity = snapshot.parameters.get("gravity")
    vector = isinstance(gravity, list) and len(gravity) == 3 and all(isinstance(g, (int, float)) for g in gravity)
    return "xz" if vector and gravity[2] != 0 else "xy"  # type: ignore[index]


class _Particles:
    """What pictures of particles share: species, limits, axes."""

    options: tuple[str, ...] = ("species", "axes", "size")

    def every(self, snapshot: Snapshot) -> int:
        """Of how many particles one is drawn: 1 but where there are more than `look.most`."""
        known = [name for name in self.species if name in snapshot.species]
        return 1 if self.look.most is None else max(1, -(-sum(snapshot.count(name) for name in known) // self.look.most))

    def __init__(self, samples: Sequence[Snapshot], look: Look) -> None:
        self.first = samples[-1]
        self.plane = look.axes or upright(self.first)
        self.look = replace(look, axes=self.plane)
        self.species = chosen_species(self.first, look)
        positions: list[tuple[Array, Array]] = []
        for snapshot in samples:
            held = list(snapshot.particles(self.species).each(*self.plane, every=self.every(snapshot)))
            positions.append((np.concatenate([a[0] for _, a in held]), np.concatenate([a[1] for _, a in held])))
        count = len(positions[0][0])
        self.centre, self.half = limits(positions, 98.0 if count > SOME else 100.0)
        if FEW < count <= SOME:  # one that flew away does not set the frame
            self.half = min(self.half, 1.5 * limits(positions, 90.0)[1])
        box = self.first.parameters.get("box")
        if isinstance(box, dict) and isinstance(box.get("size"), (int, float)):  # the periodic cube of bodies
            self.half = float(box["size"]) / 2
            self.centre = self.half, self.half
        if look.size is not None:
            self.half = look.size

    def numbers(self, snapshot: Snapshot, what: tuple[str, str] = ("body", "bodies")) -> str:
        """How many particles are drawn, and of how many where species are left out."""
        count = sum(snapshot.count(name) for name in self.species)
        total = sum(snapshot.count(name) for name in snapshot.species)
        words = f"{count} of {total} {what[1]}" if count < total else f"{count} {what[count != 1]}"
        every = self.every(snapshot)
        return words + (" (halos not drawn)" if count < total and not self.look.species else "") + (f", one of {every} drawn" if every > 1 else "")

    def frame(self, axes: Any) -> None:
        (cx, cy), half = self.centre, self.half
        if half < 1e-9 * max(abs(cx), abs(cy)):
            raise UsageError(f"size: {half:g} is too small for a picture about {self.plane} = ({cx:.6g}, {cy:.6g})")
        axes.set(xlim=(cx - half, cx + half), ylim=(cy - half, cy + half), aspect="equal")
        axes.set(xlabel=_label(self.first, self.plane[0]), ylabel=_label(self.first, self.plane[1]))
        axes.locator_params(nbins=6)


def bright_range(image: Image) -> tuple[float, float]:
    """Where the colours of a density begin and end: 2 % of the mass is fainter, 1 % brighter; three to five decades."""
    values = np.sort(image, axis=None).astype(float)
    share = np.cumsum(values)
    if not share[-1] > 0:
        return 0.0, 0.0
    low, high = (float(values[np.searchsorted(share, part * share[-1])]) for part in (0.02, 0.99))
    return float(np.clip(low, high / 1e5, high / 1e3)), high


class Density(_Particles):
    """Mass in a column, on a logarithmic scale."""

    options = (*_Particles.options, "map", "pixels", "most")

    def __init__(self, samples: Sequence[Snapshot], look: Look) -> None:
        super().__init__(samples, look)
        self.kept: tuple[Snapshot, Image] | None = None
        self.inside = 0
        ranges = [bright_range(self.image(snapshot)) for snapshot in samples]
        if not max(high for _, high in ranges) > 0:
            raise NotFoundError(f"{self.first.path}: nothing within {self.half:g} of the middle")
        self.low, self.high = (float(np.median([ends[k] for ends in ranges if ends[1] > 0])) for k in (0, 1))

    def image(self, snapshot: Snapshot) -> Image:
        """Mass a unit of area; the last one is kept, for it is often asked for twice."""
        if self.kept is None or self.kept[0] is not snapshot:
            self.kept = snapshot, self.compute(snapshot)
        return self.kept[1]

    def compute(self, snapshot: Snapshot) -> Image:
        pixels = self.look.pixels
        shape = pixels, pixels
        counts, mass = np.zeros(shape), np.zeros(shape)
        particles = snapshot.particles(self.species)
        names = [*self.plane, "mass"] if "mass" in particles else [*self.plane]
        every = self.every(snapshot)
        for _, (x, y, *weights) in particles.each(*names, every=every):
            weight = weights[0] if weights else np.broadcast_to(1.0, x.shape)
            number = project(x, y, None, self.centre, self.half, pixels)
            counts += number
            constant = len(weight) > 0 and weight.strides == (0,)
            mass += number * float(weight[0]) if constant else project(x, y, weight, self.centre, self.half, pixels)
        self.inside = every * round(float(counts.sum()))
        surface: Image = every * smooth(counts, mass) / np.float64(2 * self.half / pixels) ** 2  # in double: single ends at 3e38
        return surface

    def draw(self, axes: Any, bar: str | None = "right") -> None:
        from matplotlib.colors import LogNorm

        (cx, cy), half = self.centre, self.half
        self.axes = axes
        blank = np.full((self.look.pixels, self.look.pixels), self.low)
        norm = LogNorm(self.low, self.high, clip=True)
        bounds = (cx - half, cx + half, cy - half, cy + half)
        self.artist = axes.imshow(
            blank, origin="lower", norm=norm, cmap=self.look.map or DENSITY, extent=bounds, interpolation="nearest"
        )
        unit = self.first.units.text((-2, 1))
        label = self.first.units.label("surface density", unit)
        _colour_bar(axes, self.artist, label, bar, extend="both")
        self.frame(axes)

    def show(self, snapshot: Snapshot) -> None:
        self.artist.set_data(self.image(snapshot))
        outside = 0 if self.every(snapshot) > 1 else snapshot.particles(self.species).count - self.inside
        set_title(self.axes, _title(snapshot, self.numbers(snapshot) + _outside(outside)))


class Bodies(_Particles):
    """Bodies as points, a colour a species; few of them with their tracks."""

    def __init__(self, samples: Sequence[Snapshot], look: Look, series: Sequence[Snapshot] = ()) -> None:
        super().__init__(samples, look)
        few = self.first.particles(self.species).count <= FEW
        self.tracks = tracks(series, self.species, self.plane) if few and len(series) > 1 else []
        self.times = np.array([snapshot.time for snapshot in series]) if self.tracks else np.zeros(0)
        self.named = len(self.species) > 1
        if self.tracks and look.size is None:
            merged = np.concatenate([track.line for track in self.tracks] + [track.at for track in self.tracks], axis=1)
            low, high = np.nanmin(merged, axis=1), np.nanmax(merged, axis=1)
            self.centre = float(low[0] + high[0]) / 2, float(low[1] + high[1]) / 2
            self.half = 0.54 * float((high - low).max()) or 1.0

    def inner(self) -> Bodies | None:
        """A second picture, of three bodies or more that keep within a fifth of the first one, far inside the others."""
        if len(self.tracks) < 4 or self.look.size is not None:
            return None
        at = np.stack([track.at for track in self.tracks])  # [body, 2, time]
        middle = np.median(at, axis=(0, 2))
        reach = np.sort(np.hypot(*(at - middle[:, None]).transpose(1, 0, 2)).max(axis=1))
        last = int(np.argmax(reach[3:] / np.maximum(reach[2:-1], 1e-300))) + 2
        if not 0 < reach[last] < min(self.half / 5, reach[last + 1] / 2.5):
            return None
        picture = copy(self)
        picture.centre, picture.half, picture.named = (float(middle[0]), float(middle[1])), 1.1 * float(reach[last]), False
        return picture

    def draw(self, axes: Any, bar: str | None = "right") -> None:
        self.axes, self.artists = axes, []
        counts = self.first.particles(self.species).counts
        of_bodies = [i for i, count in enumerate(counts) for _ in range(count)]
        several = len(set(of_bodies)) == 1 and len(of_bodies) <= len(COLOURS)
        self.tails = []
        for body, track in enumerate(self.tracks):
            colour = COLOURS[(body if several else of_bodies[body]) % len(COLOURS)]
            axes.plot(*track.line, color=colour, alpha=0.55, lw=0.7)
            axes.plot(*track.dots, color=colour, alpha=0.55, ls="none", marker=".", ms=1.5)
            self.tails += axes.plot([], [], color=colour, lw=1.8, solid_capstyle="butt")
        size = 4.5 if sum(counts) <= FEW else max(1.0, 3.0 - sum(counts) / 1000)
        for i, name in enumerate(self.species):
            single = counts[i] == 1 and sum(counts) > FEW  # a planet among its moons
            colours = [COLOURS[k % len(COLOURS)] for k in range(counts[i])] if several else COLOURS[i % len(COLOURS)]
            marker = "osD^v"[i // len(COLOURS) % 5]
            artist = axes.scatter(
                np.zeros(counts[i]), np.zeros(counts[i]), s=(6.0 if single else size) ** 2, c=colours, marker=marker,
                linewidths=0, label=name, zorder=3,
            )  # fmt: skip
            self.artists.append(artist)
        if self.named:
            legend(axes, 5, below=True, handlelength=1.2, handletextpad=0.2)
        self.frame(axes)

    def show(self, snapshot: Snapshot) -> None:
        outside = 0
        for artist, (_, arrays) in zip(self.artists, snapshot.particles(self.species).each(*self.plane)):
            at = np.stack(arrays, axis=1)
            artist.set_offsets(at)
            outside += int((np.abs(at - self.centre) > self.half).any(axis=1).sum())
        for line, track in zip(self.tails, self.tracks):
            line.set_data(*track.tail(int(np.abs(self.times - snapshot.time).argmin()), self.half / 3))
        set_title(self.axes, _title(snapshot, self.numbers(snapshot) + _outside(outside)))


@dataclass
class Track:
    """The way of one body.

    Attributes
    ----------
    at
        Positions in the snapshots, ``[2, snapshots]``.
    resolved
        Whether the snapshots resolve the motion between one and the next, ``[snapshots - 1]``.
    line
        The way, ``[2, POINTS * (snapshots - 1) + 1]``; NaN where it is not resolved.
    """

    at: Array
    resolved: Array
    line: Array

    @property
    def dots(self) -> Array:
        """Positions at either end of what is not resolved, ``[2, n]``."""
        gap = np.concatenate([[False], ~self.resolved, [False]])
        return self.at[:, gap[1:] | gap[:-1]]

    def tail(self, snapshot: int, length: float) -> Array:
        """The line just before a snapshot, at most so long; less where it is not resolved."""
        line = self.line[:, POINTS * snapshot :: -1] if snapshot else self.line[:, :1]
        way = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line, axis=1)))])
        return line[:, way <= length]  # false for NaN


POINTS = 24  # of a track between two snapshots


def tracks(snapshots: Sequence[Snapshot], species: Sequence[str], axes: str) -> list[Track]:
    """The way of each body: the cubic with the positions and velocities of two snapshots, where they resolve it.

    They do where the body turns by less than a right angle between them, and the mean velocity by its positions is that
    of its two velocities within a quarter of their speed. On a circle both differ by 0.19 of the speed after a quarter of
    a turn and by 0.5 or more after whole turns and up to a quarter of a turn, so that no turn goes unseen.
    """
    from simview.series import read_series

    names = ["x", "y", "z", "vx", "vy", "vz"]
    try:
        series = read_series(snapshots, species, names, 1)
    except UsageError:  # bodies come and go
        return []
    at, speed = (np.stack([series[name].to_numpy() for name in part]).astype(float) for part in (names[:3], names[3:]))
    step = np.diff(series["time"].to_numpy())[None, :, None]  # of [axis, time, body]
    begin, end = speed[:, :-1], speed[:, 1:]
    size = (np.linalg.norm(begin, axis=0) + np.linalg.norm(end, axis=0)) / 2
    stray = np.linalg.norm(np.diff(at, axis=1) / step - (begin + end) / 2, axis=0)
    resolved = ((begin * end).sum(axis=0) >= 0) & (stray <= size / 4)  # [time, body]; false for NaN
    plane = ["xyz".index(axis) for axis in axes]
    s = np.linspace(0, 1, POINTS, endpoint=False)[:, None, None, None]
    cubic = (
        (1 + 2 * s) * (1 - s) ** 2 * at[plane, :-1] + s * (1 - s) ** 2 * step * begin[plane]
        + s**2 * (3 - 2 * s) * at[plane, 1:] + s**2 * (s - 1) * step * end[plane]
    )  # fmt: skip
    found = []
    for body in range(at.shape[2]):
        path = np.moveaxis(cubic[..., body], 0, -1)  # [2, time, points]
        path[:, ~resolved[:, body], 1:] = np.nan
        places = at[plane, :, body]
        line = np.concatenate([path.reshape(2, -1), places[:, -1:]], axis=1)
        found.append(Track(places, resolved[:, body], line))
    return found


class Map:
    """A field on a plane, or along a line where there is one axis only. Contours are drawn where they do not crowd."""

    def __init__(self, samples: Sequence[Snapshot], look: Look, name: str, across: int = 0) -> None:
        self.name, self.look, self.first, self.across = name, look, samples[-1], across
        self.drawn: list[Any] = []
        self.span(samples)

    def geometry(self, snapshot: Snapshot) -> Field:
        """A field on the grid that is shown."""
        return snapshot.field(self.name)

    def unit(self, field: Field) -> str:
        """The unit of the values."""
        return field.unit

    def values(self, snapshot: Snapshot) -> tuple[Array, str]:
        """What is shown of a snapshot, and of three axes which plane it is."""
        return self.slice(self.geometry(snapshot))

    def span(self, snapshots: Sequence[Snapshot]) -> None:
        """Sets the limits to the least and the greatest value in these snapshots; one that the run has taken away is skipped.

        Where few values lie far out, as at the corner of a lid, the limits leave out a thousandth at either end.
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
        # A field of both signs is shown about zero.
        self.signed = self.low < 0 < self.high and min(-self.low, self.high) > 0.1 * max(-self.low, self.high)
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
        """Height over width of what is shown; 1 for a line."""
        field = self.geometry(self.first)
        spans = [field.bounds[dim][1] - field.bounds[dim][0] for dim in self.dims(field)]
        return spans[0] / spans[1] if len(spans) == 2 else 1.0

    def dims(self, field: Field) -> list[str]:
        """The axes that are shown, in the order of the array."""
        return [dim for i, dim in enumerate(field.dims) if len(field.dims) < 3 or i != self.across]

    def index(self, field: Field) -> int:
        """Which of the planes across three axes is shown: the middle one, or the one nearest to where the user wants it."""
        dim = field.dims[self.across]
        if self.look.at is None:
            return field.shape[self.across] // 2
        low, high = field.bounds[dim]
        if not low <= self.look.at <= high:
            raise UsageError(f"at: {self.look.at:g} is outside the grid, {low:g} to {high:g} along {dim}")
        return int(np.abs(np.asarray(field.coords[dim]) - self.look.at).argmin())

    def slice(self, field: Field) -> tuple[Array, str]:
        """The values, and of three axes which plane it is."""
        unit = _length(field.snapshot)
        if len(field.shape) < 3:
            return field[...], ", ".join(f"{axis} = {at:.4g}{unit}" for axis, at in sorted(field.cut.items()))
        dim, place = field.dims[self.across], self.index(field)
        return field[(slice(None),) * self.across + (place,)], f"{dim} = {field.coords[dim][place]:.4g}{unit}"

    def draw(self, axes: Any, bar: str | None = "right") -> None:
        field = self.geometry(self.first)
        self.axes = axes
        label = self.first.units.label(self.name, self.unit(field))
        dims = self.dims(field)
        if len(field.shape) == 1:
            (self.line,) = axes.plot(field.coords[dims[0]], np.zeros(field.shape))
            margin = 0.05 * (self.high - self.low) or 0.5
            axes.set(ylim=(self.low - margin, self.high + margin), xlabel=_label(self.first, dims[0]), ylabel=label)
            return
        bounds = [*field.bounds[dims[1]], *field.bounds[dims[0]]]
        self.image = axes.imshow(
            np.zeros(self.values(self.first)[0].shape), origin="lower", extent=bounds, vmin=self.low, vmax=self.high,
            cmap=DIVERGING if self.signed else self.look.map or MAPS[0], interpolation="nearest",
        )  # fmt: skip
        _colour_bar(axes, self.image, label, bar, **({"extend": "both"} if self.beyond else {}))
        axes.set(xlabel=_label(self.first, dims[1]), ylabel=_label(self.first, dims[0]))

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
        set_title(self.axes, _title(snapshot, where))

    def lines(self, snapshot: Snapshot, values: Array) -> None:
        """Contours, so that steps can be counted; `drawn` takes what is to go before the next snapshot."""
        if not self.low < self.high or min(values.shape) < 8 or not np.isfinite(values).all():
            return
        between = np.digitize(values, self.levels)
        steps = [np.abs(np.diff(between, axis=axis)) for axis in (0, 1)]
        crossed = max(float((step > 0).mean()) for step in steps)
        most = max(float((step > 0).sum(axis=axis).mean()) for axis, step in enumerate(steps))  # lines that a row or column meets
        jumps = float(sum(step.sum() for step in steps)) > 2 * sum(int((step > 0).sum()) for step in steps)  # lines on each other
        if 0 < crossed < 0.25 and most <= CROWD and not jumps:
            field = self.geometry(snapshot)
            up, right = self.dims(field)
            levels = self.levels[(values.min() < self.levels) & (self.levels < values.max())]
            self.drawn = [self.axes.contour(field.coords[right], field.coords[up], values, levels, linewidths=0.45,
                                            colors=[(0, 0, 0, 0.55) if self.signed else (1, 1, 1, 0.6)], linestyles="solid")]  # fmt: skip


def across(samples: Sequence[Snapshot], look: Look, names: Sequence[str]) -> int:
    """The axis that maps of fields on three axes are cut across: of the first one, unless it leaves a map emptier.

    The contrast of a plane is the standard deviation of its values over that of the axis with the greatest one; the least
    over all fields and snapshots counts. `look.axes` names the plane.
    """
    dims = samples[-1].field(names[0]).dims
    if len(dims) < 3:
        return 0
    if look.axes:
        left = [i for i, dim in enumerate(dims) if dim not in look.axes]
        if len(left) != 1 or len(look.axes) != 2:
            raise UsageError(f"axes '{look.axes}': wanted two of x, y and z, such as xz")
        return left[0]
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
    """A field along a line over time: a line for each of few snapshots, a map of many."""

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
            axes.set(xlabel=_label(first, field.dims[0]), ylabel=label)
            axes.set_title(image.slice(field)[1])
            side = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.02), "borderaxespad": 0.0, "handlelength": 1.4}
            axes.legend(title=time, title_fontsize=7, **side)
            return
        ends = np.concatenate([times[:1], (times[1:] + times[:-1]) / 2, times[-1:]])  # between the snapshots
        walls = np.linspace(*field.bounds[field.dims[0]], field.shape[0] + 1)
        shown = axes.pcolormesh(
            walls, ends, np.stack(values), vmin=image.low, vmax=image.high, rasterized=True,
            cmap=DIVERGING if image.signed else image.look.map or MAPS[0],
        )  # fmt: skip
        _colour_bar(axes, shown, label, bar)
        where = [image.slice(field)[1]] if field.cut else []
        axes.set(xlabel=_label(first, field.dims[0]), ylabel=time, title=", ".join([*where, f"{len(self.series)} snapshots"]))

    def show(self, snapshot: Snapshot) -> None:
        """All times are there already."""


def stages(series: Sequence[Snapshot]) -> list[Snapshot]:
    """The first, an early and the last of several snapshots: how a field came to be what it is."""
    last = len(series) - 1
    return [series[i] for i in sorted({0, round(last**0.5), last})]


def _of_fields(samples: Sequence[Snapshot], look: Look, series: Sequence[Snapshot]) -> list[Picture]:
    """Maps and surfaces of fields, and of vectors how they flow; along a line and over a series, strips."""
    from simview.flow import Flow, Vorticity, vectors
    from simview.volume import Volume

    last = samples[-1]
    flows = vectors(last)
    names = list(look.fields or [])
    if not names:  # of a vector what it does, and nothing that follows from it
        names = [*flows[:1], *(["vorticity"] if "velocity" in flows[:1] else [])] or list(last.fields)
    shown: list[Picture] = []
    for name in names:
        known = f"{flows[0]}/{'x' if f'{flows[0]}/x' in last.fields else 'y'}" if name in (*flows, "vorticity") and flows else name
        cut = across(samples, look, [known])
        if name in flows:
            shown.append(Flow(samples, look, name, cut))
        elif name == "vorticity" and "velocity" in flows and name not in last.fields:
            shown.append(Vorticity(samples, look, "velocity", cut))
        elif series and len(last.field(name).shape) == 1:
            shown.append(Strip(series, look, name))
        else:
            if len(last.field(name).shape) == 3 and not look.axes and look.at is None and min(last.field(name).shape) > 7:
                shown.append(Volume(samples, look, name))
            if look.view is None:
                shown.append(Map(samples, look, name, across(samples, look, [one for one in names if one in last.fields])))
    return shown


def pictures(samples: Sequence[Snapshot], look: Look, series: Sequence[Snapshot] = (),
             strips: bool = False) -> list[Picture]:  # fmt: skip
    """The pictures that suit what the snapshots hold; limits and colours are those of the samples.

    With `strips` a field along a line is shown over all of the series.
    """
    last = samples[-1]
    if (last.fields or look.fields) and not (look.species and not look.fields):
        return _of_fields(samples, look, series if strips and len(series) > 1 else ())
    if not last.species and not look.species:
        raise NotFoundError(f"{last.path}: neither particles nor fields in it")
    particles = last.particles(chosen_species(last, look))
    if "radius" in particles:
        from simview.grains import Grains
        from simview.solids import Solids

        return [Grains(samples, look) if look.axes else Solids(samples, look)]
    if particles.count > SOME:
        return [Density(samples, look)]
    bodies = Bodies(samples, look, series)
    inner = bodies.inner()
    return [bodies, inner] if inner else [bodies]


def refuse_unused(look: Look, shown: Sequence[Picture], others: Sequence[str] = ()) -> None:
    """Refuses options of the command that change nothing in the pictures; `others`: what changes the rest of the figure."""
    known = {*others, *(option for picture in shown for option in picture.options)}
    for option in look.given:
        if option not in known:
            here = ", ".join(f"--{name}" for name in OPTIONS if name in known)
            raise UsageError(f"--{option} has no meaning for what is drawn" + (f"; these have: {here}" if here else ""))
