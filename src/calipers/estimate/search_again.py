"""The nearest rows of those whose candidates leave them open, by another look at all pairs.

The bounds of the sieve spare most of the exact distances once more: the candidates of a row, though
they do not settle it, tell how far its k-th nearest lies at most.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from calipers.estimate.distances import Sieve, squared_distance
from calipers.estimate.jit import inlined, kernel
from calipers.estimate.microkernel import PANEL, lowest_bit
from calipers.estimate.panels import Gates, multiply_panels, sift
from calipers.estimate.tiles import Span


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
