"""The user's choices for a picture, and helpers of all pictures: titles, labels, colour bars."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from simview.errors import UsageError, finite_number, names_of, one_name, one_of, whole_number
from simview.snapshot import MEMBER, Snapshot
from simview.style import MAPS

SIZES = 1e-30, 1e30  # range of half the side of a picture, within which matplotlib's own arithmetic is accurate
PIXELS = 16, 4096
OPTIONS = ("time", "step", "species", "field", "axes", "at", "view", "volume", "size", "pixels", "map", "most")  # of the command
_BARS = {"right": "vertical", "bottom": "horizontal"}


@dataclass
class Look:
    """Choices of the user for a picture; None: simview chooses."""

    species: Sequence[str] | None = None
    axes: str | None = None
    size: float | None = None
    pixels: int = 800  # along a side of a density image
    map: str | None = None
    fields: Sequence[str] | None = None
    most: int | None = None  # most particles that are drawn; of more particles one in n
    at: float | None = None  # position of the plane through fields on three axes
    view: Sequence[float] | None = None  # of the eye: azimuth, elevation in degrees; for perspective a distance
    volume: bool = False  # fields on three axes as volumes, not as surfaces or stream lines
    given: Sequence[str] = ()  # options of the command that are refused where they have no effect

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
        if not isinstance(self.volume, bool):
            raise UsageError(f"volume: wanted True or False, not {self.volume!r}")
        if self.view is not None:
            if not 2 <= len(self.view) <= 3:
                raise UsageError("view: wanted azimuth, elevation and, for perspective, a distance, such as 30,20,2")
            ends = (-360, 360), (-90, 90), (1, 1000)
            self.view = tuple(finite_number(value, "view", *pair) for value, pair in zip(self.view, ends))


class Picture(Protocol):
    """A picture that draws itself into axes once, with a colour bar at one side or none, then shows any snapshot."""

    @property
    def options(self) -> tuple[str, ...]: ...  # members of `Look` that change the picture, by their option names

    def draw(self, axes: Any, bar: str | None = "right") -> None: ...

    def show(self, snapshot: Snapshot) -> None: ...


def chosen_species(snapshot: Snapshot, look: Look) -> list[str]:
    """The named species; else all species, without haloes of dark matter where there are others."""
    if look.species:
        snapshot.particles(look.species)
        return list(look.species)
    visible = [name for name in snapshot.species if not name.endswith("halo")]
    return visible or list(snapshot.species)


def written(snapshot: Snapshot) -> tuple[object, ...] | None:
    """Identifies the content of a snapshot's file: changes when the file is written anew; None where it is gone."""
    try:
        found = os.stat(snapshot.path)
    except OSError:
        return None
    return snapshot.path, found.st_ino, found.st_mtime_ns, found.st_size


def title(snapshot: Snapshot, more: str) -> str:
    unit = f" {snapshot.time_unit}" if snapshot.units.names else ""
    return f"t = {snapshot.time:.6g}{unit}" + (f", {more}" if more else "")


def outside_frame(count: int) -> str:
    return f", {count} outside the frame" if count else ""


def axis_label(snapshot: Snapshot, axis: str) -> str:
    return axis if axis == MEMBER else snapshot.units.label(axis, snapshot.units.text((1,)))


def place(snapshot: Snapshot, axis: str, at: float) -> str:
    """A position along an axis as text, with the unit of length where the scenario states units."""
    return f"{axis} = {at:.4g}" + (f" {snapshot.units.text((1,))}" if snapshot.units.names and axis != MEMBER else "")


def colour_bar(axes: Any, artist: Any, label: str, side: str | None, **options: Any) -> None:
    """A colour bar as long as the picture's side, with fixed distance and width for any shape of picture."""
    if side:
        from matplotlib.transforms import Bbox

        apart, wide = (0.09, 0.11) if side == "right" else (0.46, 0.1)  # distance and width in inches

        def place(*_: Any) -> Any:
            box, (w, h) = axes.get_position(), axes.figure.get_size_inches()
            if side == "right":
                return Bbox.from_bounds(box.x1 + apart / w, box.y0 + 0.01 * box.height, wide / w, 0.98 * box.height)
            return Bbox.from_bounds(box.x0 + 0.03 * box.width, box.y0 - (apart + wide) / h, 0.94 * box.width, wide / h)

        inset = axes.inset_axes((0, 0, 1, 1))
        inset.set_axes_locator(place)
        axes.figure.colorbar(artist, cax=inset, orientation=_BARS[side], **options).set_label(label)


def upright(snapshot: Snapshot) -> str:
    """Default axes of a picture: from the side where gravity has a component along z."""
    gravity = snapshot.parameters.get("gravity")
    vector = isinstance(gravity, list) and len(gravity) == 3 and all(isinstance(g, (int, float)) for g in gravity)
    return "xz" if vector and gravity[2] != 0 else "xy"  # type: ignore[index]
