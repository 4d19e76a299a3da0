"""Groups of rows that keep one label when labels are permuted.

A permutation of sums over groups costs the square of their number, and no look at the rows. Groups
are exchangeable where rows are, so that moving them costs no validity, and next to no power
(docs/two_sample.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MOST_GROUPS = 1024
FEWEST_GROUPS = 64  # of the smaller set, where it has as many rows


@dataclass(frozen=True)
class PermutationGroups:
    """A grouping of rows for permutations.

    Attributes
    ----------
    rows
        Rows of a group.
    moved
        Groups of the reference and of the generated set; the rows beyond them stay.
    """

    rows: int
    moved: tuple[int, int]

    @classmethod
    def of(cls, n: int, m: int) -> PermutationGroups:
        """Form as many groups as allowed, with enough of the smaller set among them.

        Examples
        --------
        >>> PermutationGroups.of(500, 400), PermutationGroups.of(4000, 4000)
        (PermutationGroups(rows=1, moved=(500, 400)), PermutationGroups(rows=8, moved=(500, 500)))
        >>> PermutationGroups.of(100, 100_000)
        PermutationGroups(rows=1, moved=(100, 924))
        """
        smaller = min(n, m)
        rows = min(-(-(n + m) // MOST_GROUPS), max(1, smaller // FEWEST_GROUPS))
        few = smaller // rows
        many = min(max(n, m) // rows, MOST_GROUPS - few)
        return cls(rows, (few, many) if n <= m else (many, few))

    def labels(self, n: int, m: int) -> NDArray[np.int64]:
        """The group of every row: the reference's, the generated set's, then rows that stay."""
        one, other = self.moved
        groups = np.arange(n) // self.rows, np.arange(m) // self.rows
        return np.concatenate(
            [
                np.where(groups[0] < one, groups[0], one + other),
                np.where(groups[1] < other, groups[1] + one, one + other + 1),
            ]
        )
