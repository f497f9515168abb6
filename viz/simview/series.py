"""Long series. HDF5 allows one thread at a time, so that it only finds where the values are; threads then read them."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

from simview.errors import DamagedError, NotFoundError, UsageError
from simview.hdf5 import Array, extent_in_file, read_extent, reading
from simview.snapshot import Snapshot

if TYPE_CHECKING:
    import xarray as xr


def _submit(pool: ThreadPoolExecutor, file: Any, group: str, name: str, out: Array, path: Path) -> Future[None] | None:
    """Fills a part of a row with one component of one species; None where this is done without a thread."""
    item = file[f"{group}/{name}"]
    shape = item.shape if isinstance(item, h5py.Dataset) else tuple(np.atleast_1d(item.attrs["shape"]))
    if shape != out.shape:
        raise DamagedError(f"{path}: {shape} values in {item.name}, not {out.shape} as its number of particles says")
    if isinstance(item, h5py.Dataset):
        # Below a quarter of a megabyte a thread costs more than it gains.
        extent = extent_in_file(item) if item.dtype == out.dtype and out.nbytes > 1 << 18 else None
        if extent:
            return pool.submit(read_extent, *extent, out, path)
        item.read_direct(out)
    else:
        out[:] = item.attrs["value"]
    return None


def _counts(group: Any, species: Sequence[str], every: bool) -> tuple[int, ...]:
    """Number of particles of each species at one step; `every`: other species of the step are counted too."""
    held = group.get("particles", {})
    others = [name for name in held if name not in species] if every else []
    counts = []
    for name in [*species, *others]:
        records = held[name] if name in held else {}
        item = records.get("id", next(iter(records.values()), None))
        while item is not None and not isinstance(item, h5py.Dataset) and "shape" not in item.attrs:  # a vector
            item = next(iter(item.values()), None)
        shape: tuple[Any, ...] = () if item is None else item.shape if isinstance(item, h5py.Dataset) else tuple(np.atleast_1d(item.attrs["shape"]))
        counts.append(int(shape[0]) if len(shape) else 0)
    return tuple(counts if any(counts[len(species) :]) else counts[: len(species)])


def _changing(first: Snapshot, other: Snapshot) -> UsageError:
    return UsageError(f"particles come and go between {first.path} and {other.path}: read them snapshot by snapshot")


def read_series(snapshots: Sequence[Snapshot], species: str | Sequence[str] | None, names: Sequence[str],
                workers: int) -> xr.Dataset:  # fmt: skip
    """See `Run.read`."""
    import xarray as xr

    if not snapshots:
        raise NotFoundError("no snapshot yet: nothing to read")
    first = snapshots[0].particles(species)
    if "id" in names:
        raise UsageError("names: the result has 'id' as a coordinate already: leave it out")
    for name in names:
        if f"{name}/x" in first._members[0][1]:
            raise UsageError(f"'{name}' is a vector: ask for {', '.join(f'{name}/{axis}' for axis in 'xyz')}")
    records = {name: first._record(name) for name in names}
    for _, held in first._members:
        if any(key.startswith("positionOffset") and record.values.constant != 0 for key, record in held.items()):
            raise DamagedError(f"{snapshots[0].path}: positions have an offset, which sim never writes")
    shape = len(snapshots), first.count
    rows = {name: np.empty(shape, record.values.dtype) for name, record in records.items()}
    ids = np.empty(shape, np.uint64) if "id" in first else None
    jobs: list[Future[None]] = []
    with ThreadPoolExecutor(workers) as pool:
        for i, snapshot in enumerate(snapshots):
            with reading(snapshot.path) as file:
                if _counts(file[f"data/{snapshot.step}"], first.species, species is None) != first.counts:
                    raise _changing(snapshots[0], snapshot)
                begin = 0
                for name, count in zip(first.species, first.counts):
                    part = slice(begin, begin + count)
                    begin += count
                    group = f"data/{snapshot.step}/particles/{name}"
                    wanted = [(rows[key][i, part], record.name) for key, record in records.items()]
                    if ids is not None:
                        wanted.append((ids[i, part], "id"))
                    for out, component in wanted:
                        job = _submit(pool, file, group, component, out, snapshot.path)
                        if job:
                            jobs.append(job)
            while len(jobs) > 64 * workers:
                jobs.pop(0).result()
        for job in jobs:
            job.result()
    coords: dict[str, Any] = {
        "time": ("time", [snapshot.time for snapshot in snapshots], {"units": snapshots[0].time_unit}),
        "step": ("time", [snapshot.step for snapshot in snapshots]),
        "species": ("particle", np.repeat(first.species, first.counts)),
    }
    if ids is not None:
        ends = np.cumsum([0, *first.counts])
        for i in map(int, np.flatnonzero((ids != ids[0]).any(axis=1))):
            place = np.empty(first.count, np.intp)
            for begin, end in zip(ends, ends[1:]):
                before, now = ids[0, begin:end], ids[i, begin:end]
                old, new = np.argsort(before), np.argsort(now)
                if not np.array_equal(before[old], now[new]):
                    raise _changing(snapshots[0], snapshots[i])
                place[begin + old] = begin + new
            for values in rows.values():
                values[i] = values[i, place]
        coords["id"] = ("particle", ids[0])
    variables = {
        name: (("time", "particle"), rows[name], {"units": record.unit, "unitSI": record.values.unit_si})
        for name, record in records.items()
    }
    return xr.Dataset(variables, coords)
