"""Fréchet distance: the distance of the Gaussians fitted to both sets.

d² = |μ₁ − μ₂|² + tr(Σ₁ + Σ₂ − 2(Σ₁^½ Σ₂ Σ₁^½)^½), as in FID (Heusel et al., NeurIPS 2017).

What it does not detect: anything but means and covariances, so sets of different shape may score 0.
The estimate is too large when there are few samples for the number of dimensions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.errors import InputError, checks_keywords
from calipers.estimate.moments import Moments
from calipers.metrics.reading import scored
from calipers.numeric.threads import limit_threads
from calipers.numeric.validation import check_pair, check_points
from calipers.score import Score

if TYPE_CHECKING:
    from calipers.catalogue.estimation import EstimationOptions
    from calipers.metrics.pair import Pair


@checks_keywords
def frechet_distance(
    reference: ArrayLike | Mapping[str, Any], generated: ArrayLike | Mapping[str, Any]
) -> Score:
    """Tell how far mean and covariance of the generated set are from the reference's.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``; taken as given. In their place the statistics
        that packages for FID keep: a mapping with the mean ``mu``, shape ``(d,)``, and the unbiased
        covariance ``sigma``, shape ``(d, d)``, such as ``numpy.load("statistics.npz")``.

    Returns
    -------
    Score
        The squared distance, at least 0, lower is better; NaN with a reason where a set has a
        single row.

    Raises
    ------
    InputError
        If the arrays do not fit together or are not finite.

    Examples
    --------
    >>> round(frechet_distance([[0.0], [2.0]], [[3.0], [5.0]]).value, 9)
    9.0
    >>> statistics = {"mu": [1.0], "sigma": [[2.0]]}
    >>> round(frechet_distance(statistics, [[3.0], [5.0]]).value, 9)
    9.0
    """
    if not isinstance(reference, Mapping) and not isinstance(generated, Mapping):
        left, right = check_pair(reference, generated)
        return frechet_score(*(Moments.of(side, precise=True) for side in (left, right)))
    one, other = _gaussian(reference, "reference"), _gaussian(generated, "generated")
    if one.mean.shape != other.mean.shape:
        raise InputError(
            "reference and generated must have the same number of columns; "
            f"found {len(one.mean)} and {len(other.mean)}"
        )
    return frechet_score(one, other)


@dataclass(frozen=True)
class Gaussian:
    """A mean and a covariance computed elsewhere, from an unknown number of rows.

    Attributes
    ----------
    mean
        Shape ``(d,)``.
    covariance
        Shape ``(d, d)``.
    """

    mean: NDArray[np.float64]
    covariance: NDArray[np.float64]
    count: None = None


def _gaussian(side: ArrayLike | Mapping[str, Any], name: str) -> Moments | Gaussian:
    """Take statistics as they are, and compute those of embeddings."""
    if not isinstance(side, Mapping):
        return Moments.of(check_points(side, name), precise=True)
    missing = [key for key in ("mu", "sigma") if key not in side]
    if missing:
        raise InputError(
            f"{name}: statistics need a mean 'mu' and a covariance 'sigma'; found "
            f"{', '.join(map(repr, side)) or 'nothing'}"
        )
    mean, covariance = (np.asarray(side[key]) for key in ("mu", "sigma"))
    numbers = all(array.dtype.kind in "fiu" for array in (mean, covariance))
    if not numbers or mean.ndim != 1 or not mean.size or covariance.shape != mean.shape * 2:
        raise InputError(
            f"{name}: 'mu' must have the shape (d,) and 'sigma' (d, d), of numbers; found the "
            f"shapes {mean.shape} and {covariance.shape} of {mean.dtype} and {covariance.dtype}"
        )
    mean, covariance = mean.astype(np.float64), covariance.astype(np.float64)
    if not (np.isfinite(mean).all() and np.isfinite(covariance).all()):
        raise InputError(f"{name}: statistics must be finite; found NaN or infinite values")
    if not np.allclose(covariance, covariance.T, rtol=1e-5, atol=1e-8 * np.abs(covariance).max()):
        raise InputError(f"{name}: 'sigma' must be a covariance, which is symmetric")
    return Gaussian(mean, covariance)


def frechet_score(reference: Moments | Gaussian, generated: Moments | Gaussian) -> Score:
    """Compare two sets by their moments."""
    sizes = [side.count for side in (reference, generated)]
    n, m = ("unknown" if size is None else size for size in sizes)
    pins = {"covariance": "unbiased", "n": n, "m": m, "d": len(reference.mean)}
    if any(size is not None and size < 2 for size in sizes):
        reason = "a covariance needs at least two rows in each set"
        return scored("frechet_distance", np.nan, pins, reason=reason)
    return scored("frechet_distance", squared_frechet(reference, generated), pins)


def frechet_without(
    reference: Moments,
    generated: Moments,
    reference_blocks: Sequence[Moments],
    generated_blocks: Sequence[Moments],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the squared distance with each block of rows left out, from moments alone.

    Here eigenvalues of Σ₁^½ Σ₂ Σ₁^½ are enough, whose rounding is far below what a block moves:
    the root of the set that stays whole is taken once.

    Returns
    -------
    tuple of numpy.ndarray
        With each block of the reference left out, and of the generated set; shapes ``(blocks,)``.
    """
    with limit_threads(1):  # small matrices: waking threads takes longer than the work
        return (
            _against(generated, [reference.without(block) for block in reference_blocks]),
            _against(reference, [generated.without(block) for block in generated_blocks]),
        )


def _against(fixed: Moments, others: Sequence[Moments]) -> NDArray[np.float64]:
    """The squared distance of one set from several others."""
    root, spread = _root(fixed.covariance), np.trace(fixed.covariance)
    return np.array([_distance(fixed.mean, spread, root, other) for other in others])


def _distance(
    mean: NDArray[np.float64], spread: float, root: NDArray[np.float64], other: Moments
) -> float:
    covariance, gap = other.covariance, mean - other.mean
    cross = np.sqrt(np.clip(np.linalg.eigvalsh(root @ covariance @ root), 0.0, None)).sum()
    return float(gap @ gap + spread + np.trace(covariance) - 2 * cross)


def squared_frechet(reference: Moments | Gaussian, generated: Moments | Gaussian) -> float:
    """Compute the squared Fréchet distance of the Gaussians with these moments.

    tr((Σ₁^½ Σ₂ Σ₁^½)^½) is the sum of the singular values of Σ₁^½ Σ₂^½; taken so, it is exact to
    rounding for equal sets, where square roots of eigenvalues near 0 are not.
    """
    first, second = reference.covariance, generated.covariance
    gap = reference.mean - generated.mean
    cross = np.linalg.svd(_root(first) @ _root(second), compute_uv=False).sum()
    return max(0.0, float(gap @ gap + np.trace(first) + np.trace(second) - 2 * cross))


def _root(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Symmetric square root of a positive semi-definite matrix."""
    values, vectors = np.linalg.eigh(covariance)
    root: NDArray[np.float64] = (vectors * np.sqrt(np.clip(values, 0.0, None))) @ vectors.T
    return root


def read_frechet_distance(pair: Pair, _: EstimationOptions) -> Score:
    return frechet_score(*pair.moments)


def frechet_distance_without(pair: Pair) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute the distance without each block of the reference and of the generated rows."""
    sets = zip(pair.projected, pair.labels, strict=True)
    with limit_threads(1):
        left, right = (Moments.by_block(rows, labels, precise=True) for rows, labels in sets)
    return frechet_without(*pair.moments, left, right)
