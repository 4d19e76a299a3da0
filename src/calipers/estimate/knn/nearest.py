"""The k nearest neighbours of every row, exact, from float32 bounds.

While the pairs are scanned, every row keeps the few others with the smallest bounds. All that it
does not keep lie beyond the last of them, and so do their true distances: once the kept ones are
settled in float64 and the k-th lies before that last bound, they are the nearest. Where ties or
near-ties leave a row open, all pairs are looked at again, up to the k-th distance known so far.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.knn.kernels import (
    merge_candidates,
    scan_nearest,
    search_open,
    settle_candidates,
)
from calipers.numeric.arrays import Vector
from calipers.numeric.distances import Sieve, fill_panels
from calipers.numeric.panels import Thresholds, patches
from calipers.numeric.scratch import filled
from calipers.numeric.threads import Workers, workers
from calipers.numeric.tiles import Span, block_of, panel_spans, rectangle, triangle


def search_again(
    rows: Sieve, others: Sieve, span: Span, still_open: Any, nearest: Any, *, same_set: bool
) -> None:
    """Find the nearest others of undecided rows of a span, in place.

    Parameters
    ----------
    rows, others
        The two sets; with `same_set` they are one, and no row is its own neighbour.
    span
        The rows in question; starts at a multiple of 48.
    still_open
        Which of them are open, shape ``(rows,)``.
    nearest
        Squared distances and indices of k others for each, shapes ``(rows, k)``: no nearer than
        the nearest, and so an upper bound of what is looked for.
    """
    squared, index = nearest
    farthest = np.where(still_open, squared[:, -1], -np.inf)
    squared[still_open], index[still_open] = np.inf, -1
    limit = rows.limits(farthest)
    limit[len(farthest) :] = -np.inf
    search_open(
        rows.panels,
        others.panels,
        rows.rounded,
        others.rounded,
        rows.points,
        others.points,
        Thresholds.of(rows.low[span[0] : span[0] + len(limit)], limit),
        Thresholds.shut(others.low),  # the limits of rows alone count
        squared,
        index,
        span[0],
        same_set,
    )


MORE = 4  # candidates beyond k, so that near-ties seldom leave a row open


@dataclass(frozen=True)
class Nearest:
    """The nearest rows of every row, closest first, ties by index.

    Attributes
    ----------
    squared
        Squared distances, shape ``(n, k)``, float64.
    index
        Which rows they are, shape ``(n, k)``, int64.
    """

    squared: NDArray[np.float64]
    index: NDArray[np.int64]


class Candidates(NamedTuple):
    """The rows with the smallest bounds, smallest first.

    Attributes
    ----------
    bound
        Bounds in the scale of the sieve, shape ``(n, kept)``, float32; infinite where fewer rows
        were seen.
    which
        Which rows they are, shape ``(n, kept)``, int64; -1 where fewer rows were seen.
    """

    bound: NDArray[np.float32]
    which: NDArray[np.int64]

    @classmethod
    def empty(cls, n: int, k: int) -> Candidates:
        """Return no candidates, with room for the k nearest."""
        return cls(filled((n, k + MORE), np.inf, np.float32), filled((n, k + MORE), -1, np.int64))

    @property
    def k(self) -> int:
        """Number of nearest rows that they serve."""
        return int(self.bound.shape[1]) - MORE

    def merge(self, rows: Span, part: Candidates) -> None:
        """Merge the candidates of a tile for some rows, in place."""
        span = slice(*rows)
        merge_candidates(self.bound[span], self.which[span], part.bound, part.which)


def settle(
    candidates: Candidates, rows: Sieve, others: Sieve, k: int, pool: Workers, *, same_set: bool
) -> Nearest:
    """Find the k nearest others of every row among its candidates, exactly.

    Parameters
    ----------
    candidates
        Of every row, once all pairs were seen.
    rows, others
        The two sets; with `same_set` they are one, and no row is its own neighbour.
    """
    n = len(rows.points)
    nearest = Nearest(filled((n, k), np.inf, np.float64), filled((n, k), -1, np.int64))

    def work(span: Span) -> None:
        part = slice(*span)
        open_nearest = nearest.squared[part], nearest.index[part]
        still_open = np.zeros(span[1] - span[0], np.bool_)
        settle_candidates(
            rows.points,
            others.points,
            rows.half_scale,
            candidates.bound[part],
            candidates.which[part],
            *open_nearest,
            span[0],
            still_open,
        )
        if still_open.any():
            search_again(rows, others, span, still_open, open_nearest, same_set=same_set)

    for _ in pool.map(work, panel_spans(n, 480)):
        pass
    return nearest


def nearest_neighbours(
    points: Sieve, *, k: int, threads: int | None = None, block: int | None = None
) -> Nearest:
    """Find the k nearest neighbours of every row within its own set, itself left out.

    Parameters
    ----------
    points
        The set, prepared by :func:`calipers.numeric.distances.sieves`.
    k
        How many neighbours, from 1 to n - 1.
    threads, block
        Where and in what pieces the work is done; neither changes the result.
    """
    n = len(points.points)
    candidates = Candidates.empty(n, k)
    block = block or block_of(n, n // 2, threads)

    def work(tile: tuple[Span, Span]) -> tuple[tuple[Span, Span], Candidates, Candidates]:
        return tile, *nearest_in_tile(
            (points, points), tile, (candidates, candidates), same_set=True
        )

    with workers(threads) as pool:
        points.prepare(pool)
        for (rows, columns), left, right in pool.map(work, triangle(panel_spans(n, block))):
            candidates.merge(rows, left)
            candidates.merge(columns, right)
        return settle(candidates, points, points, k, pool, same_set=True)


def nearest_between(
    left: Sieve,
    right: Sieve,
    *,
    k: int,
    within: tuple[Vector | None, Vector | None] = (None, None),
    threads: int | None = None,
    block: int | None = None,
) -> tuple[Nearest, Nearest]:
    """Find the k nearest rows of the other set for every row of two sets.

    Parameters
    ----------
    left, right
        The sets, prepared together by :func:`calipers.numeric.distances.sieves`.
    k
        How many, from 1; where the other set is smaller, all of it.
    within
        For every left row and every right row, a squared distance beyond which no other matters,
        float64; None for no such limit. Some beyond it may be found, or none.
    threads, block
        Where and in what pieces the work is done; neither changes the result.

    Returns
    -------
    tuple of Nearest
        Of the left rows among the right ones, and of the right rows among the left ones. Where
        fewer than k lie `within`, infinite distances and places of -1 may end a row.
    """
    n, m = len(left.points), len(right.points)
    candidates = Candidates.empty(n, min(k, m)), Candidates.empty(m, min(k, n))
    block = block or block_of(n, m, threads)

    def work(tile: tuple[Span, Span]) -> tuple[tuple[Span, Span], Candidates, Candidates]:
        limits = tuple(
            None if squared is None else squared[slice(*span)]
            for squared, span in zip(within, tile, strict=True)
        )
        return tile, *nearest_in_tile(
            (left, right), tile, candidates, within=(limits[0], limits[1]), same_set=False
        )

    with workers(threads) as pool:
        left.prepare(pool)
        right.prepare(pool)
        tiles = rectangle(panel_spans(n, block), panel_spans(m, block))
        for (rows, columns), ours, theirs in pool.map(work, tiles):
            candidates[0].merge(rows, ours)
            candidates[1].merge(columns, theirs)
        return (
            settle(candidates[0], left, right, candidates[0].k, pool, same_set=False),
            settle(candidates[1], right, left, candidates[1].k, pool, same_set=False),
        )


def nearest_in_tile(
    sets: tuple[Sieve, Sieve],
    tile: tuple[Span, Span],
    known: tuple[Candidates, Candidates],
    *,
    within: tuple[Vector | None, Vector | None] = (None, None),
    same_set: bool,
) -> tuple[Candidates, Candidates]:
    """Find the candidates across one tile, for its rows and columns.

    Only pairs that could enter the lists of `known` are looked at; any state of `known`, also an
    empty one, leads to the same nearest neighbours, and so do squared distances `within` which they
    lie, for the rows and the columns of the tile. Spans start at a multiple of 48. With
    `same_set` both sets are one, and no row is its own neighbour.
    """
    (row0, row1), (column0, column1) = tile
    left = Candidates.empty(row1 - row0, known[0].k)
    right = Candidates.empty(column1 - column0, known[1].k)
    rows = _thresholds(sets[0], row0, row1, known[0], within[0])
    # On the diagonal rows and columns are the same, and share what tightens their limits
    diagonal = same_set and row0 == column0
    columns = rows if diagonal else _thresholds(sets[1], column0, column1, known[1], within[1])
    panels = sets[0].panels, sets[1].panels
    pairs = patches(row1 - row0, column1 - column0, panels[0])
    if same_set:
        pairs = pairs[row0 + pairs[:, 0] <= column0 + pairs[:, 1]]
    rounded = sets[0].rounded, sets[1].rounded
    points = sets[0].points, sets[1].points
    limits, places = (rows, columns, sets[0].half_scale), (row0, column0, same_set)
    scan_nearest(*panels, *rounded, *points, pairs, *limits, *places, left, right)
    return left, right


def _thresholds(
    points: Sieve, start: int, stop: int, known: Candidates, within: Vector | None
) -> Thresholds:
    limit = fill_panels(known.bound[start:stop, -1], 0.0)
    if within is not None:
        limit = np.minimum(limit, points.limits(within))
    return Thresholds.of(points.low[start : start + len(limit)], limit)
