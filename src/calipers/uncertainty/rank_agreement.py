"""Rank agreement of two columns of scores, and its distribution by chance.

Spearman's rank correlation is that of :mod:`~calipers.uncertainty.correlation`, here as a number;
Kendall's is tau-b of the same ranks. Both equal those of ``scipy.stats``, but that values which
agree to 9 digits count as equal. They see orders alone: not how far apart systems are, and not
which column is right. With few systems they take few values, and the highest comes by chance.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from calipers.numeric.arrays import Vector
from calipers.uncertainty import correlation
from calipers.uncertainty.correlation import LEAST, mid_ranks

MOST_EXACT = 8
"""Systems up to which all orders are tried; beyond, chance is read from Student's t."""

RARE = 0.05
DIGITS = 12
SLACK = 1e-9


def why_undefined(a: Vector, b: Vector) -> str | None:
    """Explain why two columns have no rank correlation; None where they have one."""
    if len(a) < LEAST:
        return f"ranks of {len(a)} systems cannot correlate; at least {LEAST} are needed"
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return "a system has no value in one of the columns"
    if np.ptp(mid_ranks(a)) == 0 or np.ptp(mid_ranks(b)) == 0:
        return "all systems have the same value in one of the columns"
    return None


def spearman(a: Vector, b: Vector) -> float:
    """Compute Spearman's rank correlation of two columns.

    Parameters
    ----------
    a, b
        One value for each system, shape ``(s,)``.

    Returns
    -------
    float
        1 for the same order, -1 for the reverse; NaN where :func:`why_undefined` tells a reason.

    Examples
    --------
    >>> spearman(np.array([0.1, 0.2, 0.3, 0.4]), np.array([5.0, 6.0, 8.0, 7.0]))
    0.8
    """
    if why_undefined(a, b) is not None:
        return math.nan
    return _rounded(correlation.spearman(a, b).value)


def kendall(a: Vector, b: Vector) -> float:
    """Compute Kendall's tau-b of two columns: concordant minus discordant pairs.

    Examples
    --------
    >>> round(kendall(np.array([0.1, 0.2, 0.3, 0.4]), np.array([5.0, 6.0, 8.0, 7.0])), 3)
    0.667
    """
    if why_undefined(a, b) is not None:
        return math.nan
    x, y = (np.sign(np.subtract.outer(ranks, ranks)) for ranks in (mid_ranks(a), mid_ranks(b)))
    return _rounded(float((x * y).sum() / math.sqrt(float((x * x).sum()) * float((y * y).sum()))))


def chance(a: Vector, b: Vector) -> float:
    """Return the probability that unrelated columns correlate at least as highly as these two.

    Of all orders that the values of one column could have stood in, the share whose Spearman
    correlation with the other is at least as high; from Student's t with s - 2 degrees of freedom
    beyond 8 systems.

    Examples
    --------
    >>> chance(np.array([1.0, 2.0, 3.0]), np.array([7.0, 8.0, 9.0])) == 1 / 6
    True
    """
    measured = spearman(a, b)
    if not math.isfinite(measured):
        return math.nan
    if len(a) > MOST_EXACT:
        return _by_student(measured, len(a))
    x, y = _centred(a), _centred(b)
    reached = y[_orders(len(a))] @ x
    return float((reached >= float(x @ y) - SLACK).mean())


def rarely_reached(systems: int) -> float:
    """Return the correlation that unrelated columns without ties reach with probability 0.05.

    NaN where even the same order comes more often: with fewer than 4 systems.

    Examples
    --------
    >>> rarely_reached(3), rarely_reached(4), rarely_reached(5)
    (nan, 1.0, 0.9)
    """
    if systems < LEAST:
        return math.nan
    if systems > MOST_EXACT:
        from scipy.special import stdtrit

        t = float(stdtrit(systems - 2, 1 - RARE))
        return t / math.sqrt(systems - 2 + t * t)
    x = _centred(np.arange(systems, dtype=np.float64))
    levels = np.round(x[_orders(systems)] @ x / float(x @ x), 9)
    rare = [level for level in np.unique(levels) if (levels >= level).mean() <= RARE]
    return _rounded(float(min(rare))) if rare else math.nan


def _centred(values: Vector) -> Vector:
    ranks = mid_ranks(values)
    centred: Vector = ranks - ranks.mean()
    return centred


def _rounded(value: float) -> float:
    """Take the rounding of sums off, so that the same order gives 1 and nothing passes it."""
    return max(-1.0, min(1.0, round(value, DIGITS)))


def _by_student(measured: float, systems: int) -> float:
    from scipy.special import stdtr

    if measured >= 1:
        return 0.0
    degrees = systems - 2
    t = measured * math.sqrt(degrees / (1 - measured**2)) if measured > -1 else -math.inf
    return float(stdtr(degrees, -t))


@lru_cache(maxsize=MOST_EXACT)
def _orders(systems: int) -> NDArray[np.intp]:
    return np.array(list(permutations(range(systems))), dtype=np.intp)
