"""Spearman's correlation at every corner of a box of scores, and the lowest of them.

A corner says for each system whether its score stands at the low or the high end of a ± s. With
b = 0 or 1 for the two and t the mid-ranks of the truth, the numerator of Spearman's correlation is

    Σ_{i<j} sgn(x_i − x_j)·(t_i − t_j) = constant + linear·b + ½ bᵀ·coupling·b,

a quadratic form in the signs, as the order of x_i and x_j depends on b_i and b_j alone. Pairs whose
intervals do not meet add to the constant, an interval inside another to the linear part, and only
intervals that overlap by parts, or touch at an end, are coupled. All of it is counted in whole
numbers. Three ways find a low corner:

- all corners at once, each further system doubling the table by one addition;
- descent from many starts, for boxes with too many corners to try them all;
- a sweep along the line of scores, for the lowest numerator. Systems enter in the order of their
  intervals' lower ends, and a table holds the lowest numerator for every choice of signs of those
  that still meet one to come. Who meets no more is settled: the better of the two signs is kept for
  each choice of the others. So the cost grows with how many intervals meet in one place, not with
  the number of systems. Where more meet than the table has room for, the one that is least coupled
  to those to come is settled early. Each product b_i·b_j that is cut gives way to a linear function
  that lies at or below it, and equal to it at a good corner; what comes out is then a lower bound,
  and no corner.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from calipers.numeric.arrays import Vector
from calipers.uncertainty.correlation import dense_ranks, mid_ranks

Whole = NDArray[np.int64]
Signs = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Corners:
    """The box of scores around the means, and the correlation of its corners with the truth.

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
    def of(cls, means: Vector, deviations: Vector, truth: Vector) -> Corners:
        """Compute the quadratic form."""
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
        """Which systems can share a rank with others or not, shape ``(n,)``."""
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
        """Return the best signs of systems that are not coupled; the others are low."""
        best: Signs = (self.linear < 0) & ~self.coupled
        return best

    def numerator(self, high: Signs) -> int:
        """Return the numerator at one corner."""
        b = high.astype(np.int64)
        return int(self.constant + self.linear @ b + b @ self.coupling @ b // 2)

    def correlation(self, high: Signs) -> float:
        """Return Spearman's correlation at one corner; NaN where all scores or truths are equal."""
        return _ratio(self.numerator(high), spread(self.places(high)), self.truth_spread)

    def signs(self, high: Signs) -> Whole:
        """Return -1 for low and 1 for high; 1 where the sign has no effect."""
        return np.where(high | ~self.matters, 1, -1)

    def places(self, high: Signs) -> Whole:
        """Return the rank of every score at one corner."""
        return np.where(high, self.high, self.low)

    def bound(self, numerator: int) -> float:
        """Return a lower bound of the correlation for all numerators not below this one."""
        n = len(self.low)
        there = np.array([((self.low == c) | (self.high == c)).sum() for c in self.shared])
        most = 0 if numerator >= 0 else int((there**3 - there).sum())
        least_spread = n**3 - n - most
        if least_spread <= 0:
            return -1.0
        return max(-1.0, _ratio(numerator, least_spread, self.truth_spread))


def spread(values: NDArray[np.generic]) -> int:
    """Return n³ − n minus m³ − m for each m equal values: twelve times the spread of the ranks."""
    counts = np.unique(values, return_counts=True)[1].astype(np.int64)
    n = len(values)
    return int(n**3 - n - (counts**3 - counts).sum())


def _ratio(numerator: int, one: int, other: int) -> float:
    return 3 * numerator / math.sqrt(one * other) if one and other else math.nan


def _shared(low: Whole, high: Whole) -> Whole:
    """Find the places that ends of different systems share; a system's own two ends count once."""
    ends = np.concatenate([low, high[high != low]])
    places, counts = np.unique(ends, return_counts=True)
    shared: Whole = places[counts > 1]
    return shared


def enumerate_corners(corners: Corners) -> Signs | None:
    """Find the corner of the lowest correlation, including ties of scores.

    Returns None where all scores are equal at every corner. Takes time and memory in proportion to
    2 to the power of the coupled systems.
    """
    free = np.flatnonzero(corners.coupled)
    high = corners.alone()
    numerators = corners.numerator(high) + double(
        corners.linear[free], corners.coupling[free][:, free]
    )
    spreads = _spreads(corners, free)
    if not spreads.any():
        return None
    # The truth's spread is the same at all corners, so it can stay out
    ratios = np.full(len(numerators), np.inf)
    np.divide(numerators, np.sqrt(spreads), out=ratios, where=spreads > 0)
    high[free] = (int(ratios.argmin()) >> np.arange(len(free))) & 1 == 1
    return high


def double(linear: Whole, coupling: Whole) -> Whole:
    """Return linear·b + ½ bᵀ·coupling·b for all b, shape ``(2**k,)``; bit i of the index is b_i."""
    table = np.zeros(1, dtype=np.int64)
    for i, step in enumerate(linear):
        table = np.concatenate([table, table + added(int(step), coupling[i, :i])])
    return table


def added(step: int, weights: Whole) -> Whole:
    """Return step + weights·b for all b, shape ``(2**k,)``."""
    table = np.array([step], dtype=np.int64)
    for weight in weights:
        table = np.concatenate([table, table + weight])
    return table


def _spreads(corners: Corners, free: NDArray[np.intp]) -> Whole:
    """Return n³ − n less m³ − m for each m tied scores, at all corners."""
    n = len(corners.low)
    spreads = np.full(2 ** len(free), n**3 - n, dtype=np.int64)
    fixed = np.delete(corners.low, free)
    lost = np.arange(n + 1) ** 3 - np.arange(n + 1)
    for place in corners.shared:
        here = corners.low[free] == place
        weights = (corners.high[free] == place).astype(np.int64) - here
        count = added(int((fixed == place).sum() + here.sum()), weights)
        spreads -= lost[count]
    return spreads


STARTS = 256
FEWEST = 8
WORK = 2_000_000
"""Products of two signs that are looked at in a step, over all starts."""


def search(corners: Corners, seed: int) -> Signs:
    """Find a corner that no change of one sign improves, the lowest of many such.

    Changes are judged by the numerator, which ties do not enter; the corners that they end in, by
    the correlation.
    """
    n = len(corners.low)
    starts = max(FEWEST, min(STARTS, WORK // n**2))
    high = np.random.default_rng(seed).random((starts, n)) < 0.5
    high[0], high[1] = False, corners.linear + corners.coupling.sum(axis=1) / 2 < 0
    b = high.astype(np.int64)
    while _turn(corners, b):
        pass
    # The starts too: all descents may end where all scores are tied, and nothing correlates
    ends = np.unique(np.concatenate([high, b == 1]), axis=0)
    return lowest(corners, ends)


def lowest(corners: Corners, ends: Iterable[Signs]) -> Signs:
    """Return the corner of the lowest correlation; corners without one come last."""
    return min(ends, key=lambda end: np.nan_to_num(corners.correlation(end), nan=np.inf))


def _turn(corners: Corners, b: Whole) -> bool:
    """Turn the best sign of each start, where one lowers the numerator; tell whether any did."""
    gains = (1 - 2 * b) * (corners.linear + _product(b, corners.coupling))
    best = gains.argmin(axis=1)
    rows = np.flatnonzero(np.take_along_axis(gains, best[:, None], axis=1)[:, 0] < 0)
    b[rows, best[rows]] ^= 1
    return bool(rows.size)


def _product(b: Whole, coupling: Whole) -> Whole:
    """Multiply whole numbers as floats, which is much faster and exact below 2**53."""
    product = b.astype(np.float64) @ coupling.astype(np.float64)
    return product.astype(np.int64)


@dataclass(frozen=True, eq=False)
class Swept:
    """The lowest numerator and its corner; without a corner, a lower bound."""

    score: int
    high: Signs | None


def sweep(corners: Corners, *, width: int, guide: Signs) -> Swept:
    """Find the lowest numerator, or a lower bound where more than `width` intervals meet.

    Parameters
    ----------
    corners
        The box of scores.
    width
        Systems whose signs are kept open at once; the table has 2 to the power of one more entries.
    guide
        A good corner, shape ``(n,)``, at which a bound shall be tight.
    """
    front, order = _Front(corners, guide), _order(corners)
    for place, new in enumerate(order):
        later = order[place + 1 :]
        front.enter(int(new))
        for old in [system for system in front.open if not front.coupling[system, later].any()]:
            front.settle(old)
        while len(front.open) > width:
            front.settle_early(later)
    return front.result()


def open_at_once(corners: Corners) -> int:
    """Return how many systems a sweep would have to keep open at once."""
    order = _order(corners)
    if not order.size:
        return 0
    meets = corners.coupling[np.ix_(order, order)] != 0
    last = len(order) - 1 - meets[:, ::-1].argmax(axis=1)  # the last system that each one meets
    return max(int((last[: place + 1] > place).sum()) for place in range(len(order)))


def _order(corners: Corners) -> NDArray[np.intp]:
    order = np.lexsort((corners.high, corners.low))
    return order[corners.coupling[order].any(axis=1)]


@dataclass
class _Front:
    corners: Corners
    guide: Signs
    table: Whole = field(init=False)
    open: list[int] = field(default_factory=list)
    settled: list[tuple[int, list[int], Signs]] = field(default_factory=list)
    exact: bool = True

    def __post_init__(self) -> None:
        self.linear, self.coupling = self.corners.linear.copy(), self.corners.coupling.copy()
        self.table = np.array([self.corners.constant], dtype=np.int64)

    def enter(self, new: int) -> None:
        """Open the sign of a system: its bit is the highest of the table's places."""
        step = added(int(self.linear[new]), self.coupling[new, self.open])
        self.table = np.concatenate([self.table, self.table + step])
        self.open.append(new)

    def settle(self, old: int) -> None:
        """Keep the better sign of a system, for every choice of the others."""
        low, high = self._split(old)
        self.open.remove(old)
        self.settled.append((old, list(self.open), (high < low).ravel()))
        self.table = np.minimum(low, high).ravel()

    def settle_early(self, later: NDArray[np.intp]) -> None:
        """Cut the least coupled system off from those to come, and settle it."""
        strength = np.abs(self.coupling[self.open][:, later]).sum(axis=1)
        old = self.open[int(strength.argmin())]
        for other in later[self.coupling[old, later] != 0]:
            self._cut(old, int(other), int(self.coupling[old, other]))
        self.settle(old)
        self.exact = False

    def result(self) -> Swept:
        """Return the lowest numerator, and walk back to its corner if nothing was cut."""
        loose = ~self.corners.coupling.any(axis=1)
        score = int(self.table[0] + np.minimum(self.corners.linear[loose], 0).sum())
        if not self.exact:
            return Swept(score, None)
        high: Signs = loose & (self.corners.linear < 0)
        for old, others, better in reversed(self.settled):
            high[old] = better[int((high[others] << np.arange(len(others))).sum())]
        return Swept(score, high)

    def _split(self, old: int) -> tuple[Whole, Whole]:
        """View the table where a system stands low, and where it stands high."""
        halves = self.table.reshape(-1, 2, 2 ** self.open.index(old))
        return halves[:, 0], halves[:, 1]

    def _cut(self, old: int, other: int, weight: int) -> None:
        """Put a linear function in the place of weight·b_old·b_other, equal to it at the guide."""
        of_old = weight if (weight > 0) == self.guide[old] else 0
        self._split(old)[1][...] += of_old  # else 0: b_old·b_other is at least 0, at most b_other
        self.linear[other] += weight if self.guide[old] else 0
        self.table -= weight if weight > 0 and self.guide[old] else 0
        self.coupling[old, other] = self.coupling[other, old] = 0
