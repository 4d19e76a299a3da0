"""What chance alone does to shares and lengths, so that no warning comes of it; how shares read."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Z = 4.0
"""Standard errors beyond which a difference of shares is no chance: two sets of one kind cross it
once in 30,000 times, and half a dozen checks of ten systems stay quiet together. Texts come in
clusters (one author, one day's news), for which this leaves room."""

KS_FACTOR = 2.25
"""The same for the Kolmogorov-Smirnov distance: 2·exp(-2·2.25²) is a chance of 1 in 12,000."""


def beyond_chance(share: float, other: float, n: int, m: int) -> bool:
    """Tell whether one share of `n` lies above another of `m` by more than chance."""
    pooled = (n * share + m * other) / (n + m)
    error = math.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
    return share - other > Z * error


def ks_distance(ours: NDArray[np.int64], theirs: NDArray[np.int64]) -> tuple[float, int]:
    """Find where the two distributions of a length lie farthest apart.

    Returns
    -------
    distance, place
        The share of `ours` that is at most `place` long differs by `distance` (0 to 1) from the
        share of `theirs`; at no length by more (the two-sample Kolmogorov-Smirnov statistic).
    """
    places = np.unique(np.concatenate([ours, theirs]))
    gap = np.abs(_at_most(ours, places) - _at_most(theirs, places))
    where = int(np.argmax(gap))
    return float(gap[where]), int(places[where])


def _at_most(lengths: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.float64]:
    """Give the share of lengths up to each place."""
    return np.searchsorted(np.sort(lengths), places, side="right") / len(lengths)


def ks_chance(n: int, m: int) -> float:
    """Give the Kolmogorov-Smirnov distance that sets of one kind reach 1 in 12,000 times.

    Among ten texts a side no distance is beyond chance: it is 1, the largest there is.
    """
    return min(1.0, KS_FACTOR * math.sqrt(1 / n + 1 / m))


def percent(share: float) -> str:
    """Write a share for a sentence: ``0 %``, ``0.3 %``, ``12 %``, and never 0 or 100 too early."""
    if share in (0.0, 1.0):
        return f"{share:.0%}".replace("%", " %")
    digits = 1 if share < 0.0995 or share > 0.995 else 0
    text = f"{100 * share:.{digits}f}"
    if text == "0.0":
        return "under 0.1 %"
    return "over 99.9 %" if text == "100.0" else f"{text} %"
