"""A comparison as data ──► what documents show of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from calipers.report import copies, groups, notes
from calipers.report.content import (
    BEST,
    Metric,
    lead_columns,
    score_column,
    scores_of,
    shown_metrics,
)
from calipers.report.export_cells import LOWEST
from calipers.report.export_pieces import by_group
from calipers.report.export_table import (
    FLOOR,
    FLOOR_NAME,
    REFERENCE,
    SYSTEM,
    Data,
    Document,
    Section,
    made_by,
    named,
    pair,
    sizes,
)
from calipers.report.grid import Cell, Column
from calipers.report.layout import Grid
from calipers.report.uncertain import BOUNDS, interval_lines
from calipers.report.uncertain_floor import floor_text
from calipers.report.uncertain_marks import ALIKE, EQUAL, OPEN, UNTESTED, all_marks, marks_line
from calipers.report.uncertain_numbers import APPROXIMATE, PLUS_MINUS

SIGNS = (
    *(BEST, ALIKE, EQUAL, OPEN, UNTESTED),
    *(PLUS_MINUS, BOUNDS, APPROXIMATE, "↑", "↓", "≈", LOWEST),
)
ENDLESS = 10**9
"""Wider than any table, so that it stays in one piece."""

Floor = tuple[int, tuple[str, ...]]


def compare_document(data: Data) -> Document:
    """Give the tables of a comparison, and the words around them."""
    metrics = shown_metrics(data)
    marks = all_marks(data, metrics)
    title = [notes.title(data), sizes(data), made_by(data)]
    return Document(
        " · ".join(filter(None, title)),
        (_scores(data, metrics, marks), *_groups(data), *_copies(data)),
        tuple(_marks(data, metrics, {mark for column in marks for mark in column})),
        (
            *notes.remarks(data),
            *notes.reasons(data, metrics),
        ),
        tuple(notes.warnings(data)),
        {metric.label: metric.meaning for metric in metrics},
    )


def floors_of(data: Data, metrics: Sequence[Metric]) -> list[Floor]:
    """Give for each size of a half of the reference the floors of all metrics, as written."""
    found: dict[Floor, None] = {}
    for row in range(len(data["systems"])):
        scores = [scores_of(data, metric)[row] for metric in metrics]
        held = [score["floor"] for score in scores if score and score.get("floor")]
        texts = tuple(map(floor_text, scores, metrics))
        if held:
            found[(held[0]["size"], texts)] = None
    return list(found)


def _scores(data: Data, metrics: Sequence[Metric], marks: Sequence[Sequence[str]]) -> Section:
    """The main table: the reference where it has values of its own, systems, noise floor."""
    columns = [
        score_column(data, metric, each, inline=True)
        for metric, each in zip(metrics, marks, strict=True)
    ]
    lead, floors = _lead(data), floors_of(data, metrics)
    kinds = (REFERENCE, *[SYSTEM] * len(data["systems"]), *[FLOOR] * len(floors))
    whole = [_longer(lead[0], [f"{FLOOR_NAME} 2×{size}" for size, _ in floors])]
    whole += [_longer(column, [""] * len(floors)) for column in lead[1:]]
    scored = [
        _longer(column, [texts[place] for _, texts in floors])
        for place, column in enumerate(columns)
    ]
    section = Section(tuple(whole), by_group(scored), kinds)
    own = any(column.cells[0].text.strip() for column in columns)
    return section if own else _without_first(section)


def _lead(data: Data) -> list[Column]:
    """Names, and sizes where systems have different ones."""
    names, n, *_ = lead_columns(data)
    return [named(names)] if sizes(data) else [named(names), n]


def _longer(column: Column, texts: Sequence[str]) -> Column:
    return replace(column, cells=(*column.cells, *(Cell(text) for text in texts)))


def _without_first(section: Section) -> Section:
    lead = tuple(replace(column, cells=column.cells[1:]) for column in section.lead)
    runs = [tuple(replace(c, cells=c.cells[1:]) for c in run) for run in section.runs]
    return Section(lead, tuple(runs), section.kinds[1:])


def _groups(data: Data) -> Iterator[Section]:
    """The table of scores by group, where there is one."""
    for grid in groups.group_grids(data, width=ENDLESS):
        yield _section(grid, 2, SYSTEM, groups.heading(data), groups.caption(data))


def _copies(data: Data) -> Iterator[Section]:
    """The table of copies of the training set, where one was given."""
    for grid in copies.copy_grids(data, width=ENDLESS) if data.get("train") else ():
        yield _section(grid, 1, SYSTEM, copies.heading(data), copies.caption())


def _section(grid: Grid, lead: int, kind: str, heading: str, caption: str) -> Section:
    rows = len(grid.columns[0].cells)
    columns = grid.columns
    return Section(columns[:lead], by_group(columns[lead:]), (kind,) * rows, heading, caption)


def _marks(data: Data, metrics: Sequence[Metric], shown: set[str]) -> Iterator[tuple[str, str]]:
    arrows = notes.marks(metrics, best_shown=False)
    lines = [*(arrows.split("; ") if arrows else []), *marks_line(data, shown)]
    yield from (pair(line, SIGNS) for line in [*lines, *interval_lines(data, metrics)])
    if floors_of(data, metrics):
        yield "", f"{FLOOR_NAME}: {_floor_words(data, metrics)}"


def _floor_words(data: Data, metrics: Sequence[Metric]) -> str:
    """Say what the row of the floor holds."""
    scores = [score for metric in metrics for score in scores_of(data, metric) if score]
    splits = {score["floor"]["splits"] for score in scores if score.get("floor")}
    return (
        "one half of the reference against the other, mean ± standard deviation over "
        f"{' or '.join(map(str, sorted(splits)))} splits; scores change with the number of samples"
    )
