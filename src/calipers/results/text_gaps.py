"""Gaps of text statistics to the reference, and which of them exceed chance.

A gap is beyond chance where the intervals of the two values lie apart. That is the careful side:
intervals may overlap where a test of the difference would be significant.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calipers.results.texts import TextComparison, TextResult
from calipers.score import Score
from calipers.wording.numbers import bounds_of, defined, gap_of, value_of


def signed_gap(score: Score | None) -> float | None:
    """Return the value minus that of the reference; None where there is no gap."""
    value = value_of(score)
    if score is None or value is None or score.reference is None:
        return None
    reference = defined(score.reference)
    return None if reference is None else value - reference


def beyond_chance(score: Score | None, reference: Score | None) -> bool | None:
    """Tell whether the intervals of two values are disjoint; None where either has none.

    Examples
    --------
    >>> low, high = Score(0.1, interval=(0.0, 0.2)), Score(0.5, interval=(0.4, 0.6))
    >>> beyond_chance(low, high), beyond_chance(high, high), beyond_chance(low, Score(0.5))
    (True, False, None)
    """
    ours, theirs = bounds_of(score), bounds_of(reference)
    if ours is None or theirs is None:
        return None
    return ours[0] > theirs[1] or theirs[0] > ours[1]


@dataclass(frozen=True)
class Sides:
    """Numbers of systems beyond chance on either side of the reference, by one statistic.

    Attributes
    ----------
    key
        Of the statistic.
    above, below
        Systems whose value is higher, or lower, beyond chance.
    compared
        Systems of which that can be told.
    """

    key: str
    above: int
    below: int
    compared: int


def sides(result: TextComparison) -> list[Sides]:
    """Count, for every statistic, the systems on each side of the reference."""
    counts = []
    for key in result.settings["metrics"]:
        reference = result.reference_scores.get(key)
        gaps = [
            (signed_gap(system.scores.get(key)), beyond_chance(system.scores.get(key), reference))
            for system in result.systems
        ]
        told = [(gap, beyond) for gap, beyond in gaps if gap is not None and beyond is not None]
        if told:
            above = sum(beyond and gap > 0 for gap, beyond in told)
            below = sum(beyond and gap < 0 for gap, beyond in told)
            counts.append(Sides(key, above, below, len(told)))
    return counts


def differing(result: TextComparison, system: TextResult) -> tuple[int, int]:
    """Count the statistics by which a system differs beyond chance, and those with intervals."""
    told = [
        beyond
        for key in result.settings["metrics"]
        if (beyond := beyond_chance(system.scores.get(key), result.reference_scores.get(key)))
        is not None
    ]
    return sum(told), len(told)


def by_closeness(result: TextComparison) -> list[int]:
    """Order the indices of systems by closeness to the reference.

    By the share of statistics by which they lie beyond chance, then by the mean rank of their gaps;
    without gaps in the order given. Those that hold only texts of the reference come last.
    """
    ranks: list[list[float]] = [[] for _ in result.systems]
    for key in result.settings["metrics"]:
        gaps = [gap_of(system.scores.get(key)) for system in result.systems]
        known = [place for place, gap in enumerate(gaps) if gap is not None]
        order = np.argsort(np.array([gaps[place] for place in known], np.float64), kind="stable")
        for rank, at in enumerate(order.tolist()):
            ranks[known[at]].append(rank / max(1, len(known) - 1))
    counts = [differing(result, system) for system in result.systems]
    shares = [count / of if of else 0.0 for count, of in counts]
    means = [float(np.mean(places)) if places else 1.0 for places in ranks]
    if not any(ranks):
        return list(range(len(result.systems)))
    return sorted(
        range(len(result.systems)),
        key=lambda place: (
            result.systems[place].is_reference,
            shares[place],
            means[place],
            place,
        ),
    )
