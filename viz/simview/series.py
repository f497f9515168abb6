"""Long series. HDF5 lets one thread in at a time, so it only says where the values lie; threads then read them."""

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
    """Fills a part of a row with one component of one species; None where that is done already."""
    item = file[f"{group}/{name}"]
    if isinstance(item, h5py.Dataset):
        if item.shape != out.shape:
            raise DamagedError(f"{path}: {item.size} values in {item.name}, not {out.size} as in the first snapshot")
        # Below a quarter of a megabyte handing it over costs more than it gains.
        extent = extent_in_file(item) if item.dtype == out.dtype and out.nbytes > 1 << 18 else None
        if extent:
            return pool.submit(read_extent, *extent, out, path)
        item.read_direct(out)
    else:
        out[:] = item.attrs["value"]
    return None


def read_series(snapshots: Sequence[Snapshot], species: str | Sequence[str] | None, names: Sequence[str],
                workers: int) -> xr.Dataset:  # fmt: skip
    """See `Run.read`."""
    import xarray as xr

    if not snapshots:
        raise NotFoundError("no snapshot yet: nothing to read")
    first = snapshots[0].particles(species)
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
        for i in map(int, np.flatnonzero((ids != ids[0]).any(axis=1))):
            place = np.empty(first.count, np.intp)
            place[np.argsort(ids[0])] = np.argsort(ids[i])
            for values in rows.values():
                values[i] = values[i, place]
        coords["id"] = ("particle", ids[0])
    variables = {
        name: (("time", "particle"), rows[name], {"units": record.unit, "unitSI": record.values.unit_si})
        for name, record in records.items()
    }
    return xr.Dataset(variables, coords)
