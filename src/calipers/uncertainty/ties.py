"""Ties between two scores of n samples, and the better score otherwise.

Two scores that differ by no more than :func:`tie_width` are a tie: on a range from 0 to 1 as they
are, else as a share of the larger one. It is a rule of thumb, for where no test was made.
"""

from __future__ import annotations

import math
from typing import Literal

from calipers.score import Score

NARROWEST_TIE = 0.01
"""What MAUVE moves by with the seed of k-means alone."""

ROUNDING = 1e-12
"""By how much rounding may move a difference beyond the width of a tie."""

Winner = Literal["a", "b", "tie", "unknown"]


def tie_width(n: int) -> float:
    """Return the largest difference of two scores of n samples that counts as a tie.

    The largest standard error that a share of n samples can have, 1/(2√n), and at least 0.01.

    Examples
    --------
    >>> tie_width(100), tie_width(1_000_000)
    (0.05, 0.01)
    """
    return max(NARROWEST_TIE, 0.5 / math.sqrt(n))


def merit(score: Score) -> float:
    """Return a number that is higher for the better score; NaN without a value."""
    if score.better == "closest":
        return math.nan if score.gap is None else -score.gap
    return score.value if score.better == "higher" else -score.value


def winner(a: Score, b: Score, tie: float) -> Winner:
    """Return the better of two scores; `tie` is from :func:`tie_width`.

    Returns
    -------
    str
        ``"a"``, ``"b"``, ``"tie"``, or ``"unknown"`` where one of them has no value.
    """
    x, y = merit(a), merit(b)
    if math.isnan(x) or math.isnan(y):
        return "unknown"
    if x == y or abs(x - y) <= _tolerance(a, b, tie) + ROUNDING:
        return "tie"
    return "a" if x > y else "b"


def _tolerance(a: Score, b: Score, tie: float) -> float:
    if a.range == (0.0, 1.0) and a.better != "closest":
        return tie
    sizes = [abs(x) for x in (a.value, b.value, a.reference or 0.0) if math.isfinite(x)]
    return tie * max(sizes, default=0.0)
