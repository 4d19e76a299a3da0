"""Rows made ready for distances: scaled to length one, then projected on their joint main axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.errors import InputError
from calipers.estimate.axes import principal_axes
from calipers.estimate.distances import Points, column_sums
from calipers.estimate.jit import kernel, summation
from calipers.estimate.moments import Moments
from calipers.estimate.scatter import coordinates, scatter_about
from calipers.estimate.tiles import Span, Workers, spans, workers
from calipers.estimate.validate import check_choice, check_pair

Norm = Literal["l2", "none"]
Projection = Literal["none", "union"]
"""Where neighbours are looked for: among rows as they are, or on the main axes of the union."""


@dataclass(frozen=True)
class Preprocessed:
    """Two sets in the space in which they are compared.

    Attributes
    ----------
    reference, generated
        Shapes ``(n, q)`` and ``(m, q)``, float32.
    explained_variance
        Share of the union's variance that the q axes keep, in [0, 1].
    """

    reference: Points
    generated: Points
    explained_variance: float


def preprocess(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    norm: Norm = "l2",
    pca: float | None = 0.9,
    threads: int | None = None,
) -> Preprocessed:
    """Bring two sets of embeddings into the space in which paper 000 compares them.

    Rows are scaled to Euclidean length one, then both sets are projected on the fewest principal
    axes of their union that keep the share `pca` of its variance (Le Bronnec et al., ACL 2024,
    section 5.1; the same steps as in mauve-text). The axes depend on both sets, so numbers from
    two different pairs are not strictly comparable.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``.
    norm
        ``"l2"`` scales every row to length one (zero rows stay); ``"none"`` leaves them.
    pca
        Share of the variance to keep, in (0, 1]; None skips the projection.
    threads
        Number of threads (default: all cores); no effect on the result.

    Raises
    ------
    InputError
        If the arrays do not fit together or `pca` lies outside (0, 1].
    """
    sets = check_pair(reference, generated)
    space = joint_space(sets, (1.0, 1.0), norm=norm, pca=pca, threads=threads)
    return Preprocessed(space.sets[0], space.sets[1], space.explained_variance)


@dataclass(frozen=True)
class JointSpace:
    """Sets of rows in one space, and the share of the variance that its axes keep."""

    sets: tuple[Points, ...]
    explained_variance: float


def joint_space(
    sets: Sequence[Points],
    weights: Sequence[float],
    *,
    norm: Norm,
    pca: float | None,
    threads: int | None,
) -> JointSpace:
    """Bring sets of checked rows into one space; `weights` are what each row of each set counts."""
    check_choice("norm", norm, ("l2", "none"))
    if pca is not None and not 0 < pca <= 1:
        raise InputError(f"pca must be a share of the variance in (0, 1], or None; found {pca}")
    with workers(threads) as pool:
        if norm == "l2":
            sets = [unit_rows(points, pool) for points in sets]
        if pca is None:
            return JointSpace(tuple(sets), 1.0)
        exponent = 0 if norm == "l2" else common_exponent(sets)
        sets = [_scaled(points, -exponent) for points in sets]
        mean = _joint_mean(sets, weights, pool)
        axes, explained = principal_axes(scatter_about(sets, mean, weights, pool), pca)
        rows = tuple(_scaled(coordinates(points, mean, axes, pool), exponent) for points in sets)
    if exponent and not all(np.isfinite(points).all() for points in rows):
        raise InputError("embeddings are too large for float32; scale them, or use norm='l2'")
    return JointSpace(rows, explained)


def _joint_mean(
    sets: Sequence[Points], weights: Sequence[float], pool: Workers
) -> NDArray[np.float64]:
    mass = sum(weight * len(points) for points, weight in zip(sets, weights, strict=True))
    sums = [
        weight * column_sums(points, pool) for points, weight in zip(sets, weights, strict=True)
    ]
    mean: NDArray[np.float64] = np.sum(sums, axis=0) / mass
    return mean


def common_exponent(sets: Sequence[Points]) -> int:
    """The power of two that brings all sets to about 1; 0 where their squares are safe."""
    largest = max(max(float(points.max()), -float(points.min())) for points in sets)
    exponent = int(np.frexp(largest)[1])
    return exponent if abs(exponent) > 30 else 0


def _scaled(rows: Points, exponent: int) -> Points:
    """The rows times a power of two, which rounds nothing."""
    if exponent == 0:
        return rows
    with np.errstate(over="ignore"):
        scaled: Points = np.ldexp(rows, exponent)
    return scaled


def unit_rows(points: Points, pool: Workers | None = None) -> Points:
    """Scale every row to Euclidean length one; rows of zeros stay as they are."""
    scaled = np.empty_like(points)

    def work(span: Span) -> None:
        _scale_rows(points, span[0], span[1], scaled)

    list((pool or Workers.alone()).map(work, spans(len(points))))
    return scaled


def joint_axes(
    reference: Moments, generated: Moments, *, share: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Principal axes of the union of two sets.

    Returns
    -------
    mean
        Of the union, shape ``(d,)``.
    axes
        The fewest axes that keep `share` of the variance, shape ``(d, q)``, largest first.
    explained
        The share that they keep.
    """
    union = reference.merge(generated)
    axes, explained = principal_axes(union.scatter, share)
    return union.mean, axes, explained


@kernel
def _scale_rows(points: Any, first: int, last: int, scaled: Any) -> None:
    for i in range(first, last):
        factor, length = 1.0, np.sqrt(squared_length(points, i, 1.0))
        if length < 1e-140:  # the squares underflow
            factor = np.abs(points[i]).max()
            factor = factor if factor > 0 else 1.0
            length = np.sqrt(squared_length(points, i, factor))
        length = length if length > 0 else 1.0
        for t in range(points.shape[1]):
            scaled[i, t] = points[i, t] / factor / length


@summation
def squared_length(points: Any, i: int, unit: float) -> float:
    """Sum of squares of a row's numbers in some unit, in float64."""
    total = 0.0
    for t in range(points.shape[1]):
        value = np.float64(points[i, t]) / unit
        total += value * value
    return total
