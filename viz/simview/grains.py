"""Pictures of grains: disks of their true size, coloured by speed, with the outlines of walls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from simview.bodies import Particles
from simview.hdf5 import Array
from simview.look import Look, colour_bar, title
from simview.snapshot import Snapshot
from simview.style import MAPS, set_title

MOST = 1200  # most disks in a picture
SEEN = 3000  # grains up to which all are drawn; with more a cut through the middle is shown


class Grains(Particles):
    """Grains from the side, nearer grains in front.

    With many grains, or with a gas that fills its box, only grains just behind the plane through the middle are drawn.
    """

    options = (*Particles.options, "map")

    def __init__(self, samples: Sequence[Snapshot], look: Look) -> None:
        super().__init__(samples, replace(look, size=look.size or 1.0))
        (self.depth,) = set("xyz") - set(self.plane)
        self.sign = 1 if self.plane in ("xy", "yz", "zx") else -1
        held = [self.arrays(snapshot) for snapshot in samples]
        low = np.min([(at - r).min(axis=1) for at, r, _ in held if r.size] or [[0, 0, 0]], axis=0)
        high = np.max([(at + r).max(axis=1) for at, r, _ in held if r.size] or [[1, 1, 1]], axis=0)
        self.cut = max(r.size for _, r, _ in held) > SEEN or self.hides(samples[-1], held[-1][1], (high - low)[:2])
        self.thickness = 3 * max(float(r.max()) for _, r, _ in held if r.size) if self.cut else 0.0
        if not self.cut:  # a drum with the grains inside sets the frame
            for circle in outlines(self.walls(), self.plane, 0.0):
                if np.ptp(circle, axis=1).min() > 0 and np.ptp(circle, axis=1).max() < 4 * (high - low)[:2].max():
                    low[:2], high[:2] = np.minimum(low[:2], circle.min(axis=1)), np.maximum(high[:2], circle.max(axis=1))
        middle, reach = (low + high) / 2, (high - low) / 2
        self.centre = float(middle[0]), float(middle[1])
        self.half = look.size or 1.03 * float(reach[:2].max())
        self.level = float(middle[2])
        if self.cut and look.size is None:
            at, r, _ = held[-1]
            shown = int(self.behind(at).sum())
            self.half *= min(1.0, (MOST / max(shown, 1)) ** 0.5)
        speeds = np.concatenate([speed for _, _, speed in held])
        self.fastest = float(np.percentile(speeds, 99)) if speeds.size else 1.0

    def arrays(self, snapshot: Snapshot) -> tuple[Array, Array, Array]:
        """Positions ``[right, up, depth]``, radii and speeds of the grains for which all are finite."""
        names = [*self.plane, self.depth, "radius", "vx", "vy", "vz"]
        known = [name for name in self.species if name in snapshot.species]
        parts = [arrays for _, arrays in snapshot.particles(known).each(*names)] if known else []
        if not parts:
            return np.zeros((3, 0)), np.zeros(0), np.zeros(0)
        columns = np.concatenate([np.stack(arrays).astype(float) for arrays in parts], axis=1)
        columns = columns[:, np.isfinite(columns).all(axis=0)]
        return columns[:3], columns[3], np.sqrt((columns[4:] ** 2).sum(axis=0))

    def hides(self, snapshot: Snapshot, radius: Array, sides: Array) -> bool:
        """Whether grains without gravity hide each other: the sum of their disks is larger than the picture."""
        gravity = snapshot.parameters.get("gravity")
        free = gravity is None or (isinstance(gravity, list) and not any(gravity))
        return free and float(np.pi * (radius**2).sum()) > float(sides[0] * sides[1])

    def walls(self) -> list[Any]:
        walls = self.first.parameters.get("walls")
        return walls if isinstance(walls, list) else []

    def behind(self, at: Array) -> Array:
        """Whether a grain's centre is behind the plane through the middle, by at most three of the largest radii."""
        away = self.towards(at) - (self.level if self.sign > 0 else -self.level)
        return np.asarray((away <= 0) & (away >= -self.thickness))

    def towards(self, at: Array) -> Array:
        """Coordinate towards the eye; right, up and towards the eye make a right-handed system."""
        return np.asarray(self.sign * at[2])

    def disks(self, snapshot: Snapshot) -> tuple[Array, Array, Array]:
        """Positions ``[n, 2]``, radii and speeds of the disks, the farthest first."""
        at, radius, speed = self.arrays(snapshot)
        if self.cut:
            near = self.behind(at) & (np.abs(at[0] - self.centre[0]) < self.half + radius)
            near &= np.abs(at[1] - self.centre[1]) < self.half + radius
            at, radius, speed = at[:, near], radius[near], speed[near]
        order = np.argsort(self.towards(at), kind="stable")
        return at[:2, order].T, radius[order], speed[order]

    def draw(self, axes: Any, bar: str | None = "right") -> None:
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import Normalize

        self.axes, self.artist = axes, None
        self.colours = ScalarMappable(Normalize(0, self.fastest or 1.0), self.look.map or MAPS[0])
        unit = self.first.units.text((1, 0, -1))
        colour_bar(axes, self.colours, self.first.units.label("speed", unit), bar, extend="max")
        self.frame(axes)
        for line in outlines(self.walls(), self.plane, 4 * self.half):
            axes.plot(*line, color="#444444", lw=1.0, zorder=4)

    def show(self, snapshot: Snapshot) -> None:
        from matplotlib.collections import EllipseCollection

        if self.artist is not None:
            self.artist.remove()
        places, radius, speed = self.disks(snapshot)
        thin = 0.3 if len(radius) < SEEN else 0.1
        self.artist = self.axes.add_collection(
            EllipseCollection(
                2 * radius, 2 * radius, np.zeros(len(radius)), units="xy", offsets=places, zorder=3,
                offset_transform=self.axes.transData, facecolors=self.colours.to_rgba(speed), edgecolors="white",
                linewidths=thin,
            ),
            autolim=False,
        )  # fmt: skip
        words = self.numbers(snapshot, ("grain", "grains")) if snapshot.species else "0 grains"
        if self.cut:
            low, high = sorted([self.level, self.level - self.sign * self.thickness])
            words = f"{len(radius)} of {words}, at {low:.3g} < {self.depth} < {high:.3g}"
        set_title(self.axes, title(snapshot, words))


def outlines(walls: Sequence[Mapping[str, Any]], plane: str, far: float) -> Iterator[Array]:
    """Lines ``[2, points]`` where the picture's plane through a wall's point cuts planes, cones, cylinders and balls.

    Walls that are tilted, move or are made of triangles are left out.
    """
    right, up = ("xyz".index(axis) for axis in plane)
    depth = 3 - right - up
    circle = np.linspace(0, 2 * np.pi, 181)
    for wall in walls:
        kind = str(wall.get("$type"))
        if "point" not in wall or any(wall.get("velocity") or ()):
            continue
        point = np.array(wall["point"], float)
        at = point[[right, up]][:, None]
        along = np.array(wall.get("axis") or wall.get("normal") or (0, 0, 0), float)
        length = float(np.linalg.norm(along))
        if kind == "ball" or (kind == "cylinder" and length > 0 and abs(along[depth]) == length):
            yield at + float(wall["radius"]) * np.stack([np.cos(circle), np.sin(circle)])
        if length == 0 or along[depth] != 0:
            continue
        flat = along[[right, up]][:, None] / length
        aside = np.array([-flat[1], flat[0]])
        if kind == "plane":
            yield at + aside * np.array([-far, far])
        for side in (-1, 1):
            if kind == "cylinder":
                yield at + side * float(wall["radius"]) * aside + flat * np.array([-far, far])
            if kind == "cone":
                ends = np.array([wall["radius"], wall["end_radius"]], float)
                yield at + side * aside * ends + flat * np.array([0.0, float(wall["length"])])
