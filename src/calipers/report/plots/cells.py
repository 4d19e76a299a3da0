"""The plot of an explanation's topics or cells: shares in both sets, and parts of the gap.

The two histograms over the cells that Pillutla et al. (JMLR 2023, section 4) compare, with the
terms of the frontier integral (Liu et al., NeurIPS 2021) beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from calipers.errors import InputError, unknown_name
from calipers.explain.model import Explanation, Region, Topic
from calipers.report.plots.choosing import (
    chosen_systems,
    chosen_view,
    drawable,
    place_of,
    view_words,
)
from calipers.report.plots.panels import Panel, Plot, legend_width
from calipers.report.plots.style import GREY, Look, colour
from calipers.report.topics import name_of
from calipers.results.comparison import Comparison

REGIONS = ("topics", "cells")
MOST, MOST_OF_SEVERAL = 12, 6
WORDS = 4
WIDEST = 44
ROW = 0.32
WIDTH = 6.6
BAR = 0.38
REFERENCE = "reference, p"
PALE, DARK, FAINT = "#8c8c8c", "#4d4d4d", "#c9c9c9"
SIDES = {"under": " under-represented", "over": " over-represented", "even": ""}
FIRST_ROW = 0.8
ROOM, SOME = 3.2, 1.05


def cells_plot(
    comparison: Comparison,
    *,
    view: str | None = None,
    system: str | None = None,
    regions: str = "topics",
    limit: int | None = None,
) -> Plot:
    """Show which topics or cells cause the gap: shares p and q, and the contribution of each.

    The figure holds two panels for each system: the shares of both sets, then the contributions to
    the frontier integral, each on one scale for all systems. A panel alone holds the shares of the
    first system.

    Parameters
    ----------
    comparison
        With the explanations of its systems (:meth:`Comparison.explained`).
    view, system
        One view, the main one by default; one system, or a block for each by default.
    regions
        ``"topics"``, or ``"cells"`` for single cells of the quantisation.
    limit
        How many of a system are shown, those with the largest contributions; 12 by default, 6
        where there are several systems.

    Raises
    ------
    InputError
        If a name is unknown, or, when drawing, nothing is explained.

    Examples
    --------
    >>> import calipers
    >>> import numpy as np
    >>> real, rows = np.random.default_rng(0).normal(size=(2, 60, 2))
    >>> run = calipers.compare(
    ...     real, {"model": rows}, metrics="frontier_integral_star", level=None, floor=False
    ... )
    >>> type(cells_plot(run.explained())).__name__
    'Plot'
    """
    names = chosen_systems(comparison, system)
    if limit is not None and limit < 1:
        raise InputError(f"limit must be at least 1; found {limit}")
    if regions not in REGIONS:
        raise unknown_name("regions", regions, REGIONS)
    view = chosen_view(comparison, view)
    share_name = f"share of the set{view_words(comparison, view, ' (by {})')}"

    def whole() -> Figure:
        most = limit or (MOST if len(names) == 1 else MOST_OF_SEVERAL)
        shown = {name: _regions(comparison, name, view, regions)[:most] for name in names}
        heights = [ROW * len(rows) + 0.2 for rows in shown.values()]
        rows_of_all = [row for rows in shown.values() for row in rows]
        top = max(_known(row.contribution) for row in rows_of_all)
        widest = max(_known(part) for row in rows_of_all for part in (row.expected, row.produced))
        size = (WIDTH, sum(heights) + 0.6 * len(names) + 0.3)
        figure = Figure(figsize=size, layout="constrained")
        ratios: Look = {"width_ratios": (2, 1), "height_ratios": heights}
        panels = figure.subplots(len(names), 2, squeeze=False, **ratios)
        for (shares, gaps), (name, rows) in zip(panels, shown.items(), strict=True):
            _draw_shares(shares, rows, colour(place_of(comparison, name)))
            _draw_gaps(gaps, rows, top)
            shares.set_xlim(0.0, SOME * widest or 1.0)
            shares.set_title(drawable(name), loc="left")
            score = _score_words(_explanation(comparison, name, view))
            gaps.set_title(score, loc="right", size=8, color=GREY)
        shares.set_xlabel(share_name)
        gaps.set_xlabel("contribution to FI*")
        figure.legend(handles=_legend(comparison, names), loc="outside lower center", ncols=2)
        return figure

    def panel() -> Panel:
        name = names[0]
        rows = _regions(comparison, name, view, regions)[: limit or MOST]

        def draw(axes: Axes) -> None:
            _draw_shares(axes, rows, colour(place_of(comparison, name)))
            axes.set_xlabel(share_name)

        size, room = (0.7 * WIDTH, ROW * len(rows) + FIRST_ROW), legend_width([name, REFERENCE])
        return Panel(draw, size, _legend(comparison, [name]), room)

    return Plot(whole, panel)


def _regions(comparison: Comparison, system: str, view: str, regions: str) -> Sequence[Region]:
    """Return the regions of one system, the largest contribution first."""
    explanation = _explanation(comparison, system, view)
    rows: Sequence[Region] = ()
    if explanation is not None:
        rows = explanation.topics if regions == "topics" else explanation.cells
    if not rows:
        why = "; ".join(() if explanation is None else explanation.notes)
        where = f"of the system {system!r} by the view {view!r}"
        raise InputError(f"there are no {regions} {where}" + (f": {why}" if why else ""))
    return sorted(rows, key=lambda region: -_known(region.contribution))


def _explanation(comparison: Comparison, system: str, view: str) -> Explanation | None:
    """Return the explanation of one system; None where there is none."""
    return comparison[system].explained.get(view)


def _draw_shares(axes: Axes, rows: Sequence[Region], shade: str) -> None:
    """Draw for each region the reference's bar above the system's."""
    places = range(len(rows))
    above, below = [y - BAR / 2 for y in places], [y + BAR / 2 for y in places]
    axes.barh(above, [_known(row.expected) for row in rows], BAR, color=PALE)
    axes.barh(below, [_known(row.produced) for row in rows], BAR, color=shade)
    axes.set_yticks(places, [_words(row) for row in rows])
    axes.xaxis.set_major_formatter(FuncFormatter(_per_cent))
    _tidy(axes, len(rows))


def _draw_gaps(axes: Axes, rows: Sequence[Region], top: float) -> None:
    """Draw what each region adds to the gap, and write beside it how much of the gap that is.

    Topics that are significantly under- or over-represented are dark and say so.
    """
    lengths = [_known(row.contribution) for row in rows]
    shades = [FAINT if isinstance(row, Topic) and not row.significant else DARK for row in rows]
    axes.barh(range(len(rows)), lengths, 1.4 * BAR, color=shades)
    for place, (row, length) in enumerate(zip(rows, lengths, strict=True)):
        part = f"{100 * row.share:.1f} %" if isfinite(row.share) else "–"
        side = SIDES[row.direction] if isinstance(row, Topic) and row.significant else ""
        where: Look = {"textcoords": "offset points", "va": "center", "size": 7}
        axes.annotate(part + side, (length, place), (3, 0), **where)
    axes.set_yticks(range(len(rows)), [""] * len(rows))
    axes.set_xlim(0.0, ROOM * top or 1.0)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.3g}"))
    _tidy(axes, len(rows))


def _tidy(axes: Axes, rows: int) -> None:
    axes.set_ylim(rows - 0.5, -0.5)
    axes.grid(False, axis="y")
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_locator(MaxNLocator(3, steps=[1, 2, 5, 10]))


def _known(value: float) -> float:
    """Return a number to draw: 0 for one that is undefined."""
    return value if isfinite(value) else 0.0


def _words(region: Region) -> str:
    """Name a region by its keywords, or by its cells where it has none."""
    return drawable(name_of(region, WORDS), WIDEST)


def _score_words(explanation: Explanation | None) -> str:
    """Write the whole gap that the contributions are parts of."""
    score = None if explanation is None else explanation.score
    return "" if score is None else f"FI* {score:.3f}"


def _legend(comparison: Comparison, names: Sequence[str]) -> list[Artist]:
    """Explain the bars; of several systems each has its colour, and its name above."""
    look: Look = {"facecolor": "white", "edgecolor": GREY, "label": "the system named above, q"}
    if len(names) == 1:
        look = {
            "color": colour(place_of(comparison, names[0])),
            "label": f"{drawable(names[0])}, q",
        }
    return [Patch(color=PALE, label=REFERENCE), Patch(**look)]


def _per_cent(value: float, _: object) -> str:
    return f"{100 * value:.3g} %" if value else "0"
