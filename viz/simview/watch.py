"""A page on loopback that shows runs, present and past.

It only reads their files, and draws only the pictures that a browser asks for.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
import secrets
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import IO, Any
from urllib.parse import parse_qs, urlsplit

import numpy as np

from simview import options
from simview.errors import NotFoundError, SimviewError, folder_of
from simview.figure import heading, ordered_panels, spread, table_panels
from simview.look import Look
from simview.movie import Screen
from simview.pictures import pictures
from simview.progress import fraction, words
from simview.runs import Run, open as open_run
from simview.style import SETTINGS
from simview.sweeps import is_sweep
from simview.volume import has_surface

_KEPT = 64 << 20  # bytes of pictures that are kept
_LOG = 1 << 16  # bytes of the log's end
_MOST = 4_000_000  # particles that a picture reads; of more one of n
_NEAR = 1.5  # diagonals from which a picture in perspective is seen
_SCREENS = 4  # figures of a run that are kept
_AWAY, _QUIET, _LONGEST = 5.0, 3.0, 300.0  # seconds after a run: without a question, without a picture, at all; a page asks every 2 s
_NICE = 19  # the run goes before the pictures
_SETTING = re.compile(r"--(?:set[ =](\w+)=|(seed)[ =])(\S+)")
_PAGE = {"": ("watch.html", "text/html"), "watch.js": ("watch.js", "text/javascript"), "watch.css": ("watch.css", "text/css")}


def _state(status: dict[str, Any]) -> str:
    """The state of a run; `died` where its process does not exist any more."""
    state = str(status.get("state", "begins"))
    pid = status.get("pid")
    if state == "running" and isinstance(pid, int) and status.get("host") == socket.gethostname():
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return "died"
        except OSError:
            pass
    return state


def _settings(run: Run) -> list[str]:
    """Settings from the run's command line, as `n = 100`: they tell the runs of a sweep apart."""
    found = _SETTING.findall(str(run.provenance.get("command_line", "")))
    return [f"{name or seed} = {value}" for name, seed, value in found]


class _Watched:
    """One run: its lines on the page, or its pictures as PNG. Not for several threads at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._run: Run | None = None
        self._name = ""  # of the run in the folder, which `--force` replaces by another one
        self._screens: OrderedDict[str, Screen] = OrderedDict()

    def run(self) -> Run:
        folder_of(self.path)
        name = self._run_id()
        if self._run is None or name != self._name:
            self._screens.clear()
            self._run, self._name = open_run(self.path), name
        return self._run.refresh()

    def _run_id(self) -> str:
        """The name that the run gave itself; empty where it has none yet."""
        try:
            return (self.path / "run.id").read_text("ascii").strip()
        except (OSError, ValueError):
            return ""

    def about(self) -> dict[str, Any]:
        """The text of the page for this run; a fault becomes a line of it."""
        told: dict[str, Any] = {"title": self.path.name, "state": "begins", "about": "", "fraction": 0, "steps": [], "times": [],
                                "unit": "", "of": "", "axes": {}, "space": False, "panels": [], "tables": "", "fault": "", "eta": 0}  # fmt: skip
        try:
            run = self.run()
            status = run.status
            told["state"] = _state(status)
            told["fraction"] = 1 if told["state"] == "done" else fraction(status)
            eta = status.get("eta") if told["state"] == "running" else 0
            told["unit"] = f" {run.units.text((0, 0, 1))}" if run.units.names else ""
            told["about"] = words({**status, "eta": None}, told["unit"]) if status else ""
            told["eta"] = eta if isinstance(eta, (int, float)) else 0
            told["fault"] = str(status.get("message", "")) if told["state"] in ("failed", "stopped") else ""
            told["title"] = f"{', '.join([heading(run), *_settings(run)])} ({self.path.name})"
            told["steps"] = [int(step) for step in run.steps]
            told["times"] = [None if math.isnan(at) else float(at) for at in run.times]
            told["of"] = self._limits(run)
            told["axes"] = self._axes(run)
            told["space"] = self._in_space(run)
            told["panels"] = list(ordered_panels(run))
            with suppress(OSError):
                about = (run.path / "tables.h5").stat()
                told["tables"] = f"{about.st_ino}.{about.st_mtime_ns}"
        except SimviewError as error:
            told["fault"] = str(error)
            if not self.path.is_dir():
                told["state"], self._run = "gone", None
                self._screens.clear()
        return told

    def _limits(self, run: Run) -> str:
        """Names the run, and the limits and colours of all its pictures: new ones are made when the snapshots have doubled."""
        last = int(run.steps[-1]) if _state(run.status) != "running" and len(run) else 0
        return f"{len(run).bit_length()}.{last}.{self._name[:8]}"

    @staticmethod
    def _axes(run: Run) -> dict[str, list[float]]:
        """For fields on three axes in space the middles of the outermost cells along each; else empty."""
        try:
            fields = [run[-1].field(name) for name in run[-1].fields[:1]] if len(run) else []
        except SimviewError:  # incomplete, or deleted
            return {}
        return {dim: [float(at) for at in field.coords[dim][[0, -1]]] for field in fields if {*field.dims} == {*"xyz"} for dim in field.dims}

    @staticmethod
    def _in_space(run: Run) -> bool:
        """Whether pictures in space are drawn: surfaces, grains, and bodies that a law between pairs may keep apart."""
        try:
            last = run[-1] if len(run) else None
            return last is not None and (
                any(has_surface(last, name) for name in last.fields[:1])
                or any("radius" in last.particles(name) or run.parameters.get("pair") not in (None, "none") for name in last.species[:1])
            )
        except SimviewError:
            return False

    def picture(self, step: int, axis: str = "", share: float = 0.5, eye: tuple[float, ...] | None = None, sharp: bool = False) -> bytes:
        """A snapshot, with the limits and colours of all of the run, as a frame of a film has them.

        `axis`: of fields on three axes the plane across this one, at this share of the way along it; or "volume". `eye`: where
        pictures in space are seen from, as `Look.view` has it. `sharp`: with twice as many pixels along a side, for a page that zooms.
        """
        run = self.run()
        snapshot, key = run.at_step(step), f"{self._limits(run)}/{axis}/{share}/{eye}/{sharp}"
        if key not in self._screens:
            look = Look(pixels=1000 if sharp else 500, most=_MOST, view=eye, volume=axis == "volume")
            ends = self._axes(run)
            if axis and not (ends and (axis == "volume" or (axis in ends and 0 <= share <= 1))):
                raise NotFoundError("no such plane")
            if axis in ends:
                look = Look(axes="xyz".replace(axis, ""), at=ends[axis][0] + share * (ends[axis][1] - ends[axis][0]))
            shown = pictures(spread(run, 5), look, run[:] if len(run) <= 2000 else ())
            self._screens[key] = Screen(shown, heading(run), 240 if sharp else 120, run[-1])
            while len(self._screens) > _SCREENS:
                self._screens.popitem(last=False)
        self._screens.move_to_end(key)
        frame = self._screens[key].frame(snapshot)
        if frame is None:
            raise NotFoundError(f"{snapshot.path}: the run has taken it away")
        return _png(frame)

    def panel(self, name: str) -> bytes:
        """One panel of a table."""
        import matplotlib
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        run = self.run()
        found = table_panels(run)
        if name not in found:
            raise NotFoundError(f"{run.path}: no panel of that name")
        with matplotlib.rc_context(SETTINGS):
            figure = Figure(figsize=options.size(run, 4.4) if name == "estimates" else (4.4, 2.6), dpi=140)
            canvas: Any = FigureCanvasAgg(figure)
            found[name](figure.add_subplot())
            canvas.draw()
            return _png(np.asarray(canvas.buffer_rgba())[..., :3])

    def log(self) -> bytes:
        """The end of run.log."""
        try:
            with (self.path / "run.log").open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - _LOG))
                return file.read()
        except OSError as error:
            raise NotFoundError(f"{self.path / 'run.log'}: {error.strerror}") from None


def _eye(text: str) -> tuple[float, ...] | None:
    """Azimuth and elevation in degrees, and 1 for perspective, as the page sends them: "-60,20,1"."""
    if not text:
        return None
    parts = text.split(",")
    if len(parts) != 3 or not all(part.removeprefix("-").isdecimal() for part in parts) or parts[2] not in ("0", "1"):
        raise NotFoundError("no such page")
    azimuth, elevation = int(parts[0]), int(parts[1])
    if abs(azimuth) > 180 or abs(elevation) > 90:
        raise NotFoundError("no such page")
    return (azimuth, elevation, _NEAR) if parts[2] == "1" else (azimuth, elevation)


def _png(frame: Any) -> bytes:
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(frame).save(out, "PNG", compress_level=1)
    return out.getvalue()


class Watch:
    """Answers the page's requests for some runs; a request has a run's number, so that no path comes from outside.

    Pictures are drawn one at a time, from readers of their own: state, progress and log of the runs do not wait for them.
    """

    def __init__(self, paths: Sequence[str | os.PathLike[str]]) -> None:
        self.runs: list[_Watched] = []
        self._sweeps: list[Path] = []
        for path in map(Path, paths):
            if is_sweep(path):
                self._sweeps.append(path)
                self._add_runs(path)
            else:
                open_run(path)
                self.runs.append(_Watched(path))
        if not self.runs:
            raise NotFoundError("no run to watch yet")
        self._lock, self._drawing = threading.Lock(), threading.Lock()
        self._drawn: dict[Path, _Watched] = {}  # runs as the pictures read them; used under `_drawing`, as `_kept`
        self._asked: dict[tuple[str, str], str] = {}  # by run and panel (empty: the picture): of which state a page had an answer
        self._kept: OrderedDict[str, bytes] = OrderedDict()

    def _add_runs(self, sweep: Path) -> None:
        """Adds the runs of a sweep that have begun since; they come last, as a run keeps its number."""
        known = {watched.path for watched in self.runs}
        self.runs += [_Watched(part) for part in sorted(sweep.glob("run_*")) if part.is_dir() and part not in known]

    def answer(self, name: str, query: dict[str, str]) -> tuple[str, bytes]:
        """The type and the bytes of the answer to one request.

        Raises
        ------
        NotFoundError
            There is nothing of that name.
        SimviewError
            A file is damaged.
        """
        if name in _PAGE:
            file, kind = _PAGE[name]
            return f"{kind}; charset=utf-8", (files("simview") / file).read_bytes()
        with self._lock:
            if name == "runs":
                for sweep in self._sweeps:
                    self._add_runs(sweep)
                return "application/json", json.dumps([watched.about() for watched in self.runs], allow_nan=False).encode()
            number = query.get("run", "")
            if name not in ("picture", "panel", "log") or not number.isdecimal() or int(number) >= len(self.runs):
                raise NotFoundError("no such page")
            path = self.runs[int(number)].path
            if name == "log":
                return "text/plain; charset=utf-8", self.runs[int(number)].log()
        return "image/png", self._image(path, name, query)

    def _image(self, path: Path, name: str, query: dict[str, str]) -> bytes:
        """A picture or a panel of a run as PNG."""
        number, step = query["run"], query.get("step", "")
        with self._drawing:
            watched = self._drawn.setdefault(path, _Watched(path))
            if name == "panel":
                make = partial(watched.panel, query.get("name", ""))
            elif step.isdecimal():
                axis, share = query.get("axis", ""), query.get("share", "500")
                if axis not in ("", "x", "y", "z", "volume") or not share.isdecimal() or int(share) > 1000:
                    raise NotFoundError("no such page")
                eye, sharp = _eye(query.get("eye", "")), query.get("sharp") == "1"
                step += f"/{axis}/{share}/{eye}/{sharp}"
                make = partial(watched.picture, int(query["step"]), axis, int(share) / 1000, eye, sharp)
            else:
                raise NotFoundError("no such page")
            try:
                return self._keep(f"{name}/{number}/{step}/{query.get('name')}/{query.get('of')}", make)
            finally:
                with self._lock:
                    self._asked[number, query.get("name", "")] = query.get("of", "")  # one that cannot be drawn is answered too

    def complete(self) -> bool:
        """Whether some page had a picture and all panels of each run as it is now."""
        with self._lock:
            for number, told in enumerate(watched.about() for watched in self.runs):
                wanted = {name: told["tables"] for name in told["panels"]} | ({"": told["of"]} if told["steps"] else {})
                if any(self._asked.get((str(number), name)) != of for name, of in wanted.items()):
                    return False
        return True

    def _keep(self, key: str, make: Callable[[], bytes]) -> bytes:
        """Makes a picture once and keeps it; pictures that were unused for the longest time are dropped first."""
        if key in self._kept:
            self._kept.move_to_end(key)
        else:
            self._kept[key] = make()
            while len(self._kept) > 1 and sum(map(len, self._kept.values())) > _KEPT:
                self._kept.popitem(last=False)
        return self._kept[key]


class Visits:
    """When pages last asked: what a server that is about to end waits for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open, self._last, self._drawn = 0, -math.inf, -math.inf

    def begin(self) -> None:
        with self._lock:
            self._open += 1

    def end(self, drawn: bool) -> None:
        with self._lock:
            self._open -= 1
            self._last = time.monotonic()
            if drawn:
                self._drawn = self._last

    def wait(self, watch: Watch, longest: float = _LONGEST) -> None:
        """Returns when no page asks any more, or all that there is was shown and no page has asked for a picture since; at the
        latest after `longest` seconds."""
        begun = time.monotonic()
        while (now := time.monotonic()) < begun + longest:
            with self._lock:
                still, last, drawn = self._open == 0, self._last, self._drawn
            if still and (now - last > _AWAY or (now - max(drawn, begun) > _QUIET and watch.complete())):
                return
            time.sleep(0.1)


class Server(ThreadingHTTPServer):
    """A server of pages, which knows when they last asked."""

    daemon_threads = True
    visits: Visits


def serve(watch: Watch, port: int = 0) -> tuple[Server, str]:
    """A server on 127.0.0.1 that has not begun to answer, and its link, which holds a secret token.

    Raises
    ------
    SimviewError
        The port is taken.
    """
    token = secrets.token_urlsafe(24)

    class Handler(BaseHTTPRequestHandler):
        server_version, sys_version, protocol_version = "simview", "", "HTTP/1.1"

        def do_GET(self) -> None:  # noqa: N802
            self.reply(True)

        def do_HEAD(self) -> None:  # noqa: N802
            self.reply(False)

        def reply(self, body: bool) -> None:
            server.visits.begin()
            drawn = False
            try:
                drawn = self.answer(body) == "image/png"
            finally:
                server.visits.end(drawn)

        def answer(self, body: bool) -> str:
            """Sends one answer, whose type it returns."""
            more: tuple[tuple[str, str], ...] = ()
            try:
                asked = urlsplit(self.path)
                _, given, name = [*asked.path.split("/", 2), "", ""][:3]
                query = {key: values[0] for key, values in parse_qs(asked.query).items()}
                if not secrets.compare_digest(given.encode(), token.encode()):
                    code, kind, text = 403, "text/plain", b"the link's token is missing\n"
                elif asked.path.count("/") < 2:  # a link without its last slash; relative, as a proxy may stand before
                    code, kind, text, more = 308, "text/plain", b"", (("Location", f"{token}/"),)
                else:
                    code, (kind, text) = 200, watch.answer(name, query)
            except NotFoundError as error:
                code, kind, text = 404, "text/plain; charset=utf-8", str(error).encode()
            except (SimviewError, ValueError) as error:
                code, kind, text = 503, "text/plain; charset=utf-8", str(error).encode()
            self.send_response(code)
            for header, value in (*more, ("Content-Type", kind), ("Content-Length", str(len(text))), ("Cache-Control", "no-store"),
                                  ("Referrer-Policy", "no-referrer"), ("X-Content-Type-Options", "nosniff"),
                                  ("Content-Security-Policy", "default-src 'self'; img-src 'self' blob: data:")):  # fmt: skip
                self.send_header(header, value)
            self.end_headers()
            if body:
                with suppress(BrokenPipeError, ConnectionResetError):
                    self.wfile.write(text)
            return kind

        def log_message(self, *_: Any) -> None:
            """Prints nothing."""

    try:
        server = Server(("127.0.0.1", port), Handler)
    except OSError as error:
        raise SimviewError(f"port {port}: {error.strerror}; --port chooses another one") from None
    server.visits = Visits()
    return server, f"http://127.0.0.1:{server.server_port}/{token}/"


def _wait_for(stream: IO[Any], ended: threading.Event) -> None:
    stream.read()
    ended.set()


def _shut(ended: threading.Event, server: Server, watch: Watch) -> None:
    ended.wait()
    try:
        server.visits.wait(watch)
    finally:
        server.shutdown()


def watch(paths: Sequence[str], port: int = 0, say: Callable[[str], None] = print, until: IO[Any] | None = None) -> None:
    """Shows runs and sweeps on a page until Ctrl-C. The process has the lowest priority.

    With `until` the page belongs to a run that has just begun: it waits for the first files, and ends with this stream, which
    the run's process holds open; where a page is open in a browser then, once that has the last picture and tables.
    """
    with suppress(OSError, AttributeError):
        os.nice(_NICE)
    ended = threading.Event()
    if until is not None:
        threading.Thread(target=_wait_for, args=(until, ended), daemon=True).start()
    while True:
        try:
            shown = Watch(paths)
            server, link = serve(shown, port)
            break
        except NotFoundError:
            if until is None:
                raise
            if ended.wait(0.2):
                return
    if ended.is_set():  # the run ended before the page could be shown
        server.server_close()
        return
    if until is not None:
        threading.Thread(target=_shut, args=(ended, server, shown), daemon=True).start()
        say(f"simview: {link}\n(as long as the run goes on, and until an open page has its last picture; from another machine first: ssh -N -L "
            f"{server.server_port}:127.0.0.1:{server.server_port} {socket.gethostname()})")  # fmt: skip
        with server:
            server.serve_forever()
        return
    say(f"{link}\n(Ctrl-C ends; from another machine first: ssh -N -L {server.server_port}:127.0.0.1:{server.server_port} {socket.gethostname()})")
    with server:
        server.serve_forever()
