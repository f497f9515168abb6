"""Runs the program `sim` from Python: one call for a run or a sweep, with results in numpy, pandas and xarray."""

from __future__ import annotations

import json
import os
import re
import selectors
import shutil
import subprocess
import tempfile
import time
import warnings
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from simview.errors import MissingToolError, NotFoundError, RunError, RunWarning, SimviewError, UsageError, file_of, one_name
from simview.progress import Progress, progress_here
from simview.runs import Run
from simview.sweeps import Sweep

Value = bool | int | float | str
Settings = Mapping[str, Any]  # names and values of parameters (`sim.param`)
_BUILT = Path(__file__).resolve().parents[2] / "build" / "release" / "cli" / "sim"  # in a checkout of the sources
_PATIENCE = 30.0  # seconds to wait for a checkpoint after Ctrl-C; sim itself gives up a step that takes 15 s more
_POLL = 0.25  # seconds between two reads of status.json
_MEMORY = Path("/dev/shm")
_RUN_DONE = re.compile(r"^run_\d+ ")
_ONE_LINE = re.compile(r"(.*\s)?return\s.*\{", re.DOTALL)  # matches the text of a scenario on one line, not a path
_OPTION = re.compile(r"--(resume|force)\b")


class _Folder:
    """A temporary folder, removed with its last user or when Python ends. A forked process does not remove it."""

    def __init__(self) -> None:
        # In memory if the system has such a place, unless the user named another place.
        parent = None if os.environ.get("TMPDIR") or not os.access(_MEMORY, os.W_OK) else _MEMORY
        try:
            self.path = Path(tempfile.mkdtemp(prefix="sim_", dir=parent))
        except OSError as error:
            raise SimviewError(f"no temporary folder: {error}") from None
        self.remove = weakref.finalize(self, _remove, self.path, os.getpid())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(None), ()


def _remove(path: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)


def find_sim(sim: str | os.PathLike[str] | None = None) -> str:
    """The path of the program: the argument, else the variable SIM, else `sim` on PATH, else the build of this checkout.

    Raises
    ------
    MissingToolError
        There is no such program.
    """
    named = os.fspath(sim) if sim is not None else os.environ.get("SIM")
    if named:
        found = shutil.which(os.path.abspath(named)) or shutil.which(named)
        if not found:
            raise MissingToolError(f"{named}: no such program" + ("" if sim is not None else " (the variable SIM names it)"))
        return found
    found = shutil.which("sim") or shutil.which(str(_BUILT))
    if not found:
        raise MissingToolError("no program sim: put it on PATH, or name it with the argument sim= or the variable SIM")
    return found


def _text(value: Any, name: str) -> str:
    """A value in the form of `--set`; numbers keep all of their digits."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float, str)):
        return value if isinstance(value, str) else repr(value)
    raise UsageError(f"{name}: wanted a number, a word, True or False, not {value!r}")


def _texts(values: Any, name: str) -> list[str]:
    """The values of one parameter of a sweep, in the form of `--set`."""
    if isinstance(values, (str, bytes, bytearray)) or not isinstance(values, (Iterable, np.ndarray)):
        values = [values]
    found = [_text(value, name) for value in values]
    if not found or any(not text or "," in text for text in found):
        raise UsageError(f"{name}: wanted at least one value, and none that is empty or has a comma")
    return found


def _options(set: Settings | None, named: Mapping[str, Any], options: Sequence[str]) -> list[str]:
    """Options of the command line; options that are None are left out."""
    if set is not None and not isinstance(set, Mapping):
        raise UsageError(f"set: wanted names and values, such as {{'n': 1000}}, not {set!r}")
    if isinstance(options, str):
        raise UsageError("options: wanted a list of words")
    found = [f"--set={one_name(name, 'set')}={_text(value, name)}" for name, value in (set or {}).items()]
    for name, value in named.items():
        if value is True:
            found.append(f"--{name}")
        elif value is not None and value is not False:
            found.append(f"--{name}={_text(value, name)}")
    return [*found, *options]


def _scenario(scenario: str | os.PathLike[str]) -> tuple[str, str | None]:
    """The path for the program; the text to write there where the scenario is a text, else None."""
    if isinstance(scenario, str) and ("\n" in scenario or _ONE_LINE.match(scenario)):
        return "scenario.lua", scenario
    path = file_of(scenario)
    if not path.is_file():
        raise NotFoundError(f"{path}: no such scenario")
    return str(path.absolute()), None


def _stop(process: subprocess.Popen[bytes], patience: float) -> None:
    """Ends the program: asks it to save a checkpoint and end, then kills it. A second Ctrl-C kills it at once."""
    try:
        if patience > 0:
            process.terminate()
            process.wait(patience)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        pass
    finally:
        process.kill()
        process.wait()


def _follow(command: Sequence[str], folder: Path, patience: float, on_line: Callable[[str], None],
            on_tick: Callable[[], None] | None) -> int:  # fmt: skip
    """Runs the program to its end and passes its lines on; returns its exit code. An exception here ends it first."""
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=folder)
    except OSError as error:
        raise MissingToolError(f"{command[0]}: {error.strerror or error}") from None
    assert process.stdout is not None
    try:
        with process.stdout, selectors.DefaultSelector() as selector:
            descriptor = process.stdout.fileno()
            selector.register(descriptor, selectors.EVENT_READ)
            held = b""
            while True:
                if selector.select(_POLL if on_tick else None):
                    got = os.read(descriptor, 1 << 16)
                    *lines, held = (held + got).split(b"\n") if got else [held, b""]
                    for line in lines:
                        if line.strip():
                            on_line(line.decode("utf-8", "replace"))
                    if not got:
                        break
                if on_tick:
                    on_tick()
        code = process.wait()
    except BaseException:
        _stop(process, patience)
        raise
    return code if code >= 0 else 128 - code


class _Messages:
    """Messages of the program: keeps errors, and passes warnings on as Python's."""

    def __init__(self) -> None:
        self.errors: list[str] = []

    def line(self, text: str) -> None:
        """Handles a line of a run with --log-json."""
        try:
            event: Any = json.loads(text)
        except ValueError:
            event = None
        if not isinstance(event, dict):
            self.errors.append(text.removeprefix("sim: "))
        elif event.get("level") == "error":
            if event.get("message") not in self.errors:
                self.errors.append(str(event.get("message")))
        elif event.get("level") == "warning":
            warnings.warn(str(event.get("message")), RunWarning, stacklevel=5)


def run(scenario: str | os.PathLike[str], *, set: Settings | None = None, output: str | os.PathLike[str] | None = None,
        device: str | None = None, seed: int | None = None, precision: str | None = None, threads: int | None = None,
        ranks: int | None = None, wall: str | float | None = None, force: bool = False, resume: bool = False,
        options: Sequence[str] = (), sim: str | os.PathLike[str] | None = None,
        progress: bool | Progress | None = None) -> Run:  # fmt: skip
    """Runs a scenario, and returns its results.

    Parameters
    ----------
    scenario
        The path of a file, or the text of a scenario.
    set
        Values of the scenario's parameters (`sim.param`), such as ``{"n": 1000}``.
    output
        The folder to write; None: a temporary one, in memory where the system has room for it there (/dev/shm, unless the
        variable TMPDIR names another place). It lives as long as the `Run` or anything that was taken from it.
    device, seed, precision, threads, ranks, wall
        As options of ``sim run``; None: what the scenario or the program chooses.
    force
        Replaces an earlier run in `output`.
    resume
        Goes on from the newest checkpoint in `output`, from the start where there is none.
    options
        More options of ``sim run``, word by word: ``["--isa", "avx2"]``.
    sim
        The program; None: see `find_sim`.
    progress
        True: a bar in the notebook or on the terminal; a function: called with `Run.status`, about four times a second;
        False: none. None: a bar where there is a notebook or a terminal.

    Returns
    -------
    Run

    Raises
    ------
    RunError
        The program ended with an error; its own line, the exit code and what this means are in it. 75: the time limit
        `wall` was reached, and a checkpoint is saved.
    MissingToolError
        There is no program `sim`.
    KeyboardInterrupt
        After Ctrl-C: the program has ended; with `output` it has saved a checkpoint first.

    Warns
    -----
    RunWarning
        What the program warns of.
    """
    for name, value in (("force", force), ("resume", resume)):
        if value not in (True, False):
            raise UsageError(f"{name}: wanted True or False, not {value!r}")
    program = find_sim(sim)
    path, text = _scenario(scenario)
    named = {"device": device, "seed": seed, "precision": precision, "threads": threads, "ranks": ranks, "wall": wall,
             "force": force, "resume": "auto" if resume else None}  # fmt: skip
    words = [program, "run", path, *_options(set, named, options), "--log-json"]
    keep = _Folder() if output is None or text is not None else None
    folder = file_of(output).absolute() if output is not None else keep.path / "run" if keep else Path()
    if text is not None and keep:
        path = words[2] = str(keep.path / path)
        Path(path).write_text(text, "utf-8")
    show = progress_here(progress)
    messages = _Messages()
    begin = time.time() - 1  # because file times may be coarse
    last = ""

    def tick() -> None:
        nonlocal last
        with suppress(OSError, ValueError, SimviewError):
            file = folder / "status.json"
            now = file.read_text("utf-8") if file.stat().st_mtime >= begin else ""
            if now and now != last and show:
                last = now
                show(json.loads(now))

    try:
        code = _follow([*words, f"--output={folder}"], Path.cwd(), _PATIENCE if output is not None else 0.0, messages.line,
                       tick if show else None)  # fmt: skip
        if show:
            tick()  # the last state too
    finally:
        if show:
            show(None)
    if code != 0:
        result = None
        if output is not None:
            with suppress(SimviewError):
                result = Run(folder)
        said = _OPTION.sub(r"\1=True", "\n".join(messages.errors))
        if not said and code == 75:
            said = f"{folder}: stopped before its end; resume=True goes on" if output is not None else "stopped before its end"
        raise RunError(code, said, result)
    return Run(folder, keep=keep if output is None else None)


def sweep(scenario: str | os.PathLike[str], *, set: Settings | None = None, seed: int | Iterable[int] | None = None,
          output: str | os.PathLike[str] | None = None, device: str | None = None, precision: str | None = None,
          threads: int | None = None, jobs: int | None = None, wall: str | float | None = None, options: Sequence[str] = (),
          sim: str | os.PathLike[str] | None = None, progress: bool | Progress | None = None) -> Sweep:  # fmt: skip
    """Runs a scenario for every combination of values.

    Parameters
    ----------
    set
        Values of parameters; one or several of each: ``{"F": [0.03, 0.04], "k": 0.06}``.
    seed
        One seed or several.
    output
        The folder of the sweep; where it holds a part of the same sweep, that is continued. None: a temporary one, as of `run`.
    jobs
        How many runs at once; None: by cores, memory and GPUs.
    progress
        As of `run`; a function is called with ``{"done": 3, "runs": 8}``.

    The other parameters are those of `run`.

    Returns
    -------
    Sweep
        ``sweep.frame`` has a row a run.

    Raises
    ------
    RunError
        The sweep could not begin, or runs have failed: ``error.result`` is the sweep with all others.
    """
    program = find_sim(sim)
    path, text = _scenario(scenario)
    if set is not None and not isinstance(set, Mapping):
        raise UsageError(f"set: wanted names and lists of values, such as {{'F': [0.03, 0.04]}}, not {set!r}")
    axes = {f"--set={one_name(name, 'set')}": _texts(values, name) for name, values in (set or {}).items()}
    if seed is not None:
        axes["--seed"] = _texts(seed, "seed")
    named = {"device": device, "precision": precision, "threads": threads, "jobs": jobs, "wall": wall}
    words = [program, "sweep", path, *(f"{name}={','.join(values)}" for name, values in axes.items())]
    words += _options(None, named, options)
    keep = _Folder() if output is None or text is not None else None
    folder = file_of(output).absolute() if output is not None else keep.path / "sweep" if keep else Path()
    if text is not None and keep:
        path = words[2] = str(keep.path / path)
        Path(path).write_text(text, "utf-8")
    show = progress_here(progress)
    total, done = int(np.prod([len(values) for values in axes.values()])), 0
    if not axes:
        raise UsageError("a sweep without parameters: give set={'NAME': [A, B, C]} or seed=range(1, 9)")
    before: list[str] = []  # lines before the first run: one for each fault of a scenario that is refused
    errors: list[str] = []

    def line(text: str) -> None:
        nonlocal done
        if text.startswith("sim: "):
            errors.append(text.removeprefix("sim: "))
        elif _RUN_DONE.match(text):
            done += 1
            if show:
                show({"done": done, "runs": total})
        elif done == 0:
            before.append(text)

    try:
        code = _follow([*words, f"--output={folder}"], Path.cwd(), _PATIENCE if output is not None else 0.0, line, None)
    finally:
        if show:
            show(None)
    if code != 0:
        result = None
        with suppress(SimviewError):
            result = Sweep(folder, keep if output is None else None)
        raise RunError(code, "\n".join(errors or before), result)
    return Sweep(folder, keep if output is None else None)
