"""How the errors of two scores of a system go together: what error ellipses are drawn from."""

from __future__ import annotations

from collections.abc import Mapping

from calipers.uncertainty.spread import Spread, correlation

TOGETHER = (
    ("precision", "recall"),
    ("density", "coverage"),
    ("clipped_density", "clipped_coverage"),
    ("max_precision", "max_recall"),
    ("prd_f8", "prd_f1_8"),
    ("frontier_f8", "frontier_f1_8"),
)
"""Scores that are drawn against each other, the one of quality first where there is one."""


def correlations(spreads: Mapping[str, Spread]) -> dict[str, float]:
    """Give for pairs of scores that are drawn together the correlation of their errors.

    By both keys with a bar between them: ``form.precision|form.recall``.
    """
    found = {}
    for key, spread in spreads.items():
        view, dot, name = key.rpartition(".")
        for first, second in TOGETHER:
            other = spreads.get(f"{view}{dot}{second}") if name == first else None
            value = None if other is None else correlation(spread, other)
            if value is not None:
                found[f"{key}|{view}{dot}{second}"] = value
    return found
