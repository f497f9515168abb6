"""A small renderer: lit spheres, surfaces and lines, with hidden parts hidden. Always the same pixels.

A scene is drawn at twice its size and averaged. Coordinates are those of the view: right, up, and towards the eye.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simview.hdf5 import Array

_FINE = 2  # drawn pixels along a side of a shown pixel
LIGHT = np.array([-0.45, 0.65, 0.75]) / np.linalg.norm([-0.45, 0.65, 0.75])
_GLANCE = (LIGHT + [0, 0, 1]) / np.linalg.norm(LIGHT + [0, 0, 1])  # halfway between light and eye
_CHUNK = 1 << 20  # pixels of spheres that are drawn at a time
_RING = np.array([[np.cos(a), np.sin(a)] for a in np.linspace(0, 2 * np.pi, 12, endpoint=False)])


def view(azimuth: float, elevation: float) -> Array:
    """Rows: the directions right, up and towards an eye at these angles in degrees; z is up."""
    a, e = np.radians([azimuth, elevation])
    eye = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
    right = np.array([-np.sin(a), np.cos(a), 0.0])
    return np.stack([right, np.cross(eye, right), eye])


class Eye:
    """The eye that sees a block of space: from far away, in parallel projection, or from near, in perspective.

    Perspective is a projective map of space (right, up and depth alike, as ``s = d / (d - z)`` at the depth z). Lines
    stay lines, planes stay planes, and nearer points stay nearer, so that a `Scene` needs no perspective. The plane
    through the middle of the block keeps its scale.

    Parameters
    ----------
    angles
        Azimuth and elevation in degrees; for perspective also the distance from the middle in diagonals of the block.
    low, high
        Two corners of the block.
    """

    def __init__(self, angles: Sequence[float], low: Array, high: Array) -> None:
        self.turn = view(angles[0], angles[1])
        self.middle = (np.asarray(low, float) + high) / 2 @ self.turn.T
        self.distance = float(angles[2] * np.linalg.norm(np.asarray(high, float) - low)) if len(angles) > 2 else np.inf
        self.far = not self.distance > 0 or np.isinf(self.distance)

    def see(self, points: Array) -> Array:
        """Points ``[..., 3]`` in the view; NaN where they are behind the eye or too near to it."""
        seen = points @ self.turn.T
        return seen if self.far else np.asarray(self.middle + (seen - self.middle) * self._growth(seen)[..., None])

    def spheres(self, at: Array, radius: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Positions and radii of spheres in the view, and which are before the eye; perspective leaves them spheres."""
        seen = self.see(at)
        kept = np.asarray(np.isfinite(seen).all(axis=-1))
        return seen[kept], (radius if self.far else radius * self._growth(at @ self.turn.T))[kept], kept

    def _growth(self, seen: Array) -> Array:
        away = self.distance - (seen[..., 2] - self.middle[2])
        return np.where(away > 0.1 * self.distance, self.distance / np.where(away > 0, away, 1), np.nan)

    def rays(self, flat: Array) -> tuple[Array, Array, Array]:
        """Rays through points ``[n, 2]`` of the view.

        Returns points and directions ``[n, 3]`` in space, for a unit of depth away from the eye, and directions towards
        the eye in the view.
        """
        if self.far:
            begin = flat @ self.turn[:2]
            way = np.broadcast_to(-self.turn[2], begin.shape)
            return begin, way, np.broadcast_to([0.0, 0.0, 1.0], begin.shape)
        towards = np.column_stack([(self.middle[:2] - flat) / self.distance, np.ones(len(flat))])
        begin = np.column_stack([flat, np.full(len(flat), self.middle[2])]) @ self.turn
        return begin, -towards @ self.turn, towards

    def depth(self, along: Array) -> Array:
        """Depth in the view of the point at distance `along` on a ray."""
        return -along if self.far else np.asarray(self.middle[2] - along * self.distance / (self.distance + along))

    def along(self, depth: Array) -> Array:
        """The distance on a ray at which a point has this depth in the view."""
        if self.far:
            return -depth
        away = self.middle[2] - depth
        return np.asarray(away * self.distance / (self.distance - away))


class Mist(NamedTuple):
    """What a volume puts before the objects: colour times opacity ``[rows, columns, 3]``, opacity, and the depth where it begins."""

    colour: Array
    alpha: Array
    depth: Array


class Scene:
    """The content of a rectangle of the view.

    Parameters
    ----------
    low, high
        The lower left and the upper right corner.
    pixels
        Of the picture's longer side.
    """

    def __init__(self, low: Sequence[float], high: Sequence[float], pixels: int) -> None:
        wide, tall = (float(b) - float(a) for a, b in zip(low, high))
        self.scale = _FINE * pixels / max(wide, tall)  # drawn pixels a unit of length
        self.low = np.array(low, float)
        self.shape = tuple(_FINE * max(1, round(side * self.scale / _FINE)) for side in (tall, wide))
        self.depth = np.full(self.shape, -np.inf, np.float32)  # in pixels, towards the eye
        self.normal = np.zeros((*self.shape, 3), np.float32)
        self.colour = np.zeros((*self.shape, 3), np.float32)
        self.gloss = np.zeros(self.shape, np.float32)
        self.glass: list[tuple[Array, Array, float]] = []  # depth, colour and opacity of transparent surfaces
        self.strokes: list[tuple[Array, Array, float, Array]] = []
        self.mist: Mist | None = None  # before all objects and behind the lines that are nearer than its depth

    def middles(self) -> Array:
        """The middles ``[n, 2]`` of all shown pixels in the view, row by row."""
        rows, columns = (side // _FINE for side in self.shape)
        x, y = (_FINE * (np.arange(count) + 0.5) / self.scale + low for count, low in zip((columns, rows), self.low))
        return np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)

    def nearest(self) -> Array:
        """The depth of the nearest object in each shown pixel; -inf without one."""
        rows, columns = (side // _FINE for side in self.shape)
        return np.asarray(self.depth.reshape(rows, _FINE, columns, _FINE).max(axis=(1, 3)))

    def widen(self, values: Array) -> Array:
        """Values of all shown pixels, in the order of `middles`, for each drawn pixel."""
        rows, columns = (side // _FINE for side in self.shape)
        return values.reshape(rows, columns, *values.shape[1:]).repeat(_FINE, axis=0).repeat(_FINE, axis=1)

    def place(self, points: Array) -> Array:
        """Points ``[n, 3]`` in pixels."""
        return np.asarray((points - np.append(self.low, 0.0)) * self.scale)

    def spheres(self, at: Array, radius: Array, colour: Array) -> None:
        """Draws spheres at ``[n, 3]`` with radii ``[n]`` and colours ``[n, 3]``."""
        at, size = self.place(at), radius * self.scale
        seen = ((at[:, :2] + size[:, None] > 0) & (at[:, :2] - size[:, None] < self.shape[::-1])).all(axis=1)
        at, size, colour = at[seen], np.maximum(size[seen], 0.6), colour[seen]
        key = np.full(self.shape[0] * self.shape[1], -1, np.int64)  # depth, then number of the sphere
        if len(size) == 0:
            return
        far = float((at[:, 2] - size).min())
        step = max(float((at[:, 2] + size).max()) - far, 1e-3) / (1 << 30)
        reach = np.ceil(size).astype(int)
        for r in np.unique(reach):
            which = np.flatnonzero(reach == r)
            offset = np.stack(np.meshgrid(*[np.arange(-r, r + 1)] * 2, indexing="ij"), -1).reshape(-1, 2)  # row, column
            for begin in range(0, len(which), max(1, _CHUNK // len(offset))):
                part = which[begin : begin + max(1, _CHUNK // len(offset))]
                cell = np.floor(at[part, 1::-1]).astype(int)[:, None] + offset
                away = cell + 0.5 - at[part, None, 1::-1]
                rise = size[part, None] ** 2 - (away**2).sum(axis=2)
                kept = (rise > 0) & (cell >= 0).all(axis=2) & (cell < self.shape).all(axis=2)
                depth = at[part, None, 2] + np.sqrt(np.maximum(rise, 0.0))
                value = (((depth - far) / step).astype(np.int64) << 32) | part[:, None]
                np.maximum.at(key, (cell[..., 0] * self.shape[1] + cell[..., 1])[kept], value[kept])
        row, column = np.divmod(np.flatnonzero(key >= 0), self.shape[1])
        which = key[key >= 0] & 0xFFFFFFFF
        x, y = (at[which, k] for k in (0, 1))
        flat = np.stack([column + 0.5 - x, row + 0.5 - y], axis=1)
        rise = np.sqrt(np.maximum(size[which] ** 2 - (flat**2).sum(axis=1), 0.0))
        depth = at[which, 2] + rise
        nearer = depth > self.depth[row, column]
        row, column, which = row[nearer], column[nearer], which[nearer]
        self.depth[row, column] = depth[nearer]
        self.normal[row, column] = np.column_stack([flat, rise])[nearer] / size[which, None]
        self.colour[row, column] = colour[which]
        self.gloss[row, column] = 0.35

    def surface(self, depth: Array, normal: Array, colour: Array) -> None:
        """Draws a surface by its depth ``[rows, columns]`` in drawn pixels, -inf where there is none."""
        nearer = depth > self.depth
        self.depth[nearer], self.normal[nearer], self.colour[nearer] = depth[nearer], normal[nearer], colour
        self.gloss[nearer] = 0.25

    def shell(self, triangles: Array, colour: Sequence[float], opacity: float = 0.1) -> None:
        """Draws triangles ``[n, 3, 3]`` of walls: the farthest at a pixel is a backdrop, the nearest is transparent."""
        near, far = np.full(self.shape, -np.inf, np.float32), np.full(self.shape, np.inf, np.float32)
        facing = np.zeros((2, *self.shape, 3), np.float32)
        for corners in self.place(triangles.reshape(-1, 3)).reshape(-1, 3, 3):
            across = np.cross(corners[1] - corners[0], corners[2] - corners[0])
            if abs(across[2]) < 1e-9 * max(1.0, float(np.abs(across).max())):
                continue
            low = np.maximum(np.floor(corners[:, :2].min(axis=0)).astype(int), 0)
            high = np.minimum(np.ceil(corners[:, :2].max(axis=0)).astype(int) + 1, self.shape[::-1])
            if (low >= high).any():
                continue
            x, y = np.meshgrid(np.arange(low[0], high[0]) + 0.5, np.arange(low[1], high[1]) + 0.5)
            inside = np.ones(x.shape, bool)
            for k in range(3):
                (ax, ay, _), (bx, by, _) = corners[k], corners[(k + 1) % 3]
                inside &= ((bx - ax) * (y - ay) - (by - ay) * (x - ax)) * np.sign(across[2]) >= -1e-9
            depth = corners[0, 2] - ((x - corners[0, 0]) * across[0] + (y - corners[0, 1]) * across[1]) / across[2]
            unit = across / np.linalg.norm(across) * np.sign(across[2])
            part = slice(low[1], high[1]), slice(low[0], high[0])
            for layer, held, nearer in ((0, near, inside & (depth > near[part])), (1, far, inside & (depth < far[part]))):
                held[part][nearer] = depth[nearer]
                facing[layer][part][nearer] = unit
        tint = np.array(colour, np.float32)
        drawn = np.isfinite(self.depth)
        back = np.isfinite(far) & (~drawn | ((self.gloss == 0) & (far < self.depth)))  # before a sphere: transparent
        # The backdrop is matt and dim, so that objects in front of it stand out.
        self.depth[back], self.normal[back], self.colour[back], self.gloss[back] = far[back], facing[1][back], tint, 0.0
        self.glass.append((near, tint * (0.6 + 0.4 * facing[0][..., 2:]), opacity))

    def line(self, points: Array, colour: Sequence[float], width: float = 1.0, through: float = 0.15) -> None:
        """Draws a line ``[n, 3]`` of `width` shown pixels; behind other objects it shows with the opacity `through`."""
        at = self.place(points)
        pieces = [at[i] + (at[i + 1] - at[i]) * np.linspace(0, 1, 2 + int(np.hypot(*(at[i + 1] - at[i])[:2])))[:, None] for i in range(len(at) - 1)]
        if pieces:
            self.strokes.append((np.concatenate(pieces), np.array(colour, np.float32), width, np.array(through)))

    def image(self) -> NDArray[np.uint8]:
        """The picture ``[row, column, 4]``, the first row at the bottom; transparent where it is empty."""
        held = np.isfinite(self.depth)
        bright = 0.38 + 0.62 * np.clip(self.normal @ LIGHT.astype(np.float32), 0, 1)
        free = self._open()
        bright *= np.where(self.gloss > 0, free, 0.65 + 0.35 * free)  # walls stay bright in their hollows
        shine = self.gloss * np.clip(self.normal @ _GLANCE.astype(np.float32), 0, 1) ** 40
        colour = np.clip(self.colour * bright[..., None] + shine[..., None], 0, 1)
        alpha = held.astype(np.float32)
        for depth, tint, opacity in self.glass:
            before = np.isfinite(depth) & (depth > self.depth + 0.5)
            share = np.where(before, np.float32(opacity), np.float32(0))
            whole = share + alpha * (1 - share)
            colour = np.where(before[..., None], (tint * share[..., None] + colour * (alpha * (1 - share))[..., None]) / np.maximum(whole, 1e-6)[..., None], colour)
            alpha = whole
        self._strokes(colour, alpha, before=False)
        if self.mist is not None:
            whole = self.mist.alpha + alpha * (1 - self.mist.alpha)
            behind = (alpha * (1 - self.mist.alpha))[..., None]
            colour, alpha = (self.mist.colour + colour * behind) / np.maximum(whole, 1e-6)[..., None], whole
            self._strokes(colour, alpha, before=True)
        mixed = np.concatenate([colour * alpha[..., None], alpha[..., None]], axis=2)
        rows, columns = (side // _FINE for side in self.shape)
        mixed = mixed.reshape(rows, _FINE, columns, _FINE, 4).mean(axis=(1, 3))
        mixed[..., :3] /= np.maximum(mixed[..., 3:], 1e-6)
        return np.asarray(np.rint(255 * np.clip(mixed, 0, 1)), np.uint8)

    def _strokes(self, colour: Any, alpha: Any, before: bool) -> None:
        """Draws the parts of the lines before the mist, or those behind it: all where there is none."""
        for at, tint, width, through in self.strokes:
            if self.mist is not None:
                cell = np.clip(np.floor(at[:, :2]).astype(int), 0, np.array(self.shape[::-1]) - 1)
                at = at[(at[:, 2] >= self.mist.depth[cell[:, 1], cell[:, 0]] - 2 * _FINE) == before]
            self._stroke(colour, alpha, at, tint, width, float(through))

    def _stroke(self, colour: Any, alpha: Any, at: Array, tint: Array, width: float, through: float) -> None:
        reach = np.arange(round(_FINE * width)) - (round(_FINE * width) - 1) // 2
        share = np.zeros(self.shape, np.float32)
        for dy in reach:
            for dx in reach:
                cell = np.floor(at[:, :2]).astype(int) + [dx, dy]
                kept = ((cell >= 0) & (cell < self.shape[::-1])).all(axis=1)
                row, column = cell[kept, 1], cell[kept, 0]
                seen = at[kept, 2] >= self.depth[row, column] - 1
                np.maximum.at(share, (row, column), np.where(seen, np.float32(1), np.float32(through)))
        touched = share > 0
        part = share[touched]
        whole = part + alpha[touched] * (1 - part)
        colour[touched] = (tint * part[:, None] + colour[touched] * (alpha[touched] * (1 - part))[:, None]) / whole[:, None]
        alpha[touched] = whole

    def _open(self) -> Array:
        """Openness of each pixel to light from all sides: less where its neighbours are nearer to the eye."""
        dark = np.zeros(self.shape, np.float32)
        most = min(self.shape) - 1
        for reach in (max(3, max(self.shape) // 160), max(7, max(self.shape) // 50)):
            for along in _RING:
                dx, dy = (int(np.clip(round(float(v) * reach), -most, most)) for v in along)
                there = np.full(self.shape, -np.inf, np.float32)
                rows, columns = self.shape
                there[max(0, -dy) : rows - max(0, dy), max(0, -dx) : columns - max(0, dx)] = \
                    self.depth[max(0, dy) : rows - max(0, -dy), max(0, dx) : columns - max(0, -dx)]  # fmt: skip
                with np.errstate(invalid="ignore"):
                    rise = (there - self.depth) / reach
                # A neighbour that is far nearer is another object: its shadow fades.
                dark += np.where((rise > 0.25) & np.isfinite(rise), np.clip(rise, 0, 1) / np.maximum(rise / 4, 1), 0).astype(np.float32)
        return np.asarray(1 - 0.75 * np.clip(dark / (2 * len(_RING)), 0, 1))
