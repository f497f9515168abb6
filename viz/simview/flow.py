"""Pictures of flows: speed with stream lines, and vorticity; bodies in the flow are grey."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from simview.hdf5 import Array
from simview.look import Look
from simview.maps import Map
from simview.snapshot import Field, Snapshot

_LINES = 38  # approximate number of stream lines across the longer side of a plane
_BODY: dict[str, Any] = {"facecolor": "#8c8c8c", "edgecolor": "#333333", "linewidth": 0.6, "zorder": 4}


def parts(snapshot: Snapshot, vector: str) -> dict[str, str]:
    """The fields that are a vector's components, by their axes.

    They are those of a record; of diffusion, whose fields are scalars, those that `solenoidal` or `integrate.velocity` names are
    the velocity. Names alone say nothing: u and v are concentrations as often.
    """
    found = {dim: f"{vector}/{dim}" for dim in "xyz" if f"{vector}/{dim}" in snapshot.fields}
    if found or vector != "velocity":
        return found
    integrate = snapshot.parameters.get("integrate")
    for named in (snapshot.parameters.get("solenoidal"), integrate.get("velocity") if isinstance(integrate, dict) else None):
        names = [name.strip() for name in named.split(",")] if isinstance(named, str) else []
        if names and all(name in snapshot.fields for name in names):
            return dict(zip("xyz", names))
    return {}


def vectors(snapshot: Snapshot) -> list[str]:
    """The names of vectors that have components along two axes of their grid."""
    names = dict.fromkeys([*(field.split("/")[0] for field in snapshot.fields if "/" in field), "velocity"])
    held = [(name, parts(snapshot, name)) for name in names]
    return [name for name, of in held if len(of) > 1 and len(snapshot.field(next(iter(of.values()))).shape) > 1]


def _bodies(snapshot: Snapshot) -> list[dict[str, Any]]:
    bodies = snapshot.parameters.get("bodies")
    return bodies if isinstance(bodies, list) else []


def _moves(body: dict[str, Any]) -> bool:
    """Whether a body changes its shape in space with time. A ball or a cylinder that only turns does not."""
    turns = body.get("$type") == "block" and bool(body.get("spin") or body.get("turning"))
    return turns or bool(body.get("motion")) or any(body.get("velocity") or ())


def resting(snapshot: Snapshot) -> list[dict[str, Any]]:
    """The bodies in the flow that do not move, and have no fluid inside."""
    return [body for body in _bodies(snapshot) if not _moves(body) and not body.get("inside")]


class _Plane(Map):
    """A map computed from the components of a vector in a plane."""

    def __init__(self, samples: Sequence[Snapshot], look: Look, vector: str, name: str, across: int = 0) -> None:
        self.vector = vector
        super().__init__(samples, look, name, across)

    def geometry(self, snapshot: Snapshot) -> Field:
        return snapshot.field(next(iter(parts(snapshot, self.vector).values())))

    def part(self, snapshot: Snapshot, axis: str) -> Array:
        """The component along an axis in the plane; 0 where there is none."""
        name = parts(snapshot, self.vector).get(axis)
        if name is None:
            return np.zeros_like(self.slice(self.geometry(snapshot))[0])
        return np.asarray(self.slice(snapshot.field(name))[0], float)

    def draw(self, axes: Any, bar: str | None = "right") -> None:
        super().draw(axes, bar)
        for shape in self.bodies():
            axes.add_patch(shape)
        self.cover: Any = None
        self.circles: list[Any] = []

    def show(self, snapshot: Snapshot) -> None:
        super().show(snapshot)
        if self.cover is not None:
            self.cover.remove()
            self.cover = None
        for circle in self.circles:
            circle.remove()
        self.circles = [self.axes.add_patch(circle) for circle in self.grains(snapshot)]
        solid = self.solid(snapshot)
        if solid is not None:
            from matplotlib.colors import ListedColormap

            self.cover = self.axes.imshow(np.where(solid, 1.0, np.nan), origin="lower", extent=self.image.get_extent(), zorder=3.5, vmin=0, vmax=1,
                                          cmap=ListedColormap([_BODY["facecolor"]]), interpolation="nearest")  # fmt: skip

    def grains(self, snapshot: Snapshot) -> list[Any]:
        """Circles in which the plane cuts spheres that move in the flow."""
        from matplotlib.patches import Circle

        field = self.geometry(snapshot)
        if not snapshot.species or len(field.shape) != 3:
            return []
        up, right = self.dims(field)
        dim = field.dims[self.across]
        held = snapshot.particles()
        x, y, z, radius = (np.asarray(held[name], float) for name in (right, up, dim, "radius"))
        square = radius**2 - (z - field.coords[dim][self.index(field)]) ** 2
        return [Circle((x[i], y[i]), square[i] ** 0.5, **_BODY) for i in np.flatnonzero(square > 0)]

    def solid(self, snapshot: Snapshot) -> Array | None:
        """The cells in bodies, where they are not drawn as circles and rectangles.

        Outputs of earlier versions have no mask `solid`: there cells with fields of 0; None where the fluid may be at rest too.
        """
        shape = self.geometry(snapshot).shape
        files = bool(snapshot.parameters.get("solid")) or any(body.get("$type") == "stl" or body.get("inside") for body in _bodies(snapshot))
        if not (files or any(map(_moves, _bodies(snapshot)))):
            return None
        mask = snapshot.solid
        if mask is not None and mask.shape == shape:
            return np.asarray(self.slice(mask)[0] != 0)
        if snapshot.step < sum(shape):  # a step carries news by one cell
            return None
        zero = [self.slice(snapshot.field(name))[0] == 0 for name in snapshot.fields if snapshot.field(name).shape == shape]
        return np.asarray(np.all(zero, axis=0))

    def bodies(self) -> list[Any]:
        """Outlines of the bodies at rest that the plane cuts as circles or rectangles."""
        from matplotlib.patches import Circle, Rectangle

        field = self.geometry(self.first)
        up, right = self.dims(field)
        shapes: list[Any] = []
        for body in resting(self.first):
            kind = body.get("$type")
            if kind == "block":
                low, high = (dict(zip("xyz", body[end])) for end in ("low", "high"))
                shapes.append(Rectangle((low[right], low[up]), high[right] - low[right], high[up] - low[up], **_BODY))
            elif kind in ("cylinder", "ball", "sphere") and isinstance(body.get("point"), list):
                at, radius = dict(zip("xyz", body["point"])), float(body["radius"])
                axis = dict(zip("xyz", body.get("axis") or (0, 0, 1)))
                if kind == "cylinder" and (axis[right] or axis[up]):
                    continue
                if kind != "cylinder" and len(field.shape) == 3:
                    dim = field.dims[self.across]
                    radius = max(0.0, radius**2 - (field.coords[dim][self.index(field)] - at[dim]) ** 2) ** 0.5
                shapes.append(Circle((at[right], at[up]), radius, **_BODY))
        return shapes


class Flow(_Plane):
    """The size of a vector as colours, and stream lines in the plane."""

    def __init__(self, samples: Sequence[Snapshot], look: Look, vector: str, across: int = 0) -> None:
        super().__init__(samples, look, vector, "speed" if vector == "velocity" else f"|{vector}|", across)

    def span(self, snapshots: Sequence[Snapshot]) -> None:
        super().span(snapshots)
        self.low = 0.0

    def values(self, snapshot: Snapshot) -> tuple[Array, str]:
        held = [self.part(snapshot, axis) for axis in parts(snapshot, self.vector)]
        return np.sqrt(sum(part**2 for part in held)), self.slice(self.geometry(snapshot))[1]

    def lines(self, snapshot: Snapshot, values: Array) -> None:
        """Stream lines with arrows; where the flow is at rest there are none."""
        field = self.geometry(snapshot)
        up, right = self.dims(field)
        x, y = (np.asarray(field.coords[dim], float) for dim in (right, up))
        u, v = self.part(snapshot, right), self.part(snapshot, up)
        if min(u.shape) < 4 or not np.isfinite(u).all() or not np.isfinite(v).all() or not float(np.hypot(u, v).max()) > 0:
            return
        # matplotlib needs positions that are evenly spaced to the last bit.
        x, y = np.linspace(x[0], x[-1], len(x)), np.linspace(y[0], y[-1], len(y))
        tall = (y[-1] - y[0]) / (x[-1] - x[0])
        density = _LINES / 30 * min(1.0, 1 / tall), _LINES / 30 * min(1.0, tall)
        before = len(self.axes.patches)
        bounds = field.bounds
        drawn = self.axes.streamplot(x, y, u, v, density=(max(density[0], 0.2), max(density[1], 0.2)), color=(1, 1, 1, 0.8), linewidth=0.6, arrowsize=0.6,
                                     minlength=0.05, broken_streamlines=True)  # fmt: skip
        self.axes.set(xlim=bounds[right], ylim=bounds[up])
        self.drawn = [drawn.lines, *self.axes.patches[before:]]


class Vorticity(_Plane):
    """Vorticity along the normal of the plane, positive anticlockwise."""

    def __init__(self, samples: Sequence[Snapshot], look: Look, vector: str, across: int = 0) -> None:
        super().__init__(samples, look, vector, "vorticity", across)

    def span(self, snapshots: Sequence[Snapshot]) -> None:
        """Limits without the largest 4 % of the values: walls and corners would outshine the interior of the flow."""
        super().span(snapshots)
        values = [self.values(snapshot)[0] for snapshot in snapshots]
        most = max((float(np.nanpercentile(np.abs(part), 96)) for part in values if np.isfinite(part).any()), default=0.0)
        if most > 0:
            self.low, self.high, self.signed, self.beyond = -most, most, True, True

    def lines(self, snapshot: Snapshot, values: Array) -> None:
        """Draws no lines: they would crowd at walls."""

    def unit(self, field: Field) -> str:
        return self.first.units.text((0, 0, -1))

    def values(self, snapshot: Snapshot) -> tuple[Array, str]:
        """Central differences, one-sided at the edges; the result is an inverse time in the scenario's units."""
        field = self.geometry(snapshot)
        up, right = self.dims(field)
        step = dict(zip(field.dims, field.grid.spacing))
        turn = np.gradient(self.part(snapshot, up), step[right], axis=1) - np.gradient(self.part(snapshot, right), step[up], axis=0)
        return np.asarray(turn), self.slice(field)[1]
