"""k-means by Lloyd's algorithm, with a lower bound for every row and centre that spares most work.

When a centre moves by δ, its distance to a row shrinks by at most δ. Keeping that bound for every
pair (Elkan, ICML 2003), an iteration has to look only at pairs whose bound has fallen below the
distance to the row's own centre. A row changes its centre only when the float64 distance is
strictly smaller, so the inertia never rises. Sums are taken in row order, so the result does not
depend on the number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.distances import low_halves
from calipers.estimate.kmeans_kernels import (
    look_again,
    loosen,
    mean_rows,
    measure_own,
    nearest,
)
from calipers.estimate.tiles import Span, Workers, spans

# Above this share of pairs to look at, one matrix product is cheaper than single distances
DENSE = 0.04
# Bounds of more pairs than this would take over a gibibyte; all pairs are computed anew instead
MOST_BOUNDS = 2**28
TOLERANCE = 1e-4

Rows = NDArray[np.float32]


@dataclass(frozen=True)
class Clustering:
    """Where k-means came to rest.

    Attributes
    ----------
    labels
        Centre of every row, shape ``(n,)``, int32.
    inertia
        Sum of squared distances of the rows to their centres.
    iterations
        How many rounds it took.
    """

    labels: NDArray[np.int32]
    inertia: float
    iterations: int


@dataclass(frozen=True)
class _State:
    """What a run keeps between rounds, row by row; updated in place."""

    rows: Rows
    low: NDArray[np.float32]  # a lower bound of half the squared length of each row
    labels: NDArray[np.int32]
    own: NDArray[np.float64]  # squared distance of each row to its centre
    bounds: Rows | None  # (n, centres), lower bounds of the distances


def k_means(
    rows: Rows, centres: int, *, seed: int, max_iterations: int, workers: Workers
) -> Clustering:
    """Cluster rows from random ones of them as the first centres.

    Parameters
    ----------
    rows
        Shape ``(n, d)``, float32, centred.
    centres
        How many, from 1 to n.
    seed
        Of the choice of the first centres.
    max_iterations
        Rounds after which it stops in any case.
    workers
        The threads that share the rows; no effect on the result.
    """
    first = np.random.default_rng(seed).choice(len(rows), centres, replace=False)
    middle = rows[first]
    state = _state(rows, centres)
    parts = spans(len(rows), -(-len(rows) // (4 * workers.threads)))
    enough = TOLERANCE * float(rows.var(axis=0, dtype=np.float64).mean())
    drift = None
    rounds = 0
    while _assign(state, middle, drift, parts, workers) > 0 and rounds < max_iterations:
        rounds += 1
        moved = _relocate(_means(state, middle, workers), state)
        drift = np.sqrt(((moved - middle).astype(np.float64) ** 2).sum(axis=1))
        middle = moved
        if float(drift @ drift) <= enough:
            _assign(state, middle, drift, parts, workers)
            break
    return Clustering(state.labels, float(state.own.sum()), rounds)


def _state(rows: Rows, centres: int) -> _State:
    n = len(rows)
    bounds = np.empty((n, centres), np.float32) if n * centres <= MOST_BOUNDS else None
    return _State(rows, low_halves(rows), np.full(n, -1, np.int32), np.full(n, np.inf), bounds)


def _assign(
    state: _State,
    middle: Rows,
    drift: NDArray[np.float64] | None,
    parts: list[Span],
    workers: Workers,
) -> int:
    """Bring every row to its nearest centre; return how many changed theirs."""
    low = low_halves(middle)
    shrink = None if drift is None else (drift * (1 + 1e-6)).astype(np.float32)

    def work(part: Span) -> int:
        return _assign_part(state, slice(*part), middle, low, shrink)

    return sum(workers.map(work, parts))


def _assign_part(state: _State, part: slice, middle: Rows, low: Rows, drift: Rows | None) -> int:
    rows, labels, own = state.rows[part], state.labels[part], state.own[part]
    bounds = None if state.bounds is None else state.bounds[part]
    if drift is not None:
        measure_own(rows, middle, labels, own)
        if bounds is not None and loosen(bounds, drift, own, labels) <= DENSE * bounds.size:
            return int(look_again(rows, middle, labels, own, bounds))
    products = rows @ middle.T
    return int(nearest(products, rows, state.low[part], middle, low, labels, own, bounds))


def _means(state: _State, middle: Rows, workers: Workers) -> Rows:
    """The mean of every centre's rows; a centre without rows stays where it is."""
    order = np.argsort(state.labels, kind="stable")
    starts = np.searchsorted(state.labels[order], np.arange(len(middle) + 1))
    moved = middle.copy()

    def work(part: Span) -> None:
        mean_rows(state.rows, order, starts, part[0], part[1], moved)

    list(workers.map(work, spans(len(middle), -(-len(middle) // workers.threads))))
    return moved


def _relocate(middle: Rows, state: _State) -> Rows:
    """Move centres without rows onto the rows that are farthest from their own."""
    empty = np.flatnonzero(np.bincount(state.labels, minlength=len(middle)) == 0)
    if len(empty):
        farthest = np.argsort(-state.own, kind="stable")[: len(empty)]
        far = state.own[farthest] > 0
        middle[empty[far]] = state.rows[farthest[far]]
    return middle
