"""Block labels: a fixed random partition of rows, for replicates without blocks or halves.

Rows that were drawn together (continuations of one prompt, sentences of one document) are dealt
together: what they have in common must leave with them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.lazy import lazily

SideName = Literal["reference", "generated"]

DEFAULT_BLOCKS = 20
FEWER_BLOCKS = 10
"""Blocks where clusters are too few for :data:`DEFAULT_BLOCKS`."""

FEWEST_CLUSTERS = 2
"""Clusters for each block, at least."""

HALVINGS = 31
"""How often a set is halved: one less than a power of two, at most 63."""


@dataclass(frozen=True)
class Blocks:
    """The block of every row of a set.

    Attributes
    ----------
    labels
        Block of every row, shape ``(n,)``, int64, from 0 to ``count - 1``.
    count
        Number of blocks; 0 where no replicates are wanted.
    halves
        In which half every row lies by each of :data:`HALVINGS` halvings, shape ``(n,)``, uint64,
        a bit for each; by balanced half-samples. None where no halves are wanted.
    """

    labels: NDArray[np.int64]
    count: int
    halves: NDArray[np.uint64] | None = None

    @property
    def halvings(self) -> int:
        """Number of halvings of the set."""
        return 0 if self.halves is None else HALVINGS

    def half(self, halving: int, which: int) -> NDArray[np.bool_]:
        """Return which rows lie in half 0 or 1 of a halving.

        Raises
        ------
        InputError
            If the set was not halved.
        """
        if self.halves is None:
            raise InputError("the counts of halves were not kept: the set was not halved")
        in_half: NDArray[np.bool_] = (self.halves >> np.uint64(halving)) & np.uint64(1) == which
        return in_half

    @classmethod
    def none(cls, n: int) -> Blocks:
        """Return no blocks, for no replicates."""
        return cls(np.zeros(n, np.int64), 0)

    @classmethod
    def balanced(cls, n: int, *, seed: int, count: int = DEFAULT_BLOCKS) -> Blocks:
        """Make blocks of equal size up to one row, in seeded random order.

        They depend on n, the seed and the count alone, so sets of one size that continue the same
        prompts row by row share their labels.
        """
        return cls(_dealt(n, count, seed), count, _half_codes(_cells(n, seed)))

    @classmethod
    def of(cls, n: int, clusters: Clusters | None, *, seed: int, count: int) -> Blocks:
        """Make blocks of whole clusters; :meth:`balanced` ones where every row is its own."""
        if clusters is None:
            return cls.balanced(n, seed=seed, count=count)
        return cls(
            clusters.each(lambda size: _dealt(size, count, seed)),
            count,
            _half_codes(clusters.each(lambda size: _cells(size, seed))),
        )


@dataclass(frozen=True, eq=False)
class Clusters:
    """Clusters of rows, each of which lies in one block; see :func:`cluster_sets`.

    Attributes
    ----------
    numbers
        Number of the cluster of every row, shape ``(n,)``, int64; the same cluster has the same
        number in all sets of a run.
    dealt
        With how many clusters that of the row is dealt to blocks, itself included, ``(n,)``.
    places
        Its place among those, from 0, ``(n,)``.
    blocks
        How many blocks the set is cut into for intervals; 0 where it has too few clusters.
    """

    numbers: NDArray[np.int64]
    dealt: NDArray[np.int64]
    places: NDArray[np.int64]
    blocks: int = DEFAULT_BLOCKS

    def __len__(self) -> int:
        return len(self.numbers)

    @lazily
    def sizes(self) -> NDArray[np.int64]:
        """Number of rows of every cluster that has any, in order of appearance."""
        return np.bincount(self._own)

    @property
    def worth(self) -> int:
        """Effective number of clusters: (Σ size)²/Σ size² (Kish)."""
        return int(len(self) ** 2 // np.square(self.sizes).sum())

    def each(self, deal: Callable[[int], NDArray[np.int64]]) -> NDArray[np.int64]:
        """Return for every row the value of its cluster, shape ``(n,)``.

        `deal` gives, for a number of clusters that are dealt together, a value for each of them.
        """
        numbers = np.empty(len(self), np.int64)
        for size in np.unique(self.dealt):
            of_size = self.dealt == size
            numbers[of_size] = deal(int(size))[self.places[of_size]]
        return numbers

    def take(self, rows: NDArray[np.intp]) -> Clusters:
        """Return the clusters of some rows, in the order given; they keep their blocks."""
        return replace(
            self, numbers=self.numbers[rows], dealt=self.dealt[rows], places=self.places[rows]
        )

    def shuffled(self, rng: np.random.Generator) -> NDArray[np.intp]:
        """Return all rows, cluster by cluster in random order."""
        order = rng.permutation(len(self.sizes))
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        return np.argsort(place[self._own], kind="stable")

    def one_each(self, seed: int) -> NDArray[np.intp]:
        """Return one random row of every cluster, ascending."""
        shuffled = np.random.default_rng([seed, len(self), 1]).permutation(len(self))
        firsts = np.unique(self._own[shuffled], return_index=True)[1]
        return np.sort(shuffled[firsts])

    def alike(self, other: Clusters) -> bool:
        """Whether rows correspond: they are of one cluster, or of clusters divided alike."""
        if len(self) != len(other):
            return False
        same = np.array_equal(self.numbers, other.numbers)
        apart = not np.isin(other.numbers, self.numbers).any()
        return same or (apart and np.array_equal(self._own, other._own))

    @lazily
    def _own(self) -> NDArray[np.int64]:
        """The clusters of this set alone, numbered as they appear, shape ``(n,)``."""
        _, first, labels = np.unique(self.numbers, return_index=True, return_inverse=True)
        rank = np.empty(len(first), np.int64)
        rank[np.argsort(first)] = np.arange(len(first))
        return rank[labels.reshape(-1)]


def cluster_sets(sets: Sequence[Sequence[Hashable] | int]) -> tuple[Clusters, ...]:
    """Number the clusters of all sets of a run, with those that share a block.

    The clusters of the first set are dealt evenly; then, set by set, those that no set before it
    has, evenly among themselves. So one label lies in one block everywhere, and sets are balanced
    where their labels are the same, or all different. What a label is called decides nothing.

    Parameters
    ----------
    sets
        For every set, the reference first, a label for each row; or how many rows it has, where
        every row is a cluster of its own.

    Returns
    -------
    tuple of Clusters
        One for each set. All are cut into 20 blocks where none has fewer than
        :data:`FEWEST_CLUSTERS` clusters for each, else into 10; sets that have too few for those
        into none, whatever the others have.

    Examples
    --------
    >>> one, other = cluster_sets([["a", "a", "b"], ["b", "c", "c"]])
    >>> one.numbers, other.numbers, other.dealt
    (array([0, 0, 1]), array([1, 2, 2]), array([2, 1, 1]))
    """
    places: dict[Hashable, tuple[int, int, int]] = {}
    made, total = [], 0
    for labels in sets:
        if isinstance(labels, int):
            rows = np.arange(labels)
            made.append(Clusters(total + rows, np.full(labels, labels), rows))
            total += labels
            continue
        fresh = [label for label in dict.fromkeys(labels) if label not in places]
        for place, label in enumerate(fresh):
            places[label] = total + place, len(fresh), place
        total += len(fresh)
        table = np.array([places[label] for label in labels], np.int64)
        made.append(Clusters(*np.ascontiguousarray(table.T)))
    enough = [
        clusters.worth for clusters in made if clusters.worth >= FEWEST_CLUSTERS * FEWER_BLOCKS
    ]
    fits = min(enough, default=0) >= FEWEST_CLUSTERS * DEFAULT_BLOCKS
    count = DEFAULT_BLOCKS if fits else FEWER_BLOCKS
    return tuple(
        replace(clusters, blocks=count if clusters.worth in enough else 0) for clusters in made
    )


def _dealt(size: int, count: int, seed: int) -> NDArray[np.int64]:
    """The block of each of so many rows or clusters."""
    labels = np.random.default_rng([seed, size]).permutation(np.arange(size) % count)
    return labels.astype(np.int64)


def _cells(size: int, seed: int) -> NDArray[np.int64]:
    """The cell of each of so many rows or clusters, of which halves are made.

    It depends on their number and the seed alone: row i of two sets of one size, which may answer
    the same prompt, always lies in the same half.
    """
    count = HALVINGS + 1
    rng = np.random.default_rng([seed, size, count])
    cells: NDArray[np.int64] = rng.permutation(count)[rng.permutation(np.arange(size) % count)]
    return cells


def _half_codes(cells: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Halve a set in :data:`HALVINGS` balanced ways.

    There are as many cells as a Hadamard matrix has columns, and each of its rows but the constant
    one says which cells make up the first half: any two halvings have half of each half in common
    (balanced half-samples: McCarthy, Rev. Int. Stat. Inst. 1969).

    Parameters
    ----------
    cells
        The cell of every row, shape ``(n,)``.

    Returns
    -------
    numpy.ndarray
        Shape ``(n,)``, uint64: bit c tells in which half the row lies by halving c.
    """
    count = HALVINGS + 1
    codes = np.zeros(count, np.uint64)
    for halving in range(HALVINGS):
        parity = [(cell & (halving + 1)).bit_count() & 1 for cell in range(count)]
        codes |= np.array(parity, np.uint64) << np.uint64(halving)
    row_codes: NDArray[np.uint64] = codes[cells]
    return row_codes
