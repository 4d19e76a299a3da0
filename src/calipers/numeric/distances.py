"""Squared Euclidean distances: exact ones in float64, and lower bounds in float32.

Products in float32 are fast but cancel. They are used only as a sieve: for centred and scaled rows
z, half the squared distance of two rows lies above ``low_i + low_j - z_i . z_j``, where
``low = (1 - slack) * |z|^2 / 2``. The slack is the worst case of a d-term float32 sum, so no pair
that matters can fall through; every pair that passes is computed again in float64, on the numbers
as given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.lazy import lazily
from calipers.numeric import native
from calipers.numeric.arrays import Floats, Longs
from calipers.numeric.panels import PANEL
from calipers.numeric.rounded import Rounded
from calipers.numeric.scratch import scratch
from calipers.numeric.threads import Workers, workers
from calipers.numeric.tiles import Span, panel_spans

Points = NDArray[np.float32] | NDArray[np.float64]
Sides = tuple[Points, Points]
"""The rows of both sets."""

UNIT = 2.0**-24  # unit roundoff of float32
FLOOR = 1e-32  # far above what bounds lose to underflow, also where float32 knows no subnormals

sum_rows = native.kernel("sum_rows", "points reals[n, d]", "sums f8[d] out")
farthest = native.kernel("farthest", "points reals[n, d]", "centre f8[d]", returns="float")
lay_out_panels = native.kernel(
    "lay_out_panels",
    "points reals[n, d]",
    "centre f8[d]",
    "scale float",
    "share float",
    "panels f4[count, d, 48] out",
    "low f4[n] out",
)
measure_pairs = native.kernel(
    "measure_pairs",
    "points reals[n, d]",
    "rows i8[count]",
    "others reals[m, d]",
    "columns i8[count]",
    "squared f8[count] out",
)


def squared_of_pairs(points: Points, rows: Longs, others: Points, columns: Longs) -> Floats:
    """Compute exact squared distances of listed pairs, of a row of `points` and one of `others`."""
    squared = np.empty(len(rows))
    rows, columns = np.ascontiguousarray(rows), np.ascontiguousarray(columns)
    measure_pairs(points, rows, others, columns, squared)
    return squared


@dataclass(frozen=True)
class Sieve:
    """Float32 data of a set of points for products, and the bounds that they give.

    Attributes
    ----------
    points
        The rows as given, shape ``(n, d)``, float32 or float64: the exact distances use these.
    panels
        Centred and scaled rows of absolute value at most about 1, in the layout of
        :mod:`calipers.numeric.panels`, shape ``(panels, d, 48)``, float32; the rows that
        fill the last panel are zero.
    low
        ``(1 - slack) * |row|^2 / 2``, shape ``(panels * 48,)``, float32; infinite for rows that
        only fill, so that none of their pairs passes.
    half_scale
        Factor from a squared distance of `points` to half a squared distance of the rows; a power
        of two, so that it rounds nothing.
    """

    points: Points
    panels: NDArray[np.float32]
    low: NDArray[np.float32]
    half_scale: float

    def limits(self, squared_radius: NDArray[np.float64]) -> NDArray[np.float32]:
        """Return squared radii of consecutive rows as limits, padded to whole panels."""
        return fill_panels(sieve_limits(squared_radius, self.half_scale), 0.0)

    @lazily
    def rounded(self) -> Rounded:
        """The rows rounded to eight bits; :meth:`prepare` computes them on several threads."""
        return self._rounded_by(None)

    def prepare(self, pool: Workers) -> None:
        """Round the rows on all threads, before they are needed."""
        if "rounded" not in self.__dict__:
            self.__dict__["rounded"] = self._rounded_by(pool)

    def _rounded_by(self, pool: Workers | None) -> Rounded:
        return Rounded.of(self.panels, slack(self.points.shape[1]), pool)

    @lazily
    def rows(self) -> NDArray[np.float32]:
        """The centred and scaled rows, ``(n, d)``, computed on access."""
        n, d = self.points.shape
        return np.ascontiguousarray(self.panels.transpose(0, 2, 1).reshape(-1, d)[:n])

    def take(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return some of the centred and scaled rows, shape ``(len(rows), d)``."""
        return np.ascontiguousarray(self.panels[rows // PANEL, :, rows % PANEL])

    def part(self, rows: NDArray[np.int64]) -> Sieve:
        """Return some of the rows as a set with the same centre and scale."""
        count, places = -(-len(rows) // PANEL), np.arange(len(rows))
        panels = np.zeros((count, self.points.shape[1], PANEL), np.float32)
        panels[places // PANEL, :, places % PANEL] = self.take(rows)
        low = fill_panels(self.low[rows], np.inf)
        return Sieve(self.points[rows], panels, low, self.half_scale)

    def threshold(self, squared_radius: NDArray[np.float64]) -> NDArray[np.float32]:
        """Convert squared radii to the scale of the bounds, rounded up."""
        return sieve_limits(squared_radius, self.half_scale)

    @property
    def gap(self) -> float:
        """Bound the excess of half a squared distance over its bound, per sum of both `low`."""
        return 2.02 * slack(self.points.shape[1])


def sieve_limits(squared_radius: NDArray[np.float64], half_scale: float) -> NDArray[np.float32]:
    """Convert half squared radii to the scale of the sieve, rounded up to float32."""
    with np.errstate(over="ignore"):
        scaled = (squared_radius * (half_scale * (1 + 4 * UNIT)) + FLOOR).astype(np.float32)
    return np.where(np.isnan(squared_radius), np.float32(np.inf), scaled)


def fill_panels(values: NDArray[np.float32], with_value: float) -> NDArray[np.float32]:
    """Pad values, one for each row, to whole panels."""
    places = -(-len(values) // PANEL) * PANEL
    filled = np.full(places, with_value, np.float32)
    filled[: len(values)] = values
    return filled


def sieves(*sets: Points, threads: int | None = None) -> tuple[Sieve, ...]:
    """Prepare sets of points for the sieve, with one centre and one scale for all.

    Parameters
    ----------
    *sets
        Arrays of shape ``(n_s, d)``, float32 or float64, finite.
    threads
        Number of threads; no effect on the result.
    """
    sets = tuple(map(np.ascontiguousarray, sets))
    with workers(threads) as pool:
        centre, exponent = centre_and_scale(sets, pool)
        scale = 2.0**-exponent
        return tuple(_sieve(points, centre, scale, pool) for points in sets)


def centre_and_scale(sets: Sequence[Points], pool: Workers) -> tuple[NDArray[np.float64], int]:
    """Return the mean of all rows, and a power of two that bounds all deviations."""
    total = sum(len(points) for points in sets)
    sums = [column_sums(points, pool) for points in sets]
    centre = sum(sums[1:], start=sums[0]) / total
    largest = max(_largest_deviation(points, centre, pool) for points in sets)
    return centre, int(np.clip(np.frexp(largest)[1], -500, 500))


def slack(d: int) -> float:
    """Return the share of half a squared length by which bounds stay below the exact value."""
    return (d + 16) * UNIT * 1.01


def column_sums(points: Points, pool: Workers) -> NDArray[np.float64]:
    """Sum all columns in float64, independent of the number of threads."""

    def work(span: Span) -> Floats:
        sums = np.empty(points.shape[1])
        sum_rows(points[slice(*span)], sums)
        return sums

    total: Floats = np.sum(list(pool.map(work, panel_spans(len(points)))), axis=0)
    return total


def _largest_deviation(points: Points, centre: NDArray[np.float64], pool: Workers) -> float:
    spans = panel_spans(len(points))
    return float(max(pool.map(lambda span: farthest(points[slice(*span)], centre), spans)))


def _sieve(points: Points, centre: NDArray[np.float64], scale: float, pool: Workers) -> Sieve:
    count = -(-len(points) // PANEL)
    panels = scratch((count, points.shape[1], PANEL), np.float32)
    low = np.full(count * PANEL, np.inf, np.float32)
    share = 0.5 * (1 - slack(points.shape[1]))

    def work(span: Span) -> None:
        rows, first = slice(*span), span[0] // PANEL
        lay_out_panels(points[rows], centre, scale, share, panels[first:], low[rows])

    for _ in pool.map(work, panel_spans(len(points))):
        pass
    return Sieve(points, panels, low, 0.5 * scale * scale)
