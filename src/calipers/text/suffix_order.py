"""Suffixes of many texts in order, by prefix doubling; the compiled part of finding copies.

Prefix doubling (Manber and Myers, SIAM Journal on Computing 1993) sorts groups of suffixes that
agree in h tokens by the ranks of their suffixes h tokens on, so that they then agree in 2h. Only
groups that still hold several suffixes are sorted again (after Larsson and Sadakane, Theoretical
Computer Science 2007). A suffix ends where its text ends, and the shorter of two goes first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.jit import inlined, kernel

Numbers = NDArray[np.int32]
RUN = 12
"""Keys that are sorted by insertion before runs are merged."""


@kernel
def sort_suffixes(tokens: Numbers, left: Numbers, own: int, vocabulary: int) -> Numbers:
    """Order all suffixes so that each of the first `own` has its nearest ones beside it.

    Suffixes behind the first `own` that share a prefix which none of the first `own` has stay
    unsorted among themselves: whichever of them comes next to another suffix has as much in common
    with it.
    """
    order, rank, groups = _by_first_token(tokens, own, vocabulary)
    largest = 0
    for group in range(len(groups)):
        largest = max(largest, groups[group, 1] - groups[group, 0])
    keys = np.empty((2, largest), np.uint64)
    reach = 1
    while len(groups):
        groups = _refine(order, rank, left, own, groups, keys, reach)
        reach *= 2
    return order


@kernel
def _by_first_token(tokens: Numbers, own: int, vocabulary: int) -> tuple[Numbers, Numbers, Numbers]:
    """Sort suffixes by their first token; the rank of a suffix is the last place of its group."""
    ends = np.zeros(vocabulary + 1, np.int64)
    for token in tokens:
        ends[token + 1] += 1
    ends = np.cumsum(ends)
    places = ends[:-1].copy()
    order = np.empty(len(tokens), np.int32)
    rank = np.empty(len(tokens), np.int32)
    for suffix in range(len(tokens)):
        token = tokens[suffix]
        order[places[token]] = suffix
        places[token] += 1
        rank[suffix] = ends[token + 1] - 1
    groups = np.empty((min(own, vocabulary), 2), np.int32)
    count = 0
    for token in range(vocabulary):
        start, end = ends[token], ends[token + 1]
        if end - start > 1 and order[start] < own:
            groups[count, 0], groups[count, 1] = start, end
            count += 1
    return order, rank, groups[:count].copy()


@kernel
def _refine(
    order: Numbers,
    rank: Numbers,
    left: Numbers,
    own: int,
    groups: Numbers,
    keys: NDArray[np.uint64],
    reach: int,
) -> Numbers:
    """Sort groups that agree in `reach` tokens by twice as many; return what is left to sort."""
    room = 0
    for group in range(len(groups)):
        room += (groups[group, 1] - groups[group, 0]) // 2
    found = np.empty((min(room, own), 2), np.int32)
    count = 0
    for group in range(len(groups)):
        start, end = groups[group]
        size = end - start
        for step in range(size):
            suffix = order[start + step]
            # What ends here goes first, by place, as if each text had an end sign of its own
            key = 0 if left[suffix] <= reach else rank[suffix + reach] + 1
            keys[0, step] = (np.uint64(key) << np.uint64(32)) | np.uint64(suffix)
        _sort(keys, size)
        step = 0
        while step < size:
            key, first = keys[0, step] >> np.uint64(32), step
            while step < size and keys[0, step] >> np.uint64(32) == key:
                order[start + step] = np.int32(keys[0, step] & np.uint64(0xFFFFFFFF))
                step += 1
                if key == 0:
                    break
            for place in range(start + first, start + step):
                rank[order[place]] = start + step - 1
            if step - first > 1 and order[start + first] < own:
                found[count, 0], found[count, 1] = start + first, start + step
                count += 1
    return found[:count].copy()


@inlined
def _sort(keys: NDArray[np.uint64], size: int) -> None:
    """Sort the start of the first row by merges, the second being room to work in.

    A quicksort needs quadratic time on the keys of texts that repeat one phrase.
    """
    for start in range(0, size, RUN):
        for step in range(start + 1, min(start + RUN, size)):
            key, place = keys[0, step], step
            while place > start and keys[0, place - 1] > key:
                keys[0, place] = keys[0, place - 1]
                place -= 1
            keys[0, place] = key
    width = RUN
    while width < size:
        for start in range(0, size - width, 2 * width):
            _merge(keys, start, start + width, min(start + 2 * width, size))
        width *= 2


@inlined
def _merge(keys: NDArray[np.uint64], start: int, middle: int, end: int) -> None:
    """Merge two neighbouring runs, or leave them where they are in order."""
    if keys[0, middle - 1] <= keys[0, middle]:
        return
    keys[1, start:middle] = keys[0, start:middle]
    one, two = start, middle
    for place in range(start, end):
        if one == middle:
            break
        if two < end and keys[0, two] < keys[1, one]:
            keys[0, place] = keys[0, two]
            two += 1
        else:
            keys[0, place] = keys[1, one]
            one += 1
