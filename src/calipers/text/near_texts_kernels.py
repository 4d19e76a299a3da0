"""The compiled loop behind :mod:`calipers.text.near_texts`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.jit import inlined, kernel

Numbers = NDArray[np.int64]


@kernel
def search(
    ids: NDArray[np.int32],
    bounds: Numbers,
    rows: Numbers,
    runs: Numbers,
    asked: int,
    least: int,
    threshold: float,
    near: Numbers,
    similarity: NDArray[np.float64],
) -> None:
    """For the first `asked` sets, find the first set from `least` on that is near.

    A set is looked for among those of its run only, and nearer rows are kept from run to run.
    Those of a run ascend, and the search ends at the first that is near, so many sets that are all
    alike cost one comparison each.
    """
    for run in range(len(runs) - 1):
        begin, end = runs[run], runs[run + 1]
        first = begin + np.searchsorted(rows[begin:end], least)
        for each in range(begin, end):
            row = rows[each]
            if row >= asked:
                break
            if similarity[row] == 1:
                continue
            for place in range(first, end):
                other = rows[place]
                if near[row] >= 0 and other >= near[row]:
                    break
                if other == row:
                    continue
                found = _jaccard(ids, bounds[row], bounds[other], threshold)
                if found >= threshold:
                    near[row], similarity[row] = other, found
                    break


@inlined
def _jaccard(ids: NDArray[np.int32], one: Numbers, two: Numbers, threshold: float) -> float:
    """Share of the union of two ascending sets that lies in both; 0 where it cannot matter."""
    here, there = one[0], two[0]
    sizes = one[1] - here, two[1] - there
    if min(sizes) / max(sizes) < threshold:
        return 0.0
    shared = 0
    while here < one[1] and there < two[1]:
        if ids[here] == ids[there]:
            shared += 1
            here += 1
            there += 1
        elif ids[here] < ids[there]:
            here += 1
        else:
            there += 1
    return float(shared / (sizes[0] + sizes[1] - shared))
