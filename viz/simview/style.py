"""Style of figures: readable at column width, safe for colour-blind readers, vector graphics where possible."""

from __future__ import annotations

import textwrap
from typing import Any

# M. Okabe and K. Ito, "Color Universal Design" (2008), without their yellow, which is faint on white.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"]
DASHES: list[Any] = ["-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1))]
MAPS = ("cividis", "viridis", "magma", "inferno", "gray", "gray_r")
DIVERGING = "RdBu_r"
WIDTHS = {"column": 3.4, "page": 7.0}  # inches: 86 mm and 178 mm

SETTINGS: Any = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.2,
    "axes.grid": False,
    "grid.linewidth": 0.4,
    "grid.color": "#d0d0d0",
    "xtick.direction": "in",
    "ytick.direction": "in",
    "pdf.fonttype": 42,
    "svg.hashsalt": "simview",
    "savefig.dpi": 200,
    "figure.constrained_layout.use": True,
    "axes.formatter.use_mathtext": True,
}


def _width(text: str, size: float) -> float:
    """The width of a line of text, in points."""
    from matplotlib.cbook import is_math_text
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    formula = bool(is_math_text(text))  # a single $ is a dollar sign
    text = text if formula else text.replace(r"\$", "$")
    return float(TextToPath().get_text_width_height_descent(text, FontProperties(size=size), formula)[0])


def wrap(text: str, room: float, size: float) -> str:
    """The text in lines of at most `room` inches, in letters of `size` points; words stay whole where there is a formula."""
    lines = []
    for line in text.split("\n"):
        wide = _width(line, size)
        if wide > 72 * room:
            most = max(8, int(len(line) * 72 * room / wide))
            line = "\n".join(textwrap.wrap(line, most, break_long_words="$" not in line, break_on_hyphens=False))
        lines.append(line)
    return "\n".join(lines)


def set_title(axes: Any, text: str) -> None:
    """A title over the axes, in lines about as long as the axes are wide."""
    room = 1.1 * axes.get_position(original=True).width * axes.figure.get_figwidth()
    axes.set_title(wrap(text, room, axes.title.get_fontsize()))


def legend(axes: Any, most: int = 4, below: bool = False, **options: Any) -> None:
    """A legend above the axes, or below their label, where it hides no curve, in as many columns as fit (to `most`).

    A legend below makes the figure taller by all of its lines but the first.
    """
    from matplotlib.transforms import ScaledTranslation

    handles, labels = axes.get_legend_handles_labels()
    if not labels:
        return
    options = {"columnspacing": 1, "labelspacing": 0.3, "borderaxespad": 0.2, "handlelength": 2.2, **options}
    room = 72 * 1.15 * axes.get_position().width * axes.figure.get_figwidth()  # points; the layout widens axes later
    size = SETTINGS["legend.fontsize"]
    labels = [wrap(label, (room - 4 * size) / 72, size) for label in labels]
    widths = [4 * size + max(_width(line, size) for line in label.split("\n")) for label in labels]  # with handle and space
    columns = min(most, len(labels))
    while columns > 1 and sum(max(part) for part in _split(widths, columns)) > room:
        columns -= 1
    if below:
        lines = max(sum(part) for part in _split([label.count("\n") + 1.0 for label in labels], columns))
        axes.figure.set_figheight(axes.figure.get_figheight() + 1.4 * size / 72 * max(0, lines - 1))
        under = axes.transAxes + ScaledTranslation(0, -28 / 72, axes.figure.dpi_scale_trans)  # below ticks and label
        options |= {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "bbox_transform": under}
    else:
        options |= {"loc": "lower left", "bbox_to_anchor": (0, 1)}
    axes.legend(handles, labels, ncols=columns, **options)


def _split(values: list[float], columns: int) -> list[list[float]]:
    """The entries of a legend by column, in matplotlib's order: one after the other, the first columns longer."""
    short, longer = divmod(len(values), columns)
    ends = [k * short + min(k, longer) for k in range(columns + 1)]
    return [values[begin:end] for begin, end in zip(ends, ends[1:])]
