"""Block labels: a fixed random cut of the rows, by which replicates leave out or halve them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError

SideName = Literal["reference", "generated"]

DEFAULT_BLOCKS = 20
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
        a bit for each; see :func:`halving_codes`. None where no halves are wanted.
    """

    labels: NDArray[np.int64]
    count: int
    halves: NDArray[np.uint64] | None = None

    @property
    def halvings(self) -> int:
        """How often the set is halved."""
        return 0 if self.halves is None else HALVINGS

    def half(self, halving: int, which: int) -> NDArray[np.bool_]:
        """Which rows lie in one of the halves, 0 or 1, of a halving.

        Raises
        ------
        InputError
            If the set was not halved.
        """
        if self.halves is None:
            raise InputError("the counts of halves were not kept: the set was not halved")
        found: NDArray[np.bool_] = (self.halves >> np.uint64(halving)) & np.uint64(1) == which
        return found

    @classmethod
    def none(cls, n: int) -> Blocks:
        """No blocks: nothing is replicated."""
        return cls(np.zeros(n, np.int64), 0)

    @classmethod
    def balanced(cls, n: int, *, seed: int, count: int = DEFAULT_BLOCKS) -> Blocks:
        """Blocks of equal size up to one row, in seeded random order.

        They depend on n, the seed and the count alone, so sets of one size that continue the same
        prompts row by row share their labels.
        """
        labels = np.random.default_rng([seed, n]).permutation(np.arange(n) % count)
        return cls(labels.astype(np.int64), count, halving_codes(n, seed=seed))


def halving_codes(
    n: int, *, seed: int, units: NDArray[np.int64] | None = None
) -> NDArray[np.uint64]:
    """Halve a set in :data:`HALVINGS` balanced ways.

    The rows are dealt to as many cells as a Hadamard matrix has columns, and each of its rows but
    the constant one says which cells make up the first half: any two halvings have half of each
    half in common (balanced half-samples: McCarthy, Rev. Int. Stat. Inst. 1969).

    Parameters
    ----------
    n
        Number of rows.
    seed
        Of the deal, which depends on it and on n alone: row i of two sets of one size, which may
        answer the same prompt, always lies in the same half.
    units
        Numbers from 0 of what stays together, shape ``(n,)``: rows of one unit are never parted.

    Returns
    -------
    numpy.ndarray
        Shape ``(n,)``, uint64: bit c tells in which half the row lies by halving c.
    """
    count = HALVINGS + 1
    own = np.arange(n) if units is None else units
    size = int(own.max()) + 1 if n else 0
    rng = np.random.default_rng([seed, size, count])
    cells = rng.permutation(count)[rng.permutation(np.arange(size) % count)][own]
    codes = np.zeros(count, np.uint64)
    for halving in range(HALVINGS):
        parity = [(cell & (halving + 1)).bit_count() & 1 for cell in range(count)]
        codes |= np.array(parity, np.uint64) << np.uint64(halving)
    found: NDArray[np.uint64] = codes[cells]
    return found
