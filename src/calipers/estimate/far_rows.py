"""Outlying rows that would dominate means, covariances and principal axes.

An overflow, a placeholder such as -999, a row in another unit: one row of hundreds at a thousand
times the distance of the others holds nearly all variance. The fewest principal axes that keep
90 % of it are then one, which points to that row, and the difference of the training means of a
classifier does too. Such rows are found whatever set they belong to, so that tests stay exact, and
are left out where axes, means and covariances are made; they are scored as all others are. Only
beyond 10,000 median distances a row is brought to there on the axes, where float32 would else leave
the others no digits to differ in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.numeric.distances import Points
from calipers.numeric.row_sets import RowSets

FAR = 10.0
"""Times the median distance from the mean; a Gaussian row hardly lies at 6 times, and that in one
dimension only."""

MUCH = 0.25
"""Share of the variance that a few far rows may hold and still be rows like others."""

FEW = 0.05
"""More of the rows than these are a mode, and not outliers."""


@dataclass(frozen=True, eq=False)
class FarRows:
    """Rows of some sets that lie far from the centre and hold much of the variance.

    Attributes
    ----------
    places
        Which rows, counted through all sets, the farthest first.
    share
        Of the variance of all rows, 0 to 1.
    distance
        Of the farthest from the mean of all rows, over the median distance.
    """

    places: NDArray[np.intp]
    share: float
    distance: float

    def without(self, sets: Sequence[Points]) -> list[Points]:
        """Return the sets without these rows."""
        remaining, start = [], 0
        for points in sets:
            places = self.places - start
            places = places[(places >= 0) & (places < len(points))]
            remaining.append(np.delete(points, places, axis=0) if len(places) else points)
            start += len(points)
        return remaining


def far_rows(sets: Sequence[Points]) -> FarRows | None:
    """Find outlying rows; None where there are none, or where all rows are equal.

    Parameters
    ----------
    sets
        Rows as they are compared, shapes ``(n_s, d)``, of one type; they are read twice, block by
        block.
    """
    rows = RowSets(tuple(sets))
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.sum([part.sum(axis=0, dtype=np.float64) for _, part in rows.blocks()], axis=0)
        mean, squares = total / len(rows), np.empty(len(rows))
        for place, part in rows.blocks():
            moved = part.astype(np.float64) - mean
            squares[place] = np.einsum("ij,ij->i", moved, moved)
        middle, whole = float(np.median(squares)), float(squares.sum())
    if not np.isfinite(whole) or middle <= 0:
        return None
    far = np.flatnonzero(squares > FAR**2 * middle)
    share = float(squares[far].sum() / whole)
    if not len(far) or share < MUCH or len(far) > max(1, FEW * len(rows)):
        return None
    far = far[np.argsort(-squares[far], kind="stable")]
    return FarRows(far, share, float(np.sqrt(squares[far[0]] / middle)))
