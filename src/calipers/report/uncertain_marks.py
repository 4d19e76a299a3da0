"""Which of a column is best, and which cannot be told from it: marks, and how they are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from calipers.report.content import BEST, Data, Metric, scores_of
from calipers.report.numbers import best_of, leaders_of

ALIKE = "="
EQUAL = "≡"
OPEN = "?"
UNTESTED = "#"
REFERENCE = "reference"
Tested = Mapping[frozenset[str], Data]
"""The tests by one score, by the names of both systems."""
AGAINST_REFERENCE = frozenset({"classifier_auc", "mmd"})
"""Scores by which a system is tested against the reference."""
USUAL_LEVEL = 0.95


def level_of(data: Data) -> float:
    """Give the confidence level of a comparison: that of its settings, else of its scores."""
    scores = [score for row in data.get("systems", ()) for score in row.get("scores", {}).values()]
    levels = (score.get("level") for score in scores)
    return float(data.get("settings", {}).get("level") or next(filter(None, levels), USUAL_LEVEL))


def alpha_of(data: Data) -> float:
    """Give the p-value below which two are told apart."""
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


def marks_line(data: Data, marks: set[str]) -> Iterator[str]:
    """Explain the marks that a table shows."""
    if BEST in marks:
        yield f"{BEST} best of its column"
    if EQUAL in marks:
        margin = data.get("settings", {}).get("margin")
        within = "a margin" if margin is None else f"{margin:g}"
        yield f"{EQUAL} equal to the best within {within} (at {percent(level_of(data))})"
    if ALIKE in marks:
        yield f"{ALIKE} not distinguishable from the best ({_how(data)})"
    if OPEN in marks:
        yield (
            f"{OPEN} undecided: differs from the best when tested alone, not after the correction "
            "for all tests"
        )
    if UNTESTED in marks:
        yield f"{UNTESTED} not tested against the best"


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
