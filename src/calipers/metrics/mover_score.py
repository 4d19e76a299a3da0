"""MoverScore and Word Mover's Distance of texts from their references, by token embeddings.

The n-grams of either text are points with mass. An n-gram lies at the mean of the unit vectors of
its tokens, weighed by their weights, and its mass is the sum of these (1 each, or the idf of a
token), so that rare words weigh more; masses are divided by their total. Word Mover's Distance is
the least total distance over which the one text's masses can be moved onto the other's,

    WMD = min over flows F of Σ F(i, j)·‖x_i − y_j‖, whose sums are the one's and the other's masses

(Kusner et al., ICML 2015, on words; Zhao et al., EMNLP 2019, section 3, equations 1 to 4, on
n-grams of contextual states), in [0, 2] for n = 1. MoverScore is 1 / (1 + WMD), as the authors'
release has it, in (0, 1]: 1 for texts whose states are the same. The transport is exact.

Unlike the greedy matching of BERTScore, mass is used up: a text that says one thing over and over
cannot be matched with all of a reference. Word order is seen only as far as states and n-grams hold
it; negations and names that were exchanged cost little.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.errors import InputError, checks_keywords
from calipers.estimate.transport import transport_cost
from calipers.metrics.bert_score import unit_side
from calipers.numeric.arrays import Floats
from calipers.numeric.validation import check_whole
from calipers.score import Score, signature

NOTHING_COUNTS = "no pair has a token that counts on both sides"


@checks_keywords
def mover_score(
    texts: Sequence[ArrayLike],
    references: Sequence[ArrayLike],
    *,
    n: int = 1,
    text_weights: Sequence[ArrayLike] | None = None,
    reference_weights: Sequence[ArrayLike] | None = None,
) -> Score:
    """Tell from token embeddings how little must be moved to turn each text into its reference.

    For texts themselves there is :func:`calipers.text.mover_score`.

    Parameters
    ----------
    texts, references
        For each pair the embeddings of its tokens, shapes (tokens, d); rows need no length 1.
    n
        Tokens of an n-gram, from 1; a text with fewer tokens is one n-gram.
    text_weights, reference_weights
        For each pair the weight of each token, 0 or more; None for 1 each. A token of weight 0 is
        left out.

    Returns
    -------
    Score
        The mean of 1 / (1 + WMD) over the pairs, with ``per_sample``, in [0, 1], higher is better;
        NaN for a pair of which a side's tokens all weigh 0.

    Raises
    ------
    InputError
        If there are no pairs, or arrays do not fit together.
    MissingExtraError
        If POT is not installed.

    Examples
    --------
    >>> one = [[1.0, 0.0], [0.0, 1.0]]
    >>> float(mover_score([one], [one]).value)
    1.0
    """
    check_whole("n", n, 1)
    if not len(texts) or len(texts) != len(references):
        raise InputError(
            "texts and references must be equally many, and at least one; "
            f"found {len(texts)} and {len(references)}"
        )
    distances = np.empty(len(texts))
    for pair in range(len(texts)):
        rows, weights = unit_side("texts", texts, text_weights, pair)
        others, other_weights = unit_side("references", references, reference_weights, pair)
        if rows.shape[1] != others.shape[1]:
            raise InputError(
                f"row {pair + 1}: the tokens of a text and of its reference must have as many "
                f"columns; found {rows.shape[1]} and {others.shape[1]}"
            )
        distances[pair] = mover_distance(rows, weights, others, other_weights, n=n)
    return summarise_mover(1 / (1 + distances), {"n_gram": n})


def mover_distance(
    text: NDArray[np.float32],
    text_weights: Floats,
    reference: NDArray[np.float32],
    reference_weights: Floats,
    *,
    n: int = 1,
) -> float:
    """Compute Word Mover's Distance of one pair; NaN if the tokens of a side all weigh 0.

    Parameters
    ----------
    text, reference
        Rows of length 1, shapes (tokens, d).
    text_weights, reference_weights
        One for each row.
    n
        Tokens of an n-gram.
    """
    from scipy.spatial.distance import cdist

    ours, masses = ngrams(text, text_weights, n)
    theirs, other_masses = ngrams(reference, reference_weights, n)
    if not len(ours) or not len(theirs):
        return np.nan
    costs = cdist(ours, theirs)
    if costs.max() == 0:
        return 0.0
    return max(0.0, transport_cost(masses, other_masses, costs))


def ngrams(rows: NDArray[np.float32], weights: Floats, n: int) -> tuple[Floats, Floats]:
    """Return the positions of a text's n-grams, shape (n-grams, d), and their normalised masses.

    Tokens of weight 0 are left out first; no n-gram remains where all are.
    """
    there: Floats = rows[weights > 0].astype(np.float64)
    weights = weights[weights > 0]
    if not len(there):
        return there, weights
    size = min(n, len(there))
    windows = np.arange(len(there) - size + 1)[:, None] + np.arange(size)
    masses = weights[windows].sum(axis=1)
    points = np.einsum("gt,gtd->gd", weights[windows], there[windows]) / masses[:, None]
    return points, masses / masses.sum()


def summarise_mover(
    values: Floats,
    pins: dict[str, object],
    *,
    reason: str | None = None,
) -> Score:
    """Average the pairs that have a value; the signature counts the others."""
    defined = ~np.isnan(values)
    missing = int(np.count_nonzero(~defined))
    undefined = {"undefined": missing} if missing else {}
    return Score(
        value=float(values[defined].mean()) if defined.any() else np.nan,
        range=(0.0, 1.0),
        signature=signature({"metric": "mover_score", **pins, **undefined, "n": len(values)}),
        reason=None if defined.any() else reason or NOTHING_COUNTS,
        per_sample=values,
    )
