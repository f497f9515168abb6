"""Grains in space: lit spheres of their true size, coloured by speed, with the walls around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from simview.bodies import Particles
from simview.errors import UsageError
from simview.hdf5 import Array
from simview.look import Look, chosen_species, colour_bar, title, written
from simview.render import Eye, Scene
from simview.snapshot import Snapshot
from simview.style import set_title
from simview.walls import block, box_of, shapes

VIEW = -66.0, 18.0  # azimuth and elevation of the eye, degrees
_WALL, _EDGE = (0.95, 0.95, 0.97), (0.25, 0.25, 0.28)


def scale_bar(axes: Any, snapshot: Snapshot, eye: Eye) -> None:
    """A scale bar and the axes' directions, below a picture in space; in perspective the scale is of the middle."""
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    wide, tall = right - left, top - bottom
    most = max(wide, tall) / 5
    power = 10.0 ** np.floor(np.log10(most))
    length = power * max(k for k in (1, 2, 5) if k * power <= most * 1.0001)
    unit = f" {snapshot.units.text((1,))}" if snapshot.units.names else ""
    below = bottom - 0.05 * max(wide, tall)
    axes.plot([left, left + length], [below, below], color="#333333", lw=2, solid_capstyle="butt", clip_on=False)
    axes.annotate(f"{length:g}{unit}" + ("" if eye.far else " in the middle"), (left + length / 2, below), (0, -3), textcoords="offset points", ha="center", va="top", fontsize=7,
                  annotation_clip=False)  # fmt: skip
    arm = 0.075 * max(wide, tall)
    root = np.array([right - 2.2 * arm, below - (0.06 * wide if tall < 0.6 * wide else 0)])  # clear of a flat picture
    for name, way in zip("xyz", eye.turn[:2].T):
        size = float(np.hypot(*way))
        if size < 0.05:
            continue
        tip = root + arm * way
        axes.annotate("", tip, root, arrowprops={"arrowstyle": "-|>", "lw": 0.8, "color": "#333333", "shrinkA": 0, "shrinkB": 0, "mutation_scale": 6},
                      annotation_clip=False)  # fmt: skip
        axes.annotate(name, root + (arm * size + 0.03 * max(wide, tall)) * way / size, fontsize=7, ha="center", va="center", annotation_clip=False)


def bare(axes: Any, low: Sequence[float], high: Sequence[float]) -> None:
    """Axes without frame and ticks, for a picture in space."""
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal", xticks=[], yticks=[])
    for side in axes.spines.values():
        side.set_visible(False)


class Solids(Particles):
    """All grains as lit spheres, from above and from the side; in parallel projection, or in perspective if chosen."""

    options: tuple[str, ...] = ("species", "axes", "size", "map", "pixels", "view", "most")
    words = "grain", "grains"
    tail = 0.2  # percent of the grains at either end of each axis that do not set the frame

    def __init__(self, samples: Sequence[Snapshot], look: Look) -> None:
        self.first, self.look = samples[-1], look
        self.species = chosen_species(self.first, look)
        held = [self.arrays(snapshot) for snapshot in samples]
        at = np.concatenate([part for part, _, _ in held], axis=0)
        radius = np.concatenate([part for _, part, _ in held])
        speeds = np.concatenate([part for _, _, part in held])
        self.fastest = float(np.percentile(speeds, 99)) if speeds.size else 1.0
        self.box = box_of(self.first)
        if at.size:  # a few grains that flew away do not set the frame
            most = float(radius.max())
            self.low, self.high = np.percentile(at, self.tail, axis=0) - most, np.percentile(at, 100 - self.tail, axis=0) + most
        else:
            self.low, self.high = (self.box[0], self.box[1]) if self.box else (np.zeros(3), np.ones(3))
        if self.box:
            for axis, name in enumerate("xyz"):
                closed = [self.box[2][f"{name}_{end}"] in ("wall", "periodic") for end in ("low", "high")]
                self.low[axis] = self.box[0][axis] if closed[0] else max(self.low[axis], min(self.box[0][axis], np.median(at[:, axis]) if at.size else 0))
                self.high[axis] = self.box[1][axis] if closed[1] else self.high[axis]
        points = [block(self.low, self.high)[0].reshape(-1, 3)]
        for triangles, _ in shapes(self.first, self.low, self.high):
            corners = triangles.reshape(-1, 3)
            spans = np.ptp(corners, axis=0) <= 4 * np.ptp(points[0], axis=0).max()
            if spans.all():
                points.append(corners)
        self.eye = Eye(look.view or VIEW, self.low, self.high)
        seen = self.eye.see(np.concatenate(points))
        seen = seen[np.isfinite(seen).all(axis=1)]
        low, high = seen[:, :2].min(axis=0), seen[:, :2].max(axis=0)
        margin = 0.02 * float((high - low).max())
        if look.size is not None:
            middle = (low + high) / 2
            low, high, margin = middle - look.size, middle + look.size, 0.0
            if look.size < 1e-9 * float(np.abs(middle).max()):
                raise UsageError(f"size: {look.size:g} is too small for a picture about ({middle[0]:.6g}, {middle[1]:.6g})")
        self.frame_low, self.frame_high = low - margin, high + margin

    def arrays(self, snapshot: Snapshot) -> tuple[Array, Array, Array]:
        """Positions ``[n, 3]``, radii and speeds of the grains for which all are finite."""
        known = [name for name in self.species if name in snapshot.species]
        parts = [np.stack(arrays).astype(float) for _, arrays in snapshot.particles(known).each("x", "y", "z", "radius", "vx", "vy", "vz", every=self.every(snapshot))] if known else []
        columns = np.concatenate(parts, axis=1) if parts else np.zeros((7, 0))
        columns = columns[:, np.isfinite(columns).all(axis=0)]
        return columns[:3].T, columns[3], np.sqrt((columns[4:] ** 2).sum(axis=0))

    def key(self, axes: Any, bar: str | None) -> None:
        """Draws the key of the colours; sets `colours`."""
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import Normalize

        self.colours: Any = ScalarMappable(Normalize(0, self.fastest or 1.0), self.look.map or "viridis")
        colour_bar(axes, self.colours, self.first.units.label("speed", self.first.units.text((1, 0, -1))), bar, extend="max")

    def draw(self, axes: Any, bar: str | None = "right") -> None:
        self.axes = axes
        self.shown: tuple[object, ...] | None = None
        self.key(axes, bar)
        bare(axes, self.frame_low, self.frame_high)
        extent = (self.frame_low[0], self.frame_high[0], self.frame_low[1], self.frame_high[1])
        self.artist = axes.imshow(np.zeros((2, 2, 4), np.uint8), origin="lower", extent=extent, interpolation="antialiased", zorder=3)
        scale_bar(axes, self.first, self.eye)

    def scene(self, snapshot: Snapshot) -> Scene:
        """The grains and walls of a snapshot."""
        at, radius, speed = self.arrays(snapshot)
        scene = Scene(self.frame_low.tolist(), self.frame_high.tolist(), self.look.pixels)
        seen, size, kept = self.eye.spheres(at, radius)
        scene.spheres(seen, size, self.colours.to_rgba(speed[kept])[:, :3])
        for triangles, lines in shapes(snapshot, self.low, self.high):
            corners = self.eye.see(triangles)
            scene.shell(corners[np.isfinite(corners).all(axis=(1, 2))], _WALL)
            for line in lines:
                seen = self.eye.see(line)
                scene.line(seen[np.isfinite(seen).all(axis=1)], _EDGE, 1.0, 0.25)
        if self.box and all(kind in ("wall", "periodic") for kind in self.box[2].values()):
            for edge in block(self.box[0], self.box[1])[1]:
                scene.line(self.eye.see(edge), _EDGE, 1.0, 0.0)
        return scene

    def show(self, snapshot: Snapshot) -> None:
        file = written(snapshot)
        if file is None or file != self.shown:  # the layout shows a snapshot several times
            self.artist.set_data(self.scene(snapshot).image())
            self.shown = file
        words = self.numbers(snapshot, self.words) if snapshot.species else f"0 {self.words[1]}"
        set_title(self.axes, title(snapshot, words))
