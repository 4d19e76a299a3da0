"""The lowest numerator over all corners, by a sweep along the line of scores.

Systems enter in the order of their intervals' lower ends, and a table holds the lowest numerator
for every choice of signs of those that still meet one to come. Who meets no more is settled: the
better of the two signs is kept for each choice of the others. So the cost grows with how many
intervals meet in one place, not with the number of systems.

Where more meet than the table has room for, the one that is least coupled to those to come is
settled early. Each product b_i·b_j that is cut gives way to a linear function that lies at or below
it, and equal to it at a good corner; what comes out is then a lower bound, and no corner.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from calipers.uncertainty.worst_case_corners import Corners, Signs, Whole
from calipers.uncertainty.worst_case_enumerate import added


@dataclass(frozen=True, eq=False)
class Swept:
    """The lowest numerator and its corner; without a corner, a bound below the lowest."""

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
        for old in [each for each in front.open if not front.coupling[each, later].any()]:
            front.settle(old)
        while len(front.open) > width:
            front.settle_early(later)
    return front.result()


def open_at_once(corners: Corners) -> int:
    """Tell how many systems a sweep would have to keep open at once."""
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
        """Give the lowest numerator, and walk back to its corner if nothing was cut."""
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
        own = weight if (weight > 0) == self.guide[old] else 0
        self._split(old)[1][...] += own  # else 0: b_old·b_other is at least 0, at most b_other
        self.linear[other] += weight if self.guide[old] else 0
        self.table -= weight if weight > 0 and self.guide[old] else 0
        self.coupling[old, other] = self.coupling[other, old] = 0
