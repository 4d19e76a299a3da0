"""Elements of heat maps: sizes, colours, values in cells, names on two sides, separating lines."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap

from calipers.report.plots.style import INK, Look

CELL = 0.5
ALONE = (6.4, 4.8)
MARGIN = 1.9
LONGEST = 28
MANY = 16
MINUS = "\N{MINUS SIGN}"

# All eyes tell blue from orange; light enough for dark numbers, whose signs tell the same in grey
ORANGE, BLUE = "#e28b47", "#4c9dca"
DIVERGING = LinearSegmentedColormap.from_list("calipers", [ORANGE, "#ffffff", BLUE])


def write_cells(axes: Axes, rows: list[list[float]]) -> None:
    """Write every value in its cell."""
    size = 8 if len(rows) <= MANY else 6
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            axes.text(j, i, _written(value), ha="center", va="center", color=INK, size=size)


def name_sides(axes: Axes, names: list[str]) -> None:
    """Write the names of rows and columns beside a square."""
    axes.set_xticks(range(len(names)), names, rotation=40, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(length=0)
    axes.grid(False)
    axes.spines[:].set_visible(False)


def separate_cells(axes: Axes, size: int, before: int) -> None:
    """Draw white lines between cells, and a black one where the second kind begins."""
    for place in range(1, size):
        edge = place == before
        look: Look = {"color": INK if edge else "white", "linewidth": 1.2}
        axes.axhline(place - 0.5, **look)
        axes.axvline(place - 0.5, **look)


def _written(value: float) -> str:
    if value != value:
        return "–"
    return f"{value + 0.0:.2f}".replace("-0.00", "0.00").replace("-", MINUS)
