"""The scores that a comparison shows: what they are called, and the cells and columns they fill."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from calipers.catalogue.embeddings import METRICS
from calipers.catalogue.shown import COUNTING, UNRANKED, shown_keys, views_of
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
    defined,
    gap_of,
    interval_text,
    is_asymmetric,
    is_share,
    number,
    score_text,
    size_text,
    value_of,
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
    Name,
    ScoreCell,
    Text,
    Words,
    texts,
)
from calipers.results.comparison import Comparison
from calipers.results.sets import SetSummary
from calipers.score import Score

Write = Callable[[Score | None], str]

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


def shown_metrics(comparison: Comparison) -> list[Metric]:
    """Give what the table shows: what was asked for, else the headline, by every view."""
    settings = comparison.settings
    chosen = shown_keys(
        (key for system in comparison.systems for key in system.scores),
        views_of(settings),
        settings.get("metrics_shown"),
        settings.get("estimator", COUNTING),
    )
    return [
        Metric(shown.view, shown.metric, shown.key, _better(comparison, shown.key) or "higher")
        for shown in chosen
    ]


def metric_of(comparison: Comparison, key: str) -> Metric:
    """Read the key of a score; one that no system has is known by its name alone."""
    view, dot, rest = key.partition(".")
    main, *others = views_of(comparison.settings)
    known = bool(dot) and view in (main, *others)
    better = _better(comparison, key)
    if better is not None and not known:
        return Metric(main, key, key, better)
    return Metric(view if known else main, rest if known else key, key, better or "higher")


def scores_of(comparison: Comparison, metric: Metric) -> list[Score | None]:
    """Give the score of every system by one metric, in the order of the systems."""
    return [system.scores.get(metric.key) for system in comparison.systems]


def score_cells(comparison: Comparison, metric: Metric, marks: Sequence[str]) -> list[ScoreCell]:
    """Give the cells of all systems by one metric, their intervals in one style.

    As ±, or as bounds where one of them is asymmetric.
    """
    scores = scores_of(comparison, metric)
    bounds = any(is_asymmetric(score) for score in scores if score is not None)
    return [
        _score_cell(metric, score, mark, row, bounds=bounds)
        for row, (score, mark) in enumerate(zip(scores, marks, strict=True))
    ]


def reference_cell(comparison: Comparison, metric: Metric) -> Cell:
    """Give what the reference itself scores, where the metric is a property of one set."""
    values = {
        metric.write(replace(score, value=score.reference))
        for score in scores_of(comparison, metric)
        if score is not None and score.reference is not None
    }
    return ScoreCell(values.pop(), style="dim") if len(values) == 1 else Text()


def interval_of(score: Score | None, value: str) -> str:
    """Write the interval of a score, as ± or as its bounds; empty without one."""
    return (beside_value(score, value) or below_value(score)).removesuffix("~")


def lead_columns(sets: Sequence[SetSummary]) -> list[Column]:
    """Give the columns before the scores, of the reference first: name, size and length."""
    names = (REFERENCE, *(clean(row.name) for row in sets[1:]))
    lead = [
        Column("system", _first_faint(names), align="left"),
        Column("n", _first_faint([size_text(row) for row in sets])),
    ]
    if any(row.words for row in sets):
        lead.append(Column("words", _first_faint([words_text(row) for row in sets])))
    return lead


def sets_of(comparison: Comparison) -> list[SetSummary]:
    """Give the reference and the sets of the systems."""
    return [comparison.reference, *(system.summary for system in comparison.systems)]


def short(name: object) -> str:
    """Write the name of a set on one line, not too long."""
    return shorten(clean(name), WIDEST_NAME)


def named(name: object, share: int = 3) -> Name:
    """Give the name of a set, which a narrow line may shorten further."""
    return Name(clean(name), share)


def spoken(comparison: Comparison, metric: Metric) -> str:
    """Name a score in a sentence, with its view where there are several."""
    several = len(views_of(comparison.settings)) > 1 and metric.view
    return f"{metric.label} ({clean(metric.view)})" if several else metric.label


def spoken_all(comparison: Comparison, metrics: Sequence[Metric]) -> str:
    """List several scores, each view named once."""
    if len(views_of(comparison.settings)) < 2:
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


def as_scores(comparison: Comparison, key: str, value: float | None) -> str:
    """Write a number in the way of the scores of its key; empty where there is none."""
    known = defined(value)
    return "" if known is None else number(known, unit=_is_share(comparison, key))


def _is_share(comparison: Comparison, key: str) -> bool:
    """Tell whether the values of a score are shares, in [0, 1]."""
    scores = [system.scores[key] for system in comparison.systems if key in system.scores]
    if scores:
        return is_share(scores[0])
    return key.endswith(("classifier_auc", "classifier_accuracy"))


def _first_faint(values: Sequence[str]) -> tuple[Text, ...]:
    """Make cells, the reference's first."""
    return (Text(values[0], "dim"), *texts(values[1:]))


def _score_cell(
    metric: Metric, score: Score | None, mark: str, row: int, *, bounds: bool
) -> ScoreCell:
    text = metric.write(score)
    style = BEST_STYLE if mark == BEST else ""
    if score is None:
        return ScoreCell(text, mark=mark, style=style)
    spread = interval_text(score) if bounds else interval_of(score, text)
    return ScoreCell(
        text,
        spread,
        approximate=bool(spread and score.approximate),
        mark=mark,
        style=style,
        number=gap_of(score) if metric.direction == "closest" else value_of(score),
        source=(row, metric.key),
    )


def _better(comparison: Comparison, key: str) -> str | None:
    """Where a score is better; None where no system has it."""
    scores = (system.scores.get(key) for system in comparison.systems)
    return next((score.better for score in scores if score is not None), None)
