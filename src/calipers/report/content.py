"""A comparison as data ──► the columns of its table, without any width in mind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calipers.catalogue.embeddings import METRICS
from calipers.report.grid import Cell, Column
from calipers.report.names import HEADLINE, UNRANKED, clean, label, meaning
from calipers.report.numbers import score_text, size_text, words_text
from calipers.report.text_names import is_unranked, text_label, text_meaning
from calipers.report.text_numbers import value_text
from calipers.report.uncertain_numbers import below_value, beside_value

Data = Mapping[str, Any]
Write = Callable[[Data | None], str]

REFERENCE = "reference"
TEXT = "text"
"""The view of statistics that need no embeddings; metrics of its names may mean others there."""
ELSEWHERE = (":group=", ":own=", ":train")
COUNTING = "quantisation"
BEST = "*"
ARROWS = {"higher": "↑", "lower": "↓", "closest": "≈"}
BEST_STYLE = "bold"


@dataclass(frozen=True)
class Metric:
    """One metric by one view: where its scores stand, and how they are read."""

    view: str
    metric: str
    key: str
    better: str

    @property
    def ranked(self) -> bool:
        """Whether the best of several values can be told."""
        if self.view == TEXT:
            return self.better == "closest" or not is_unranked(self.metric)
        return self.metric.partition(":")[0] not in UNRANKED

    @property
    def direction(self) -> str:
        """Where it is better, ``"higher"``, ``"lower"`` or ``"closest"``; empty where unranked."""
        return self.better if self.ranked else ""

    @property
    def header(self) -> str:
        """Name the metric, with an arrow to where it is better."""
        return self.label + self.arrow

    @property
    def label(self) -> str:
        """Name the metric; one of texts that has a namesake on embeddings says so."""
        if self.view != TEXT:
            return label(self.metric)
        namesake = self.metric.partition(":")[0] in METRICS
        return f"{'Text ' if namesake else ''}{text_label(self.metric)}"

    @property
    def meaning(self) -> str:
        """Say what it tells; empty for a metric that is not known."""
        base = self.metric.partition(":")[0]
        if self.view == TEXT:
            return text_meaning(self.metric)
        return meaning(self.metric) if base in METRICS else ""

    @property
    def arrow(self) -> str:
        """Where it is better; nothing where neither end is."""
        return ARROWS.get(self.direction, "")


def views(data: Data) -> list[str]:
    """Give the names of the views, the main one first."""
    return list(data.get("settings", {}).get("views") or [""])


def shown_metrics(data: Data) -> list[Metric]:
    """Choose what the table shows: what was asked for, else the headline, by every view."""
    found = [
        score_metric(data, view, metric, main=index == 0)
        for index, view in enumerate(views(data))
        for metric in _shown_names(data)
    ]
    return [metric for metric in found if metric is not None]


def scores_of(data: Data, metric: Metric) -> list[Data | None]:
    """Give the score of every system by one metric, in the order of the systems."""
    return [system.get("scores", {}).get(metric.key) for system in data.get("systems", ())]


def lead_columns(data: Data) -> list[Column]:
    """Give the columns before the scores: name, size and length."""
    rows = [data["reference"], *data.get("systems", ())]
    names = (REFERENCE, *(clean(row["name"]) for row in rows[1:]))
    sizes = Column("n", _cells([size_text(row) for row in rows]))
    words = Column("words", _cells([words_text(row) for row in rows]))
    some_words = any(row.get("words") for row in rows)
    return [Column("system", _cells(names), right=False), sizes, *([words] if some_words else [])]


def score_column(data: Data, metric: Metric, marks: Sequence[str], *, inline: bool) -> Column:
    """Give the column of one metric: value, ± and mark in one word, so that all line up.

    `inline` puts the bounds of a lopsided interval into that word, not below it.
    """
    scores, write = scores_of(data, metric), writer(metric)
    besides = [beside_value(each, write(each)) for each in scores]
    bounds = [below_value(each) for each in scores]
    if inline:
        besides, bounds = [a or b for a, b in zip(besides, bounds, strict=True)], [""] * len(scores)
    behind = [beside + mark for beside, mark in zip(besides, marks, strict=True)]
    room = max(1, *map(len, behind)) if behind else 1
    cells = [
        Cell(write(each) + more.ljust(room), BEST_STYLE if mark == BEST else "", under)
        for each, more, mark, under in zip(scores, behind, marks, bounds, strict=True)
    ]
    reference = _reference_cell(scores, write, room)
    return Column(metric.header, (reference, *cells), group=clean(metric.view))


def writer(metric: Metric) -> Write:
    """Give what writes the values of a metric."""
    return value_text if metric.view == TEXT else score_text


def _reference_cell(scores: Sequence[Data | None], write: Write, room: int) -> Cell:
    """What the reference itself scores, where the metric is a property of one set."""
    own = [{**score, "value": score["reference"]} for score in scores if score and "gap" in score]
    texts = set(map(write, own))
    return Cell(texts.pop() + " " * room, "dim") if len(texts) == 1 else Cell()


def _cells(texts: Sequence[str]) -> tuple[Cell, ...]:
    return (Cell(texts[0], "dim"), *(Cell(text) for text in texts[1:]))


def _shown_names(data: Data) -> list[str]:
    """Give the keys of the metrics to show, without views and without repeats.

    Scores by group and against the training set have blocks of their own.
    """
    asked = data.get("settings", {}).get("metrics_shown")
    keys = [key for key in _all_keys(data) if not any(option in key for option in ELSEWHERE)]
    known = list(dict.fromkeys(_base(data, key) for key in keys))
    if asked:
        return list(dict.fromkeys(_base(data, key) for key in asked))
    headline = [_by_estimator(data, name) for name in HEADLINE]
    return [name for name in headline if name in known] or known


def _by_estimator(data: Data, metric: str) -> str:
    """The key of a headline metric where frontiers are not read from counts of cells."""
    estimator = data.get("settings", {}).get("estimator", COUNTING)
    counted = estimator == COUNTING or not metric.endswith("_star")
    return metric if counted else f"{metric.removesuffix('_star')}:{estimator}"


def _all_keys(data: Data) -> list[str]:
    return [key for system in data.get("systems", ()) for key in system.get("scores", {})]


def _base(data: Data, key: str) -> str:
    view, dot, rest = key.partition(".")
    return rest if dot and view in views(data) else key


def score_metric(data: Data, view: str, metric: str, *, main: bool) -> Metric | None:
    """Find one metric by one view; None where no system has it."""
    key = metric if main else f"{view}.{metric}"
    scores = [system.get("scores", {}).get(key) for system in data.get("systems", ())]
    present = [score for score in scores if score]
    if not present:
        return None
    return Metric(view, metric, key, present[0].get("better") or "higher")
