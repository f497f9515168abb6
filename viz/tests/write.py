"""Writes small files in the layout of sim's outputs, for models and sizes that a test has no run of."""

import json
from pathlib import Path

import h5py
import numpy as np


def text(value):
    """Strings are of fixed length, as sim writes them."""
    return np.bytes_(value)


def begin(path, step, time, units=None, meshes=False, particles=False):
    """An openPMD file; returns the open file and the group of its step."""
    file = h5py.File(path, "w")
    about = {"openPMD": "1.1.0", "basePath": "/data/%T/", "iterationEncoding": "fileBased", "author": "A. Tester",
             "iterationFormat": "snap_%T.h5", "software": "sim", "softwareVersion": "0", "date": "2026-01-01 00:00:00 +0000"}
    about.update({"meshesPath": "meshes/"} if meshes else {}, **({"particlesPath": "particles/"} if particles else {}))
    for name, value in about.items():
        file.attrs[name] = text(value)
    file.attrs["openPMDextension"] = np.uint32(0)
    group = file.create_group(f"data/{step}")
    group.attrs.update({"time": float(time), "dt": 0.5, "timeUnitSI": units["time"] if units else 1.0})
    provenance = file.create_group("provenance")
    for name, value in {"model": "diffusion", "title": "A test", "version": "0", "scenario_sha256": ""}.items():
        provenance.attrs[name] = text(value)
    provenance.attrs["seed"] = np.uint64(7)
    provenance["scenario"] = text("return sim.diffusion {}")
    provenance["parameters"] = text(json.dumps({"units": units} if units else {}))
    return file, group


def record(item, powers):
    item.attrs["unitDimension"] = np.array([*powers, *[0.0] * (7 - len(powers))])
    item.attrs["timeOffset"] = 0.0


def mesh(group, name, values, spacing, powers=(), offset=None, unit_si=1.0, grid_si=1.0):
    """A scalar (an array) or a vector (a dict of arrays by axis)."""
    parts = values if isinstance(values, dict) else {None: values}
    rank = next(iter(parts.values())).ndim
    meshes = group.require_group("meshes")
    owner = meshes.create_group(name) if isinstance(values, dict) else None
    for axis, array in parts.items():
        item = owner.create_dataset(axis, data=array) if owner is not None else meshes.create_dataset(name, data=array)
        item.attrs["unitSI"] = unit_si
        item.attrs["position"] = np.full(rank, 0.5)
    item = owner if owner is not None else item
    record(item, powers)
    item.attrs["geometry"] = text("cartesian")
    item.attrs["dataOrder"] = text("C")
    item.attrs["axisLabels"] = np.array([text(label) for label in "zyx"[-rank:]])
    item.attrs["gridSpacing"] = np.array(spacing, float)
    item.attrs["gridGlobalOffset"] = np.array(offset or [0.0] * rank, float)
    item.attrs["gridUnitSI"] = grid_si


def species(group, name, position, mass=1.0, velocity=None, radius=None):
    """Particles of one mass, at rest where no velocity is given. position, velocity: [3, n]."""
    owner = group.require_group("particles").create_group(name)
    count = len(position[0])
    ids = owner.create_dataset("id", data=np.arange(count, dtype="u8"))
    record(ids, ())
    ids.attrs["unitSI"] = 1.0
    for key, powers in {"position": (1,), "velocity": (1, 0, -1), "positionOffset": (1,)}.items():
        item = owner.create_group(key)
        record(item, powers)
        moving = np.zeros_like(position) if velocity is None else velocity
        for axis, values, speed in zip("xyz", position, moving):
            if key == "positionOffset":
                part = item.create_group(axis)
                part.attrs.update({"value": 0.0, "shape": np.array([count], "u8")})
            else:
                part = item.create_dataset(axis, data=values if key == "position" else speed)
            part.attrs["unitSI"] = 1.0
    item = owner.create_group("mass")
    item.attrs.update({"value": mass, "shape": np.array([count], "u8"), "unitSI": 1.0})
    record(item, (0, 1))
    if radius is not None:
        item = owner.create_group("radius")
        item.attrs.update({"value": radius, "shape": np.array([count], "u8"), "unitSI": 1.0})
        record(item, (1,))


def table(path, name, columns, units=None, display=None, told=None):
    """A table of a run; columns: arrays by name, the first two being step and time. display, told: by name, else "line" and "about NAME"."""
    rows = np.zeros(len(columns["step"]), [(key, "<i8" if key == "step" else "<f8") for key in columns])
    for key, values in columns.items():
        rows[key] = values
    with h5py.File(path, "a") as file:
        dataset = file.create_dataset(name, data=rows, maxshape=(None,), chunks=(128,), fletcher32=True)
        dataset.attrs["columns"] = np.array([text(key) for key in columns])
        dataset.attrs["units"] = np.array([text((units or {}).get(key, "1")) for key in columns])
        dataset.attrs["description"] = np.array([text((told or {}).get(key, f"about {key}")) for key in columns])
        dataset.attrs["display"] = np.array([text((display or {}).get(key, "line")) for key in columns])
        dataset.attrs["unitSI"] = np.ones(len(columns))


def gray_scott(folder: Path, snapshots=3, n=(24, 32)):
    """A run of two fields and a vector on a grid, of three steps, with stated units."""
    units = {"length": 1e-3, "mass": 1.0, "time": 60.0}
    (folder / "snap").mkdir(parents=True)
    y, x = np.meshgrid(*(np.arange(k) + 0.5 for k in n), indexing="ij")
    for i in range(snapshots):
        file, group = begin(folder / "snap" / f"snap_{100 * i:08d}.h5", 100 * i, 50.0 * i, units, meshes=True)
        with file:
            u = 1 + 0.1 * i + np.cos(2 * np.pi * 3 * x / n[1])
            mesh(group, "u", u, (0.5, 0.25), (-3, 1), offset=[1.0, 2.0], unit_si=1e9, grid_si=1e-3)
            mesh(group, "flow", {"x": x - n[1] / 2, "y": y}, (0.5, 0.25), (1, 0, -1), unit_si=1e-3 / 60, grid_si=1e-3)
    (folder / "status.json").write_text('{"state": "done", "step": 200, "time": 100, "t_end": 100, "model": "diffusion"}')


def option(folder: Path, rows=12):
    """A run that has a table of prices only. The reference is 10; the estimate closes in as 1/sqrt(paths)."""
    folder.mkdir(parents=True)
    paths = 2.0 ** np.arange(8, 8 + rows)
    error = 5 / np.sqrt(paths)
    swing = np.cos(3 * np.arange(rows))
    columns = {"step": np.arange(rows), "time": np.arange(rows), "paths": paths, "price": 10 + error * swing,
               "standard_error": error, "reference": np.full(rows, 10.0)}
    table(folder / "tables.h5", "price", columns)
