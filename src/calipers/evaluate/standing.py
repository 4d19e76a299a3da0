"""The order of systems by a score: the best, those tied with it, and the undecided ones.

The one decision behind the marks of the tables, the sentences of the verdict and the result of
``tune``: whatever speaks of it asks here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from calipers.results.comparison import Comparison
from calipers.results.ranking import best_of, leaders_of, ranked_scores
from calipers.results.shown import ShownScore
from calipers.results.significance import alpha_of, is_significant, is_tested
from calipers.results.tests import SignificanceTest, SystemPair
from calipers.score import Score
from calipers.wording.marks import ALIKE, BEST, EQUAL, OPEN, SAME, UNTESTED
from calipers.wording.numbers import bounds_of, defined, gap_of, value_of

Tested = Mapping[SystemPair, SignificanceTest]
"""The tests by one score, by the names of both systems."""


@dataclass(frozen=True)
class Standing:
    """The systems by one score, as indices of all systems; those without a value are left out.

    Attributes
    ----------
    best
        Those with the best value; one, unless several share it to the last digit.
    tied
        Not distinguishable from the best, or equal to it within the margin (``≈``, ``≡``).
    undecided
        Different from the best when tested alone, not after the correction for all tests (``?``).
    worse
        Significantly worse than the best.
    untested
        Those that were not tested against it (``#``).
    """

    best: tuple[int, ...] = ()
    tied: tuple[int, ...] = ()
    undecided: tuple[int, ...] = ()
    worse: tuple[int, ...] = ()
    untested: tuple[int, ...] = ()

    @property
    def is_clear(self) -> bool:
        """Whether one system is best and every other one significantly worse."""
        others = self.tied or self.undecided or self.untested
        return len(self.best) == 1 and bool(self.worse) and not others


def standing(comparison: Comparison, metric: ShownScore) -> Standing:
    """Determine the order of a comparison's systems by a score; a single system is not best.

    Of several with the best value the first is what the others were tested against.
    """
    scores = ranked_scores(comparison, metric)
    best = leaders_of(scores, metric.direction)
    if not best:
        return Standing()
    marks = all_marks(comparison, [metric])[0]
    known = [
        row for row, score in enumerate(scores) if row not in best and value_of(score) is not None
    ]

    def of(*signs: str) -> tuple[int, ...]:
        return tuple(row for row in known if marks[row] in signs)

    tested = is_tested(comparison)
    return Standing(
        best=tuple(best),
        tied=of(ALIKE, EQUAL),
        undecided=of(OPEN),
        worse=of("") if tested else (),
        untested=of(UNTESTED) if tested else tuple(known),
    )


def all_marks(comparison: Comparison, metrics: Sequence[ShownScore]) -> list[tuple[str, ...]]:
    """Return, for each column, a mark for every system.

    Systems that hold only samples of the reference are marked as such, and are never the best. The
    best; equal to it within a margin; not distinguishable from it; open, where it differs from
    the best when tested alone but not once all tests are allowed for, or the two intervals have no
    value in common; not tested; and no mark for what is worse than the best. Without tests only the
    best is marked, and none where the best are alike as shown. With tests those that are best alike
    are not distinguishable from the best, which is each of them.
    """
    if not is_tested(comparison):
        return [
            _with_same(comparison, metric, _best_only(comparison, metric)) for metric in metrics
        ]
    names, alpha = [system.name for system in comparison.systems], alpha_of(comparison)
    by_score = comparison.indexed.by_score
    return [
        _with_same(
            comparison,
            metric,
            _column(comparison, metric, names, by_score.get(metric.key, {}), alpha),
        )
        for metric in metrics
    ]


def _with_same(comparison: Comparison, metric: ShownScore, marks: Sequence[str]) -> tuple[str, ...]:
    """Mark the scores of systems that hold only samples of the reference."""
    return tuple(
        SAME if system.is_reference and metric.key in system.scores else mark
        for system, mark in zip(comparison.systems, marks, strict=True)
    )


def _best_only(comparison: Comparison, metric: ShownScore) -> tuple[str, ...]:
    best = best_of(ranked_scores(comparison, metric), metric.direction)
    return tuple(BEST if row == best else "" for row in range(len(comparison)))


def _column(
    comparison: Comparison,
    metric: ShownScore,
    names: Sequence[str],
    tested: Tested,
    alpha: float,
) -> tuple[str, ...]:
    scores = ranked_scores(comparison, metric)
    leaders = leaders_of(scores, metric.direction)
    if not leaders:
        return ("",) * len(scores)
    best = scores[leaders[0]]
    marks = [
        _mark(score, best, _between(tested, names[row], names[leaders[0]]), alpha)
        for row, score in enumerate(scores)
    ]
    for row in leaders:
        marks[row] = BEST if len(leaders) == 1 else ALIKE
    return tuple(marks)


def _between(tested: Tested, first: str, second: str) -> SignificanceTest | None:
    """The test of two systems, whichever of them it names first."""
    return tested.get((second, first)) or tested.get((first, second))


def _mark(
    score: Score | None, best: Score | None, test: SignificanceTest | None, alpha: float
) -> str:
    if score is None or value_of(score) is None:
        return ""
    if test is None or defined(test.adjusted_p_value) is None:
        return UNTESTED
    if is_significant(test, alpha):
        return ""
    near = defined(test.equivalence)
    if near is not None and near < alpha:
        return EQUAL
    alone = defined(test.p_value)
    differs = alone is not None and alone < alpha
    return OPEN if differs or _are_disjoint(score, best) else ALIKE


def _are_disjoint(score: Score, best: Score | None) -> bool:
    """Whether two scores that are ranked by their value have intervals without one in common."""
    if gap_of(score) is not None:  # ranked by that; values may lie on either side
        return False
    here, there = bounds_of(score), bounds_of(best)
    if here is None or there is None:
        return False
    return here[1] < there[0] or there[1] < here[0]
