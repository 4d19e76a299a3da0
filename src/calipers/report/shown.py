"""The scores shown of a comparison: names, cells and columns."""

from __future__ import annotations

from collections.abc import Sequence

from calipers.catalogue.shown import views_of
from calipers.report.table import Align, Cell, Column, Text, texts
from calipers.results.comparison import Comparison
from calipers.results.sets import SetSummary
from calipers.results.shown import ShownScore
from calipers.score import Better, Score
from calipers.wording.names import (
    clean,
)
from calipers.wording.numbers import (
    below_value,
    beside_value,
    defined,
    is_share,
    length_head,
    number,
    size_text,
    words_text,
)

REFERENCE = "reference"
TEXT = "text"
"""The view of statistics that need no embeddings; metrics of its names may mean others there."""


def metric_of(comparison: Comparison, key: str) -> ShownScore:
    """Parse the key of a score; one that no system has is described by its name alone."""
    view, dot, rest = key.partition(".")
    main, *others = views_of(comparison.settings)
    known = bool(dot) and view in (main, *others)
    better = _better(comparison, key)
    if better is not None and not known:
        return ShownScore(main, key, key, better)
    return ShownScore(view if known else main, rest if known else key, key, better or "higher")


def interval_of(score: Score | None, value: str) -> str:
    """Write the interval of a score, as ± or as its bounds; empty without one."""
    return (beside_value(score, value) or below_value(score)).removesuffix("~")


def lead_columns(sets: Sequence[SetSummary]) -> list[Column]:
    """Return the columns before the scores: name, size and length."""
    names = (REFERENCE, *(clean(row.name) for row in sets[1:]))
    lead = [
        Column("system", _first_faint(names), align="left"),
        Column("n", _first_faint([size_text(row) for row in sets])),
    ]
    if any(row.words for row in sets):
        lead.append(Column(length_head(sets), _first_faint([words_text(row) for row in sets])))
    return lead


def sets_of(comparison: Comparison) -> list[SetSummary]:
    """Return the reference and the sets of the systems."""
    return [comparison.reference, *(system.summary for system in comparison.systems)]


def column(metric: ShownScore, cells: Sequence[Cell], *, align: Align = "value") -> Column:
    """Return the column of a score."""
    return Column(
        metric.label,
        tuple(cells),
        arrow=metric.arrow,
        group=clean(metric.view),
        align=align,
        key=metric.key,
        meaning=metric.meaning,
        direction=metric.direction,
    )


def spoken(comparison: Comparison, metric: ShownScore) -> str:
    """Name a score in a sentence, with its view where there are several."""
    return metric.named(several=len(views_of(comparison.settings)) > 1)


def spoken_all(comparison: Comparison, metrics: Sequence[ShownScore]) -> str:
    """List several scores, naming each view once."""
    if len(views_of(comparison.settings)) < 2:
        return ", ".join(metric.label for metric in metrics)
    parts = []
    for view in dict.fromkeys(metric.view for metric in metrics):
        words = ", ".join(metric.label for metric in metrics if metric.view == view)
        parts.append(f"{words} ({clean(view)})" if view else words)
    return "; ".join(parts)


def as_scores(comparison: Comparison, key: str, value: float | None) -> str:
    """Write a number in the format of the scores of its key; empty where there is none."""
    known = defined(value)
    return "" if known is None else number(known, unit=_is_share(comparison, key))


def _is_share(comparison: Comparison, key: str) -> bool:
    """Tell whether the values of a score are shares, in [0, 1]."""
    scores = (system.scores[key] for system in comparison.systems if key in system.scores)
    if (score := next(scores, None)) is not None:
        return is_share(score)
    return key.endswith(("classifier_auc", "classifier_accuracy"))


def _first_faint(values: Sequence[str]) -> tuple[Text, ...]:
    """Make cells, the reference's first."""
    return (Text(values[0], "dim"), *texts(values[1:]))


def _better(comparison: Comparison, key: str) -> Better | None:
    """Where a score is better; None where no system has it."""
    scores = (system.scores.get(key) for system in comparison.systems)
    return next((score.better for score in scores if score is not None), None)
