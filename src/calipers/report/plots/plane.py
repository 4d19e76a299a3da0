"""Report data ──► the plane of two scores: paper 000, figure 1, precision and recall."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from calipers.report.plots.curves_content import Data
from calipers.report.plots.curves_panels import legend_beside, own_axes
from calipers.report.plots.plane_panel import (
    Plane,
    check_families,
    entries,
    plane_panel,
    planes_figure,
    planes_views,
)
from calipers.report.plots.style import styled

Families = Sequence[Sequence[str]]


def plane_figure(
    data: Data,
    *,
    view: str | None = None,
    x: str = "recall",
    y: str = "precision",
    join: Families = (),
    labels: bool | None = None,
    floor: bool = True,
    whole: bool = False,
) -> Figure:
    """Draw every system as a point of two scores and the region it may lie in, view by view.

    Parameters
    ----------
    data
        The report data of a comparison, or what ``Comparison.to_dict()`` gives; that has no
        correlations, so crosses of intervals stand for ellipses.
    view
        Draw this view alone; all that have both scores by default.
    x, y
        Keys of the scores without the view: also ``"coverage"`` and ``"density"``, or
        ``"clipped_coverage"`` and ``"clipped_density"``.
    join
        Families of systems, each the names in the order in which a line joins them.
    labels
        Whether names stand beside the points, or in the legend; by default beside up to 12.
    floor
        Whether to show what two halves of the reference score against each other. Halves are
        smaller than the sets that are compared, and scores change with size, so the box tells how
        large chance is rather than where a perfect system would lie.
    whole
        Show the whole scale of both scores, not just where the systems are.

    Raises
    ------
    InputError
        If a view, a score or a system is unknown, or no system has both scores.
    """
    plane = Plane(x, y, check_families(data, join), labels, floor, whole)
    return planes_figure(data, planes_views(data, view, plane), plane)


def plane_axes(
    data: Data,
    axes: Axes | None = None,
    *,
    view: str | None = None,
    x: str = "recall",
    y: str = "precision",
    join: Families = (),
    labels: bool | None = None,
    floor: bool = True,
    whole: bool = False,
    legend: bool = True,
) -> Axes:
    """Draw the systems of one view in the plane of two scores.

    Ellipses hold, at the confidence level of the run, both scores together; where the correlation
    of their errors is not known, crosses show their intervals.

    Parameters
    ----------
    data
        The report data of a comparison.
    axes
        Where to draw; axes of a figure of their own by default.
    view, x, y, join, labels, floor, whole
        As :func:`plane_figure` has them; the first view that has both scores by default.
    legend
        Whether to add a legend, to the right of the axes. It names the systems whose scores are
        undefined.

    Raises
    ------
    InputError
        As :func:`plane_figure`.
    """
    plane = Plane(x, y, check_families(data, join), labels, floor, whole)
    shown = planes_views(data, view, plane)[:1]
    with styled():
        named = entries(data, shown, plane) if legend else []
        axes = own_axes(named) if axes is None else axes
        plane_panel(axes, data, shown[0], plane)
        legend_beside(axes, named)
    return axes
