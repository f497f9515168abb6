"""Films: one frame a snapshot, drawn by several processes, written by ffmpeg or, as a GIF, by Pillow."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from simview.errors import CannotWriteError, MissingToolError, NotFoundError, UsageError
from simview.figure import spread
from simview.pictures import Look, Picture, pictures
from simview.run import Run, cores
from simview.snapshot import Snapshot
from simview.style import SETTINGS

Frame = NDArray[np.uint8]


class _Screen:
    """A figure of fixed size that shows snapshots; every process has one."""

    def __init__(self, shown: Sequence[Picture], title: str, dpi: int) -> None:
        import matplotlib
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        with matplotlib.rc_context({**SETTINGS, "font.size": 9, "axes.titlesize": 9}):
            columns = min(2, len(shown))
            rows = -(-len(shown) // columns)
            figure = Figure(figsize=(6.0 if columns == 1 else 8.0, 0.3 + (4.8 if columns == 1 else 3.6) * rows), dpi=dpi)
            self.canvas: Any = FigureCanvasAgg(figure)
            figure.suptitle(title, fontsize=10)
            self.shown = shown
            for i, picture in enumerate(shown):
                picture.draw(figure.add_subplot(rows, columns, i + 1))
        self.settled = False

    def frame(self, snapshot: Snapshot) -> Frame:
        import matplotlib

        with matplotlib.rc_context(SETTINGS):
            for picture in self.shown:
                picture.show(snapshot)
            self.canvas.draw()
            if not self.settled:  # the layout stays as the first frame has it
                self.canvas.figure.set_layout_engine("none")
                self.settled = True
        picture_bytes = np.asarray(self.canvas.buffer_rgba())[..., :3]
        height, width = picture_bytes.shape[:2]
        return np.ascontiguousarray(picture_bytes[: height - height % 2, : width - width % 2])  # H.264 wants even sides


_screen: _Screen | None = None


def _frame(snapshot: Snapshot) -> Frame | None:
    """A frame; None where the run has taken the snapshot away meanwhile."""
    assert _screen is not None
    try:
        return _screen.frame(snapshot)
    except NotFoundError:
        return None


def _frames(snapshots: Sequence[Snapshot], workers: int) -> Iterator[Frame | None]:
    if workers < 2 or "fork" not in get_all_start_methods():
        yield from map(_frame, snapshots)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("fork")) as pool:
        ahead = 4 * workers  # frames that wait in memory
        waiting = [pool.submit(_frame, snapshot) for snapshot in snapshots[:ahead]]
        for i in range(len(snapshots)):
            yield waiting.pop(0).result()
            if i + ahead < len(snapshots):
                waiting.append(pool.submit(_frame, snapshots[i + ahead]))


def progress_bar(stream: IO[str] | None = None) -> Callable[[int, int], None]:
    """A bar with the time left, on a terminal; elsewhere nothing."""
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


class _Mp4:
    def __init__(self, path: Path, fps: float, first: Frame) -> None:
        height, width = first.shape[:2]
        command = ["ffmpeg", "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}"]
        command += ["-r", f"{fps:g}", "-i", "-", "-an", "-c:v", "libx264", "-crf", "18", "-pix_fmt", "yuv420p"]
        self.path = path
        self.log = tempfile.TemporaryFile()
        command += ["-movflags", "+faststart", "-f", "mp4", str(path)]
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

        self.path, self.pause, self.frames = path, max(20, round(1000 / fps)), []  # a browser shows no shorter pause
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


def movie(run: Run, path: Path, *, fps: float = 24, look: Look | None = None, every: int = 1, dpi: int = 150,
          workers: int | None = None, progress: Callable[[int, int], None] | None = None) -> int:  # fmt: skip
    """Makes a film of a run's snapshots. Limits and colours are the same in all frames.

    Parameters
    ----------
    run
        The run.
    path
        Ends in ``.mp4`` (needs ffmpeg) or ``.gif``.
    fps
        Frames a second.
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
    global _screen
    kind = path.suffix.lower()
    if kind not in (".mp4", ".gif"):
        raise UsageError(f"{path}: a film ends in .mp4 or .gif")
    if kind == ".mp4" and not shutil.which("ffmpeg"):
        raise MissingToolError(f"{path}: no ffmpeg here; install it, or name a .gif")
    snapshots = run[::every]
    if not snapshots:
        raise NotFoundError(f"{run.path}: no snapshot yet{run._why_none()}")
    shown = pictures(spread(run, 5), look or Look(), run[:] if len(run) <= 5000 else ())
    _screen = _Screen(shown, run.title, dpi)
    film: _Mp4 | _Gif | None = None
    count = 0
    try:
        _frame(snapshots[-1])  # fixes the layout before the processes part
        workers = min(workers or cores(), -(-len(snapshots) // 8))
        for done, frame in enumerate(_frames(snapshots, workers), 1):
            if frame is not None:
                if film is None:
                    film = _Mp4(path, fps, frame) if kind == ".mp4" else _Gif(path, fps, frame)
                film.add(frame)
                count += 1
            if progress:
                progress(done, len(snapshots))
    finally:
        _screen = None
        if film:
            film.close()
    return count


def default_suffix() -> str:
    """What this machine can write: '.mp4' where ffmpeg is, else '.gif'."""
    return ".mp4" if shutil.which("ffmpeg") else ".gif"
