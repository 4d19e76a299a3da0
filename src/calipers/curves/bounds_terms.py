"""What a distribution adds to the error of its estimate: spread, missing mass, smoothing bias.

All are exact sums over the k cells of a known distribution, not estimates from a sample; for a
sample, see :func:`missing_mass`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calipers.curves.divergence import Vector
from calipers.errors import InputError
from calipers.estimate.histograms import Histograms
from calipers.estimate.validate import check_whole


@dataclass(frozen=True)
class MissingMass:
    """How much of each distribution a pair of histograms has not seen yet.

    Attributes
    ----------
    reference, generated
        Good's estimate of the mass in cells where that side counts nothing: the share of its
        samples that are alone in their cell; in [0, 1].
    empty_cells
        Number of cells in which one of the sides, or both, count nothing; table 8.
    cells
        Number of cells.
    """

    reference: float
    generated: float
    empty_cells: int
    cells: int

    @property
    def empty_share(self) -> float:
        """Share of the cells in which one of the sides, or both, count nothing, in [0, 1]."""
        return self.empty_cells / self.cells


def missing_mass(histograms: Histograms) -> MissingMass:
    """Estimate what either side of a pair of histograms has not seen.

    Good (1953): the expected mass of unseen cells is close to the expected share of samples in
    cells seen once. Smoothing is left aside: the counts are those of the samples. The cells must
    not come from the samples themselves: k-means on the same rows leaves no cell empty on both
    sides, so the estimate is then only a sign of too many cells. Pillutla et al., JMLR 2023,
    section 4.1 and table 8.

    Examples
    --------
    >>> missing_mass(Histograms([3, 1, 0, 1], [0, 2, 2, 1]))
    MissingMass(reference=0.4, generated=0.2, empty_cells=2, cells=4)
    """
    p, q = histograms.reference, histograms.generated
    return MissingMass(
        float((p == 1).sum() / p.sum(dtype=np.float64)),
        float((q == 1).sum() / q.sum(dtype=np.float64)),
        int(((p == 0) | (q == 0)).sum()),
        len(p),
    )


def expected_missing_mass(distribution: ArrayLike, *, n: int) -> float:
    """Tell how much of a known distribution n samples leave unseen on average, in [0, 1].

    Σ (1 − P_l)ⁿ·P_l; Pillutla et al., JMLR 2023, equation 36, where it is bounded by k/n.
    """
    p = check_distribution(distribution, "distribution")
    return float(np.sum(_unseen(p, check_whole("n", n, 1)) * p))


def spread(p: Vector, n: int) -> float:
    """α_n(P) = Σ √(P_l/n), at most √(k/n): bounds the mean of Σ |P̂_l − P_l|; theorem 10."""
    return float(np.sum(np.sqrt(p / n)))


def missing_information(p: Vector, n: int) -> float:
    """β_n(P): the mean of Σ P_l·max(1, log 1/P_l) over cells that n samples miss; theorem 10."""
    seen = p[p > 0]
    return float(np.sum(_unseen(seen, n) * seen * np.maximum(1.0, -np.log(seen))))


def smoothing_bias(p: Vector, n: int, pseudo_count: float) -> float:
    """γ_{n,k}(P) = bk/(n + bk)·Σ |P_l − 1/k|: the pull towards equal shares; theorem 12."""
    k = len(p)
    return float(pseudo_count * k / (n + pseudo_count * k) * np.sum(np.abs(p - 1 / k)))


def check_distribution(distribution: ArrayLike, name: str) -> Vector:
    """Return probabilities as float64, or say what is wrong with them.

    Raises
    ------
    InputError
        If they are not a list of numbers, one is negative or not finite, or their sum is not 1.
    """
    try:
        p = np.asarray(distribution, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be a list of probabilities: {error}") from error
    if p.ndim != 1 or p.size == 0:
        raise InputError(
            f"{name} must be a list of probabilities, one for each cell; found shape {p.shape}"
        )
    bad = np.flatnonzero(~(np.isfinite(p) & (p >= 0)))
    if len(bad):
        raise InputError(
            f"{name} must hold probabilities of at least 0; cell {bad[0] + 1} has {p[bad[0]]:g}"
        )
    if abs(p.sum() - 1) > 1e-9:
        raise InputError(f"{name} must sum to 1; found {p.sum():.12g}")
    return p


def check_distributions(reference: ArrayLike, generated: ArrayLike) -> tuple[Vector, Vector]:
    """Check both distributions, and that they are over the same cells."""
    p, q = check_distribution(reference, "reference"), check_distribution(generated, "generated")
    if len(p) != len(q):
        raise InputError(
            f"reference and generated must be over the same cells; found {len(p)} and {len(q)}"
        )
    return p, q


def _unseen(p: Vector, n: int) -> Vector:
    """(1 − P_l)ⁿ: how likely it is that none of n samples falls in a cell."""
    with np.errstate(divide="ignore"):
        chance: Vector = np.exp(n * np.log1p(-np.minimum(p, 1.0)))
    return chance
