"""Precision and recall robust to outliers: clipped, cover and probabilistic supports.

**Clipped density and clipped coverage.** With r(x) the distance of a reference sample x to its k-th
nearest other reference sample (Salvy, Talbot and Thirion, "Enhanced generative model evaluation
with clipped density and coverage", arXiv 2507.01761; k = 5):

- clipped density: radii capped at their median; a generated sample counts min(balls around it, k)
  over k; the mean over the generated samples is divided by the same mean over the reference
  samples (each without its own ball), and capped at 1;
- clipped coverage: a reference sample counts min(generated samples in its ball, k) over k, radii
  not capped; the mean is passed through the inverse of its expectation, so that it reads as the
  share of good samples.

That expectation: let m of the M generated samples come from the reference distribution and the
others cover nothing. The distances of a reference sample to the N − 1 other reference samples and
to these m are exchangeable, so the number J of generated samples within the k-th nearest other
reference sample has the negative hypergeometric (beta-binomial) law

    P(J = j) = C(m, j) B(k + j, N − k + m − j) / B(k, N − k),

and clipped coverage is expected to be f(m) = E[min(J, k)] / k (section 4). f grows with m; the
calibrated score is the share m/M whose expectation is what was measured. Between two m it is
interpolated linearly, and beyond f(M) it is 1. The authors' release sets f(m) = 0 for m < k, takes
the first m that is not below the measured value, and divides by M + 1: both agree within 1/M from
f(k) on, and below it the release says k/(M + 1) for any value above 0 where this says less. The
release takes ``<=`` for density and ``<`` for coverage; here both follow `ties`.

**Precision–recall cover.** With k = 3 and C = 3, a sample is covered when the ball of its
k' = C k = 9 nearest samples of its own set holds at least k = 3 samples of the other set (Cheema
and Urner, "Precision recall cover: a method for assessing generative models", AISTATS 2023; the
pseudocode of its appendix A.3):

- cover_precision = share of generated samples that are covered by reference samples,
- cover_recall = share of reference samples that are covered by generated samples.

This is the paper's PC of the pair (P reference, Q generated). The authors' released function counts
P's samples as precision and Q's as recall, so called with the reference first it gives these two
the other way round. Own neighbours never include the sample itself. The scores look at the mass
near each sample and not at a union of balls, so an outlier of one set does not widen the support of
the other.

**Probabilistic precision and recall.** A sample x supports its surroundings with probability
1 − d/R up to distance R and 0 beyond; the supports of different samples are independent, so

    P-precision = mean over generated y of 1 − Π over reference x with d(x, y) ≤ R of d(x, y) / R,
    R = 1.2 × the mean distance of a reference sample to its 4th nearest other reference sample

(Park and Kim, "Probabilistic precision and recall towards reliable evaluation of generative
models", ICCV 2023, with the release's constants). P-recall is the same with the sides swapped, so
its R comes from the generated set. With one radius for all samples, one outlier cannot blow up the
support, as it can for the k-NN balls of precision and recall. Distances come from float32 products
here, except where these cancel: values of single samples are good to about 1e-6.

What they do not detect:

- Clipped density and coverage: copies, or where inside the support the mass lies as long as k
  samples reach every ball. Clipped density does not see missing variety; samples in regions where
  the reference is sparse count as bad ones, since the wide balls are cut. The capped score of 1
  hides a generated set that keeps to the dense regions more than the reference does.
- Cover: how much mass is missing or in excess up to a factor of C: a ball with 9 own samples may
  hold 3 or 300 of the other. Two samples of one distribution and of one size score about 0.97, not
  1; with a third as many samples on the other side about 0.54, so sets of different sizes are not
  comparable.
- Probabilistic: how the mass is spread inside the support. Where densities differ much, or in high
  dimensions, one R is too large for dense regions (everything there scores 1) and too small for
  sparse ones (nothing does): modes of another scale are missed, even for equal distributions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.catalogue.needs import CLIPPED_K, COVER_FACTOR, COVER_K, SPREAD
from calipers.catalogue.settings import Distance, Ties
from calipers.errors import checks_keywords
from calipers.estimate.knn.balls import Supports, check_factor
from calipers.estimate.knn.neighbourhoods import Balls, Neighbourhoods, neighbourhoods
from calipers.metrics.knn_support import PrecisionRecall
from calipers.metrics.reading import read_off, share, sizes, too_small
from calipers.numeric.validation import check_whole
from calipers.score import Score

if TYPE_CHECKING:
    from calipers.catalogue.estimation import EstimationOptions
    from calipers.metrics.pair import Pair


def expected_coverage(reference: int, good: int, k: int) -> NDArray[np.float64]:
    """Return the expected clipped coverage for every number of good samples from 0 to `good`.

    Parameters
    ----------
    reference
        Reference samples N, at least k + 1.
    good
        The largest number of good samples.
    k
        The k of the k-NN balls.

    Returns
    -------
    ndarray
        Shape ``(good + 1,)``, float64, from 0, never falling, at most 1.
    """
    m = np.arange(good + 1, dtype=np.float64)
    none = np.ones(good + 1)
    for step in range(1, k + 1):
        none *= (reference - step) / (reference - step + m)  # the k nearest are all reference ones
    missing, chance = k * none, none
    for j in range(k - 1):
        others = np.maximum(reference - 1 + m - k - j, 1.0)
        chance = chance * (k + j) / (j + 1) * np.maximum(m - j, 0.0) / others  # of j + 1 instead
        missing += (k - 1 - j) * chance
    return np.maximum.accumulate(np.clip(1 - missing / k, 0.0, 1.0))


def good_share(measured: float, reference: int, generated: int, k: int) -> float:
    """Return the share of good samples with this expected clipped coverage, in [0, 1]."""
    shares = np.arange(generated + 1) / generated
    return float(np.interp(measured, expected_coverage(reference, generated, k), shares))


@dataclass(frozen=True)
class ClippedDensityCoverage:
    """The share of good generated samples, and the share of variety that they carry."""

    density: Score
    coverage: Score


@checks_keywords
def clipped_density_coverage(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    k: int = CLIPPED_K,
    ties: Ties = "closed",
    distance: Distance = "euclidean",
    threads: int | None = None,
) -> ClippedDensityCoverage:
    """Measure quality and diversity as shares of good samples, robust to outliers.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``; taken as given.
    k
        The k of the k-NN balls, from 1 to the smaller set minus one.
    ties
        Whether a point on the boundary is inside: ``"closed"`` or ``"open"``.
    distance
        ``"euclidean"``, or ``"cosine"``: 1 minus the cosine of the angle, for rows other than 0.
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

    Examples
    --------
    >>> reference = [[0.0], [1.0], [2.0], [3.0]]
    >>> generated = [[0.5], [1.5], [9.0], [10.0]]
    >>> scores = clipped_density_coverage(reference, generated, k=1)
    >>> scores.density.value, scores.coverage.value
    (0.5, 1.0)
    """
    supports = Supports(capped=k)
    near = neighbourhoods(
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
    around, expected = near.reference.capped, near.reference.capped_own
    name, pins = "clipped_density", {"radii": "capped_at_median"}
    reason = too_small(near, k, measured=around is not None and near.supports.capped == k)
    if reason or around is None or expected is None:
        return read_off(near, name, np.nan, k, pins, reason=reason)
    clipped, calibration = np.minimum(around, k), int(np.minimum(expected, k).sum(dtype=np.int64))
    if calibration == 0:
        reason = "no reference sample lies inside the open capped ball of another one"
        return read_off(near, name, np.nan, k, pins, reason=reason, per_sample=clipped / k)
    n, m = sizes(near)
    value = min(1.0, int(clipped.sum(dtype=np.int64)) * n / (calibration * m))
    return read_off(near, name, value, k, pins, per_sample=clipped / k)


def clipped_coverage_score(near: Neighbourhoods, k: int = CLIPPED_K) -> Score:
    """Clipped number of generated rows in a reference ball, as the share of good samples."""
    name, pins = "clipped_coverage", {"calibration": "interpolated"}
    reason = too_small(near, k)
    if reason:
        return read_off(near, name, np.nan, k, pins, reason=reason)
    n, m = sizes(near)
    clipped = np.minimum(near.reference.held[:, k - 1], k)
    measured = int(clipped.sum(dtype=np.int64)) / (k * n)
    return read_off(near, name, good_share(measured, n, m, k), k, pins, per_sample=clipped / k)


@checks_keywords
def precision_recall_cover(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    k: int = COVER_K,
    factor: int = COVER_FACTOR,
    ties: Ties = "closed",
    distance: Distance = "euclidean",
    threads: int | None = None,
) -> PrecisionRecall:
    """Tell which samples have at least k samples of the other set in their neighbourhood.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``; taken as given.
    k
        Samples of the other set that cover a sample, at least 1.
    factor
        The paper's C: a ball spans ``factor * k`` own neighbours, at most the smaller set minus
        one.
    ties
        Whether a point on the boundary is inside: ``"closed"`` (the paper) or ``"open"``.
    distance
        ``"euclidean"``, or ``"cosine"``: 1 minus the cosine of the angle, for rows other than 0.
    threads
        Number of threads (default: all cores); no effect on the values.

    Returns
    -------
    PrecisionRecall
        Scores in [0, 1], higher is better. ``precision.per_sample`` tells for every generated row
        whether it is covered, ``recall.per_sample`` for every reference row.

    Raises
    ------
    InputError
        If the arrays do not fit together, are not finite, or are too small, or an option is out
        of its range.

    Examples
    --------
    >>> reference = [[0.0], [1.0], [2.0], [3.0]]
    >>> generated = [[0.5], [1.5], [9.0], [10.0]]
    >>> scores = precision_recall_cover(reference, generated, k=1, factor=1)
    >>> scores.precision.value, scores.recall.value
    (0.5, 0.75)
    """
    check_whole("k", k, 1)
    balls = k * check_whole("factor", factor, 1)
    near = neighbourhoods(
        reference, generated, k=balls, ties=ties, distance=distance, threads=threads
    )
    return PrecisionRecall(
        cover_precision_score(near, k, factor), cover_recall_score(near, k, factor)
    )


def cover_precision_score(
    near: Neighbourhoods, k: int = COVER_K, factor: int = COVER_FACTOR
) -> Score:
    """Share of generated rows whose own neighbourhood holds k reference rows."""
    return _covered("cover_precision", near.generated, near, k, factor)


def cover_recall_score(near: Neighbourhoods, k: int = COVER_K, factor: int = COVER_FACTOR) -> Score:
    """Share of reference rows whose own neighbourhood holds k generated rows."""
    return _covered("cover_recall", near.reference, near, k, factor)


def _covered(metric: str, owners: Balls, near: Neighbourhoods, k: int, factor: int) -> Score:
    balls = k * factor
    reason = too_small(near, balls)
    pins = {"own_neighbours": balls}
    if reason:
        return read_off(near, metric, np.nan, k, pins, reason=reason)
    return share(near, metric, owners.held[:, balls - 1] >= k, k, pins)


@checks_keywords
def probabilistic_precision_recall(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    k: int = SPREAD[0],
    factor: float = SPREAD[1],
    distance: Distance = "euclidean",
    threads: int | None = None,
) -> PrecisionRecall:
    """Measure quality and diversity by supports that fade with distance.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``; taken as given.
    k
        The neighbour whose mean distance sets the radius, from 1 to the smaller set minus one.
    factor
        The radius over that mean distance, above 0.
    distance
        ``"euclidean"``, or ``"cosine"``: 1 minus the cosine of the angle, for rows other than 0.
    threads
        Number of threads (default: all cores); no effect on the values.

    Returns
    -------
    PrecisionRecall
        Scores in [0, 1], higher is better. ``precision.per_sample`` gives for every generated row
        the probability that it lies in the reference's support, ``recall.per_sample`` for every
        reference row that it lies in the generated support.

    Raises
    ------
    InputError
        If the arrays do not fit together, are not finite, or are too small for k, or factor is
        not above 0 and at most a million.

    Examples
    --------
    >>> reference, generated = [[0.0], [1.0], [2.0]], [[0.5], [9.0], [9.5]]
    >>> scores = probabilistic_precision_recall(reference, generated, k=1, factor=1.0)
    >>> scores.precision.value
    0.25
    """
    check_factor("factor", factor)
    supports = Supports(spread=(k, factor))
    near = neighbourhoods(
        reference, generated, k=k, distance=distance, supports=supports, threads=threads
    )
    return PrecisionRecall(
        probabilistic_precision_score(near, (k, factor)),
        probabilistic_recall_score(near, (k, factor)),
    )


def probabilistic_precision_score(
    near: Neighbourhoods, spread: tuple[int, float] = SPREAD
) -> Score:
    """Mean probability that a generated row lies in the reference's support."""
    return _mean("probabilistic_precision", near.reference, near, spread)


def probabilistic_recall_score(near: Neighbourhoods, spread: tuple[int, float] = SPREAD) -> Score:
    """Mean probability that a reference row lies in the generated support."""
    return _mean("probabilistic_recall", near.generated, near, spread)


def _mean(metric: str, owners: Balls, near: Neighbourhoods, spread: tuple[int, float]) -> Score:
    k, factor = spread
    missed = owners.missed
    reason = too_small(near, k, measured=missed is not None and near.supports.spread == spread)
    covered = None if missed is None or reason else 1 - missed
    value = np.nan if covered is None else float(covered.mean())
    return read_off(near, metric, value, k, {"factor": factor}, reason=reason, per_sample=covered)


def read_clipped_density(pair: Pair, _: EstimationOptions) -> Score:
    return clipped_density_score(pair.neighbourhoods)


def read_clipped_coverage(pair: Pair, _: EstimationOptions) -> Score:
    return clipped_coverage_score(pair.neighbourhoods)


def read_probabilistic_precision(pair: Pair, _: EstimationOptions) -> Score:
    return probabilistic_precision_score(pair.neighbourhoods)


def read_probabilistic_recall(pair: Pair, _: EstimationOptions) -> Score:
    return probabilistic_recall_score(pair.neighbourhoods)


def read_cover_precision(pair: Pair, _: EstimationOptions) -> Score:
    return cover_precision_score(pair.neighbourhoods)


def read_cover_recall(pair: Pair, _: EstimationOptions) -> Score:
    return cover_recall_score(pair.neighbourhoods)
