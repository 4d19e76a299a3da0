"""One signature line for a whole curve, from those of its scores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise


def merge_signatures(lines: Iterable[str]) -> str:
    """Keep the pins that all lines share, and list the values of those that vary.

    Parameters
    ----------
    lines
        Signatures ``key:value|key:value`` of one metric.

    Examples
    --------
    >>> merge_signatures(["metric:recall|k:1|n:9", "metric:recall|k:2|n:9"])
    'metric:recall|k:1..2|n:9'
    >>> merge_signatures(["k:4|n:100", "k:4|n:140"])
    'k:4|n:100,140'
    """
    found: dict[str, dict[str, None]] = {}
    for line in dict.fromkeys(lines):
        for pin in line.split("|"):
            key, _, value = pin.partition(":")
            found.setdefault(key, {})[value] = None
    return "|".join(f"{key}:{_listed(list(values))}" for key, values in found.items())


def _listed(values: Sequence[str]) -> str:
    """Write a run of whole numbers without gaps by its ends."""
    if len(values) > 1 and all(value.isdecimal() for value in values):
        numbers = [int(value) for value in values]
        if all(right - left == 1 for left, right in pairwise(numbers)):
            return f"{values[0]}..{values[-1]}"
    return ",".join(values)
