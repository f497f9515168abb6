"""Last values of runs of `sim`, by a program that stays: from the second call on, device and kernels are ready.

For loops, such as those of a calibration.
"""

from __future__ import annotations

import atexit
import json
import math
import os
import subprocess
import tempfile
import threading
import warnings
from contextlib import suppress
from typing import Any

import numpy as np

from simview.errors import MissingToolError, NotFoundError, RunError, RunWarning, UsageError, one_name
from simview.launch import Settings, _Folder, _scenario, _text, find_sim


class Values:
    """The last values of a run.

    Attributes
    ----------
    tables
        The last row of each table: ``values.tables["price"]["price"]``; NaN where there is none.
    datasets
        Ladders and paths of options, by name: ``axes``, and of each variable the names of its axes and its numbers in a row,
        the last axis fastest. Empty where there are none.
    digest
        Of the final state, as ``status.json`` of a run has it.
    """

    def __init__(self, answer: dict[str, Any]) -> None:
        self.tables: dict[str, dict[str, float]] = {
            name: {column: math.nan if value is None else value for column, value in row.items()}
            for name, row in answer["tables"].items()}  # fmt: skip
        self.datasets: dict[str, dict[str, Any]] = answer.get("datasets", {})
        self.digest: str = answer["digest"]

    def _of_payoffs(self, table: str, column: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        if table in self.tables:
            return np.array([value for name, value in self.tables[table].items() if name not in ("step", "time")])
        if "price" not in self.tables:
            raise NotFoundError(f"no table price; there are: {', '.join(self.tables)}")
        return np.array([self.tables["price"][column]])

    @property
    def prices(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The price of each payoff, in the order of the scenario."""
        return self._of_payoffs("prices", "price")

    @property
    def errors(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The standard error of each price."""
        return self._of_payoffs("errors", "standard_error")

    def __repr__(self) -> str:
        return f"<Values of {', '.join(self.tables)}>"


class _Server:
    """A process of `sim serve` that makes one run after the other."""

    def __init__(self, command: list[str]) -> None:
        self.lock = threading.Lock()
        self.folder = _Folder()
        self.text = ""
        self.said = tempfile.TemporaryFile(dir=self.folder.path)  # noqa: SIM115
        try:
            # A session of its own: Ctrl-C goes to Python, which ends the program.
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.said,
                                            start_new_session=True)  # fmt: skip
        except OSError as error:
            raise MissingToolError(f"{command[0]}: {error.strerror or error}") from None

    def path_of(self, path: str, text: str | None) -> str:
        """Path of the scenario's file; a text is written only when it has changed."""
        if text is None:
            return path
        file = self.folder.path / path
        if text != self.text:
            file.write_text(text, "utf-8")
            self.text = text
        return str(file)

    def ask(self, words: list[str]) -> dict[str, Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        line = b""
        with suppress(BrokenPipeError):
            self.process.stdin.write("\t".join(words).encode("utf-8", "surrogateescape") + b"\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        if line.endswith(b"\n"):
            answer: dict[str, Any] = json.loads(line)
            return answer
        code = self.process.wait()
        self.said.seek(0)
        said = self.said.read().decode("utf-8", "replace").strip().removeprefix("sim: ")
        raise RunError(code if code >= 0 else 128 - code, said or "sim serve has ended before its answer")

    def end(self, patience: float = 0.0) -> None:
        """Ends the program by closing its input; a program that computes is killed."""
        assert self.process.stdin is not None and self.process.stdout is not None
        with suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.said.close()
        self.folder.remove()


_servers: dict[tuple[str, ...], _Server] = {}
_owner = os.getpid()
_guard = threading.Lock()


@atexit.register
def _end_all() -> None:
    if os.getpid() != _owner:
        return
    while _servers:
        _servers.popitem()[1].end(1.0)


def _server(command: list[str]) -> _Server:
    """The program for this command line, started by this process and not by one that it was forked from."""
    global _owner
    with _guard:
        if os.getpid() != _owner:
            _servers.clear()
            _owner = os.getpid()
        key = tuple(command)
        if key not in _servers:
            _servers[key] = _Server(command)
        return _servers[key]


def _drop(command: list[str], server: _Server) -> None:
    with _guard:
        if _servers.get(tuple(command)) is server:
            del _servers[tuple(command)]
    server.end()


def price(scenario: str | os.PathLike[str], *, set: Settings | None = None, device: str | None = None,
          precision: str | None = None, threads: int | None = None, sim: str | os.PathLike[str] | None = None) -> Values:  # fmt: skip
    """Runs a scenario for its last values, in milliseconds from the second call on; no files are written.

    Parameters
    ----------
    scenario
        The path of a file, or the text of a scenario.
    set
        Values of the scenario's parameters (`sim.param`), such as ``{"vol": 0.2}``.
    device, precision, threads
        As options of ``sim serve``. Calls with other options have a program of their own, which ends with Python.
    sim
        The program; None: see `find_sim`.

    Returns
    -------
    Values
        ``values.prices`` has the price of each payoff, ``values.tables`` the last row of each table of any model.

    Raises
    ------
    RunError
        The scenario was refused or the run failed, with the program's own lines; or the program has ended.
    KeyboardInterrupt
        After Ctrl-C: the program has ended, too.

    Warns
    -----
    RunWarning
        What the program warns of.
    """
    if set is not None and not hasattr(set, "items"):
        raise UsageError(f"set: wanted names and values, such as {{'n': 1000}}, not {set!r}")
    path, text = _scenario(scenario)
    named = {"device": device, "precision": precision, "threads": threads}
    command = [find_sim(sim), "serve", *(f"--{name}={_text(value, name)}" for name, value in named.items() if value is not None)]
    words = [f"{one_name(name, 'set')}={_text(value, name)}" for name, value in (set or {}).items()]
    if any(mark in word for word in [path, *words] for mark in "\t\n"):
        raise UsageError("a path or a value has a tab or a new line")
    server = _server(command)
    try:
        with server.lock:
            answer = server.ask([server.path_of(path, text), *words])
    except BaseException:
        _drop(command, server)
        raise
    if "error" in answer:
        raise RunError(answer["exit_code"], answer["error"])
    for message in answer["warnings"]:
        warnings.warn(message, RunWarning, stacklevel=2)
    return Values(answer)
