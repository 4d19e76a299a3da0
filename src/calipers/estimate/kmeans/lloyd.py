"""K-means by Lloyd's algorithm, with lower bounds for rows and centres that spare most distances.

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

from calipers.estimate.kmeans.centres import Centres, place_centres, unmoved
from calipers.estimate.kmeans.kernels import (
    VECTOR_LENGTH,
    Assignments,
    ClusterRows,
    assign,
    cluster_by_products,
    filled,
    measure_own,
    shift_sums,
)
from calipers.estimate.kmeans.rounds import (
    Clustering,
    Round,
    Sums,
    at_rest,
    chosen_rounds,
    inertia_of,
    run_rounds,
)
from calipers.numeric.arrays import Floats32
from calipers.numeric.panels import PANEL
from calipers.numeric.threads import Workers
from calipers.numeric.tiles import Span, panel_spans, spans

# Above this share of pairs to look at, all products are cheaper than single distances
DENSE = 0.04
# Bounds of more pairs than this would take over a gibibyte; all pairs are computed anew instead
MOST_BOUNDS = 2**28
# Rows up to which all their products, made once for all starts, spare more than they cost
FEW = 1024
GATHERED = 2**14  # rows that are copied to stand side by side
PIECE = 2**20  # pairs, or numbers to add up, that are worth a thread's while


def k_means(
    table: ClusterRows, centres: int, *, seed: int, max_iterations: int, workers: Workers
) -> Clustering:
    """Cluster rows, starting from random rows as centres.

    Parameters
    ----------
    table
        The rows and their weights, laid out.
    centres
        Number of cells, from 1 to n.
    seed
        Of the choice of the first centres; rows are drawn in proportion to their weights.
    max_iterations
        Rounds after which it stops in any case.
    workers
        The threads that share the rows; no effect on the result.
    """
    first, chosen = _draw(table, centres, seed), chosen_rounds(table.n * centres)
    if chosen is None and table.n <= FEW:
        rest = at_rest(table)
        found = cluster_by_products(table, first, rest=rest, max_iterations=max_iterations)
        if found is not None:
            labels, own, number = found
            return Clustering(labels, inertia_of(own, table), number)
    rounds = chosen or LocalRounds(workers)
    return rounds.run(table, table.rows[first], max_iterations)


def cell_means(table: ClusterRows, labels: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the mean of the rows of every cell, in the original coordinates; ``(cells, d)``."""
    sums, d = Sums.empty(int(labels.max()) + 1, table.rows.shape[1]), len(table.centre)
    add_rows(table, labels, sums, np.full(table.n, -1, np.int32), (0, d))
    means = sums.means(np.arange(len(sums.mass)))[:, :d]
    return np.ldexp(means, table.exponent) + table.centre


def add_rows(
    table: ClusterRows,
    labels: NDArray[np.int32],
    sums: Sums,
    counted: NDArray[np.int32],
    columns: Span,
) -> int:
    """Update sums from old labels to new ones; return the number of rows that differ."""
    both, shares = (counted, labels), (table.weights, table.unit)
    return shift_sums(table.rows, *both, *shares, sums.rows, sums.mass, columns)


def _draw(table: ClusterRows, centres: int, seed: int) -> NDArray[np.int64]:
    """Draw the rows that are the first centres."""
    shares = table.weights / table.weights.sum()
    return np.random.default_rng(seed).choice(
        table.n, centres, replace=False, p=None if (shares == shares[0]).all() else shares
    )


@dataclass(frozen=True)
class LocalRounds:
    """K-means on threads of this process, with as many bounds as memory allows."""

    workers: Workers

    def run(self, table: ClusterRows, first: Floats32, max_iterations: int) -> Clustering:
        """Cluster rows."""
        at = Round.first(first)
        places = len(at.centres.low)
        bounded = table.n * places <= MOST_BOUNDS
        steps = LocalSteps(table, places, self.workers, bounded=bounded)
        return run_rounds(table, steps, at, max_iterations)


class LocalSteps:
    """Assignments of rows in this process, with sums that follow them.

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

    def __init__(self, table: ClusterRows, places: int, workers: Workers, *, bounded: bool) -> None:
        n, bounded_rows = table.n, table.n if bounded else 0
        self._table, self._workers = table, workers
        self.found = Assignments(
            np.full(n, -1, np.int32),
            np.full(n, np.inf),
            _lines_of_cache(bounded_rows, places),
            np.full(
                (bounded_rows, -(-places // VECTOR_LENGTH**2) * VECTOR_LENGTH), np.inf, np.float32
            ),
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

    def start_from(self, labels: NDArray[np.int32], distances: NDArray[np.float64]) -> None:
        """Start every row from its centre after the iteration before, and its distance then."""
        self.found.labels[:], self.found.own[:] = labels, distances

    def assign(self, at: Round) -> None:
        """Assign every row to its nearest centre.

        Without bounds, a row that is no farther from its own centre than it was can only be nearer
        to a centre that moved; the others look at all centres.
        """
        table, assignments = self._table, self.found
        if len(assignments.bounds) or not at.number:
            self.bring(table.rows, table.low, assignments, at.centres)
            return
        before = self.own.copy()
        self._measure_own(at.centres)
        farther = np.flatnonzero(self.own > before)
        moved = np.flatnonzero(at.centres.drift[: at.count])
        if len(farther) / table.n + len(moved) / at.count >= 1:
            self.bring(table.rows, table.low, assignments, unmoved(at.centres))
            return
        for part in spans(len(farther), GATHERED):
            chosen = farther[slice(*part)]
            rows = np.zeros((filled(len(chosen), PANEL), table.rows.shape[1]), np.float32)
            low = np.full(len(rows), np.inf, np.float32)
            rows[: len(chosen)], low[: len(chosen)] = table.rows[chosen], table.low[chosen]
            of_them = Assignments(assignments.labels[chosen], assignments.own[chosen], *_NO_BOUNDS)
            self.bring(rows, low, of_them, unmoved(at.centres))
            assignments.labels[chosen], assignments.own[chosen] = of_them.labels, of_them.own
        if len(moved):
            place = np.full(at.count, -1, np.int32)
            place[moved] = np.arange(len(moved))
            among = Assignments(place[assignments.labels], assignments.own, *_NO_BOUNDS)
            start = among.labels.copy()
            self.bring(
                table.rows,
                table.low,
                among,
                place_centres(at.centres.values[moved], None, len(moved)),
            )
            changed = np.flatnonzero(among.labels != start)
            assignments.labels[changed] = moved[among.labels[changed]]

    def bring(
        self, rows: Floats32, low: Floats32, assignments: Assignments, centres: Centres
    ) -> None:
        """Assign rows to the nearest of some centres, in place.

        Parameters
        ----------
        rows, low
            As of a table.
        assignments
            What is known of them, with distances to the centres where these are now.
        centres
            Where they move to.
        """

        def work(part: Span) -> None:
            assign(rows, low, part, assignments, centres, DENSE)

        self._for_all(work, len(assignments.labels), len(centres.low))

    def _measure_own(self, centres: Centres) -> None:
        """Measure how far every row is from the centre that it has."""
        table = self._table

        def work(part: Span) -> None:
            measure_own(table.rows, self.labels, centres.values, self.own, part)

        self._for_all(work, table.n, table.rows.shape[1])

    def sum_up(self) -> Sums:
        """Update the sums."""
        table, depth = self._table, self._table.rows.shape[1]

        def work(part: Span) -> int:
            return add_rows(table, self.labels, self._sums, self._counted, part)

        pieces = _pieces(table.n * depth, self._workers.threads)
        width = -(-depth // (pieces * VECTOR_LENGTH)) * VECTOR_LENGTH
        changed = list(self._workers.map(work, spans(depth, width)))
        self._sums.changed = changed[0]
        self._counted[:] = self.labels
        return self._sums

    def _for_all(self, work: Callable[[Span], None], n: int, cost: int) -> None:
        """Share n rows among threads, where `cost` is the work of one row."""
        pieces = _pieces(n * cost, 4 * self._workers.threads)
        list(self._workers.map(work, panel_spans(n, -(-n // pieces))))


LINE = 64  # bytes that come from memory together


def _lines_of_cache(rows: int, columns: int) -> Floats32:
    """Room for rows whose every 16 numbers lie in one line of the cache."""
    room = np.empty(4 * rows * columns + LINE, np.uint8)
    start = -room.ctypes.data % LINE
    return room[start : start + 4 * rows * columns].view(np.float32).reshape(rows, columns)


_NO_BOUNDS = np.empty((0, 0), np.float32), np.empty((0, 0), np.float32)


def _pieces(work: int, most: int) -> int:
    return max(1, min(work // PIECE, most))
