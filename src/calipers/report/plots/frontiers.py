"""The plot of divergence frontiers: paper 004, figure 1; paper 000, figure A.3, right."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import exp, inf
from typing import Literal, get_args

from matplotlib.artist import Artist
from matplotlib.axes import Axes

from calipers.catalogue.estimation import DIVERGENCE
from calipers.errors import InputError, unknown_name
from calipers.report.plots.choosing import (
    level_of,
    prefix,
    view_words,
    views_of,
)
from calipers.report.plots.curves import (
    MARGIN,
    Drawn,
    Point,
    band,
    check_curve,
    chosen_curves,
    curve_keys,
    curve_legend,
    deviations,
    draw_curve,
    unit_square,
)
from calipers.report.plots.panels import Plot, views_plot
from calipers.results.comparison import Comparison
from calipers.wording.names import clean, label
from calipers.wording.numbers import score_text

Scale = Literal["transformed", "raw"]

MINUS = "\N{MINUS SIGN}"
COST_ENDS = (0.0, inf), (inf, 0.0)
EXACT = (0.0, 0.0), (0.0, 0.0)
MIXED = 0.1
USUAL_C = 5.0
USUAL = ("frontier_star", "frontier")
READ_WITH_C = ("mauve", "frontier_f8", "frontier_f1_8")


def frontiers_plot(
    comparison: Comparison,
    *,
    view: str | None = None,
    curve: str | None = None,
    scale: Scale = "transformed",
    c: float | None = None,
    bands: bool = True,
) -> Plot:
    """Show what each system adds and misses as a divergence frontier, a panel for each view.

    The generated set to the right, the reference upwards; R stands for every mixture of the two
    distributions. Transformed, a curve ends at (1, 0) and (0, 1), and equal distributions meet in
    the corner (1, 1); with raw costs in (0, 0).

    Parameters
    ----------
    comparison
        With the curves of its systems.
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

    Examples
    --------
    >>> import calipers
    >>> import numpy as np
    >>> real, rows = np.random.default_rng(0).normal(size=(2, 60, 2))
    >>> run = calipers.compare(real, {"model": rows}, metrics="mauve_star", level=None, floor=False)
    >>> axes = frontiers_plot(run).axes()
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('Generated set, exp(−5 KL(Q‖R))', 'Reference, exp(−5 KL(P‖R))')
    """
    curve = _usual_frontier(comparison) if curve is None else curve
    if scale not in get_args(Scale):
        raise unknown_name("scale", scale, get_args(Scale))
    usual = _scaling(comparison, curve)
    if c is not None and not 0 < c < inf:
        raise InputError(f"c must be above 0 and finite; found {c}")
    power = None if scale == "raw" else usual if c is None else float(c)
    area = area_key(curve)
    check_curve(curve, ("frontier", "frontier_star"), "divergence frontier")
    curves = chosen_curves(comparison, view, curve, "divergence frontier", f"the metric {area}")

    def draw(axes: Axes, view: str) -> None:
        for drawn in curves[view]:
            _draw(axes, drawn, power, deviations(level_of(comparison)) if bands else None)
        _name_axes(axes, divergence_name(curve), power)
        if power is None:
            _limit(axes, curves[view])

    def legend(views: Sequence[str]) -> list[Artist]:
        areas = _areas(comparison, views, area) if power == usual else None
        return curve_legend(comparison, views, curves, bands=bands, areas=areas)

    def title(views: Sequence[str]) -> str | None:
        """Say what the numbers of the legend are, view by view."""
        by = " / ".join(view_words(comparison, view, "by {}") for view in views)
        return f"{label(area)}{f' {by}' if len(views) > 1 else ''}" if power == usual else None

    return views_plot(comparison, list(curves), draw, legend, title)


def area_key(curve: str) -> str:
    """Return the key of the score for the area under a frontier.

    Examples
    --------
    >>> area_key("frontier_star"), area_key("frontier:chi2:knn")
    ('mauve_star', 'mauve:chi2:knn')
    """
    return _read_from(curve, "mauve")


def divergence_name(curve: str) -> str:
    """Return the name of the divergence of a frontier.

    Examples
    --------
    >>> divergence_name("frontier_star"), divergence_name("frontier:interpolated_chi2=0.3:knn")
    ('KL', 'χ² 0.3')
    """
    for option in curve.split(":")[1:]:
        name, _, weight = option.partition("=")
        if name in DIVERGENCE.labels:
            return f"{DIVERGENCE.labels[name]} {clean(weight)}".strip()
    return DIVERGENCE.labels["kl"]


def _usual_frontier(comparison: Comparison) -> str:
    """Return the key of the frontier to draw: the smoothed one where there is one."""
    keys = [key for key in curve_keys(comparison) if key.startswith("frontier")]
    return next((key for key in (*USUAL, *keys) if key in keys), USUAL[0])


def _scaling(comparison: Comparison, curve: str) -> float:
    """Return the constant c that the scores of a frontier were made with, from their signatures."""
    keys = [
        prefix(comparison, view) + _read_from(curve, m)
        for view in views_of(comparison)
        for m in READ_WITH_C
    ]
    scores = [system.scores[key] for system in comparison for key in keys if key in system.scores]
    pins = [re.findall(r"\|c:([0-9.e+-]+)(?:\||$)", score.signature) for score in scores]
    constants = [float(c) for pinned in pins for c in pinned]
    given = comparison.settings.get("c")
    return constants[0] if constants else USUAL_C if given is None else float(given)


def _read_from(curve: str, metric: str) -> str:
    name, colon, options = curve.partition(":")
    return f"{metric}{name.removeprefix('frontier')}{colon}{options}"


def _areas(comparison: Comparison, views: Sequence[str], key: str) -> list[str]:
    """Return the areas of all systems, view by view; a dash where there is none."""
    keys = [prefix(comparison, view) + key for view in views]
    return [" / ".join(score_text(system.scores.get(key)) for key in keys) for system in comparison]


def _draw(axes: Axes, drawn: Drawn, c: float | None, reach: float | None) -> None:
    """Draw one frontier, with a band as far as `reach` standard errors."""
    points = _costs(drawn.points, c, COST_ENDS)
    polygons: list[list[Point]] = []
    if reach is not None and drawn.errors:
        polygons = band(points, _costs(drawn.errors, c, EXACT), reach, most=None)
    draw_curve(axes, drawn, _shown(points, c), [_shown(edge, c) for edge in polygons])


def _costs(
    rows: Sequence[Sequence[float]], c: float | None, ends: tuple[Point, Point]
) -> list[Point]:
    """Return the costs of the generated set and of the reference; transformed curves have ends."""
    points = [(generated, reference) for _, generated, reference in rows]
    return points if c is None else [ends[0], *points, ends[1]]


def _shown(points: Sequence[Point], c: float | None) -> list[Point]:
    """Bring costs into the unit square by x → exp(-c·x); Pillutla et al., JMLR 2023, equation 5."""
    return list(points) if c is None else [(exp(-c * x), exp(-c * y)) for x, y in points]


def _name_axes(axes: Axes, name: str, c: float | None) -> None:
    if c is None:
        axes.set_xlabel(f"Cost of the generated set, {name}(Q‖R)")
        axes.set_ylabel(f"Cost of the reference, {name}(P‖R)")
        return
    unit_square(axes)
    axes.set_xlabel(f"Generated set, exp({MINUS}{c:g} {name}(Q‖R))")
    axes.set_ylabel(f"Reference, exp({MINUS}{c:g} {name}(P‖R))")


def _limit(axes: Axes, curves: Sequence[Drawn]) -> None:
    """Show what mixtures of both cost; towards the ends raw costs rise out of all proportion."""
    rows = [row for drawn in curves for row in drawn.points]
    costs = [cost for weight, *both in rows if MIXED <= weight <= 1 - MIXED for cost in both]
    most = 1.05 * max((cost for cost in costs if 0 < cost < inf), default=1 / 1.05)
    axes.set(xlim=(-MARGIN * most, most), ylim=(-MARGIN * most, most), aspect="equal")
