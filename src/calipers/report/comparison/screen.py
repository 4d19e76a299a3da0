"""The first screen of a comparison: the verdict, a compact table per view, and how to read it.

A line a system: value, interval and marks, the same in every format. What stands behind it (noise
floor, tests, differences, warnings, legend) is in the further tables of
:mod:`calipers.report.comparison.document`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from calipers.catalogue.roles import CLOSENESS, DIVERSITY, QUALITY
from calipers.evaluate.alike import SEVERAL
from calipers.evaluate.order import MANY
from calipers.report import legend
from calipers.report.comparison.areas import AUC, Marked, with_areas
from calipers.report.inference import mark_notes
from calipers.report.shown import lead_columns, metric_of, sets_of
from calipers.report.table import (
    BEST_STYLE,
    OMITTED,
    REFERENCE,
    SYSTEM,
    Cell,
    Column,
    Note,
    ScoreCell,
    Table,
    Text,
    singles,
)
from calipers.results.comparison import Comparison
from calipers.results.ranking import scores_of
from calipers.results.shown import ShownScore
from calipers.results.significance import against_reference, level_of
from calipers.results.verdict import Verdict
from calipers.score import NoiseFloor, Score
from calipers.wording.marks import BEST, FLOOR_MARK
from calipers.wording.names import clean
from calipers.wording.numbers import (
    APPROXIMATE,
    bounds_of,
    cell_text,
    floor_of,
    gap_of,
    is_share,
    percent,
    value_of,
)
from calipers.wording.words import named

ELLIPSIS = "⋮"
NARROW = 0.0025
"""Half of an interval below which values are written with a third decimal."""
ROLES = {
    **dict.fromkeys(QUALITY, "quality"),
    **dict.fromkeys(DIVERSITY, "diversity"),
    **dict.fromkeys(CLOSENESS, "closeness"),
}
"""What a metric of the default table is about."""


def verdict_notes(verdict: Verdict) -> Iterator[Note]:
    """Return the sentences of a verdict, and its cautions."""
    for finding in verdict.findings:
        yield Note("verdict", finding.words, about=finding.systems)
    for caution in verdict.cautions:
        yield Note("caution", caution.words, "!", about=(caution.system,) * bool(caution.system))


def view_tables(
    comparison: Comparison,
    metrics: Sequence[ShownScore],
    marks: Sequence[Sequence[str]],
    rows: Sequence[int] | None = None,
) -> Iterator[Table]:
    """Return a table for each view, with the systems of some `rows` or with all."""
    columns = with_areas(comparison, metrics, marks)
    shown = {metric.key for metric in metrics}
    for view in dict.fromkeys(metric.view for metric in metrics):
        marked = [column for column in columns if column[0].view == view]
        table = _view_table(comparison, view, marked, shown)
        yield table if rows is None else _with_rows(table, rows, len(comparison))


def _view_table(
    comparison: Comparison, view: str, marked: Sequence[Marked], shown: set[str]
) -> Table:
    """Lay out the scores by a view, and behind those that are `shown` the area of its tests.

    Of several systems a line each matters more than the intervals, where a line has no room for
    both; those of closeness go last.
    """
    systems = comparison.systems
    references = [reference_cell(comparison, metric) for metric, _ in marked]
    with_reference = any(cell != Text() for cell in references)
    roles = {m.key: ROLES.get(m.base, "") for m, _ in marked if m.key in shown}
    head = legend.head_of_view(comparison.settings, view)
    group = head if all(roles.values()) else ""
    names: list[Cell] = [Text(named(system.name, 5)) for system in systems]
    lead = [Column("" if group else head, tuple(names), group=group, align="left", share=5)]
    if len({system.summary.n for system in systems}) > 1:
        sizes = next(column for column in lead_columns(sets_of(comparison)) if column.head == "n")
        lead.append(Column("n", sizes.cells[1:]))
    columns = []
    for metric, marks in marked:
        is_area = metric.key not in shown
        role = roles.get(metric.key, "closeness")
        column = score_column(comparison, metric, marks, is_area=is_area)
        spare = 1 if is_area else _spare(len(comparison), role)
        columns.append(replace(column, group=role if group else "", spare=spare))
    if with_reference:
        lead = [
            _above(column, Text("reference", "dim") if place == 0 else Text())
            for place, column in enumerate(lead)
        ]
        columns = [_above(column, cell) for column, cell in zip(columns, references, strict=True)]
    kinds = (*[REFERENCE] * with_reference, *[SYSTEM] * len(systems))
    return Table(tuple(lead), singles(columns), kinds, id=f"view-{clean(view)}")


def _spare(count: int, role: str) -> int:
    """When the intervals of a column may go, as of `Column.spare`."""
    if count > MANY:
        return 2
    return 0 if count <= SEVERAL else 3 if role == "closeness" else 2


def _with_rows(table: Table, rows: Sequence[int], count: int) -> Table:
    """Keep the rows of some of `count` systems, and say how many stand between them."""
    if len(rows) == count:
        return table
    above = len(table.kinds) - count
    places = [*range(above), *(above + row for row in rows)]
    gaps = {
        above + after: after - before - 1
        for before, after in pairwise((-1, *rows, count))
        if after - before > 1
    }

    def kept(column: Column, *, names: bool) -> Column:
        cells: list[Cell] = []
        for place in places:
            if place in gaps:
                cells.append(Text(f"{ELLIPSIS} {gaps[place]} more" if names else "", "dim"))
            cells.append(column.cells[place])
        return replace(column, cells=tuple(cells))

    kinds: list[str] = []
    for place in places:
        kinds += [OMITTED] * (place in gaps) + [table.kinds[place]]
    first, *others = table.lead
    return replace(
        table,
        lead=(kept(first, names=True), *(kept(column, names=False) for column in others)),
        runs=tuple(tuple(kept(column, names=False) for column in run) for run in table.runs),
        kinds=tuple(kinds),
    )


def reference_cell(comparison: Comparison, metric: ShownScore) -> Cell:
    """Return the cell of the reference's own score, where the metric is a property of one set."""
    scores = scores_of(comparison, metric)
    decimals = _decimals(scores)
    values = {
        _written(metric, score, score.reference, decimals)
        for score in scores
        if score is not None and score.reference is not None
    }
    return ScoreCell(values.pop(), style="dim") if len(values) == 1 else Text()


def score_column(
    comparison: Comparison, metric: ShownScore, marks: Sequence[str], *, is_area: bool = False
) -> Column:
    """Return the column of a score in every format; `is_area` for the area of the tests."""
    return Column(
        "AUC" if is_area else metric.label,
        tuple(_cells(comparison, metric, marks)),
        arrow=metric.arrow,
        align="inline",
        key=metric.key,
        meaning=metric.meaning,
        direction=metric.direction,
    )


def _above(column: Column, cell: Cell) -> Column:
    return replace(column, cells=(cell, *column.cells))


def _cells(comparison: Comparison, metric: ShownScore, marks: Sequence[str]) -> Iterator[ScoreCell]:
    scores = scores_of(comparison, metric)
    decimals = _decimals(scores)
    for row, (score, mark) in enumerate(zip(scores, marks, strict=True)):
        floor = floor_of(score)
        spread = _interval(metric, score, decimals)
        yield ScoreCell(
            _written(metric, score, value_of(score), decimals),
            spread,
            approximate=bool(spread and score and score.approximate),
            mark=mark,
            floor=FLOOR_MARK if floor and floor.inside else "",
            beyond=_beyond(metric, floor) if floor else "",
            style=BEST_STYLE if mark == BEST else "",
            number=gap_of(score) if metric.direction == "closest" else value_of(score),
            source=(row, metric.key) if score else None,
        )


def _beyond(metric: ShownScore, floor: NoiseFloor) -> str:
    """Say on which side of the noise floor a score is; nothing within it, or without a side."""
    if floor.inside or not metric.direction:
        return ""
    above = floor.beside > floor.value
    better = metric.direction != "closest" and above == (metric.direction == "higher")
    return "better" if better else "worse"


def _decimals(scores: Sequence[Score | None]) -> int:
    """Two, or three where some interval is narrow or there are none."""
    halves = [(b[1] - b[0]) / 2 for score in scores if (b := bounds_of(score))]
    return 2 if halves and min(halves) >= NARROW else 3


def _written(metric: ShownScore, score: Score | None, value: float | None, decimals: int) -> str:
    """Write a value: of shares, which cannot exceed 1, without the zero before the point."""
    return cell_text(score, metric.brief(score, value, decimals))


def _interval(metric: ShownScore, score: Score | None, decimals: int) -> str:
    """Write the bounds of an interval: of shares as .07, and the ends as 0 and 1."""
    bounds = bounds_of(score)
    if bounds is None:
        return ""
    low, high = (_written(metric, score, bound, decimals) for bound in bounds)
    if score and is_share(score):
        low, high = (f"{float(text):g}" if float(text) in (0, 1) else text for text in (low, high))
    return f"[{low},{high}]"


def signs(comparison: Comparison, metrics: Sequence[ShownScore], shown: set[str]) -> Iterator[Note]:
    """Explain every mark in the tables, in a word or two each, in every format."""
    scores = [score for metric in metrics for score in scores_of(comparison, metric)]
    yield from mark_notes(comparison, shown, brief=True)
    inside = [floor for score in scores if (floor := floor_of(score)) and floor.inside]
    if inside:
        sizes = " or ".join(f"{size:,}" for size in sorted({floor.size for floor in inside}))
        yield Note("sign", f"within the noise floor (at n = {sizes})", FLOOR_MARK)
    tested = {test.score for test in against_reference(comparison) if test.score.endswith(AUC)}
    areas = [metric_of(comparison, key) for key in sorted(tested)]
    scores += [score for metric in areas for score in scores_of(comparison, metric)]
    if any(bounds_of(score) for score in scores):
        room = " where space permits" if len(comparison) > SEVERAL else ""
        yield Note("sign", f"[{percent(level_of(comparison))} interval]{room}")
    if any(score and score.approximate and bounds_of(score) for score in scores):
        yield Note("sign", "approximate", APPROXIMATE)
    yield from legend.directions([*metrics, *areas])
    if tested:
        yield Note(
            "sign", "how well a classifier separates the two (0.5 or less: not at all)", "AUC"
        )


def measured(comparison: Comparison) -> Iterator[Note]:
    """Describe what is particular to this comparison, then its signature."""
    if particular := legend.foot(comparison):
        yield Note("signature", particular)
    yield Note("signature", comparison.signature.short, "signature")


def where(
    comparison: Comparison, hidden: Iterable[str], rows: Sequence[int] | None = None
) -> Iterator[Note]:
    """State where a terminal shows the rest.

    Parameters
    ----------
    hidden
        What --details would add, as words.
    rows
        The systems that are shown; None for all.
    """
    left_out = 0 if rows is None else len(comparison) - len(rows)
    if left_out:
        rest = f"{left_out} of {len(comparison)} systems left out"
        yield Note("where", f"{rest}: `.document(all_systems=True)`")
    yield Note("where", f"{', '.join(hidden)}: `.document(details=True)`")
    yield Note("where", "which topics? `.explain()`, `.html()`")
