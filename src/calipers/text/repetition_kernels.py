"""The compiled loops behind :mod:`calipers.text.repetition`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.jit import inlined, kernel


@kernel
def repeated_ends(
    tokens: NDArray[np.int32], starts: NDArray[np.int64], longest: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find the phrase with the most copies at each text's end: its length, and how many copies.

    The last p tokens stand z(p) // p + 1 times at the end, where z(p) is how far the text, read
    backwards, agrees with itself from place p on.
    """
    size = len(starts) - 1
    lengths, copies = np.zeros(size, np.int64), np.ones(size, np.int64)
    room = 0
    for text in range(size):
        room = max(room, starts[text + 1] - starts[text])
    agrees = np.zeros(min(room // 2, longest) + 1, np.int64)
    for text in range(size):
        mine = tokens[starts[text] : starts[text + 1]][::-1]
        reach = min(len(mine) // 2, longest)
        _agreement(mine, reach, agrees)
        for phrase in range(1, reach + 1):
            found = agrees[phrase] // phrase + 1
            if found > copies[text]:
                copies[text] = found
                lengths[text] = phrase
    return lengths, copies


@inlined
def _agreement(mine: NDArray[np.int32], reach: int, agrees: NDArray[np.int64]) -> None:
    """Fill in the Z function at the places 1 to `reach`, in linear time."""
    left, right = 0, 0
    for place in range(1, reach + 1):
        known = 0
        if place < right:
            known = min(right - place, agrees[place - left])
        while place + known < len(mine) and mine[known] == mine[place + known]:
            known += 1
        agrees[place] = known
        if place + known > right:
            left, right = place, place + known
