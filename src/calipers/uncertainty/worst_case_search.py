"""A low corner by descent from many starts: for boxes with too many corners to try them all."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from calipers.uncertainty.worst_case_corners import Corners, Signs, Whole

STARTS = 256
FEWEST = 8
WORK = 2_000_000
"""Products of two signs that are looked at in a step, over all starts."""


def search(corners: Corners, seed: int) -> Signs:
    """Find a corner that no change of one sign lowers, the lowest of many such.

    Changes are judged by the numerator, which ties do not enter; the corners that they end in, by
    the correlation.
    """
    n = len(corners.low)
    starts = max(FEWEST, min(STARTS, WORK // n**2))
    high = np.random.default_rng(seed).random((starts, n)) < 0.5
    high[0], high[1] = False, corners.linear + corners.coupling.sum(axis=1) / 2 < 0
    b = high.astype(np.int64)
    while _turn(corners, b):
        pass
    # The starts too: all descents may end where all scores are tied, and nothing correlates
    ends = np.unique(np.concatenate([high, b == 1]), axis=0)
    return lowest(corners, ends)


def lowest(corners: Corners, ends: Iterable[Signs]) -> Signs:
    """Pick the corner of the lowest correlation; one that has none comes last."""
    return min(ends, key=lambda end: np.nan_to_num(corners.correlation(end), nan=np.inf))


def _turn(corners: Corners, b: Whole) -> bool:
    """Turn the best sign of each start, where one lowers the numerator; tell whether any did."""
    gains = (1 - 2 * b) * (corners.linear + _product(b, corners.coupling))
    best = gains.argmin(axis=1)
    rows = np.flatnonzero(np.take_along_axis(gains, best[:, None], axis=1)[:, 0] < 0)
    b[rows, best[rows]] ^= 1
    return bool(rows.size)


def _product(b: Whole, coupling: Whole) -> Whole:
    """Multiply whole numbers as floats, which is much faster and exact below 2**53."""
    product = b.astype(np.float64) @ coupling.astype(np.float64)
    return product.astype(np.int64)
