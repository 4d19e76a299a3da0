"""Mean ratings of systems, with clustered standard errors.

Ratings of one rater are alike, as raters are more or less severe, and so are ratings of one item by
several raters. With e_g the sum, over the ratings of a system in cluster g, of what lies above the
system's mean, divided by how many ratings the system has, the covariance of the means is

    V = G/(G − 1)·Σ_g e_g e_gᵀ,

with the factor of a system from the number G of those clusters that rated it, and its interval by
Student's t with G − 1 degrees of freedom. Of clusters in two ways, such as raters and items, it is
that of :func:`~calipers.uncertainty.clustered.crossed`, V_rater + V_item − V_both, and the smaller
degrees of freedom count.

What it does not see: how far other items of a system would differ where it has only one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calipers.numeric.arrays import Longs, Matrix, Vector
from calipers.uncertainty.clustered import combined, student


@dataclass(frozen=True, eq=False)
class RatedMeans:
    """Mean ratings by system.

    Attributes
    ----------
    names
        The systems, each once, in alphabetical order.
    means, counts
        Of their ratings, and how many there are, shape ``(n,)``.
    standard_errors
        Of the means, shape ``(n,)``; NaN where a system has one cluster alone.
    intervals
        Lower and upper ends, shape ``(n, 2)``; NaN as the errors are.
    covariance
        Of the means, shape ``(n, n)``; NaN in the rows and columns of such a system.
    """

    names: tuple[str, ...]
    means: Vector
    counts: Vector
    standard_errors: Vector
    intervals: Matrix
    covariance: Matrix


def rated_means(
    system: Sequence[str],
    rating: Sequence[float] | Vector,
    *ways: Sequence[object] | Longs,
    level: float = 0.95,
) -> RatedMeans:
    """Compute the mean rating of each system.

    Parameters
    ----------
    system, rating
        Of each rating, shape ``(rows,)``.
    ways
        What each rating belongs to, shape ``(rows,)`` in one or two ways: any labels.
    level
        Of the intervals.

    Examples
    --------
    Two raters, whose own means are 1 and 3:

    >>> found = rated_means(["x"] * 4, [1, 1, 3, 3], ["ann", "ann", "bob", "bob"])
    >>> found.means.tolist(), found.standard_errors.tolist()
    ([2.0], [1.0])
    """
    values = np.asarray(rating, dtype=np.float64)
    known, place = np.unique(np.asarray(system), return_inverse=True)
    counts = np.bincount(place).astype(np.float64)
    means = np.bincount(place, values) / counts
    above = (values - means[place]) / counts[place]
    units = [np.unique(np.asarray(way), return_inverse=True)[1] for way in ways]
    covariance, met = _of_clusters(units[0], place, above)
    degrees = met - 1
    if len(units) > 1:
        other, items = _of_clusters(units[1], place, above)
        cells = np.unique(np.column_stack(units), axis=0, return_inverse=True)[1].ravel()
        both, _ = _of_clusters(cells, place, above)
        several = items > 1
        more = np.where(np.outer(several, several), other - both, 0.0)
        block = np.ix_(*[met > 1] * 2)
        covariance[block] = combined(covariance[block], more[block])
        degrees = np.where(several, np.minimum(degrees, items - 1), degrees)
    errors = np.sqrt(covariance.diagonal().clip(min=0))
    reach = student(level, degrees) * errors
    return RatedMeans(
        names=tuple(map(str, known)),
        means=means,
        counts=counts,
        standard_errors=errors,
        intervals=np.column_stack([means - reach, means + reach]),
        covariance=covariance,
    )


def _of_clusters(unit: Longs, place: Longs, above: Vector) -> tuple[Matrix, Vector]:
    """Return the covariance of means from one kind of cluster, and how many rated each system."""
    shape = int(unit.max()) + 1, int(place.max()) + 1
    parts = np.zeros(shape)
    np.add.at(parts, (unit, place), above)
    met = np.zeros(shape, dtype=np.bool_)
    met[unit, place] = True
    count = met.sum(axis=0).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.where(count > 1, np.sqrt(count / (count - 1)), math.nan)
    return (parts.T @ parts) * np.outer(factor, factor), count
