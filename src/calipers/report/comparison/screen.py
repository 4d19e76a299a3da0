"""The first screen of a comparison: the verdict, a compact table a view, and how to read it.

A line a system: value, interval and marks. What stands behind it (noise floor, tests, differences,
warnings, legend) is in the further tables of :mod:`calipers.report.comparison.document`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from calipers.catalogue.shown import views_of
from calipers.report import legend
from calipers.report.inference import (
    FLOOR_MARK,
    against_reference,
    floor_of,
    level_of,
    mark_notes,
    percent,
)
from calipers.report.names import clean
from calipers.report.numbers import APPROXIMATE, bounds_of, gap_of, is_share, value_of
from calipers.report.shown import (
    Metric,
    lead_columns,
    metric_of,
    named,
    reference_cell,
    scores_of,
    sets_of,
)
from calipers.report.table import (
    BEST,
    BEST_STYLE,
    REFERENCE,
    SYSTEM,
    Block,
    Cell,
    Column,
    Note,
    Notes,
    ScoreCell,
    Table,
    Text,
    singles,
)
from calipers.report.verdict import CLOSENESS, DIVERSITY, QUALITY, Verdict, brief_text
from calipers.results.comparison import Comparison
from calipers.score import Score

AUC = "classifier_auc"
NARROW = 0.0025
"""Half of an interval below which values are written with a third decimal."""
ROLES = {
    **dict.fromkeys(QUALITY, "quality"),
    **dict.fromkeys(DIVERSITY, "diversity"),
    **dict.fromkeys(CLOSENESS, "closeness"),
}
"""What a metric of the default table is about."""


def verdict_notes(verdict: Verdict) -> Iterator[Note]:
    """Give the sentences of a verdict, and its cautions."""
    for finding in verdict.findings:
        yield Note("verdict", finding.words, about=finding.systems)
    for caution in verdict.cautions:
        yield Note("caution", caution.words, "!", about=(caution.system,) * bool(caution.system))


def view_tables(
    comparison: Comparison, metrics: Sequence[Metric], marks: Sequence[Sequence[str]]
) -> Iterator[Table]:
    """Give a table for each view."""
    for view in dict.fromkeys(metric.view for metric in metrics):
        own = [(m, marks) for m, marks in zip(metrics, marks, strict=True) if m.view == view]
        yield _view_table(comparison, view, own)


def _view_table(
    comparison: Comparison, view: str, shown: Sequence[tuple[Metric, Sequence[str]]]
) -> Table:
    systems = comparison.systems
    own = [reference_cell(comparison, metric) for metric, _ in shown]
    with_reference = any(cell != Text() for cell in own)
    roles = [ROLES.get(metric.metric.partition(":")[0], "") for metric, _ in shown]
    head = legend.head_of_view(comparison.settings, view)
    group = head if all(roles) else ""
    names: list[Cell] = [Text(named(system.name, 5)) for system in systems]
    lead = [Column("" if group else head, tuple(names), group=group, align="left", share=5)]
    if len({system.summary.n for system in systems}) > 1:
        sizes = next(column for column in lead_columns(sets_of(comparison)) if column.head == "n")
        lead.append(Column("n", sizes.cells[1:]))
    columns = [
        Column(
            metric.label,
            tuple(_cells(comparison, metric, column)),
            arrow="" if group and metric.direction == "higher" else metric.arrow,
            group=role if group else "",
            align="inline",
            key=metric.key,
            meaning=metric.meaning,
            direction=metric.direction,
        )
        for (metric, column), role in zip(shown, roles, strict=True)
    ]
    if all(metric.key != auc_key(comparison, view) for metric, _ in shown):
        columns += _auc(comparison, view)
    if with_reference:
        lead = [
            _above(column, Text("reference", "dim") if i == 0 else Text())
            for i, column in enumerate(lead)
        ]
        cells = [*own, *[Text()] * (len(columns) - len(own))]
        columns = [_above(column, cell) for column, cell in zip(columns, cells, strict=True)]
    kinds = (*[REFERENCE] * with_reference, *[SYSTEM] * len(systems))
    return Table(tuple(lead), singles(columns), kinds, id=f"view-{clean(view)}")


def _above(column: Column, cell: Cell) -> Column:
    return replace(column, cells=(cell, *column.cells))


def _cells(comparison: Comparison, metric: Metric, marks: Sequence[str]) -> Iterator[ScoreCell]:
    scores = scores_of(comparison, metric)
    decimals = _decimals(scores)
    for row, (score, mark) in enumerate(zip(scores, marks, strict=True)):
        floor = floor_of(score)
        inside = FLOOR_MARK if floor and floor.inside else ""
        spread = _interval(metric, score, decimals)
        yield ScoreCell(
            brief_text(metric, score, value_of(score), decimals),
            spread,
            approximate=bool(spread and score and score.approximate),
            mark=inside + mark,
            style=BEST_STYLE if mark == BEST else "",
            number=gap_of(score) if metric.direction == "closest" else value_of(score),
            source=(row, metric.key) if score else None,
        )


def _decimals(scores: Sequence[Score | None]) -> int:
    """Two, or three where some interval is narrow or there are none."""
    halves = [(b[1] - b[0]) / 2 for score in scores if (b := bounds_of(score))]
    return 2 if halves and min(halves) >= NARROW else 3


def _interval(metric: Metric, score: Score | None, decimals: int) -> str:
    """Write the bounds of an interval: of shares as .07, and the ends as 0 and 1."""
    bounds = bounds_of(score)
    if bounds is None:
        return ""
    low, high = (brief_text(metric, score, bound, decimals) for bound in bounds)
    if score and is_share(score):
        low, high = (f"{float(text):g}" if float(text) in (0, 1) else text for text in (low, high))
        low, high = (text.removeprefix("0") or "0" for text in (low, high))
    return f"[{low},{high}]"


def _auc(comparison: Comparison, view: str) -> Iterator[Column]:
    """Give how well a classifier separates a system from the reference, by the tests."""
    metric = metric_of(comparison, auc_key(comparison, view))
    if any(test.score == metric.key for test in against_reference(comparison)):
        none = ("",) * len(comparison)
        cells = tuple(_cells(comparison, metric, none))
        yield Column("AUC", cells, align="inline", key=metric.key, spare=True)


def auc_key(comparison: Comparison, view: str) -> str:
    """Give the key of the area under the ROC curve by a view."""
    main = view == views_of(comparison.settings)[0]
    return AUC if main else f"{view}.{AUC}"


def how_to_read(
    comparison: Comparison, metrics: Sequence[Metric], shown: set[str], hidden: Iterable[str]
) -> tuple[Block, ...]:
    """Explain the marks, say what was compared, and where the rest is.

    Parameters
    ----------
    shown
        The marks in the tables.
    hidden
        What --details would add, as words.
    """
    scores = [score for metric in metrics for score in scores_of(comparison, metric)]
    signs = list(mark_notes(comparison, shown, brief=True))
    held = [floor for score in scores if (floor := floor_of(score)) and floor.inside]
    if held:
        sizes = " or ".join(f"{size:,}" for size in sorted({floor.size for floor in held}))
        signs.append(Note("sign", f"within the noise floor (at n = {sizes})", FLOOR_MARK))
    tested = {test.score for test in against_reference(comparison) if test.score.endswith(AUC)}
    scores += [
        score
        for key in sorted(tested)
        for score in scores_of(comparison, metric_of(comparison, key))
    ]
    if any(bounds_of(score) for score in scores):
        signs.append(Note("sign", f"[{percent(level_of(comparison))} interval]"))
    if any(score and score.approximate and bounds_of(score) for score in scores):
        signs.append(Note("sign", "approximate", APPROXIMATE))
    if tested:
        signs.append(
            Note("sign", "how well a classifier separates the two; 0.5 and below not at all", "AUC")
        )
    where = [Note("where", f"{', '.join(hidden)}: --details")]
    where.append(Note("where", "which topics? --explain, --html FILE"))
    return (Notes((*signs, Note("how", legend.foot(comparison)), *where)),)
