"""A ranking as data ──► the heat map of paper 000, figures 7 and A.5: what goes with what."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from calipers.report.plots.choosing import Data, drawable, floats
from calipers.report.plots.panels import Panel, Plot
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


def heat_map_plot(data: Data) -> Plot:
    """Show how metrics and truths correlate with one another over the systems.

    Blue where columns rise together, orange where one falls, white at 0. Every value is written in
    its cell; one that is undefined is a grey cell with a dash. Lines set truths apart from metrics.
    The figure has a bar of colours too.

    Parameters
    ----------
    data
        What ``Ranking.to_dict()`` gives, or the JSON that the command line wrote.
    """
    matrix = data["matrix"]
    rows = [floats(row) for row in matrix["values"]]

    def draw(axes: Axes) -> None:
        axes.imshow(rows, cmap=DIVERGING.with_extremes(bad="#d9d9d9"), vmin=-1, vmax=1)
        axes.set_title(f"Over {len(data['systems'])} systems, values as measured", loc="left")
        write_cells(axes, rows)
        name_sides(axes, [drawable(name, LONGEST) for name in matrix["names"]])
        separate_cells(axes, len(rows), len(rows) - matrix["truths"])

    def whole() -> Figure:
        side = MARGIN + CELL * len(rows)
        figure = Figure(figsize=(side + 0.9, side), layout="constrained")
        axes = figure.add_subplot()
        draw(axes)
        bar = figure.colorbar(axes.images[0], ax=axes, shrink=0.7, pad=0.03)
        bar.set_label(f"{str(matrix['kind']).capitalize()} correlation")
        bar.outline.set_visible(False)
        return figure

    return Plot(whole, lambda: Panel(draw, ALONE))


def write_cells(axes: Axes, rows: list[list[float]]) -> None:
    """Write every value in its cell."""
    size = 8 if len(rows) <= MANY else 6
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            axes.text(j, i, _written(value), ha="center", va="center", color=INK, size=size)


def name_sides(axes: Axes, names: list[str]) -> None:
    """Name rows and columns of a square."""
    axes.set_xticks(range(len(names)), names, rotation=40, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(length=0)
    axes.grid(False)
    axes.spines[:].set_visible(False)


def separate_cells(axes: Axes, size: int, before: int) -> None:
    """Draw white lines between cells, and black ones behind the first of another kind."""
    for place in range(1, size):
        edge = place == before
        look: Look = {"color": INK if edge else "white", "linewidth": 1.2}
        axes.axhline(place - 0.5, **look)
        axes.axvline(place - 0.5, **look)


def _written(value: float) -> str:
    if value != value:
        return "–"
    return f"{value + 0.0:.2f}".replace("-0.00", "0.00").replace("-", MINUS)
