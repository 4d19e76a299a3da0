"""The tests of a comparison: confidence level, tests between systems and against the reference."""

from __future__ import annotations

from collections.abc import Sequence

from calipers.results.comparison import Comparison
from calipers.results.tests import SignificanceTest
from calipers.wording.numbers import defined

USUAL_LEVEL = 0.95


def level_of(comparison: Comparison) -> float:
    """Return the confidence level of a comparison, from its settings or its scores."""
    scores = (score for system in comparison.systems for score in system.scores.values())
    levels = (score.level for score in scores)
    return float(comparison.settings.get("level") or next(filter(None, levels), USUAL_LEVEL))


def alpha_of(comparison: Comparison) -> float:
    """Return the p-value below which two systems are distinguishable."""
    return round(1 - level_of(comparison), 12)


def between_systems(comparison: Comparison) -> Sequence[SignificanceTest]:
    """Return the tests of pairs of systems."""
    return comparison.indexed.between


def is_tested(comparison: Comparison) -> bool:
    """Tell whether systems were tested against each other."""
    return bool(comparison.indexed.between)


def against_reference(comparison: Comparison) -> Sequence[SignificanceTest]:
    """Return the tests of systems against the reference."""
    return comparison.indexed.against


def is_significant(test: SignificanceTest, alpha: float) -> bool:
    """Tell whether a test is significant, adjusted over its family."""
    p = defined(test.adjusted_p_value)
    return p is not None and p < alpha
