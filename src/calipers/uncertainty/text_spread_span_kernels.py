"""The compiled loops behind the spread of copied spans: the longest without each block."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calipers.numeric.compile import kernel

Numbers = NDArray[np.int32]
Longs = NDArray[np.int64]


@kernel
def nearest_of_others(order: Numbers, own: int, blocks: Longs) -> tuple[Numbers, Numbers]:
    """Find the reference suffix next before each of a text, and the next of another block.

    -1 for none; `blocks` has the block of each token behind the first `own`.
    """
    nearest, further = np.full(own, -1, np.int32), np.full(own, -1, np.int32)
    last, other = np.int32(-1), np.int32(-1)
    for suffix in order:
        if suffix < own:
            nearest[suffix], further[suffix] = last, other
            continue
        if last >= 0 and blocks[suffix - own] != blocks[last - own]:
            other = last
        last = suffix
    return nearest, further


@kernel
def common_with_further(
    tokens: Numbers, left: Numbers, nearest: Numbers, further: Numbers, blocks: Longs
) -> Numbers:
    """Count the tokens that each suffix shares with the next one of another block.

    As long as the same block is passed over, one token further on at most one less is shared.
    """
    own = len(further)
    lengths = np.zeros(own, np.int32)
    shared, passed = 0, np.int64(-1)
    for suffix in range(own):
        beside = further[suffix]
        if beside < 0:
            shared, passed = 0, np.int64(-1)
            continue
        block = blocks[nearest[suffix] - own]
        if block != passed:
            shared, passed = 0, block
        most = min(left[suffix], left[beside])
        while shared < most and tokens[suffix + shared] == tokens[beside + shared]:
            shared += 1
        lengths[suffix] = shared
        shared = max(0, shared - 1)
    return lengths


@kernel
def longest_without(
    starts: Longs, lengths: Numbers, further: Numbers, passed: Numbers, blocks: int
) -> Numbers:
    """Find the longest span of each text without each block, shape (n, blocks).

    `lengths`, `further` and `passed` have one column for either side: the tokens shared with the
    nearest suffix, with the next of another block, and the block of the nearest.
    """
    longest = np.zeros((len(starts) - 1, blocks), np.int32)
    for text in range(len(longest)):
        for place in range(starts[text], starts[text + 1]):
            for block in range(blocks):
                for side in range(2):
                    gone = passed[place, side] == block
                    found = further[place, side] if gone else lengths[place, side]
                    longest[text, block] = max(longest[text, block], found)
    return longest
