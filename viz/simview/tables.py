"""Observables over time, as pandas frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

from simview.errors import DamagedError, UnknownAttributeError, UnknownNameError
from simview.hdf5 import reading, text
from simview.units import Units, powers_of

if TYPE_CHECKING:
    import pandas as pd


class Tables(Mapping[str, "pd.DataFrame"]):
    """The tables of a run: ``tables.energy`` or ``tables["energy"]``.

    Each is a frame with one row an output. ``frame.attrs`` holds ``units``, ``description`` and ``display`` (text a
    column: how to draw it, "line" where the file does not say) and ``unitSI`` (number a column). A table is read when
    it is needed, and read again once the run has replaced the file; each time the caller gets a copy.
    """

    def __init__(self, path: Path, units: Units, keep: object = None) -> None:
        self._path = path
        self._keep = keep
        self._units = units
        self._stamp: tuple[int, int, int] | None = None
        self._names: tuple[str, ...] = ()
        self._frames: dict[str, pd.DataFrame] = {}

    def _look(self) -> None:
        """Drops what was read once the file has been replaced."""
        try:
            about = self._path.stat()
        except OSError:
            self._names, self._frames, self._stamp = (), {}, None
            return
        stamp = (about.st_ino, about.st_mtime_ns, about.st_size)
        if stamp == self._stamp:
            return
        with reading(self._path) as file:
            names = tuple(name for name, item in file.items() if isinstance(item, h5py.Dataset) and item.dtype.names)
        self._names, self._frames, self._stamp = names, {}, stamp

    def __iter__(self) -> Iterator[str]:
        self._look()
        return iter(self._names)

    def __len__(self) -> int:
        self._look()
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        self._look()
        return name in self._names

    def __getitem__(self, name: str) -> pd.DataFrame:
        self._look()
        if name not in self._names:
            has = f"there are: {', '.join(self._names)}" if self._names else "there is none yet"
            raise UnknownNameError(f"{self._path}: no table '{name}'; {has}")
        if name not in self._frames:
            self._frames[name] = self._read(name)
        frame = self._frames[name].copy()  # the caller may change it
        frame.attrs = deepcopy(self._frames[name].attrs)
        return frame

    def __getattr__(self, name: str) -> pd.DataFrame:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except UnknownNameError as error:
            raise UnknownAttributeError(str(error)) from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]

    def __repr__(self) -> str:
        return f"<tables of {self._path}: {', '.join(self) or 'none yet'}>"

    def leave_out_damaged(self) -> list[str]:
        """Drops tables that cannot be read, until the file is replaced; returns a line for each."""
        faults: list[str] = []
        try:
            self._look()
        except DamagedError as error:
            about = self._path.stat()
            self._names, self._frames, self._stamp = (), {}, (about.st_ino, about.st_mtime_ns, about.st_size)
            return [str(error)]
        for name in self._names:
            try:
                _ = self[name]
            except DamagedError as error:
                faults.append(str(error) if name in str(error) else f"{error} (table '{name}')")
                self._names = tuple(other for other in self._names if other != name)
        return faults

    def _read(self, name: str) -> pd.DataFrame:
        import pandas as pd

        with reading(self._path) as file:
            dataset = file[name]
            rows = dataset[:]
            attributes = {key: dataset.attrs[key] for key in ("units", "description", "unitSI", "display") if key in dataset.attrs}
        columns = list(rows.dtype.names)
        for key, values in attributes.items():
            if np.shape(values) != (len(columns),):
                raise DamagedError(f"{self._path}: table '{name}': '{key}' does not hold one entry a column")
        frame = pd.DataFrame({column: np.ascontiguousarray(rows[column]) for column in columns})
        raw = [text(unit) for unit in attributes.get("units", ["1"] * len(columns))]
        about: dict[str, dict[str, Any]] = {
            "units": {c: self._units.text(powers_of(unit)) for c, unit in zip(columns, raw)},
            "description": {c: text(d) for c, d in zip(columns, attributes.get("description", [""] * len(columns)))},
            "display": {c: text(d) for c, d in zip(columns, attributes.get("display", ["line"] * len(columns)))},
            "unitSI": {c: float(si) for c, si in zip(columns, attributes.get("unitSI", [1.0] * len(columns)))},
        }
        frame.attrs.update(about)
        return frame
