"""The nearest rows of those whose candidates leave them open, by another look at all pairs.

The bounds of the sieve spare most of the exact distances once more: the candidates of a row, though
they do not settle it, tell how far its k-th nearest lies at most.

Nearest rows by the bounds of the sieve first, exact in the end.

While the pairs are scanned, every row keeps the few others with the smallest float32 bounds. All
it does not keep lie beyond the last of them, and so do their true distances: once the kept ones
are settled in float64 and the k-th lies before that last bound, they are the nearest. Where ties or
near-ties leave it open, all others are looked at again.

The k nearest neighbours of every row within its own set, exact, in one symmetric pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calipers.numeric.compile import inlined, kernel
from calipers.numeric.distances import FLOOR, Sieve, fill_panels, squared_distance
from calipers.numeric.simd import PANEL, Gates, lowest_bit, multiply_panels, patches, sift
from calipers.numeric.tiles import Span, Workers, block_of, panel_spans, triangle, workers


def search_again(
    rows: Sieve, others: Sieve, span: Span, still_open: Any, nearest: Any, *, own: bool
) -> None:
    """Find the nearest others of the rows of a span that are open, in place.

    Parameters
    ----------
    rows, others
        The two sets; with `own` they are one, and no row is its own neighbour.
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
    _search(
        (rows.panels, others.panels, rows.points, others.points),
        Gates.of(rows.low[span[0] : span[0] + len(limit)], limit),
        Gates.shut(others.low),  # the limits of rows alone count
        (squared, index),
        span[0],
        own,
    )


@inlined
def insert(squared: Any, index: Any, row: int, value: float, which: int) -> None:
    """Put one neighbour into a list sorted by distance and index, if it belongs there."""
    last = squared.shape[1] - 1
    if value > squared[row, last] or (
        value == squared[row, last] and which > index[row, last] >= 0
    ):
        return
    place = last
    while place > 0 and (
        squared[row, place - 1] > value
        or (squared[row, place - 1] == value and index[row, place - 1] > which)
    ):
        squared[row, place] = squared[row, place - 1]
        index[row, place] = index[row, place - 1]
        place -= 1
    squared[row, place] = value
    index[row, place] = which


@inlined
def _any_open(limit: Any, row: int) -> bool:
    highest = limit[row]
    for r in range(row, row + PANEL):
        highest = max(highest, limit[r])
    return bool(highest > -np.inf)


@kernel
def _search(sides: Any, rows: Any, columns: Any, nearest: Any, row0: int, own: bool) -> None:
    left_panels, right_panels, points, others = sides
    squared, index = nearest
    products, passing = np.empty((PANEL, PANEL), np.float32), np.empty(PANEL, np.uint64)
    for row in range(0, rows.low.shape[0], PANEL):
        for column in range(0, columns.low.shape[0], PANEL):
            if not _any_open(rows.limit, row):
                break
            multiply_panels(
                left_panels, (row0 + row) // PANEL, right_panels, column // PANEL, products
            )
            if sift(products, rows, columns, row, column, passing) == 0:
                continue
            for r in range(row, row + PANEL):
                bits = passing[r - row]
                while bits:
                    c = column + lowest_bit(bits)
                    bits &= bits - np.uint64(1)
                    if own and row0 + r == c:
                        continue
                    insert(squared, index, r, squared_distance(points, row0 + r, others, c), c)
                    if squared[r, -1] == 0:  # k copies, the first ones: nothing comes before them
                        rows.limit[r] = -np.inf
                        break


MORE = 4  # candidates beyond k, so that near-ties seldom leave a row open


@dataclass(frozen=True)
class Nearest:
    """The nearest rows of every row, closest first; equal ones by index.

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
        """Nothing seen yet, with room for the k nearest."""
        return cls(np.full((n, k + MORE), np.inf, np.float32), np.full((n, k + MORE), -1, np.int64))

    def merge(self, rows: Span, part: Candidates) -> None:
        """Take in what a tile found for some of the rows, in place."""
        own = slice(*rows)
        _merge(self.bound[own], self.which[own], part.bound, part.which)


def settle(
    candidates: Candidates, rows: Sieve, others: Sieve, k: int, pool: Workers, *, own: bool
) -> Nearest:
    """Find the k nearest others of every row among its candidates, exactly.

    Parameters
    ----------
    candidates
        Of every row, once all pairs were seen.
    rows, others
        The two sets; with `own` they are one, and no row is its own neighbour.
    """
    n = len(rows.points)
    nearest = Nearest(np.full((n, k), np.inf), np.full((n, k), -1, np.int64))

    def work(span: Span) -> None:
        part = slice(*span)
        found = nearest.squared[part], nearest.index[part]
        still_open = np.zeros(span[1] - span[0], np.bool_)
        _settle(
            (rows.points, others.points, rows.half_scale),
            (candidates.bound[part], candidates.which[part]),
            found,
            span[0],
            still_open,
        )
        if still_open.any():
            search_again(rows, others, span, still_open, found, own=own)

    for _ in pool.map(work, panel_spans(n, 480)):
        pass
    return nearest


@inlined
def keep(bounds: Any, index: Any, row: int, bound: Any, which: int) -> Any:
    """Put a candidate into its place; return the bound beyond which none is kept now."""
    last = bounds.shape[1] - 1
    if bound < bounds[row, last]:
        place = last
        while place > 0 and bounds[row, place - 1] > bound:
            bounds[row, place] = bounds[row, place - 1]
            index[row, place] = index[row, place - 1]
            place -= 1
        bounds[row, place] = bound
        index[row, place] = which
    return bounds[row, last]


@kernel
def _merge(bounds: Any, index: Any, part_bounds: Any, part_index: Any) -> None:
    for row in range(bounds.shape[0]):
        for place in range(part_bounds.shape[1]):
            bound = part_bounds[row, place]
            if not bound < bounds[row, -1]:
                break
            keep(bounds, index, row, bound, part_index[row, place])


@kernel
def _settle(sides: Any, candidates: Any, nearest: Any, start: int, still_open: Any) -> None:
    points, others, half_scale = sides
    bounds, which = candidates
    squared, index = nearest
    for row in range(squared.shape[0]):
        for place in range(bounds.shape[1]):
            other = which[row, place]
            if other >= 0:
                value = squared_distance(points, start + row, others, other)
                insert(squared, index, row, value, other)
        last = squared[row, -1] * half_scale * (1 + 2.0**-22) + FLOOR
        still_open[row] = not last < bounds[row, -1]


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
    found = Candidates.empty(n, k)
    block = block or block_of(n, n // 2, threads)

    def work(tile: tuple[Span, Span]) -> tuple[tuple[Span, Span], Candidates, Candidates]:
        return tile, *nearest_in_tile(points, tile, found)

    with workers(threads) as pool:
        for (rows, columns), left, right in pool.map(work, triangle(panel_spans(n, block))):
            found.merge(rows, left)
            found.merge(columns, right)
        return settle(found, points, points, k, pool, own=True)


def nearest_in_tile(
    points: Sieve, tile: tuple[Span, Span], known: Candidates
) -> tuple[Candidates, Candidates]:
    """Candidates across one tile, for its rows and for its columns.

    Only pairs that could enter the lists of `known` are looked at; any state of `known`, also an
    empty one, leads to the same nearest neighbours. Spans start at a multiple of 48.
    """
    (row0, row1), (column0, column1) = tile
    k = known.bound.shape[1] - MORE
    left, right = Candidates.empty(row1 - row0, k), Candidates.empty(column1 - column0, k)
    rows = _gates(points, row0, row1, known)
    # On the diagonal rows and columns are the same, and share what tightens their limits
    columns = rows if row0 == column0 else _gates(points, column0, column1, known)
    pairs = patches(row1 - row0, column1 - column0, points.panels)
    pairs = pairs[row0 + pairs[:, 0] <= column0 + pairs[:, 1]]
    _scan(points.panels, pairs, rows, columns, (row0, column0), left, right)
    return left, right


def _gates(points: Sieve, start: int, stop: int, known: Candidates) -> Gates:
    limit = fill_panels(known.bound[start:stop, -1], 0.0)
    return Gates.of(points.low[start : start + len(limit)], limit)


@kernel
def _scan(
    panels: Any, pairs: Any, rows: Any, columns: Any, places: Any, left: Any, right: Any
) -> None:
    """Go through all pairs of a tile that lie above the diagonal."""
    row0, column0 = places
    products, passing = np.empty((PANEL, PANEL), np.float32), np.empty(PANEL, np.uint64)
    for patch in range(pairs.shape[0]):
        row, column = pairs[patch, 0], pairs[patch, 1]
        multiply_panels(
            panels, (row0 + row) // PANEL, panels, (column0 + column) // PANEL, products
        )
        if sift(products, rows, columns, row, column, passing) == 0:
            continue
        for r in range(row, row + PANEL):
            bits = passing[r - row]
            if row0 + row == column0 + column:  # each pair once, and no row with itself
                bits &= ~np.uint64(0) << np.uint64(r - row) << np.uint64(1)
            while bits:
                c = column + lowest_bit(bits)
                bits &= bits - np.uint64(1)
                bound = rows.low[r] + columns.low[c] - products[r - row, c - column]
                if bound < rows.limit[r]:
                    last = keep(left.bound, left.which, r, bound, column0 + c)
                    rows.limit[r] = min(rows.limit[r], last)
                if bound < columns.limit[c]:
                    last = keep(right.bound, right.which, c, bound, row0 + r)
                    columns.limit[c] = min(columns.limit[c], last)
