"""What the figures of curves and of scores share: a panel for each view, and legends below."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.textpath import text_to_path

from calipers.report.plots.choosing import drawable, views_of
from calipers.report.plots.curves_content import Data, shown_names
from calipers.report.plots.style import colour, dashes, marker

COLUMN, HEIGHT = 3.4, 3.52
"""Size of a panel in inches; a figure of one view is as wide as a column of a paper."""

TOGETHER = 2
LINE, PAD, GAP = 0.175, 0.05, 0.05
HANDLE, SPACE = 0.69, 0.22
"""Inches of a legend that a line and the gaps around it take, and the gap after a column."""

SMALL = 8.0
INK = "#1a1a1a"
GREY = "#6e6e6e"
EDGE: dict[str, Any] = {"markeredgecolor": "white", "markeredgewidth": 0.5}


@dataclass(frozen=True)
class Entry:
    """A line of a legend: what is drawn, and what it is called."""

    handle: Artist
    name: str


def look_of(index: int) -> dict[str, Any]:
    """Give the colour, the dashes and the marker of a system."""
    own = {"color": colour(index), "linestyle": dashes(index), "marker": marker(index)}
    return {**own, **EDGE}


def curve_entries(
    data: Data, missing: Sequence[Sequence[int]], names: Sequence[str]
) -> list[Entry]:
    """Name the systems beside their lines; of what is missing somewhere, say where.

    Parameters
    ----------
    missing
        For every panel the places of the systems without a curve.
    names
        What the panels show, such as ``by form``.
    """
    return [
        Entry(
            Line2D([], [], **(look_of(i) if any(i not in each for each in missing) else EMPTY)),
            f"{name}{lacking(i, missing, names)}",
        )
        for i, name in enumerate(shown_names(data))
    ]


EMPTY: dict[str, Any] = {"linestyle": "", "marker": ""}


def lacking(index: int, missing: Sequence[Sequence[int]], names: Sequence[str]) -> str:
    """Say in which panels a system is missing; nothing where it is in all."""
    where = [name for each, name in zip(missing, names, strict=True) if index in each]
    if not where:
        return ""
    return " (missing)" if len(where) == len(names) else f" (missing {', '.join(where)})"


def panel_names(data: Data, views: Sequence[str]) -> list[str]:
    """Say by which view each panel is; nothing where the run has one view."""
    many = len(views_of(data)) > 1
    return [f"by {drawable(view)}" if many else "" for view in views]


def panel_figure(
    data: Data,
    views: Sequence[str],
    draw: Callable[[Axes, str], object],
    entries: Sequence[Entry],
    title: str | None = None,
) -> Figure:
    """Draw a panel for each view, two side by side, and one legend below all of them."""
    columns, rows = min(TOGETHER, len(views)), -(-len(views) // TOGETHER)
    width = COLUMN * columns
    together = legend_columns([each.name for each in entries], width)
    lines = -(-len(entries) // together) + (title is not None)
    layout = ConstrainedLayoutEngine(h_pad=GAP)
    figure = Figure(figsize=(width, HEIGHT * rows + LINE * lines + PAD), layout=layout)
    for place, (view, name) in enumerate(zip(views, panel_names(data, views), strict=True)):
        axes = figure.add_subplot(rows, columns, place + 1)
        draw(axes, view)
        if name:
            axes.set_title(name.replace("by", "By", 1), loc="left")
    if entries:
        options: dict[str, Any] = {
            "loc": "outside lower center",
            "ncols": together,
            "borderaxespad": 0.0,
        }
        figure.legend(*_parts(entries), title=title, **options)
    return figure


def own_axes(entries: Sequence[Entry], title: str | None = None) -> Axes:
    """Make axes in a figure of their own, with room for a legend on the right."""
    widest = max(text_width(name) for name in [title or "", *(e.name for e in entries)])
    room = HANDLE + 0.1 + widest / 72 if entries else 0.0
    return Figure(figsize=(COLUMN + room, HEIGHT), layout="constrained").add_subplot()


def legend_beside(axes: Axes, entries: Sequence[Entry], title: str | None = None) -> None:
    """Add a legend to the right of axes, where it hides nothing."""
    if entries:
        options: dict[str, Any] = {
            "loc": "upper left",
            "bbox_to_anchor": (1.02, 1.0),
            "borderaxespad": 0.0,
        }
        axes.legend(*_parts(entries), **options, title=title, alignment="left")


def text_width(text: str, size: float = SMALL) -> float:
    """How wide a drawable text is, in points."""
    font, shown = FontProperties(family=["DejaVu Sans"], size=size), text.replace(r"\$", "$")
    with warnings.catch_warnings():  # signs that the font lacks are told of when they are drawn
        warnings.simplefilter("ignore", UserWarning)
        return float(text_to_path.get_text_width_height_descent(shown, font, ismath=False)[0])


def legend_columns(names: Sequence[str], width: float) -> int:
    """How many columns of a legend fit into a width in inches; it is filled column by column."""
    wide = [HANDLE + text_width(name) / 72 for name in names]
    fits = (n for n in range(len(names), 1, -1) if _width(wide, n) <= width)
    return next(fits, 1)


def _width(wide: Sequence[float], columns: int) -> float:
    """How wide a legend is whose first columns are an entry longer where they do not come out."""
    least, longer = divmod(len(wide), columns)
    starts = [column * least + min(column, longer) for column in range(columns + 1)]
    return sum(max(wide[start:end]) for start, end in pairwise(starts)) - SPACE


def _parts(entries: Sequence[Entry]) -> tuple[list[Artist], list[str]]:
    return [each.handle for each in entries], [each.name for each in entries]
