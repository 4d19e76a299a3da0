"""Answers by prompt ──► a heat map: how alike systems answer, and each itself."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from calipers.commands.prompts.result import ByPrompt
from calipers.report.plots.choosing import drawable
from calipers.report.plots.heat_map import (
    ALONE,
    BLUE,
    CELL,
    LONGEST,
    MARGIN,
    name_sides,
    separate_cells,
    write_cells,
)
from calipers.report.plots.panels import Panel, Plot

RISING = LinearSegmentedColormap.from_list("calipers-rising", ["#ffffff", BLUE])


def homogeneity_plot(answers: ByPrompt) -> Plot:
    """Show how alike sets answer the same prompts; the diagonal is how alike each answers itself.

    White is as alike as samples of different prompts are, blue the most alike. Every value is
    written in its cell; a grey cell with a dash is a set with one sample for each prompt.
    """
    homogeneity = answers.homogeneity
    rows = [[float(value) for value in row] for row in homogeneity.values]
    others = [float(value) for value in homogeneity.other_prompts.ravel() if value == value]
    known = [value for row in rows for value in row if value == value]
    least = min([*others, *known], default=0.0)
    prompts = len(answers.prompts)

    def draw(axes: Axes) -> None:
        most = max(known, default=1.0)
        axes.imshow(rows, cmap=RISING.with_extremes(bad="#d9d9d9"), vmin=least, vmax=most)
        axes.set_title(f"Alike on the same prompt, mean over {prompts}", loc="left")
        write_cells(axes, rows)
        name_sides(axes, [drawable(name, LONGEST) for name in homogeneity.names])
        separate_cells(axes, len(rows), 0 if answers.reference is None else 1)

    def whole() -> Figure:
        side = MARGIN + 1.5 * CELL * max(3, len(rows))
        figure = Figure(figsize=(side + 0.9, side), layout="constrained")
        axes = figure.add_subplot()
        draw(axes)
        bar = figure.colorbar(axes.images[0], ax=axes, shrink=0.7, pad=0.03)
        bar.set_label("Mean cosine")
        bar.outline.set_visible(False)
        return figure

    return Plot(whole, lambda: Panel(draw, ALONE))
