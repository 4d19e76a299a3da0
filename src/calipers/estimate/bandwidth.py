"""How wide a kernel a set asks for: the median distance to a far neighbour, in memory O(n)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.distances import FLOOR, Sieve, fill_panels, squared_distance
from calipers.estimate.jit import kernel
from calipers.estimate.microkernel import PANEL, lowest_bit
from calipers.estimate.panels import Gates, multiply_panels, sift
from calipers.estimate.tiles import BLOCK, Span, panel_spans, workers

NEIGHBOURS_PER_DIMENSION = 5


def balloon_neighbour(n: int, d: int) -> int:
    """Which neighbour the balloon bandwidth looks at: five for each dimension, at most all."""
    return min(NEIGHBOURS_PER_DIMENSION * d, n - 1)


def balloon_bandwidth(points: Sieve, *, threads: int | None = None, block: int = BLOCK) -> float:
    """Return the median distance of the rows to their (5 d)-th nearest other row.

    Parameters
    ----------
    points
        At least two rows, prepared by :func:`calipers.estimate.distances.sieves`.
    threads, block
        Where and in what pieces the work is done; neither changes the result.
    """
    k = balloon_neighbour(*points.points.shape)
    return float(np.median(np.sqrt(kth_squared(points, k, threads=threads, block=block))))


def kth_squared(
    points: Sieve, k: int, *, threads: int | None = None, block: int = BLOCK
) -> NDArray[np.float64]:
    """Squared distance of every row to its k-th nearest other row, exact, shape ``(n,)``.

    Where :func:`calipers.estimate.nearest.nearest_neighbours` keeps sorted lists of all rows, this
    keeps loose ones of the rows in work, since k is large and nothing but the k-th is wanted.
    """

    def work(rows: Span) -> NDArray[np.float64]:
        return _kth_of(points, rows, k)

    with workers(threads) as pool:
        return np.concatenate(list(pool.map(work, panel_spans(len(points.points), block))))


def _kth_of(points: Sieve, rows: Span, k: int) -> NDArray[np.float64]:
    """Keep at most 2 k candidates of each row; the k nearest among them are never dropped."""
    count = rows[1] - rows[0]
    found = np.full((count, 2 * k), np.inf)
    open_to_all = fill_panels(np.full(count, np.inf, np.float32), 0.0)
    gates = Gates.of(points.low[rows[0] : rows[0] + len(open_to_all)], open_to_all)
    # Only the limits of the rows count here: each pair is seen from both of its sides
    columns = Gates.shut(points.low)
    _collect(points.panels, points.points, gates, columns, rows[0], points.half_scale, found, k)
    nearest: NDArray[np.float64] = np.partition(found, k - 1, axis=1)[:, k - 1]
    return nearest


@kernel
def _collect(
    panels: Any,
    points: Any,
    rows: Any,
    columns: Any,
    row0: int,
    half_scale: float,
    found: Any,
    k: int,
) -> None:
    products = np.empty((PANEL, PANEL), np.float32)
    passing = np.empty(PANEL, np.uint64)
    filled = np.zeros(found.shape[0], np.int64)
    for column in range(0, columns.low.shape[0], PANEL):
        for row in range(0, rows.low.shape[0], PANEL):
            multiply_panels(panels, (row0 + row) // PANEL, panels, column // PANEL, products)
            if sift(products, rows, columns, row, column, passing) == 0:
                continue
            for r in range(row, row + PANEL):
                bits = passing[r - row]
                while bits:
                    c = column + lowest_bit(bits)
                    bits &= bits - np.uint64(1)
                    bound = rows.low[r] + columns.low[c] - products[r - row, c - column]
                    if bound < rows.limit[r] and row0 + r != c:
                        found[r, filled[r]] = squared_distance(points, row0 + r, points, c)
                        filled[r] += 1
                        if filled[r] == 2 * k:
                            last = _drop_farther(found[r], k)
                            filled[r] = k
                            # Rounded up, so that no row that could still be nearer falls through
                            reach = last * half_scale * (1 + 2.0**-22) + FLOOR
                            rows.limit[r] = min(rows.limit[r], np.float32(reach))


@kernel
def _drop_farther(squared: Any, k: int) -> float:
    """Move the k smallest to the front, forget the others, and return the largest that stays.

    Hoare's selection: NumPy's own takes five seconds to compile.
    """
    low, high = 0, squared.shape[0] - 1
    while low < high:
        pivot, left, right = squared[(low + high) // 2], low, high
        while left <= right:
            while squared[left] < pivot:
                left += 1
            while squared[right] > pivot:
                right -= 1
            if left <= right:
                squared[left], squared[right] = squared[right], squared[left]
                left += 1
                right -= 1
        if k - 1 <= right:
            high = right
        elif k - 1 >= left:
            low = left
        else:
            break
    squared[k:] = np.inf
    return float(squared[k - 1])
