"""BERTScore from token embeddings: greedy matching of the tokens of two texts.

With unit vectors y_j for the tokens of a generated text and x_i for those of its reference, and
weights w (1, or the token's idf), as Zhang et al. (ICLR 2020, section 3) define it, and as paper
003 has it:

- precision P = sum_j w(y_j) max_i x_i.y_j / sum_j w(y_j): is what was written in the reference?
- recall    R = sum_i w(x_i) max_j x_i.y_j / sum_i w(x_i): is what the reference says there?
- F1 = 2 P R / (P + R).

A token whose cosines are all below 0 counts 0, which the papers leave open: so P, R and F1 lie in
[0, 1]. bert-score has the same wherever a batch holds a longer text, since a token may then match
padding, with 0; only the longest text of a batch can get a negative value there.

Of several references the best counts, for P, R and F1 each by itself. With idf the weight of a
token is log((M + 1) / (df + 1)), where df of the M references hold it; the +1 lets a token that
none of them holds have a weight, log(M + 1).

Matching is greedy, so word order is seen only as far as the embeddings hold it, one token may
serve many, and negations and names that were exchanged cost little.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.brief import Brief
from calipers.errors import InputError, checks_keywords
from calipers.numeric.arrays import Floats
from calipers.numeric.validation import check_points
from calipers.score import Score, signature

PARTS = ("precision", "recall", "f1")


@dataclass(frozen=True)
class BertScore(Brief):
    """Precision, recall and F1 of texts and their references, by matched tokens."""

    precision: Score
    recall: Score
    f1: Score


@checks_keywords
def bert_score(
    texts: Sequence[ArrayLike],
    references: Sequence[ArrayLike],
    *,
    text_weights: Sequence[ArrayLike] | None = None,
    reference_weights: Sequence[ArrayLike] | None = None,
) -> BertScore:
    """Tell from token embeddings how well each text matches its reference.

    For texts themselves there is :func:`calipers.text.bert_score`.

    Parameters
    ----------
    texts, references
        For each pair the embeddings of its tokens, shapes (tokens, d); rows need no length 1.
    text_weights, reference_weights
        For each pair the weight of each token, 0 or more; None for 1 each. Marks that stand for
        no word, such as [CLS], usually have 0: they may be matched, but count for nothing.

    Returns
    -------
    BertScore
        Means over the pairs, each with ``per_sample``, in [0, 1], higher is better; NaN for a pair
        whose tokens all weigh 0.

    Raises
    ------
    InputError
        If there are no pairs, or arrays do not fit together.

    Examples
    --------
    >>> found = bert_score([[[1.0, 0.0], [0.0, 1.0]]], [[[1.0, 0.0]]])
    >>> found.precision.value, found.recall.value
    (0.5, 1.0)
    """
    if not len(texts) or len(texts) != len(references):
        raise InputError(
            "texts and references must be equally many, and at least one; "
            f"found {len(texts)} and {len(references)}"
        )
    scores = np.empty((len(texts), 2))
    for pair in range(len(texts)):
        rows, side_weights = unit_side("texts", texts, text_weights, pair)
        others, weights = unit_side("references", references, reference_weights, pair)
        if rows.shape[1] != others.shape[1]:
            raise InputError(
                f"row {pair + 1}: the tokens of a text and of its reference must have as many "
                f"columns; found {rows.shape[1]} and {others.shape[1]}"
            )
        scores[pair] = match(rows, side_weights, others, weights)
    return summarise(with_f1(scores), {})


def match(
    text: NDArray[np.float32],
    text_weights: Floats,
    reference: NDArray[np.float32],
    reference_weights: Floats,
) -> tuple[float, float]:
    """Compute precision and recall of one pair; NaN for a side whose tokens all weigh 0.

    Parameters
    ----------
    text, reference
        Rows of length 1, shapes (tokens, d).
    text_weights, reference_weights
        One for each row.
    """
    cosines = text @ reference.T
    return _mean(cosines.max(axis=1), text_weights), _mean(cosines.max(axis=0), reference_weights)


def with_f1(scores: Floats) -> Floats:
    """Add the harmonic mean to precision and recall, shape (pairs, 2) to (pairs, 3)."""
    precision, recall = scores.T
    total = precision + recall
    with np.errstate(invalid="ignore", divide="ignore"):
        f1 = np.where(total == 0, 0.0, 2 * precision * recall / total)
    return np.column_stack([scores, f1])


def best(scores: Floats) -> Floats:
    """Take the best value over several references, separately for each part.

    Parameters
    ----------
    scores
        Shape (n, references, 3), NaN where a pair has no value.

    Returns
    -------
    array
        Shape (n, 3), NaN where no reference gives a value.
    """
    highest = np.where(np.isnan(scores), -np.inf, scores).max(axis=1)
    return np.where(np.isneginf(highest), np.nan, highest)


def idf(references: Iterable[NDArray[np.int32]], size: int) -> Floats:
    """Weigh tokens by the number of references that contain them: log((M + 1) / (df + 1)).

    Parameters
    ----------
    references
        The tokens of each of the M references, each token below `size`.
    size
        How many different tokens there may be.

    Returns
    -------
    array
        Shape (size,); log(M + 1) for a token that no reference holds.
    """
    documents, holders = 0, np.zeros(size)
    for ids in references:
        holders[ids] += 1  # once for a token that stands there several times
        documents += 1
    return np.log((documents + 1) / (holders + 1))


def rescale(scores: Floats, baseline: Floats) -> Floats:
    """Map the value of unrelated texts to 0 and keep 1: (x - b) / (1 - b)."""
    return (scores - baseline) / (1 - baseline)


def summarise(
    scores: Floats,
    pins: Mapping[str, object],
    *,
    lowest: Sequence[float] = (0.0, 0.0, 0.0),
    reason: str = "no pair has a token that counts on both sides",
) -> BertScore:
    """Average the pairs that have a value; the signature counts the others.

    Parameters
    ----------
    scores
        Shape (n, 3), in the order of `PARTS`.
    pins
        The choices behind it.
    lowest
        The smallest value of each part.
    reason
        Why a part is NaN, where no pair has a value.
    """
    columns = zip(PARTS, scores.T, lowest, strict=True)
    return BertScore(*(_score(part, values, pins, low, reason) for part, values, low in columns))


def _score(
    part: str, values: Floats, pins: Mapping[str, object], lowest: float, reason: str
) -> Score:
    defined = ~np.isnan(values)
    missing = int(np.count_nonzero(~defined))
    undefined = {"undefined": missing} if missing else {}
    return Score(
        value=float(values[defined].mean()) if defined.any() else np.nan,
        range=(lowest, 1.0),
        signature=signature(
            {"metric": "bert_score", "part": part, **pins, **undefined, "n": len(values)}
        ),
        reason=None if defined.any() else reason,
        per_sample=values,
    )


def _mean(best: NDArray[np.float32], weights: Floats) -> float:
    total = weights.sum()
    # A cosine of rounded rows may also come out a little above 1
    return float(np.clip(best, 0.0, 1.0).astype(np.float64) @ weights / total) if total else np.nan


def unit_side(
    name: str, sets: Sequence[ArrayLike], weights: Sequence[ArrayLike] | None, pair: int
) -> tuple[NDArray[np.float32], Floats]:
    """Return the unit rows of one side of a pair, and their weights."""
    rows = check_points(sets[pair], f"{name}: row {pair + 1}")
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    unit = np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)
    row_weights = (
        np.ones(len(rows)) if weights is None else np.asarray(weights[pair], dtype=np.float64)
    )
    if (
        row_weights.shape != (len(rows),)
        or not (np.isfinite(row_weights) & (row_weights >= 0)).all()
    ):
        raise InputError(
            f"the weights of {name}: row {pair + 1} must be {len(rows)} finite number(s), 0 or more"
        )
    return unit, row_weights
