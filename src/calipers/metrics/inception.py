"""Inception score: do samples belong to clear classes, and to many? From class probabilities.

IS = exp(E_y KL(p(class|y) ‖ p(class))), p(class) the mean over the samples (Salimans et al.,
NeurIPS 2016; Sajjadi et al., NeurIPS 2018, section 2).

What it does not detect: anything about the reference, which it never sees: a set of one perfect
image of every class scores best, classes that the reference lacks raise it, and variety within a
class does not count. It grows with the number of samples in a split.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from calipers.errors import InputError, checks_keywords
from calipers.numeric.arrays import Floats
from calipers.numeric.validation import check_points, check_whole
from calipers.score import Score, signature

TOLERANCE = 1e-3


@checks_keywords
def inception_score(probabilities: ArrayLike, *, splits: int = 1) -> Score:
    """Tell whether a classifier is sure of each generated sample, and finds all classes.

    Parameters
    ----------
    probabilities
        Class probabilities of the generated samples, shape ``(m, classes)``; every row sums to 1
        within 1e-3, and is brought to it exactly.
    splits
        Number of consecutive parts of (nearly) equal size; the score is the
        mean of the parts. The authors take 10; the order of the rows then matters.

    Returns
    -------
    Score
        From 1 to the number of classes, higher is better; its ``seeds`` hold the value of every
        part where there are several.

    Raises
    ------
    InputError
        If it is not an array, is not finite, holds negative numbers, has rows that do not sum to 1,
        or has fewer rows than `splits`.

    Examples
    --------
    >>> round(inception_score([[1.0, 0.0], [0.0, 1.0]]).value, 9)
    2.0
    """
    check_whole("splits", splits, 1)
    shares = _check(probabilities)
    m, classes = shares.shape
    if splits > m:
        raise InputError(f"splits must be at most the {m} rows; found {splits}")
    values = [_score(part) for part in np.array_split(shares, splits)]
    pins = {"metric": "inception_score", "splits": splits, "m": m, "classes": classes}
    return Score(
        value=float(np.mean(values)),
        range=(1.0, float(classes)),
        signature=signature(pins),
        seeds=tuple(values) if splits > 1 else (),
    )


def _score(shares: Floats) -> float:
    marginal = shares.mean(axis=0)
    # A share of 0 adds nothing, nor does one so small that the mean is rounded to 0
    counted = (shares > 0) & (marginal > 0)
    ratio = np.divide(shares, marginal, out=np.ones_like(shares), where=counted)
    gain = float(np.sum(shares * np.log(ratio), axis=1).mean())
    return float(np.clip(np.exp(gain), 1.0, shares.shape[1]))


def _check(probabilities: ArrayLike) -> Floats:
    shares = check_points(probabilities, "probabilities").astype(np.float64)
    if (shares < 0).any():
        row, column = np.argwhere(shares < 0)[0]
        raise InputError(
            "probabilities must not be negative; "
            f"row {row + 1} (counted from 1) holds {shares[row, column]:g}"
        )
    sums = shares.sum(axis=1)
    wrong = np.flatnonzero(np.abs(sums - 1) > TOLERANCE)
    if len(wrong):
        raise InputError(
            f"every row of probabilities must sum to 1 (within {TOLERANCE:g}); "
            f"row {wrong[0] + 1} (counted from 1) sums to {sums[wrong[0]]:g}"
        )
    shares /= sums[:, None]
    return shares
