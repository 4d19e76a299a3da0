"""Curves with errors ──► the shaded regions around them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection

Point = tuple[float, float]

ALPHA = 0.16


def band(
    points: Sequence[Point], errors: Sequence[Point], reach: float, *, most: float | None = 1.0
) -> list[list[Point]]:
    """Give the region that a curve may lie in: polygons, one for each stretch with known errors.

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
        The lower edge there, the upper edge back.
    """
    pairs = list(zip(points, errors, strict=False))
    return [
        [_moved(pair, -reach, most) for pair in run]
        + [_moved(pair, reach, most) for pair in run[::-1]]
        for run in _known(pairs)
    ]


def draw_bands(axes: Axes, polygons: Sequence[Sequence[Point]], shade: str) -> None:
    """Shade regions in one colour, behind the curves."""
    if polygons:
        look: dict[str, Any] = {"facecolors": shade, "alpha": ALPHA, "linewidths": 0, "zorder": 1.5}
        axes.add_collection(PolyCollection(polygons, **look), autolim=False)


def _moved(pair: tuple[Point, Point], reach: float, most: float | None) -> Point:
    x, y = (max(0.0, at + reach * error) for at, error in zip(*pair, strict=True))
    return (x, y) if most is None else (min(x, most), min(y, most))


def _known(pairs: list[tuple[Point, Point]]) -> list[list[tuple[Point, Point]]]:
    """Cut a curve into the stretches where all is known; a single point has no region."""
    runs = (list(run) for known, run in groupby(pairs, _is_known) if known)
    return [run for run in runs if len(run) > 1]


def _is_known(pair: tuple[Point, Point]) -> bool:
    return all(value == value for point in pair for value in point)
