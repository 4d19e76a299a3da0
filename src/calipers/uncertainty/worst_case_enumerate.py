"""All corners of a box at once: each further system doubles the table by one addition."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calipers.uncertainty.worst_case_corners import Corners, Signs, Whole


def enumerate_corners(corners: Corners) -> Signs | None:
    """Find the corner of the lowest correlation, ties of scores included.

    Returns None where all scores are equal at every corner. Takes time and memory in proportion to
    2 to the power of the coupled systems.
    """
    free = np.flatnonzero(corners.coupled)
    high = corners.alone()
    numerators = corners.numerator(high) + double(
        corners.linear[free], corners.coupling[free][:, free]
    )
    spreads = _spreads(corners, free)
    if not spreads.any():
        return None
    # The truth's spread is the same at all corners, so it can stay out
    ratios = np.full(len(numerators), np.inf)
    np.divide(numerators, np.sqrt(spreads), out=ratios, where=spreads > 0)
    high[free] = (int(ratios.argmin()) >> np.arange(len(free))) & 1 == 1
    return high


def double(linear: Whole, coupling: Whole) -> Whole:
    """Give linear·b + ½ bᵀ·coupling·b for all b, shape ``(2**k,)``; bit i of the place is b_i."""
    table = np.zeros(1, dtype=np.int64)
    for i, step in enumerate(linear):
        table = np.concatenate([table, table + added(int(step), coupling[i, :i])])
    return table


def added(step: int, weights: Whole) -> Whole:
    """Give step + weights·b for all b, shape ``(2**k,)``."""
    table = np.array([step], dtype=np.int64)
    for weight in weights:
        table = np.concatenate([table, table + weight])
    return table


def _spreads(corners: Corners, free: NDArray[np.intp]) -> Whole:
    """Give n³ − n less m³ − m for each m tied scores, at all corners."""
    n = len(corners.low)
    spreads = np.full(2 ** len(free), n**3 - n, dtype=np.int64)
    fixed = np.delete(corners.low, free)
    lost = np.arange(n + 1) ** 3 - np.arange(n + 1)
    for place in corners.shared:
        here = corners.low[free] == place
        weights = (corners.high[free] == place).astype(np.int64) - here
        count = added(int((fixed == place).sum() + here.sum()), weights)
        spreads -= lost[count]
    return spreads
