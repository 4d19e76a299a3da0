"""The compiled loops behind the n-gram kernel: how many n-grams two texts share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.jit import inlined, kernel


@kernel
def texts_of(
    ids: NDArray[np.int32], starts: NDArray[np.int64], size: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Turn the n-grams of each text into the texts of each n-gram, ascending."""
    ends = np.zeros(size + 1, np.int64)
    for place in range(len(ids)):
        ends[ids[place] + 1] += 1
    for each in range(size):
        ends[each + 1] += ends[each]
    free = ends[:-1].copy()
    texts = np.empty(len(ids), np.int32)
    for text in range(len(starts) - 1):
        for place in range(starts[text], starts[text + 1]):
            texts[free[ids[place]]] = text
            free[ids[place]] += 1
    return texts, ends


@kernel
def count_shared(
    ids: Any, starts: Any, texts: Any, ends: Any, rows: Any, columns: Any, shared: Any
) -> None:
    """Count the different n-grams that texts share, by going from each n-gram to its texts."""
    for row in range(rows[0], rows[1]):
        for place in range(starts[row], starts[row + 1]):
            each = ids[place]
            reached = _first(texts, ends[each], ends[each + 1], columns[0])
            while reached < ends[each + 1] and texts[reached] < columns[1]:
                shared[row - rows[0], texts[reached] - columns[0]] += 1
                reached += 1


@inlined
def _first(texts: Any, low: int, high: int, least: int) -> int:
    """The first place from `low` on that holds a text of at least this number."""
    while low < high:
        middle = (low + high) // 2
        if texts[middle] < least:
            low = middle + 1
        else:
            high = middle
    return low
