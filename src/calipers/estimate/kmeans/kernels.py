"""Compiled loops of k-means, and the layout of the rows that they run over.

Rows are centred, scaled, and filled with zeros to whole vectors and panels. A row finds its centre
either from the products with all centres, or from single distances to those few whose lower bounds
do not rule them out; all loops work in place and compile into one another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calipers.lazy import lazily
from calipers.numeric.arrays import Floats32
from calipers.numeric.compile import inlined, kernel
from calipers.numeric.distances import Points, centre_and_scale, slack
from calipers.numeric.scratch import scratch
from calipers.numeric.simd import (
    PANEL,
    VECTOR_LENGTH,
    address,
    lowest_bit,
    mask_below,
    multiply_block,
    vector_min,
    vector_squared_distance,
)
from calipers.numeric.threads import Workers
from calipers.numeric.tiles import Span, panel_spans


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
    def spread(self) -> float:
        """Variance of a column, averaged over the columns."""
        squared = self.weights @ self.low[: self.n] / (0.5 * (1 - slack(self.rows.shape[1])))
        mean = self.weights.astype(np.float32) @ self.rows[: self.n] / self.n
        return float(squared / self.n - mean @ mean) / len(self.centre)

    def part(self, span: Span) -> ClusterRows:
        """A range of the rows, which starts at a multiple of 48; sums keep their unit."""
        places = slice(span[0], filled(span[1], PANEL))
        weights = self.weights[slice(*span)]
        rows, low = self.rows[places], self.low[places]
        return replace(self, rows=rows, low=low, weights=weights, n=len(weights))


def lay_out(
    sets: Sequence[Points], workers: Workers, weights: Sequence[float] | None = None
) -> ClusterRows:
    """Centre and scale sets of rows, and lay them out one after the other.

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
        _lay_rows(points[first:last], centre, *factors, rows[place], low[place])

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


class Assignments(NamedTuple):
    """What is known of each row.

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


@inlined
def keep_bound(distance: Any, total: Any) -> Any:
    """A distance never above the true one, to be kept until the centre has moved further."""
    return (distance * np.float32(1 - 2.0**-22) + total) * np.float32(1 - 2.0**-22)


@inlined
def measure(rows: Any, i: int, values: Any, c: int) -> Any:
    """Squared distance of a row to a centre, float64."""
    depth = rows.shape[1]
    return vector_squared_distance(
        address(rows) + np.uintp(4 * i * depth), address(values) + np.uintp(4 * c * depth), depth
    )


@inlined
def place_of(array: Any, i: int, place: int) -> Any:
    """Address of a place in a row of float32."""
    return address(array) + np.uintp(4 * (i * array.shape[1] + place))


@inlined
def assign_by_products(
    rows: Any, low: Any, first: int, last: int, assigned: Any, centres: Any
) -> None:
    """Find the nearest centre of every row from all products, and set its bounds anew."""
    places = centres.low.shape[0]
    products = np.empty((PANEL, PANEL), np.float32)
    halves = np.empty((PANEL, places), np.float32)
    zeros = np.zeros(VECTOR_LENGTH, np.float32)
    for i0 in range(first, last, PANEL):
        for panel in range(places // PANEL):
            multiply_block(rows, i0, centres.panels, panel, products)
            _fill(products, low, i0, centres.low, panel * PANEL, halves)
        for i in range(i0, min(i0 + PANEL, last)):
            _choose(rows, i, halves, i - i0, zeros, assigned, centres)
            if assigned.bounds.shape[0] > 0:
                halves[i - i0, assigned.labels[i]] = np.float32(np.inf)
                _set_bounds(i, halves, i - i0, zeros, assigned, centres)


@inlined
def _fill(products: Any, low: Any, i0: int, centre_low: Any, c0: int, halves: Any) -> None:
    """Lower bounds of half the squared distances."""
    for r in range(PANEL):
        base = low[i0 + r]
        for c in range(PANEL):
            half = base + centre_low[c0 + c] - products[r, c]
            halves[r, c0 + c] = half if half > np.float32(0) else np.float32(0)


@inlined
def _half(squared: float) -> Any:
    """Half a squared distance as float32, above the true one."""
    return np.float32(0.5 * squared * (1 + 2.0**-22) + 1e-36)


@inlined
def _choose(
    rows: Any, i: int, halves: Any, r: int, zeros: Any, assigned: Any, centres: Any
) -> None:
    """Settle in float64 which of the centres that may be the nearest is it."""
    before, zero = assigned.labels[i], address(zeros)
    least = np.float32(np.inf)
    for c0 in range(0, halves.shape[1], VECTOR_LENGTH):
        here = vector_min(place_of(halves, r, c0), zero)
        if here < least:
            least, start = here, c0
    if least >= _half(assigned.own[i]):
        return
    likely = start + lowest_bit(
        mask_below(place_of(halves, r, start), zero, _half(2 * np.float64(least)))
    )  # first, since it lowers the limit
    _try_centre(rows, i, likely, before, assigned, centres)
    for c0 in range(0, halves.shape[1], VECTOR_LENGTH):
        mask = mask_below(place_of(halves, r, c0), zero, _half(assigned.own[i]))
        while mask:
            c = c0 + lowest_bit(mask)
            mask &= mask - np.uint64(1)
            if c != likely and c != assigned.labels[i]:
                _try_centre(rows, i, c, before, assigned, centres)


@inlined
def _try_centre(rows: Any, i: int, c: int, before: int, assigned: Any, centres: Any) -> None:
    """Take a centre that is nearer; among equal new ones the first, as single distances do."""
    squared, best, label = measure(rows, i, centres.values, c), assigned.own[i], assigned.labels[i]
    if squared < best or (squared == best and label != before and c < label):
        assigned.labels[i], assigned.own[i] = c, squared


@inlined
def _set_bounds(i: int, halves: Any, r: int, zeros: Any, assigned: Any, centres: Any) -> None:
    for c in range(halves.shape[1]):
        assigned.bounds[i, c] = keep_bound(np.sqrt(np.float32(2) * halves[r, c]), centres.total[c])
    for g in range(halves.shape[1] // VECTOR_LENGTH):
        half = vector_min(place_of(halves, r, VECTOR_LENGTH * g), address(zeros))
        assigned.groups[i, g] = keep_bound(np.sqrt(np.float32(2) * half), centres.group_total[g])


SAMPLE = 8  # every eighth row tells whether single distances or all products are less work


@kernel
def assign(
    rows: Any, low: Any, first: int, last: int, assigned: Any, centres: Any, few: float
) -> None:
    """Bring rows `first` to `last` to their nearest centres.

    Where more than the share `few` of all pairs must be looked at, all products are taken.
    """
    for i in range(first, last):
        label = assigned.labels[i]
        if label >= 0 and centres.drift[label] > 0:
            assigned.own[i] = measure(rows, i, centres.values, label)
    if assigned.labels[first] >= 0 and assigned.bounds.shape[0] > 0:
        sampled = (last - first - 1) // SAMPLE + 1
        if _count(first, last, assigned, centres) <= few * sampled * assigned.bounds.shape[1]:
            _assign_by_bounds(rows, first, last, assigned, centres)
            return
    assign_by_products(rows, low, first, last, assigned, centres)


@inlined
def _count(first: int, last: int, assigned: Any, centres: Any) -> int:
    """In every eighth row, how many pairs must be looked at."""
    hits = 0
    less, group_less = address(centres.total), address(centres.group_total)
    for i in range(first, last, SAMPLE):
        reach = _reach(assigned.own[i])
        for g0 in range(0, assigned.groups.shape[1], VECTOR_LENGTH):
            groups = mask_below(
                place_of(assigned.groups, i, g0), group_less + np.uintp(4 * g0), reach
            )
            while groups:
                c0 = VECTOR_LENGTH * (g0 + lowest_bit(groups))
                groups &= groups - np.uint64(1)
                mask = mask_below(place_of(assigned.bounds, i, c0), less + np.uintp(4 * c0), reach)
                while mask:
                    mask &= mask - np.uint64(1)
                    hits += 1
    return hits


@inlined
def _assign_by_bounds(rows: Any, first: int, last: int, assigned: Any, centres: Any) -> None:
    """Compute the distances whose bounds no longer rule them out."""
    group_less = address(centres.group_total)
    for i in range(first, last):
        for g0 in range(0, assigned.groups.shape[1], VECTOR_LENGTH):
            groups = mask_below(
                place_of(assigned.groups, i, g0),
                group_less + np.uintp(4 * g0),
                _reach(assigned.own[i]),
            )
            while groups:
                _assign_within_group(rows, i, g0 + lowest_bit(groups), assigned, centres)
                groups &= groups - np.uint64(1)


@inlined
def _assign_within_group(rows: Any, i: int, g: int, assigned: Any, centres: Any) -> None:
    c0 = VECTOR_LENGTH * g
    place, less = place_of(assigned.bounds, i, c0), address(centres.total) + np.uintp(4 * c0)
    mask = mask_below(place, less, _reach(assigned.own[i]))
    while mask:
        c = c0 + lowest_bit(mask)
        mask &= mask - np.uint64(1)
        if assigned.bounds[i, c] - centres.total[c] >= _reach(assigned.own[i]):
            continue
        squared = measure(rows, i, centres.values, c)
        assigned.bounds[i, c] = keep_bound(np.float32(np.sqrt(squared)), centres.total[c])
        if squared < assigned.own[i]:
            _leave(i, assigned, centres)
            assigned.labels[i], assigned.own[i] = c, squared
            assigned.bounds[i, c] = np.float32(np.inf)
    nearest = max(vector_min(place, less), np.float32(0))
    assigned.groups[i, g] = keep_bound(nearest, centres.group_total[g])


@inlined
def _leave(i: int, assigned: Any, centres: Any) -> None:
    """Remember how far the centre is that a row leaves."""
    old = assigned.labels[i]
    distance = np.float32(np.sqrt(assigned.own[i]))
    assigned.bounds[i, old] = keep_bound(distance, centres.total[old])
    g = old // VECTOR_LENGTH
    bound = keep_bound(distance, centres.group_total[g])
    assigned.groups[i, g] = min(assigned.groups[i, g], bound)


@inlined
def _reach(squared: float) -> Any:
    """A distance as float32, never below the true one."""
    return np.float32(np.sqrt(squared) * (1 + 2.0**-22))


@kernel
def measure_own(rows: Any, labels: Any, values: Any, squares: Any, first: int, last: int) -> None:
    """Set the squared distances of rows `first` to `last` to the centres that they have."""
    for i in range(first, last):
        squares[i] = measure(rows, i, values, labels[i]) if labels[i] >= 0 else np.inf


@kernel
def settle_listed(
    rows: Any,
    pairs: Any,
    first: int,
    last: int,
    assigned: Any,
    centres: Any,
) -> None:
    """Settle in float64 which of the listed centres is the nearest of its row.

    `pairs` are rows and centres, of which those from `first` to `last` count. Centres of a row come
    in their order, so that the first of equally near ones is taken.
    """
    for place in range(first, last):
        i, c = pairs[0][place], pairs[1][place]
        squared = measure(rows, i, centres.values, c)
        if squared < assigned.own[i]:
            assigned.labels[i], assigned.own[i] = c, squared


@kernel
def shift_sums(
    rows: Any,
    counted: Any,
    labels: Any,
    weights: Any,
    unit: float,
    sums: Any,
    mass: Any,
    first: int,
    last: int,
) -> int:
    """Bring the sums of the centres' rows up to date, in columns `first` to `last`.

    Sums and masses are whole multiples of ``1 / unit``, so no order of rows changes them; masses
    are kept with column 0. Returns how many rows have changed their centre since they were counted.
    """
    changed = 0
    for i in range(labels.shape[0]):
        old, new = counted[i], labels[i]
        if old == new:
            continue
        changed += 1
        factor = weights[i] * unit
        if first == 0:
            whole = np.int64(np.rint(factor))
            mass[new] += whole
            if old >= 0:
                mass[old] -= whole
        if old >= 0:
            for t in range(first, last):
                term = np.int64(np.rint(factor * np.float64(rows[i, t])))
                sums[new, t] += term
                sums[old, t] -= term
        else:
            for t in range(first, last):
                sums[new, t] += np.int64(np.rint(factor * np.float64(rows[i, t])))
    return changed
