"""K-means by Lloyd's algorithm, with a lower bound for every row and centre that spares most work.

When a centre moves by δ, its distance to a row shrinks by at most δ. Keeping that bound for every
pair (Elkan, ICML 2003), an iteration has to look only at pairs whose bound has fallen below the
distance to the row's own centre. A second bound, for the nearest of 16 centres (after Ding et al.,
ICML 2015), tells for most of them at once that none has. A row changes its centre only when the
float64 distance is strictly smaller, so the inertia never rises. Sums are whole numbers, so the
result does not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.kmeans.kernels import (
    Assignments,
    Floats,
    Table,
    assign,
    measure_own,
    shift_sums,
)
from calipers.estimate.kmeans.rounds import Clustering, Round, Sums, chosen_rounds, run_rounds
from calipers.numeric.simd import VECTOR_LENGTH
from calipers.numeric.threads import Workers
from calipers.numeric.tiles import Span, panel_spans, spans

# Above this share of pairs to look at, all products are cheaper than single distances
DENSE = 0.04
# Bounds of more pairs than this would take over a gibibyte; all pairs are computed anew instead
MOST_BOUNDS = 2**28
PIECE = 2**20  # pairs, or numbers to add up, that are worth a thread's while


def k_means(
    table: Table, centres: int, *, seed: int, max_iterations: int, workers: Workers
) -> Clustering:
    """Cluster rows from random ones of them as the first centres.

    Parameters
    ----------
    table
        The rows and their weights, laid out.
    centres
        How many, from 1 to n.
    seed
        Of the choice of the first centres; rows are drawn in proportion to their weights.
    max_iterations
        Rounds after which it stops in any case.
    workers
        The threads that share the rows; no effect on the result.
    """
    rounds = chosen_rounds(table.n * centres) or LocalRounds(workers)
    return rounds.run(table, table.rows[_draw(table, centres, seed)], max_iterations)


def cell_means(table: Table, labels: NDArray[np.int32]) -> NDArray[np.float64]:
    """The mean of the rows of every cell, as given before they were laid out; ``(cells, d)``."""
    sums, d = Sums.empty(int(labels.max()) + 1, table.rows.shape[1]), len(table.centre)
    add_rows(table, labels, sums, np.full(table.n, -1, np.int32), (0, d))
    means = sums.means(np.arange(len(sums.mass)))[:, :d]
    return np.ldexp(means, table.exponent) + table.centre


def add_rows(
    table: Table,
    labels: NDArray[np.int32],
    sums: Sums,
    counted: NDArray[np.int32],
    columns: Span,
) -> int:
    """Bring sums from the labels that are in them to others; return how many rows differ."""
    both = counted, labels
    return int(
        shift_sums(table.rows, *both, table.weights, table.unit, sums.rows, sums.mass, *columns)
    )


def _draw(table: Table, centres: int, seed: int) -> NDArray[np.int64]:
    """Draw the rows that are the first centres."""
    shares = table.weights / table.weights.sum()
    return np.random.default_rng(seed).choice(
        table.n, centres, replace=False, p=None if (shares == shares[0]).all() else shares
    )


@dataclass(frozen=True)
class LocalRounds:
    """K-means on threads of this process, with all bounds for which there is room."""

    workers: Workers

    def run(self, table: Table, first: Floats, max_iterations: int) -> Clustering:
        """Cluster rows."""
        at = Round.first(first)
        places = len(at.centres.low)
        bounded = table.n * places <= MOST_BOUNDS
        steps = LocalSteps(table, places, self.workers, bounded=bounded)
        return run_rounds(table, steps, at, max_iterations)


class LocalSteps:
    """Rows at their centres, in this process, with sums that follow them.

    Parameters
    ----------
    table
        The rows.
    places
        Centres, filled up to whole panels.
    workers
        The threads that share the rows.
    bounded
        Whether bounds are kept for every row and centre.
    """

    def __init__(self, table: Table, places: int, workers: Workers, *, bounded: bool) -> None:
        n, kept = table.n, table.n if bounded else 0
        self._table, self._workers = table, workers
        self.found = Assignments(
            np.full(n, -1, np.int32),
            np.full(n, np.inf),
            np.empty((kept, places), np.float32),
            np.full((kept, -(-places // VECTOR_LENGTH**2) * VECTOR_LENGTH), np.inf, np.float32),
        )
        self._counted = np.full(n, -1, np.int32)  # the labels that are in the sums
        self._sums = Sums.empty(places, table.rows.shape[1])

    @property
    def labels(self) -> NDArray[np.int32]:
        """Centre of every row."""
        return self.found.labels

    @property
    def own(self) -> NDArray[np.float64]:
        """Squared distance of every row to it."""
        return self.found.own

    def start_from(self, labels: NDArray[np.int32]) -> None:
        """Give every row a centre that it had in a round before."""
        self.found.labels[:] = labels

    def assign(self, at: Round) -> None:
        """Bring every row to its nearest centre."""
        table, middle = self._table, at.centres

        def work(part: Span) -> None:
            assign(table.rows, table.low, part[0], part[1], self.found, middle, DENSE)

        self._for_all(work, len(middle.low))

    def measure_own(self, at: Round) -> None:
        """Measure how far every row is from the centre that it has."""
        table, middle = self._table, at.centres

        def work(part: Span) -> None:
            measure_own(table.rows, self.labels, middle.values, self.own, *part)

        self._for_all(work, table.rows.shape[1])

    def sum_up(self) -> Sums:
        """Bring the sums up to date."""
        table, depth = self._table, self._table.rows.shape[1]

        def work(part: Span) -> int:
            return add_rows(table, self.labels, self._sums, self._counted, part)

        pieces = _pieces(table.n * depth, self._workers.threads)
        width = -(-depth // (pieces * VECTOR_LENGTH)) * VECTOR_LENGTH
        changed = list(self._workers.map(work, spans(depth, width)))
        self._sums.changed = changed[0]
        self._counted[:] = self.labels
        return self._sums

    def _for_all(self, work: Callable[[Span], None], each: int) -> None:
        """Share the rows among threads, where `each` is how much work a row is."""
        n = self._table.n
        pieces = _pieces(n * each, 4 * self._workers.threads)
        list(self._workers.map(work, panel_spans(n, -(-n // pieces))))


def _pieces(work: int, most: int) -> int:
    return max(1, min(work // PIECE, most))
