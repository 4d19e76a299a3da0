"""The k nearest neighbours of every row within its own set, exact, in one symmetric pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.distances import Sieve, any_within, squared_distance
from calipers.estimate.jit import kernel
from calipers.estimate.tiles import BLOCK, Span, spans, triangle, workers


@dataclass(frozen=True)
class Nearest:
    """The nearest rows of every row, itself left out, closest first; equal ones by index.

    Attributes
    ----------
    squared
        Squared distances, shape ``(n, k)``, float64; infinite where fewer rows were seen.
    index
        Which rows they are, shape ``(n, k)``, int64; -1 where fewer rows were seen.
    """

    squared: NDArray[np.float64]
    index: NDArray[np.int64]

    @classmethod
    def empty(cls, n: int, k: int) -> Nearest:
        """Nothing seen yet."""
        return cls(np.full((n, k), np.inf), np.full((n, k), -1, np.int64))


def nearest_neighbours(
    points: Sieve, *, k: int, threads: int | None = None, block: int = BLOCK
) -> Nearest:
    """Find the k nearest neighbours of every row within its own set.

    Parameters
    ----------
    points
        The set, prepared by :func:`calipers.estimate.distances.sieves`.
    k
        How many neighbours, from 1 to n - 1.
    threads, block
        Where and in what pieces the work is done; neither changes the result.
    """
    result = Nearest.empty(len(points.rows), k)

    def work(tile: tuple[Span, Span]) -> tuple[tuple[Span, Span], Nearest, Nearest]:
        return tile, *nearest_in_tile(points, tile, result)

    tiles = triangle(spans(len(points.rows), block))
    with workers(threads) as pool:
        for (rows, columns), left, right in pool.map(work, tiles):
            merge_nearest(result, rows, left)
            merge_nearest(result, columns, right)
    return result


def nearest_in_tile(
    points: Sieve, tile: tuple[Span, Span], known: Nearest
) -> tuple[Nearest, Nearest]:
    """Nearest neighbours across one tile, for its rows and for its columns.

    Only pairs that could enter the lists of `known` are looked at; any state of `known`, also an
    empty one, leads to the same merged result.
    """
    (row0, row1), (column0, column1) = tile
    k = known.squared.shape[1]
    left, right = Nearest.empty(row1 - row0, k), Nearest.empty(column1 - column0, k)
    products = points.rows[row0:row1] @ points.rows[column0:column1].T
    row_limits = points.threshold(known.squared[row0:row1, -1])
    # On the diagonal rows and columns are the same, and share what tightens their limits
    column_limits = (
        row_limits if row0 == column0 else points.threshold(known.squared[column0:column1, -1])
    )
    _scan(
        products,
        points.points,
        points.low,
        row_limits,
        column_limits,
        row0,
        column0,
        points.half_scale,
        (left.squared, left.index, right.squared, right.index),
    )
    return left, right


def merge_nearest(into: Nearest, rows: Span, part: Nearest) -> None:
    """Merge the lists of one tile into the lists of the whole set, in place."""
    _merge(into.squared[rows[0] : rows[1]], into.index[rows[0] : rows[1]], part.squared, part.index)


@kernel
def _insert(squared: Any, index: Any, value: float, which: int) -> None:
    """Put one neighbour into a sorted list, if it belongs there."""
    last = squared.shape[0] - 1
    if value > squared[last] or (value == squared[last] and which > index[last] >= 0):
        return
    place = last
    while place > 0 and (
        squared[place - 1] > value or (squared[place - 1] == value and index[place - 1] > which)
    ):
        squared[place] = squared[place - 1]
        index[place] = index[place - 1]
        place -= 1
    squared[place] = value
    index[place] = which


@kernel
def _merge(squared: Any, index: Any, part_squared: Any, part_index: Any) -> None:
    for i in range(squared.shape[0]):
        for place in range(part_squared.shape[1]):
            if part_index[i, place] < 0 or part_squared[i, place] > squared[i, -1]:
                break
            _insert(squared[i], index[i], part_squared[i, place], part_index[i, place])


@kernel
def _tighten(squared: Any, limit: Any, half_scale: float) -> Any:
    """Bring the limit of the sieve down to the last distance of a full list, rounded up."""
    if squared[-1] == np.inf:
        return limit
    bound = np.float32(squared[-1] * half_scale * (1 + 2.0**-22) + 1e-36)
    return min(bound, limit)


@kernel
def _scan(
    products: Any,
    points: Any,
    low: Any,
    row_limits: Any,
    column_limits: Any,
    row0: int,
    column0: int,
    half_scale: float,
    lists: Any,
) -> None:
    left_squared, left_index, right_squared, right_index = lists
    width = products.shape[1]
    column_low = low[column0 : column0 + width]
    for r in range(products.shape[0]):
        row_low = low[row0 + r]
        limit = row_limits[r]
        start = r + 1 if row0 == column0 else 0
        for c0 in range(start, width, 64):
            c1 = min(c0 + 64, width)
            if not any_within(
                products[r, c0:c1], row_low, column_low[c0:c1], limit, column_limits[c0:c1]
            ):
                continue
            for c in range(c0, c1):
                bound = row_low + column_low[c] - products[r, c]
                if bound <= limit or bound <= column_limits[c]:
                    value = squared_distance(points[row0 + r], points[column0 + c])
                    _insert(left_squared[r], left_index[r], value, column0 + c)
                    _insert(right_squared[c], right_index[c], value, row0 + r)
                    limit = _tighten(left_squared[r], limit, half_scale)
                    column_limits[c] = _tighten(right_squared[c], column_limits[c], half_scale)
