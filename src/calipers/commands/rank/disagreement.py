"""Systems that a truth and the metrics place at opposite ends of the ranking.

A metric that does not share what a truth measures has a low correlation with it over all systems. A
single system that is first by the truth and collapses by every metric, or the other way round, is
another thing: a gamed judge, a wrong file, or a system that is good in a way that no metric sees. A
metric and a truth disagree about a system where

- its places by the two differ by more than half of all places, whatever the errors of both (ranks
  are drawn with them), and
- its value by the metric is off the line through those of the others over their ranks by the
  truth, by more than they scatter around it: deleted residuals by Student's t, tested for several
  outliers at once as by Rosner (Technometrics 1983), since one would hide behind another.

The first alone would name systems wherever a metric is unrelated to the truth; the second alone
those that are far behind in both. A system is named where most metrics disagree with the truth
about it in one direction.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from calipers.commands.rank.result import Disagreement
from calipers.numeric.arrays import Longs
from calipers.uncertainty.clustered import student
from calipers.uncertainty.correlation import mid_ranks

Values = NDArray[np.float64]

LEAST = 5
"""Systems below which nothing tells a line from the scatter around it."""

FAR = 0.5
"""Share of all places by which a metric and a truth must differ."""

MOST = 4
"""One in so many systems may be off the line, and at least one."""


def places_of(values: Values) -> Values:
    """Return the ranks of values from 1, the highest first; equal values share their mean rank."""
    return np.asarray(values.shape[-1] + 1 - mid_ranks(values), dtype=np.float64)


def disagreement(
    values: Values, true: Values, moved: Values, moved_true: Values, *, level: float
) -> Longs:
    """Find the systems about which one metric and a truth disagree.

    Parameters
    ----------
    values, true
        Of every system by the metric and by the truth, higher better, shape ``(n,)``.
    moved, moved_true
        The same with drawn errors, shape ``(draws, n)``; one row of what has none.
    level
        Of the intervals of places, and one less the level of the test.

    Returns
    -------
    array of shape (n,)
        -1 where the metric places a system lower than the truth does, 1 where it places it higher,
        0 where they do not disagree.

    Examples
    --------
    >>> true, values = np.arange(8.0), np.array([1.0, 2, 3, 4, 5, 6, 7, -20])
    >>> disagreement(values, true, values[None], true[None], level=0.95).tolist()
    [0, 0, 0, 0, 0, 0, 0, -1]
    """
    n = len(values)
    if n < LEAST or np.ptp(values) == 0 or np.ptp(true) == 0:
        return np.zeros(n, dtype=np.int64)
    higher = places_of(moved_true) - places_of(moved)
    low, high = np.quantile(higher, [(1 - level) / 2, (1 + level) / 2], axis=0)
    far = FAR * (n - 1)
    off = _off_the_line(mid_ranks(true), values, level)
    return np.where((off > 0) & (low > far), 1, np.where((off < 0) & (high < -far), -1, 0))


def _off_the_line(x: Values, y: Values, level: float) -> Longs:
    """Tell which points lie above (1) or below (-1) the line through the others."""
    remaining = np.arange(len(x))
    removed: list[tuple[int, int]] = []
    off = 0
    for _ in range(max(1, len(x) // MOST)):
        n = len(remaining)
        if n < LEAST:
            break
        residuals = _deleted_residuals(x[remaining], y[remaining])
        if not np.isfinite(residuals).any():
            break
        place = int(np.nanargmax(np.abs(residuals)))
        removed.append((int(remaining[place]), int(np.sign(residuals[place]))))
        # Student's t at one part in n of the level, on either side
        if abs(residuals[place]) > float(student(1 - (1 - level) / n, n - 3)):
            off = len(removed)
        remaining = np.delete(remaining, place)
    found = np.zeros(len(x), dtype=np.int64)
    for point, side in removed[:off]:
        found[point] = side
    return found


def _deleted_residuals(x: Values, y: Values) -> Values:
    """Residuals of each point from the line of the others, by their standard error.

    Values are scaled first; a residual that nothing scatters around is as large as numbers get.
    """
    n = len(x)
    if np.ptp(x) == 0:
        return np.full(n, math.nan)
    x, y = ((v - v.mean()) / (np.ptp(v) or 1.0) for v in (x, y))
    leverage = 1 / n + x**2 / (x @ x)
    residual = y - x * (x @ y) / (x @ x)
    free = 1 - leverage
    with np.errstate(divide="ignore", invalid="ignore"):
        scatter = np.maximum(residual @ residual - residual**2 / free, ROUNDING) / (n - 3)
        return np.where(free > ROUNDING, residual / np.sqrt(scatter * free), math.nan)


ROUNDING = 1e-24
"""Squares of residuals below which a line is exact."""


def disagreements(
    systems: Sequence[str],
    true: Mapping[str, float],
    by_metric: Mapping[str, tuple[Sequence[str], Values, Longs]],
) -> tuple[Disagreement, ...]:
    """Find the systems about which most metrics disagree with a truth in the same direction.

    Parameters
    ----------
    systems
        In the order in which they are named.
    true
        The truth, by system.
    by_metric
        For each metric the systems that both value, their values by the metric, and about which of
        them it disagrees.
    """
    found = []
    place = dict(zip(true, places_of(np.array(list(true.values()))).tolist(), strict=True))
    for name in systems:
        sides = {
            metric: int(apart[list(names).index(name)])
            for metric, (names, _, apart) in by_metric.items()
            if name in names
        }
        for side in (-1, 1):
            metrics = [metric for metric, of in sides.items() if of == side]
            if 2 * len(metrics) <= len(sides):
                continue
            places = {}
            for metric in metrics:
                names, values, _ = by_metric[metric]
                places[metric] = float(places_of(values)[list(names).index(name)])
            found.append(Disagreement(name, place[name], len(true), places, len(sides)))
    return tuple(found)
