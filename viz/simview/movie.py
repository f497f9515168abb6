"""Films: one frame a snapshot, drawn by several processes, written by ffmpeg or, as a GIF, by Pillow.

ffmpeg is that of the machine, else that of the package imageio-ffmpeg.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from simview.errors import (
    CannotWriteError,
    MissingToolError,
    NotFoundError,
    SimviewError,
    UsageError,
    file_of,
    finite_number,
    instance_of,
    whole_number,
)
from simview.figure import DOTS, heading, spread
from simview.look import Look, Picture
from simview.maps import Map
from simview.pictures import pictures, refuse_unused
from simview.runs import Run, cores
from simview.snapshot import Snapshot
from simview.style import SETTINGS, wrap

Frame = NDArray[np.uint8]
# A GIF holds pauses of up to 65535 hundredths of a second; browsers show no pause below two hundredths.
FPS = {".gif": (0.002, 50.0), ".mp4": (0.001, 1000.0), ".webm": (0.001, 1000.0)}
_CODECS = {
    ".mp4": ["-c:v", "libx264", "-crf", "18", "-movflags", "+faststart", "-f", "mp4"],
    ".webm": ["-c:v", "libvpx-vp9", "-crf", "24", "-b:v", "0", "-deadline", "good", "-cpu-used", "4", "-threads", "1", "-f", "webm"],
}
FRAMES = 8  # least number of frames for a process: as many as one draws while another one starts


class Screen:
    """A figure of fixed size that shows snapshots; every process has one. The layout is made for the last snapshot."""

    def __init__(self, shown: Sequence[Picture], title: str, dpi: int, last: Snapshot) -> None:
        import matplotlib
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        with matplotlib.rc_context({**SETTINGS, "font.size": 9, "axes.titlesize": 9}):
            columns = min(2, len(shown))
            rows = -(-len(shown) // columns)
            figure = Figure(figsize=(6.0 if columns == 1 else 8.0, 0.3 + (4.8 if columns == 1 else 3.6) * rows), dpi=dpi)
            self.canvas: Any = FigureCanvasAgg(figure)
            figure.suptitle(wrap(title, 0.95 * figure.get_figwidth(), 10), fontsize=10)
            self.shown = shown
            for i, picture in enumerate(shown):
                picture.draw(figure.add_subplot(rows, columns, i + 1))
        for _ in range(2):  # a legend below square axes moves as they shrink
            self.frame(last)
        figure.set_layout_engine("none")

    def frame(self, snapshot: Snapshot) -> Frame | None:
        """A frame; None where the run has deleted the snapshot meanwhile."""
        import matplotlib

        try:
            with matplotlib.rc_context(SETTINGS):
                for picture in self.shown:
                    picture.show(snapshot)
                self.canvas.draw()
        except NotFoundError:
            return None
        picture_bytes = np.asarray(self.canvas.buffer_rgba())[..., :3]
        height, width = picture_bytes.shape[:2]
        return np.ascontiguousarray(picture_bytes[: height - height % 2, : width - width % 2])  # H.264 needs even sides


def _work() -> None:
    """Main function of a drawing process: reads a screen and its snapshots from stdin, writes the frames to stdout."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one ends it
    out = sys.stdout.buffer
    try:
        try:
            screen, snapshots = pickle.load(sys.stdin.buffer)
            made = Screen(*screen)
            for snapshot in snapshots:
                pickle.dump(made.frame(snapshot), out, protocol=5)
                out.flush()
        except BrokenPipeError:
            raise
        except Exception as error:
            pickle.dump(error, out)
            out.flush()
    except BrokenPipeError:
        sys.stderr.close()
        os._exit(1)


_COMMAND = "import sys; sys.path[:] = sys.argv[1:]; from simview.movie import _work; _work()"


def _frames(screen: tuple[Any, ...], snapshots: Sequence[Snapshot], workers: int) -> Generator[Frame | None, None, None]:
    """Yields the frames in order. Of n processes the k-th draws snapshots k, k + n, ...; each keeps one frame at most.

    The processes are started anew, not forked. A forked process shares open font files, and the position in them, with
    its parent: matplotlib then reads broken glyphs. They do not import the user's `__main__` either.
    """
    if workers < 2 or not sys.executable:
        made = Screen(*screen)
        yield from map(made.frame, snapshots)
        return
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for k in range(workers):
            command = [sys.executable, "-c", _COMMAND, *(path or os.getcwd() for path in sys.path)]
            processes.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        for k, process in enumerate(processes):
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError), process.stdin:  # an error becomes known when the frames are read
                pickle.dump((screen, snapshots[k::workers]), process.stdin)
        for i in range(len(snapshots)):
            out = processes[i % workers].stdout
            assert out is not None
            try:
                frame = pickle.load(out)
            except (EOFError, pickle.UnpicklingError):
                code = processes[i % workers].wait()
                raise SimviewError(f"a process that draws frames ended early (exit code {code})") from None
            if isinstance(frame, Exception):
                raise frame
            yield frame
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            if process.stdout is not None:
                process.stdout.close()
            process.wait()


def progress_bar(stream: IO[str] | None = None) -> Callable[[int, int], None]:
    """A progress bar with the time left, on a terminal; elsewhere no output."""
    out = stream or sys.stderr
    begin = time.monotonic()

    def show(done: int, total: int) -> None:
        if not out.isatty():
            return
        left = (time.monotonic() - begin) / max(done, 1) * (total - done)
        filled = 30 * done // total
        line = f"\r[{'#' * filled}{'.' * (30 - filled)}] {done}/{total} frames, {left:.0f} s left "
        out.write(line if done < total else "\r" + " " * len(line) + "\r")
        out.flush()

    return show


def encoder() -> str | None:
    """The program ffmpeg; None where there is none."""
    found = shutil.which("ffmpeg")
    if found:
        return found
    try:
        from imageio_ffmpeg import get_ffmpeg_exe

        return str(get_ffmpeg_exe())
    except (ImportError, RuntimeError):  # RuntimeError: the package has no ffmpeg for this machine
        return None


class _Coded:
    """A film by ffmpeg; the same frames and the same ffmpeg give the same file."""

    def __init__(self, path: Path, fps: float, first: Frame) -> None:
        height, width = first.shape[:2]
        command = [encoder() or "ffmpeg", "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}"]
        command += ["-r", f"{fps:g}", "-i", "-", "-an", "-pix_fmt", "yuv420p", "-map_metadata", "-1", "-fflags", "+bitexact", "-flags:v", "+bitexact"]
        self.path = path
        self.log = tempfile.TemporaryFile()
        command += [*_CODECS[path.suffix.lower()], str(path)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=self.log)

    def add(self, frame: Frame) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(frame.tobytes())
        except BrokenPipeError:
            self.close()
            raise CannotWriteError(f"{self.path}: ffmpeg ended early") from None

    def close(self) -> None:
        self.process.communicate()
        self.log.seek(0)
        reason = self.log.read().decode("utf-8", "replace").strip().splitlines()
        if self.process.returncode != 0:
            raise CannotWriteError(f"{self.path}: ffmpeg: {reason[-1] if reason else self.process.returncode}")


class _Gif:
    def __init__(self, path: Path, fps: float, first: Frame) -> None:
        from PIL import Image

        self.path, self.pause, self.frames = path, round(1000 / fps), []
        self.palette = Image.fromarray(first).quantize(256)

    frames: list[Any]

    def add(self, frame: Frame) -> None:
        from PIL import Image

        self.frames.append(Image.fromarray(frame).quantize(palette=self.palette, dither=Image.Dither.NONE))

    def close(self) -> None:
        try:
            first, *rest = self.frames
            first.save(self.path, "GIF", save_all=True, append_images=rest, duration=self.pause, loop=0, optimize=False)
        except OSError as error:
            raise CannotWriteError(f"{self.path}: {error.strerror or error}") from None


def pace(frames: int) -> int:
    """Frames a second of a film of five seconds, but at least 4 and at most 24."""
    return min(24, max(4, round(frames / 5)))


def movie(run: Run, path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], *, fps: float | None = None, look: Look | None = None, every: int = 1, dpi: int = 150,
          workers: int | None = None, progress: Callable[[int, int], None] | None = None) -> int:  # fmt: skip
    """Makes a film of a run's snapshots. Limits and colours are the same in all frames.

    Parameters
    ----------
    run
        The run.
    path
        Ends in ``.mp4`` or ``.webm`` (need ffmpeg, or the package imageio-ffmpeg) or ``.gif``. Of several paths each gets
        the same frames.
    fps
        Frames a second: 0.002 to 50 in a GIF, 0.001 to 1000 in the others. None: see `pace`.
    look
        Species, limits and colours.
    every
        Takes each n-th snapshot.
    workers
        Processes; None: one a core.
    progress
        Called with the frames done and the frames in all.

    Returns
    -------
    int
        How many frames it has.
    """
    paths = [file_of(one) for one in ([path] if isinstance(path, (str, bytes, os.PathLike)) or not isinstance(path, Sequence) else path)]
    instance_of(run, "what to film", Run)
    if look is not None:
        instance_of(look, "look", Look)
    asked = pace(0) if fps is None else finite_number(fps, "fps")
    dpi, every = whole_number(dpi, "dpi", DOTS[0], DOTS[1]), whole_number(every, "every", 1)
    if workers is not None:
        workers = whole_number(workers, "workers", 1)
    if progress is not None and not callable(progress):
        raise UsageError("progress: wanted a function of the frames done and the frames in all")
    if not paths:
        raise UsageError("no film named")
    for name in paths:
        kind = name.suffix.lower()
        if kind not in FPS:
            raise UsageError(f"{name}: a film ends in .mp4, .webm or .gif")
        low, high = FPS[kind]
        if not low <= asked <= high:
            raise UsageError(f"{name}: fps: a {kind} film holds {low:g} to {high:g} frames a second, not {asked:g}")
        if kind != ".gif" and not encoder():
            raise MissingToolError(f"{name}: no ffmpeg here; install it, or imageio-ffmpeg (pip), or name a .gif")
    snapshots = run[::every]
    if not snapshots:
        raise NotFoundError(f"{run.path}: no snapshot yet{run._why_none()}")
    if fps is None:
        asked = pace(len(snapshots))
    shown = pictures(spread(run, 5), look or Look(), run[:] if len(run) <= 5000 else ())
    for picture in shown:
        if isinstance(picture, Map):
            picture.span(snapshots)
    refuse_unused(look or Look(), shown)
    workers = min(workers or cores(), -(-len(snapshots) // FRAMES))
    films: list[_Coded | _Gif] = []
    count = 0
    frames = _frames((shown, heading(run), dpi, snapshots[-1]), snapshots, workers)
    try:
        for done, frame in enumerate(frames, 1):
            if frame is not None:
                for name in paths if not films else ():
                    films.append(_Gif(name, asked, frame) if name.suffix.lower() == ".gif" else _Coded(name, asked, frame))
                for film in films:
                    film.add(frame)
                count += 1
            if progress:
                progress(done, len(snapshots))
    finally:
        frames.close()
        with contextlib.ExitStack() as ends:  # closes all writers, also where one fails
            for film in films:
                ends.callback(film.close)
    return count


def default_suffixes() -> list[str]:
    """Default formats of a film: MP4 and WebM where ffmpeg exists, else a GIF."""
    return [".mp4", ".webm"] if encoder() else [".gif"]
