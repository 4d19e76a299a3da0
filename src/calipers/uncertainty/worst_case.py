"""The worst rank correlation of a metric within one standard deviation of its scores.

ρ_min(a, s, h) = min over σ in {−1, +1}ⁿ of ρ(a + σ·s, h), with Spearman's ρ (Pillutla et al., JMLR
2023, equation 30): every system's score moves up or down by its standard deviation, so as to agree
with the truth h as little as it can.

The minimum is exact for up to 20 systems whose intervals a ± s meet, and for any number where no
more than 20 meet in one place and no two ends coincide. Beyond that it is the lowest correlation
that a search found, and `lower_bound` lies at or below the true one.

How to read it: it is a minimum over corners, and no confidence bound; moves that are all to the
worst at once are unlikely for many systems. Deviations of 0 change nothing. With unequal deviations
no corner need order the systems as the means do, so ρ_min can lie above the plain correlation, and
it can rise where deviations grow; with equal deviations it is never above.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.errors import InputError
from calipers.numeric.arrays import Vector
from calipers.uncertainty.correlation import as_numbers
from calipers.uncertainty.worst_case_search import (
    Corners,
    enumerate_corners,
    lowest,
    open_at_once,
    search,
    sweep,
)

MOST_FREE = 20
"""Systems whose signs are all tried against each other; 2 to this power corners."""

MOST_WORK = 2**26
"""Entries of all tables behind a lower bound, so that it takes a second or so."""

LEAST = 3
CLOSE = 1e-12


@dataclass(frozen=True, eq=False)
class WorstCase:
    """The lowest rank correlation within one standard deviation.

    Attributes
    ----------
    value
        The lowest correlation found, in [-1, 1]; NaN where it is undefined, `reason` telling why.
    plain
        The correlation of the means; NaN where all of them are equal.
    exact
        Whether `value` is the minimum itself.
    lower_bound
        A value that the minimum is not below; `value` where that is exact.
    signs
        A choice of signs that gives `value`, shape ``(n,)``, of -1 and 1; 1 where the sign makes no
        difference.
    reason
        Why there is no value; None where there is one.
    """

    value: float
    plain: float
    exact: bool
    lower_bound: float
    signs: NDArray[np.int64]
    reason: str | None = None


def worst_case_spearman(
    means: ArrayLike, deviations: ArrayLike, truth: ArrayLike, *, seed: int = 0
) -> WorstCase:
    """Compute the lowest rank correlation of a metric within its noise.

    Parameters
    ----------
    means
        Mean score of each system, higher meaning better, shape ``(n,)``.
    deviations
        Standard deviation of each score, shape ``(n,)``; 0 for scores without noise.
    truth
        What the systems are ranked by, shape ``(n,)``, such as Bradley–Terry scores.
    seed
        Where the search starts from; exact results do not depend on it.

    Returns
    -------
    WorstCase
        NaN with a reason for fewer than 3 systems, and where the truth, or the scores at every
        corner, are all equal. Corners at which all scores are equal are passed over. Values that
        agree to 9 digits are ties.

    Raises
    ------
    InputError
        If the three are no lists of finite numbers of one length, or a deviation is negative.

    Examples
    --------
    The first two may change places, the third is clear of both:

    >>> found = worst_case_spearman([1.0, 2.0, 9.0], [0.6, 0.6, 0.6], [10.0, 20.0, 30.0])
    >>> found.plain, found.value, found.exact, found.signs.tolist()
    (1.0, 0.5, True, [1, -1, 1])
    """
    a, s, h = _check(means, deviations, truth)
    if len(a) < LEAST:
        return _undefined(math.nan, len(a), f"at least {LEAST} systems are needed, found {len(a)}")
    plain = Corners.of(a, np.zeros_like(s), h).correlation(np.zeros(len(a), dtype=bool))
    corners = Corners.of(a, s, h)
    if not corners.truth_spread:
        return _undefined(plain, len(a), "all systems have the same truth")
    if corners.coupled.sum() <= MOST_FREE:
        return _enumerated(corners, plain)
    return _searched(corners, plain, seed)


def _enumerated(corners: Corners, plain: float) -> WorstCase:
    high = enumerate_corners(corners)
    if high is None:
        reason = "all systems have the same score, whatever the signs"
        return _undefined(plain, len(corners.low), reason)
    value = corners.correlation(high)
    return WorstCase(value, plain, True, value, corners.signs(high))


def _searched(corners: Corners, plain: float, seed: int) -> WorstCase:
    narrow = open_at_once(corners) <= MOST_FREE
    corner = corners.alone() if narrow else search(corners, seed)
    width = MOST_FREE if narrow else min(MOST_FREE, int(math.log2(MOST_WORK / len(corner))))
    swept = sweep(corners, width=max(width, 1), guide=corner)
    if swept.high is not None:
        ends = [swept.high, search(corners, seed)] if corners.shared.size else [swept.high]
        corner = lowest(corners, ends)
    value, bound = corners.correlation(corner), corners.bound(swept.score)
    exact = value <= bound + CLOSE
    return WorstCase(value, plain, exact, value if exact else bound, corners.signs(corner))


def _undefined(plain: float, n: int, reason: str) -> WorstCase:
    return WorstCase(math.nan, plain, False, math.nan, np.ones(n, dtype=np.int64), reason)


def _check(*columns: ArrayLike) -> list[Vector]:
    names = ("means", "deviations", "truth")
    columns_read = [_column(name, values) for name, values in zip(names, columns, strict=True)]
    sizes = [len(column) for column in columns_read]
    if len(set(sizes)) > 1:
        raise InputError(
            "means, deviations and truth must have one value for each system, "
            f"found {sizes[0]}, {sizes[1]} and {sizes[2]}"
        )
    below = np.flatnonzero(columns_read[1] < 0)
    if below.size:
        raise InputError(
            f"deviations must not be negative, found {columns_read[1][below[0]]:g} "
            f"for system number {below[0] + 1}"
        )
    return columns_read


def _column(name: str, values: ArrayLike) -> Vector:
    column = as_numbers(name, values, 1)
    bad = np.flatnonzero(~np.isfinite(column))
    if bad.size:
        raise InputError(
            f"{name} must be finite, found {column[bad[0]]} for system number {bad[0] + 1}; "
            "leave out systems without a score"
        )
    return column
