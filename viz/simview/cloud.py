"""Fields on three axes as volumes: every place shines in the colour of its value and dims what lies behind it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from simview.errors import NotFoundError
from simview.flow import parts
from simview.hdf5 import Array
from simview.look import Look, colour_bar
from simview.maps import is_signed
from simview.render import LIGHT, Eye, Mist, Scene
from simview.snapshot import Snapshot
from simview.style import DIVERGING
from simview.volume import Space, cell_of, sample, values_of

_MOST = 256  # cells along a side; of a larger grid the means of blocks are drawn
_STEP, _STEPS = 0.7, 300  # length of a step in cells; most steps across the diagonal of the grid
_CLEAR = 0.005  # share of the light from behind at which a ray ends
_DENSE = 28.0  # optical depth of the most opaque value along the diagonal of the grid
_BAR = 0.15  # length of the path that the colour bar shows, of that diagonal
_TONES = 1024  # entries of the table of colours
_DIM, _LIT = 0.75, 0.35  # brightness without a slope; what a slope towards the light adds, and one away from it takes


class Tones(NamedTuple):
    """Optical properties by value, in tables over equal steps from `low` to `high`.

    `weight`: opacity from 0 to 1. `dense`: optical depth along a unit of length. `colour`: ``[n, 3]``.
    """

    low: float
    high: float
    weight: Array
    dense: Array
    colour: Array

    def place(self, values: Array) -> Array:
        """Indices of values in the tables; values beyond the ends have those of the ends."""
        share = (values - np.float32(self.low)) * np.float32((_TONES - 1) / (self.high - self.low))
        return np.asarray(np.clip(np.rint(share), 0, _TONES - 1).astype(np.intp))


def transparent(low: float, high: float, middle: float) -> float:
    """The value that is transparent in a field with the median `middle`: the nearer end, or half way where neither is near."""
    share = (middle - low) / (high - low)
    return low if share < 1 / 3 else high if share > 2 / 3 else (low + high) / 2


class Cloud(Space):
    """A scalar field, the size of a vector, or the size of the vorticity, as a volume.

    Limits of the colours are the least and the greatest value of the samples without a thousandth of the values at either
    end, symmetric about zero for a field of both signs. The opacity grows with the square of the distance from the value that
    is transparent.

    Parameters
    ----------
    name
        A field; with `vector` the name of a vector, or 'vorticity'.
    vector
        The vector whose components are read.
    """

    def __init__(self, samples: Sequence[Snapshot], look: Look, name: str, vector: str = "") -> None:
        self.name, self.vector = name, vector
        super().__init__(samples, look, self.grid(samples[-1]))
        ends, middles = [], [0.0]
        for snapshot in samples:
            with suppress(NotFoundError):
                values = self.values(snapshot) if vector else np.asarray(snapshot.field(name))
                values = values[np.isfinite(values)]
                if values.size:
                    ends.append(np.percentile(values, (0.1, 99.9)))
                    middles.append(float(np.median(values)))
        least = 0.0 if vector else min((float(pair[0]) for pair in ends), default=0.0)
        most = max((float(pair[1]) for pair in ends), default=1.0)
        self.signed = is_signed(least, most)
        if self.signed:
            most = max(-least, most)
            least = -most
        if not least < most:
            most = least + (abs(least) or 1.0)
        self.least, self.most = least, most
        self.rest = 0.0 if vector else transparent(least, most, middles[-1])

    def grid(self, snapshot: Snapshot) -> str:
        """A field on the grid that is drawn."""
        return next(iter(parts(snapshot, self.vector).values())) if self.vector else self.name

    @property
    def options(self) -> tuple[str, ...]:
        return ("field", "axes", "at", "view", "pixels", "volume", *(() if self.signed else ("map",)))

    @property
    def label(self) -> str:
        """What the colours stand for."""
        return self.name if not self.vector else "speed" if self.name == "velocity" else f"|{self.name}|"

    def words(self, snapshot: Snapshot) -> str:
        return f"volume of {self.label}"

    def values(self, snapshot: Snapshot) -> Array:
        """The values ``[x, y, z]`` to show, less the transparent one, in single precision."""
        if not self.vector:
            return values_of(snapshot.field(self.name), self.rest)
        held = {dim: values_of(snapshot.field(name)) for dim, name in parts(snapshot, self.vector).items()}
        if self.name != "vorticity":
            return np.asarray(np.sqrt(sum(part**2 for part in held.values())))
        cell, none = cell_of(snapshot.field(self.grid(snapshot))), np.zeros_like(next(iter(held.values())))
        vector = [held.get(dim, none) for dim in "xyz"]
        total = np.zeros_like(none)
        for one, two in ((1, 2), (2, 0), (0, 1)):
            total += (np.gradient(vector[two], cell[one], axis=one) - np.gradient(vector[one], cell[two], axis=two)) ** 2
        return np.asarray(np.sqrt(total))

    def tones(self) -> Tones:
        """Colours and opacities of the values, which are less the transparent one as `values` has them."""
        import matplotlib

        low, high = self.least - self.rest, self.most - self.rest
        weight = np.abs(np.linspace(low, high, _TONES)) / max(high, -low)
        colour = matplotlib.colormaps[DIVERGING if self.signed else self.look.map or "viridis"](np.linspace(0, 1, _TONES))[:, :3]
        dense = _DENSE / float(np.linalg.norm(self.high - self.low)) * weight**2
        return Tones(low, high, *(np.asarray(part, np.float32) for part in (weight, dense, colour)))

    def draw(self, axes: Any, bar: str | None = "right") -> None:
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import ListedColormap, Normalize

        tones = self.tones()
        opacity = 1 - np.exp(-tones.dense * _BAR * float(np.linalg.norm(self.high - self.low)))
        shades = ListedColormap(1 - opacity[:, None] * (1 - tones.colour))
        unit = self.first.units.text((0, 0, -1)) if self.name == "vorticity" and self.vector else self.first.field(self.grid(self.first)).unit
        colour_bar(axes, ScalarMappable(Normalize(self.least, self.most), shades), self.first.units.label(self.label, unit), bar,
                   extend="max" if self.least == 0 else "both")  # fmt: skip
        super().draw(axes, bar)

    def fill(self, scene: Scene, snapshot: Snapshot) -> None:
        self.solids(scene)
        values = np.nan_to_num(self.values(snapshot), nan=0.0, posinf=self.most - self.rest, neginf=self.least - self.rest)
        scene.mist = march(values, self.low, self.high, self.tones(), self.eye, scene)


def coarse(values: Array, most: int) -> tuple[Array, int]:
    """Means of blocks of n x n x n values, so that no side has more than `most` of them, and n; the last ones are repeated."""
    n = -(-max(values.shape) // most)
    if n == 1:
        return values, 1
    padded = np.pad(values, [(0, -side % n) for side in values.shape], mode="edge")
    return padded.reshape([part for side in padded.shape for part in (side // n, n)]).mean(axis=(1, 3, 5), dtype=np.float32), n


def light_of(weight: Array, spacing: Array, eye: Eye, reach: float) -> Array:
    """Brightness ``[x, y, z]`` of a volume from the slope of its opacity: more on sides that face the light.

    A slope counts by half where it changes the opacity by 1 along the length `reach`.
    """
    slope = np.gradient(weight, *spacing)
    towards = LIGHT @ eye.turn
    size = np.sqrt(sum(part**2 for part in slope)) + 1 / reach
    facing = -sum(part * float(way) for part, way in zip(slope, towards)) / size
    return np.asarray(_DIM + _LIT * facing, np.float32)


def march(values: Array, low: Array, high: Array, tones: Tones, eye: Eye, scene: Scene) -> Mist:
    """Follows a ray from the eye through each shown pixel: emission and absorption (N. Max, IEEE Transactions on Visualization and
    Computer Graphics 1, 99, 1995), with the values in the middle of each step.

    Parameters
    ----------
    values
        The field ``[x, y, z]``, finite, in the middles of the cells that fill the block from `low` to `high`.

    Returns
    -------
    Mist
        What lies between the eye and the nearest object at each pixel.
    """
    sides = np.array(values.shape, float)
    spacing = (high - low) / sides
    values, block = coarse(np.asarray(values, np.float32), _MOST)
    sides, spacing = sides / block, spacing * block
    reach = 0.25 * float(np.linalg.norm(high - low))
    light = light_of(tones.weight[tones.place(values)], spacing, eye, reach)
    begin, way, long, until = _rays(scene, eye, low, spacing)
    with np.errstate(divide="ignore", invalid="ignore"):  # where a ray enters and leaves the block
        first, second = (-0.5 - begin) / way, (sides[:, None] - 0.5 - begin) / way
    enter, leave = np.fmax.reduce(np.fmin(first, second)), np.minimum(np.fmin.reduce(np.fmax(first, second)), until)
    step = max(_STEP / float(np.abs(way).max()), float(np.linalg.norm(sides * spacing)) / _STEPS)
    clear, colour = np.ones(begin.shape[1], np.float32), np.zeros((begin.shape[1], 3), np.float32)
    rays = np.flatnonzero(enter < leave)  # rays that have not ended
    at, end, origin, course = enter[rays], leave[rays], begin[:, rays], way[:, rays]
    while rays.size:
        part = np.minimum(step, end - at)
        place = origin + (at + part / 2) * course
        entry = tones.place(sample(values, place))
        depth = tones.dense[entry] * (part * long[rays]).astype(np.float32)
        seen = np.flatnonzero(depth > 1e-5)
        share = clear[rays[seen]] * -np.expm1(-depth[seen])
        colour[rays[seen]] += (share * sample(light, place[:, seen]))[:, None] * tones.colour[entry[seen]]
        clear[rays[seen]] -= share
        at = at + part
        kept = (at < end) & (clear[rays] > _CLEAR)
        rays, at, end, origin, course = rays[kept], at[kept], end[kept], origin[:, kept], course[:, kept]
    depth = np.where(enter < leave, eye.depth(np.where(enter < leave, enter, 0)) * scene.scale, -np.inf)
    return Mist(*(scene.widen(part) for part in (np.minimum(colour, (1 - clear)[:, None]), 1 - clear, depth)))


def _rays(scene: Scene, eye: Eye, low: Array, spacing: Array) -> tuple[Array, Array, Array, Array]:
    """A ray for each shown pixel: begin and direction ``[3, n]`` in cells, length of the direction, and where an object ends it."""
    flat = scene.middles()
    begin, way, _ = eye.rays(flat)
    depth = scene.nearest().reshape(-1) / scene.scale
    along = eye.along(np.where(np.isfinite(depth), depth, 0))
    until = np.where(np.isfinite(depth), along, np.inf)
    begin = np.ascontiguousarray(((begin - low) / spacing - 0.5).T)
    return begin, np.ascontiguousarray((way / spacing).T), np.linalg.norm(way, axis=1), until
