"""Chooses the figure for a run from its tables and snapshots."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simview import buckets, greeks, ladders, levels, netted, options, panels, smile
from simview.bodies import FEW, Bodies
from simview.errors import CannotWriteError, NotFoundError, SimviewError, UsageError, file_of, finite_number, instance_of, names_of, one_of
from simview.look import Look, Picture
from simview.maps import Map, across, stages
from simview.pictures import pictures, refuse_unused
from simview.runs import Run
from simview.snapshot import Snapshot
from simview.style import COLOURS, SETTINGS, WIDTHS, wrap

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Panel = Callable[[Any], None]
DOTS = 10, 2400  # dots an inch
FORMATS = ("png", "pdf", "svg", "eps", "jpg")


def table_panels(run: Run) -> dict[str, Panel]:
    """The panels that a run's tables allow, by name. Tables without rows are left out."""
    found: dict[str, Panel] = {}
    found.update(buckets.panels(run))
    if ladders.has_ladder(run):
        found.update(ladders.ladder_panels(run))
    if netted.has_exposure(run):
        found["exposure"] = partial(netted.exposure, run)
    if levels.has_levels(run):
        found["levels"] = partial(levels.levels, run)
    for name, frame in run.tables.items():
        if len(frame) == 0 or (name in netted.TABLES and "exposure" in found) or (name in levels.TABLES and "levels" in found) or name in buckets.TABLES:
            continue
        if name == "energy" and "error" in frame:
            if (frame["error"].abs() > 0).any():  # False: no conserved energy, or no error
                found["energy"] = partial(panels.energy, run)
            if "virial_ratio" in frame and frame["virial_ratio"].notna().any():
                found["virial"] = partial(panels.virial, run)
        elif name == "lagrangian":
            if frame["r50"].notna().any():  # False: the box is periodic
                found["radii"] = partial(panels.lagrangian, run)
        elif name == "price" and {"paths", "price", "standard_error"} <= set(frame.columns):
            if frame["price"].notna().any():
                found["price"] = partial(options.price, run)
                found["convergence"] = partial(options.convergence, run)
                found["estimates"] = partial(options.estimates, run)
                points = smile.points([run])
                if len({point.strike for point in points}) > 2:
                    found["smile"] = partial(smile.smile, run)
                if points and smile.is_surface(points):
                    found["surface"] = partial(smile.surface_of, run)
                for i, greek in enumerate(greeks.estimated(run)):
                    found[f"greeks.{greek.name}"] = partial(greeks.over_strikes, run, which=i)
        elif name == "lyapunov" and {"exponent", "error"} <= set(frame.columns):
            found["lyapunov"] = partial(panels.lyapunov, run)
        elif name == "structure" and any(column.startswith("along_") for column in frame.columns):
            found["structure"] = partial(panels.structure, run)
        elif name == "rdf":
            found["rdf"] = partial(panels.radial, run)
        elif "temperature" in frame and name != "thermo":
            found["temperature"] = partial(panels.temperature, run)
        elif name == "fields" and any(column.endswith("_mean") for column in frame.columns):
            found["fields"] = partial(panels.fields, run)
        elif name == "spectrum":
            found["spectra"] = partial(panels.spectra, run)
        elif name in _BUDGETS and "profile" in frame.attrs["display"].values():
            found[name] = partial(panels.budget, run, table=name)
        elif "profile" in frame.attrs["display"].values():
            found[name] = partial(panels.profile, run, table=name)
        else:
            for panel, names in panels.groups(run, name).items():
                found[panel] = partial(panels.columns, run, table=name, names=names)
    return found


# Tables of a run by wave number, of each field or of one quantity.
_BUDGETS = {"transfer", "dissipation"} | {what + part for what in ("enstrophy", "helicity") for part in ("", "_transfer", "_dissipation")}

# Default panels of a figure, the most telling first; tables of other names come after `observe`.
_TELLING = ("vega_by_node", "rho_by_node", "ladder", "ladder_changes", "exposure", "levels", "smile", "surface", "greeks", "lyapunov", "flow", "temperature", "profile_velocity_x", "rdf", "thermo", "energy", "observe", "transfer", "radii", "price", "estimates")
_UNASKED = ("virial", "momentum", "walls", "contacts")
_PANELS = 3


def _telling(run: Run, names: Sequence[str], bodies: int) -> list[str]:
    """Names of the panels that tell most about a run, the most telling first."""
    left_out = {*_UNASKED, *(name for name in names if name.startswith("profile_"))}
    if "radii" in names:  # radii say nothing about a few bodies, nor where one body has all of the mass
        radii = run.tables["lagrangian"]
        if 0 < bodies <= FEW or ("r10" in radii and "r90" in radii and (radii["r10"] == radii["r90"]).all()):
            left_out.add("radii")
    if "price" in names:
        price = run.tables["price"]
        alone = "prices" not in run.tables and not any(name.endswith("_error") for name in price.columns[6:])
        left_out.update(name for name in run.tables if name not in ("price", "observe"))  # `estimates` has them
        left_out.update(("price", "convergence") if price["price"].notna().sum() < 3 else ("estimates",) if alone else ("convergence",))
    if {"exposure", "ladder", "levels", "vega_by_node", "rho_by_node"} & set(names):
        left_out |= {"price", "convergence"}
        left_out -= {"estimates"}
    if "smile" in names or any(name.startswith("greeks.") for name in names):  # these say more than one price against paths
        left_out -= {"estimates"}
        left_out |= {"price", "convergence"}
    if "walls" in run.tables:  # a bed of grains, not a gas
        left_out.add("temperature")
    box = run.parameters.get("box")
    if isinstance(box, dict) and box.get("shear_rate"):
        left_out.discard("profile_velocity_x")
    if "spectra" in names or not _periodic(run):
        left_out.add("spectrum")
    for name in names:  # only the first panel of a table; `observe` is the user's own table
        table = name.split(".")[0]
        if "." in name and (table in left_out or (table != "observe" and name != _first(names, table))):
            left_out.add(name)
    kept = [name for name in names if name not in left_out]
    order = {name: i for i, name in enumerate(_TELLING)}
    kept.sort(key=lambda name: order.get(name.split(".")[0], len(order)))
    if "transfer" in kept and "spectra" in kept:  # by the same wave numbers: side by side, behind one panel of others
        pair = ["spectra", "transfer"]
        others = [name for name in kept if name not in pair]
        kept = [*others[: _PANELS - 2], *pair, *others[_PANELS - 2 :]]
    return kept


def ordered_panels(run: Run) -> dict[str, Panel]:
    """All panels of a run, the most telling first; without tables of options that `estimates` has."""
    found = table_panels(run)
    count = 0
    with suppress(SimviewError):  # the last snapshot may be incomplete
        count = sum(run[-1].count(name) for name in run[-1].species) if len(run) else 0
    first = _telling(run, list(found), count)
    repeated = set(run.tables) - {"price", "observe"} if "estimates" in found else set()
    return {name: found[name] for name in [*first, *(name for name in found if name not in first and name not in repeated)]}


def _first(names: Sequence[str], table: str) -> str:
    return next(name for name in names if name.split(".")[0] == table)


def _periodic(run: Run) -> bool:
    """Whether a Fourier transform suits the fields: whether the box is periodic."""
    grid = run.parameters.get("grid")
    if not isinstance(grid, dict):
        return True
    kinds = [grid.get(axis, "as others") for axis in "xyz"[: len(grid.get("n", "xyz"))]]
    return all(kind == "periodic" or (kind == "as others" and grid.get("boundary") in (None, "periodic")) for kind in kinds)


def heading(run: Run) -> str:
    """The run's title, and for a slice its name."""
    return run.title + ("" if run.slice_name is None else f", slice {run.slice_name}")


def checked(item: Any, kind: type, only: Any, look: Any, width: Any) -> tuple[list[str] | None, Look]:
    """Refuses arguments of `draw` or `draw_sweep` that make no sense; returns the panels' names and the look."""
    instance_of(item, "what to draw", kind)
    if look is not None:
        instance_of(look, "look", Look)
    one_of(width, "width", WIDTHS)
    names = None if only is None else names_of(only, "only")
    if names is not None and not names:
        raise UsageError("no panel named")
    return names, look or Look()


def draw(run: Run, *, snapshot: Snapshot | None = None, only: Sequence[str] | None = None, look: Look | None = None,
         width: str = "page") -> Figure:  # fmt: skip
    """Draws a run.

    Parameters
    ----------
    run
        The run.
    snapshot
        The snapshot to show; None: the last.
    only
        Names of panels: 'picture', 'spectrum', those of tables; None: what suits the run.
    look
        Species, limits and colours.
    width
        'column' (86 mm) or 'page' (178 mm).

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib
    from matplotlib.figure import Figure

    only, look = checked(run, Run, only, look, width)
    if snapshot is not None:
        instance_of(snapshot, "snapshot", Snapshot)
    tables = table_panels(run) if only is None or set(only) - {"picture", "spectrum"} else {}
    over_time = snapshot is None
    if snapshot is None and len(run):
        snapshot = run[-1]
    wants_picture = only is None or "picture" in only or "spectrum" in only
    if wants_picture and snapshot is None and (only is not None or not tables):
        raise NotFoundError(f"{run.path}: no snapshot yet{run._why_none()}")
    shown: list[Picture] = []
    moments: list[Snapshot] = []
    in_row = 1  # pictures of the same field with the same colours
    if snapshot is not None and (only is None or "picture" in only):
        shown = pictures([snapshot], look, run[:] if len(run) <= 5000 else run[:: len(run) // 2500], over_time)
        moments = [snapshot] * len(shown)
        maps = [picture for picture in shown if type(picture) is Map]
        if over_time and width == "page" and len(maps) == len(shown) <= 2:  # a row of moments for each field
            row = stages(run)
            cut = across(row, look, [picture.name for picture in maps])
            shown = [Map(row, look, picture.name, cut) for picture in maps for _ in row]
            moments = row * len(maps)
            in_row = len(row)
    available: dict[str, Panel] = dict(tables)
    if snapshot is not None and wants_picture and snapshot.fields:
        fields = list(look.fields or [name for name in snapshot.fields if name != "solid"])
        available["spectrum"] = partial(panels.spectrum, snapshot, fields=fields)
    if only is None:
        count = sum(snapshot.count(name) for name in snapshot.species) if snapshot is not None else 0
        names = _telling(run, list(available), count)[:_PANELS]
    else:
        names = []
        for name in only:
            parts = [name] if name in available else [one for one in available if one.startswith(f"{name}.")]
            names += parts
            if not parts and name != "picture":
                known = [*(["picture"] if snapshot is not None else []), *available]
                raise NotFoundError(f"{run.path}: no panel '{name}'; there are: {', '.join(known)}")
    refuse_unused(look, shown, [*(("time", "step") if shown else ()), *(("time", "step", "field") if "spectrum" in names else ())])
    with matplotlib.rc_context(SETTINGS):
        shape = shown[0].shape if shown and isinstance(shown[0], Map) else 1.0
        wide = [name for name in names if name == "estimates"]  # has parts side by side, and needs a row of its own
        names = [name for name in names if name not in wide] + wide
        if wide:
            figure, places = _with_row(options.size(run, WIDTHS[width]), len(shown), len(names) - 1, width, shape)
        else:
            figure = Figure(figsize=_size(len(shown), len(names), width, shape))
            places = _places(figure.add_gridspec, len(shown), len(names), width, shape)
        for i, (picture, moment, axes) in enumerate(zip(shown, moments, places)):
            bar = "bottom" if width == "column" else "right"
            picture.draw(axes, bar if (i + 1) % in_row == 0 else None)
            picture.show(moment)
            if i % in_row:
                axes.set_ylabel("")
        for name, axes in zip(names, places[len(shown) :]):
            available[name](axes)
            if run.slice_name is not None and name in tables:
                axes.set_ylabel(f"{axes.get_ylabel()}\nof the whole box")
            if axes.get_xscale() == "linear":
                axes.locator_params(axis="x", nbins=6)
            box = axes.get_position()
            axes.set_ylabel(wrap(axes.get_ylabel(), box.height * figure.get_figheight(), 8))
            axes.set_xlabel(wrap(axes.get_xlabel(), box.width * figure.get_figwidth(), 8))
        if only is None:
            figure.suptitle(wrap(heading(run), 0.95 * figure.get_figwidth(), 9), fontsize=9)
        if any(isinstance(picture, Bodies) and picture.named for picture in shown):
            for _ in range(2):  # a legend below square axes moves as they shrink
                figure.draw_without_rendering()
    return figure


def _across(pictures_count: int, shape: float) -> int:
    """Number of pictures side by side; long pictures stand one below the other."""
    return 1 if shape < 0.5 and pictures_count == 2 else 3 if pictures_count % 3 == 0 else 2


def _rows(pictures_count: int, panels_count: int, shape: float) -> tuple[list[int], list[float]]:
    """Rows of a page with several pictures or none: number of axes in each row, and heights of the rows in inches."""
    rows, heights = [], []
    across = _across(pictures_count, shape)
    for left in range(pictures_count, 0, -across):
        rows.append(min(across, left))
        heights.append(0.6 + (WIDTHS["page"] / across - (0.55 if across == 3 else 0.9)) * min(max(shape, 0.2), 1.6))
    lines = -(-panels_count // 3) if pictures_count else (panels_count + 1) // 2
    for line in range(lines):
        rows.append(panels_count // lines + (line < panels_count % lines))
        heights.append(2.0 if pictures_count else 2.5)
    return rows, heights


def _size(pictures_count: int, panels_count: int, width: str, shape: float = 1.0) -> tuple[float, float]:
    """Size in inches; `shape`: height over width of the pictures."""
    wide = WIDTHS[width]
    if width == "column":
        return wide, 0.25 + (0.9 + 2.7 * min(max(shape, 0.2), 1.6)) * pictures_count + 1.7 * panels_count
    if pictures_count + panels_count == 1:
        return (4.6, 4.1) if pictures_count else (4.6, 3.0)
    if pictures_count == 1:
        return wide, max(3.6, 1.8 * panels_count + 0.3)
    return wide, 0.3 + sum(_rows(pictures_count, panels_count, shape)[1])


def _with_row(size: tuple[float, float], pictures_count: int, panels_count: int, width: str, shape: float) -> tuple[Figure, list[Any]]:
    """A figure with a row of this size at its end, as wide as the figure; its axes as from `_places`, the row last."""
    from matplotlib.figure import Figure

    if pictures_count + panels_count == 0:
        figure = Figure(figsize=size)
        return figure, [figure.add_subplot()]
    high = _size(pictures_count, panels_count, width, shape)[1]
    figure = Figure(figsize=(size[0], high + size[1]))
    grid = figure.add_gridspec(2, 1, height_ratios=[high, size[1]])
    return figure, [*_places(grid[0].subgridspec, pictures_count, panels_count, width, shape), figure.add_subplot(grid[1])]


def _places(grid_of: Callable[..., Any], pictures_count: int, panels_count: int, width: str, shape: float = 1.0) -> list[Any]:
    """Axes for the pictures, then for the panels, in grids of a figure or of a part of one."""
    total = pictures_count + panels_count
    if width == "column":
        high = 0.9 + 2.7 * min(max(shape, 0.2), 1.6)
        grid = grid_of(total, 1, height_ratios=[high] * pictures_count + [1.7] * panels_count)
        return [_axes(grid[i, 0]) for i in range(total)]
    if pictures_count == 1 and panels_count:
        grid = grid_of(panels_count, 2, width_ratios=(1.35, 1))
        return [_axes(grid[:, 0]), *(_axes(grid[i, 1]) for i in range(panels_count))]
    if total == 1:
        return [_axes(grid_of(1, 1)[0])]
    rows, heights = _rows(pictures_count, panels_count, shape)
    lines = grid_of(len(rows), 1, height_ratios=heights)
    return [_axes(part) for line, count in enumerate(rows) for part in lines[line].subgridspec(1, count)]


def _axes(place: Any) -> Any:
    return place.get_gridspec().figure.add_subplot(place)


def save(figure: Figure, path: str | os.PathLike[str], dpi: float = 200, small: bool = False) -> None:
    """Writes a figure; the suffix chooses the format. The date is left out, so that equal figures are equal files.

    `small`: a PNG of at most 256 colours, a third or less of the size.
    """
    import matplotlib

    path, dpi = file_of(path), finite_number(dpi, "dpi", *DOTS)
    kind = path.suffix.lower().lstrip(".")
    if kind not in FORMATS:
        raise UsageError(f"{path}: no picture format '{kind}': {', '.join(FORMATS)}")
    if small and kind != "png":
        raise UsageError(f"{path}: only a .png is made small")
    metadata: dict[str, Any] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(kind, {})
    try:
        with matplotlib.rc_context(SETTINGS):
            figure.savefig(path, dpi=dpi, metadata=metadata or None)
        if small:
            _make_small(path)
    except OSError as error:
        raise CannotWriteError(f"{path}: {error.strerror or error}") from None


def _make_small(path: Path) -> None:
    """Rewrites a PNG with at most 256 colours, among them the colours of lines as they are, which few pixels have."""
    from PIL import Image

    own = np.array([list(bytes.fromhex(colour[1:])) for colour in [*COLOURS, "#ffffff"]], np.int32)
    with Image.open(path) as file:
        whole = file.convert("RGB")
    fewer = whole.quantize(256 - len(own), method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    palette = np.concatenate([own, np.array(fewer.getpalette(), np.int32).reshape(-1, 3)[: 256 - len(own)]])
    packed, where = np.unique(np.asarray(whole, np.int32) @ (65536, 256, 1), return_inverse=True)
    colours = np.stack([packed >> 16, packed >> 8 & 255, packed & 255], axis=1)
    nearest = [((part[:, None] - palette) ** 2).sum(axis=2).argmin(axis=1) for part in np.array_split(colours, 1 + len(colours) // 4096)]
    small = Image.fromarray(np.concatenate(nearest)[where].astype(np.uint8).reshape(whole.size[::-1]), "P")
    small.putpalette(palette.astype(np.uint8).ravel().tolist())
    small.save(path, "PNG", optimize=True)


def spread(run: Run, most: int) -> list[Snapshot]:
    """At most `most` snapshots, evenly spaced over the run, with the first and the last."""
    if len(run) <= most:
        return run[:]
    return [run[int(i)] for i in np.unique(np.linspace(0, len(run) - 1, most).astype(int))]
