"""Probabilistic precision and recall: how likely each sample lies in the other set's support.

A sample x supports its surroundings with probability 1 − d/R up to distance R and 0 beyond; the
supports of different samples are independent, so

    P-precision = mean over generated y of 1 − Π over reference x with d(x, y) ≤ R of d(x, y) / R,
    R = 1.2 × the mean distance of a reference sample to its 4th nearest other reference sample

(Park and Kim, "Probabilistic precision and recall towards reliable evaluation of generative
models", ICCV 2023, with the release's constants). P-recall is the same with the sides swapped, so
its R comes from the generated set. With one radius for all samples, one outlier cannot blow up the
support, as it can for the k-NN balls of precision and recall.

Distances come from float32 products here, except where these cancel: values of single samples are
good to about 1e-6.

It does not detect how the mass is spread inside the support. Where densities differ much, or in
high dimensions, one R is too large for dense regions (everything there scores 1) and too small for
sparse ones (nothing does): modes of another scale are missed, even for equal distributions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from calipers.estimate.balls import check_factor
from calipers.estimate.neighbourhoods import Balls, Distance, Neighbourhoods, Supports
from calipers.metrics.reading import measure, signed, too_small
from calipers.metrics.support import PrecisionRecall
from calipers.score import Score

SPREAD = (4, 1.2)


def probabilistic_precision_recall(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    k: int = SPREAD[0],
    factor: float = SPREAD[1],
    distance: Distance = "euclidean",
    threads: int | None = None,
) -> PrecisionRecall:
    """Tell quality and diversity by supports that fade out with the distance.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``; taken as given.
    k
        The neighbour whose mean distance sets the radius, from 1 to the smaller set less one.
    factor
        The radius over that mean distance, above 0.
    distance
        ``"euclidean"``, or ``"cosine"``: 1 less the cosine of the angle, for rows other than 0.
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
    near = measure(reference, generated, k=k, distance=distance, supports=supports, threads=threads)
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
    each = None if missed is None or reason else 1 - missed
    return Score(
        value=np.nan if each is None else float(each.mean()),
        signature=signed(metric, near, k, factor=factor),
        reason=reason,
        per_sample=each,
    )
