"""The plot of precision–recall curves: paper 001, figures 1 and 5; paper 000, figure A.3.

The reading, the bands and the legend of curves are those of divergence frontiers too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import NormalDist
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.report.plots.choosing import (
    chosen_views,
    level_of,
    prefix,
    views_of,
)
from calipers.report.plots.panels import EMPTY, Plot, gaps, shown_names, views_plot
from calipers.report.plots.style import MARKERS, SHADE, Look, colour, line
from calipers.results.comparison import Comparison
from calipers.wording.names import WIDEST_NAME

Point = tuple[float, float]

MARGIN = 0.015
SPACING = 0.31
GREY = "#6e6e6e"


@dataclass(frozen=True)
class Drawn:
    """One system's curve.

    Attributes
    ----------
    index
        Its place among all systems of the run: which colour, dashes and marker it has.
    name
        What it is called, fit for one line.
    points, errors
        Rows as the result holds them, NaN where undefined; no rows of errors where none are known.
    """

    index: int
    name: str
    points: list[list[float]]
    errors: list[list[float]]

    @property
    def known(self) -> bool:
        """Whether any point of the curve is known."""
        return any(all(value == value for value in row) for row in self.points)


Curves = Mapping[str, Sequence[Drawn]]
"""View to the curves of all systems."""


def curves_plot(
    comparison: Comparison, *, view: str | None = None, curve: str = "prd", bands: bool = True
) -> Plot:
    """Show precision against recall as curves, a panel for each view.

    Recall to the right, precision upwards, 1 is no loss. A system that keeps all of the reference
    in reach but adds what does not belong falls short in precision at low recall, one that leaves
    a part out ends before recall 1.

    Parameters
    ----------
    comparison
        With the curves of its systems.
    view
        Draw this view alone; all that have the curve by default.
    curve
        Its key without the view: ``"prd"``, or ``"prd:knn"``, ``"renyi:order=2"`` and the like.
    bands
        Whether to shade what the curves may be at the confidence level of the run.

    Raises
    ------
    InputError
        If the view is unknown, or no system has the curve.

    Examples
    --------
    >>> import calipers
    >>> import numpy as np
    >>> real, rows = np.random.default_rng(0).normal(size=(2, 60, 2))
    >>> run = calipers.compare(real, {"model": rows}, metrics="prd", level=None, floor=False)
    >>> axes = curves_plot(run).axes()
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('Recall', 'Precision')
    """
    check_curve(curve, ("prd", "renyi"), "precision-recall curve")
    family, colon, options = curve.partition(":")
    ask = f"the metrics {family}_f8{colon}{options} and {family}_f1_8{colon}{options}"
    curves = chosen_curves(comparison, view, curve, "precision-recall curve", ask)
    reach = deviations(level_of(comparison))

    def draw(axes: Axes, view: str) -> None:
        for drawn in curves[view]:
            points, errors = (
                [(row[1], row[0]) for row in rows] for rows in (drawn.points, drawn.errors)
            )
            draw_curve(axes, drawn, points, band(points, errors, reach) if bands else [])
        unit_square(axes)
        axes.set_xlabel("Recall")
        axes.set_ylabel("Precision")

    return views_plot(
        comparison,
        list(curves),
        draw,
        lambda views: curve_legend(comparison, views, curves, bands=bands),
    )


def check_curve(key: str, families: Sequence[str], kind: str) -> None:
    """Refuse the key of another kind of curve, whose points have other columns."""
    if key.partition(":")[0] not in families:
        known = " or ".join(map(repr, families))
        raise InputError(f"{key!r} names no {kind}: such keys begin with {known}")


def chosen_curves(
    comparison: Comparison, view: str | None, key: str, kind: str, ask: str
) -> Curves:
    """Return the curves of the views to draw: the requested one, or all that have any.

    Parameters
    ----------
    key
        Of the curves, without the view.
    kind, ask
        What to call them, and the metrics that bring them, where there are none.
    """
    curves = {
        view: _read(comparison, prefix(comparison, view) + key) for view in views_of(comparison)
    }
    having = [view for view, drawn in curves.items() if any(system.known for system in drawn)]
    views = chosen_views(comparison, view, having, _missing(comparison, view, key, kind, ask))
    return {view: curves[view] for view in views}


def curve_keys(comparison: Comparison) -> list[str]:
    """Return the keys of all curves that any system has, without views."""
    views = views_of(comparison)[1:]
    keys = [key for system in comparison for key in system.curves]
    return list(dict.fromkeys(_bare(key, views) for key in keys))


def deviations(level: float) -> float:
    """Return the half-width of an interval at a level, in standard errors."""
    return NormalDist().inv_cdf((1 + level) / 2)


def band(
    points: Sequence[Point], errors: Sequence[Point], reach: float, *, most: float | None = 1.0
) -> list[list[Point]]:
    """Return the uncertainty band of a curve: polygons, one for each stretch with known errors.

    Every point moves by `reach` times its error, towards both axes for the lower edge and away
    from them for the upper one.

    Parameters
    ----------
    points, errors
        x and y along the curve, and their standard errors; NaN where unknown.
    reach
        Standard errors to each side.
    most
        Where both axes end; they begin at 0. None for axes without an end.

    Returns
    -------
    list of list of (x, y)
        The lower edge there, the upper edge back. A single point has no region.
    """
    pairs = zip(points, errors, strict=False)
    runs = [list(run) for known, run in groupby(pairs, _is_known) if known]
    return [
        [_moved(pair, -reach, most) for pair in run]
        + [_moved(pair, reach, most) for pair in run[::-1]]
        for run in runs
        if len(run) > 1
    ]


def draw_curve(
    axes: Axes, drawn: Drawn, points: Sequence[Point], polygons: Sequence[Sequence[Point]]
) -> None:
    """Draw the curve of a system over its band; nothing where no point is known.

    Markers of curves that coincide stand apart.
    """
    if not drawn.known:
        return
    if polygons:
        look: Look = {"facecolors": colour(drawn.index), "alpha": SHADE, "linewidths": 0}
        axes.add_collection(PolyCollection(polygons, zorder=1.5, **look), autolim=False)
    every = SPACING * (drawn.index % len(MARKERS) / len(MARKERS)), SPACING
    x, y = zip(*points, strict=True)
    axes.plot(x, y, label=drawn.name, markevery=every, **line(colour(drawn.index), drawn.index))


def unit_square(axes: Axes) -> None:
    """Set both axes to shares from 0 to 1, with equal scale."""
    axes.set(xlim=(-MARGIN, 1 + MARGIN), ylim=(-MARGIN, 1 + MARGIN), aspect="equal")
    axes.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    axes.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1])


def curve_legend(
    comparison: Comparison,
    views: Sequence[str],
    curves: Curves,
    *,
    bands: bool,
    areas: Sequence[str] | None = None,
) -> list[Artist]:
    """Name the systems with their areas beside their lines, and list missing ones.

    Where there are bands that are drawn, they are explained.
    """
    shown = [{drawn.index for drawn in curves[view] if drawn.known} for view in views]
    legend: list[Artist] = []
    for i, (name, gap) in enumerate(
        zip(shown_names(comparison, WIDEST_NAME), gaps(comparison, views, shown), strict=True)
    ):
        there = any(i in places for places in shown)
        area = f"  {areas[i]}" if areas and there else ""
        look = line(colour(i), i) if there else EMPTY
        legend.append(Line2D([], [], label=name + gap + area, **look))
    if bands and any(drawn.errors for view in views for drawn in curves[view] if drawn.known):
        name = f"{100 * level_of(comparison):.3g} % band"
        legend.append(Patch(color=GREY, alpha=SHADE, linewidth=0, label=name))
    return legend


def _read(comparison: Comparison, key: str) -> list[Drawn]:
    """Return the curves of all systems; without points where a system has none."""
    return [
        Drawn(place, name, _rows(system.curves.get(key)), _rows(system.curve_errors.get(key)))
        for place, (system, name) in enumerate(
            zip(comparison, shown_names(comparison), strict=True)
        )
    ]


def _rows(points: NDArray[Any] | None) -> list[list[float]]:
    return [] if points is None else [list(map(float, row)) for row in points]


def _bare(key: str, views: Sequence[str]) -> str:
    """Take the name of a view from a key."""
    return next((key[len(view) + 1 :] for view in views if key.startswith(f"{view}.")), key)


def _missing(comparison: Comparison, view: str | None, key: str, kind: str, ask: str) -> InputError:
    """Say that no system has a curve, what brings it, and which there are."""
    where = "" if view is None else f" by {view}"
    if not any(system.curves for system in comparison):
        return InputError(
            f"no system has a {kind}: there are no curves here. The JSON of a comparison has none, "
            f"the zip of `.save(path)` has those of the metrics that were asked for ({ask})"
        )
    known = ", ".join(curve_keys(comparison))
    return InputError(
        f"no system has the {kind} {key!r}{where}: ask for {ask}; curves found: {known}"
    )


def _moved(pair: tuple[Point, Point], reach: float, most: float | None) -> Point:
    x, y = (max(0.0, at + reach * error) for at, error in zip(*pair, strict=True))
    return (x, y) if most is None else (min(x, most), min(y, most))


def _is_known(pair: tuple[Point, Point]) -> bool:
    return all(value == value for point in pair for value in point)
