"""Plots as figures with all panels, or as one panel in given Axes; legends and names."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.textpath import text_to_path

from calipers.report.plots.choosing import drawable, view_words
from calipers.report.plots.fonts import families, fit_letters
from calipers.report.plots.style import Look, save_figure, styled
from calipers.results.comparison import Comparison
from calipers.wording.cells import cell_len
from calipers.wording.names import WIDEST_NAME
from calipers.wording.short_names import among

COLUMN, HEIGHT = 3.4, 3.52
"""Size of a view's panel in inches; a figure of one view is as wide as a column of a paper."""

TOGETHER = 2
LINE, PAD, GAP = 0.175, 0.05, 0.05
HANDLE, SPACE = 0.69, 0.22
"""Inches of a legend that a line and the gaps around it take, and the gap after a column."""

SAMPLE, SIGN = 0.75, 0.075
"""Inches that a legend's drawn sample takes, and each sign of a name."""

SMALL = 8.0
LONGEST = 24
BLANK = "(blank name)"
EMPTY: Look = {"linestyle": "", "marker": ""}


@dataclass(frozen=True)
class Panel:
    """One panel of a plot.

    Attributes
    ----------
    draw
        What draws it into axes.
    size
        Width and height in inches, without a legend.
    legend
        Marks with their names, for a legend to the right.
    room
        Inches that the legend takes.
    look
        Options of the legend.
    """

    draw: Callable[[Axes], object]
    size: tuple[float, float]
    legend: Sequence[Artist] = ()
    room: float = 0.0
    look: Look = field(default_factory=dict)


@dataclass(frozen=True)
class Plot:
    """A plot of a result, ready to be drawn.

    Attributes
    ----------
    whole
        The function that draws the figure with all panels.
    panel
        The function that prepares one panel: the first, where a figure has several.
    names
        Names that are not to be shortened alike.
    """

    whole: Callable[[], Figure]
    panel: Callable[[], Panel]
    names: tuple[str, ...] = ()

    def figure(self, path: str | Path | None = None) -> Figure:
        """Draw a figure with all panels; save it as .png, .pdf or .svg if a file is named."""
        with styled(), among(self.names):
            figure = self.whole()
            fit_letters(figure, path)
        if path is not None:
            save_figure(figure, path)
        return figure

    def axes(self, axes: Axes | None = None, *, legend: bool = True) -> Axes:
        """Draw one panel.

        Parameters
        ----------
        axes
            The axes to draw into; by default those of a new figure.
        legend
            Whether to add a legend, to the right of the axes.
        """
        with styled(), among(self.names):
            panel = self.panel()
            if axes is None:
                width, height = panel.size
                size = (width + (panel.room if legend else 0.0), height)
                axes = Figure(figsize=size, layout="constrained").add_subplot()
            panel.draw(axes)
            if legend and panel.legend:
                where: Look = {"loc": "upper left", "bbox_to_anchor": (1.02, 1.0)}
                axes.legend(handles=panel.legend, **where, **panel.look)
            fit_letters(axes)
        return axes


def views_plot(
    comparison: Comparison,
    views: Sequence[str],
    draw: Callable[[Axes, str], object],
    legend: Callable[[Sequence[str]], Sequence[Artist]],
    title: Callable[[Sequence[str]], str | None] = lambda _: None,
) -> Plot:
    """Make a plot with a panel for each view, two side by side, and one legend below them.

    Parameters
    ----------
    comparison
        Whose views and systems are named.
    views
        What to draw; a panel alone shows the first.
    draw
        What draws a view into axes.
    legend, title
        What give the legend of some of the views, and its title.
    """
    first = views[:1]

    def panel() -> Panel:
        handles, head = legend(first), title(first)
        names = [head or "", *(str(handle.get_label()) for handle in handles)]
        room = HANDLE + 0.1 + max(map(text_width, names)) / 72 if handles else 0.0
        look: Look = {"borderaxespad": 0.0, "title": head, "alignment": "left"}
        return Panel(lambda axes: draw(axes, first[0]), (COLUMN, HEIGHT), handles, room, look)

    return Plot(lambda: _views_figure(comparison, views, draw, legend(views), title(views)), panel)


def _views_figure(
    comparison: Comparison,
    views: Sequence[str],
    draw: Callable[[Axes, str], object],
    handles: Sequence[Artist],
    title: str | None,
) -> Figure:
    columns, rows = min(TOGETHER, len(views)), -(-len(views) // TOGETHER)
    width = COLUMN * columns
    together = legend_columns([str(handle.get_label()) for handle in handles], width)
    lines = -(-len(handles) // together) + (title is not None)
    layout = ConstrainedLayoutEngine(h_pad=GAP)
    figure = Figure(figsize=(width, HEIGHT * rows + LINE * lines + PAD), layout=layout)
    for place, view in enumerate(views):
        axes = figure.add_subplot(rows, columns, place + 1)
        draw(axes, view)
        if name := view_words(comparison, view, "By {}"):
            axes.set_title(name, loc="left")
    if handles:
        look: Look = {"loc": "outside lower center", "ncols": together, "borderaxespad": 0.0}
        figure.legend(handles=handles, title=title, **look)
    return figure


def shown_names(comparison: Comparison, width: int = LONGEST) -> list[str]:
    """Return the names of systems for panels, or for legends within a `width`."""
    with among(system.name for system in comparison):
        names = [drawable(system.name, width) for system in comparison]
    return [name if name.strip() else BLANK for name in names]


def gaps(
    comparison: Comparison, views: Sequence[str], drawn: Sequence[Collection[int]]
) -> list[str]:
    """List the panels in which each system is missing; nothing for a system in all.

    Parameters
    ----------
    drawn
        For the panel of each view the places of the systems in it.
    """
    names, words = [view_words(comparison, view, "by {}") for view in views], []
    for index in range(len(comparison)):
        where = [name for name, places in zip(names, drawn, strict=True) if index not in places]
        missing = "missing" if len(where) == len(names) else f"missing {', '.join(where)}"
        words.append(f" ({missing})" if where else "")
    return words


def text_width(text: str, size: float = SMALL) -> float:
    """Return the width of a text when drawn, in points."""
    font, shown = FontProperties(family=families(text), size=size), text.replace(r"\$", "$")
    with warnings.catch_warnings():  # letters that no font has stay in a .svg as text
        warnings.simplefilter("ignore", UserWarning)
        return float(text_to_path.get_text_width_height_descent(shown, font, ismath=False)[0])


def legend_columns(names: Sequence[str], width: float) -> int:
    """Return how many columns of a legend fit into a width in inches."""
    wide = [HANDLE + text_width(name) / 72 for name in names]
    fits = (n for n in range(len(names), 1, -1) if _width(wide, n) <= width)
    return next(fits, 1)


def legend_width(names: Sequence[str]) -> float:
    """Return the width in inches of a legend beside the panels."""
    return SAMPLE + SIGN * max((min(cell_len(name), WIDEST_NAME) for name in names), default=0)


def _width(wide: Sequence[float], columns: int) -> float:
    """How wide a legend is whose first columns are an entry longer where they do not come out."""
    least, longer = divmod(len(wide), columns)
    starts = [column * least + min(column, longer) for column in range(columns + 1)]
    return sum(max(wide[start:end]) for start, end in pairwise(starts)) - SPACE
