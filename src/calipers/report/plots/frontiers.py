"""Report data ──► divergence frontiers: paper 004, figure 1; paper 000, figure A.3 on the right."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from calipers.report.plots.bands import Point, band, draw_bands
from calipers.report.plots.curves import EDGE, markers_every, unit_square
from calipers.report.plots.curves_content import (
    Data,
    Row,
    deviations,
    drawn_curves,
    has_points,
    level_of,
)
from calipers.report.plots.curves_panels import legend_beside, look_of, own_axes, panel_figure
from calipers.report.plots.frontiers_choice import (
    Choice,
    Scale,
    choose,
    frontier_entries,
    frontier_title,
    frontier_views,
)
from calipers.report.plots.frontiers_content import divergence_name, transformed
from calipers.report.plots.style import colour, styled

MINUS = "\N{MINUS SIGN}"
COST_ENDS = (0.0, inf), (inf, 0.0)
MIXED = 0.1
EXACT = (0.0, 0.0), (0.0, 0.0)


def frontiers_figure(
    data: Data,
    *,
    view: str | None = None,
    curve: str | None = None,
    scale: Scale = "transformed",
    c: float | None = None,
    bands: bool = True,
) -> Figure:
    """Draw what each system adds and leaves out against every mixture, a panel for each view.

    Parameters
    ----------
    data
        The report data of a comparison.
    view
        Draw this view alone; all that have the frontier by default.
    curve
        Key of the frontier without the view, such as ``"frontier"`` or ``"frontier:chi2"``; the
        smoothed one, ``"frontier_star"``, by default.
    scale
        ``"transformed"``: exp(-c·cost), the curve whose area is MAUVE; the legend tells the areas.
        ``"raw"``: the costs themselves.
    c
        Scaling constant; that of the run by default. The legend tells areas for that one only.
    bands
        Whether to shade what the curves may be at the confidence level of the run.

    Raises
    ------
    InputError
        If the view or the scale is unknown, c is not above 0, or no system has the frontier.
    """
    chosen = choose(data, curve, scale, c, bands)
    views = frontier_views(data, view, chosen.curve)
    with styled():
        return panel_figure(
            data,
            views,
            lambda axes, each: _draw(axes, data, each, chosen),
            frontier_entries(data, views, chosen),
            frontier_title(data, views, chosen),
        )


def frontiers_axes(
    data: Data,
    axes: Axes | None = None,
    *,
    view: str | None = None,
    curve: str | None = None,
    scale: Scale = "transformed",
    c: float | None = None,
    bands: bool = True,
    legend: bool = True,
) -> Axes:
    """Draw the frontiers of one view: the generated set to the right, the reference upwards.

    R stands for every mixture of the two distributions. Transformed, a curve ends at (1, 0) and
    (0, 1), and equal distributions meet in the corner (1, 1); with raw costs in (0, 0).

    Parameters
    ----------
    data
        The report data of a comparison.
    axes
        Where to draw; axes of a figure of their own by default.
    view, curve, scale, c, bands
        As :func:`frontiers_figure` has them; the first view that has the frontier by default.
    legend
        Whether to add a legend, to the right of the axes.

    Raises
    ------
    InputError
        As :func:`frontiers_figure`.
    """
    chosen = choose(data, curve, scale, c, bands)
    views = frontier_views(data, view, chosen.curve)[:1]
    with styled():
        entries = frontier_entries(data, views, chosen) if legend else []
        title = frontier_title(data, views, chosen)
        axes = own_axes(entries, title) if axes is None else axes
        _draw(axes, data, views[0], chosen)
        legend_beside(axes, entries, title)
    return axes


def _draw(axes: Axes, data: Data, view: str, chosen: Choice) -> None:
    for each in filter(has_points, drawn_curves(data, view, chosen.curve)):
        points = _costs(each.points, chosen.c, COST_ENDS)
        if chosen.bands and each.errors:
            errors = _costs(each.errors, chosen.c, EXACT)
            edges = band(points, errors, deviations(level_of(data)), most=None)
            draw_bands(axes, [_shown(edge, chosen.c) for edge in edges], colour(each.index))
        x, y = zip(*_shown(points, chosen.c), strict=True)
        every = markers_every(each.index)
        look = {"markevery": every, **look_of(each.index)}
        axes.plot(x, y, label=each.name, **look)
    _name_axes(axes, divergence_name(chosen.curve), chosen.c)
    if chosen.c is None:
        axes.set(**_near(data, view, chosen.curve))


def _costs(rows: Sequence[Row], c: float | None, ends: tuple[Point, Point]) -> list[Point]:
    """Give the costs of the generated set and of the reference; transformed curves have ends."""
    points = [(generated, reference) for _, generated, reference in rows]
    return points if c is None else [ends[0], *points, ends[1]]


def _shown(points: Sequence[Point], c: float | None) -> list[Point]:
    return list(points) if c is None else transformed(points, c)


def _name_axes(axes: Axes, name: str, c: float | None) -> None:
    if c is None:
        axes.set_xlabel(f"Cost of the generated set, {name}(Q‖R)")
        axes.set_ylabel(f"Cost of the reference, {name}(P‖R)")
        return
    unit_square(axes)
    axes.set_xlabel(f"Generated set, exp({MINUS}{c:g} {name}(Q‖R))")
    axes.set_ylabel(f"Reference, exp({MINUS}{c:g} {name}(P‖R))")


def _near(data: Data, view: str, curve: str) -> dict[str, Any]:
    """Show what mixtures of both cost; towards the ends raw costs rise out of all proportion."""
    rows = [row for each in drawn_curves(data, view, curve) for row in each.points]
    costs = [cost for weight, *both in rows if MIXED <= weight <= 1 - MIXED for cost in both]
    most = 1.05 * max((cost for cost in costs if 0 < cost < inf), default=1 / 1.05)
    return {"xlim": (-EDGE * most, most), "ylim": (-EDGE * most, most), "aspect": "equal"}
