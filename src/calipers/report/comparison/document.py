"""A comparison ──► a document: the table of scores, what is certain about them, and further tables.

Nothing is written of what a comparison does not hold, such as one without intervals or tests.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from calipers.report import legend
from calipers.report.comparison.screen import (
    auc_key,
    how_to_read,
    verdict_notes,
    view_tables,
)
from calipers.report.comparison.sets import copies_table, groups_table
from calipers.report.comparison.tests import (
    advice_table,
    floor_table,
    pairs_table,
    reference_table,
    seeds_table,
)
from calipers.report.inference import (
    against_reference,
    all_marks,
    interval_notes,
    is_tested,
    mark_notes,
)
from calipers.report.shown import (
    Metric,
    lead_columns,
    metric_of,
    reference_cell,
    score_cells,
    scores_of,
    short,
    shown_metrics,
)
from calipers.report.table import (
    BEST,
    REFERENCE,
    SYSTEM,
    Block,
    Data,
    Document,
    Note,
    Notes,
    ScoreCell,
    Table,
    Text,
    by_group,
    glossary,
    said,
    singles,
    together,
    without_row,
)
from calipers.report.verdict import verdict

STATED = ("n", "words")
"""Columns that a paper leaves out: sizes stand in its title where all are alike."""


def document(data: Data, *, details: bool = False) -> Document:
    """Give what the screen shows: the verdict and a table a view; with `details` all the rest.

    Parameters
    ----------
    data
        What ``Comparison.to_dict()`` gives.
    details
        Whether sizes, tests, noise floor, differences, all warnings and the legend follow.
    """
    metrics, marks, shown = _marked(data)
    asked = (groups_table(data), copies_table(data), advice_table(data))
    first: tuple[Block, ...] = (
        *together(*verdict_notes(verdict(data))),
        *view_tables(data, metrics, marks),
        *together(*legend.reasons(data, metrics)),
        *(table for table in asked if table is not None),
    )
    if not details:
        hidden = _hidden(data, metrics)
        return Document(
            "", (*first, *how_to_read(data, metrics, shown, hidden)), legend.made_by(data)
        )
    further = (
        sets_table(data),
        reference_table(data),
        floor_table(data, metrics),
        pairs_table(data, metrics),
        seeds_table(data, metrics),
    )
    notes = (*interval_notes(data, metrics, brackets=True), *_mark_notes(data, shown))
    blocks = (
        *first,
        *together(*notes),
        *(table for table in further if table is not None),
        *together(*_remarks(data)),
        *_legend(data, metrics),
    )
    return Document(legend.title(data), blocks, legend.made_by(data))


def full(data: Data) -> Document:
    """Give all that a comparison holds in tables, as the page shows it."""
    metrics, marks, shown = _marked(data)
    further = (
        reference_table(data),
        floor_table(data, metrics),
        pairs_table(data, metrics),
        seeds_table(data, metrics),
        advice_table(data),
        groups_table(data),
        copies_table(data),
    )
    columns, own = with_auc(data, metrics, marks)
    blocks: tuple[Block, ...] = (
        scores_table(data, columns, own),
        *together(*interval_notes(data, metrics), *_mark_notes(data, shown)),
        *(table for table in further if table is not None),
        *together(*legend.reasons(data, metrics), *_remarks(data)),
        *_legend(data, columns),
    )
    return Document(legend.title(data), blocks, legend.made_by(data))


def summary(data: Data) -> Document:
    """Give what a paper or an issue shows of a comparison: one table of scores, and what it says.

    Sizes stand in the title where all systems have one. The noise floor has a table of its own,
    with the systems at its size.
    """
    metrics, marks, shown = _marked(data)
    columns, own = with_auc(data, metrics, marks)
    signs = (*legend.arrows(columns), *mark_notes(data, shown), *interval_notes(data, metrics))
    meanings = {metric.label: metric.meaning for metric in metrics}
    more = (groups_table(data, meanings), copies_table(data, meanings))
    blocks: tuple[Block, ...] = (
        *together(*verdict_notes(verdict(data))),
        _without_stated(data, scores_table(data, columns, own)),
        *together(*signs),
        *((floors,) if (floors := floor_table(data, metrics)) else ()),
        *together(*legend.reasons(data, metrics), *_remarks(data)),
        *(table for table in more if table is not None),
    )
    title = [legend.title(data), legend.sizes(data), legend.made_by(data)]
    return Document(" · ".join(filter(None, title)), blocks, legend.made_by(data))


def _marked(data: Data) -> tuple[list[Metric], list[tuple[str, ...]], set[str]]:
    """Give what is shown, the marks of each column, and which marks there are."""
    metrics = shown_metrics(data)
    marks = all_marks(data, metrics)
    return metrics, marks, {mark for column in marks for mark in column}


def with_auc(
    data: Data, metrics: Sequence[Metric], marks: Sequence[Sequence[str]]
) -> tuple[list[Metric], list[Sequence[str]]]:
    """Put the area of the tests against the reference behind the scores of each view.

    Systems are not tested against each other by it, so that it has no marks.
    """
    tested = {test["score"] for test in against_reference(data)}
    columns: list[Metric] = []
    own: list[Sequence[str]] = []
    known = {metric.key for metric in metrics}
    for view in dict.fromkeys(metric.view for metric in metrics):
        for metric, mark in zip(metrics, marks, strict=True):
            if metric.view == view:
                columns.append(metric)
                own.append(mark)
        key = auc_key(data, view)
        area = metric_of(data, key)
        if key in tested and key not in known and any(scores_of(data, area)):
            columns.append(area)
            own.append(("",) * len(data.get("systems", ())))
    return columns, own


def scores_table(data: Data, metrics: Sequence[Metric], marks: Sequence[Sequence[str]]) -> Table:
    """Give the main table: the reference and the systems down, the metrics by view across."""
    columns = [
        metric.column((reference_cell(data, metric), *score_cells(data, metric, each)))
        for metric, each in zip(metrics, marks, strict=True)
    ]
    kinds = (REFERENCE, *[SYSTEM] * len(data.get("systems", ())))
    lead = tuple(lead_columns(data))
    return Table(lead, by_group(columns), kinds, id="scores", breaks="views")


def sets_table(data: Data) -> Table:
    """Give the sizes and lengths of all sets."""
    lead = lead_columns(data)
    kinds = (REFERENCE, *[SYSTEM] * len(data.get("systems", ())))
    return Table((replace(lead[0], share=2),), singles(lead[1:]), kinds, id="sets", heading="Sets")


def _hidden(data: Data, metrics: Sequence[Metric]) -> Iterator[str]:
    """Name what only the details show."""
    warnings = len(list(legend.warnings(data, legend.sets_of(data))))
    if warnings:
        yield f"{warnings} warning{'s' * (warnings > 1)}"
    if floor_table(data, metrics) is not None:
        yield "noise floor"
    if is_tested(data) or against_reference(data):
        yield "tests"
    yield "legend"


def _remarks(data: Data) -> Iterator[Note]:
    yield from legend.remarks(data)
    yield from legend.warnings(data, legend.sets_of(data))


def _mark_notes(data: Data, shown: set[str]) -> Iterator[Note]:
    """Explain the marks; without tests there is only the best."""
    if is_tested(data):
        yield from mark_notes(data, shown)
    elif BEST in shown:
        yield Note("mark", "best in its column", BEST)


def _legend(data: Data, metrics: Sequence[Metric]) -> tuple[Notes, ...]:
    meanings = glossary(legend.meanings(data, metrics))
    return together(*meanings, *legend.arrows(metrics), legend.more(metrics))


def _without_stated(data: Data, table: Table) -> Table:
    """Leave out what the title says, and the reference where it has no score of its own."""
    left_out = STATED if legend.sizes(data) else STATED[1:]
    first, *others = (column for column in table.lead if column.head not in left_out)
    first = replace(first, cells=tuple(_whole(cell) for cell in first.cells))
    own = any(column.cells[0] != Text() for column in table.scores)
    table = replace(table, lead=(first, *others))
    return table if own else without_row(table, 0)


def _whole(cell: Text | ScoreCell) -> Text | ScoreCell:
    return replace(cell, text=short(said(cell.text))) if isinstance(cell, Text) else cell
