"""The inner loops of k-means over some of the rows; all of them work in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from calipers.estimate.distances import squared_distance
from calipers.estimate.jit import kernel


@kernel
def mean_rows(rows: Any, order: Any, starts: Any, first: int, last: int, means: Any) -> None:
    total = np.empty(rows.shape[1], np.float64)
    for centre in range(first, last):
        count = starts[centre + 1] - starts[centre]
        if count == 0:
            continue
        total[:] = 0.0
        for place in range(starts[centre], starts[centre + 1]):
            total += rows[order[place]]
        means[centre] = total / count


@kernel
def measure_own(rows: Any, middle: Any, labels: Any, own: Any) -> None:
    for i in range(rows.shape[0]):
        own[i] = squared_distance(rows, i, middle, labels[i])


@kernel
def _reach(squared: float) -> Any:
    """A distance as float32, never below the true one."""
    return np.float32(np.sqrt(squared) * (1 + 2.0**-22))


@kernel
def _loosen_row(bounds: Any, drift: Any, reach: Any) -> int:
    hits = 0
    for c in range(bounds.shape[0]):
        bound = (bounds[c] - drift[c]) * np.float32(1 - 2.0**-23)
        bounds[c] = bound
        hits += bound < reach
    return hits


@kernel
def loosen(bounds: Any, drift: Any, own: Any, labels: Any) -> int:
    """Lower the bounds by what the centres moved; count the pairs that must be looked at."""
    hits = 0
    for i in range(bounds.shape[0]):
        hits += _loosen_row(bounds[i], drift, _reach(own[i]))
    return hits


@kernel
def _any_below(bounds: Any, reach: Any) -> bool:
    hits = 0
    for c in range(bounds.shape[0]):
        hits += bounds[c] < reach
    return hits > 0


@kernel
def look_again(rows: Any, middle: Any, labels: Any, own: Any, bounds: Any) -> int:
    """Compute the distances whose bounds no longer rule them out."""
    changed = 0
    centres = bounds.shape[1]
    for i in range(rows.shape[0]):
        before, reach = labels[i], _reach(own[i])
        for c0 in range(0, centres, 64):
            c1 = min(c0 + 64, centres)
            if not _any_below(bounds[i, c0:c1], reach):
                continue
            for c in range(c0, c1):
                if bounds[i, c] < reach:
                    squared = squared_distance(rows, i, middle, c)
                    bounds[i, c] = np.float32(np.sqrt(squared) * (1 - 2.0**-22))
                    if squared < own[i]:
                        own[i], labels[i], reach = squared, c, _reach(squared)
        changed += labels[i] != before
    return changed


@kernel
def _nearest_in_row(products: Any, row_low: Any, low: Any, bounds: Any) -> Any:
    """Bounds of one row from its products, and the least of them."""
    least = np.float32(np.inf)
    for c in range(products.shape[0]):
        half = max(row_low + low[c] - products[c], np.float32(0))
        bounds[c] = half
        least = min(least, half)
    return least


@kernel
def _half(squared: float) -> Any:
    """Half a squared distance as float32, never below the true one."""
    return np.float32(0.5 * squared * (1 + 2.0**-22) + 1e-36)


@kernel
def _try_centre(
    rows: Any, middle: Any, which: int, i: int, before: int, labels: Any, own: Any
) -> None:
    """Take a centre that is nearer; among equal new ones the first, as `look_again` does."""
    squared = squared_distance(rows, i, middle, which)
    if squared < own[i] or (squared == own[i] and labels[i] != before and which < labels[i]):
        own[i], labels[i] = squared, which


@kernel
def nearest(
    products: Any,
    rows: Any,
    row_low: Any,
    middle: Any,
    low: Any,
    labels: Any,
    own: Any,
    bounds: Any,
) -> int:
    """Find the nearest centre of every row from all products, and set its bounds anew."""
    changed = 0
    for i in range(products.shape[0]):
        halves, before = products[i], labels[i]
        least = _nearest_in_row(products[i], row_low[i], low, halves)
        if least <= _half(own[i]):
            for c in range(halves.shape[0]):  # the likely centre first: it lowers the limit
                if halves[c] == least:
                    _try_centre(rows, middle, c, i, before, labels, own)
                    break
            limit = _half(own[i])
            for c in range(halves.shape[0]):
                if halves[c] <= limit and c != labels[i]:
                    _try_centre(rows, middle, c, i, before, labels, own)
                    limit = _half(own[i])
        changed += labels[i] != before
        if bounds is not None:
            for c in range(halves.shape[0]):
                bounds[i, c] = np.sqrt(np.float32(2) * halves[c]) * np.float32(1 - 2.0**-22)
    return changed
