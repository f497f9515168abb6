"""Surfaces of equal value in a field on three axes, lit, seen from outside."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from simview.errors import NotFoundError
from simview.hdf5 import Array
from simview.look import Look, title
from simview.render import Eye, Scene
from simview.snapshot import Snapshot
from simview.solids import VIEW, bare, scale_bar
from simview.style import set_title
from simview.walls import block

_MOST = 400  # pixels along a side: each is a ray
_EDGE, _COLOURS = (0.25, 0.25, 0.28), ((0.93, 0.55, 0.18), (0.22, 0.56, 0.78))  # towards larger values, and towards smaller ones


def has_surface(snapshot: Snapshot, name: str) -> bool:
    """Whether a field has three axes, none of so few cells that a surface in it would say nothing."""
    shape = snapshot.field(name).shape
    return len(shape) == 3 and min(shape) > 7


class Volume:
    """The surface where a field is halfway between its least and its greatest value, a hundredth at either end left out."""

    options = ("field", "axes", "at", "view", "pixels")

    def __init__(self, samples: Sequence[Snapshot], look: Look, name: str) -> None:
        self.name, self.look, self.first = name, look, samples[-1]
        ends = []
        for snapshot in samples:
            with suppress(NotFoundError):
                values = np.asarray(snapshot.field(name))
                values = values[np.isfinite(values)]
                if values.size:
                    ends.append(np.percentile(values, (1, 99)))
        low, high = (min(float(e[0]) for e in ends), max(float(e[1]) for e in ends)) if ends else (0.0, 1.0)
        self.level = (low + high) / 2
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
        bare(axes, self.frame_low, self.frame_high)
        extent = (self.frame_low[0], self.frame_high[0], self.frame_low[1], self.frame_high[1])
        self.artist = axes.imshow(np.zeros((2, 2, 4), np.uint8), origin="lower", extent=extent, interpolation="antialiased", zorder=3)
        scale_bar(axes, self.first, self.eye)

    def show(self, snapshot: Snapshot) -> None:
        field = snapshot.field(self.name)
        values = np.asarray(field, np.float32).transpose([field.dims.index(dim) for dim in "xyz"])
        scene = Scene(self.frame_low.tolist(), self.frame_high.tolist(), min(self.look.pixels, _MOST))
        spacing = dict(zip(field.dims, field.grid.spacing))
        depth, normal, above = march(values, np.array([spacing[dim] for dim in "xyz"]), self.low, self.level, self.eye, scene)
        for side, colour in zip((True, False), _COLOURS):
            scene.surface(np.where(above == side, depth, -np.inf), normal, np.array(colour, np.float32))
        for edge in block(self.low, self.high)[1]:
            scene.line(self.eye.see(edge), _EDGE, 1.0, 0.0)
        self.artist.set_data(scene.image())
        unit = f" {field.unit}" if snapshot.units.names and field.unit not in ("", "1") else ""
        set_title(self.axes, title(snapshot, f"surface {self.name} = {self.level:.4g}{unit}"))


def march(values: Array, spacing: Array, low: Array, level: float, eye: Eye, scene: Scene) -> tuple[Array, Array, Array]:
    """Follows a ray from the eye through each pixel until the field crosses a level.

    Parameters
    ----------
    values
        The field ``[x, y, z]``, whose values stand in the middles of cells of the sides `spacing` from `low` on.

    Returns
    -------
    depth, normal, above
        In pixels, -inf where there is no crossing; in the view's directions; whether values beyond the surface are larger.
    """
    rows, columns = scene.shape
    sides = np.array(values.shape, float)
    x, y = (np.arange(columns) + 0.5) / scene.scale + scene.low[0], (np.arange(rows) + 0.5) / scene.scale + scene.low[1]
    flat = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    begin, way, towards = eye.rays(flat)
    begin, way = (begin - low) / spacing - 0.5, way / spacing  # in cells; away from the eye, for a unit of depth
    with np.errstate(divide="ignore", invalid="ignore"):  # where a ray enters the block of cell middles, and leaves it
        ends = np.sort(np.stack([(0 - begin) / way, (sides - 1 - begin) / way]), axis=0)
    enter, leave = np.nanmax(ends[0], axis=1), np.nanmin(ends[1], axis=1)
    step = 0.7 / float(np.abs(way).max())
    going = np.flatnonzero(enter < leave)
    found = np.full(len(begin), np.nan)
    above = np.zeros(len(begin), bool)
    at = enter[going]
    before = _sample(values, begin[going] + at[:, None] * way[going]) - level
    while going.size:
        after_at = np.minimum(at + step, leave[going])
        after = _sample(values, begin[going] + after_at[:, None] * way[going]) - level
        hit = (before < 0) != (after < 0)
        if hit.any():
            a, b, fa, fb = at[hit].copy(), after_at[hit].copy(), before[hit].copy(), after[hit].copy()
            for _ in range(3):
                middle = a + (b - a) * np.clip(fa / (fa - fb), 0.05, 0.95)
                fm = _sample(values, begin[going[hit]] + middle[:, None] * way[going[hit]]) - level
                left = (fa < 0) != (fm < 0)
                b, fb = np.where(left, middle, b), np.where(left, fm, fb)
                a, fa = np.where(left, a, middle), np.where(left, fa, fm)
            found[going[hit]] = a + (b - a) * np.clip(fa / np.where(fa == fb, 1, fa - fb), 0, 1)
            above[going[hit]] = after[hit] > 0
        kept = ~hit & (after_at < leave[going])
        going, at, before = going[kept], after_at[kept], after[kept]
    there = np.flatnonzero(np.isfinite(found))
    place = begin[there] + found[there, None] * way[there]
    slope = np.stack([_sample(values, place + shift) - _sample(values, place - shift) for shift in 0.75 * np.eye(3)], axis=1) / spacing
    normal = np.zeros((len(begin), 3), np.float32)
    seen = slope @ eye.turn.T
    seen /= np.maximum(np.linalg.norm(seen, axis=1), 1e-30)[:, None]
    normal[there] = seen * np.where((seen * towards[there]).sum(axis=1, keepdims=True) < 0, -1, 1)
    depth = np.full(len(begin), -np.inf, np.float32)
    depth[there] = eye.depth(found[there]) * scene.scale
    return depth.reshape(rows, columns), normal.reshape(rows, columns, 3), above.reshape(rows, columns)


def _sample(values: Array, at: Array) -> Array:
    """Values between the middles of cells, linear along each axis; beyond the outermost ones theirs."""
    last = np.array(values.shape) - 1
    at = np.clip(at, 0, last)
    cell = np.minimum(at.astype(np.intp), np.maximum(last - 1, 0))
    part = at - cell
    flat, out = values.reshape(-1), np.zeros(len(at))
    strides = np.array([values.shape[1] * values.shape[2], values.shape[2], 1])
    for corner in range(8):
        bits = np.array([corner >> k & 1 for k in range(3)])
        weight = np.prod(np.where(bits, part, 1 - part), axis=1)
        out += weight * flat[(np.minimum(cell + bits, last)) @ strides]
    return out
