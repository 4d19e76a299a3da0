"""The compiled loops behind the spread of text statistics: what each block of texts holds alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calipers.numeric.compile import inlined, kernel

Numbers = NDArray[np.int32]
Longs = NDArray[np.int64]

SLOTS = 3
"""Blocks that are remembered of an n-gram: a text's own, one left out, and one besides."""


@kernel
def sole_blocks(ids: Numbers, starts: Longs, labels: Longs, size: int) -> Numbers:
    """Find the one block that holds each n-gram; -1 where several do, -2 where none does."""
    sole = np.full(size, -2, np.int32)
    for text in range(len(labels)):
        for place in range(starts[text], starts[text + 1]):
            gram = ids[place]
            if sole[gram] == -2:
                sole[gram] = labels[text]
            elif sole[gram] != labels[text]:
                sole[gram] = -1
    return sole


@kernel
def holders_by_block(
    ids: Numbers, starts: Longs, labels: Longs, compact: Numbers, size: int, blocks: int
) -> Numbers:
    """Count the texts of each block that hold an n-gram, shape (size, blocks)."""
    table = np.zeros((size, blocks), np.int32)
    for text in range(len(labels)):
        for place in range(starts[text], starts[text + 1]):
            row = compact[ids[place]]
            if row >= 0:
                table[row, labels[text]] += 1
    return table


@kernel
def shared_with_blocks(ids: Numbers, starts: Longs, compact: Numbers, table: Numbers) -> Longs:
    """Count for each text how many texts of each block hold its n-grams, shape (n, blocks)."""
    shared = np.zeros((len(starts) - 1, table.shape[1]), np.int64)
    for text in range(len(shared)):
        for place in range(starts[text], starts[text + 1]):
            row = compact[ids[place]]
            if row >= 0:
                for block in range(table.shape[1]):
                    shared[text, block] += table[row, block]
    return shared


@kernel
def leading_blocks(
    ids: Numbers,
    counts: Numbers,
    starts: Longs,
    compact: Numbers,
    size: int,
    pool: Longs,
    labels: Longs,
) -> NDArray[np.int32]:
    """Find for each n-gram the blocks whose texts hold it most often, shape (size, SLOTS, 4).

    A slot has the block, the largest count in one of its texts, the next largest, and the text of
    the largest; the block is -1 for an empty slot. `pool` goes block by block.
    """
    slots = np.zeros((size, SLOTS, 4), np.int32)
    slots[:, :, 0] = -1
    current = np.zeros((size, 4), np.int32)
    current[:, 0] = -1
    for text in pool:
        for place in range(starts[text], starts[text + 1]):
            row = compact[ids[place]]
            if row < 0:
                continue
            if current[row, 0] != labels[text]:
                _keep(slots[row], current[row])
                current[row, 0], current[row, 1] = labels[text], 0
                current[row, 2], current[row, 3] = 0, -1
            if counts[place] > current[row, 1]:
                current[row, 2] = current[row, 1]
                current[row, 1], current[row, 3] = counts[place], text
            elif counts[place] > current[row, 2]:
                current[row, 2] = counts[place]
    for row in range(size):
        _keep(slots[row], current[row])
    return slots


@kernel
def clip_without(
    ids: Numbers,
    counts: Numbers,
    starts: Longs,
    compact: Numbers,
    rows: Longs,
    own: Longs,
    slots: NDArray[np.int32],
    blocks: int,
) -> tuple[Longs, Numbers]:
    """Count each text's n-grams that others hold, and how many fewer without each block.

    `own` is the block of each of `rows`, -1 where a text is not in the pool. The column of a text's
    own block stays 0: the text goes with it.
    """
    matches = np.zeros(len(rows), np.int64)
    fewer = np.zeros((len(rows), blocks), np.int32)
    for row in range(len(rows)):
        text = rows[row]
        for place in range(starts[text], starts[text + 1]):
            gram = compact[ids[place]]
            if gram < 0:
                continue
            best, rest, block = _best_two(slots[gram], own[row], text)
            most = min(counts[place], best)
            matches[row] += most
            if block >= 0 and block != own[row]:
                fewer[row, block] += most - min(counts[place], rest)
    return matches, fewer


@inlined
def _keep(slots: Numbers, found: Numbers) -> None:
    """Put what a block holds into the place of the least slot, if it is more."""
    if found[0] < 0:
        return
    least = 0
    for slot in range(1, SLOTS):
        if slots[slot, 1] < slots[least, 1]:
            least = slot
    if found[1] > slots[least, 1]:
        for column in range(4):
            slots[least, column] = found[column]


@inlined
def _best_two(slots: Numbers, own: int, text: int) -> tuple[int, int, int]:
    """Largest count in another text, its block, and the largest outside of that block."""
    best, rest, block = 0, 0, -1
    for slot in range(SLOTS):
        mine = slots[slot, 0] == own and slots[slot, 3] == text
        count = slots[slot, 2] if mine else slots[slot, 1]
        if count > best:
            best, rest, block = count, best, slots[slot, 0]
        elif count > rest:
            rest = count
    return best, rest, block
