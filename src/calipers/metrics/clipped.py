"""Clipped density and clipped coverage: shares of good samples that outliers cannot raise.

With r(x) the distance of a reference sample x to its k-th nearest other reference sample
(Salvy, Talbot and Thirion, "Enhanced generative model evaluation with clipped density and
coverage", arXiv 2507.01761; k = 5):

- clipped density: radii capped at their median; a generated sample counts min(balls around it, k)
  over k; the mean over the generated samples is divided by the same mean over the reference
  samples (each without its own ball), and capped at 1;
- clipped coverage: a reference sample counts min(generated samples in its ball, k) over k, radii
  not capped; the mean is passed through the inverse of its expectation (`metrics/calibration.py`),
  so that it reads as the share of good samples.

The release takes ``<=`` for density and ``<`` for coverage; here both follow `ties`. Neither sees
copies, or where inside the support the mass lies as long as k samples reach every ball. Clipped
density does not see missing variety; samples in regions where the reference is sparse count as bad
ones, since the wide balls are cut. The capped score of 1 hides a generated set that keeps to the
dense regions more than the reference does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calipers.estimate.neighbourhoods import Distance, Neighbourhoods, Supports, Ties
from calipers.metrics.calibration import good_share
from calipers.metrics.reading import measure, signed, sizes, too_small
from calipers.score import Score

CLIPPED_K = 5


@dataclass(frozen=True)
class ClippedDensityCoverage:
    """The share of generated samples that look good, and the share of variety that they carry."""

    density: Score
    coverage: Score


def clipped_density_coverage(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    k: int = CLIPPED_K,
    ties: Ties = "closed",
    distance: Distance = "euclidean",
    threads: int | None = None,
) -> ClippedDensityCoverage:
    """Tell quality and diversity as shares of good samples, safe from outliers.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``; taken as given.
    k
        Neighbours that span a ball, from 1 to the smaller set less one.
    ties
        Whether a point on the rim is inside: ``"closed"`` or ``"open"``.
    distance
        ``"euclidean"``, or ``"cosine"``: 1 less the cosine of the angle, for rows other than 0.
    threads
        Number of threads (default: all cores); no effect on the values.

    Returns
    -------
    ClippedDensityCoverage
        Scores in [0, 1], higher is better. ``density.per_sample`` gives for every generated row
        the balls around it over k, at most 1, before the division by the reference's own mean;
        ``coverage.per_sample`` for every reference row the generated rows in its ball over k, at
        most 1, before the calibration. Density is NaN with a reason where no reference row lies in
        the capped ball of another (open balls and equal distances).

    Raises
    ------
    InputError
        If the arrays do not fit together, are not finite, or are too small for k.
    """
    supports = Supports(capped=k)
    near = measure(
        reference,
        generated,
        k=k,
        ties=ties,
        distance=distance,
        supports=supports,
        threads=threads,
    )
    return ClippedDensityCoverage(clipped_density_score(near, k), clipped_coverage_score(near, k))


def clipped_density_score(near: Neighbourhoods, k: int = CLIPPED_K) -> Score:
    """Clipped number of capped balls around a generated row, relative to a reference row's own."""
    around, own = near.reference.capped, near.reference.capped_own
    line = signed("clipped_density", near, k, radii="capped_at_median")
    reason = too_small(near, k, measured=around is not None and near.supports.capped == k)
    if reason or around is None or own is None:
        return Score(value=np.nan, signature=line, reason=reason)
    each, calibration = np.minimum(around, k), int(np.minimum(own, k).sum(dtype=np.int64))
    if calibration == 0:
        reason = "no reference sample lies inside the open capped ball of another one"
        return Score(value=np.nan, signature=line, reason=reason, per_sample=each / k)
    n, m = sizes(near)
    value = min(1.0, int(each.sum(dtype=np.int64)) * n / (calibration * m))
    return Score(value=value, signature=line, per_sample=each / k)


def clipped_coverage_score(near: Neighbourhoods, k: int = CLIPPED_K) -> Score:
    """Clipped number of generated rows in a reference ball, as the share of good samples."""
    line = signed("clipped_coverage", near, k, calibration="interpolated")
    reason = too_small(near, k)
    if reason:
        return Score(value=np.nan, signature=line, reason=reason)
    n, m = sizes(near)
    held = np.minimum(near.reference.held[:, k - 1], k)
    measured = int(held.sum(dtype=np.int64)) / (k * n)
    return Score(value=good_share(measured, n, m, k), signature=line, per_sample=held / k)
