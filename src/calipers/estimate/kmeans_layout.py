"""How k-means lays out rows: centred, scaled, and filled with zeros to whole vectors and panels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.distances import Points, centre_and_scale, slack
from calipers.estimate.jit import kernel
from calipers.estimate.lanes import LANES
from calipers.estimate.microkernel import PANEL
from calipers.estimate.tiles import Span, Workers, panel_spans

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Table:
    """Rows to cluster, one set after the other.

    Attributes
    ----------
    rows
        Centred and scaled to absolute values of at most about 1; shape ``(places, depth)``,
        float32. Rows behind the first n and columns behind the first d are zero.
    low
        A lower bound of half the squared length of each row, as float32 products can know it.
    weights
        What each of the n rows counts, float64, 1 on average.
    n
        Number of rows that were given.
    centre, exponent
        What was taken from the rows, shape ``(d,)``, and the power of two by which they were then
        divided.
    """

    rows: Floats
    low: Floats
    weights: NDArray[np.float64]
    n: int
    centre: NDArray[np.float64]
    exponent: int

    @cached_property
    def spread(self) -> float:
        """Variance of a column, averaged over the columns."""
        squared = self.weights @ self.low[: self.n] / (0.5 * (1 - slack(self.rows.shape[1])))
        mean = self.weights.astype(np.float32) @ self.rows[: self.n] / self.n
        return float(squared / self.n - mean @ mean) / len(self.centre)


def lay_out(
    sets: Sequence[Points], workers: Workers, weights: Sequence[float] | None = None
) -> Table:
    """Centre and scale sets of rows, and lay them out one after the other.

    `weights` are what each row of each set counts (default: 1).
    """
    sizes = [len(points) for points in sets]
    n, d = sum(sizes), sets[0].shape[1]
    centre, exponent = centre_and_scale(sets, workers)
    rows = np.empty((filled(n, PANEL), filled(d, LANES)), np.float32)
    low = np.empty(len(rows), np.float32)
    starts = np.cumsum([0, *sizes])
    factors = 2.0**-exponent, 0.5 * (1 - slack(rows.shape[1]))

    def work(piece: tuple[Points, int, Span]) -> None:
        points, start, (first, last) = piece
        place = slice(start + first, start + last)
        _lay_rows(points[first:last], centre, *factors, rows[place], low[place])

    pieces = [
        (points, int(start), span)
        for points, start in zip(sets, starts, strict=False)
        for span in panel_spans(len(points))
    ]
    list(workers.map(work, pieces))
    rows[n:], low[n:] = 0.0, np.inf
    each = np.repeat(np.ones(len(sets)) if weights is None else np.asarray(weights), sizes)
    return Table(rows, low, each, n, centre, exponent)


def filled(count: int, whole: int) -> int:
    """The next multiple of a whole from a count on."""
    return -(-count // whole) * whole


@kernel
def _lay_rows(points: Any, centre: Any, scale: float, share: float, rows: Any, low: Any) -> None:
    d = points.shape[1]
    for i in range(points.shape[0]):
        squared = 0.0
        for t in range(d):
            value = np.float32((np.float64(points[i, t]) - centre[t]) * scale)
            rows[i, t] = value
            squared += np.float64(value) * np.float64(value)
        rows[i, d:] = 0
        low[i] = share * squared
