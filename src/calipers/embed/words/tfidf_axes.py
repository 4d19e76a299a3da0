"""TF-IDF weights and their leading axes, fitted on some bags of words.

Term frequency is 1 + ln(count), inverse document frequency ln((1 + n) / (1 + df)) + 1, rows have
length one: scikit-learn's ``TfidfVectorizer(sublinear_tf=True)``. The axes are the leading right
singular vectors, as its ``TruncatedSVD`` finds them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.embed.words.tfidf_bags import Bag

LEAST_TEXTS = 2
"""A word that stands in fewer texts of the reference is unknown."""
MOST_WORDS = 50_000
"""Most words that are known: those that stand in the most texts."""
_ROUNDS, _SPARE = 4, 16
"""Power iterations of the randomised SVD, and axes that it finds beyond those that are kept."""


@dataclass(frozen=True, eq=False)
class Axes:
    """What was fitted.

    Attributes
    ----------
    idf
        Weight of each word, float64 of shape (words,); 0 for one that is unknown.
    axes
        Orthonormal rows, float64 of shape (components, words).
    """

    idf: NDArray[np.float64]
    axes: NDArray[np.float64]


def fit_axes(bags: Sequence[Bag], words: int, *, components: int) -> Axes | None:
    """Fit weights and axes.

    Parameters
    ----------
    bags
        Bags whose words are numbered below `words`.
    words
        How many words have a number.
    components
        Most axes; there are fewer than texts and known words in any case.

    Returns
    -------
    Axes or None
        None if there are not two texts and two words.
    """
    from sklearn.utils.extmath import randomized_svd

    found = np.bincount(np.concatenate([bag.words for bag in bags]), minlength=words)
    known = _known(found)
    components = min(components, len(bags) - 1, len(known) - 1)
    if components < 1:
        return None
    idf = np.zeros(words)
    idf[known] = np.log((1 + len(bags)) / (1 + found[known])) + 1
    # The start is random in the words, so that the order of the texts cannot matter
    right = randomized_svd(
        weigh(bags, idf)[:, known],
        components,
        n_oversamples=_SPARE,
        n_iter=_ROUNDS,
        power_iteration_normalizer="QR",
        transpose=False,
        random_state=0,
    )[2]
    axes = np.zeros((components, words))
    axes[:, known] = right
    return Axes(idf, axes)


def _known(found: NDArray[np.intp]) -> NDArray[np.intp]:
    """Choose the words that count, in the order of their numbers."""
    least = LEAST_TEXTS if np.count_nonzero(found >= LEAST_TEXTS) > 1 else 1
    known = np.flatnonzero(found >= least)
    if len(known) <= MOST_WORDS:
        return known
    return np.sort(known[np.argsort(-found[known], kind="stable")[:MOST_WORDS]])


def weigh(bags: Sequence[Bag], idf: NDArray[np.float64]) -> Any:
    """Give bags as rows of TF-IDF weights, each of length one or zero.

    Returns
    -------
    scipy.sparse.csr_array
        float64 of shape (bags, words).
    """
    from scipy.sparse import csr_array

    starts = np.cumsum([0, *(len(bag.words) for bag in bags)])
    words = np.concatenate([np.empty(0, np.int32), *(bag.words for bag in bags)])
    counts = np.concatenate([np.empty(0, np.int32), *(bag.counts for bag in bags)])
    weights = (1 + np.log(counts)) * idf[words]
    rows = csr_array((weights, words, starts), shape=(len(bags), len(idf)))
    lengths = np.sqrt(rows.multiply(rows).sum(axis=1))
    rows.data /= np.repeat(np.where(lengths > 0, lengths, 1), np.diff(starts))
    return rows


def common_axes(halves: Sequence[Axes]) -> list[NDArray[np.float32]]:
    """Bring the axes of both halves into one space, without changing a distance.

    A text projected on its half's axes is x·VᵀV, a row in the space of all words. All these rows
    lie in the span of both halves' axes, so they are told by their coordinates in it.

    Returns
    -------
    list of array
        For each half float32 of shape (words, sum of components): weights to coordinates.
    """
    basis = np.linalg.qr(np.concatenate([half.axes for half in halves]).T)[0]
    largest = basis[np.abs(basis).argmax(axis=0), np.arange(basis.shape[1])]
    basis *= np.where(largest < 0, -1, 1)
    return [(half.axes.T @ (half.axes @ basis)).astype(np.float32) for half in halves]
