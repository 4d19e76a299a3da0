"""The scores that a comparison shows: what they are called, and the cells and columns they fill."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from calipers.catalogue.embeddings import METRICS
from calipers.catalogue.shown import UNRANKED, shown_keys, views_of
from calipers.report.names import (
    WIDEST_NAME,
    clean,
    is_unranked,
    label,
    meaning,
    shorten,
    text_label,
    text_meaning,
)
from calipers.report.numbers import (
    below_value,
    beside_value,
    interval_text,
    is_asymmetric,
    number,
    score_text,
    size_text,
    value_text,
    words_text,
)
from calipers.report.table import (
    ARROWS,
    BEST,
    BEST_STYLE,
    Align,
    Cell,
    Column,
    Data,
    Name,
    ScoreCell,
    Text,
    Words,
    texts,
)

Write = Callable[[Data | None], str]

REFERENCE = "reference"
TEXT = "text"
"""The view of statistics that need no embeddings; metrics of its names may mean others there."""


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
    def label(self) -> str:
        """Name the metric; one of texts that has a namesake on embeddings says so."""
        if self.view != TEXT:
            return label(self.metric)
        namesake = self.metric.partition(":")[0] in METRICS
        return f"{'Text ' if namesake else ''}{text_label(self.metric)}"

    @property
    def spoken(self) -> str:
        """Name the metric in a sentence, in full: ``clipped coverage`` for ``Clip C``."""
        base = self.metric.partition(":")[0]
        if self.view == TEXT or base not in METRICS:
            return self.label.lower()
        return self.label.replace(METRICS[base].label, base.replace("_", " "), 1).lower()

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

    @property
    def write(self) -> Write:
        """What writes its values."""
        return value_text if self.view == TEXT else score_text

    def column(self, cells: Sequence[Cell], *, align: Align = "value") -> Column:
        """Give its column, which holds scores."""
        return Column(
            self.label,
            tuple(cells),
            arrow=self.arrow,
            group=clean(self.view),
            align=align,
            key=self.key,
            meaning=self.meaning,
            direction=self.direction,
        )


def shown_metrics(data: Data) -> list[Metric]:
    """Give what the table shows: what was asked for, else the headline, by every view."""
    return [
        Metric(shown.view, shown.metric, shown.key, _better(data, shown.key) or "higher")
        for shown in shown_keys(data)
    ]


def metric_of(data: Data, key: str) -> Metric:
    """Read the key of a score; one that no system has is known by its name alone."""
    view, dot, rest = key.partition(".")
    main = views_of(data)[0]
    known = bool(dot) and view in views_of(data)
    better = _better(data, key)
    if better is not None and not known:
        return Metric(main, key, key, better)
    return Metric(view if known else main, rest if known else key, key, better or "higher")


def scores_of(data: Data, metric: Metric) -> list[Data | None]:
    """Give the score of every system by one metric, in the order of the systems."""
    return [system.get("scores", {}).get(metric.key) for system in data.get("systems", ())]


def score_cells(data: Data, metric: Metric, marks: Sequence[str]) -> list[ScoreCell]:
    """Give the cells of all systems by one metric, their intervals in one style.

    As ±, or as bounds where one of them is asymmetric.
    """
    scores = scores_of(data, metric)
    bounds = any(is_asymmetric(score) for score in scores if score)
    return [
        _score_cell(metric, score, mark, row, bounds=bounds)
        for row, (score, mark) in enumerate(zip(scores, marks, strict=True))
    ]


def reference_cell(data: Data, metric: Metric) -> Cell:
    """Give what the reference itself scores, where the metric is a property of one set."""
    scores = scores_of(data, metric)
    own = {metric.write({**s, "value": s["reference"]}) for s in scores if s and "gap" in s}
    return ScoreCell(own.pop(), style="dim") if len(own) == 1 else Text()


def interval_of(score: Data | None, value: str) -> str:
    """Write the interval of a score, as ± or as its bounds; empty without one."""
    return (beside_value(score, value) or below_value(score)).removesuffix("~")


def lead_columns(data: Data) -> list[Column]:
    """Give the columns before the scores: name, size and length."""
    sets = [data["reference"], *data.get("systems", ())]
    names = (REFERENCE, *(clean(row["name"]) for row in sets[1:]))
    lead = [
        Column("system", _first_faint(names), align="left"),
        Column("n", _first_faint([size_text(row) for row in sets])),
    ]
    if any(row.get("words") for row in sets):
        lead.append(Column("words", _first_faint([words_text(row) for row in sets])))
    return lead


def short(name: object) -> str:
    """Write the name of a set on one line, not too long."""
    return shorten(clean(name), WIDEST_NAME)


def named(name: object, share: int = 3) -> Name:
    """Give the name of a set, which a narrow line may shorten further."""
    return Name(clean(name), share)


def spoken(data: Data, metric: Metric) -> str:
    """Name a score in a sentence, with its view where there are several."""
    several = len(views_of(data)) > 1 and metric.view
    return f"{metric.label} ({clean(metric.view)})" if several else metric.label


def spoken_all(data: Data, metrics: Sequence[Metric]) -> str:
    """List several scores, each view named once."""
    if len(views_of(data)) < 2:
        return ", ".join(metric.label for metric in metrics)
    parts = []
    for view in dict.fromkeys(metric.view for metric in metrics):
        words = ", ".join(metric.label for metric in metrics if metric.view == view)
        parts.append(f"{words} ({clean(view)})" if view else words)
    return "; ".join(parts)


def listed(names: Sequence[Words | Name], between: str = ", ") -> Words:
    """Join names, or sentences with names in them."""
    parts: list[str | Name] = []
    for place, name in enumerate(names):
        parts += [between] if place else []
        parts += [name] if isinstance(name, Name) else name
    return tuple(parts)


def value_of(data: Data, key: str, value: float | None) -> str:
    """Write a number in the way of the scores of its key; empty where it is None."""
    return "" if value is None else number(value, unit=_is_share(data, key))


def _is_share(data: Data, key: str) -> bool:
    """Tell whether the values of a score are shares, in [0, 1]."""
    found = [system.get("scores", {}).get(key) for system in data.get("systems", ())]
    ranges = [score.get("range") for score in found if score]
    if ranges:
        return list(ranges[0] or ()) == [0, 1]
    return key.endswith(("classifier_auc", "classifier_accuracy"))


def _first_faint(values: Sequence[str]) -> tuple[Text, ...]:
    """Make cells, the reference's first."""
    return (Text(values[0], "dim"), *texts(values[1:]))


def _score_cell(
    metric: Metric, score: Data | None, mark: str, row: int, *, bounds: bool
) -> ScoreCell:
    text = metric.write(score)
    style = BEST_STYLE if mark == BEST else ""
    if score is None:
        return ScoreCell(text, mark=mark, style=style)
    spread = interval_text(score) if bounds else interval_of(score, text)
    return ScoreCell(
        text,
        spread,
        approximate=bool(spread and score.get("approximate")),
        mark=mark,
        style=style,
        number=score.get("gap") if metric.direction == "closest" else score.get("value"),
        source=(row, metric.key),
    )


def _better(data: Data, key: str) -> str | None:
    """Where a score is better; None where no system has it."""
    found = (system.get("scores", {}).get(key) for system in data.get("systems", ()))
    return next((score.get("better") or "higher" for score in found if score), None)
