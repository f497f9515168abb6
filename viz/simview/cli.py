"""The command ``simview``."""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from simview.errors import DamagedError, NotFoundError, SimviewError, UsageError
from simview.runs import Run, open as open_run
from simview.style import MAPS, WIDTHS
from simview.sweeps import Sweep, is_sweep, open_sweep

if TYPE_CHECKING:
    from simview.look import Look

_PIXELS = {"plot": 800, "movie": 500}
_CODES = "Exit codes: 64 usage, 65 damaged file, 66 no such run or snapshot, 69 program missing, 73 cannot write."


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (try {self.prog} --help)")


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _number(text: str, what: str, good: Callable[[float], bool]) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and good(value)):
        raise argparse.ArgumentTypeError(f"wanted {what}, not '{text}'")
    return value


def _when(text: str) -> float:
    return _number(text, "a number", lambda value: True)


def _positive(text: str) -> float:
    return _number(text, "a number above 0", lambda value: value > 0)


def _size(text: str) -> float:
    return _number(text, "a number above 0 (1e-30 to 1e30)", lambda value: 1e-30 <= value <= 1e30)


def _dots(text: str) -> float:
    return _number(text, "a number from 10 to 2400", lambda value: 10 <= value <= 2400)


def _view(text: str) -> tuple[float, ...]:
    parts = text.split(",")
    if not 2 <= len(parts) <= 3:
        raise argparse.ArgumentTypeError(f"wanted two angles in degrees, such as 30,20, or these and a distance, such as 30,20,2, not '{text}'")
    wanted = ("an azimuth from -360 to 360", lambda v: abs(v) <= 360), ("an elevation from -90 to 90", lambda v: abs(v) <= 90), \
        ("a distance from 1 to 1000", lambda v: 1 <= v <= 1000)  # fmt: skip
    return tuple(_number(part, what, good) for part, (what, good) in zip(parts, wanted))


def _integer(text: str, least: int, most: int) -> int:
    span = f"{least} or more" if most == sys.maxsize else f"an integer from {least} to {most}"
    return int(_number(text, span, lambda value: value == int(value) and least <= value <= most))


def _pixels(text: str) -> int:
    return _integer(text, 16, 4096)


def _count(text: str) -> int:
    return _integer(text, 1, sys.maxsize)


def _port(text: str) -> int:
    return _integer(text, 0, 65535)


def _look_options(parser: argparse.ArgumentParser, pixels: int) -> None:
    parser.add_argument("--species", type=_names, metavar="A,B", help="particles of these alone")
    parser.add_argument("--field", type=_names, metavar="U,V", help="these fields alone")
    parser.add_argument("--axes", help="two of x, y, z: what lies to the right and up (xy; xz where something pulls along z); of fields on three axes: the plane")
    parser.add_argument("--most", type=_count, metavar="N", help="of more particles draw one of n, the same ones every time")
    parser.add_argument("--at", type=_when, metavar="X", help="where the plane cuts fields on three axes, along the third one (the middle)")
    parser.add_argument("--view", type=_view, metavar="A,E[,D]", help="where the eye stands in pictures in space: azimuth and elevation in degrees (-66,18); a minus wants --view=-30,20. With D in perspective, from so many diagonals away")
    parser.add_argument("--volume", action="store_true", default=None, help="fields on three axes as volumes: the more opaque, the farther a value is from what most places have")
    parser.add_argument("--size", type=_size, help="half the side of the picture, in the scenario's unit")
    parser.add_argument("--pixels", type=_pixels, help=f"pixels along a side of a density ({pixels})")
    parser.add_argument("--map", choices=MAPS, help="colour map (cividis)")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="simview", description="Draws what sim writes.", epilog=_CODES)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)

    plot = commands.add_parser("plot", help="draw a run or a sweep", epilog=_CODES)
    plot.add_argument("path", help="an output folder, such as galaxy.out, one of its slices, or that of a sweep")
    plot.add_argument("-o", "--output", type=Path, help="picture to write: .png, .pdf or .svg (NAME.png)")
    plot.add_argument("--only", type=_names, metavar="P,Q", help="these panels: picture, spectrum, energy, ...; of a sweep: pictures, or TABLE.COLUMN")
    which = plot.add_mutually_exclusive_group()
    which.add_argument("--step", type=int, help="the snapshot of this step (the last)")
    which.add_argument("--time", type=_when, help="the snapshot nearest to this time")
    plot.add_argument("--width", choices=list(WIDTHS), default="page", help="as wide as a column (86 mm) or a page")
    plot.add_argument("--dpi", type=_dots, default=200, help="pixels an inch (200)")
    plot.add_argument("--small", action="store_true", help="a .png of at most 256 colours, for pages of the web")
    _look_options(plot, _PIXELS["plot"])

    movie = commands.add_parser("movie", help="make a film of a run", epilog=_CODES)
    movie.add_argument("path", help="an output folder, or one of its slices")
    movie.add_argument("-o", "--output", type=Path, help="film to write: .mp4, .webm or .gif (NAME.mp4 and NAME.webm)")
    movie.add_argument("--fps", type=_positive, help="frames a second (4 to 24, so that the film lasts some 5 s)")
    movie.add_argument("--every", type=_count, default=1, metavar="N", help="take each N-th snapshot (1)")
    movie.add_argument("--dpi", type=_dots, default=150, help="pixels an inch of 6 by 5 inches (150)")
    _look_options(movie, _PIXELS["movie"])

    summary = commands.add_parser("summary", help="a run or sweep in a few lines", epilog=_CODES)
    summary.add_argument("path", nargs="+", help="output folders")
    summary.add_argument("--verify", action="store_true", help="read all files whole and hold them against their digests")
    watch = commands.add_parser("watch", help="show runs in a browser while they go on", epilog=_CODES)
    watch.add_argument("path", nargs="+", help="output folders, or those of sweeps; nothing in them is changed")
    watch.add_argument("--until-eof", action="store_true", help="until standard input ends: so does `sim run --watch` begin it")
    watch.add_argument("--port", type=_port, default=0, help="port on 127.0.0.1 (any that is free)")
    return parser


def _look(options: argparse.Namespace) -> Look:
    from simview.look import OPTIONS, Look

    given = [name for name in OPTIONS if getattr(options, name, None) is not None]
    pixels = options.pixels or _PIXELS[options.command]
    return Look(options.species, options.axes, options.size, pixels, options.map, options.field, options.most, options.at, options.view, bool(options.volume), given)


def _plot(options: argparse.Namespace) -> None:
    from simview.figure import draw, save

    look = _look(options)
    if is_sweep(options.path):
        from simview.sweep_figure import draw_sweep

        sweep = open_sweep(options.path)
        output = options.output or Path(f"{sweep.name}.png")

        def make_sheet() -> None:
            save(draw_sweep(sweep, only=options.only, look=look, width=options.width), output, options.dpi, options.small)

        _despite_damage(sweep, make_sheet, [output])
        return
    run = open_run(options.path)
    output = options.output or Path(f"{run.name}.png")

    def make() -> None:
        snapshot = None
        if options.step is not None:
            snapshot = run.at_step(options.step)
        elif options.time is not None:
            snapshot = run.at_time(options.time)
        save(draw(run, snapshot=snapshot, only=options.only, look=look, width=options.width), output, options.dpi, options.small)

    _despite_damage(run, make, [output])


def _movie(options: argparse.Namespace) -> None:
    from simview.movie import default_suffixes, movie, progress_bar

    run = open_run(options.path)
    look = _look(options)
    output = [options.output] if options.output else [Path(f"{run.name}{suffix}") for suffix in default_suffixes()]

    def make() -> None:
        movie(run, output, fps=options.fps, look=look, every=options.every, dpi=int(options.dpi), progress=progress_bar())

    _despite_damage(run, make, output)


def _watch(options: argparse.Namespace) -> None:
    from simview.watch import watch

    watch(options.path, options.port, lambda text: print(text, flush=True), sys.stdin.buffer if options.until_eof else None)


def _despite_damage(run: Run | Sweep, make: Callable[[], None], output: Sequence[Path]) -> None:
    """Makes a picture or film; where a file is damaged, makes it once more without the damaged files."""
    try:
        make()
    except DamagedError as error:
        faults = run.leave_out_damaged()
        if not faults:
            raise
        try:
            make()
        except NotFoundError:  # no undamaged file is left to draw
            raise error from None
        print(*output, sep="\n")
        more = f" (and {len(faults) - 1} more: simview summary names them)" if len(faults) > 1 else ""
        raise DamagedError(f"left out of {output[0]}: {faults[0]}{more}") from None
    print(*output, sep="\n")


def _summary(options: argparse.Namespace) -> None:
    from simview.summary import summary

    damaged = 0
    for path in options.path:
        if is_sweep(path):
            from simview.sweep_figure import sweep_summary

            text, whole = sweep_summary(open_sweep(path), verify=options.verify)
        else:
            text, whole = summary(open_run(path), verify=options.verify)
        print(text)
        damaged += not whole
    if damaged:
        raise DamagedError("there are damaged files: the lines with !")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    try:
        options = _parser().parse_args(arguments)
        {"plot": _plot, "movie": _movie, "summary": _summary, "watch": _watch}[options.command](options)
        sys.stdout.flush()
    except SimviewError as error:
        print(f"simview: {error}", file=sys.stderr)
        return error.exit_code
    except MemoryError:
        print("simview: out of memory", file=sys.stderr)
        return 71
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except KeyboardInterrupt:
        return 130
    return 0
