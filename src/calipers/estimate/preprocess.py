"""Rows made ready for distances: scaled to length one, then projected on their joint main axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.errors import InputError
from calipers.estimate.distances import Points
from calipers.estimate.moments import Moments
from calipers.estimate.validate import check_choice, check_pair

Norm = Literal["l2", "none"]


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

    Raises
    ------
    InputError
        If the arrays do not fit together or `pca` lies outside (0, 1].
    """
    left, right = check_pair(reference, generated)
    check_choice("norm", norm, ("l2", "none"))
    if pca is not None and not 0 < pca <= 1:
        raise InputError(f"pca must be a share of the variance in (0, 1], or None; found {pca}")
    if norm == "l2":
        left, right = unit_rows(left), unit_rows(right)
    if pca is None:
        return Preprocessed(left, right, 1.0)
    exponent = _common_exponent(left, right)
    left, right = _scaled(left, -exponent), _scaled(right, -exponent)
    mean, axes, explained = joint_axes(Moments.of(left), Moments.of(right), share=pca)
    rows = [_scaled(project(side, mean, axes), exponent) for side in (left, right)]
    if not all(np.isfinite(side).all() for side in rows):
        raise InputError("embeddings are too large for float32; scale them, or use norm='l2'")
    return Preprocessed(rows[0], rows[1], explained)


def _common_exponent(left: Points, right: Points) -> int:
    """The power of two that brings both sets to about 1; 0 where their squares are safe."""
    largest = max(max(float(side.max()), -float(side.min())) for side in (left, right))
    exponent = int(np.frexp(largest)[1])
    return exponent if abs(exponent) > 30 else 0


def _scaled(rows: Points, exponent: int) -> Points:
    """The rows times a power of two, which rounds nothing."""
    if exponent == 0:
        return rows
    with np.errstate(over="ignore"):
        scaled: Points = np.ldexp(rows, exponent)
    return scaled


def unit_rows(points: Points) -> Points:
    """Scale every row to Euclidean length one; rows of zeros stay as they are."""
    lengths = np.sqrt(np.einsum("ij,ij->i", points, points, dtype=np.float64))
    tiny = np.flatnonzero(lengths < 1e-140)  # their squares underflow
    largest = np.abs(points[tiny]).max(axis=1, initial=0.0)
    if largest.any():
        points = points.copy()
        points[tiny] /= np.where(largest > 0, largest, 1.0)[:, None]
        lengths[tiny] = np.linalg.norm(points[tiny], axis=1)
    lengths[lengths == 0] = 1.0
    scaled: Points = (points / lengths[:, None]).astype(points.dtype)
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
    variances, axes = np.linalg.eigh(union.covariance)
    variances, axes = np.clip(variances[::-1], 0.0, None), axes[:, ::-1]
    total = variances.sum()
    if total == 0:
        return union.mean, axes[:, :1], 1.0
    kept = np.cumsum(variances) / total
    q = min(int(np.searchsorted(kept, share - 1e-12)) + 1, len(kept))
    return union.mean, axes[:, :q], float(min(kept[q - 1], 1.0))


def project(
    points: Points, mean: NDArray[np.float64], axes: NDArray[np.float64], *, step: int = 4096
) -> NDArray[np.float32]:
    """Coordinates of rows along some axes about a mean, shape ``(n, q)``, float32."""
    out = np.empty((len(points), axes.shape[1]), np.float32)
    centre: Any = mean.astype(points.dtype)
    directions: Any = axes.astype(points.dtype)
    for start in range(0, len(points), step):
        out[start : start + step] = (points[start : start + step] - centre) @ directions
    return out
