"""Report data ──► F_8 against F_1/8: paper 001, figure 7, a whole curve in two numbers."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from calipers.errors import InputError
from calipers.report.plots.curves_content import Data
from calipers.report.plots.curves_panels import legend_beside, own_axes
from calipers.report.plots.plane import Families
from calipers.report.plots.plane_panel import (
    Plane,
    check_families,
    entries,
    plane_panel,
    planes_figure,
    planes_views,
)
from calipers.report.plots.style import styled

CURVES = ("prd", "frontier")


def f_scores_figure(
    data: Data,
    *,
    view: str | None = None,
    curve: str = "prd",
    join: Families = (),
    labels: bool | None = None,
    whole: bool = False,
) -> Figure:
    """Draw every system by the best F_8 and F_1/8 on its curve, a panel for each view.

    Parameters
    ----------
    data
        The report data of a comparison, or what ``Comparison.to_dict()`` gives.
    view
        Draw this view alone; all that have both scores by default.
    curve
        What they are read from: ``"prd"``, the precision-recall curve, or ``"frontier"``, which
        tells quality from diversity less well (Le Bronnec et al., ACL 2024, figure A.4); with
        options, as in ``"prd:knn"``.
    join
        Families of systems, each the names in the order in which a line joins them.
    labels
        Whether names stand beside the points, or in the legend; by default beside up to 12.
    whole
        Show both scores from 0 to 1, not just where the systems are.

    Raises
    ------
    InputError
        If a view, a curve or a system is unknown, or no system has both scores.
    """
    plane = _plane(data, curve, join, labels, whole)
    return planes_figure(data, planes_views(data, view, plane), plane)


def f_scores_axes(
    data: Data,
    axes: Axes | None = None,
    *,
    view: str | None = None,
    curve: str = "prd",
    join: Families = (),
    labels: bool | None = None,
    whole: bool = False,
    legend: bool = True,
) -> Axes:
    """Draw one view: F_8, which weighs recall, to the right, and F_1/8, precision, upwards.

    Systems below the diagonal have more recall than precision, those above it more precision than
    recall (Sajjadi et al., NeurIPS 2018, section 4.3).

    Parameters
    ----------
    data
        The report data of a comparison.
    axes
        Where to draw; axes of a figure of their own by default.
    view, curve, join, labels, whole
        As :func:`f_scores_figure` has them; the first view that has both scores by default.
    legend
        Whether to add a legend, to the right of the axes.

    Raises
    ------
    InputError
        As :func:`f_scores_figure`.
    """
    plane = _plane(data, curve, join, labels, whole)
    shown = planes_views(data, view, plane)[:1]
    with styled():
        named = entries(data, shown, plane) if legend else []
        axes = own_axes(named) if axes is None else axes
        plane_panel(axes, data, shown[0], plane)
        legend_beside(axes, named)
    return axes


def _plane(data: Data, curve: str, join: Families, labels: bool | None, whole: bool) -> Plane:
    name, colon, options = curve.partition(":")
    if name not in CURVES:
        known = " or ".join(CURVES)
        raise InputError(f"curve must be {known}, with options such as :knn; found {curve!r}")
    return Plane(
        f"{name}_f8{colon}{options}",
        f"{name}_f1_8{colon}{options}",
        check_families(data, join),
        labels,
        whole=whole,
        x_name="$F_8$ (recall)",
        y_name="$F_{1/8}$ (precision)",
        alike=True,
    )
