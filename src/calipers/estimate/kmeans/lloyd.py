"""K-means by Lloyd's algorithm, with a lower bound for every row and centre that spares most work.

When a centre moves by δ, its distance to a row shrinks by at most δ. Keeping that bound for every
pair (Elkan, ICML 2003), an iteration has to look only at pairs whose bound has fallen below the
distance to the row's own centre. A second bound, for the nearest of 16 centres (after Ding et al.,
ICML 2015), tells for most of them at once that none has. A row changes its centre only when the
float64 distance is strictly smaller, so the inertia never rises. Sums are taken in row order, so
the result does not depend on the number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.kmeans.kernels import (
    Assignments,
    Floats,
    Table,
    assign,
    filled,
    mean_rows,
    shift_sums,
)
from calipers.numeric.compile import kernel
from calipers.numeric.distances import slack
from calipers.numeric.simd import PANEL, VECTOR_LENGTH
from calipers.numeric.threads import Workers
from calipers.numeric.tiles import Span, panel_spans, spans


class Centres(NamedTuple):
    """The centres of one round, and how far they have moved since the first.

    Attributes
    ----------
    values, low
        As in :class:`Table`; the bound is infinite for places that hold no centre.
    panels
        The same centres as panels of 48, ``(panels, depth, 48)``.
    drift
        How far each has moved in the last round, float64.
    total
        How far each has moved in all rounds together, never below the truth, float32.
    group_total
        The same for groups of 16: in each round the farthest move counts.
    """

    values: Floats
    low: Floats
    panels: Floats
    drift: NDArray[np.float64]
    total: Floats
    group_total: Floats


def place_centres(values: Floats, before: Centres | None, count: int) -> Centres:
    """Lay out centres, ``(count, depth)`` float32, and add up how far they moved."""
    places = filled(count, PANEL)
    groups = filled(places // VECTOR_LENGTH, VECTOR_LENGTH)
    laid = Centres(
        np.zeros((places, values.shape[1]), np.float32),
        np.full(places, np.inf, np.float32),
        np.zeros((places // PANEL, values.shape[1], PANEL), np.float32),
        np.zeros(places),
        np.zeros(places, np.float32),
        np.zeros(groups, np.float32),
    )
    laid.values[:count] = values
    share = 0.5 * (1 - slack(values.shape[1]))
    _lay_centres(laid, laid if before is None else before, count, share)
    return laid


@kernel
def _lay_centres(laid: Any, before: Any, count: int, share: float) -> None:
    up = np.float32(1 + 2.0**-22)
    for c in range(count):
        squared, moved = 0.0, 0.0
        for t in range(laid.values.shape[1]):
            value = np.float64(laid.values[c, t])
            laid.panels[c // PANEL, t, c % PANEL] = laid.values[c, t]
            squared += value * value
            moved += (value - np.float64(before.values[c, t])) ** 2
        laid.low[c] = share * squared
        laid.drift[c] = np.sqrt(moved)
        laid.total[c] = (before.total[c] + np.float32(laid.drift[c])) * up
    for c in range(0, count, VECTOR_LENGTH):
        farthest = 0.0  # a loop: the maximum of an array compiles ten times as long
        for other in range(c, min(c + VECTOR_LENGTH, laid.drift.shape[0])):
            farthest = max(farthest, laid.drift[other])
        laid.group_total[c // VECTOR_LENGTH] = (
            before.group_total[c // VECTOR_LENGTH] + np.float32(farthest)
        ) * up


# Above this share of pairs to look at, all products are cheaper than single distances
DENSE = 0.04
# Bounds of more pairs than this would take over a gibibyte; all pairs are computed anew instead
MOST_BOUNDS = 2**28
TOLERANCE = 1e-4
PIECE = 2**20  # pairs, or numbers to add up, that are worth a thread's while


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


@dataclass(frozen=True)
class _Run:
    """What a run keeps between rounds; the arrays are updated in place."""

    table: Table
    found: Assignments
    counted: NDArray[np.int32]  # the labels that are in the sums
    sums: NDArray[np.float64]  # (centres, depth)
    workers: Workers


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
    middle = place_centres(table.rows[_draw(table, centres, seed)], None, centres)
    run = _start(table, len(middle.low), workers)
    _assign(run, middle)
    rounds = 0
    while _sum_up(run) > 0 and rounds < max_iterations:
        rounds += 1
        middle = place_centres(_means(run, middle, centres), middle, centres)
        _assign(run, middle)
        if float(middle.drift @ middle.drift) <= TOLERANCE * table.spread:
            break
    inertia = float((run.found.own * table.weights).sum())
    return Clustering(run.found.labels, inertia, rounds)


def cell_means(table: Table, labels: NDArray[np.int32]) -> NDArray[np.float64]:
    """The mean of the rows of every cell, as given before they were laid out; ``(cells, d)``."""
    count, d = int(labels.max()) + 1, len(table.centre)
    sums, nothing = np.zeros((count, table.rows.shape[1])), np.full(table.n, -1, np.int32)
    shift_sums(table.rows, nothing, labels, table.weights, sums, 0, d)
    means = sums[:, :d] / np.bincount(labels, table.weights)[:, None]
    return np.ldexp(means, table.exponent) + table.centre


def _draw(table: Table, centres: int, seed: int) -> NDArray[np.int64]:
    """Draw the rows that are the first centres."""
    shares = table.weights / table.weights.sum()
    return np.random.default_rng(seed).choice(
        table.n, centres, replace=False, p=None if (shares == shares[0]).all() else shares
    )


def _start(table: Table, places: int, workers: Workers) -> _Run:
    n, kept = table.n, table.n if table.n * places <= MOST_BOUNDS else 0
    found = Assignments(
        np.full(n, -1, np.int32),
        np.full(n, np.inf),
        np.empty((kept, places), np.float32),
        np.full((kept, -(-places // VECTOR_LENGTH**2) * VECTOR_LENGTH), np.inf, np.float32),
    )
    sums = np.zeros((places, table.rows.shape[1]))
    return _Run(table, found, np.full(n, -1, np.int32), sums, workers)


def _assign(run: _Run, middle: Centres) -> None:
    """Bring every row to its nearest centre."""
    table = run.table

    def work(part: Span) -> None:
        assign(table.rows, table.low, part[0], part[1], run.found, middle, DENSE)

    pieces = _pieces(table.n * len(middle.low), 4 * run.workers.threads)
    list(run.workers.map(work, panel_spans(table.n, -(-table.n // pieces))))


def _sum_up(run: _Run) -> int:
    """Bring the sums up to date; return how many rows changed their centre."""
    table, labels = run.table, run.found.labels
    depth = table.rows.shape[1]

    def work(part: Span) -> int:
        counted = shift_sums(table.rows, run.counted, labels, table.weights, run.sums, *part)
        return int(counted)

    pieces = _pieces(table.n * depth, run.workers.threads)
    width = -(-depth // (pieces * VECTOR_LENGTH)) * VECTOR_LENGTH
    changed = list(run.workers.map(work, spans(depth, width)))
    run.counted[:] = labels
    return changed[0]


def _pieces(work: int, most: int) -> int:
    return max(1, min(work // PIECE, most))


def _means(run: _Run, middle: Centres, centres: int) -> Floats:
    """Means of the centres' rows; centres without rows move to the rows farthest from their own."""
    moved, counts = middle.values[:centres].copy(), np.zeros(centres, np.int64)
    mean_rows(run.sums, run.found.labels, run.table.weights, moved, counts)
    empty = np.flatnonzero(counts == 0)
    if len(empty):
        costs = run.found.own * run.table.weights
        farthest = np.argsort(-costs, kind="stable")[: len(empty)]
        far = costs[farthest] > 0
        moved[empty[far]] = run.table.rows[farthest[far]]
    return moved
