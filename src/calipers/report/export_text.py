"""Text statistics as data ──► what documents show of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from calipers.report import text_content as content
from calipers.report import text_words as words
from calipers.report.content import BEST
from calipers.report.export_table import (
    FAMILY,
    METRIC,
    Data,
    Document,
    Section,
    made_by,
    pair,
    sizes,
)
from calipers.report.grid import Cell, Column
from calipers.report.text_names import text_label, text_meaning
from calipers.report.uncertain_numbers import APPROXIMATE, PLUS_MINUS

SIGNS = (BEST, PLUS_MINUS, APPROXIMATE, *words.ARROWS)


def text_document(data: Data) -> Document:
    """Give the table of text statistics, and the words around it."""
    title = [words.title(data), sizes(data), made_by(data)]
    keys = data["settings"]["metrics"]
    return Document(
        " · ".join(filter(None, title)),
        (_statistics(data),),
        tuple(_marks(data)),
        (*words.remarks(data), *words.reasons(data)),
        tuple(words.warnings(data)),
        {text_label(key): text_meaning(key) for key in keys},
    )


def _statistics(data: Data) -> Section:
    """One row for each statistic, under the name of its family."""
    rows = content.rows_of(data)
    lead = [_names(content.label_column(data, rows))]
    if content.has_gaps(data):
        lead.append(content.reference_column(data, rows))
    runs = [content.system_columns(data, rows, index) for index in range(len(data["systems"]))]
    kinds = tuple(FAMILY if row is None else METRIC for row in rows)
    return Section(tuple(lead), tuple(runs), kinds)


def _names(column: Column) -> Column:
    cells = tuple(Cell(cell.text.strip()) for cell in column.cells)
    return replace(column, header="metric", cells=cells)


def _marks(data: Data) -> Iterator[tuple[str, str]]:
    """Explain signs as the terminal does, less where to find more of its own output."""
    for line in list(words.how_to_read(data))[:-1]:
        parts = line.split("; ") if line[0] in (*words.ARROWS, BEST) else [line]
        yield from (pair(part.removesuffix("."), SIGNS) for part in parts)
