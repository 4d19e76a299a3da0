"""The compiled loop behind :mod:`calipers.text.type_token`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.jit import kernel


@kernel
def window_types(
    tokens: NDArray[np.int32], starts: NDArray[np.int64], window: int, vocabulary: int
) -> NDArray[np.int64]:
    """Sum, over all windows of each text, the different tokens within; 0 where none fits."""
    counts = np.zeros(vocabulary, np.int64)
    sums = np.zeros(len(starts) - 1, np.int64)
    for text in range(len(sums)):
        first, end = starts[text], starts[text + 1]
        if end - first < window:
            continue
        types = 0
        for place in range(first, end):
            types += counts[tokens[place]] == 0
            counts[tokens[place]] += 1
            if place - first >= window:
                left = tokens[place - window]
                counts[left] -= 1
                types -= counts[left] == 0
            if place - first >= window - 1:
                sums[text] += types
        for place in range(end - window, end):
            counts[tokens[place]] = 0
    return sums
