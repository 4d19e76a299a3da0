"""Lloyd's iterations, on any engine that assigns rows to centres.

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
    """The result of k-means.

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
    """Sums of the rows of every centre, in whole multiples of a table's ``1 / unit``.

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
        """Return sums of zero."""
        return cls(np.zeros((centres, depth), np.int64), np.zeros(centres, np.int64))

    def means(self, where: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the means of the rows of some centres."""
        means: NDArray[np.float64] = self.rows[where] / self.mass[where, None]
        return means


@dataclass(frozen=True)
class Round:
    """The centres of one iteration.

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
        """Make the iteration with the first centres, shape ``(count, depth)``."""
        return cls(0, place_centres(values, None, len(values)), len(values), np.inf)

    def following(self, values: Floats32) -> Round:
        """Make the iteration after this one, from the new centres."""
        centres = place_centres(values, self.centres, self.count)
        return Round(self.number + 1, centres, self.count, float(centres.drift @ centres.drift))


class Steps(Protocol):
    """Protocol of the engines that assign the rows of one run to centres."""

    @property
    def labels(self) -> NDArray[np.int32]:
        """Centre of every row after the last iteration, shape ``(n,)``."""
        ...

    @property
    def own(self) -> NDArray[np.float64]:
        """Squared distance of every row to its centre, shape ``(n,)``."""
        ...

    def assign(self, at: Round) -> None:
        """Assign every row to its nearest centre."""
        ...

    def sum_up(self) -> Sums:
        """Return the sums after the last iteration, for at least as many centres as there are."""
        ...


class Rounds(Protocol):
    """Protocol of the engines that run k-means from its first centres to the end."""

    @property
    def few_pairs(self) -> int:
        """Number of pairs of rows and centres up to which the engine does not pay."""
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
    """Iterate until no row changes its centre, or the centres stop moving."""
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
    """Return the sum of squared movements below which centres count as unmoved."""
    return TOLERANCE * table.spread


def inertia_of(own: NDArray[np.float64], table: ClusterRows) -> float:
    """Sum the squared distances of rows to their centres, times the weights."""
    return float((own * table.weights).sum())


def next_centres(table: ClusterRows, steps: Steps, sums: Sums, at: Round) -> Floats32:
    """Compute the means of the centres' rows; empty centres move to the farthest rows."""
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
    """Return the engine that :func:`rounds_on` set, for a number of pairs of rows and centres.

    None for the threads of this process.
    """
    chosen = _chosen.get()
    return None if chosen is None or pairs <= chosen.few_pairs else chosen


@contextmanager
def rounds_on(rounds: Rounds | None) -> Iterator[None]:
    """Run k-means on an engine within a context; None for this process."""
    if rounds is None:
        yield
        return
    before = _chosen.set(rounds)
    try:
        yield
    finally:
        _chosen.reset(before)
