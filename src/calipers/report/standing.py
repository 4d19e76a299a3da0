"""Who is best by a score, who is tied with the best, and of whom the samples do not tell.

The one decision behind the marks of the tables, the sentences of the verdict and the result of
``tune``: whatever speaks of it asks here.
"""

from __future__ import annotations

from dataclasses import dataclass

from calipers.report.inference import ALIKE, EQUAL, OPEN, UNTESTED, all_marks, is_tested
from calipers.report.numbers import leaders_of, value_of
from calipers.report.shown import Metric, scores_of
from calipers.results.comparison import Comparison


@dataclass(frozen=True)
class Standing:
    """The systems by one score, as places among all systems; those without a value are left out.

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
        """Whether one system is best, and every other one significantly worse."""
        others = self.tied or self.undecided or self.untested
        return len(self.best) == 1 and bool(self.worse) and not others


def standing(comparison: Comparison, metric: Metric) -> Standing:
    """Say how the systems of a comparison stand by a score; nothing is best without a second one.

    Of several with the best value the first is what the others were tested against.
    """
    scores = scores_of(comparison, metric)
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
