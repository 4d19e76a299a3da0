"""The first sentence of a verdict: which system is nearest, and how sure that is."""

from __future__ import annotations

from calipers.catalogue.shown import views_of
from calipers.report.html.wording import count, listing, named
from calipers.report.inference import ALIKE, EQUAL, OPEN, UNTESTED, all_marks, is_tested
from calipers.report.names import clean
from calipers.report.numbers import APPROXIMATE, below_value, beside_value, leaders_of
from calipers.report.shown import Metric, scores_of
from calipers.report.table import Data


def nearness(data: Data, metric: Metric, *, closeness: bool) -> str:
    """Say which system is best by one score, and whether the others can be told from it.

    `closeness` tells that the score is one of the gap between the distributions.
    """
    rows = [
        row for row, s in enumerate(scores_of(data, metric)) if s and s.get("value") is not None
    ]
    leaders = leaders_of(scores_of(data, metric), metric.direction)
    if not leaders:
        return _alone(data, metric, rows)
    if len(leaders) > 1:
        alike = listing([_named(data, row) for row in leaders])
        said = f"{by_view(data, metric)} ({valued(data, metric, leaders[0])})"
        return f"{alike} share the best {said}"
    best = _best(data, metric, leaders[0], closeness=closeness)
    return best + _others(data, metric, leaders[0], closeness=closeness)


def by_view(data: Data, metric: Metric) -> str:
    """Name a score, with its view where there are several.

    Unlike in a table, the view comes as words, since values stand in brackets.
    """
    return metric.label + _view(data, metric)


def _view(data: Data, metric: Metric) -> str:
    return f" by {clean(metric.view)}" if metric.view and len(views_of(data)) > 1 else ""


def valued(data: Data, metric: Metric, row: int) -> str:
    """Write the score of a system with its interval."""
    score = scores_of(data, metric)[row]
    text = metric.write(score)
    bounds = below_value(score)
    told = beside_value(score, text) or (f" {bounds}" if bounds else "")
    return text + told.removesuffix(APPROXIMATE)


def _alone(data: Data, metric: Metric, rows: list[int]) -> str:
    """Say what one system scores; nothing is there to hold it against but the floor."""
    only = "only " if len(data["systems"]) > 1 else ""
    name = by_view(data, metric)
    if len(rows) > 1:
        return f"by {name}, the systems cannot be ranked"
    row = rows[0]
    text = f"{only}{_named(data, row)} {'has' if only else 'scores'}"
    said = f"{text} {valued(data, metric, row)} by {name}"
    return said + _beside_floor(data, metric, row)


def _beside_floor(data: Data, metric: Metric, row: int) -> str:
    score = scores_of(data, metric)[row] or {}
    floor = score.get("floor")
    if not floor:
        return "; without a noise floor, nothing here tells what equal distributions would score"
    write = metric.write
    its, halves = (write({**score, "value": floor[key]}) for key in ("beside", "value"))
    sure = (
        "as near as this score can tell"
        if floor["inside"]
        else "a difference beyond the noise floor"
    )
    return (
        f"; at {count(floor['size'])} samples it has {its} where two halves of the reference have "
        f"{halves}, {sure}"
    )


def _others(data: Data, metric: Metric, best: int, *, closeness: bool) -> str:
    """Say of the other systems whether they can be told from the best."""
    if not is_tested(data):
        rest = [row for row, s in enumerate(scores_of(data, metric)) if _has(s) and row != best]
        return f" before {_all(data, metric, rest)}, untested: chance may have made this order"
    marks = all_marks(data, [metric])[0]
    rows = {
        mark: [r for r, m in enumerate(marks) if m == mark and _has(scores_of(data, metric)[r])]
        for mark in ("", EQUAL, ALIKE, OPEN, UNTESTED)
    }
    behind = "further away" if closeness else "behind it"
    parts = [
        _said(data, metric, rows[""], f"{{be}} {behind} by more than chance"),
        _said(data, metric, rows[EQUAL], "{be} equal to it within the margin"),
        _said(data, metric, rows[ALIKE], "cannot be told from it with these samples"),
        _said(data, metric, rows[OPEN], "{be} undecided: apart when tested alone"),
        _said(data, metric, rows[UNTESTED], "{was} not tested against it"),
    ]
    return "".join(f"; {part}" for part in parts if part)


def _said(data: Data, metric: Metric, rows: list[int], words: str) -> str:
    one = len(rows) == 1
    told = words.format(be="is" if one else "are", was="was" if one else "were")
    return f"{_all(data, metric, rows)} {told}" if rows else ""


def _all(data: Data, metric: Metric, rows: list[int]) -> str:
    return listing([_with_value(data, metric, row) for row in _best_first(data, metric, rows)])


def _best_first(data: Data, metric: Metric, rows: list[int]) -> list[int]:
    scores = scores_of(data, metric)
    field = "gap" if metric.direction == "closest" else "value"
    higher = metric.direction == "higher"
    return sorted(rows, key=lambda row: (scores[row] or {}).get(field) or 0.0, reverse=higher)


def _best(data: Data, metric: Metric, row: int, *, closeness: bool) -> str:
    name, value = _named(data, row), valued(data, metric, row)
    if not closeness:
        nearest = metric.direction == "closest"
        which = "is nearest to the reference's own" if nearest else "has the best"
        return f"{name} {which} {by_view(data, metric)} ({value})"
    return f"{name} comes closest to the reference{_view(data, metric)} ({metric.label} {value})"


def _with_value(data: Data, metric: Metric, row: int) -> str:
    return f"{_named(data, row)} ({valued(data, metric, row)})"


def _named(data: Data, row: int) -> str:
    return named(data["systems"][row]["name"])


def _has(score: Data | None) -> bool:
    return bool(score) and score is not None and score.get("value") is not None
