"""The heat map of how alike systems answer the same prompts, with the tree of their families.

Neighbours are alike. With few sets, every value is written in its cell; with more, the scale begins
at the least alike pairs but for outliers, so that families show as squares along the diagonal, each
with a frame, and the tree stands beside the map.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from calipers.commands.prompts.families import Families
from calipers.commands.prompts.result import ByPrompt
from calipers.report.plots.choosing import drawable
from calipers.report.plots.heat_map import (
    ALONE,
    BLUE,
    CELL,
    LONGEST,
    MANY,
    MARGIN,
    name_sides,
    separate_cells,
    write_cells,
)
from calipers.report.plots.panels import Panel, Plot
from calipers.report.plots.style import GREY, INK

RISING = LinearSegmentedColormap.from_list("calipers-rising", ["#ffffff", BLUE])
DEEP = LinearSegmentedColormap.from_list("calipers-deep", ["#ffffff", BLUE, "#0b3c5d"])
"""With no numbers to be read in the cells, dark colours tell more values apart."""

UNKNOWN = "#d9d9d9"

FENCE = 3.0
"""Interquartile ranges below the first quartile, from where on values lie below a scale."""

TREE = 1.3
"""Inches that the tree takes."""

NAME = 0.135
"""Inches that a name takes from line to line, where there are many."""


def homogeneity_plot(answers: ByPrompt) -> Plot:
    """Show how alike sets answer the same prompts; the diagonal is the similarity within a set.

    Neighbours are alike. Of up to 16 sets every value is written in its cell, and white is as alike
    as samples of different prompts are; of more, the tree of families stands beside the map. A grey
    cell is a set with one sample for each prompt.
    """
    many = len(answers.homogeneity.names) > MANY

    def draw(axes: Axes) -> None:
        (_draw_many if many else _draw_few)(axes, answers)

    def whole() -> Figure:
        return _with_tree(answers) if many else _alone(answers)

    return Plot(whole, lambda: Panel(draw, ALONE))


def _rows(answers: ByPrompt) -> list[list[float]]:
    """How alike sets are, neighbours most."""
    order = answers.homogeneity.order
    return [[float(v) for v in row] for row in answers.homogeneity.values[np.ix_(order, order)]]


def _title(axes: Axes, answers: ByPrompt) -> None:
    count = len(answers.prompts)
    axes.set_title(f"Alike on the same prompt, mean over {count}", loc="left")


def _names(answers: ByPrompt) -> list[str]:
    return [drawable(name, LONGEST) for name in answers.homogeneity.families.order]


def _draw_few(axes: Axes, answers: ByPrompt) -> None:
    """Write every value in its cell."""
    rows = _rows(answers)
    others = answers.homogeneity.other_prompts.ravel()
    known = [value for row in rows for value in row if value == value]
    least = min([*(float(v) for v in others if v == v), *known], default=0.0)
    most = max(known, default=1.0)
    axes.imshow(rows, cmap=RISING.with_extremes(bad=UNKNOWN), vmin=least, vmax=most)
    _title(axes, answers)
    write_cells(axes, rows)
    name_sides(axes, _names(answers))
    first = None if answers.reference is None else answers.reference.name
    separate_cells(axes, len(rows), 0 if first is None or not _at_start(answers, first) else 1)


def _at_start(answers: ByPrompt, name: str) -> bool:
    """Whether a set has come first, so that a line may set it apart."""
    return answers.homogeneity.families.order[0] == name


def _alone(answers: ByPrompt) -> Figure:
    side = MARGIN + 1.5 * CELL * max(3, len(answers.homogeneity.names))
    figure = Figure(figsize=(side + 0.9, side), layout="constrained")
    axes = figure.add_subplot()
    _draw_few(axes, answers)
    _bar(figure, axes, extends=False)
    return figure


def _draw_many(axes: Axes, answers: ByPrompt) -> None:
    """Show families as dark squares along the diagonal, each with a frame."""
    rows = np.array(_rows(answers))
    pairs = rows[~np.eye(len(rows), dtype=bool)]
    pairs = pairs[np.isfinite(pairs)]
    low, high = (_least(pairs), float(pairs.max())) if pairs.size else (0.0, 1.0)
    axes.imshow(rows, cmap=DEEP.with_extremes(bad=UNKNOWN), vmin=low, vmax=high, aspect="equal")
    _title(axes, answers)
    name_sides(axes, _names(answers))
    size = 7 if len(rows) <= 2 * MANY else 5.5
    axes.tick_params(labelsize=size)
    for label in axes.get_xticklabels():
        label.set(rotation=90, ha="center", va="top", rotation_mode="default")
    if answers.reference is not None:
        place = answers.homogeneity.families.order.index(answers.reference.name)
        for label in (axes.get_xticklabels()[place], axes.get_yticklabels()[place]):
            label.set_fontweight("bold")
    for start, end in _spans(answers.homogeneity.families):
        corner, side = (start - 0.5, start - 0.5), end - start
        axes.add_patch(Rectangle(corner, side, side, fill=False, edgecolor=INK, linewidth=1.1))


def _least(values: NDArray[np.float64]) -> float:
    """The least value that is no outlier: a set unlike all others would take up the whole scale."""
    first, third = np.quantile(values, [0.25, 0.75])
    return float(values[values >= first - FENCE * (third - first)].min())


def _spans(families: Families) -> list[tuple[int, int]]:
    """Where each family begins and ends in the order."""
    places = {name: place for place, name in enumerate(families.order)}
    return [(places[group[0]], places[group[-1]] + 1) for group in families.groups]


def _with_tree(answers: ByPrompt) -> Figure:
    """The map, and on its right the tree that orders it, its leaves beside their rows."""
    count = len(answers.homogeneity.names)
    side = max(5.0, NAME * count)
    figure = Figure(figsize=(TREE + MARGIN + side + 0.9, side + MARGIN), layout="constrained")
    axes = figure.add_subplot()
    _draw_many(axes, answers)
    tree = axes.inset_axes((1.0, 0.0, TREE / side, 1.0))
    _draw_tree(tree, answers.homogeneity.families)
    tree.set_ylim(axes.get_ylim())
    _bar(figure, axes, extends=True)
    return figure


def _draw_tree(axes: Axes, families: Families) -> None:
    """Draw which groups come together, the most alike on the left, beside the map."""
    count = len(families.order)
    heights: list[float] = [float(place) for place in range(count)]
    ends = [max((m.likeness for m in families.merges), default=1.0)] * count
    lines: list[Sequence[tuple[float, float]]] = []
    for merge in families.merges:
        low, high = heights[merge.first], heights[merge.second]
        begin, stop, at = ends[merge.first], ends[merge.second], merge.likeness
        lines.append([(begin, low), (at, low), (at, high), (stop, high)])
        heights.append((low + high) / 2)
        ends.append(merge.likeness)
    axes.add_collection(LineCollection(lines, colors=GREY, linewidths=0.8))
    edges = np.array([merge.likeness for merge in families.merges] or [0.0, 1.0])
    margin = 0.05 * (edges.max() - _least(edges))
    axes.set_xlim(edges.max() + margin, _least(edges) - margin)
    axes.set_xlabel("Mean cosine of a group")
    axes.tick_params(left=False, labelleft=False)
    axes.grid(False, axis="y")
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.spines[["left", "right", "bottom"]].set_visible(False)
    axes.spines["top"].set_visible(True)


def _bar(figure: Figure, axes: Axes, *, extends: bool) -> None:
    bar = figure.colorbar(
        axes.images[0], ax=axes, shrink=0.7, pad=0.03, extend="min" if extends else "neither"
    )
    bar.set_label("Mean cosine")
    bar.outline.set_visible(False)
