"""Lloyd's rounds, wherever rows are brought to their centres.

A round is a pure function of the rows, the centres and the labels before it: a row changes its
centre only where the float64 distance is strictly smaller, and among equal new centres it takes the
first. Sums are whole numbers, exact in every order. So rows may be cut into any parts and brought
to their centres by any threads, devices or machines: all come to the same labels and the same
centres. What runs the rounds is chosen for a stretch of a program by :func:`rounds_on`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.kmeans.centres import Centres, place_centres
from calipers.estimate.kmeans.kernels import ClusterRows
from calipers.numeric.arrays import Floats32

TOLERANCE = 1e-4
"""Share of the variance of a column; centres that move by less, squared and summed, are at rest."""


@dataclass(frozen=True)
class Clustering:
    """Where k-means came to rest.

    Attributes
    ----------
    labels
        Centre of every row, shape ``(n,)``, int32.
    inertia
        Sum of squared distances of the rows to their centres, each times the row's weight.
    iterations
        How many rounds it took.
    """

    labels: NDArray[np.int32]
    inertia: float
    iterations: int


@dataclass
class Sums:
    """What the rows of every centre add up to, in whole multiples of a table's ``1 / unit``.

    Attributes
    ----------
    rows
        Weighted rows, shape ``(centres, depth)``, int64.
    mass
        Weights, shape ``(centres,)``, int64; 0 for a centre without rows.
    changed
        How many rows have another centre than a round before.
    """

    rows: NDArray[np.int64]
    mass: NDArray[np.int64]
    changed: int = 0

    @classmethod
    def empty(cls, centres: int, depth: int) -> Sums:
        """Nothing added yet."""
        return cls(np.zeros((centres, depth), np.int64), np.zeros(centres, np.int64))

    def means(self, where: NDArray[np.intp]) -> NDArray[np.float64]:
        """The means of the rows of some centres."""
        means: NDArray[np.float64] = self.rows[where] / self.mass[where, None]
        return means


@dataclass(frozen=True)
class Round:
    """The centres that rows are brought to.

    Attributes
    ----------
    number
        How many rounds came before.
    centres
        Laid out.
    count
        How many there are.
    moved
        Squared distances by which they moved since the round before, summed; infinite in the first.
    """

    number: int
    centres: Centres
    count: int
    moved: float

    @classmethod
    def first(cls, values: Floats32) -> Round:
        """The round that brings rows to the first centres, shape ``(count, depth)``."""
        return cls(0, place_centres(values, None, len(values)), len(values), np.inf)

    def following(self, values: Floats32) -> Round:
        """The round that brings rows to the centres that came out of this one."""
        centres = place_centres(values, self.centres, self.count)
        return Round(self.number + 1, centres, self.count, float(centres.drift @ centres.drift))


class Steps(Protocol):
    """What brings the rows of one run to their centres, round by round."""

    @property
    def labels(self) -> NDArray[np.int32]:
        """Centre of every row after the last round, shape ``(n,)``."""
        ...

    @property
    def own(self) -> NDArray[np.float64]:
        """Squared distance of every row to it, shape ``(n,)``."""
        ...

    def assign(self, at: Round) -> None:
        """Bring every row to its nearest centre."""
        ...

    def sum_up(self) -> Sums:
        """Return the sums after the last round, of at least as many centres as there are."""
        ...


class Rounds(Protocol):
    """What runs k-means from its first centres to the end."""

    @property
    def few_pairs(self) -> int:
        """Pairs of rows and centres up to which it is not worth it."""
        ...

    def run(self, table: ClusterRows, first: Floats32, max_iterations: int) -> Clustering:
        """Cluster rows.

        Parameters
        ----------
        table
            The rows and their weights, laid out.
        first
            The first centres, shape ``(centres, depth)``, laid out as the rows are.
        max_iterations
            Rounds after which it stops in any case.
        """
        ...


def run_rounds(table: ClusterRows, steps: Steps, at: Round, max_iterations: int) -> Clustering:
    """Go from round to round until no row changes its centre, or the centres are at rest."""
    while True:
        steps.assign(at)
        if at.moved <= at_rest(table):
            break
        sums = steps.sum_up()
        if sums.changed == 0 or at.number >= max_iterations:
            break
        at = at.following(next_centres(table, steps, sums, at))
    return Clustering(steps.labels, inertia_of(steps.own, table), at.number)


def at_rest(table: ClusterRows) -> float:
    """How far centres may move, squared and summed, that are at rest."""
    return TOLERANCE * table.spread


def inertia_of(own: NDArray[np.float64], table: ClusterRows) -> float:
    """Add up the squared distances of rows to their centres, each times its weight."""
    return float((own * table.weights).sum())


def next_centres(table: ClusterRows, steps: Steps, sums: Sums, at: Round) -> Floats32:
    """Means of the centres' rows; centres without rows move to the rows farthest from their own."""
    moved = at.centres.values[: at.count].copy()
    occupied = sums.mass[: at.count] > 0
    moved[occupied] = sums.means(np.flatnonzero(occupied))
    empty = np.flatnonzero(~occupied)
    if len(empty):
        costs = steps.own * table.weights
        farthest = np.argsort(-costs, kind="stable")[: len(empty)]
        far = costs[farthest] > 0
        moved[empty[far]] = table.rows[farthest[far]]
    return moved


_chosen: ContextVar[Rounds | None] = ContextVar("rounds", default=None)


def chosen_rounds(pairs: int) -> Rounds | None:
    """What :func:`rounds_on` chose where this is called, for so many pairs of rows and centres.

    None for the threads of this process.
    """
    chosen = _chosen.get()
    return None if chosen is None or pairs <= chosen.few_pairs else chosen


@contextmanager
def rounds_on(rounds: Rounds | None) -> Iterator[None]:
    """Have k-means run somewhere else within; None changes nothing."""
    if rounds is None:
        yield
        return
    before = _chosen.set(rounds)
    try:
        yield
    finally:
        _chosen.reset(before)
