"""How sure a correlation is where its two columns were measured, each with an error.

The errors are drawn from normal distributions of known covariance, added to both columns, and the
correlation is taken of every draw. Two intervals come of that:

- **The systems fixed**: what the correlation of these very systems would be without errors. It
  reaches as far to either side of the measured correlation as the farther of the two percentiles
  of the draws lies, and ends at −1 and 1. The percentiles alone do not cover: errors make orders
  less alike, so the draws, which carry them twice, lie below the measured value as that lies below
  the true one; their mirror image at the measured value lies on the right side of it.
- **The systems as a draw from many** (:func:`widened`): the systems' own interval, such as
  Fisher's, and this one, their distances from the measured correlation added as squares.

How often both cover is measured by ``experiments/rank_correlations.py``; `docs/rankings.md` has the
table.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.errors import InputError
from calipers.uncertainty.correlation import Kind
from calipers.uncertainty.correlation_ranks import mid_ranks

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
    kind: Kind, value: float, a: Draws, b: Draws, *, level: float = 0.95
) -> Interval | None:
    """Tell where the correlation of these systems lies, were both columns free of errors.

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
    found = _correlations(kind, a, b)
    found = found[np.isfinite(found)]
    if not found.size:
        return None
    low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2])
    reach = float(max(value - low, high - value))
    return max(value - reach, -1.0), min(value + reach, 1.0)


def widened(value: float, systems: Interval | None, errors: Interval | None) -> Interval | None:
    """Join the interval of systems drawn from many with that of errors, as independent of it.

    None where the systems have none.
    """
    if systems is None or errors is None:
        return systems
    low, high = (
        math.hypot(value - end, value - other) for end, other in zip(systems, errors, strict=True)
    )
    return max(value - low, -1.0), min(value + high, 1.0)


def _correlations(kind: Kind, a: Draws, b: Draws) -> Draws:
    """Correlate row with row; NaN where one is constant or not finite."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        x, y = (_standardised(mid_ranks(each) if kind == "spearman" else each) for each in (a, b))
        products: Draws = (x * y).sum(axis=1)
        return products


def _standardised(rows: Draws) -> Draws:
    """Move and scale every row to mean 0 and length 1."""
    scaled = rows / np.abs(rows).max(axis=1, keepdims=True)
    moved = scaled - scaled.mean(axis=1, keepdims=True)
    unit: Draws = moved / np.linalg.norm(moved, axis=1, keepdims=True)
    return unit
