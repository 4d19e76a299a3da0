"""Spearman's correlation at every corner of a box, as a quadratic form in its signs.

A corner says for each system whether its score stands at the low or the high end of a ± s. With
b = 0 or 1 for the two and t the mid-ranks of the truth, the numerator of Spearman's correlation is

    Σ_{i<j} sgn(x_i − x_j)·(t_i − t_j) = constant + linear·b + ½ bᵀ·coupling·b,

as the order of x_i and x_j depends on b_i and b_j alone. Pairs whose intervals do not meet add to
the constant, an interval inside another to the linear part, and only intervals that overlap by
parts, or touch at an end, are coupled. All of it is counted in whole numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.uncertainty.correlation_ranks import dense_ranks, mid_ranks

Column = NDArray[np.float64]
Whole = NDArray[np.int64]
Signs = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Corners:
    """The box of scores around the means, and how each corner correlates with the truth.

    Attributes
    ----------
    low, high
        Places of the ends of each interval in the order of all ends, shape ``(n,)``.
    constant, linear, coupling
        The numerator, with t doubled to be whole; shapes ``()``, ``(n,)`` and ``(n, n)``.
    shared
        Places at which ends of two systems or more coincide: there, corners have ties.
    truth_spread
        n³ − n, less m³ − m for each m equal values of the truth.
    """

    low: Whole
    high: Whole
    constant: int
    linear: Whole
    coupling: Whole
    shared: Whole
    truth_spread: int

    @classmethod
    def of(cls, means: Column, deviations: Column, truth: Column) -> Corners:
        """Work out the quadratic form."""
        n, ends = len(means), np.concatenate([means - deviations, means + deviations])
        places = dense_ranks(ends, np.tile(np.abs(means) + deviations, 2))
        low, high = places[:n], places[n:]
        ranks = np.rint(2 * mid_ranks(truth)).astype(np.int64)
        apart = np.triu(np.subtract.outer(ranks, ranks))
        # Sums over pairs i < j, by which end i and j stand at
        ll, lh, hl, hh = (
            np.sign(np.subtract.outer(x, y)) * apart for x in (low, high) for y in (low, high)
        )
        coupling = hh - hl - lh + ll
        return cls(
            low=low,
            high=high,
            constant=int(ll.sum()),
            linear=(hl - ll).sum(axis=1) + (lh - ll).sum(axis=0),
            coupling=coupling + coupling.T,
            shared=_shared(low, high),
            truth_spread=spread(mid_ranks(truth)),
        )

    @property
    def tied(self) -> Signs:
        """Which systems have a choice of whether to stand at a shared place, shape ``(n,)``."""
        meets = np.isin(self.low, self.shared) | np.isin(self.high, self.shared)
        tied: Signs = meets & (self.low != self.high)
        return tied

    @property
    def coupled(self) -> Signs:
        """Which systems have a sign whose best choice depends on others', shape ``(n,)``."""
        return self.tied | self.coupling.any(axis=1)

    @property
    def matters(self) -> Signs:
        """Which systems have a sign that changes the correlation at some corner."""
        matters: Signs = self.coupled | (self.linear != 0)
        return matters

    def alone(self) -> Signs:
        """Give the best signs of systems that are not coupled; the others stand low."""
        best: Signs = (self.linear < 0) & ~self.coupled
        return best

    def numerator(self, high: Signs) -> int:
        """Give the numerator at one corner."""
        b = high.astype(np.int64)
        return int(self.constant + self.linear @ b + b @ self.coupling @ b // 2)

    def correlation(self, high: Signs) -> float:
        """Give Spearman's correlation at one corner; NaN where all scores or truths are equal."""
        return _ratio(self.numerator(high), spread(self.places(high)), self.truth_spread)

    def signs(self, high: Signs) -> Whole:
        """Give -1 for low and 1 for high; 1 where the sign makes no difference."""
        return np.where(high | ~self.matters, 1, -1)

    def places(self, high: Signs) -> Whole:
        """Give the place of every score at one corner."""
        return np.where(high, self.high, self.low)

    def bound(self, numerator: int) -> float:
        """Give a correlation that no corner is below whose numerator is not below this one."""
        n = len(self.low)
        there = np.array([((self.low == c) | (self.high == c)).sum() for c in self.shared])
        most = 0 if numerator >= 0 else int((there**3 - there).sum())
        least_spread = n**3 - n - most
        return (
            -1.0
            if least_spread <= 0
            else max(-1.0, _ratio(numerator, least_spread, self.truth_spread))
        )


def spread(values: NDArray[np.generic]) -> int:
    """Give n³ − n, less m³ − m for each m equal values: twelve times the spread of their ranks."""
    counts = np.unique(values, return_counts=True)[1].astype(np.int64)
    n = len(values)
    return int(n**3 - n - (counts**3 - counts).sum())


def _ratio(numerator: int, one: int, other: int) -> float:
    return 3 * numerator / math.sqrt(one * other) if one and other else math.nan


def _shared(low: Whole, high: Whole) -> Whole:
    """Find the places that ends of different systems share; a system's own two ends count once."""
    own = np.concatenate([low, high[high != low]])
    places, counts = np.unique(own, return_counts=True)
    shared: Whole = places[counts > 1]
    return shared
