"""A comparison as data ──► the table of the page: systems down, metrics by view across."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from calipers.report import notes, uncertain
from calipers.report.content import BEST, Data, Metric, lead_columns, scores_of, writer
from calipers.report.html.grids import floor_row
from calipers.report.html.wording import short
from calipers.report.names import VIEWS, clean
from calipers.report.uncertain_marks import (
    ALIKE,
    EQUAL,
    OPEN,
    UNTESTED,
    all_marks,
    is_tested,
    marks_line,
)
from calipers.report.uncertain_numbers import below_value, beside_value

WORDS = {
    BEST: "best of its column",
    ALIKE: "not distinguishable from the best",
    EQUAL: "equal to the best within the margin",
    OPEN: "undecided: differs from the best when tested alone",
    UNTESTED: "not tested against the best",
}


@dataclass(frozen=True)
class Head:
    """The head of a column: its name, what it tells, and which end is better."""

    name: str
    says: str
    direction: str
    group: str


@dataclass(frozen=True)
class Value:
    """One score: value, interval and mark, what it sorts by, and where its signature stands."""

    text: str
    bounds: str = ""
    mark: str = ""
    says: str = ""
    sort: float | None = None
    signature: str = ""


@dataclass(frozen=True)
class Row:
    """One set: its name, size and length, and its scores."""

    name: str
    lead: tuple[str, ...]
    values: tuple[Value, ...]


@dataclass(frozen=True)
class ScoreTable:
    """The whole table; `how` explains its marks, `reasons` its dashes."""

    lead: tuple[str, ...]
    heads: tuple[Head, ...]
    groups: tuple[tuple[str, str, int], ...]
    reference: Row
    floor: Row | None
    systems: tuple[Row, ...]
    how: tuple[str, ...]
    reasons: tuple[str, ...]


def score_table(data: Data, metrics: Sequence[Metric]) -> ScoreTable:
    """Lay out the scores that a comparison shows."""
    marks = all_marks(data, metrics)
    leads = lead_columns(data)
    names, *rest = ([cell.text for cell in column.cells] for column in leads)
    lead = list(zip(*rest, strict=True))
    columns = [_values(data, metric, each) for metric, each in zip(metrics, marks, strict=True)]
    rows = [
        Row(short(names[place + 1]), lead[place + 1], tuple(column[place] for column in columns))
        for place in range(len(names) - 1)
    ]
    own = tuple(Value(_reference(data, metric)) for metric in metrics)
    return ScoreTable(
        lead=tuple(column.header for column in leads[1:]),
        heads=tuple(_head(metric) for metric in metrics),
        groups=tuple(_groups(metrics)),
        reference=Row(short(data["reference"]["name"]), lead[0], own),
        floor=_floor(data, metrics, len(lead[0])),
        systems=tuple(rows),
        how=tuple(_how(data, metrics, {mark for column in marks for mark in column})),
        reasons=tuple(notes.reasons(data, metrics)),
    )


def _head(metric: Metric) -> Head:
    return Head(metric.header, metric.meaning, metric.direction, clean(metric.view))


def _groups(metrics: Sequence[Metric]) -> Iterator[tuple[str, str, int]]:
    """Give every view with what it sees and how many columns it has."""
    for view, run in groupby(metrics, key=lambda metric: metric.view):
        yield clean(view), VIEWS.get(view, ""), len(list(run))


def _values(data: Data, metric: Metric, marks: Sequence[str]) -> list[Value]:
    return [
        _value(metric, score, mark, f"signature-{row + 1}-{_place(data, row, metric)}")
        for row, (score, mark) in enumerate(zip(scores_of(data, metric), marks, strict=True))
    ]


def _value(metric: Metric, score: Data | None, mark: str, signature: str) -> Value:
    text = writer(metric)(score)
    if score is None:
        return Value(text)
    order = score.get("gap") if metric.direction == "closest" else score.get("value")
    bounds = beside_value(score, text) or below_value(score)
    return Value(text, bounds, mark, WORDS.get(mark, ""), order, signature)


def _place(data: Data, row: int, metric: Metric) -> int:
    scores = data["systems"][row].get("scores", {})
    return list(scores).index(metric.key) + 1 if metric.key in scores else 0


def _reference(data: Data, metric: Metric) -> str:
    """What the reference itself scores, where the metric is a property of one set."""
    own = [{**s, "value": s["reference"]} for s in scores_of(data, metric) if s and "gap" in s]
    texts = set(map(writer(metric), own))
    return texts.pop() if len(texts) == 1 else ""


def _floor(data: Data, metrics: Sequence[Metric], leads: int) -> Row | None:
    found = floor_row(data, metrics)
    if not found:
        return None
    values = tuple(Value(found.get((clean(metric.view), metric.header), "")) for metric in metrics)
    return Row("noise floor", (found["", ""], *[""] * (leads - 1)), values)


def _how(data: Data, metrics: Sequence[Metric], marks: set[str]) -> Iterator[str]:
    yield from uncertain.interval_lines(data, metrics)
    if is_tested(data):
        yield from marks_line(data, marks)
    told = notes.marks(metrics, best_shown=BEST in marks and not is_tested(data))
    yield from told.split("; ") if told else ()
