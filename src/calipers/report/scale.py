"""The range of an axis, not determined by a single outlying value.

Tukey's fences: what is further than three times the distance of the quartiles from the nearer one
lies outside. The scale then ends at the last value within.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite

ENOUGH = 8
"""Values from which on some can lie outside."""
FENCE = 3.0
SHRINKS = 0.7
"""Values are left outside where the scale of the others is no longer than this share of all."""

Span = tuple[float, float]


def bulk(values: Iterable[float]) -> Span | None:
    """Return the range of the values without outlying ones; None without any.

    All are within where they are few, or where leaving some outside would gain little.

    Examples
    --------
    >>> bulk([0.90, 0.91, 0.92, 0.93, 0.94, 0.95, 0.96, 0.97, 0.07])
    (0.9, 0.97)
    >>> bulk([0.1, 0.9])
    (0.1, 0.9)
    """
    known = sorted(value for value in values if isfinite(value))
    if not known:
        return None
    whole = (known[0], known[-1])
    if len(known) < ENOUGH:
        return whole
    low, high = _quartile(known, 0.25), _quartile(known, 0.75)
    reach = FENCE * (high - low)
    within = [value for value in known if low - reach <= value <= high + reach]
    span = (within[0], within[-1])
    return span if span[1] - span[0] <= SHRINKS * (whole[1] - whole[0]) else whole


def _quartile(ordered: Sequence[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])
