"""Groups of systems that one score does not distinguish.

Sorted by the score, a system joins the group before it as long as the tests distinguish it from
none of the members, so that no two systems of a group are distinguishable. Systems of different
groups may be: not being distinguishable is not transitive, and a group ends where its first member
to be left behind is. Only pairs that were tested, and by p-values that are corrected for all tests,
are said to be alike.
"""

from __future__ import annotations

from calipers.results.comparison import Comparison
from calipers.results.ranking import ranked_scores
from calipers.results.shown import ShownScore
from calipers.results.significance import alpha_of, between_systems, is_significant
from calipers.wording.numbers import defined, gap_of, value_of

SEVERAL = 8
"""Systems from more of which on groups are told: of fewer the marks of the table say it all."""

Groups = tuple[tuple[int, ...], ...]


def alike(comparison: Comparison, metric: ShownScore) -> Groups:
    """Return the groups by a score, as indices of systems, the best first.

    There are none of few systems, or where nothing was tested by the score. The order in which the
    systems stand changes nothing.
    """
    names = [system.name for system in comparison.systems]
    rows = best_first(comparison, metric)
    if len(rows) <= SEVERAL:
        return ()
    pairs = _alike(comparison, metric.key)
    if pairs is None:
        return ()
    groups: list[list[int]] = []
    for row in rows:
        if groups and all(frozenset((names[row], names[m])) in pairs for m in groups[-1]):
            groups[-1].append(row)
        else:
            groups.append([row])
    return tuple(map(tuple, groups))


def best_first(comparison: Comparison, metric: ShownScore) -> list[int]:
    """Return the indices of the systems with a score, the best first, ties by name.

    A system that holds only samples of the reference is none of them.
    """
    sign = -1 if metric.direction == "higher" else 1
    ranks = {
        row: sign * value
        for row, score in enumerate(ranked_scores(comparison, metric))
        if (value := gap_of(score) if metric.direction == "closest" else value_of(score))
        is not None
    }
    return sorted(ranks, key=lambda row: (ranks[row], comparison.systems[row].name))


def _alike(comparison: Comparison, key: str) -> set[frozenset[str]] | None:
    """The pairs that were tested by a score and not distinguished; None without such a test."""
    tests = [test for test in between_systems(comparison) if test.score == key]
    if not tests:
        return None
    alpha = alpha_of(comparison)
    return {
        frozenset((test.a, test.b))
        for test in tests
        if defined(test.adjusted_p_value) is not None and not is_significant(test, alpha)
    }
