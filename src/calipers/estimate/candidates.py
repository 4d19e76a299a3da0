"""Nearest rows by the bounds of the sieve first, exact in the end.

While the pairs are scanned, every row keeps the few others with the smallest float32 bounds. All
it does not keep lie beyond the last of them, and so do their true distances: once the kept ones
are settled in float64 and the k-th lies before that last bound, they are the nearest. Where ties or
near-ties leave it open, all others are looked at again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.distances import FLOOR, Sieve, squared_distance
from calipers.estimate.jit import inlined, kernel
from calipers.estimate.search_again import insert, search_again
from calipers.estimate.tiles import Span, Workers, panel_spans

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
