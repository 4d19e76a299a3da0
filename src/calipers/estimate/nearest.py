"""The k nearest neighbours of every row within its own set, exact, in one symmetric pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from calipers.estimate.candidates import MORE, Candidates, Nearest, keep, settle
from calipers.estimate.distances import Sieve, fill_panels
from calipers.estimate.jit import kernel
from calipers.estimate.microkernel import PANEL, lowest_bit
from calipers.estimate.panels import Gates, multiply_panels, patches, sift
from calipers.estimate.tiles import Span, block_of, panel_spans, triangle, workers


def nearest_neighbours(
    points: Sieve, *, k: int, threads: int | None = None, block: int | None = None
) -> Nearest:
    """Find the k nearest neighbours of every row within its own set, itself left out.

    Parameters
    ----------
    points
        The set, prepared by :func:`calipers.estimate.distances.sieves`.
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
