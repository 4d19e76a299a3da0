"""Block labels: a fixed random cut of the rows, by which replicates leave rows out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

SideName = Literal["reference", "generated"]

DEFAULT_BLOCKS = 20


@dataclass(frozen=True)
class Blocks:
    """The block of every row of a set.

    Attributes
    ----------
    labels
        Block of every row, shape ``(n,)``, int64, from 0 to ``count - 1``.
    count
        Number of blocks; 0 where no replicates are wanted.
    """

    labels: NDArray[np.int64]
    count: int

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
        return cls(labels.astype(np.int64), count)
