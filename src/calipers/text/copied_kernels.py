"""The compiled loops behind :mod:`calipers.text.copied`: what suffixes share.

Texts come first, the references behind them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.jit import kernel

Numbers = NDArray[np.int32]


@kernel
def tokens_left(starts: NDArray[np.int64]) -> Numbers:
    """Count the tokens from each place to the end of its text."""
    left = np.empty(starts[-1], np.int32)
    for text in range(len(starts) - 1):
        for place in range(starts[text], starts[text + 1]):
            left[place] = starts[text + 1] - place
    return left


@kernel
def nearest_suffixes(order: Numbers, own: int) -> tuple[Numbers, Numbers]:
    """Find the reference suffixes next before and next behind each of a text; -1 for none."""
    before, behind = np.empty(own, np.int32), np.empty(own, np.int32)
    last = np.int32(-1)
    for suffix in order:
        if suffix < own:
            before[suffix] = last
        else:
            last = suffix
    last = np.int32(-1)
    for suffix in order[::-1]:
        if suffix < own:
            behind[suffix] = last
        else:
            last = suffix
    return before, behind


@kernel
def common_lengths(tokens: Numbers, left: Numbers, other: Numbers) -> Numbers:
    """Count the tokens that each suffix shares with the one named beside it.

    One token further on at most one less is shared (Kasai et al., CPM 2001), so every token is
    compared about twice, however long the copies are.
    """
    lengths = np.zeros(len(other), np.int32)
    shared = 0
    for suffix in range(len(other)):
        beside = other[suffix]
        if beside < 0:
            shared = 0
            continue
        most = min(left[suffix], left[beside])
        while shared < most and tokens[suffix + shared] == tokens[beside + shared]:
            shared += 1
        lengths[suffix] = shared
        shared = max(0, shared - 1)
    return lengths
