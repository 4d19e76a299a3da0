"""Do two metrics put the systems in the same order, or on the same line?

Pearson's correlation asks for a line; Spearman's is Pearson's of the ranks, ties taking the mean of
theirs, and asks for the order alone. Both equal those of ``scipy.stats``, but that values which
agree to 9 digits count as equal, since rounding sets such apart.

Intervals are Fisher's: tanh(atanh(r) ± z·SE), with SE = 1/√(n − 3) for Pearson and, for Spearman,
SE = √((1 + r²/2)/(n − 3)) after Bonett & Wright (Psychometrika 2000), which is wider than the
√(1.06/(n − 3)) of Fieller, Hartley & Pearson (1957) where r is far from 0. Both take the systems
for a sample drawn at random from many alike, which sizes and decodings of one model are not, and
below n = 10 they are rough. How sure each score is they do not see: for that there is
:func:`~calipers.uncertainty.worst_case.worst_case_spearman`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.errors import InputError, unknown_name
from calipers.uncertainty.correlation_ranks import centred, mid_ranks, pairwise_complete

ROUNDING = 1e-12
LEAST = 3
"""Systems below which two columns correlate in no more than two ways."""

Kind = Literal["spearman", "pearson"]
Column = NDArray[np.float64]


@dataclass(frozen=True)
class Correlation:
    """How two columns of scores go together, over the systems.

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
    """How every two metrics go together, over the systems that have both.

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

    kind: Kind
    values: NDArray[np.float64]
    systems: NDArray[np.int64]
    reasons: tuple[tuple[str | None, ...], ...]


def spearman(a: ArrayLike, b: ArrayLike, *, level: float = 0.95) -> Correlation:
    """Tell how alike two columns order the systems, by Spearman's rank correlation.

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
    """Tell how near two columns come to a straight line, by Pearson's correlation.

    Parameters, errors and interval are those of :func:`spearman`; infinite values leave it
    undefined.

    Examples
    --------
    >>> round(pearson([1.0, 2.0, 3.0], [2.0, 4.0, 6.0]).value, 9)
    1.0
    """
    return _correlate("pearson", a, b, level)


def correlation_matrix(values: ArrayLike, *, kind: Kind = "spearman") -> CorrelationMatrix:
    """Tell which metrics order the systems alike, two by two.

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
    if kind not in get_args(Kind):
        raise unknown_name("kind of correlation", str(kind), get_args(Kind))
    columns = _numbers("values", values, 2).T
    cells = [[_measure(kind, one, other) for other in columns] for one in columns]
    shape = (len(columns), len(columns))
    return CorrelationMatrix(
        kind=kind,
        values=np.array([[value for value, _, _ in row] for row in cells]).reshape(shape),
        systems=np.array([[n for _, n, _ in row] for row in cells], dtype=np.int64).reshape(shape),
        reasons=tuple(tuple(reason for _, _, reason in row) for row in cells),
    )


def _correlate(kind: Kind, a: ArrayLike, b: ArrayLike, level: float) -> Correlation:
    one, other = _numbers("a", a, 1), _numbers("b", b, 1)
    if len(one) != len(other):
        raise InputError(
            "a and b must have one value for each system, "
            f"found {len(one)} and {len(other)} of them"
        )
    if not 0 < level < 1:
        raise InputError(f"level must lie between 0 and 1, found {level!r}")
    value, n, reason = _measure(kind, one, other)
    return Correlation(value, _interval(kind, value, n, level), n, reason)


def _measure(kind: Kind, a: Column, b: Column) -> tuple[float, int, str | None]:
    """Give the correlation, how many systems it rests on, and why it is undefined if it is."""
    a, b = pairwise_complete(a, b)
    if len(a) < LEAST:
        return math.nan, len(a), f"at least {LEAST} systems with both values are needed"
    if kind == "pearson" and not (np.isfinite(a).all() and np.isfinite(b).all()):
        return math.nan, len(a), "an infinite value lies on no line"
    x, y = (mid_ranks(each) if kind == "spearman" else each for each in (a, b))
    if np.ptp(mid_ranks(a)) == 0 or np.ptp(mid_ranks(b)) == 0:
        return math.nan, len(a), "all systems have the same value on one side"
    return _tidy(float(centred(x) @ centred(y))), len(a), None


def _tidy(value: float) -> float:
    """Make -1 and 1 of what differs from them by rounding alone."""
    return math.copysign(1.0, value) if 1 - abs(value) < ROUNDING else value


def _interval(kind: Kind, value: float, n: int, level: float) -> tuple[float, float] | None:
    if math.isnan(value) or n <= LEAST or abs(value) >= 1:
        return None
    from scipy.special import ndtri

    variance = (1 + value**2 / 2 if kind == "spearman" else 1) / (n - 3)
    reach = float(ndtri((1 + level) / 2)) * math.sqrt(variance)
    return math.tanh(math.atanh(value) - reach), math.tanh(math.atanh(value) + reach)


def _numbers(name: str, values: ArrayLike, dimensions: int) -> NDArray[np.float64]:
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers: {error}") from error
    if found.ndim != dimensions:
        axes = "(systems,)" if dimensions == 1 else "(systems, metrics)"
        raise InputError(f"{name} must have the shape {axes}, found {found.shape}")
    return found
