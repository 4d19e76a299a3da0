"""Cross-entropies by nearest neighbours: fidelity, coverage, and the reference's entropy.

With densities from the distance to the k-th nearest neighbour (Fox, Swarup and Adiga, "A unifying
information-theoretic perspective on evaluating generative models", AAAI 2025, arXiv 2412.14340; the
estimators of Kozachenko and Leonenko, 1987, and of Wang, Kulkarni and Verdú, 2009), in nats,

    information(y) = log N - ψ(k) + log V_d + d log r

is an estimate of the negative log density at y, r the distance to the k-th nearest of N rows, V_d
the volume of the unit ball in d dimensions, the columns of the rows; and

- precision cross-entropy H(Q, P) is its mean over generated rows, among the n reference rows;
- recall cross-entropy H(P, Q) its mean over reference rows, among the m generated rows;
- recall entropy H(P) its mean over reference rows, among the n - 1 other reference rows.

H(Q, P) is high where generated samples lie where the reference has hardly any (fidelity),
H(P, Q) where reference samples lie where the system generates hardly any (a lost mode); H(P, Q)
less H(P) is an estimate of the Kullback-Leibler divergence of the two. Each row's own term is in
``per_sample``, so modes that are lost can be read from it.

What they do not detect: a single distance of 0, a copy, makes the mean -∞; H(Q, P) is low for one
good sample over and over. In many dimensions values are large and rest on d, so compare them in one
space and at one d, and at equal n and m, since the bias falls slowly with both.
"""

from __future__ import annotations

from math import lgamma, log, pi
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma

from calipers.catalogue.settings import Distance
from calipers.errors import checks_keywords
from calipers.estimate.knn.balls import Supports
from calipers.estimate.knn.neighbourhoods import Neighbourhoods, neighbourhoods
from calipers.metrics.reading import read_off, too_small
from calipers.numeric.arrays import Floats
from calipers.score import Score

if TYPE_CHECKING:
    from calipers.catalogue.estimation import EstimationOptions
    from calipers.metrics.pair import Pair

Entropy = Literal["precision_cross_entropy", "recall_cross_entropy", "recall_entropy"]


@checks_keywords
def precision_cross_entropy(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    k: int = 4,
    distance: Distance = "euclidean",
    threads: int | None = None,
) -> Score:
    """Tell how improbable generated samples are under the reference: lower is more faithful.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``; taken as given, nothing is normalised.
    k
        Which nearest neighbour, from 1 to the smaller set minus one.
    distance
        ``"euclidean"``, or ``"cosine"``: of rows scaled to length one.
    threads
        Number of threads (default: all cores); no effect on the values.

    Returns
    -------
    Score
        H(Q, P) in nats, any real number, lower is better; -∞ with a reason where a generated
        sample has k exact copies in the reference. ``per_sample`` holds each generated row's term.

    Raises
    ------
    InputError
        If the arrays do not fit together, are not finite, or are too small for k.

    Examples
    --------
    >>> reference, generated = [[0.0], [1.0], [2.0], [3.0]], [[0.5], [1.5], [2.5]]
    >>> round(precision_cross_entropy(reference, generated, k=1).value, 4)
    1.9635
    """
    near, d = _measure(reference, generated, k, distance, threads)
    return precision_cross_entropy_score(near, k, d)


@checks_keywords
def recall_cross_entropy(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    k: int = 4,
    distance: Distance = "euclidean",
    threads: int | None = None,
) -> Score:
    """Tell how improbable the reference is under the generated set: lower covers more.

    Parameters, results and errors are those of :func:`precision_cross_entropy`; the value is
    H(P, Q), and ``per_sample`` holds each reference row's term.

    Examples
    --------
    >>> reference = [[0.0], [1.0], [2.0], [3.0]]
    >>> generated = [[0.5], [1.5], [9.0], [10.0]]
    >>> round(recall_cross_entropy(reference, generated, k=1).value, 4)
    2.2382
    """
    near, d = _measure(reference, generated, k, distance, threads)
    return recall_cross_entropy_score(near, k, d)


@checks_keywords
def recall_entropy(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    k: int = 4,
    distance: Distance = "euclidean",
    threads: int | None = None,
) -> Score:
    """Tell how spread out the reference is: the lowest expected recall cross-entropy.

    Parameters, results and errors are those of :func:`precision_cross_entropy`; the value is
    H(P), of the reference alone, and ``per_sample`` holds each reference row's term.

    Examples
    --------
    >>> reference = [[0.0], [1.0], [2.0], [3.0]]
    >>> generated = [[0.5], [1.5], [9.0], [10.0]]
    >>> round(recall_entropy(reference, generated, k=1).value, 4)
    2.369
    """
    near, d = _measure(reference, generated, k, distance, threads)
    return recall_entropy_score(near, k, d)


def precision_cross_entropy_score(near: Neighbourhoods, k: int, d: int) -> Score:
    """H(Q, P) from the distances of generated rows to reference rows."""
    count = len(near.reference.radii)
    return _score("precision_cross_entropy", near, near.reference.across, count, k, d)


def recall_cross_entropy_score(near: Neighbourhoods, k: int, d: int) -> Score:
    """H(P, Q) from the distances of reference rows to generated rows."""
    count = len(near.generated.radii)
    return _score("recall_cross_entropy", near, near.generated.across, count, k, d)


def recall_entropy_score(near: Neighbourhoods, k: int, d: int) -> Score:
    """H(P) from the distances of reference rows to other reference rows."""
    distances = near.reference.radii[:, k - 1]
    return _score("recall_entropy", near, distances, len(distances) - 1, k, d)


def read_precision_cross_entropy(pair: Pair, _: EstimationOptions) -> Score:
    """Read the score from a pair, for the catalogue."""
    return precision_cross_entropy_score(pair.neighbourhoods, pair.settings.k, _dimensions(pair))


def read_recall_cross_entropy(pair: Pair, _: EstimationOptions) -> Score:
    """Read the score from a pair, for the catalogue."""
    return recall_cross_entropy_score(pair.neighbourhoods, pair.settings.k, _dimensions(pair))


def read_recall_entropy(pair: Pair, _: EstimationOptions) -> Score:
    """Read the score from a pair, for the catalogue."""
    return recall_entropy_score(pair.neighbourhoods, pair.settings.k, _dimensions(pair))


def _dimensions(pair: Pair) -> int:
    return int(pair.reference.shape[1])


def _measure(
    reference: ArrayLike, generated: ArrayLike, k: int, distance: Distance, threads: int | None
) -> tuple[Neighbourhoods, int]:
    near = neighbourhoods(
        reference,
        generated,
        k=k,
        distance=distance,
        supports=Supports(across=True),
        threads=threads,
    )
    return near, np.shape(reference)[1]


def _score(
    metric: Entropy,
    near: Neighbourhoods,
    distances: Floats | None,
    count: int,
    k: int,
    d: int,
) -> Score:
    reason = too_small(near, k, measured=distances is not None)
    terms = None
    if distances is not None:
        # Of rows of length one, whose squared distance is twice the cosine distance
        lengths = np.sqrt(2 * distances) if near.distance == "cosine" else distances
        terms = information(lengths, count, k, d)
        if zeros := int(np.count_nonzero(lengths == 0)):
            reason = f"{zeros} sample(s) with their nearest neighbours at distance 0 (exact copies)"
    value = np.nan if terms is None else float(terms.mean())
    return read_off(
        near,
        metric,
        value,
        k,
        {"d": d},
        reason=reason,
        per_sample=terms,
        reference=value if metric == "recall_entropy" else None,  # it is of the reference alone
    )


def information(distances: Floats, count: int, k: int, d: int) -> Floats:
    """Estimate -log density at each row from the distance to the k-th nearest of `count` rows.

    Parameters
    ----------
    distances
        Shape ``(n,)``.
    count, k, d
        Rows that neighbours were looked for among, which of them, and the dimensions.

    Returns
    -------
    array
        In nats, shape ``(n,)``; -∞ at distance 0.
    """
    volume = d / 2 * log(pi) - lgamma(d / 2 + 1)
    with np.errstate(divide="ignore"):
        terms: Floats = log(count) - digamma(k) + volume + d * np.log(distances)
    return terms
