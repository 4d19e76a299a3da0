"""Several sets of rows seen as one, without a copy of all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calipers.numeric.distances import Points
from calipers.numeric.scratch import scratch
from calipers.numeric.tiles import spans

ROWS = 4096
"""Rows that are looked at together."""


@dataclass(frozen=True)
class RowSets:
    """Sets with the same columns, with rows numbered through all sets.

    Attributes
    ----------
    sets
        Shapes ``(n_s, d)``, of one type.
    """

    sets: tuple[Points, ...]

    def __len__(self) -> int:
        return sum(map(len, self.sets))

    @property
    def columns(self) -> int:
        """Number of columns."""
        return int(self.sets[0].shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers."""
        return self.sets[0].dtype

    def take(self, index: NDArray[np.intp], columns: slice = slice(None)) -> Points:
        """Return some rows, or some of their columns, in the order of the index."""
        width = len(range(*columns.indices(self.columns)))
        taken: Points = np.empty((len(index), width), self.dtype)
        start = 0
        for points in self.sets:
            inside = (index >= start) & (index < start + len(points))
            taken[inside] = points[index[inside] - start, columns]
            start += len(points)
        return taken

    def blocks(self, index: NDArray[np.intp] | None = None) -> Iterator[tuple[slice, Points]]:
        """Yield all rows, or some of them, block by block with their positions."""
        for span in spans(len(self) if index is None else len(index), ROWS):
            place = slice(*span)
            yield place, self.take(np.arange(*span) if index is None else index[place])

    def copied(self, index: NDArray[np.intp], dtype: DTypeLike | None = None) -> NDArray[Any]:
        """Copy some rows into :func:`calipers.numeric.scratch.scratch`."""
        made = scratch((len(index), self.columns), dtype or self.dtype)
        for place, rows in self.blocks(index):
            made[place] = rows
        return made


def row_ranks(*sets: Points) -> NDArray[np.int64]:
    """Number the distinct rows of some sets in the order of their bytes.

    Takes memory for some numbers a row, whatever the columns.

    Parameters
    ----------
    *sets
        Shapes ``(n_s, d)``, of one type.

    Returns
    -------
    array
        For every row of every set, one set after the other; equal rows have one number, zeros of
        either sign being equal, and the numbers go from 0 without a gap.

    Examples
    --------
    >>> row_ranks(np.array([[1.0, 2.0], [1.0, 0.0], [1.0, 2.0]])).tolist()
    [1, 0, 1]
    """
    rows = RowSets(sets)
    rank = np.zeros(len(rows), np.int64)
    left = np.arange(len(rows))  # rows that are not yet known to differ from all others
    width = 8 // rows.dtype.itemsize
    for step, start in enumerate(range(0, rows.columns, width)):
        if len(left) < 2:
            break
        left = _split(rank, left, _words(rows, left, slice(start, start + width)))
        if step & (step + 1) == 0:  # ever more seldom: what is left are most often copies
            left = _without_copies(rows, rank, left)
    return np.unique(rank, return_inverse=True)[1].astype(np.int64).ravel()


def _words(rows: RowSets, left: NDArray[np.intp], columns: slice) -> NDArray[Any]:
    """Eight bytes of some rows as numbers of the same order."""
    words = np.empty(len(left), ">u8")
    for span in spans(len(left), ROWS):
        place = slice(*span)
        taken = rows.take(left[place], columns)
        filled = np.zeros((len(taken), 8 // rows.dtype.itemsize), rows.dtype)
        filled[:, : taken.shape[1]] = taken + 0.0  # no zero has a sign
        words[place] = filled.view(">u8").ravel()
    return words.astype(np.uint64)


def _split(
    rank: NDArray[np.int64], left: NDArray[np.intp], words: NDArray[Any]
) -> NDArray[np.intp]:
    """Rank rows of one rank by their words; give those that still share theirs, by rank."""
    order = np.lexsort((words, rank[left]))
    left, words = left[order], words[order]
    group = np.r_[True, rank[left][1:] != rank[left][:-1]]
    starts = group | np.r_[True, words[1:] != words[:-1]]
    places = np.arange(len(left))
    first = np.maximum.accumulate(np.where(starts, places, 0))
    rank[left] += first - np.maximum.accumulate(np.where(group, places, 0))
    shared: NDArray[np.intp] = left[~starts | np.r_[~starts[1:], False]]
    return shared


def _without_copies(
    rows: RowSets, rank: NDArray[np.int64], left: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Leave out the rows of a rank that are all equal; rows come by rank."""
    if not len(left):
        return left
    starts = np.flatnonzero(np.r_[True, rank[left][1:] != rank[left][:-1]])
    of = np.repeat(np.arange(len(starts)), np.diff(np.r_[starts, len(left)]))
    mixed = np.zeros(len(starts), bool)
    for span in spans(len(left), ROWS):
        place = slice(*span)
        same = rows.take(left[place]) == rows.take(left[starts[of[place]]])
        mixed[of[place][~same.all(axis=1)]] = True
    differing: NDArray[np.intp] = left[mixed[of]]
    return differing
