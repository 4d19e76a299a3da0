"""Precision–recall cover: does the other set bring enough samples where this set has many?

With k = 3 and C = 3, a sample is covered when the ball of its k' = C k = 9 nearest samples of its
own set holds at least k = 3 samples of the other set (Cheema and Urner, "Precision recall cover: a
method for assessing generative models", AISTATS 2023; the pseudocode of its appendix A.3):

- cover_precision = share of generated samples that are covered by reference samples,
- cover_recall = share of reference samples that are covered by generated samples.

This is the paper's PC of the pair (P reference, Q generated). The authors' released function counts
P's samples as precision and Q's as recall, so called with the reference first it gives these two
the other way round. Own neighbours never include the sample itself.

The scores look at the mass near each sample and not at a union of balls, so an outlier of one set
does not widen the support of the other. They do not detect how much mass is missing or in excess
up to a factor of C: a ball with 9 own samples may hold 3 or 300 of the other. Two samples of one
distribution and of one size score about 0.97, not 1; with a third as many samples on the other side
about 0.54, so sets of different sizes are not comparable.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from calipers.estimate.neighbourhoods import Balls, Distance, Neighbourhoods, Ties
from calipers.estimate.validate import check_whole
from calipers.metrics.reading import measure, share, signed, too_small
from calipers.metrics.support import PrecisionRecall
from calipers.score import Score

COVER_K = 3
COVER_FACTOR = 3


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
    """Tell which samples have enough of the other set around them.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``; taken as given.
    k
        Samples of the other set that cover a sample, at least 1.
    factor
        The paper's C: a ball spans ``factor * k`` own neighbours, at most the smaller set less
        one.
    ties
        Whether a point on the rim is inside: ``"closed"`` (the paper) or ``"open"``.
    distance
        ``"euclidean"``, or ``"cosine"``: 1 less the cosine of the angle, for rows other than 0.
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
    """
    check_whole("k", k, 1)
    balls = k * check_whole("factor", factor, 1)
    near = measure(reference, generated, k=balls, ties=ties, distance=distance, threads=threads)
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
    if reason:
        line = signed(metric, near, k, own_neighbours=balls)
        return Score(value=np.nan, signature=line, reason=reason)
    return share(metric, owners.held[:, balls - 1] >= k, near, k, own_neighbours=balls)
