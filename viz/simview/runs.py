"""An output folder: snapshots, tables, status."""

from __future__ import annotations

import json
import math
import os
import pickle
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from copy import deepcopy
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from simview.errors import (
    DamagedError,
    NotFoundError,
    OutOfRangeError,
    SimviewError,
    UnknownNameError,
    UsageError,
    finite_number,
    folder_of,
    names_of,
    one_name,
    whole_number,
)
from simview.hdf5 import plain, reading, text
from simview.ladders import dataset
from simview.snapshot import Snapshot, parameters_in
from simview.tables import Tables
from simview.units import Units

if TYPE_CHECKING:
    import xarray as xr

T = TypeVar("T")
_SNAPSHOT = re.compile(r"^snap_(\d+)\.h5$")


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def open(path: str | os.PathLike[str]) -> Run:  # noqa: A001
    """Opens an output folder. No file is read before it is needed.

    Parameters
    ----------
    path
        The folder that a run writes, such as ``galaxy.out``, or that of one of its slices, ``heat.out/slices/middle``.
        The run may still be going.

    Returns
    -------
    Run

    Raises
    ------
    NotFoundError
        There is no such folder, or no run has written it.
    """
    folder = folder_of(path)
    inside = folder.resolve()
    if inside.parent.name == "slices" and not _is_run(inside) and _is_run(inside.parent.parent):
        return Run(inside.parent.parent, inside.name)
    return Run(folder)


def _is_run(path: Path) -> bool:
    return any((path / name).exists() for name in ("status.json", "tables.h5", "snap", "ckpt"))


def _time(snapshot: Snapshot) -> float:
    try:
        return snapshot.time
    except SimviewError:  # damaged, or deleted by the run
        return math.nan


def _workers(count: int | None) -> int:
    return cores() if count is None else whole_number(count, "workers", 1)


_function: Any = None  # function of `Run.map`, in a worker process


def _adopt(function: Any) -> None:
    global _function
    _function = function


def _apply(snapshot: Snapshot) -> bytes:
    result = _function(snapshot)
    try:
        return pickle.dumps(result)
    except Exception as error:  # any error, raised by pickling the result
        raise UsageError(f"map: what the function returns cannot leave its process: {error}") from None


class Slices(dict[str, "Run"]):
    """The slices of a run by name."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def __getitem__(self, name: str) -> Run:
        if one_name(name, "slice") in self:
            return super().__getitem__(name)
        has = f"there are: {', '.join(self)}" if self else "the run has none (output.slices of the scenario)"
        raise UnknownNameError(f"{self._path}: no slice '{name}'; {has}")


class Run(Sequence[Snapshot]):
    """An output folder: a sequence of snapshots, with tables and the run's own notes beside it.

    The list of snapshots is that of the moment when the run was opened; `refresh` looks again. Tables and status are
    always up to date. One of ``run.slices`` is a run too, whose snapshots are those of the slice.
    """

    def __init__(self, path: Path, slice_name: str | None = None, keep: object = None) -> None:
        path = folder_of(path)
        if not _is_run(path):
            raise NotFoundError(f"{path}: no run of sim (no status.json, tables.h5 or snap in it)")
        self.path = path
        self.slice_name = slice_name
        self._keep = keep  # owner of the folder of a run without `output`; every reader of the folder holds it too
        self._folder = path / "snap" if slice_name is None else path / "slices" / slice_name
        self._slices = Slices(path)
        self._steps: list[tuple[int, str]] = []
        self._snapshots: dict[str, Snapshot] = {}
        self._provenance: dict[str, Any] | None = None
        self._units: Units | None = None
        self._tables: Tables | None = None
        self.refresh()

    def refresh(self) -> Run:
        """Looks for snapshots that have been written or deleted since. Returns the run itself."""
        found = []
        try:
            with os.scandir(self._folder) as entries:
                for entry in entries:
                    match = _SNAPSHOT.match(entry.name)
                    if match:
                        found.append((int(match[1]), entry.name))
        except FileNotFoundError:
            pass
        except OSError as error:
            raise NotFoundError(f"{self._folder}: {error.strerror}") from None
        self._steps = sorted(found)
        return self

    @property
    def name(self) -> str:
        """The folder's name without '.out', and the slice's name."""
        name = self.path.resolve().name.removesuffix(".out")
        return name if self.slice_name is None else f"{name}_{self.slice_name}"

    @property
    def slices(self) -> Slices:
        """Planes and thinned grids that the run writes beside its snapshots, by name."""
        folder = self.path / "slices"
        try:
            if self.slice_name is None and folder.is_dir():
                for name in sorted(entry.name for entry in folder.iterdir() if entry.is_dir()):
                    if name not in self._slices:
                        self._slices[name] = Run(self.path, name, self._keep)
        except OSError as error:
            raise NotFoundError(f"{folder}: {error.strerror}") from None
        return self._slices

    @property
    def steps(self) -> NDArray[np.int64]:
        """Steps of the snapshots."""
        return np.array([step for step, _ in self._steps], dtype=np.int64)

    @property
    def times(self) -> NDArray[np.float64]:
        """Times of the snapshots; NaN for one that cannot be read. Opens each snapshot once (about 0.2 ms each)."""
        return np.array([_time(snapshot) for snapshot in self], dtype=np.float64)

    def leave_out_damaged(self) -> list[str]:
        """Checks all files, and drops snapshots and tables that cannot be read from this run, until `refresh`.

        Returns
        -------
        list of str
            A line for each of them.
        """
        faults = {name: fault for step, name in self._steps if (fault := self._snapshot(step, name).fault())}
        self._steps = [entry for entry in self._steps if entry[1] not in faults]
        return [*faults.values(), *self.tables.leave_out_damaged()]

    @property
    def tables(self) -> Tables:
        """Observables over time, as pandas frames."""
        if self._tables is None:
            self._tables = Tables(self.path / "tables.h5", self.units, self._keep)
        return self._tables

    @property
    def ladder(self) -> xr.Dataset:
        """The ladder of a run of options: price, price_error, change and change_error over payoff, time, vol and spot."""
        return dataset(self.path / "ladder.h5")

    @property
    def vega_buckets(self) -> xr.Dataset:
        """Vega by node of a run of options: vega, vega_error over payoff and node, and the time and asset of each node."""
        return dataset(self.path / "vega_buckets.h5")

    @property
    def rho_buckets(self) -> xr.Dataset:
        """Rho by node: rho, rho_error over payoff and node, and the time of each node."""
        return dataset(self.path / "rho_buckets.h5")

    @property
    def paths(self) -> xr.Dataset:
        """The paths that a run of options has written: price over path, asset and time, and the states of random volatilities."""
        return dataset(self.path / "paths.h5")

    @property
    def exposure(self) -> xr.Dataset:
        """Values of the book that a run of options has written, with their errors, over path and time; prices over path, asset and time; the contracts."""
        return dataset(self.path / "exposure.h5")

    @property
    def status(self) -> dict[str, Any]:
        """The present content of ``status.json``: state, step, time, t_end, digest, ...; empty without the file."""
        path = self.path / "status.json"
        try:
            found: Any = json.loads(path.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise NotFoundError(f"{path}: {error.strerror}") from None
        except ValueError:
            raise DamagedError(f"{path}: not JSON: cut short or damaged") from None
        numbers = [found.get(name, 0) for name in ("step", "time", "t_end")] if isinstance(found, dict) else [None]
        if not all(isinstance(number, (int, float)) for number in numbers):
            raise DamagedError(f"{path}: not as sim writes it")
        return dict(found)

    @property
    def provenance(self) -> dict[str, Any]:
        """Origin of the files: scenario, parameters, version, compiler, device, seed, ...

        ``parameters`` is a dict, ``scenario`` the text that was run.
        """
        if self._provenance is None:
            candidates = [self.path / "tables.h5", *(self._folder / name for _, name in self._steps[-1:])]
            candidates += sorted((self.path / "ckpt").glob("ck_*.h5"))[-1:]
            fault: DamagedError | None = None
            for path in candidates:
                try:
                    found = self._read_provenance(path)
                    if not found and path != candidates[-1]:
                        continue
                    self._provenance = found
                    break
                except DamagedError as error:
                    fault = error
                except NotFoundError:
                    continue
            else:
                if fault:
                    raise fault
                return {}  # nothing is written yet
        return deepcopy(self._provenance)  # the caller may change it

    @staticmethod
    def _read_provenance(path: Path) -> dict[str, Any]:
        with reading(path) as file:
            if "provenance" not in file:  # the file is from another program
                return {}
            group = file["provenance"]
            found = {name: plain(value) for name, value in group.attrs.items()}
            found["scenario"] = text(group["scenario"][()])
            found["parameters"] = parameters_in(file)
        return found

    @property
    def parameters(self) -> dict[str, Any]:
        """The resolved parameters of the scenario."""
        found: dict[str, Any] = self.provenance.get("parameters", {})
        return found

    @property
    def units(self) -> Units:
        """Units that the scenario states."""
        if self._units is None:
            units = Units(self.parameters.get("units"))
            if self._provenance is None:
                return units
            self._units = units
        return self._units

    @property
    def model(self) -> str:
        """The model's name, such as 'nbody'."""
        return str(self.provenance.get("model") or self.status.get("model", ""))

    @property
    def title(self) -> str:
        """The scenario's title; the folder's name where it has none."""
        return str(self.provenance.get("title") or self.name)

    def __len__(self) -> int:
        return len(self._steps)

    @overload
    def __getitem__(self, index: int) -> Snapshot: ...
    @overload
    def __getitem__(self, index: slice) -> list[Snapshot]: ...
    def __getitem__(self, index: int | slice) -> Snapshot | list[Snapshot]:
        if isinstance(index, slice):
            try:
                return [self._snapshot(*entry) for entry in self._steps[index]]
            except (TypeError, ValueError) as error:
                raise UsageError(f"{self.path}: no range of snapshots: {error}") from None
        if isinstance(index, str):
            raise UsageError(f"{self.path}: run[{index!r}]: snapshots go by number, run[-1]; slices by name, run.slices[{index!r}]")
        index = whole_number(index, "number of a snapshot")
        if not self._steps:
            raise OutOfRangeError(f"{self.path}: no snapshot yet{self._why_none()}")
        if not -len(self) <= index < len(self):
            raise OutOfRangeError(f"{self.path}: no snapshot {index}: there are {len(self)}")
        return self._snapshot(*self._steps[index])

    def __iter__(self) -> Iterator[Snapshot]:
        return (self._snapshot(*entry) for entry in self._steps)

    def _snapshot(self, step: int, name: str) -> Snapshot:
        if name not in self._snapshots:
            self._snapshots[name] = Snapshot(self._folder / name, step, self._units, self._keep)
        return self._snapshots[name]

    def _why_none(self) -> str:
        state = self.status.get("state")
        return f" (the run is {state})" if state else ""

    def at_step(self, step: int) -> Snapshot:
        """The snapshot of a step."""
        step = whole_number(step, "step")
        for entry in self._steps:
            if entry[0] == step:
                return self._snapshot(*entry)
        if not self._steps:
            return self[-1]
        nearest = min((entry[0] for entry in self._steps), key=lambda other: abs(other - step))
        raise NotFoundError(f"{self.path}: no snapshot of step {step}; the nearest is {nearest}")

    def at_time(self, time: float) -> Snapshot:
        """The snapshot nearest to a time; opens about log2(n) of them.

        Raises
        ------
        NotFoundError
            The time is before the first snapshot, or after the last one, by more than half of the interval to
            the snapshot next to it.
        """
        time = finite_number(time, "time")
        low, high = 0, len(self) - 1
        first, last = self[0].time, self[-1].time
        before, behind = (self[1].time - first) / 2 if high else 0.0, (last - self[-2].time) / 2 if high else 0.0
        rounding = 1e-9 * max(abs(first), abs(last))
        if not first - before - rounding <= time <= last + behind + rounding:
            raise NotFoundError(f"{self.path}: no snapshot near t = {time:g}; they go from t = {first:g} to {last:g}")
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self[middle].time <= time else (low, middle)
        return min(self[low], self[high], key=lambda snapshot: abs(snapshot.time - time))

    def read(self, species: str | Sequence[str] | None = None, names: Sequence[str] = ("x", "y", "z"), *,
             every: int = 1, workers: int | None = None) -> xr.Dataset:  # fmt: skip
        """Reads a long series of particle data at once, by several threads.

        Parameters
        ----------
        species
            One, several or all (None).
        names
            Records, such as 'x' or 'velocity/x'.
        every
            Takes each n-th snapshot.
        workers
            Threads; None: one a core.

        Returns
        -------
        xarray.Dataset
            Arrays ``[time, particle]``; a particle keeps its place by its ``id``.

        Raises
        ------
        UsageError
            The particles are not the same in all snapshots.
        """
        from simview.series import read_series

        snapshots = self[:: whole_number(every, "every", 1)]
        return read_series(snapshots, species, names_of(names, "names"), _workers(workers))

    def map(self, function: Callable[[Snapshot], T], *, every: int = 1, workers: int | None = None) -> list[T]:
        """Applies a function to the snapshots, in worker processes; returns the results in the order of time.

        Parameters
        ----------
        function
            Takes a `Snapshot`; its result is passed between processes by `pickle`.
        every
            Takes each n-th snapshot.
        workers
            Processes; None: one a core, 1: this process.
        """
        if not callable(function):
            raise UsageError(f"map: wanted a function of a snapshot, not {function!r}")
        snapshots = self[:: whole_number(every, "every", 1)]
        workers = min(_workers(workers), len(snapshots))
        if workers < 2 or "fork" not in get_all_start_methods():
            return [function(snapshot) for snapshot in snapshots]
        chunk = max(1, len(snapshots) // (4 * workers))
        # Forked processes get the function by `_adopt`, so that a lambda works.
        with ProcessPoolExecutor(workers, get_context("fork"), _adopt, (function,)) as pool:
            try:
                return [pickle.loads(result) for result in pool.map(_apply, snapshots, chunksize=chunk)]
            except BrokenProcessPool:
                raise SimviewError("map: a process ended before its work was done (out of memory?)") from None

    def __repr__(self) -> str:
        part = "" if self.slice_name is None else f", slice {self.slice_name}"
        return f"<run {self.path}{part}: {len(self)} snapshots>"
