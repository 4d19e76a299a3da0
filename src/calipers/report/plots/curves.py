"""Report data ──► precision–recall curves: paper 001, figures 1 and 5; paper 000, figure A.3."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from calipers.report.plots.bands import ALPHA, band, draw_bands
from calipers.report.plots.curves_content import (
    Data,
    check_family,
    chosen_views,
    deviations,
    drawn_curves,
    has_points,
    level_of,
    no_curve,
    views_with_curve,
)
from calipers.report.plots.curves_panels import (
    GREY,
    Entry,
    curve_entries,
    legend_beside,
    look_of,
    own_axes,
    panel_figure,
    panel_names,
)
from calipers.report.plots.style import MARKERS, colour, styled

EDGE = 0.015
SPACING = 0.31


def curves_figure(
    data: Data, *, view: str | None = None, curve: str = "prd", bands: bool = True
) -> Figure:
    """Draw how good samples can be against how much they cover, a panel for each view.

    Parameters
    ----------
    data
        The report data of a comparison.
    view
        Draw this view alone; all that have the curve by default.
    curve
        Its key without the view: ``"prd"``, or ``"prd:knn"`` and the like.
    bands
        Whether to shade what the curves may be at the confidence level of the run.

    Raises
    ------
    InputError
        If the view is unknown, or no system has the curve.
    """
    views = _views(data, view, curve)
    with styled():
        return panel_figure(
            data,
            views,
            lambda axes, each: curves_axes(
                data, axes, view=each, curve=curve, bands=bands, legend=False
            ),
            _entries(data, views, curve, bands),
        )


def curves_axes(
    data: Data,
    axes: Axes | None = None,
    *,
    view: str | None = None,
    curve: str = "prd",
    bands: bool = True,
    legend: bool = True,
) -> Axes:
    """Draw the curves of one view: recall to the right, precision upwards, 1 is no loss.

    A system that keeps all of the reference in reach but adds what does not belong falls short in
    precision at low recall, one that leaves a part out ends before recall 1.

    Parameters
    ----------
    data
        The report data of a comparison.
    axes
        Where to draw; axes of a figure of their own by default.
    view, curve, bands
        As :func:`curves_figure` has them; the first view that has the curve by default.
    legend
        Whether to add a legend, to the right of the axes.

    Raises
    ------
    InputError
        If the view is unknown, or no system has the curve.
    """
    view = _views(data, view, curve)[0]
    with styled():
        entries = _entries(data, [view], curve, bands) if legend else []
        axes = own_axes(entries) if axes is None else axes
        _draw(axes, data, view, curve, bands)
        unit_square(axes)
        axes.set_xlabel("Recall")
        axes.set_ylabel("Precision")
        legend_beside(axes, entries)
    return axes


def unit_square(axes: Axes) -> None:
    """Show shares from 0 to 1 on both axes, alike."""
    axes.set(xlim=(-EDGE, 1 + EDGE), ylim=(-EDGE, 1 + EDGE), aspect="equal")
    axes.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    axes.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1])


def markers_every(index: int) -> tuple[float, float]:
    """Where a system's markers stand on its curve; those of curves that coincide stand apart."""
    return SPACING * (index % len(MARKERS) / len(MARKERS)), SPACING


def missing_from(data: Data, view: str, curve: str) -> list[int]:
    """Give the places of the systems that have no such curve in a view."""
    return [each.index for each in drawn_curves(data, view, curve) if not has_points(each)]


def band_entry(data: Data, views: list[str], curve: str) -> list[Entry]:
    """Explain the bands, where there are any."""
    drawn = [each for view in views for each in drawn_curves(data, view, curve)]
    if not any(each.errors for each in drawn if has_points(each)):
        return []
    patch = Patch(color=GREY, alpha=ALPHA, linewidth=0)
    return [Entry(patch, f"{100 * level_of(data):.3g} % band")]


def _draw(axes: Axes, data: Data, view: str, curve: str, bands: bool) -> None:
    reach = deviations(level_of(data))
    for each in filter(has_points, drawn_curves(data, view, curve)):
        points = [(recall, precision) for precision, recall in each.points]
        errors = [(recall, precision) for precision, recall in each.errors]
        if bands:
            draw_bands(axes, band(points, errors, reach), colour(each.index))
        every = markers_every(each.index)
        x, y = zip(*points, strict=True)
        axes.plot(x, y, label=each.name, markevery=every, **look_of(each.index))


def _entries(data: Data, views: list[str], curve: str, bands: bool) -> list[Entry]:
    missing = [missing_from(data, view, curve) for view in views]
    systems = curve_entries(data, missing, panel_names(data, views))
    return [*systems, *(band_entry(data, views, curve) if bands else [])]


def _views(data: Data, view: str | None, curve: str) -> list[str]:
    check_family(curve, ("prd",), "precision-recall curve")
    _, colon, options = curve.partition(":")
    ask = f"the metrics prd_f8{colon}{options} and prd_f1_8{colon}{options}"
    missing = no_curve(data, "precision-recall curve", curve, view, ask)
    return chosen_views(data, view, views_with_curve(data, curve), missing)
