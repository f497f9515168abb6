"""Progress of a run started from Python: a bar on a terminal or in a notebook."""

from __future__ import annotations

import html
import sys
import time
from collections.abc import Callable
from typing import IO, Any

from simview.errors import UsageError

Progress = Callable[[dict[str, Any]], None]
Shown = Callable[["dict[str, Any] | None"], None]
_QUIET = 0.5  # seconds before a bar appears: short runs show none


def fraction(status: dict[str, Any]) -> float:
    """The fraction of a run or sweep that is done, 0 to 1."""
    done, whole = (status.get("done", 0), status.get("runs")) if "runs" in status else (status.get("time", 0), status.get("t_end"))
    try:
        return min(1.0, max(0.0, float(done) / float(whole)))  # type: ignore[arg-type]
    except (TypeError, ValueError, ZeroDivisionError):
        return 0.0


def words(status: dict[str, Any], unit: str = "") -> str:
    """The text behind the bar, such as '40 %, t = 2 of 5, 12 s left'; `unit`: of time, such as ' Myr'."""
    if "runs" in status:
        return f"{status.get('done', 0)} of {status['runs']} runs"
    if status.get("phase"):
        return str(status["phase"])
    now, end = float(status.get("time", 0)), float(status.get("t_end", 0))
    text = f"{100 * fraction(status):.0f} %, " + (f"{now:.0f} of {end:.0f} paths" if status.get("model") == "option" else f"t = {now:.4g} of {end:.4g}{unit}")
    eta = status.get("eta")
    return text + (f", {duration(float(eta))} left" if isinstance(eta, (int, float)) else "")


def duration(seconds: float) -> str:
    """A duration as text, such as '12 s', '3:05 min', '2:10 h'."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60}:{whole % 60:02d} min" if whole < 3600 else f"{whole // 3600}:{whole % 3600 // 60:02d} h"


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return type(shell).__name__ == "ZMQInteractiveShell"


def _terminal(out: IO[str]) -> Shown:
    begin, shown = time.monotonic(), False

    def show(status: dict[str, Any] | None) -> None:
        nonlocal shown
        if status is None:
            if shown:
                out.write("\r\033[K")
        elif time.monotonic() - begin >= _QUIET:
            filled = int(30 * fraction(status))
            out.write(f"\r\033[K[{'#' * filled}{'.' * (30 - filled)}] {words(status)}")
            shown = True
        out.flush()

    return show


def _notebook() -> Shown:
    begin, handle = time.monotonic(), None

    def show(status: dict[str, Any] | None) -> None:
        nonlocal handle
        from IPython.display import HTML, display

        if status is None:
            if handle is not None:
                handle.update(HTML(""))
        elif time.monotonic() - begin >= _QUIET:
            bar = HTML(f'<progress max="1" value="{fraction(status):.4f}"></progress> {html.escape(words(status))}')
            if handle is None:
                handle = display(bar, display_id=True)
            else:
                handle.update(bar)

    return show


def progress_here(asked: bool | Progress | None) -> Shown | None:
    """Returns a function to show the progress, called with a status, and with None at the end; None: shows nothing.

    asked: True, False, a function of a status, or None: a bar in a notebook or on a terminal.
    """
    if asked is False:
        return None
    if asked is None or asked is True:
        if _in_notebook():
            return _notebook()
        return _terminal(sys.stderr) if asked or sys.stderr.isatty() else None
    if not callable(asked):
        raise UsageError("progress: wanted True, False or a function of a status")
    given = asked
    return lambda status: given(status) if status is not None else None
