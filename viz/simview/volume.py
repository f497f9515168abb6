"""Surfaces of equal value in a field on three axes, lit, seen from outside."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from simview.errors import NotFoundError
from simview.flow import resting
from simview.hdf5 import Array
from simview.look import Look, title, written
from simview.render import Eye, Scene
from simview.snapshot import MEMBER, Field, Snapshot
from simview.solids import VIEW, bare, scale_bar
from simview.style import set_title
from simview.walls import block

_MOST = 400  # pixels along a side: a ray for each
_GREY = (0.55, 0.55, 0.55)  # bodies
_EDGE, _COLOURS = (0.25, 0.25, 0.28), ((0.93, 0.55, 0.18), (0.22, 0.56, 0.78))  # towards larger, smaller values


def has_surface(snapshot: Snapshot, name: str) -> bool:
    """Whether a field has three axes in space, each with enough cells to show a surface."""
    field = snapshot.field(name)
    return len(field.shape) == 3 and MEMBER not in field.dims and min(field.shape) > 7


class Space:
    """What pictures of fields on three axes in space share: the block that the grid fills, its frame, and the eye."""

    def __init__(self, samples: Sequence[Snapshot], look: Look, name: str) -> None:
        self.look, self.first = look, samples[-1]
        bounds = [self.first.field(name).bounds[dim] for dim in "xyz"]
        self.low, self.high = (np.array([pair[k] for pair in bounds], float) for k in (0, 1))
        self.eye = Eye(look.view or VIEW, self.low, self.high)
        seen = self.eye.see(block(self.low, self.high)[0].reshape(-1, 3))
        margin = 0.02 * float(np.ptp(seen[:, :2], axis=0).max())
        self.frame_low, self.frame_high = seen[:, :2].min(axis=0) - margin, seen[:, :2].max(axis=0) + margin

    @property
    def shape(self) -> float:
        """Height over width."""
        wide, tall = self.frame_high - self.frame_low
        return float(tall / wide)

    def draw(self, axes: Any, bar: str | None = "right") -> None:
        self.axes = axes
        self.shown: tuple[object, ...] | None = None
        bare(axes, self.frame_low, self.frame_high)
        extent = (self.frame_low[0], self.frame_high[0], self.frame_low[1], self.frame_high[1])
        self.artist = axes.imshow(np.zeros((2, 2, 4), np.uint8), origin="lower", extent=extent, interpolation="antialiased", zorder=3)
        scale_bar(axes, self.first, self.eye)

    def show(self, snapshot: Snapshot) -> None:
        file = written(snapshot)
        if file is None or file != self.shown:  # a layout shows one snapshot several times
            scene = Scene(self.frame_low.tolist(), self.frame_high.tolist(), min(self.look.pixels, _MOST))
            self.fill(scene, snapshot)
            for edge in block(self.low, self.high)[1]:
                scene.line(self.eye.see(edge), _EDGE, 1.0, 0.0)
            self.artist.set_data(scene.image())
            self.shown = file
        set_title(self.axes, title(snapshot, self.words(snapshot)))

    def solids(self, scene: Scene) -> None:
        """Puts bodies at rest into the scene: balls, cylinders as balls in a row, and blocks, which are seen through."""
        for body in resting(self.first):
            if body.get("$type") == "block":
                scene.shell(self.eye.see(block(np.array(body["low"], float), np.array(body["high"], float))[0]), _GREY, 0.35)
            elif isinstance(body.get("point"), list):
                radius, middle = float(body["radius"]), np.array(body["point"], float)
                if body.get("$type") == "cylinder":
                    axis = np.array(body.get("axis") or (0, 0, 1), float)
                    reach = float(np.linalg.norm(self.high - self.low))
                    row = np.arange(-reach, reach, 0.1 * radius)
                    at = middle + row[:, None] * axis / np.linalg.norm(axis)
                    at = at[((at >= self.low) & (at <= self.high)).all(axis=1)]
                else:
                    at = middle[None]
                seen, size, kept = self.eye.spheres(at, np.full(len(at), radius))
                scene.spheres(seen, size, np.full((int(kept.sum()), 3), _GREY))

    def fill(self, scene: Scene, snapshot: Snapshot) -> None:
        """Puts into the scene what is shown."""
        raise NotImplementedError

    def words(self, snapshot: Snapshot) -> str:
        """What the title says of it."""
        raise NotImplementedError


def values_of(field: Field, zero: float = 0.0) -> Array:
    """The values ``[x, y, z]`` above `zero`, in single precision: the difference keeps small changes of large values."""
    values = np.asarray(field)
    values = values - values.dtype.type(zero) if zero else values
    return np.asarray(values.astype(np.float32, copy=False).transpose([field.dims.index(dim) for dim in "xyz"]))


def cell_of(field: Field) -> Array:
    """The sides of a cell along x, y and z."""
    spacing = dict(zip(field.dims, field.grid.spacing))
    return np.array([spacing[dim] for dim in "xyz"], float)


class Volume(Space):
    """The surface where a field is halfway between its least and its greatest value, a hundredth at either end left out."""

    options = ("field", "axes", "at", "view", "pixels")

    def __init__(self, samples: Sequence[Snapshot], look: Look, name: str) -> None:
        super().__init__(samples, look, name)
        self.name = name
        ends = []
        for snapshot in samples:
            with suppress(NotFoundError):
                values = np.asarray(snapshot.field(name))
                values = values[np.isfinite(values)]
                if values.size:
                    ends.append(np.percentile(values, (1, 99)))
        low, high = (min(float(e[0]) for e in ends), max(float(e[1]) for e in ends)) if ends else (0.0, 1.0)
        self.level = (low + high) / 2
        if abs(self.level) < 1e-6 * (high - low):  # zero but for rounding
            self.level = 0.0

    def words(self, snapshot: Snapshot) -> str:
        unit = snapshot.field(self.name).unit
        return f"surface {self.name} = {self.level:.4g}" + (f" {unit}" if snapshot.units.names and unit not in ("", "1") else "")

    def fill(self, scene: Scene, snapshot: Snapshot) -> None:
        field = snapshot.field(self.name)
        depth, normal, above = march(values_of(field, self.level), cell_of(field), self.low, 0.0, self.eye, scene)
        for side, colour in zip((True, False), _COLOURS):
            scene.surface(np.where(above == side, depth, -np.inf), normal, np.array(colour, np.float32))


def march(values: Array, spacing: Array, low: Array, level: float, eye: Eye, scene: Scene) -> tuple[Array, Array, Array]:
    """Follows a ray from the eye through each pixel until the field crosses a level.

    Parameters
    ----------
    values
        The field ``[x, y, z]``, with values at the middles of cells with the sides `spacing`, from `low` on.

    Returns
    -------
    depth, normal, above
        Depth in pixels, -inf without a crossing; normal in the view; whether values beyond the surface are larger.
    """
    rows, columns = scene.shape
    values = np.ascontiguousarray(values, np.float32)
    x, y = (np.arange(columns) + 0.5) / scene.scale + scene.low[0], (np.arange(rows) + 0.5) / scene.scale + scene.low[1]
    flat = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    begin, way, towards = eye.rays(flat)
    if eye.far:
        way = way[:1]  # the same direction for all rays
    begin, way = np.ascontiguousarray(((begin - low) / spacing - 0.5).T), np.ascontiguousarray((way / spacing).T)  # in cells, [3, n]
    sides = np.array(values.shape, float)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):  # where a ray enters and leaves the cell middles
        first, second = -begin / way, (sides - 1 - begin) / way
    enter, leave = np.fmax.reduce(np.fmin(first, second)), np.fmin.reduce(np.fmax(first, second))
    step = 0.7 / float(np.abs(way).max())
    near = 0.05 * float(np.nanmax(values) - np.nanmin(values))
    rays = np.flatnonzero(enter < leave)  # rays that have not ended
    found = np.full(begin.shape[1], np.nan)
    above = np.zeros(begin.shape[1], bool)
    at, origin, course = enter[rays], begin[:, rays], _of(way, rays)
    before = sample(values, origin + at * course) - level
    while rays.size:
        after_at = np.minimum(at + step, leave[rays])
        after = sample(values, origin + after_at * course) - level
        close = np.flatnonzero((np.minimum(np.abs(before), np.abs(after)) < near) & ((before < 0) == (after < 0)))
        turn, least = _turn(values, origin[:, close], _of(course, close), at[close], after_at[close], before[close], after[close], level)
        twice = ((least < 0) != (before[close] < 0)) | (np.abs(least) < 2e-3 * near)  # or by less than a pixel not
        after_at[close[twice]] = turn[twice]
        after[close[twice]] = np.copysign(np.maximum(np.abs(least[twice]), 1e-30), -before[close[twice]])
        hit = (before < 0) != (after < 0)
        if hit.any():
            a, b, fa, fb = at[hit], after_at[hit], before[hit], after[hit]
            for _ in range(3):
                middle = a + (b - a) * np.clip(fa / (fa - fb), 0.05, 0.95)
                fm = sample(values, origin[:, hit] + middle * _of(course, hit)) - level
                left = (fa < 0) != (fm < 0)
                b, fb = np.where(left, middle, b), np.where(left, fm, fb)
                a, fa = np.where(left, a, middle), np.where(left, fa, fm)
            found[rays[hit]] = a + (b - a) * np.clip(fa / np.where(fa == fb, 1, fa - fb), 0, 1)
            above[rays[hit]] = after[hit] > 0
        kept = ~hit & (after_at < leave[rays])
        rays, at, before, origin, course = rays[kept], after_at[kept], after[kept], origin[:, kept], _of(course, kept)
    there = np.flatnonzero(np.isfinite(found))
    place = begin[:, there] + found[there] * _of(way, there)
    slope = np.stack([sample(values, place + shift) - sample(values, place - shift) for shift in 0.75 * np.eye(3)[..., None]], axis=1) / spacing
    normal = np.zeros((len(found), 3), np.float32)
    seen = slope @ eye.turn.T
    seen /= np.maximum(np.linalg.norm(seen, axis=1), 1e-30)[:, None]
    normal[there] = seen * np.where((seen * towards[there]).sum(axis=1, keepdims=True) < 0, -1, 1)
    depth = np.full(len(found), -np.inf, np.float32)
    depth[there] = eye.depth(found[there]) * scene.scale
    return depth.reshape(rows, columns), normal.reshape(rows, columns, 3), above.reshape(rows, columns)


def _turn(values: Array, origin: Array, course: Array, at: Array, after_at: Array, before: Array, after: Array, level: float) -> tuple[Array, Array]:
    """Where values along a ray turn within a step, by the parabola through its ends and its middle, and the value there: near an
    edge where two sheets of a surface meet a ray may cross both of them in one step."""
    middle = sample(values, origin + (at + after_at) / 2 * course) - level
    bend = 2 * (before - 2 * middle + after)
    share = (3 * before - 4 * middle + after) / np.where(bend == 0, 1, 2 * bend)
    turn = at + np.clip(share, 0, 1) * (after_at - at)
    return turn, sample(values, origin + turn * course) - level


def _of(way: Array, rays: Array) -> Array:
    """The directions ``[3, n]`` of some rays, or the one ``[3, 1]`` that all have."""
    return way if way.shape[1] == 1 else way[:, rays]


def sample(values: Array, at: Array) -> Array:
    """Values at points ``[3, n]`` in cells, linear along each axis between the middles; beyond the outermost ones theirs."""
    strides = values.shape[1] * values.shape[2], values.shape[2], 1
    corner, parts = np.zeros(at.shape[1], np.intp), []
    for place, side, stride in zip(at, values.shape, strides):
        inside = np.clip(place, 0, side - 1)
        cell = np.minimum(inside.astype(np.intp), max(side - 2, 0))
        parts.append((inside - cell).astype(np.float32))
        corner += cell * stride
    hops = [stride if side > 1 else 0 for side, stride in zip(values.shape, strides)]
    held = [values.reshape(-1).take(corner + x + y + z) for x in (0, hops[0]) for y in (0, hops[1]) for z in (0, hops[2])]
    for part in reversed(parts):
        held = [low + (high - low) * part for low, high in zip(held[::2], held[1::2])]
    return held[0]
