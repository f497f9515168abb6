"""One snapshot: particles and fields, read when they are needed."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

from simview.errors import (
    DamagedError,
    NotFoundError,
    UnknownNameError,
    UsageError,
    names_of,
    one_name,
)
from simview.hdf5 import Array, Values, reading, text
from simview.units import Units

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

_SHORT = {"x": "position/x", "y": "position/y", "z": "position/z"}
_SHORT.update({f"v{axis}": f"velocity/{axis}" for axis in "xyz"})


@dataclass(frozen=True)
class Record:
    """One component of a record: its name ('velocity/x', 'mass'), the source of its values, and its unit."""

    name: str
    values: Values
    unit: str


@dataclass(frozen=True)
class Grid:
    """Positions of the values of a mesh; an entry for each axis, in the array's order. `cut`: position of a slice."""

    dims: tuple[str, ...]
    spacing: tuple[float, ...]
    offset: tuple[float, ...]
    unit_si: float
    cut: tuple[tuple[str, float], ...] = ()


MEMBER = "member"  # the axis of an ensemble that counts its members: 1, 2, ...

_Parts = Mapping[str, tuple[Record, tuple[float, ...]]]  # components of a mesh: name -> record, position in its cell


@dataclass(frozen=True)
class _Header:
    time: float
    dt: float
    species: tuple[str, ...]
    meshes: tuple[str, ...]


def parameters_in(file: Any) -> dict[str, Any]:
    """The resolved parameters in a file; empty for a file from another program."""
    if "provenance" not in file:
        return {}
    found = json.loads(text(file["provenance/parameters"][()]) or "{}")
    return found if isinstance(found, dict) else {}


_masks: dict[Path, Path] = {}  # of folders: the file with the mask of a run whose bodies rest


class Snapshot:
    """The state at one step.

    Parameters
    ----------
    path
        The openPMD file.
    step
        The step that its name gives; None: the only one in the file.
    units
        Units of the run; None: those that the file itself names.
    keep
        Owner of a temporary folder that the file lies in.
    """

    def __init__(self, path: Path, step: int | None = None, units: Units | None = None, keep: object = None) -> None:
        self.path = path
        self._keep = keep
        self._step = step
        self._given_units = units
        self._parameters: dict[str, Any] | None = None
        self._known: _Header | None = None
        self._records: dict[str, Mapping[str, Record]] = {}
        self._parts: dict[str, tuple[Grid, _Parts]] = {}

    def __repr__(self) -> str:
        return f"<snapshot {self.path}>"

    @property
    def step(self) -> int:
        """Number of the step."""
        if self._step is None:
            with reading(self.path) as file:
                self._step = int(next(iter(file["data"])))
        return self._step

    @property
    def time(self) -> float:
        """Time of the simulation, in the scenario's unit of time."""
        return self._header.time

    @property
    def dt(self) -> float:
        """The length of the step at that time."""
        return self._header.dt

    @property
    def time_unit(self) -> str:
        """The unit of `time`."""
        return self.units.text((0, 0, 1))

    @property
    def units(self) -> Units:
        """Units of the run."""
        if self._given_units is None:
            self._given_units = Units(self.parameters.get("units"))
        return self._given_units

    @property
    def parameters(self) -> dict[str, Any]:
        """The resolved parameters of the scenario, as in this file; empty for a file from another program."""
        if self._parameters is None:
            with reading(self.path) as file:
                self._parameters = parameters_in(file)
        return self._parameters

    @property
    def species(self) -> tuple[str, ...]:
        """Names of the groups of particles."""
        return self._header.species

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the meshes; a vector's components are 'name/x', ..."""
        return tuple(name for mesh in self._header.meshes for name in self._mesh(mesh)[1])

    def fault(self) -> str | None:
        """What is wrong with the file; None: its length and its structure are good.

        A changed value may stay unnoticed: ``simview summary --verify`` compares files with their digests.
        """
        try:
            for species in self.species:
                self._species(species)
            for mesh in self._header.meshes:
                self._mesh(mesh)
        except DamagedError as error:
            return str(error)
        except NotFoundError:  # the run has deleted it
            return None
        return None

    def count(self, species: str) -> int:
        """The number of particles of a species."""
        records = self._species(one_name(species, "species"))
        return next(iter(records.values())).values.shape[0]

    def particles(self, species: str | Sequence[str] | None = None) -> Particles:
        """Particles of one species, of several, or of all (None). Nothing is read yet.

        Raises
        ------
        NotFoundError
            No such species.
        """
        names = list(self.species) if species is None else names_of(species, "species")
        if not names:
            raise NotFoundError(f"{self.path}: no particles in it")
        return Particles(self, tuple((name, self._species(name)) for name in names))

    def field(self, name: str) -> Field:
        """A mesh by name; a component of a vector is 'E/x'. Nothing is read yet."""
        name = one_name(name, "field")
        record = name.split("/")[0]
        if record in self._header.meshes:
            grid, parts = self._mesh(record)
            if name in parts:
                return Field(self, parts[name][0], grid, parts[name][1])
            raise NotFoundError(f"{self.path}: field '{record}' is a vector: ask for {' or '.join(parts)}")
        has = f"there are: {', '.join(self.fields)}" if self.fields else "there are none"
        raise NotFoundError(f"{self.path}: no field '{name}'; {has}")

    @property
    def solid(self) -> Field | None:
        """The cells of bodies, 1, and of the fluid, 0; None: no file has them.

        Where no body moves they are in the first snapshot of the run, which is looked for in the folder of this one.
        """
        if "solid" in self._header.meshes:
            return self.field("solid")
        if not (self.parameters.get("bodies") or self.parameters.get("solid")):
            return None
        folder = self.path.parent
        known = [_masks[folder]] if folder in _masks else []
        for path in (*known, *sorted(folder.glob("snap_*.h5"))):
            try:
                other = Snapshot(path, None, self.units)
                if "solid" in other._header.meshes:
                    _masks[folder] = path
                    return other.field("solid")
            except (DamagedError, NotFoundError):
                continue
        return None

    @property
    def _header(self) -> _Header:
        if self._known is None:
            with reading(self.path) as file:
                group = file["data"][str(self._step)] if self._step is not None else next(iter(file["data"].values()))
                time, dt = float(group.attrs["time"]), float(group.attrs["dt"])
                for name, value in (("time", time), ("dt", dt)):
                    if not math.isfinite(value):
                        raise DamagedError(f"{self.path}: damaged: its {name} is {value:g}")
                self._known = _Header(
                    time=time,
                    dt=dt,
                    species=tuple(group.get("particles", ())),
                    meshes=tuple(group.get("meshes", ())),
                )
        return self._known

    def _species(self, name: str) -> Mapping[str, Record]:
        if name not in self._records:
            known = self._header.species
            if name not in known:
                has = f"there are: {', '.join(known)}" if known else "there are no particles"
                raise NotFoundError(f"{self.path}: no species '{name}'; {has}")
            with reading(self.path) as file:
                self._records[name] = self._look_species(file[f"data/{self.step}/particles/{name}"])
        return self._records[name]

    def _look_species(self, group: Any) -> Mapping[str, Record]:
        found: dict[str, Record] = {}
        for name, item in group.items():
            if name == "particlePatches":
                continue
            unit = self.units.text(item.attrs.get("unitDimension", ()))
            if isinstance(item, h5py.Dataset) or "value" in item.attrs:
                found[name] = Record(name, Values.of(item), unit)
            else:
                for axis, part in item.items():
                    found[f"{name}/{axis}"] = Record(f"{name}/{axis}", Values.of(part), unit)
        lengths = {record.values.shape for record in found.values()}
        if len(lengths) != 1 or len(next(iter(lengths))) != 1:
            raise DamagedError(f"{self.path}: the records of {group.name} differ in length")
        return found

    def _mesh(self, name: str) -> tuple[Grid, _Parts]:
        if name not in self._parts:
            with reading(self.path) as file:
                self._parts[name] = self._look_mesh(name, file[f"data/{self.step}/meshes/{name}"])
        return self._parts[name]

    def _look_mesh(self, name: str, item: Any) -> tuple[Grid, _Parts]:
        if text(item.attrs.get("dataOrder", "C")) != "C":
            raise DamagedError(f"{self.path}: field '{name}' is not in the order of C")
        grid = Grid(
            dims=tuple(text(label) for label in item.attrs["axisLabels"]),
            spacing=tuple(float(h) for h in item.attrs["gridSpacing"]),
            offset=tuple(float(o) for o in item.attrs["gridGlobalOffset"]),
            unit_si=float(item.attrs["gridUnitSI"]),
            cut=tuple((text(axis), float(at)) for axis, at in zip(item.attrs.get("sliceAxes", ()), item.attrs.get("slicePosition", ()))),
        )
        unit = self.units.text(item.attrs.get("unitDimension", ()))
        scalar = isinstance(item, h5py.Dataset) or "value" in item.attrs
        parts = {name: item} if scalar else {f"{name}/{axis}": part for axis, part in item.items()}
        found: dict[str, tuple[Record, tuple[float, ...]]] = {}
        for key, part in parts.items():
            values = Values.of(part)
            if not len(values.shape) == len(grid.dims) == len(grid.spacing) == len(grid.offset):
                raise DamagedError(f"{self.path}: field '{key}': shape {values.shape} on axes {grid.dims}")
            found[key] = Record(key, values, unit), tuple(float(p) for p in part.attrs["position"])
        return self._of_members(grid, found)

    def _of_members(self, grid: Grid, parts: _Parts) -> tuple[Grid, _Parts]:
        """A mesh with the axis of an ensemble's members by that name, and their numbers in the middle of its cells.

        An ensemble of grids of one or two axes (`members` of diffusion) is stored as a grid of one axis more: cells of length 1, from 0
        on, with the values at their ends 1, 2, ...
        """
        members, about = self.parameters.get("members"), self.parameters.get("grid")
        sides = about.get("n") if isinstance(about, dict) else None
        if not (isinstance(members, int) and members > 1 and isinstance(sides, list) and 1 <= len(sides) <= 2):
            return grid, parts
        own = "xyz"[len(sides)]
        offset = tuple(at + 0.5 if dim == own else at for dim, at in zip(grid.dims, grid.offset))
        dims = tuple(MEMBER if dim == own else dim for dim in grid.dims)
        cut = tuple((MEMBER if dim == own else dim, at) for dim, at in grid.cut)
        middle = {name: (record, tuple(0.5 if dim == MEMBER else at for dim, at in zip(dims, position))) for name, (record, position) in parts.items()}
        return replace(grid, dims=dims, offset=offset, cut=cut), middle


def thinned(count: int, every: int) -> Array:
    """One of each `every` consecutive numbers from 0 to `count`, chosen by a hash (finalizer of splitmix64)."""
    begin = np.arange(0, count, every, dtype=np.uint64)
    with np.errstate(over="ignore"):
        mixed = begin + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    room = np.minimum(np.uint64(every), np.uint64(count) - begin)  # the last group may be smaller
    return np.asarray((begin + mixed % room).astype(np.intp))


class Particles(Mapping[str, Array]):
    """Particles of one or more species, as arrays by name: 'id', 'mass', 'x', 'vx', 'position', 'velocity/x' ...

    Values are in the scenario's own units, in the type of the file; multiply by ``unit_si(name)`` for SI units. A
    vector such as 'position' is ``[n, 3]``.
    """

    def __init__(self, snapshot: Snapshot, members: tuple[tuple[str, Mapping[str, Record]], ...]) -> None:
        self.snapshot = snapshot
        self._members = members

    @property
    def species(self) -> tuple[str, ...]:
        """Names of the species, in the order of the arrays."""
        return tuple(name for name, _ in self._members)

    @property
    def counts(self) -> tuple[int, ...]:
        """The number of particles of each species."""
        return tuple(next(iter(records.values())).values.shape[0] for _, records in self._members)

    @property
    def count(self) -> int:
        """The number of particles."""
        return sum(self.counts)

    @property
    def units(self) -> dict[str, str]:
        """The unit of each record as text."""
        return {name: self._record(name).unit for name in self}

    @property
    def x(self) -> Array:
        """Positions along x, ``[n]``."""
        return self["x"]

    @property
    def y(self) -> Array:
        """Positions along y, ``[n]``."""
        return self["y"]

    @property
    def z(self) -> Array:
        """Positions along z, ``[n]``."""
        return self["z"]

    @property
    def position(self) -> Array:
        """Positions, ``[n, 3]``."""
        return self["position"]

    @property
    def velocity(self) -> Array:
        """Velocities, ``[n, 3]``."""
        return self["velocity"]

    @property
    def mass(self) -> Array:
        """Masses, ``[n]``."""
        return self["mass"]

    @property
    def id(self) -> Array:
        """Numbers that identify the particles during the whole run, ``[n]``."""
        return self["id"]

    def unit_si(self, name: str) -> float:
        """The factor that converts values to SI units."""
        return self._record(one_name(name, "record")).values.unit_si

    def to_frame(self) -> pd.DataFrame:
        """All records as a pandas frame, one row a particle; ``attrs["units"]`` holds the units."""
        import pandas as pd

        names = list(self)
        frame = pd.DataFrame({name: self[name] for name in names})
        if len(self._members) > 1:
            frame.insert(0, "species", np.repeat(self.species, self.counts))
        frame.attrs["units"] = {name: self._record(name).unit for name in names}
        return frame

    def to_xarray(self) -> xr.Dataset:
        """All records as an xarray data set over ``particle``, with ``id`` and ``species`` as coordinates."""
        import xarray as xr

        variables = {
            name: ("particle", self[name], {"units": self._record(name).unit, "unitSI": self.unit_si(name)})
            for name in self
            if name != "id"
        }
        coords: dict[str, Any] = {"species": ("particle", np.repeat(self.species, self.counts))}
        if "id" in self:
            coords["id"] = ("particle", self["id"])
        at = self.snapshot
        return xr.Dataset(variables, coords, {"step": at.step, "time": at.time, "time_units": at.time_unit})

    def each(self, *names: str, every: int = 1) -> Iterator[tuple[str, list[Array]]]:
        """For each species its name and the arrays of these names; a constant takes no memory.

        `every`: takes one of each n particles that follow each other in the file. A hash of the position chooses it, so
        that no pattern in the file is favoured; always the same particles. No more than the chosen values stay in
        memory.
        """
        with reading(self.snapshot.path) as file:
            for species, records in self._members:
                keys = [self._key(one_name(name, "record")) for name in names]
                if every == 1:
                    yield species, [self._read(file, species, records, key) for key in keys]
                else:
                    yield species, [self._thin(file, species, records, key, every) for key in keys]

    def _thin(self, file: Any, species: str, records: Mapping[str, Record], key: str, every: int) -> Array:
        values = records[key].values
        chosen = thinned(values.shape[0], every)
        if values.constant is not None:
            return np.broadcast_to(np.asarray(values.constant), chosen.shape)
        item = file[f"data/{self.snapshot.step}/particles/{species}/{key}"]
        out = np.empty(len(chosen), values.dtype)
        piece = every * max(1, (1 << 20) // every)  # number of values in memory at a time
        for begin in range(0, values.shape[0], piece):
            first, last = begin // every, min(begin // every + piece // every, len(chosen))
            out[first:last] = item[begin : min(begin + piece, values.shape[0])][chosen[first:last] - begin]
        return out

    def __getitem__(self, name: str) -> Array:
        key = self._key(one_name(name, "record"))
        parts = [key] if self._has(key) else [f"{key}/{axis}" for axis in "xyz"]
        for part in parts:
            self._record(part, name)
        with reading(self.snapshot.path) as file:
            columns = []
            for part in parts:
                pieces = [self._read(file, species, records, part) for species, records in self._members]
                columns.append(pieces[0] if len(pieces) == 1 else np.concatenate(pieces))
        return columns[0] if len(columns) == 1 else np.stack(columns, axis=1)

    def __iter__(self) -> Iterator[str]:
        """The names that all of these species have; short ones for positions and velocities."""
        long = {value: key for key, value in _SHORT.items()}
        first, *others = [records for _, records in self._members]
        common = (name for name in first if all(name in other for other in others))
        return (long.get(name, name) for name in common if not name.startswith("positionOffset"))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (self._has(self._key(name)) or self._has(f"{name}/x"))

    def __repr__(self) -> str:
        return f"<{self.count} particles of {', '.join(self.species)} at t = {self.snapshot.time:g}: {', '.join(self)}>"

    @staticmethod
    def _key(name: str) -> str:
        return _SHORT.get(name, name)

    def _has(self, key: str) -> bool:
        return all(key in records for _, records in self._members)

    def _record(self, name: str, asked: str | None = None) -> Record:
        key = self._key(name)
        key = key if self._has(key) else f"{key}/x"
        if not self._has(key):
            raise UnknownNameError(f"{self.snapshot.path}: no record '{asked or name}'; there are: {', '.join(self)}")
        return self._members[0][1][key]

    def _read(self, file: Any, species: str, records: Mapping[str, Record], key: str) -> Array:
        """Reads one component of one species; adds `positionOffset` where it is not zero."""
        if key not in records:
            raise UnknownNameError(f"{self.snapshot.path}: no record '{key}' of '{species}'")
        group = file[f"data/{self.snapshot.step}/particles/{species}"]
        values = records[key].values.read(group[key])
        offset = records.get(f"positionOffset/{key[-1]}") if key.startswith("position/") else None
        if offset is None or offset.values.constant == 0:
            return values
        return values + offset.values.read(group[offset.name])


class Field:
    """Values on a grid. Read in part by indexing, in whole by ``numpy.asarray``, with coordinates by `to_xarray`."""

    def __init__(self, snapshot: Snapshot, record: Record, grid: Grid, position: tuple[float, ...]) -> None:
        self.snapshot = snapshot
        self.name = record.name
        self.unit = record.unit
        self.grid = grid
        self.position = position
        self._values = record.values

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of cells along each axis."""
        return self._values.shape

    @property
    def dims(self) -> tuple[str, ...]:
        """Names of the axes, such as ('y', 'x'); of an ensemble ('member', 'y', 'x')."""
        return self.grid.dims

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        return self._values.dtype

    @property
    def unit_si(self) -> float:
        """The factor that converts values to SI units."""
        return self._values.unit_si

    @property
    def coords(self) -> dict[str, Array]:
        """Coordinates of the values along each axis, in the scenario's unit of length."""
        about = zip(self.dims, self.shape, self.grid.offset, self.grid.spacing, self.position)
        return {dim: offset + spacing * (np.arange(n) + at) for dim, n, offset, spacing, at in about}

    @property
    def cut(self) -> dict[str, float]:
        """For a plane or line of a larger grid: its position, in the middle of its cells, by the axes across it."""
        return dict(self.grid.cut)

    @property
    def bounds(self) -> dict[str, tuple[float, float]]:
        """Limits of the grid along each axis."""
        about = zip(self.dims, self.shape, self.grid.offset, self.grid.spacing)
        return {dim: (offset, offset + n * spacing) for dim, n, offset, spacing in about}

    def __getitem__(self, key: Any) -> Array:
        try:
            wanted = np.broadcast_to(np.zeros((), bool), self.shape)[key].shape
        except (IndexError, TypeError, ValueError) as error:
            raise UsageError(f"field '{self.name}' of shape {self.shape}: {error}") from None
        with reading(self.snapshot.path) as file:
            item = file[f"data/{self.snapshot.step}/meshes/{self.name}"]
            try:
                values = self._values.read(item, key)
            except (TypeError, ValueError, IndexError):  # HDF5 lacks negative steps, descending lists, new axes
                return np.asarray(self._values.read(item)[key])
            return values if values.shape == wanted else np.asarray(self._values.read(item)[key])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self[...], dtype=dtype)

    def to_xarray(self) -> xr.DataArray:
        """The values with coordinates and units."""
        import xarray as xr

        length = self.snapshot.units.text((1,))
        coords: dict[str, Any] = {dim: (dim, at, {"units": length} if dim != MEMBER else {}) for dim, at in self.coords.items()}
        coords["time"] = ((), self.snapshot.time, {"units": self.snapshot.time_unit})
        about: dict[str, Any] = {"units": self.unit, "unitSI": self.unit_si, "step": self.snapshot.step}
        if self.cut:
            about["cut"] = self.cut
        return xr.DataArray(self[...], coords, self.dims, self.name, about)

    def __repr__(self) -> str:
        size = " x ".join(str(n) for n in self.shape)
        return f"<field {self.name} ({self.unit}) on {size} cells at t = {self.snapshot.time:g}>"
