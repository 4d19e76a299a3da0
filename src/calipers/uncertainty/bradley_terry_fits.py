"""Bradley-Terry scores of many tables of wins that compare the same pairs of systems.

Halves of a crowd, or its judgements under random weights, are thousands of tables. A fit looks at
the pairs that were compared alone. Systems of which no two were compared, such as all but the
baselines of a benchmark, have a diagonal information among themselves: they are eliminated from the
equations of a step, which leaves as many as there are other systems.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calipers.numeric.arrays import Longs, Matrix

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_STEPS = 60
CLOSE = 1e-12
DIGITS = 9
"""Of scores: what tells less apart is rounding, which differs between processors."""


@dataclass(frozen=True, eq=False)
class BradleyTerryFits:
    """The pairs of systems that were compared, for fits of many tables of wins.

    Attributes
    ----------
    n
        Systems.
    low, high
        Places of the two systems of every such pair, low < high.
    pair
        Which of these pairs each judgement compares.
    apart
        Systems of which no two were compared; the information of these is diagonal.
    hubs
        All others.
    incidence
        1 where a system is the lower one of a pair, -1 where it is the higher, ``(n, pairs)``.
    """

    n: int
    low: Longs
    high: Longs
    pair: Longs
    apart: Longs
    hubs: Longs
    incidence: csr_array[np.float64]

    @classmethod
    def of(cls, n: int, i: Longs, j: Longs) -> BradleyTerryFits:
        """Find the pairs in judgements of n systems: indices of both, each ``(rows,)``."""
        from scipy.sparse import csr_array

        low, high = np.minimum(i, j), np.maximum(i, j)
        cells, pair = np.unique(low * n + high, return_inverse=True)
        low, high = cells // n, cells % n
        place = np.arange(len(cells))
        signs = np.concatenate([np.ones(len(cells)), -np.ones(len(cells))])
        rows = np.concatenate([low, high]), np.concatenate([place, place])
        apart, hubs = _independent(n, low, high)
        incidence = csr_array((signs, rows), shape=(n, len(cells)))
        return cls(n, low, high, pair, apart, hubs, incidence)

    def __len__(self) -> int:
        return len(self.low)

    def scores(self, wins: Matrix, start: Matrix | None = None) -> Matrix:
        """Fit many tables at once, by Newton's method; scores of mean 0, ``(tables, n)``.

        Each system ties once with one of score 0, so that all scores are finite. Systems whose wins
        are alike come out equal.

        Parameters
        ----------
        wins
            Of the lower systems of all pairs, then of the higher, shape ``(tables, 2·pairs)``.
        start
            Where to begin, shape ``(1, n)``; None for 0.
        """
        won, lost = wins[:, : len(self)], wins[:, len(self) :]
        met = won + lost
        theta = np.repeat(np.zeros((1, self.n)) if start is None else start, len(wins), axis=0)
        for _ in range(MOST_STEPS):
            chance = 1 / (1 + np.exp(theta[:, self.high] - theta[:, self.low]))
            alone = 1 / (1 + np.exp(-theta))
            gradient = 0.5 - alone + (self.incidence @ (won - met * chance).T).T
            weights = met * chance * (1 - chance)
            diagonal = alone * (1 - alone) + (abs(self.incidence) @ weights.T).T
            move = self._solved(weights, diagonal, gradient)
            move /= np.maximum(np.abs(move).max(axis=1, keepdims=True), 1.0)
            theta += move
            if np.abs(move).max() < CLOSE:
                break
        return np.asarray(np.round(theta - theta.mean(axis=1, keepdims=True), DIGITS))

    def _solved(self, weights: Matrix, diagonal: Matrix, gradient: Matrix) -> Matrix:
        """Solve with the information: its diagonal, and less each weight beside it.

        Systems that are apart are eliminated first, which leaves as many equations as hubs.
        """
        tables, (apart, hubs) = len(weights), (self.apart, self.hubs)
        whole = np.zeros((tables, self.n, len(hubs)))
        column = np.full(self.n, -1)
        column[hubs] = np.arange(len(hubs))
        for row, other in ((self.low, self.high), (self.high, self.low)):
            of_hubs = np.flatnonzero(column[other] >= 0)
            whole[:, row[of_hubs], column[other[of_hubs]]] = -weights[:, of_hubs]
        whole[:, hubs, np.arange(len(hubs))] = diagonal[:, hubs]
        across = whole[:, apart]
        scaled = across / diagonal[:, apart, None]
        own = gradient[:, apart] / diagonal[:, apart]
        left = whole[:, hubs] - across.transpose(0, 2, 1) @ scaled
        right = gradient[:, hubs, None] - scaled.transpose(0, 2, 1) @ gradient[:, apart, None]
        move = np.empty_like(gradient)
        solved = np.linalg.solve(left, right)
        move[:, hubs] = solved[:, :, 0]
        move[:, apart] = own - (scaled @ solved)[:, :, 0]
        return move


def _independent(n: int, low: Longs, high: Longs) -> tuple[Longs, Longs]:
    """Split systems into some of which no two were compared, as many as a plain search has."""
    partners: list[set[int]] = [set() for _ in range(n)]
    for one, other in zip(low.tolist(), high.tolist(), strict=True):
        partners[one].add(other)
        partners[other].add(one)
    apart: set[int] = set()
    for system in sorted(range(n), key=lambda place: (len(partners[place]), place)):
        if apart.isdisjoint(partners[system]):
            apart.add(system)
    hubs = [system for system in range(n) if system not in apart]
    return np.array(sorted(apart), dtype=np.int64), np.array(hubs, dtype=np.int64)
