"""Stream lines in space of a vector on three axes: lit tubes with arrow heads, coloured by its size."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from simview.errors import NotFoundError
from simview.flow import parts
from simview.hdf5 import Array
from simview.look import Look, colour_bar
from simview.render import Scene
from simview.snapshot import Snapshot
from simview.volume import Space, cell_of, sample, values_of

_SEEDS, _ROOMS = 9, 10  # along a side: lines that are tried, and cells of which a line takes those that it goes through
_LONG = 1.2  # sides of the block that a line goes on for, either way
_SLOW = 1e-3  # of the greatest speed: where a line ends
_THICK = 0.0035  # radius of a tube, of the diagonal of the block


class Streams(Space):
    """Lines along a vector in space."""

    options = ("field", "axes", "at", "view", "pixels", "map")

    def __init__(self, samples: Sequence[Snapshot], look: Look, vector: str) -> None:
        self.vector = vector
        super().__init__(samples, look, next(iter(parts(samples[-1], vector).values())))
        speeds = [0.0]
        for snapshot in samples:
            with suppress(NotFoundError):
                speeds.append(float(np.nanpercentile(np.linalg.norm(self.flow(snapshot), axis=0), 99.9)))
        self.fastest = max(speed for speed in speeds if np.isfinite(speed))

    def flow(self, snapshot: Snapshot) -> Array:
        """The vector ``[3, x, y, z]``; 0 along an axis without component, and where it is not finite."""
        held = {dim: values_of(snapshot.field(name)) for dim, name in parts(snapshot, self.vector).items()}
        none = np.zeros_like(next(iter(held.values())))
        return np.asarray(np.nan_to_num(np.stack([held.get(dim, none) for dim in "xyz"]), nan=0.0, posinf=0.0, neginf=0.0))

    def words(self, snapshot: Snapshot) -> str:
        return "stream lines" if self.vector == "velocity" else f"lines along {self.vector}"

    def draw(self, axes: Any, bar: str | None = "right") -> None:
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import Normalize

        self.colours: Any = ScalarMappable(Normalize(0, self.fastest or 1.0), self.look.map or "viridis")
        field = self.first.field(next(iter(parts(self.first, self.vector).values())))
        name = "speed" if self.vector == "velocity" else f"|{self.vector}|"
        colour_bar(axes, self.colours, self.first.units.label(name, field.unit), bar, extend="max")
        super().draw(axes, bar)

    def fill(self, scene: Scene, snapshot: Snapshot) -> None:
        flow, cell = self.flow(snapshot), cell_of(snapshot.field(next(iter(parts(snapshot, self.vector).values()))))
        thick = _THICK * float(np.linalg.norm(self.high - self.low))
        at, radius, speed = [np.zeros((0, 3))], [np.zeros(0)], [np.zeros(0)]
        for line in stream_lines(flow, cell):
            fast = np.linalg.norm([sample(part, line.T) for part in flow], axis=0)
            for points, wide, values in (_tube(self.low + (line + 0.5) * cell, fast, thick), _head(self.low + (line + 0.5) * cell, fast, thick)):
                at.append(points)
                radius.append(wide)
                speed.append(values)
        seen, size, kept = self.eye.spheres(np.concatenate(at), np.concatenate(radius))
        self.solids(scene)
        scene.spheres(seen, size, self.colours.to_rgba(np.concatenate(speed)[kept])[:, :3])


def _tube(line: Array, fast: Array, thick: float) -> tuple[Array, Array, Array]:
    """Spheres ``[n, 3]`` so close along a line that they are a tube, their radii and speeds."""
    along = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1)))
    places = np.arange(0, along[-1], 0.6 * thick)
    points = np.stack([np.interp(places, along, line[:, k]) for k in range(3)], axis=1)
    return points, np.full(len(places), thick), np.interp(places, along, fast)


def _head(line: Array, fast: Array, thick: float) -> tuple[Array, Array, Array]:
    """A cone of spheres in the middle of a line, that points along it."""
    middle = len(line) // 2
    way = line[min(middle + 1, len(line) - 1)] - line[middle - 1]
    share = np.linspace(0, 1, 25)
    points = line[middle] + (10 * thick * share)[:, None] * way / max(float(np.linalg.norm(way)), 1e-300)
    return points, 4 * thick * (1 - share) + 0.1 * thick, np.full(25, fast[middle])


def stream_lines(flow: Array, cell: Array) -> list[Array]:
    """Lines along a vector, evenly spread, by Runge and Kutta's scheme of fourth order with steps of half a cell.

    Lines begin on a lattice. The longest come first, and a line that goes mostly where others are is left out.

    Parameters
    ----------
    flow
        The vector ``[3, x, y, z]`` in the middles of cells.
    cell
        The sides of a cell.

    Returns
    -------
    list
        Points ``[n, 3]`` of each line in the direction of the vector, in cells from the middle of the first one.
    """
    sides = np.array(flow.shape[1:])
    length = float((sides * cell).max())
    seeds = np.stack(np.meshgrid(*[(np.arange(_SEEDS) + 0.5) / _SEEDS * side - 0.5 for side in sides], indexing="ij")).reshape(3, -1)
    slow = _SLOW * float(np.linalg.norm(flow, axis=0).max())
    if not slow > 0:
        return []
    step = float(cell.min()) / 2
    ways = [_follow(flow, cell, seeds, sign * step, int(_LONG * length / step), slow) for sign in (-1, 1)]
    lines = [np.concatenate([back[:0:-1], ahead]) for back, ahead in zip(*ways)]
    rooms = [np.unique(np.floor((line + 0.5) / sides * _ROOMS).astype(int) @ (1, _ROOMS, _ROOMS**2)) for line in lines]
    taken: set[int] = set()
    chosen = []
    for k in sorted(range(len(lines)), key=lambda k: (-len(rooms[k]), k)):
        if len(rooms[k]) > 2 and sum(int(room) in taken for room in rooms[k]) <= 0.3 * len(rooms[k]):
            taken.update(map(int, rooms[k]))
            chosen.append(lines[k])
    return chosen


def _follow(flow: Array, cell: Array, seeds: Array, step: float, count: int, slow: float) -> list[Array]:
    """From each seed ``[3, n]`` the points of a line, so far as it stays in the block and is not at rest."""
    sides = np.array(flow.shape[1:])[:, None]

    def way(at: Array) -> tuple[Array, Array]:
        vector = np.stack([sample(part, at) for part in flow]).astype(float)
        size = np.linalg.norm(vector, axis=0)
        return step * vector / np.maximum(size, 1e-300) / cell[:, None], size

    at, points, until = seeds, [seeds], np.ones(seeds.shape[1], int)
    going = np.ones(seeds.shape[1], bool)
    for _ in range(count):
        first, size = way(at)
        second = way(at + first / 2)[0]
        third = way(at + second / 2)[0]
        fourth = way(at + third)[0]
        there = at + (first + 2 * second + 2 * third + fourth) / 6
        going &= (size > slow) & (there > -0.5).all(axis=0) & (there < sides - 0.5).all(axis=0)
        if not going.any():
            break
        at = np.where(going, there, at)
        points.append(at)
        until += going
    whole = np.stack(points)  # [point, 3, line]
    return [whole[: until[k], :, k] for k in range(seeds.shape[1])]
