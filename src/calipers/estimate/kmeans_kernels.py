"""The inner loops of k-means over some of the rows; all of them work in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from calipers.estimate.jit import inlined, kernel
from calipers.estimate.kmeans_dense import take_all
from calipers.estimate.kmeans_found import keep_bound, measure, place_of
from calipers.estimate.lanes import LANES, lanes_below, least_lane
from calipers.estimate.microkernel import address, lowest_bit

SAMPLE = 8  # every eighth row tells whether single distances or all products are less work


@kernel
def assign(
    rows: Any, low: Any, first: int, last: int, found: Any, centres: Any, few: float
) -> None:
    """Bring rows `first` to `last` to their nearest centres.

    Where more than the share `few` of all pairs must be looked at, all products are taken.
    """
    for i in range(first, last):
        label = found.labels[i]
        if label >= 0 and centres.drift[label] > 0:
            found.own[i] = measure(rows, i, centres.values, label)
    if found.labels[first] >= 0 and found.bounds.shape[0] > 0:
        sampled = (last - first - 1) // SAMPLE + 1
        if _count(first, last, found, centres) <= few * sampled * found.bounds.shape[1]:
            _look_again(rows, first, last, found, centres)
            return
    take_all(rows, low, first, last, found, centres)


@inlined
def _count(first: int, last: int, found: Any, centres: Any) -> int:
    """In every eighth row, how many pairs must be looked at."""
    hits = 0
    less, group_less = address(centres.total), address(centres.group_total)
    for i in range(first, last, SAMPLE):
        reach = _reach(found.own[i])
        for g0 in range(0, found.groups.shape[1], LANES):
            groups = lanes_below(
                place_of(found.groups, i, g0), group_less + np.uintp(4 * g0), reach
            )
            while groups:
                c0 = LANES * (g0 + lowest_bit(groups))
                groups &= groups - np.uint64(1)
                lanes = lanes_below(place_of(found.bounds, i, c0), less + np.uintp(4 * c0), reach)
                while lanes:
                    lanes &= lanes - np.uint64(1)
                    hits += 1
    return hits


@inlined
def _look_again(rows: Any, first: int, last: int, found: Any, centres: Any) -> None:
    """Compute the distances whose bounds no longer rule them out."""
    group_less = address(centres.group_total)
    for i in range(first, last):
        for g0 in range(0, found.groups.shape[1], LANES):
            groups = lanes_below(
                place_of(found.groups, i, g0), group_less + np.uintp(4 * g0), _reach(found.own[i])
            )
            while groups:
                _look_at_group(rows, i, g0 + lowest_bit(groups), found, centres)
                groups &= groups - np.uint64(1)


@inlined
def _look_at_group(rows: Any, i: int, g: int, found: Any, centres: Any) -> None:
    c0 = LANES * g
    place, less = place_of(found.bounds, i, c0), address(centres.total) + np.uintp(4 * c0)
    lanes = lanes_below(place, less, _reach(found.own[i]))
    while lanes:
        c = c0 + lowest_bit(lanes)
        lanes &= lanes - np.uint64(1)
        if found.bounds[i, c] - centres.total[c] >= _reach(found.own[i]):
            continue
        squared = measure(rows, i, centres.values, c)
        found.bounds[i, c] = keep_bound(np.float32(np.sqrt(squared)), centres.total[c])
        if squared < found.own[i]:
            _leave(i, found, centres)
            found.labels[i], found.own[i] = c, squared
            found.bounds[i, c] = np.float32(np.inf)
    nearest = max(least_lane(place, less), np.float32(0))
    found.groups[i, g] = keep_bound(nearest, centres.group_total[g])


@inlined
def _leave(i: int, found: Any, centres: Any) -> None:
    """Remember how far the centre is that a row leaves."""
    old = found.labels[i]
    distance = np.float32(np.sqrt(found.own[i]))
    found.bounds[i, old] = keep_bound(distance, centres.total[old])
    g = old // LANES
    bound = keep_bound(distance, centres.group_total[g])
    found.groups[i, g] = min(found.groups[i, g], bound)


@inlined
def _reach(squared: float) -> Any:
    """A distance as float32, never below the true one."""
    return np.float32(np.sqrt(squared) * (1 + 2.0**-22))


@kernel
def shift_sums(
    rows: Any, counted: Any, labels: Any, weights: Any, sums: Any, first: int, last: int
) -> int:
    """Bring the sums of the centres' rows up to date, in columns `first` to `last`.

    Returns how many rows have changed their centre since they were counted.
    """
    changed = 0
    for i in range(labels.shape[0]):
        old, new = counted[i], labels[i]
        if old == new:
            continue
        changed += 1
        for t in range(first, last):
            term = weights[i] * np.float64(rows[i, t])
            if old >= 0:
                sums[old, t] -= term
            sums[new, t] += term
    return changed


@kernel
def mean_rows(sums: Any, labels: Any, weights: Any, means: Any, counts: Any) -> None:
    """Set the mean of every centre's rows; a centre without rows stays where it is."""
    mass = np.zeros(counts.shape[0])
    for i in range(labels.shape[0]):
        counts[labels[i]] += 1
        mass[labels[i]] += weights[i]
    for c in range(counts.shape[0]):
        if counts[c] > 0:
            for t in range(means.shape[1]):
                means[c, t] = np.float32(sums[c, t] / mass[c])
