"""The walls of a scenario of grains as triangles and lines in space."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from simview.hdf5 import Array
from simview.snapshot import Snapshot

_TURN = np.linspace(0, 2 * np.pi, 97)
_FACET = re.compile(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)")
Shape = tuple[Array, list[Array]]  # triangles [n, 3, 3], lines [points, 3]


def walls_of(snapshot: Snapshot) -> list[Mapping[str, Any]]:
    """The walls that the scenario names."""
    walls = snapshot.parameters.get("walls")
    return [wall for wall in walls if isinstance(wall, dict)] if isinstance(walls, list) else []


def _frame(axis: Array) -> tuple[Array, Array, Array]:
    """Three directions at right angles, the first along `axis`."""
    along = axis / np.linalg.norm(axis)
    aside = np.cross(along, np.eye(3)[int(np.argmin(np.abs(along)))])
    aside /= np.linalg.norm(aside)
    return along, aside, np.cross(along, aside)


def _strip(one: Array, other: Array) -> Array:
    """Triangles between two lines with the same number of points."""
    return np.concatenate([np.stack([one[:-1], one[1:], other[1:]], axis=1), np.stack([one[:-1], other[1:], other[:-1]], axis=1)])


def _tube(begin: Array, end: Array, radii: Sequence[float]) -> Shape:
    """A sheet of revolution between two points, with its rims."""
    _, u, v = _frame(end - begin)
    ring = np.cos(_TURN)[:, None] * u + np.sin(_TURN)[:, None] * v
    rims = [begin + radii[0] * ring, end + radii[1] * ring]
    return _strip(*rims), [rim for rim, radius in zip(rims, radii) if radius > 0]


def block(low: Array, high: Array) -> Shape:
    """The faces and edges of a block."""
    corner = np.array([[(low, high)[k >> axis & 1][axis] for axis in range(3)] for k in range(8)])
    faces = [(0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5)]
    triangles = np.array([corner[list(part)] for a, b, c, d in faces for part in ((a, b, c), (a, c, d))])
    return triangles, [corner[[a, b]] for a in range(8) for b in range(a + 1, 8) if bin(a ^ b).count("1") == 1]


def _plane(point: Array, normal: Array, low: Array, high: Array) -> Shape:
    """The part of a plane beside, below or above a block."""
    _, u, v = _frame(normal)
    corner = block(low, high)[0].reshape(-1, 3) - point
    ends = [((corner @ axis).min(), (corner @ axis).max()) for axis in (u, v)]
    a, b, c, d = (point + ends[0][i] * u + ends[1][j] * v for i, j in ((0, 0), (1, 0), (1, 1), (0, 1)))
    return np.array([[a, b, c], [a, c, d]]), [np.array([a, b, c, d, a])]


def _mesh(wall: Mapping[str, Any], snapshot: Snapshot) -> Array | None:
    """The triangles of an STL file; None where the file does not exist any more."""
    for folder in (Path(), *(parent for parent in snapshot.path.resolve().parents[1:3])):
        try:
            data = (folder / str(wall.get("path"))).read_bytes()
        except OSError:
            continue
        count = int.from_bytes(data[80:84], "little")
        if len(data) == 84 + 50 * count:
            kind = np.dtype([("normal", "<f4", 3), ("at", "<f4", (3, 3)), ("more", "<u2")])
            corners = np.frombuffer(data, kind, count, 84)["at"].astype(float)
        else:
            found = np.array(_FACET.findall(data), float)
            corners = found[: len(found) // 3 * 3].reshape(-1, 3, 3)
        scale, shift = wall.get("scale"), wall.get("shift")
        return np.asarray(corners * (1.0 if scale is None else float(scale)) + np.array(shift or (0, 0, 0), float))
    return None


def _shape(wall: Mapping[str, Any], low: Array, high: Array, snapshot: Snapshot) -> Shape | None:
    kind = str(wall.get("$type"))
    if kind == "block":
        return block(np.array(wall["low"], float), np.array(wall["high"], float))
    if kind == "stl":
        triangles = _mesh(wall, snapshot)
        return None if triangles is None else (triangles, [])
    point = np.array(wall.get("point", (0, 0, 0)), float)
    axis = np.array(wall.get("axis") or wall.get("normal") or (0, 0, 1), float)
    if kind == "plane":
        return _plane(point, axis, low, high)
    along = axis / np.linalg.norm(axis)
    if kind == "cylinder":
        reach = block(low, high)[0].reshape(-1, 3) @ along - point @ along
        return _tube(point + reach.min() * along, point + reach.max() * along, (float(wall["radius"]),) * 2)
    if kind == "cone":
        return _tube(point, point + float(wall["length"]) * along, (float(wall["radius"]), float(wall["end_radius"])))
    if kind == "ball":
        rings = [np.sin(a) * (np.cos(_TURN)[:, None] * [1, 0, 0] + np.sin(_TURN)[:, None] * [0, 1, 0]) + np.cos(a) * np.array([0, 0, 1])
                 for a in np.linspace(0, np.pi, 25)]  # fmt: skip
        rings = [point + float(wall["radius"]) * ring for ring in rings]
        return np.concatenate([_strip(one, other) for one, other in zip(rings, rings[1:])]), [rings[12]]
    return None


def shapes(snapshot: Snapshot, low: Array, high: Array) -> Iterator[Shape]:
    """Each wall in its position at the snapshot's time; endless walls within the block from `low` to `high`.

    A wall with a function for its motion is left out, and so is a mesh whose file does not exist any more.
    """
    for wall in walls_of(snapshot):
        if wall.get("motion"):
            continue
        velocity = np.array(wall.get("velocity") or (0, 0, 0), float)
        moved = velocity * snapshot.time if np.isfinite(velocity).all() else np.zeros(3)
        shape = _shape(wall, low - moved, high - moved, snapshot)
        if shape is not None:
            yield shape[0] + moved, [line + moved for line in shape[1]]


def box_of(snapshot: Snapshot) -> tuple[Array, Array, dict[str, str]] | None:
    """The corners of the box of grains or bodies, and the kind of each of its sides; None without a box."""
    box = snapshot.parameters.get("box")
    if isinstance(box, dict) and isinstance(box.get("size"), (int, float)):  # the periodic cube of bodies
        return np.zeros(3), np.full(3, float(box["size"])), {f"{axis}_{end}": "periodic" for axis in "xyz" for end in ("low", "high")}
    if not isinstance(box, dict) or not isinstance(box.get("size"), list):
        return None
    size = np.array(box["size"], float)
    low = np.array(box.get("origin") or (0, 0, 0), float)
    if len(size) != 3 or not all(math.isfinite(x) for x in (*size, *low)):
        return None
    common = str(box.get("boundary") or "periodic")
    sides = {}
    for side in (f"{axis}_{end}" for axis in "xyz" for end in ("low", "high")):
        own = box.get(side)
        sides[side] = common if own in (None, "", "as others") else str(own)
    return low, low + size, sides
