"""Groups of systems that cannot be told apart from each other by one score.

Sorted by the score, a system joins the group before it as long as the tests distinguish it from
none of the members, so that no two systems of a group are distinguishable. Systems of different
groups may be: not being distinguishable is not transitive, and a group ends where its first member
to be left behind is. Only pairs that were tested, and by p-values that are corrected for all tests,
are said to be alike.
"""

from __future__ import annotations

from collections.abc import Sequence

from calipers.results.comparison import Comparison
from calipers.results.shown import ShownScore
from calipers.results.significance import alpha_of, between_systems, is_significant
from calipers.wording.numbers import defined

SEVERAL = 8
"""Systems from more of which on groups are told: of fewer the marks of the table say it all."""

Groups = tuple[tuple[int, ...], ...]


def alike(comparison: Comparison, metric: ShownScore, rows: Sequence[int]) -> Groups:
    """Give the groups by a score; none of few systems, or where nothing was tested by it.

    Parameters
    ----------
    comparison
        What was measured and tested.
    metric
        The score.
    rows
        The places of the systems that have it, the best first.
    """
    if len(rows) <= SEVERAL:
        return ()
    pairs = _alike(comparison, metric.key)
    if pairs is None:
        return ()
    names = [system.name for system in comparison.systems]
    groups: list[list[int]] = []
    for row in rows:
        if groups and all(frozenset((names[row], names[m])) in pairs for m in groups[-1]):
            groups[-1].append(row)
        else:
            groups.append([row])
    return tuple(map(tuple, groups))


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
