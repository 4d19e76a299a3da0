"""The document of a comparison: the table of scores, their uncertainty, and further tables.

Nothing is written of what a comparison does not hold, such as one without intervals or tests.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from calipers.catalogue.shown import views_of
from calipers.evaluate.order import alike_by_closeness, arranged, first_shown
from calipers.evaluate.standing import all_marks
from calipers.report import legend
from calipers.report.comparison.areas import Marked, with_areas
from calipers.report.comparison.screen import (
    measured,
    reference_cell,
    score_column,
    signs,
    verdict_notes,
    view_tables,
    where,
)
from calipers.report.comparison.sets import copies_table, groups_table
from calipers.report.comparison.tests import (
    advice_table,
    floor_table,
    pairs_table,
    reference_table,
    seeds_table,
)
from calipers.report.inference import interval_notes, mark_notes
from calipers.report.shown import lead_columns, sets_of
from calipers.report.table import (
    REFERENCE,
    SYSTEM,
    Block,
    Document,
    Note,
    Notes,
    ScoreCell,
    Table,
    Text,
    by_group,
    glossary,
    singles,
    together,
    without_row,
)
from calipers.results.comparison import Comparison
from calipers.results.shown import ShownScore
from calipers.results.significance import against_reference, is_tested
from calipers.wording.marks import BEST
from calipers.wording.names import clean
from calipers.wording.short_names import short
from calipers.wording.words import listed, named, said

STATED = ("n", "words", "characters", "length")
"""Columns that a paper leaves out: sizes stand in its title where all are alike."""


def document(
    comparison: Comparison,
    *,
    details: bool = False,
    sort: str | None = None,
    all_systems: bool = False,
) -> Document:
    """Return the document for the screen: the verdict and a table per view; `details` adds all.

    Parameters
    ----------
    comparison
        What was compared.
    details
        Whether sizes, tests, noise floor, differences, all warnings and the legend follow.
    sort
        In which order the systems stand, as of :func:`calipers.evaluate.order.order`.
    all_systems
        Whether all of many systems stand in the table, as they do with `details`; else the first
        and the last ten of them, and those in question between.

    Raises
    ------
    InputError
        If no system has the score to sort by.
    """
    comparison = arranged(comparison, sort)
    metrics, marks, shown = _marked(comparison)
    rows = None if details or all_systems else first_shown(comparison)
    asked = (groups_table(comparison), copies_table(comparison), advice_table(comparison))
    first: tuple[Block, ...] = (
        *together(*verdict_notes(comparison.verdict)),
        *view_tables(comparison, metrics, marks, rows),
        *together(*legend.reasons(comparison, metrics)),
        *(table for table in asked if table is not None),
    )
    if not details:
        hidden = _hidden(comparison, metrics)
        below = (
            *signs(comparison, metrics, shown),
            *measured(comparison),
            *where(comparison, hidden, rows),
        )
        return Document(
            "",
            (*first, *together(*below)),
            legend.made_by(comparison),
            comparison.settings.get("samples"),
        )
    further = (
        sets_table(comparison),
        reference_table(comparison),
        floor_table(comparison, metrics),
        pairs_table(comparison, metrics),
        seeds_table(comparison, metrics),
    )
    notes = (*interval_notes(comparison, metrics), *_mark_notes(comparison, shown))
    whole = Note("signature", comparison.signature.whole, "whole signature")
    blocks = (
        *first,
        *together(*signs(comparison, metrics, shown), *measured(comparison), whole),
        *together(*notes),
        *together(*_groups(comparison)),
        *(table for table in further if table is not None),
        *together(*_remarks(comparison)),
        *_legend(comparison, metrics),
    )
    return Document(
        legend.title_of(comparison),
        blocks,
        legend.made_by(comparison),
        comparison.settings.get("samples"),
    )


def full(comparison: Comparison) -> Document:
    """Return all tables of a comparison, as on the page, in the present order of systems."""
    metrics, marks, shown = _marked(comparison)
    further = (
        reference_table(comparison),
        floor_table(comparison, metrics),
        pairs_table(comparison, metrics),
        seeds_table(comparison, metrics),
        advice_table(comparison),
        groups_table(comparison),
        copies_table(comparison),
    )
    columns = with_areas(comparison, metrics, marks)
    blocks: tuple[Block, ...] = (
        scores_table(comparison, columns, metrics),
        *together(*signs(comparison, metrics, shown), *measured(comparison)),
        *together(*interval_notes(comparison, metrics), *_mark_notes(comparison, shown)),
        *(table for table in further if table is not None),
        *together(*legend.reasons(comparison, metrics), *_remarks(comparison)),
        *_legend(comparison, [metric for metric, _ in columns]),
    )
    return Document(
        legend.title_of(comparison),
        blocks,
        legend.made_by(comparison),
        comparison.settings.get("samples"),
    )


def summary(comparison: Comparison, *, sort: str | None = None) -> Document:
    """Return the summary of a comparison for a paper or an issue: one table, and how to read it.

    Sizes stand in the title where all systems have one. The noise floor has a table of its own,
    with the systems at its size. Names that had to be shortened stand below in full.

    Parameters
    ----------
    comparison
        What was compared.
    sort
        As of :func:`document`.
    """
    comparison = arranged(comparison, sort)
    metrics, marks, shown = _marked(comparison)
    columns = with_areas(comparison, metrics, marks)
    meanings = {metric.label: metric.meaning for metric in metrics}
    more = (groups_table(comparison, meanings), copies_table(comparison, meanings))
    blocks: tuple[Block, ...] = (
        *together(*verdict_notes(comparison.verdict)),
        _without_stated(comparison, scores_table(comparison, columns, metrics)),
        *together(*signs(comparison, metrics, shown), *measured(comparison)),
        *((floors,) if (floors := floor_table(comparison, metrics)) else ()),
        *together(*legend.reasons(comparison, metrics), *_remarks(comparison)),
        *(table for table in more if table is not None),
        *together(*glossary(legend.full_names(comparison))),
    )
    return Document(
        legend.title_of(comparison),
        blocks,
        legend.made_by(comparison),
        comparison.settings.get("samples"),
    )


def _marked(comparison: Comparison) -> tuple[list[ShownScore], list[tuple[str, ...]], set[str]]:
    """Return what is shown, the marks of each column, and which marks there are."""
    metrics = list(comparison.shown)
    marks = all_marks(comparison, metrics)
    return metrics, marks, {mark for column in marks for mark in column}


def scores_table(
    comparison: Comparison, marked: Sequence[Marked], shown: Sequence[ShownScore]
) -> Table:
    """Combine the tables of the views: the reference and systems in rows, the views in columns."""
    keys = {metric.key for metric in shown}
    columns = []
    for metric, marks in marked:
        column = score_column(comparison, metric, marks, is_area=metric.key not in keys)
        cells = (reference_cell(comparison, metric), *column.cells)
        columns.append(replace(column, cells=cells, group=clean(metric.view), align="value"))
    kinds = (REFERENCE, *[SYSTEM] * len(comparison))
    lead = tuple(lead_columns(sets_of(comparison)))
    return Table(lead, by_group(columns), kinds, id="scores", breaks="views")


def sets_table(comparison: Comparison) -> Table:
    """Return the table of sizes and lengths of all sets."""
    lead = lead_columns(sets_of(comparison))
    kinds = (REFERENCE, *[SYSTEM] * len(comparison))
    return Table((replace(lead[0], share=2),), singles(lead[1:]), kinds, id="sets", heading="Sets")


def _groups(comparison: Comparison) -> Iterator[Note]:
    """List the groups that the tests do not tell apart, with all their systems."""
    found = alike_by_closeness(comparison)
    if found is None:
        return
    metric, groups = found
    by = metric.named(several=len(views_of(comparison.settings)) > 1)
    yield Note("heading", f"Groups by {by}, within which no two systems can be distinguished")
    for number, group in enumerate(groups, start=1):
        names = [named(comparison.systems[row].name) for row in group]
        yield Note("point", (f"{number}: ", *listed(names)), about=tuple(map(str, names)))


def _hidden(comparison: Comparison, metrics: Sequence[ShownScore]) -> Iterator[str]:
    """Name what only the details show."""
    warnings = len(list(legend.warnings(comparison, legend.sets_with_warnings(comparison))))
    if warnings:
        yield f"{warnings} warning{'s' * (warnings > 1)}"
    if floor_table(comparison, metrics) is not None:
        yield "noise floor"
    if is_tested(comparison) or against_reference(comparison):
        yield "tests"
    yield "legend"


def _remarks(comparison: Comparison) -> Iterator[Note]:
    yield from legend.remarks(comparison)
    yield from legend.warnings(comparison, legend.sets_with_warnings(comparison))


def _mark_notes(comparison: Comparison, shown: set[str]) -> Iterator[Note]:
    """Explain the marks; without tests there is only the best."""
    if is_tested(comparison):
        yield from mark_notes(comparison, shown)
    elif BEST in shown:
        yield Note("mark", "best in its column", BEST)


def _legend(comparison: Comparison, metrics: Sequence[ShownScore]) -> tuple[Notes, ...]:
    meanings = glossary(legend.meanings(comparison, metrics))
    return together(*meanings, legend.more(metrics))


def _without_stated(comparison: Comparison, table: Table) -> Table:
    """Leave out what the title says, and the reference where it has no score of its own."""
    left_out = STATED if legend.sizes(comparison.systems) else STATED[1:]
    first, *others = (column for column in table.lead if column.head not in left_out)
    first = replace(first, cells=tuple(_whole(cell) for cell in first.cells))
    has_values = any(column.cells[0] != Text() for column in table.scores)
    table = replace(table, lead=(first, *others))
    return table if has_values else without_row(table, 0)


def _whole(cell: Text | ScoreCell) -> Text | ScoreCell:
    return replace(cell, text=short(said(cell.text))) if isinstance(cell, Text) else cell
