"""Uncertainty in reports: tests, marks beside the best, intervals, the noise floor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from calipers.report.shown import metric_of, spoken
from calipers.report.table import Note, ScoreCell
from calipers.results.comparison import Comparison
from calipers.results.ranking import scores_of
from calipers.results.shown import ShownScore
from calipers.results.significance import between_systems, level_of
from calipers.results.tests import SignificanceTest
from calipers.score import Score
from calipers.wording.marks import ALIKE, BEST, EQUAL, OPEN, SAME, UNTESTED
from calipers.wording.names import clean
from calipers.wording.numbers import (
    APPROXIMATE,
    MISSING,
    bounds_of,
    defined,
    floor_of,
    half_text,
    percent,
)
from calipers.wording.words import Words, listed, named

BRIEF = {
    BEST: "best",
    EQUAL: "equal within the margin",
    ALIKE: "tied with the best",
    OPEN: "undecided",
    UNTESTED: "untested",
    SAME: "the reference's own samples",
}
"""What the marks mean, in a word or two."""
BOUNDS = "[low,high]"
COVERS = "for the average score at these sizes; does not include bias"


def mark_notes(comparison: Comparison, marks: set[str], *, brief: bool = False) -> Iterator[Note]:
    """Explain the marks of a table, with `brief` in a word or two each."""
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
            "undecided: differs from the best when tested alone, but not after correction for all "
            "tests"
        ),
        UNTESTED: "not tested against the best",
        SAME: "reference samples only: not ranked",
    }
    yield from (Note("mark", text, mark) for mark, text in meanings.items() if mark in marks)


def interval_notes(comparison: Comparison, metrics: Sequence[ShownScore]) -> Iterator[Note]:
    """Explain the brackets of intervals, where there are any."""
    scores = [score for metric in metrics for score in scores_of(comparison, metric)]
    known = [score for score in scores if score and bounds_of(score)]
    if not known:
        return
    levels = sorted({score.level for score in known if score.level})
    level = f"{' and '.join(map(percent, levels))} " if levels else ""
    yield Note("interval", f"{level}interval {COVERS}", BOUNDS)
    if any(score.approximate for score in known):
        approximate = "approximate: from smaller sets, or for a share close to 0 or 1"
        yield Note("interval", approximate, APPROXIMATE)


def family(tests: Sequence[SignificanceTest]) -> str:
    """State over how many tests p-values are adjusted; nothing for a single test."""
    count = sum(defined(test.p_value) is not None for test in tests)
    return f", corrected for {count} tests" if count > 1 else ""


def untested(comparison: Comparison, tests: Sequence[SignificanceTest]) -> Iterator[Note]:
    """Explain why tests gave no p-value, each reason once."""
    about: dict[str, list[Words]] = {}
    for test in tests:
        if defined(test.p_value) is None:
            name = spoken(comparison, metric_of(comparison, test.score))
            reason = clean(test.reason or "no p-value; no reason was recorded")
            about.setdefault(reason, []).append((*_sides(comparison, test), f", {name}"))
    for reason, tested in about.items():
        more = f" and {len(tested) - 3} more" if tested[3:] else ""
        words = (f"{MISSING} ", *listed(tested[:3], "; "), f"{more}: {reason}")
        yield Note("finding", words)


def pair_name(pair: tuple[str, str]) -> Words:
    """Name the difference between two systems."""
    return named(pair[0], 6), " - ", named(pair[1], 6)


def floor_cell(score: Score | None, metric: ShownScore) -> ScoreCell | None:
    """Write the floor of a score, and its spread; None without one."""
    if score is None or score.floor is None:
        return None
    text = metric.write(replace(score, value=score.floor.value))
    spread = defined(score.floor.spread)
    return ScoreCell(text, "" if spread is None else half_text(spread, text), style="dim")


def floor_splits(comparison: Comparison, metrics: Sequence[ShownScore]) -> str:
    """State over how many random halvings the floor is averaged."""
    floors = [floor_of(score) for metric in metrics for score in scores_of(comparison, metric)]
    return " or ".join(map(str, sorted({floor.splits for floor in floors if floor})))


def _how(comparison: Comparison) -> str:
    tests = between_systems(comparison)
    return f"at {percent(level_of(comparison))}{family(tests)}"


def _sides(comparison: Comparison, test: SignificanceTest) -> Words:
    if comparison.indexed.is_against_reference(test):
        return (named(test.a),)
    return pair_name((test.a, test.b))
