"""The nearest of all centres for each row, from the products of rows and centres."""

from __future__ import annotations

from typing import Any

import numpy as np

from calipers.estimate.jit import inlined
from calipers.estimate.kmeans_found import keep_bound, measure, place_of
from calipers.estimate.lanes import LANES, lanes_below, least_lane
from calipers.estimate.microkernel import PANEL, address, lowest_bit
from calipers.estimate.panels import multiply_block


@inlined
def take_all(rows: Any, low: Any, first: int, last: int, found: Any, centres: Any) -> None:
    """Find the nearest centre of every row from all products, and set its bounds anew."""
    places = centres.low.shape[0]
    products = np.empty((PANEL, PANEL), np.float32)
    halves = np.empty((PANEL, places), np.float32)
    zeros = np.zeros(LANES, np.float32)
    for i0 in range(first, last, PANEL):
        for panel in range(places // PANEL):
            multiply_block(rows, i0, centres.panels, panel, products)
            _fill(products, low, i0, centres.low, panel * PANEL, halves)
        for i in range(i0, min(i0 + PANEL, last)):
            _choose(rows, i, halves, i - i0, zeros, found, centres)
            if found.bounds.shape[0] > 0:
                halves[i - i0, found.labels[i]] = np.float32(np.inf)
                _set_bounds(i, halves, i - i0, zeros, found, centres)


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
def _choose(rows: Any, i: int, halves: Any, r: int, zeros: Any, found: Any, centres: Any) -> None:
    """Settle in float64 which of the centres that may be the nearest is it."""
    before, zero = found.labels[i], address(zeros)
    least = np.float32(np.inf)
    for c0 in range(0, halves.shape[1], LANES):
        here = least_lane(place_of(halves, r, c0), zero)
        if here < least:
            least, start = here, c0
    if least >= _half(found.own[i]):
        return
    likely = start + lowest_bit(
        lanes_below(place_of(halves, r, start), zero, _half(2 * np.float64(least)))
    )  # first, since it lowers the limit
    _try_centre(rows, i, likely, before, found, centres)
    for c0 in range(0, halves.shape[1], LANES):
        lanes = lanes_below(place_of(halves, r, c0), zero, _half(found.own[i]))
        while lanes:
            c = c0 + lowest_bit(lanes)
            lanes &= lanes - np.uint64(1)
            if c != likely and c != found.labels[i]:
                _try_centre(rows, i, c, before, found, centres)


@inlined
def _try_centre(rows: Any, i: int, c: int, before: int, found: Any, centres: Any) -> None:
    """Take a centre that is nearer; among equal new ones the first, as single distances do."""
    squared, own, label = measure(rows, i, centres.values, c), found.own[i], found.labels[i]
    if squared < own or (squared == own and label != before and c < label):
        found.labels[i], found.own[i] = c, squared


@inlined
def _set_bounds(i: int, halves: Any, r: int, zeros: Any, found: Any, centres: Any) -> None:
    for c in range(halves.shape[1]):
        found.bounds[i, c] = keep_bound(np.sqrt(np.float32(2) * halves[r, c]), centres.total[c])
    for g in range(halves.shape[1] // LANES):
        half = least_lane(place_of(halves, r, LANES * g), address(zeros))
        found.groups[i, g] = keep_bound(np.sqrt(np.float32(2) * half), centres.group_total[g])
