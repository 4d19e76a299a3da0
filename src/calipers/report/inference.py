"""What is certain and what is not: tests, marks beside the best, intervals, the noise floor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from calipers.report.names import clean
from calipers.report.numbers import (
    APPROXIMATE,
    MISSING,
    PLUS_MINUS,
    best_of,
    bounds_of,
    defined,
    gap_of,
    half_text,
    is_asymmetric,
    leaders_of,
    value_of,
)
from calipers.report.shown import Metric, listed, metric_of, named, scores_of, spoken
from calipers.report.table import BEST, Note, ScoreCell, Words
from calipers.results.comparison import REFERENCE, Comparison, SignificanceTest
from calipers.score import NoiseFloor, Score

ALIKE = "≈"
EQUAL = "≡"
OPEN = "?"
UNTESTED = "#"
FLOOR_MARK = "✓"
BRIEF = {
    BEST: "best",
    EQUAL: "equal within the margin",
    ALIKE: "tied with the best",
    OPEN: "undecided",
    UNTESTED: "untested",
}
"""What the marks mean, in a word or two."""
Tested = Mapping[frozenset[str], SignificanceTest]
"""The tests by one score, by the names of both systems."""
AGAINST_REFERENCE = frozenset({"classifier_auc", "mmd"})
"""Scores by which a system is tested against the reference."""
USUAL_LEVEL = 0.95
BOUNDS = "[low,high]"
COVERS = "of the score's average at these sizes; bias comes on top"


def level_of(comparison: Comparison) -> float:
    """Give the confidence level of a comparison: that of its settings, else of its scores."""
    scores = (score for system in comparison.systems for score in system.scores.values())
    levels = (score.level for score in scores)
    return float(comparison.settings.get("level") or next(filter(None, levels), USUAL_LEVEL))


def alpha_of(comparison: Comparison) -> float:
    """Give the p-value below which two are distinguishable."""
    return round(1 - level_of(comparison), 12)


def percent(level: float) -> str:
    """Write a level.

    Examples
    --------
    >>> percent(0.95), percent(0.999)
    ('95 %', '99.9 %')
    """
    return f"{round(100 * level, 10):g} %"


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


def all_marks(comparison: Comparison, metrics: Sequence[Metric]) -> list[tuple[str, ...]]:
    """Give for each column a mark for every system.

    The best; equal to it within a margin; not distinguishable from it; open, where it differs from
    the best by itself but not once all tests are allowed for, or the two intervals have no value in
    common; not tested; and none for what is worse than the best. Without tests only the best is
    marked, and none where the best are alike as shown. With tests those that are best alike are not
    distinguishable from the best, which is each of them.
    """
    if not is_tested(comparison):
        return [_best_only(comparison, metric) for metric in metrics]
    names, alpha = [system.name for system in comparison.systems], alpha_of(comparison)
    by_score: dict[str, dict[frozenset[str], SignificanceTest]] = {}
    for test in between_systems(comparison):
        by_score.setdefault(test.score, {})[frozenset((test.a, test.b))] = test
    return [
        _column(comparison, metric, names, by_score.get(metric.key, {}), alpha)
        for metric in metrics
    ]


def mark_notes(comparison: Comparison, marks: set[str], *, brief: bool = False) -> Iterator[Note]:
    """Explain the marks that a table shows, `brief` in a word or two each."""
    if brief:
        yield from (Note("sign", text, mark) for mark, text in BRIEF.items() if mark in marks)
        return
    margin = comparison.settings.get("margin")
    within = "a margin" if margin is None else f"{margin:g}"
    meanings = {
        BEST: "best in its column",
        EQUAL: f"equal to the best within {within} (at {percent(level_of(comparison))})",
        ALIKE: f"not distinguishable from the best ({_how(comparison)})",
        OPEN: (
            "undecided: differs from the best when tested alone, not after the correction for all "
            "tests"
        ),
        UNTESTED: "not tested against the best",
    }
    yield from (Note("mark", text, mark) for mark, text in meanings.items() if mark in marks)


def interval_notes(
    comparison: Comparison, metrics: Sequence[Metric], *, brackets: bool = False
) -> Iterator[Note]:
    """Say what ± and the brackets hold, where there are any; `brackets` if nothing stands as ±."""
    columns = [
        [score for score in scores_of(comparison, metric) if score and bounds_of(score)]
        for metric in metrics
    ]
    known = [score for column in columns for score in column]
    if not known:
        return
    levels = sorted({score.level for score in known if score.level})
    level = f"{' and '.join(map(percent, levels))} " if levels else ""
    bounds = [brackets or any(map(is_asymmetric, column)) for column in columns if column]
    sign = BOUNDS if all(bounds) else PLUS_MINUS
    odd = f", {BOUNDS} where asymmetric," if any(bounds) and not all(bounds) else ""
    yield Note("interval", f"{level}interval{odd} {COVERS}", sign)
    if any(score.approximate for score in known):
        approximate = "approximate: found on smaller sets, or a share close to 0 or 1"
        yield Note("interval", approximate, APPROXIMATE)


def family(tests: Sequence[SignificanceTest]) -> str:
    """Say over how many tests p-values are adjusted; nothing for a single one."""
    count = sum(defined(test.p_value) is not None for test in tests)
    return f", corrected for {count} tests" if count > 1 else ""


def untested(comparison: Comparison, tests: Sequence[SignificanceTest]) -> Iterator[Note]:
    """Say why tests gave no p-value, each reason once."""
    about: dict[str, list[Words]] = {}
    for test in tests:
        if defined(test.p_value) is None:
            name = spoken(comparison, metric_of(comparison, test.score))
            reason = clean(test.reason or "no p-value, and no reason was kept")
            about.setdefault(reason, []).append((*_sides(comparison, test), f", {name}"))
    for reason, tested in about.items():
        more = f" and {len(tested) - 3} more" if tested[3:] else ""
        words = (f"{MISSING} ", *listed(tested[:3], "; "), f"{more}: {reason}")
        yield Note("finding", words)


def pair_name(pair: tuple[str, str]) -> Words:
    """Name the difference between two systems."""
    return named(pair[0], 6), " - ", named(pair[1], 6)


def floor_of(score: Score | None) -> NoiseFloor | None:
    """Give the noise floor beside a score."""
    return None if score is None else score.floor


def floor_cell(score: Score | None, metric: Metric) -> ScoreCell | None:
    """Write the floor beside a score, and its spread; None where there is none."""
    if score is None or score.floor is None:
        return None
    text = metric.write(replace(score, value=score.floor.value))
    spread = defined(score.floor.spread)
    return ScoreCell(text, "" if spread is None else half_text(spread, text), style="dim")


def floor_splits(comparison: Comparison, metrics: Sequence[Metric]) -> str:
    """Say over how many random halves the floor is a mean."""
    floors = [floor_of(score) for metric in metrics for score in scores_of(comparison, metric)]
    return " or ".join(map(str, sorted({floor.splits for floor in floors if floor})))


def _how(comparison: Comparison) -> str:
    tests = between_systems(comparison)
    return f"at {percent(level_of(comparison))}{family(tests)}"


def _best_only(comparison: Comparison, metric: Metric) -> tuple[str, ...]:
    scores = scores_of(comparison, metric)
    best = best_of(scores, metric.direction)
    return tuple(BEST if row == best else "" for row in range(len(scores)))


def _column(
    comparison: Comparison,
    metric: Metric,
    names: Sequence[str],
    tested: Tested,
    alpha: float,
) -> tuple[str, ...]:
    scores = scores_of(comparison, metric)
    leaders = leaders_of(scores, metric.direction)
    if not leaders:
        return ("",) * len(scores)
    best = scores[leaders[0]]
    marks = [
        _mark(score, best, tested.get(frozenset((names[row], names[leaders[0]]))), alpha)
        for row, score in enumerate(scores)
    ]
    for row in leaders:
        marks[row] = BEST if len(leaders) == 1 else ALIKE
    return tuple(marks)


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


def _sides(comparison: Comparison, test: SignificanceTest) -> Words:
    if is_against_reference(comparison, test):
        return (named(test.a),)
    return pair_name((test.a, test.b))
