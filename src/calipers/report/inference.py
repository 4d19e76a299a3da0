"""What is certain and what is not: tests, marks beside the best, intervals, the noise floor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from calipers.report.names import clean
from calipers.report.numbers import (
    APPROXIMATE,
    MISSING,
    PLUS_MINUS,
    best_of,
    half_text,
    is_asymmetric,
    leaders_of,
)
from calipers.report.shown import Metric, listed, metric_of, named, scores_of, spoken
from calipers.report.table import BEST, Data, Note, ScoreCell, Words

ALIKE = "≈"
EQUAL = "≡"
OPEN = "?"
UNTESTED = "#"
FLOOR_MARK = "✓"
REFERENCE = "reference"
BRIEF = {
    BEST: "best",
    EQUAL: "equal within the margin",
    ALIKE: "tied with the best",
    OPEN: "undecided",
    UNTESTED: "untested",
}
"""What the marks mean, in a word or two."""
Tested = Mapping[frozenset[str], Data]
"""The tests by one score, by the names of both systems."""
AGAINST_REFERENCE = frozenset({"classifier_auc", "mmd"})
"""Scores by which a system is tested against the reference."""
USUAL_LEVEL = 0.95
BOUNDS = "[low,high]"
COVERS = "of the score's average at these sizes; bias comes on top"


def level_of(data: Data) -> float:
    """Give the confidence level of a comparison: that of its settings, else of its scores."""
    scores = [score for row in data.get("systems", ()) for score in row.get("scores", {}).values()]
    levels = (score.get("level") for score in scores)
    return float(data.get("settings", {}).get("level") or next(filter(None, levels), USUAL_LEVEL))


def alpha_of(data: Data) -> float:
    """Give the p-value below which two are distinguishable."""
    return round(1 - level_of(data), 12)


def percent(level: float) -> str:
    """Write a level.

    Examples
    --------
    >>> percent(0.95), percent(0.999)
    ('95 %', '99.9 %')
    """
    return f"{round(100 * level, 10):g} %"


def between_systems(data: Data) -> list[Data]:
    """Give the tests of pairs of systems."""
    return [test for test in data.get("tests") or () if not is_against_reference(data, test)]


def is_tested(data: Data) -> bool:
    """Tell whether systems were tested against each other."""
    return bool(between_systems(data))


def against_reference(data: Data) -> list[Data]:
    """Give the tests of systems against the reference."""
    return [test for test in data.get("tests") or () if is_against_reference(data, test)]


def is_against_reference(data: Data, test: Data) -> bool:
    """Tell a test against the reference from one against a system that is called so."""
    if test["b"] != REFERENCE:
        return False
    if all(system["name"] != REFERENCE for system in data.get("systems", ())):
        return True
    score = test["score"].partition(":")[0].rpartition(".")[2]
    return score in AGAINST_REFERENCE and test.get("interval") is None


def all_marks(data: Data, metrics: Sequence[Metric]) -> list[tuple[str, ...]]:
    """Give for each column a mark for every system.

    The best; equal to it within a margin; not distinguishable from it; open, where it differs from
    the best by itself but not once all tests are allowed for, or the two intervals have no value in
    common; not tested; and none for what is worse than the best. Without tests only the best is
    marked, and none where the best are alike as shown. With tests those that are best alike are not
    distinguishable from the best, which is each of them.
    """
    if not is_tested(data):
        return [_best_only(data, metric) for metric in metrics]
    names, alpha = [system["name"] for system in data["systems"]], alpha_of(data)
    by_score: dict[str, dict[frozenset[str], Data]] = {}
    for test in between_systems(data):
        by_score.setdefault(test["score"], {})[frozenset((test["a"], test["b"]))] = test
    return [_column(data, metric, names, by_score.get(metric.key, {}), alpha) for metric in metrics]


def mark_notes(data: Data, marks: set[str], *, brief: bool = False) -> Iterator[Note]:
    """Explain the marks that a table shows, `brief` in a word or two each."""
    if brief:
        yield from (Note("sign", text, mark) for mark, text in BRIEF.items() if mark in marks)
        return
    margin = data.get("settings", {}).get("margin")
    within = "a margin" if margin is None else f"{margin:g}"
    meanings = {
        BEST: "best in its column",
        EQUAL: f"equal to the best within {within} (at {percent(level_of(data))})",
        ALIKE: f"not distinguishable from the best ({_how(data)})",
        OPEN: (
            "undecided: differs from the best when tested alone, not after the correction for all "
            "tests"
        ),
        UNTESTED: "not tested against the best",
    }
    yield from (Note("mark", text, mark) for mark, text in meanings.items() if mark in marks)


def interval_notes(
    data: Data, metrics: Sequence[Metric], *, brackets: bool = False
) -> Iterator[Note]:
    """Say what ± and the brackets hold, where there are any; `brackets` if nothing stands as ±."""
    scores = [score for metric in metrics for score in scores_of(data, metric) if score]
    held = [score for score in scores if score.get("interval") and None not in score["interval"]]
    if not held:
        return
    levels = sorted({score["level"] for score in held if score.get("level")})
    level = f"{' and '.join(map(percent, levels))} " if levels else ""
    columns = [[is_asymmetric(s) for s in scores_of(data, m) if s in held] for m in metrics]
    bounds = [brackets or any(column) for column in columns if column]
    sign = BOUNDS if all(bounds) else PLUS_MINUS
    odd = f", {BOUNDS} where asymmetric," if any(bounds) and not all(bounds) else ""
    yield Note("interval", f"{level}interval{odd} {COVERS}", sign)
    if any(score.get("approximate") for score in held):
        approximate = "approximate: found on smaller sets, or a share close to 0 or 1"
        yield Note("interval", approximate, APPROXIMATE)


def family(tests: Sequence[Data]) -> str:
    """Say over how many tests p-values are adjusted; nothing for a single one."""
    count = sum(test["p_value"] is not None for test in tests)
    return f", corrected for {count} tests" if count > 1 else ""


def untested(data: Data, tests: Sequence[Data]) -> Iterator[Note]:
    """Say why tests gave no p-value, each reason once."""
    about: dict[str, list[Words]] = {}
    for test in tests:
        if test["p_value"] is None:
            name = spoken(data, metric_of(data, test["score"]))
            reason = clean(test.get("reason") or "no p-value, and no reason was kept")
            about.setdefault(reason, []).append((*_sides(data, test), f", {name}"))
    for reason, tested in about.items():
        more = f" and {len(tested) - 3} more" if tested[3:] else ""
        words = (f"{MISSING} ", *listed(tested[:3], "; "), f"{more}: {reason}")
        yield Note("finding", words)


def pair_name(pair: tuple[str, str]) -> Words:
    """Name the difference between two systems."""
    return named(pair[0], 6), " - ", named(pair[1], 6)


def floor_of(score: Data | None) -> Data | None:
    """Give the noise floor beside a score."""
    return (score or {}).get("floor")


def floor_cell(score: Data | None, metric: Metric) -> ScoreCell | None:
    """Write the floor beside a score, and its spread; None where there is none."""
    floor = floor_of(score)
    if score is None or floor is None:
        return None
    text = metric.write({**score, "value": floor["value"]})
    spread = floor["spread"]
    return ScoreCell(text, "" if spread is None else half_text(spread, text), style="dim")


def floor_splits(data: Data, metrics: Sequence[Metric]) -> str:
    """Say over how many random halves the floor is a mean."""
    floors = [floor_of(score) for metric in metrics for score in scores_of(data, metric)]
    return " or ".join(map(str, sorted({floor["splits"] for floor in floors if floor})))


def _how(data: Data) -> str:
    tests = [test for test in between_systems(data) if test["p_value"] is not None]
    family = f", corrected for {len(tests)} tests" if len(tests) > 1 else ""
    return f"at {percent(level_of(data))}{family}"


def _best_only(data: Data, metric: Metric) -> tuple[str, ...]:
    scores = scores_of(data, metric)
    best = best_of(scores, metric.direction)
    return tuple(BEST if row == best else "" for row in range(len(scores)))


def _column(
    data: Data,
    metric: Metric,
    names: Sequence[str],
    tested: Tested,
    alpha: float,
) -> tuple[str, ...]:
    scores = scores_of(data, metric)
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


def _mark(score: Data | None, best: Data | None, test: Data | None, alpha: float) -> str:
    if score is None or score.get("value") is None:
        return ""
    if test is None or test["adjusted_p_value"] is None:
        return UNTESTED
    if test["adjusted_p_value"] < alpha:
        return ""
    near = test.get("equivalence")
    if near is not None and near < alpha:
        return EQUAL
    alone = test["p_value"]
    differs = alone is not None and alone < alpha
    return OPEN if differs or _are_disjoint(score, best) else ALIKE


def _are_disjoint(score: Data, best: Data | None) -> bool:
    """Whether two scores that are ranked by their value have intervals without one in common."""
    if score.get("gap") is not None:  # ranked by that; values may lie on either side
        return False
    here, there = (each.get("interval") if each else None for each in (score, best))
    if here is None or there is None or None in (*here, *there):
        return False
    return bool(here[1] < there[0] or there[1] < here[0])


def _sides(data: Data, test: Data) -> Words:
    if is_against_reference(data, test):
        return (named(test["a"]),)
    return pair_name((test["a"], test["b"]))
