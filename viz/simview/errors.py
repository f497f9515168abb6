"""Errors of simview, each with the exit code of the command. A message is one line for the user.

Arguments of the package are checked here too: a wrong one is a `UsageError`.
"""

from __future__ import annotations

import math
import operator
import os
import signal
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np


class SimviewError(Exception):
    """Any error that simview reports."""

    exit_code = 70
    __str__ = Exception.__str__  # a KeyError would print its message in quotes


class UsageError(SimviewError):
    """An argument or option makes no sense."""

    exit_code = 64


class DamagedError(SimviewError):
    """A file is cut short, damaged, or not laid out as sim writes it."""

    exit_code = 65


class NotFoundError(SimviewError):
    """There is no run, snapshot, table, species or field of that name."""

    exit_code = 66


class UnknownNameError(NotFoundError, KeyError):
    """No such name in a mapping such as ``run.tables``: also a `KeyError`, so that ``get`` works."""


class UnknownAttributeError(NotFoundError, AttributeError):
    """No table of that name: also an `AttributeError`, so that ``hasattr`` works."""


class OutOfRangeError(NotFoundError, IndexError):
    """No snapshot or run of that number: also an `IndexError`, as of any sequence."""


class MissingToolError(SimviewError):
    """A program or package that is needed is not installed."""

    exit_code = 69


class CannotWriteError(SimviewError):
    """A picture or film cannot be written."""

    exit_code = 73


MEANINGS = {
    64: "usage", 65: "bad scenario", 66: "no such file", 69: "no usable device", 70: "internal error", 71: "out of memory",
    73: "cannot create, or the folder is in use", 74: "I/O", 75: "stopped early, checkpoint saved: continue with sim resume",
    77: "permission", 78: "checkpoint not compatible", 80: "diverged (NaN, energy)", 81: "device failed", 82: "a rank was lost",
    83: "sim verify or sim doctor has found faults",
}  # fmt: skip
"""Exit codes of sim, as `sim --help` lists them."""


class RunError(SimviewError):
    """The program `sim` ended with an error.

    Attributes
    ----------
    exit_code
        Of the program; 128 + N where signal N ended it.
    meaning
        What this code means, such as 'bad scenario'.
    message
        Lines of the program: one line, or one for each fault of a bad scenario.
    result
        The `Run` or `Sweep` up to the error; None where there is none.
    """

    def __init__(self, exit_code: int, message: str, result: Any = None) -> None:
        signal_name = signal.Signals(exit_code - 128).name if exit_code - 128 in set(signal.Signals) else ""
        self.exit_code = exit_code
        self.meaning = MEANINGS.get(exit_code, f"ended by {signal_name}" if signal_name else "unknown")
        self.message = message or "sim ended without a message"
        self.result = result
        super().__init__(f"{self.message} (exit code {exit_code}: {self.meaning})")


class RunWarning(UserWarning):
    """A warning of the program `sim`."""


def _shown(value: object) -> str:
    """A value in the form for a message: one short line."""
    line = " ".join(repr(value).split())
    return line if len(line) <= 60 else line[:57] + "..."


def whole_number(value: Any, what: str, least: int | None = None, most: int | None = None) -> int:
    """Returns an integer of any integer type; `least`, `most`: the smallest and the largest that make sense."""
    try:
        number = operator.index(value)
    except TypeError:
        raise UsageError(f"{what}: wanted an integer, not {_shown(value)}") from None
    if least is not None and number < least:
        raise UsageError(f"{what}: wanted {least} or more, not {number}")
    if most is not None and number > most:
        raise UsageError(f"{what}: wanted {most} or less, not {number}")
    return number


def finite_number(value: Any, what: str, least: float = -math.inf, most: float = math.inf) -> float:
    """Returns a real number that is neither NaN nor infinite, from `least` to `most`."""
    try:
        number = math.nan if isinstance(value, (str, bytes)) or np.ndim(value) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise UsageError(f"{what}: wanted a number, not {_shown(value)}")
    if not least <= number <= most:
        raise UsageError(f"{what}: wanted a number from {least:g} to {most:g}, not {_shown(value)}")
    return number


def one_name(value: Any, what: str) -> str:
    """Returns a name."""
    if not isinstance(value, str):
        raise UsageError(f"{what}: wanted a name, not {_shown(value)}")
    return value


def names_of(value: Any, what: str) -> list[str]:
    """Returns one name or several as a list."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, Iterable) or isinstance(value, (bytes, bytearray)):
        raise UsageError(f"{what}: wanted a name or a list of names, not {_shown(value)}")
    return [one_name(name, what) for name in value]


def one_of(value: Any, what: str, known: Iterable[str]) -> str:
    """Returns one of several known names."""
    if one_name(value, what) not in known:
        raise UsageError(f"{what}: no '{value}'; there are: {', '.join(known)}")
    return str(value)


def instance_of(value: Any, what: str, kind: type) -> None:
    """Refuses an object of another class."""
    if not isinstance(value, kind):
        raise UsageError(f"{what}: wanted a {kind.__name__}, not {_shown(value)}")


def file_of(path: Any) -> Path:
    """Returns the path of a file to write."""
    try:
        name = os.fsdecode(path)
        if not name or "\0" in name:
            raise TypeError
        return Path(name)
    except TypeError:
        raise UsageError(f"wanted the path of a file, not {_shown(path)}") from None


def folder_of(path: Any) -> Path:
    """Returns the path of an existing folder."""
    try:
        folder = Path(os.fsdecode(path))
        found = folder.stat()
    except TypeError:
        raise UsageError(f"wanted the path of a folder, not {_shown(path)}") from None
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise NotFoundError(f"{path}: no such folder") from None
    except OSError as error:
        raise NotFoundError(f"{path}: {error.strerror}") from None
    if not stat.S_ISDIR(found.st_mode):
        raise NotFoundError(f"{folder}: not a folder; simview wants what sim wrote, such as galaxy.out")
    return folder
