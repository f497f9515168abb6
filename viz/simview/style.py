"""How figures look: readable at column width, safe for colour-blind readers, vectors where the format has them."""

from __future__ import annotations

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


def legend(axes: Any, most: int = 4, **options: Any) -> None:
    """Names the curves above the axes, where they hide none, in as many columns as fit (at most `most`)."""
    _, labels = axes.get_legend_handles_labels()
    if not labels:
        return
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    options = {"columnspacing": 1, "labelspacing": 0.3, "borderaxespad": 0.2, "handlelength": 2.2, **options}
    room = 72 * 1.15 * axes.get_position().width * axes.figure.get_figwidth()  # points; the layout widens axes later
    size = SETTINGS["legend.fontsize"]
    measure, font = TextToPath().get_text_width_height_descent, FontProperties(size=size)
    widths = [4 * size + float(measure(label, font, "$" in label)[0]) for label in labels]  # with handle and space
    columns = min(most, len(labels))
    while columns > 1 and sum(max(part) for part in _split(widths, columns)) > room:
        columns -= 1
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, **options)


def _split(values: list[float], columns: int) -> list[list[float]]:
    """The entries of a legend by column, as matplotlib places them: one after the other, the first columns longer."""
    short, longer = divmod(len(values), columns)
    ends = [k * short + min(k, longer) for k in range(columns + 1)]
    return [values[begin:end] for begin, end in zip(ends, ends[1:])]
