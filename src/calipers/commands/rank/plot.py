"""The heat map of correlations between metrics and truths (paper 000, figures 7 and A.5)."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from calipers.commands.rank.result import Ranking
from calipers.report.plots.choosing import drawable
from calipers.report.plots.heat_map import (
    ALONE,
    CELL,
    DIVERGING,
    LONGEST,
    MARGIN,
    name_sides,
    separate_cells,
    write_cells,
)
from calipers.report.plots.panels import Panel, Plot


def heat_map_plot(ranking: Ranking) -> Plot:
    """Show how metrics and truths correlate over the systems.

    Blue where columns rise together, orange where one falls, white at 0. Every value is written in
    its cell; one that is undefined is a grey cell with a dash. Lines set truths apart from metrics.
    The figure has a bar of colours too.
    """
    matrix = ranking.matrix
    rows = [[float(value) for value in row] for row in matrix.values]

    def draw(axes: Axes) -> None:
        axes.imshow(rows, cmap=DIVERGING.with_extremes(bad="#d9d9d9"), vmin=-1, vmax=1)
        axes.set_title(f"Over {len(ranking.systems)} systems, values as measured", loc="left")
        write_cells(axes, rows)
        name_sides(axes, [drawable(name, LONGEST) for name in matrix.names])
        separate_cells(axes, len(rows), len(rows) - matrix.truths)

    def whole() -> Figure:
        side = MARGIN + CELL * len(rows)
        figure = Figure(figsize=(side + 0.9, side), layout="constrained")
        axes = figure.add_subplot()
        draw(axes)
        bar = figure.colorbar(axes.images[0], ax=axes, shrink=0.7, pad=0.03)
        bar.set_label(f"{matrix.kind.capitalize()} correlation")
        bar.outline.set_visible(False)
        return figure

    return Plot(whole, lambda: Panel(draw, ALONE))
