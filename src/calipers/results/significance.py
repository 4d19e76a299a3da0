"""The tests of a comparison: at which level, between which systems, and against the reference."""

from __future__ import annotations

from calipers.results.comparison import REFERENCE, Comparison, SignificanceTest
from calipers.wording.numbers import defined

AGAINST_REFERENCE = frozenset({"classifier_auc", "mmd"})
"""Scores by which a system is tested against the reference."""
USUAL_LEVEL = 0.95


def level_of(comparison: Comparison) -> float:
    """Give the confidence level of a comparison: that of its settings, else of its scores."""
    scores = (score for system in comparison.systems for score in system.scores.values())
    levels = (score.level for score in scores)
    return float(comparison.settings.get("level") or next(filter(None, levels), USUAL_LEVEL))


def alpha_of(comparison: Comparison) -> float:
    """Give the p-value below which two are distinguishable."""
    return round(1 - level_of(comparison), 12)


def between_systems(comparison: Comparison) -> list[SignificanceTest]:
    """Give the tests of pairs of systems."""
    return [test for test in comparison.tests if not is_against_reference(comparison, test)]


def is_tested(comparison: Comparison) -> bool:
    """Tell whether systems were tested against each other."""
    return bool(between_systems(comparison))


def against_reference(comparison: Comparison) -> list[SignificanceTest]:
    """Give the tests of systems against the reference."""
    return [test for test in comparison.tests if is_against_reference(comparison, test)]


def is_against_reference(comparison: Comparison, test: SignificanceTest) -> bool:
    """Tell a test against the reference from one against a system that is called so."""
    if test.b != REFERENCE:
        return False
    if all(system.name != REFERENCE for system in comparison.systems):
        return True
    score = test.score.partition(":")[0].rpartition(".")[2]
    return score in AGAINST_REFERENCE and test.interval is None


def is_significant(test: SignificanceTest, alpha: float) -> bool:
    """Tell whether a test found a difference, adjusted over its family."""
    p = defined(test.adjusted_p_value)
    return p is not None and p < alpha
