"""Kernels of k-means (``native/kmeans.c``), and the layout of the rows that they take.

Rows are centred, scaled, and filled with zeros to whole vectors and panels. A row finds its centre
either from the products with all centres, or from single distances to those few whose lower bounds
do not rule them out; all kernels work in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calipers.lazy import lazily
from calipers.numeric import native
from calipers.numeric.arrays import Floats32
from calipers.numeric.distances import Points, centre_and_scale, slack
from calipers.numeric.panels import PANEL
from calipers.numeric.scratch import scratch
from calipers.numeric.threads import Workers
from calipers.numeric.tiles import Span, panel_spans

if TYPE_CHECKING:
    from calipers.estimate.kmeans.centres import Centres

VECTOR_LENGTH = 16
"""Numbers of float32 that the kernels take at a time."""


@dataclass(frozen=True)
class ClusterRows:
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
    unit
        How many steps of a whole number make 1 in sums of weighted rows: a power of two, so large
        that the sum of all weights stays below 2⁶². Such sums are exact, in every order.
    """

    rows: Floats32
    low: Floats32
    weights: NDArray[np.float64]
    n: int
    centre: NDArray[np.float64]
    exponent: int
    unit: float

    @lazily
    def products(self) -> Floats32:
        """The inner products of all rows; shape ``(n, n)``."""
        rows = self.rows[: self.n]
        return rows @ rows.T

    @lazily
    def spread(self) -> float:
        """Variance of the columns, averaged over columns."""
        squared = self.weights @ self.low[: self.n] / (0.5 * (1 - slack(self.rows.shape[1])))
        mean = self.weights.astype(np.float32) @ self.rows[: self.n] / self.n
        return float(squared / self.n - mean @ mean) / len(self.centre)

    def part(self, span: Span) -> ClusterRows:
        """Return a range of the rows that starts at a multiple of 48; sums keep their unit."""
        places = slice(span[0], filled(span[1], PANEL))
        weights = self.weights[slice(*span)]
        rows, low = self.rows[places], self.low[places]
        return replace(self, rows=rows, low=low, weights=weights, n=len(weights))


def lay_out(
    sets: Sequence[Points], workers: Workers, weights: Sequence[float] | None = None
) -> ClusterRows:
    """Centre and scale sets of rows, and concatenate them.

    `weights` are what each row of each set counts (default: 1).
    """
    sizes = [len(points) for points in sets]
    n, d = sum(sizes), sets[0].shape[1]
    centre, exponent = centre_and_scale(sets, workers)
    rows = scratch((filled(n, PANEL), filled(d, VECTOR_LENGTH)), np.float32)
    low = np.empty(len(rows), np.float32)
    starts = np.cumsum([0, *sizes])
    factors = 2.0**-exponent, 0.5 * (1 - slack(rows.shape[1]))

    def work(piece: tuple[Points, int, Span]) -> None:
        points, start, (first, last) = piece
        place = slice(start + first, start + last)
        part = np.ascontiguousarray(points[first:last])
        _lay_rows(part, centre, *factors, rows[place], low[place])

    pieces = [
        (points, int(start), span)
        for points, start in zip(sets, starts, strict=False)
        for span in panel_spans(len(points))
    ]
    list(workers.map(work, pieces))
    rows[n:], low[n:] = 0.0, np.inf
    row_weights = np.repeat(np.ones(len(sets)) if weights is None else np.asarray(weights), sizes)
    unit = 2.0 ** (61 - int(np.frexp(row_weights.sum())[1]))
    return ClusterRows(rows, low, row_weights, n, centre, exponent, unit)


def filled(count: int, whole: int) -> int:
    """Return the smallest multiple of a whole that is not below a count."""
    return -(-count // whole) * whole


_lay_rows = native.kernel(
    "lay_cluster_rows",
    "points reals[n, d]",
    "centre f8[d]",
    "scale float",
    "share float",
    "rows f4[n, depth] out",
    "low f4[n] out",
)


class Assignments(NamedTuple):
    """The assignment of each row, with bounds on its distances.

    Attributes
    ----------
    labels
        Its centre, int32; -1 before the first round.
    own
        Squared distance to it, float64.
    bounds
        ``(places, centres)``: less a centre's `total`, a lower bound of the distance to it;
        infinite for the row's own centre. Without any row where bounds are not kept.
    groups
        ``(places, groups)``: the same for the nearest of 16 centres, less their `group_total`.
    """

    labels: NDArray[np.int32]
    own: NDArray[np.float64]
    bounds: Floats32
    groups: Floats32


def assign(
    rows: Floats32,
    low: Floats32,
    span: Span,
    assigned: Assignments,
    centres: Centres,
    few: float,
) -> None:
    """Assign the rows of a span to their nearest centres.

    Where bounds are kept, and no more than the share `few` of all pairs must be looked at, these
    alone are; else all products are taken.
    """
    first, last = span
    places, count = len(centres.low), len(assigned.labels)
    if not 0 <= first <= last <= count or first + filled(last - first, PANEL) > len(rows):
        raise ValueError(f"rows {first} to {last} of {count} do not lie in {len(rows)} places")
    if rows.shape[1] % VECTOR_LENGTH or len(centres.panels) * PANEL != places:
        raise ValueError("rows or centres are not filled up")
    bounds = (assigned.bounds, assigned.groups) if len(assigned.bounds) else (None, None)
    halves = np.empty((PANEL, places), np.float32)
    laid = centres.values, centres.low, centres.panels
    moved = centres.drift, centres.total, centres.group_total
    known = assigned.labels, assigned.own, *bounds
    _assign_rows(rows, low, first, last, *laid, *moved, *known, few, halves)


_assign_rows = native.kernel(
    "assign_rows",
    "rows f4[filled, depth]",
    "low f4[filled]",
    "first int",
    "last int",
    "values f4[places, depth]",
    "centre_low f4[places]",
    "panels f4[panel_count, depth, 48]",
    "drift f8[places]",
    "total f4[places]",
    "group_total f4[group_places]",
    "labels i4[n] out",
    "own f8[n] out",
    "bounds f4[n, places] out optional",
    "groups f4[n, group_places] out optional",
    "few float",
    "halves f4[48, places] out",
)


def measure_own(
    rows: Floats32,
    labels: NDArray[np.int32],
    values: Floats32,
    squares: NDArray[np.float64],
    span: Span,
) -> None:
    """Compute the squared distances of the rows of a span to their present centres."""
    _check_span(span, min(len(labels), len(rows)))
    _measure_own(rows, labels, values, squares, *span)


_measure_own = native.kernel(
    "measure_own_centres",
    "rows f4[filled, depth]",
    "labels i4[n]",
    "values f4[places, depth]",
    "squares f8[n] out",
    "first int",
    "last int",
)


def settle_listed(
    rows: Floats32,
    pairs: tuple[NDArray[np.int64], NDArray[np.int64]],
    span: Span,
    assigned: Assignments,
    centres: Centres,
) -> None:
    """Decide in float64 which of the listed centres is nearest to its row.

    `pairs` are rows and centres, of which those of the span count. Centres of a row come in their
    order, so that the first of equally near ones is taken.
    """
    _check_span(span, len(pairs[0]))
    _settle_listed(rows, *pairs, *span, centres.values, assigned.labels, assigned.own)


_settle_listed = native.kernel(
    "settle_listed_centres",
    "rows f4[filled, depth]",
    "pair_rows i8[pairs]",
    "pair_centres i8[pairs]",
    "first int",
    "last int",
    "values f4[places, depth]",
    "labels i4[n] out",
    "own f8[n] out",
)


def shift_sums(
    rows: Floats32,
    counted: NDArray[np.int32],
    labels: NDArray[np.int32],
    weights: NDArray[np.float64],
    unit: float,
    sums: NDArray[np.int64],
    mass: NDArray[np.int64],
    columns: Span,
) -> int:
    """Update the sums of the centres' rows, in some columns.

    Sums and masses are whole multiples of ``1 / unit``, so no order of rows changes them; masses
    are kept with column 0. Returns how many rows have changed their centre since they were counted.
    """
    _check_span(columns, rows.shape[1])
    if len(labels) > len(rows):
        raise ValueError(f"{len(labels)} labels for {len(rows)} rows")
    return int(_shift_sums(rows, counted, labels, weights, unit, sums, mass, *columns))


_shift_sums = native.kernel(
    "shift_centre_sums",
    "rows f4[filled, depth]",
    "counted i4[n]",
    "labels i4[n]",
    "weights f8[n]",
    "unit float",
    "sums i8[places, depth] out",
    "mass i8[places] out",
    "first int",
    "last int",
    returns="int",
)


def cluster_by_products(
    table: ClusterRows, first: NDArray[np.int64], *, rest: float, max_iterations: int
) -> tuple[NDArray[np.int32], NDArray[np.float64], int] | None:
    """Run all iterations for few rows, by their inner products.

    To the last bit what :func:`assign` and :func:`shift_sums` come to, round by round.

    Parameters
    ----------
    table
        The rows.
    first
        Which of them are the first centres.
    rest
        Centres that move by no more, squared and summed, are at rest.
    max_iterations
        Rounds after which it stops in any case.

    Returns
    -------
    tuple or None
        The centre of every row, its squared distance to it, and the number of rounds. None where a
        centre has no row, and none that costs anything is left for it.
    """
    cells, n, depth = len(first), table.n, table.rows.shape[1]
    if not cells or first.min() < 0 or first.max() >= n:
        raise ValueError(f"the first centres are not some of {n} rows")
    labels, own, before = np.empty(n, np.int32), np.empty(n), np.empty(n, np.int32)
    sums, mass = np.zeros((cells, depth), np.int64), np.zeros(cells, np.int64)
    values, old = np.empty((2, cells, depth), np.float32)
    rounds = _cluster_few_rows(
        *(table.rows, table.products, table.weights, table.unit, first, max_iterations, rest),
        *(labels, own, before, sums, mass, values, old),
        *(np.empty((cells, n)), np.empty(2 * (cells + n)), np.empty(cells, np.bool_)),
    )
    return None if rounds < 0 else (labels, own, int(rounds))


_cluster_few_rows = native.kernel(
    "cluster_few_rows",
    "rows f4[filled, depth]",
    "products f4[n, n]",
    "weights f8[n]",
    "unit float",
    "first i8[cells]",
    "most int",
    "rest float",
    "labels i4[n] out",
    "own f8[n] out",
    "before i4[n] out",
    "sums i8[cells, depth] out",
    "mass i8[cells] out",
    "values f4[cells, depth] out",
    "old f4[cells, depth] out",
    "crosses f8[cells, n] out",
    "room f8[room_length] out",
    "seeded b1[cells] out",
    returns="int",
)


def _check_span(span: Span, length: int) -> None:
    if not 0 <= span[0] <= span[1] <= length:
        raise ValueError(f"{span[0]} to {span[1]} does not lie within {length}")
