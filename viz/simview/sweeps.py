"""A folder of `sim sweep`: one run for each combination of parameters."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from simview.errors import DamagedError, NotFoundError, OutOfRangeError, UnknownNameError, UsageError, folder_of, whole_number
from simview.runs import Run

if TYPE_CHECKING:
    import pandas as pd


def is_sweep(path: str | os.PathLike[str]) -> bool:
    """Whether a folder was written by `sim sweep`."""
    return any((Path(path) / name).is_file() for name in ("sweep.csv", "sweep.txt"))


def open_sweep(path: str | os.PathLike[str]) -> Sweep:
    """Opens the folder of a sweep. No run is read before it is needed.

    Parameters
    ----------
    path
        The folder that ``sim sweep`` writes, such as ``galaxy.sweep``. The sweep may still be going.

    Returns
    -------
    Sweep

    Raises
    ------
    NotFoundError
        There is no such folder, or no sweep has written it.
    """
    return Sweep(folder_of(path))


class Sweep(Sequence[Run]):
    """The runs of a sweep in their order, and their results in one frame."""

    def __init__(self, path: Path, keep: object = None) -> None:
        path = folder_of(path)
        if not is_sweep(path):
            raise NotFoundError(f"{path}: no sweep of sim (no sweep.csv in it)")
        self.path = path
        self._keep = keep  # owner of the folder of a sweep without `output`
        self._frame: pd.DataFrame | None = None
        self._stamp: tuple[int, int] | None = None
        self._parameters: tuple[str, ...] = ()
        self._runs: dict[str, Run] = {}
        self._damaged: set[str] = set()

    @property
    def name(self) -> str:
        """The folder's name without '.sweep'."""
        return self.path.resolve().name.removesuffix(".sweep").removesuffix(".out")

    @property
    def title(self) -> str:
        """The title that the scenario gives all runs; else the folder's name."""
        titles = set()
        for run in self[:: max(1, len(self) - 1)]:  # the first and the last
            with suppress(DamagedError):
                titles.add(str(run.provenance.get("title", "")))
        return titles.pop() or self.name if len(titles) == 1 else self.name

    @property
    def frame(self) -> pd.DataFrame:
        """One row a run, by name: its parameters, ``state``, ``exit``, ``digest``, and the last row of each table.

        Columns of tables are named 'TABLE.COLUMN'. Read anew once the sweep has replaced ``sweep.csv``.
        """
        path = self.path / "sweep.csv"
        try:
            about = path.stat()
        except OSError:
            raise NotFoundError(f"{path}: not there yet: the sweep is still going or was killed; its command goes on") from None
        stamp = (about.st_mtime_ns, about.st_size)
        if self._frame is None or stamp != self._stamp:
            self._frame, self._parameters = _read(path)
            self._stamp = stamp
        return self._frame.copy()  # the caller may change it

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters that the sweep varies, in the order of its command."""
        _ = self.frame
        return self._parameters

    def select(self, **parameters: Any) -> list[Run]:
        """The runs with these values, such as ``select(F=0.03)``.

        Raises
        ------
        NotFoundError
            No such parameter.
        """
        found = self.frame
        for name, value in parameters.items():
            if name not in self.parameters:
                raise NotFoundError(f"{self.path}: no parameter '{name}'; there are: {', '.join(self.parameters)}")
            try:
                found = found[found[name] == value]
            except (TypeError, ValueError) as error:
                raise UsageError(f"{self.path}: {name}: wanted one value: {error}") from None
        return [self[str(name)] for name in found.index if self._written(str(name))]

    def leave_out_damaged(self) -> list[str]:
        """Checks the files of all runs, and drops snapshots and tables that cannot be read from the runs.

        Returns
        -------
        list of str
            A line for each of them.
        """
        faults: list[str] = []
        for name in map(str, self.frame.index):
            found: list[str] = []
            whole = False  # parameters and last snapshot can be read
            try:
                run = self[name]
                last = list(run.steps[-1:])
                with _noting(found):
                    _ = run.status
                with _noting(found):
                    _ = run.provenance
                    for part in (run, *run.slices.values()):
                        found += part.leave_out_damaged()
                    whole = last == list(run.steps[-1:])
            except NotFoundError:  # not written yet
                whole = True
            if not whole:
                self._damaged.add(name)
            faults += [fault for fault in dict.fromkeys(found) if fault not in faults]
        return faults

    def _written(self, name: str) -> bool:
        return (self.path / name).is_dir()

    def __len__(self) -> int:
        return sum(1 for name in self.frame.index if self._written(str(name)))

    @overload
    def __getitem__(self, index: int | str) -> Run: ...
    @overload
    def __getitem__(self, index: slice) -> list[Run]: ...
    def __getitem__(self, index: int | str | slice) -> Run | list[Run]:
        names = [str(name) for name in self.frame.index if self._written(str(name))]
        if isinstance(index, slice):
            try:
                return [self[name] for name in names[index]]
            except (TypeError, ValueError) as error:
                raise UsageError(f"{self.path}: no range of runs: {error}") from None
        if isinstance(index, str):
            if index not in names:
                raise UnknownNameError(f"{self.path}: no run '{index}'; there are {len(names)}, such as {', '.join(names[:1])}")
            name = index
        else:
            index = whole_number(index, "number of a run")
            if not -len(names) <= index < len(names):
                raise OutOfRangeError(f"{self.path}: no run {index}: there are {len(names)}")
            name = names[index]
        if name not in self._runs:
            self._runs[name] = Run(self.path / name, keep=self._keep)
        return self._runs[name]

    def __repr__(self) -> str:
        return f"<sweep {self.path}: {len(self)} runs over {', '.join(self.parameters)}>"


@contextmanager
def _noting(faults: list[str]) -> Iterator[None]:
    try:
        yield
    except DamagedError as error:
        faults.append(str(error))


def _number(value: str) -> float:
    """Parses a number as Python does: pandas' own way may be wrong in the last digit."""
    return int(value) if value.lstrip("-").isdigit() else float(value or "nan")


def _read(path: Path) -> tuple[pd.DataFrame, tuple[str, ...]]:
    import pandas as pd

    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
    except (OSError, UnicodeDecodeError, csv.Error):
        raise DamagedError(f"{path}: cut short or damaged") from None
    if not rows or rows[0][:1] != ["run"] or "state" not in rows[0]:
        raise DamagedError(f"{path}: cut short or damaged, or not as sim writes it")
    head, *body = rows
    for number, row in enumerate(body, 2):
        if len(row) != len(head):
            raise DamagedError(f"{path}: cut short or damaged: line {number} has {len(row)} values, not {len(head)}")
    frame = pd.DataFrame(body, columns=head).set_index("run")
    for name in frame.columns:
        if name not in ("state", "digest"):
            with suppress(ValueError):  # a parameter that is a word stays a word
                frame[name] = [_number(value) for value in frame[name]]
    return frame, tuple(head[1 : head.index("state")])
