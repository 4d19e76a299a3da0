"""Correlations of metrics over systems, by rank and linear, with intervals.

Pearson's correlation asks for a line; Spearman's is Pearson's of the ranks, ties taking the mean of
theirs, and asks for the order alone. Both equal those of ``scipy.stats``, but that values which
agree to 9 digits count as equal, since rounding sets such apart.

Intervals are Fisher's: tanh(atanh(r) ± z·SE), with SE = 1/√(n − 3) for Pearson and, for Spearman,
SE = √((1 + r²/2)/(n − 3)) after Bonett & Wright (Psychometrika 2000), which is wider than the
√(1.06/(n − 3)) of Fieller, Hartley & Pearson (1957) where r is far from 0. Both take the systems
for a sample drawn at random from many alike, which sizes and decodings of one model are not, and
below n = 10 they are rough.

How sure each score is those do not see. Where the columns were measured, each with an error, the
errors are drawn from normal distributions of known covariance, added to both columns, and the
correlation is taken of every draw. Two intervals come of that:

- **The systems fixed**: what the correlation of these very systems would be without errors. It
  reaches as far to either side of the measured correlation as the farther of the two percentiles
  of the draws lies, and ends at −1 and 1. The percentiles alone do not cover: errors make orders
  less alike, so the draws, which carry them twice, lie below the measured value as that lies below
  the true one; their mirror image at the measured value lies on the right side of it.
- **The systems as a draw from many** (:func:`widened`): the systems' own interval, such as
  Fisher's, and this one, their distances from the measured correlation added as squares.

How often both cover is measured by ``research/experiments/rank_correlations.py``;
`docs/rankings.md` has the table. How far errors can lower a rank correlation at most tells
:func:`~calipers.uncertainty.worst_case.worst_case_spearman`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.errors import InputError, unknown_name
from calipers.numeric.arrays import Vector
from calipers.numeric.validation import check_inner_share

SLACK = 1e-9
"""Relative distance within which two values are the same but for rounding."""


def dense_ranks(values: Vector, sizes: Vector | None = None) -> NDArray[np.int64]:
    """Rank values from 0, with equal ranks for values that differ only by rounding.

    Parameters
    ----------
    values
        Shape ``(n,)``, without NaN.
    sizes
        How large the numbers were that each value was computed from: 1 - 0.9 is as uncertain as 1
        is. Default: the values' own sizes.
    """
    order = np.argsort(values, kind="stable")
    sizes = np.abs(values if sizes is None else sizes)[order]
    apart = _apart(values[order], sizes)
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = np.concatenate([[0], np.cumsum(apart)])[: len(values)]
    return ranks


def mid_ranks(values: Vector) -> Vector:
    """Rank values from 1 along the last axis; equal values share their mean rank.

    Examples
    --------
    >>> mid_ranks(np.array([0.2, 0.9, 0.1 + 0.1, 0.5])).tolist()
    [1.5, 4.0, 1.5, 3.0]
    """
    order = np.argsort(values, axis=-1, kind="stable")
    rising = np.take_along_axis(values, order, axis=-1)
    apart = _apart(rising, np.abs(rising))
    ends = np.ones((*values.shape[:-1], 1), dtype=np.bool_)
    places = np.arange(values.shape[-1])
    first = np.where(np.concatenate([ends, apart], axis=-1), places, 0)
    last = np.where(np.concatenate([apart, ends], axis=-1), places, len(places) - 1)
    first = np.maximum.accumulate(first, axis=-1)
    last = np.minimum.accumulate(last[..., ::-1], axis=-1)[..., ::-1]
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=-1)
    return ranks


def _apart(rising: Vector, sizes: Vector) -> NDArray[np.bool_]:
    """Whether each value lies above the one before it by more than rounding."""
    slack = SLACK * np.where(np.isfinite(sizes), sizes, 0)
    low, high = rising[..., :-1], rising[..., 1:]
    return np.asarray(high > low + np.maximum(slack[..., :-1], slack[..., 1:]))


def pairwise_complete(a: Vector, b: Vector) -> tuple[Vector, Vector]:
    """Leave out systems with NaN on either side."""
    complete = ~(np.isnan(a) | np.isnan(b))
    return a[complete], b[complete]


def centred(values: Vector) -> Vector:
    """Shift and scale values to mean 0 and length 1."""
    scale = np.abs(values).max()  # so that squares neither overflow nor vanish
    moved = values / scale - (values / scale).mean()
    unit: Vector = moved / np.linalg.norm(moved)
    return unit


ROUNDING = 1e-12
LEAST = 3
"""Systems below which two columns correlate in no more than two ways."""

CorrelationKind = Literal["spearman", "pearson"]


@dataclass(frozen=True)
class Correlation:
    """The correlation of two columns of scores over the systems.

    Attributes
    ----------
    value
        In [-1, 1]; NaN where it is undefined, `reason` then telling why.
    interval
        Lower and upper end, both in [-1, 1]. None where there is none: with fewer than 4 systems,
        and at -1 and 1, where Fisher's has no length at all.
    n
        Systems with a value on both sides.
    reason
        Why the value is undefined; None where it is defined.
    """

    value: float
    interval: tuple[float, float] | None
    n: int
    reason: str | None = None


@dataclass(frozen=True, eq=False)
class CorrelationMatrix:
    """The correlations of every two metrics, over the systems that have both.

    Attributes
    ----------
    kind
        "spearman" or "pearson".
    values
        Correlations, shape ``(metrics, metrics)``; NaN where undefined.
    systems
        How many systems stand behind each, shape ``(metrics, metrics)``.
    reasons
        Why a value is undefined, row by row; None where it is defined.
    """

    kind: CorrelationKind
    values: NDArray[np.float64]
    systems: NDArray[np.int64]
    reasons: tuple[tuple[str | None, ...], ...]


def spearman(a: ArrayLike, b: ArrayLike, *, level: float = 0.95) -> Correlation:
    """Compute Spearman's rank correlation of two columns, with an interval.

    Parameters
    ----------
    a, b
        One value for each system, shape ``(n,)``. Systems with NaN on either side are left out, and
        `n` of the result tells how many are not; infinite values rank first and last.
    level
        Share of intervals that are to hold the true correlation.

    Raises
    ------
    InputError
        If a column is no list of numbers, they differ in length, or the level is not in (0, 1).

    Examples
    --------
    >>> round(spearman([0.1, 0.2, 0.3, 0.4], [5.0, 6.0, 8.0, 7.0]).value, 9)
    0.8
    """
    return _correlate("spearman", a, b, level)


def pearson(a: ArrayLike, b: ArrayLike, *, level: float = 0.95) -> Correlation:
    """Compute Pearson's correlation of two columns, with an interval.

    Parameters, errors and interval are those of :func:`spearman`; infinite values leave it
    undefined.

    Examples
    --------
    >>> round(pearson([1.0, 2.0, 3.0], [2.0, 4.0, 6.0]).value, 9)
    1.0
    """
    return _correlate("pearson", a, b, level)


def correlation_matrix(
    values: ArrayLike, *, kind: CorrelationKind = "spearman"
) -> CorrelationMatrix:
    """Compute the correlations of every two metrics over the systems.

    As figures 7 and A.5 of Le Bronnec et al. (ACL 2024) show them.

    Parameters
    ----------
    values
        Scores, shape ``(systems, metrics)``. Where one is NaN, its system is left out of that
        metric's correlations alone, so cells can rest on different systems.
    kind
        "spearman" or "pearson".

    Raises
    ------
    InputError
        If the values are no table of numbers, or the kind is unknown.

    Examples
    --------
    >>> correlation_matrix([[1, 9], [2, 8], [3, 5]]).values.tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    if kind not in get_args(CorrelationKind):
        raise unknown_name("kind of correlation", str(kind), get_args(CorrelationKind))
    columns = as_numbers("values", values, 2).T
    cells = [[_measure(kind, one, other) for other in columns] for one in columns]
    shape = (len(columns), len(columns))
    return CorrelationMatrix(
        kind=kind,
        values=np.array([[value for value, _, _ in row] for row in cells]).reshape(shape),
        systems=np.array([[n for _, n, _ in row] for row in cells], dtype=np.int64).reshape(shape),
        reasons=tuple(tuple(reason for _, _, reason in row) for row in cells),
    )


def _correlate(kind: CorrelationKind, a: ArrayLike, b: ArrayLike, level: float) -> Correlation:
    one, other = as_numbers("a", a, 1), as_numbers("b", b, 1)
    if len(one) != len(other):
        raise InputError(
            "a and b must have one value for each system, "
            f"found {len(one)} and {len(other)} of them"
        )
    check_inner_share("level", level, "must lie between 0 and 1,")
    value, n, reason = _measure(kind, one, other)
    return Correlation(value, _interval(kind, value, n, level), n, reason)


def _measure(kind: CorrelationKind, a: Vector, b: Vector) -> tuple[float, int, str | None]:
    """Return the correlation, how many systems it depends on, and why it is undefined if it is."""
    a, b = pairwise_complete(a, b)
    if len(a) < LEAST:
        return math.nan, len(a), f"at least {LEAST} systems with both values are needed"
    if kind == "pearson" and not (np.isfinite(a).all() and np.isfinite(b).all()):
        return math.nan, len(a), "an infinite value lies on no line"
    x, y = (mid_ranks(column) if kind == "spearman" else column for column in (a, b))
    if np.ptp(mid_ranks(a)) == 0 or np.ptp(mid_ranks(b)) == 0:
        return math.nan, len(a), "all systems have the same value on one side"
    return _tidy(float(centred(x) @ centred(y))), len(a), None


def _tidy(value: float) -> float:
    """Make -1 and 1 of what differs from them by rounding alone."""
    return math.copysign(1.0, value) if 1 - abs(value) < ROUNDING else value


def _interval(
    kind: CorrelationKind, value: float, n: int, level: float
) -> tuple[float, float] | None:
    if math.isnan(value) or n <= LEAST or abs(value) >= 1:
        return None
    from scipy.special import ndtri

    variance = (1 + value**2 / 2 if kind == "spearman" else 1) / (n - 3)
    reach = float(ndtri((1 + level) / 2)) * math.sqrt(variance)
    return math.tanh(math.atanh(value) - reach), math.tanh(math.atanh(value) + reach)


def as_numbers(name: str, values: ArrayLike, dimensions: int) -> NDArray[np.float64]:
    """Return one value, or a row of them, for each system as an array; refuse invalid ones."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers: {error}") from error
    if array.ndim != dimensions:
        axes = "(systems,)" if dimensions == 1 else "(systems, metrics)"
        raise InputError(f"{name} must have the shape {axes}, found {array.shape}")
    return array


DRAWS = 4000

Interval = tuple[float, float]
Draws = NDArray[np.float64]


def draw_errors(covariance: ArrayLike, *, seed: int, draws: int = DRAWS) -> Draws:
    """Draw errors of mean 0, shape ``(draws, n)``.

    Parameters
    ----------
    covariance
        Of the n errors, shape ``(n, n)``; it may be singular, as that of scores of mean 0 is.
    seed
        Fixes the draws.
    draws
        How many.

    Raises
    ------
    InputError
        If the covariance is no square, finite and symmetric matrix.
    """
    matrix = np.asarray(covariance, dtype=np.float64)
    if matrix.ndim != 2 or len(matrix) != len(matrix.T):
        raise InputError(f"a covariance must be a square matrix, found the shape {matrix.shape}")
    if not (np.isfinite(matrix).all() and np.allclose(matrix, matrix.T)):
        raise InputError("a covariance must be finite and symmetric")
    values, axes = np.linalg.eigh(matrix)
    root = (axes * np.sqrt(values.clip(min=0))) @ axes.T  # the symmetric root: there is only one
    drawn: Draws = np.random.default_rng(seed).standard_normal((draws, len(matrix))) @ root
    return drawn


def interval_of_errors(
    kind: CorrelationKind, value: float, a: Draws, b: Draws, *, level: float = 0.95
) -> Interval | None:
    """Return an interval for the correlation of these systems without errors in the columns.

    Parameters
    ----------
    kind
        "spearman" or "pearson".
    value
        The correlation as measured.
    a, b
        The two columns with drawn errors, shape ``(draws, n)``; one row stands for a column that
        has none.
    level
        Share of intervals that are to hold it.

    Returns
    -------
    tuple or None
        None where the value or every draw is undefined, or neither column has errors.
    """
    if math.isnan(value) or max(len(a), len(b)) < 2:
        return None
    correlations = correlate_rows(kind, a, b)
    correlations = correlations[np.isfinite(correlations)]
    if not correlations.size:
        return None
    low, high = np.quantile(correlations, [(1 - level) / 2, (1 + level) / 2])
    reach = float(max(value - low, high - value))
    return max(value - reach, -1.0), min(value + reach, 1.0)


def widened(value: float, systems: Interval | None, errors: Interval | None) -> Interval | None:
    """Combine the interval for sampled systems with that for errors, taken as independent.

    None where the systems have none.
    """
    if systems is None or errors is None:
        return systems
    low, high = (
        math.hypot(value - end, value - other) for end, other in zip(systems, errors, strict=True)
    )
    return max(value - low, -1.0), min(value + high, 1.0)


def correlate_rows(kind: CorrelationKind, a: Draws, b: Draws) -> Draws:
    """Correlate rows pairwise; NaN where one is constant or not finite."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        x, y = (_standardised(mid_ranks(rows) if kind == "spearman" else rows) for rows in (a, b))
        products: Draws = (x * y).sum(axis=1)
        return products


def _standardised(rows: Draws) -> Draws:
    """Move and scale every row to mean 0 and length 1."""
    scaled = rows / np.abs(rows).max(axis=1, keepdims=True)
    moved = scaled - scaled.mean(axis=1, keepdims=True)
    unit: Draws = moved / np.linalg.norm(moved, axis=1, keepdims=True)
    return unit
