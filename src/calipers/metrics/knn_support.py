"""Support metrics of k-NN balls: does each sample lie in the support of the other set?

With the ball B_k around every sample, as far as its k-th nearest other sample of its own set:

- precision = share of generated rows inside a reference ball, recall = share of reference rows
  inside a generated ball (Kynkäänniemi et al., NeurIPS 2019, equations 1–2; paper 000, section 3);
- density = reference balls around a generated row, over k; coverage = share of reference rows
  whose ball holds a generated row (Naeem et al., ICML 2020, equations 3–4);
- realism = how deep inside the reference's support one generated sample y lies,
  R(y) = max over reference x of r_k(x) / d(x, y), over the half of the reference balls whose radius
  is at most the median (Kynkäänniemi et al., section 5, equation 3); at least 1 inside one of them.

:func:`support` gives the first four from one pass over the distances; with ``ties="open"`` the
values equal those of prdc. The paper prunes the wide half of the balls for realism, since they
stretch over regions where samples are sparse; the authors' released code takes all balls and adds
1e-5 to the distance, so its values are larger and finite. The paper uses k = 3 and gives values for
single samples only; the score here is their median.

What they do not detect: how the mass is spread inside the support. One outlier with a large ball
can make it too wide, and coverage falls when there are fewer generated rows, whatever their
distribution. Recall may rise where samples of a worse model are mixed in, whose balls are wide;
coverage, of which the balls are the reference's, falls (docs/experiments.md). Realism does not see
missing variety: the same good sample, many times over, scores high, and exact copies of the
reference score without bound. Like every ratio of distances it comes close to 1 for all samples in
high dimensions, and samples in the sparse half of the reference never score high.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from calipers.catalogue.settings import Distance, Ties
from calipers.errors import checks_keywords
from calipers.estimate.knn.balls import Supports
from calipers.estimate.knn.neighbourhoods import Neighbourhoods, neighbourhoods
from calipers.metrics.reading import read_off, share, too_small
from calipers.score import Score

if TYPE_CHECKING:
    from calipers.catalogue.estimation import EstimationOptions
    from calipers.metrics.pair import Pair


@dataclass(frozen=True)
class PrecisionRecall:
    """Precision and recall: how good samples are, and how much of the reference they cover."""

    precision: Score
    recall: Score


@dataclass(frozen=True)
class DensityCoverage:
    """Density and coverage of the generated samples by k-NN balls of the reference."""

    density: Score
    coverage: Score


@dataclass(frozen=True)
class SupportScores:
    """Precision, recall, density and coverage of the same k-NN balls."""

    precision: Score
    recall: Score
    density: Score
    coverage: Score


@checks_keywords
def support(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    k: int = 4,
    ties: Ties = "closed",
    distance: Distance = "euclidean",
    threads: int | None = None,
) -> SupportScores:
    """Measure precision, recall, density and coverage in one pass over the distances.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``; taken as given, nothing is normalised.
    k
        The k of the k-NN balls, from 1 to the smaller set minus one.
    ties
        Whether a point on the boundary is inside: ``"closed"`` (the papers) or ``"open"`` (prdc).
    distance
        ``"euclidean"``, or ``"cosine"``: 1 minus the cosine of the angle, for rows other than 0.
    threads
        Number of threads (default: all cores); no effect on the values.

    Returns
    -------
    SupportScores
        The scores of :func:`precision_recall` and :func:`density_coverage`. Higher is better; all
        lie in [0, 1] but density, which may exceed 1.

    Raises
    ------
    InputError
        If the arrays do not fit together, are not finite, or are too small for k.

    Examples
    --------
    >>> reference = [[0.0], [1.0], [2.0], [3.0]]
    >>> generated = [[0.5], [1.5], [9.0], [10.0]]
    >>> scores = support(reference, generated, k=1)
    >>> scores.precision.value, scores.recall.value
    (0.5, 0.75)
    >>> scores.density.value, scores.coverage.value
    (1.0, 0.75)
    """
    near = neighbourhoods(reference, generated, k=k, ties=ties, distance=distance, threads=threads)
    return SupportScores(
        precision=precision_score(near, k),
        recall=recall_score(near, k),
        density=density_score(near, k),
        coverage=coverage_score(near, k),
    )


@checks_keywords
def precision_recall(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    k: int = 4,
    ties: Ties = "closed",
    distance: Distance = "euclidean",
    threads: int | None = None,
) -> PrecisionRecall:
    """Tell how good (precision) and how diverse (recall) generated samples are.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``; taken as given, nothing is normalised.
    k
        The k of the k-NN balls, from 1 to the smaller set minus one.
    ties
        Whether a point on the boundary is inside: ``"closed"`` (the papers) or ``"open"`` (prdc).
    distance
        ``"euclidean"``, or ``"cosine"``: 1 minus the cosine of the angle, for rows other than 0.
    threads
        Number of threads (default: all cores); no effect on the values.

    Returns
    -------
    PrecisionRecall
        Scores in [0, 1], higher is better. ``precision.per_sample`` tells for every generated row
        whether it is inside, ``recall.per_sample`` for every reference row whether it is covered.

    Raises
    ------
    InputError
        If the arrays do not fit together, are not finite, or are too small for k.

    Examples
    --------
    >>> reference = [[0.0], [1.0], [2.0], [3.0]]
    >>> generated = [[0.5], [1.5], [9.0], [10.0]]
    >>> scores = precision_recall(reference, generated, k=1)
    >>> scores.precision.value, scores.recall.value
    (0.5, 0.75)
    """
    near = support(reference, generated, k=k, ties=ties, distance=distance, threads=threads)
    return PrecisionRecall(near.precision, near.recall)


@checks_keywords
def density_coverage(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    k: int = 4,
    ties: Ties = "closed",
    distance: Distance = "euclidean",
    threads: int | None = None,
) -> DensityCoverage:
    """Tell how densely the reference surrounds generated samples, and how much of it they cover.

    Parameters
    ----------
    reference, generated, k, ties, distance, threads
        As for :func:`precision_recall`.

    Returns
    -------
    DensityCoverage
        Density is at least 0 and may exceed 1; coverage lies in [0, 1]. Higher is better.
        ``density.per_sample`` gives the balls around every generated row over k,
        ``coverage.per_sample`` whether the ball of every reference row holds a generated one.

    Raises
    ------
    InputError
        If the arrays do not fit together, are not finite, or are too small for k.

    Examples
    --------
    >>> reference = [[0.0], [1.0], [2.0], [3.0]]
    >>> generated = [[0.5], [1.5], [9.0], [10.0]]
    >>> scores = density_coverage(reference, generated, k=1)
    >>> scores.density.value, scores.coverage.value
    (1.0, 0.75)
    """
    near = support(reference, generated, k=k, ties=ties, distance=distance, threads=threads)
    return DensityCoverage(near.density, near.coverage)


def precision_score(near: Neighbourhoods, k: int) -> Score:
    """Share of generated rows that lie in a reference ball."""
    return share(near, "precision", near.reference.inside[:, k - 1] > 0, k)


def recall_score(near: Neighbourhoods, k: int) -> Score:
    """Share of reference rows that lie in a generated ball."""
    return share(near, "recall", near.generated.inside[:, k - 1] > 0, k)


def coverage_score(near: Neighbourhoods, k: int) -> Score:
    """Share of reference rows whose own ball holds a generated row."""
    return share(near, "coverage", near.reference.held[:, k - 1] > 0, k)


def density_score(near: Neighbourhoods, k: int) -> Score:
    """Mean number of reference balls around a generated row, over k."""
    balls = near.reference.inside[:, k - 1]
    total = int(balls.sum(dtype=np.int64))
    return read_off(near, "density", float(total / (k * len(balls))), k, per_sample=balls / k)


@checks_keywords
def realism(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    k: int = 4,
    distance: Distance = "euclidean",
    threads: int | None = None,
) -> Score:
    """Tell how realistic each generated sample is.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``; taken as given.
    k
        The k of the k-NN balls, from 1 to the smaller set minus one.
    distance
        ``"euclidean"``, or ``"cosine"``: 1 minus the cosine of the angle, for rows other than 0.
    threads
        Number of threads (default: all cores); no effect on the values.

    Returns
    -------
    Score
        The median over the generated samples, above 0, higher is better; infinite with a reason
        where it falls on exact copies. ``per_sample`` holds the realism of every generated sample,
        shape ``(m,)``, float64: at least 1 inside the support, infinite for exact copies.

    Raises
    ------
    InputError
        If the arrays do not fit together, are not finite, or are too small for k.

    Examples
    --------
    >>> realism([[0.0], [1.0], [3.0]], [[0.5], [5.0]], k=1).per_sample.tolist()
    [2.0, 0.25]
    """
    supports = Supports(smaller=k)
    near = neighbourhoods(
        reference, generated, k=k, distance=distance, supports=supports, threads=threads
    )
    return realism_score(near, k)


def realism_score(near: Neighbourhoods, k: int) -> Score:
    """Median realism of the generated rows."""
    per_row = near.reference.realism
    reason = too_small(near, k, measured=per_row is not None and near.supports.smaller == k)
    value = np.nan if per_row is None or reason else float(np.median(per_row))
    if np.isposinf(value):
        reason = "at least half of the generated samples are exact copies of reference samples"
    pins = {"radii": "up_to_median", "summary": "median"}
    return read_off(near, "realism", value, k, pins, reason=reason, per_sample=per_row)


def read_precision(pair: Pair, _: EstimationOptions) -> Score:
    return precision_score(pair.neighbourhoods, pair.settings.k)


def read_recall(pair: Pair, _: EstimationOptions) -> Score:
    return recall_score(pair.neighbourhoods, pair.settings.k)


def read_density(pair: Pair, _: EstimationOptions) -> Score:
    return density_score(pair.neighbourhoods, pair.settings.k)


def read_coverage(pair: Pair, _: EstimationOptions) -> Score:
    return coverage_score(pair.neighbourhoods, pair.settings.k)


def read_realism(pair: Pair, _: EstimationOptions) -> Score:
    return realism_score(pair.neighbourhoods, pair.settings.k)
