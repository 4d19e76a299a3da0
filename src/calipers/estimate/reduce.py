"""Two sets in few dimensions: the leading principal axes of their union, and its whitened form.

Ratios of densities need few dimensions (Pillutla et al., JMLR 2023, algorithm 2 and section 7.3.1:
5 or 10 principal components, fewer than 50 in any case). Neither step moves the true ratio as long
as the axes that are left out tell the sets no further apart, and no estimator here depends on the
unit of the rows, so that they may be scaled. What an axis tells is not looked at, only how far the
union spreads on it: a difference on an axis of little spread beside the others is lost.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.errors import InputError
from calipers.estimate.distances import Points
from calipers.estimate.moments import STEP, Moments
from calipers.estimate.preprocess import common_exponent, joint_axes
from calipers.estimate.validate import check_pair, check_whole

Floats = NDArray[np.float64]

NO_SPREAD = "all rows of both sets are equal: there is no density to speak of"

LEAST_VARIANCE = 1e-12
"""Axes with at most this share of the largest variance are left out, whatever they tell.

In standard deviations a millionth of the largest. Rounding may leave nearly as much on an axis that
holds nothing, and a small difference cannot be told from it.
"""


def leading_axes(
    reference: ArrayLike, generated: ArrayLike, *, dimensions: int | None
) -> tuple[Points, Points]:
    """Project both sets on the leading principal axes of their union.

    Moments and products are taken in float64 and the coordinates rounded to float32 in the end, so
    that equal rows stay equal and their order moves no coordinate.

    Parameters
    ----------
    reference, generated
        Rows, shapes ``(n, d)`` and ``(m, d)``.
    dimensions
        How many axes to keep, from 1; None, or d and more, leaves the rows as they are, but for a
        power of two where their squares might underflow.

    Returns
    -------
    tuple of arrays
        Shapes ``(n, q)`` and ``(m, q)``, q at most `dimensions`; float32, in units of about the
        largest coordinate, unless the rows are left as they are.

    Raises
    ------
    InputError
        If the arrays do not fit together or `dimensions` is no whole number from 1.
    """
    left, right = _enlarged(*check_pair(reference, generated))
    if dimensions is None or check_whole("dimensions", dimensions, 1) >= left.shape[1]:
        return left, right
    mean, axes, exponent = _axes(left, right)
    axes = np.ldexp(axes[:, :dimensions], -exponent)
    return tuple(_coordinates(rows, mean, axes).astype(np.float32) for rows in (left, right))  # type: ignore[return-value]


def whiten(reference: Points, generated: Points) -> tuple[Floats, Floats]:
    """Give the union of two sets zero mean and, on every principal axis that is kept, variance one.

    Left out are axes with at most LEAST_VARIANCE of the largest variance. On most of them all rows
    agree up to rounding; but sets that differ there alone come out as equal. Columns in very
    different units are to be scaled before.

    Raises
    ------
    InputError
        If all rows of both sets are equal.
    """
    union = _moments(reference).merge(_moments(generated))
    variances, axes = np.linalg.eigh(union.covariance)
    kept = variances > LEAST_VARIANCE * variances[-1]
    if not kept.any():
        raise InputError(NO_SPREAD)
    scaled = axes[:, kept] / np.sqrt(variances[kept])
    return tuple(_coordinates(rows, union.mean, scaled) for rows in (reference, generated))  # type: ignore[return-value]


def scale_alike(reference: Points, generated: Points) -> tuple[Floats, Floats]:
    """Centre the union of two sets and give it a mean variance of one; angles stay.

    Raises
    ------
    InputError
        If all rows of both sets are equal.
    """
    union = _moments(reference).merge(_moments(generated))
    scale = float(np.sqrt(np.trace(union.covariance) / len(union.mean)))
    if not scale > 0:
        raise InputError(NO_SPREAD)
    return (reference - union.mean) / scale, (generated - union.mean) / scale


def check_two_rows(n: int, m: int, what: str) -> None:
    """Refuse sets of which one has a single row."""
    for name, size in (("reference", n), ("generated", m)):
        if size < 2:
            raise InputError(f"{what} needs at least two rows in each set; the {name} set has one")


def _enlarged(left: Points, right: Points) -> tuple[Points, Points]:
    """Rows so small that their squares underflow, times a power of two that rounds nothing."""
    exponent = common_exponent((left, right))
    if exponent >= 0:
        return left, right
    return np.ldexp(left, -exponent), np.ldexp(right, -exponent)


def _axes(left: Points, right: Points) -> tuple[Floats, Floats, int]:
    """The union's mean, its principal axes, and the power of two of its largest coordinate."""
    mean, axes, _ = joint_axes(_moments(left), _moments(right), share=1.0)
    largest = max(float(np.abs(rows - mean).max()) for rows in (left, right))
    return mean, axes, int(np.frexp(largest)[1])


def _moments(rows: Points) -> Moments:
    """Moments in float64 whatever the rows are, without a second copy of all of them."""
    parts = [Moments.of(part.astype(np.float64)) for part in _steps(rows)]
    total = parts[0]
    for part in parts[1:]:
        total = total.merge(part)
    return total


def _coordinates(rows: Points, mean: Floats, axes: Floats) -> Floats:
    return np.concatenate([(part - mean) @ axes for part in _steps(rows)])


def _steps(rows: Points) -> list[Any]:
    return [rows[start : start + STEP] for start in range(0, len(rows), STEP)]
