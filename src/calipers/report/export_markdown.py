"""A comparison as data ──► Markdown tables for an issue, a README or a notebook's text.

GitHub's tables: read alike by GitHub, pandoc and markdown-it. Names are texts of strangers: all
that Markdown, HTML, Liquid or mathematics would act on is written as a character reference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len

from calipers.report.content import BEST
from calipers.report.export_cells import DAGGERS, Parts, parts_of, split_arrow
from calipers.report.export_markdown_escape import escape
from calipers.report.export_pieces import pieces
from calipers.report.export_table import (
    FAMILY,
    FLOOR,
    SYSTEM,
    Data,
    Document,
    Section,
    document_of,
    groups_of,
)
from calipers.report.grid import Column
from calipers.report.names import VIEWS
from calipers.report.uncertain_numbers import APPROXIMATE

WIDTH = 110
"""Characters of a table that GitHub shows without a scroll bar."""


def markdown_table(data: Data) -> str:
    """Write a comparison as Markdown, ready for an issue or a README.

    The scores stand in one table, or in one for each view (system, for text statistics) where
    they would be too wide; the best of a column is bold. Below stand what the marks mean, why
    values are missing, and all warnings.

    Parameters
    ----------
    data
        What ``Comparison.to_dict()`` or ``TextComparison.to_dict()`` gives.

    Raises
    ------
    InputError
        If the data are of neither.
    """
    return "\n\n".join(_blocks(document_of(data))) + "\n"


def _blocks(document: Document) -> Iterator[str]:
    main, *more = document.sections
    yield escape(document.title)
    yield from _tables(main)
    if document.marks:
        yield " · ".join(_explained(sign, words) for sign, words in document.marks)
    remarks = [*_listed("Note", document.notes), *_listed("Warning", document.warnings)]
    if remarks:
        yield "\n".join(remarks)
    for section in more:
        yield f"**{escape(section.heading).strip()}**"
        yield from _tables(section)
        yield escape(section.caption)


def _listed(word: str, texts: Sequence[str]) -> list[str]:
    return [f"- {word}: {escape(text)}" for text in texts]


def _explained(sign: str, words: str) -> str:
    shown = {BEST: "**bold**", APPROXIMATE: escape(APPROXIMATE)}.get(sign)
    shown = escape(DAGGERS.get(sign, sign)) if shown is None else shown
    return f"{shown} {escape(words)}".strip()


def _tables(section: Section) -> Iterator[str]:
    """Write a table, or its pieces, each under the name of its view or system."""
    for piece in pieces(section, WIDTH):
        groups = [name for name, _ in groups_of(piece) if name]
        if len(groups) == 1:
            known = SYSTEM in piece.kinds and groups[0] in VIEWS
            told = f": {VIEWS[groups[0]]}" if known else ""
            yield f"**{escape(groups[0])}**{told}"
        yield _table(piece, several=len(groups) > 1)


def _table(section: Section, *, several: bool) -> str:
    heads = [_head(column, several=several) for column in (*section.lead, *section.columns)]
    columns = [_column(column, section.kinds) for column in (*section.lead, *section.columns)]
    rights = [not section.is_left(column) for column in (*section.lead, *section.columns)]
    widths = [
        max(3, *(cell_len(text) for text in (head, *cells)))
        for head, cells in zip(heads, columns, strict=True)
    ]
    rules = [_rule(width, right) for width, right in zip(widths, rights, strict=True)]
    rows = [heads, rules, *map(list, zip(*columns, strict=True))]
    return "\n".join(_line(row, widths, rights) for row in rows)


def _head(column: Column, *, several: bool) -> str:
    name, arrow = split_arrow(column.header)
    view = f" ({escape(column.group)})" if several and column.group else ""
    return " ".join(filter(None, (escape(name), arrow))) + view


def _column(column: Column, kinds: Sequence[str]) -> list[str]:
    if column.right:
        return [_cell(parts_of(cell)) for cell in column.cells]
    return [_name(cell.text, kind) for cell, kind in zip(column.cells, kinds, strict=True)]


def _name(text: str, kind: str) -> str:
    """Write what a row is called; a system may be called as the noise floor is."""
    name, arrow = split_arrow(text) if kind != SYSTEM else (text, "")
    shown = " ".join(filter(None, (escape(name), arrow)))
    return f"**{shown}**" if kind == FAMILY else f"*{shown}*" if kind == FLOOR else shown


def _cell(parts: Parts) -> str:
    value = f"**{parts.value}**" if parts.best and parts.value else parts.value
    wave = escape(APPROXIMATE) if parts.approximate else ""
    spread = parts.spread.replace("[", r"\[").replace("]", r"\]")
    return " ".join(filter(None, (value, spread + wave))) + escape(parts.dagger)


def _rule(width: int, right: bool) -> str:
    return "-" * (width - 1) + ":" if right else ":" + "-" * (width - 1)


def _line(texts: Sequence[str], widths: Sequence[int], rights: Sequence[bool]) -> str:
    cells = [
        " " * (width - cell_len(text)) + text if right else text + " " * (width - cell_len(text))
        for text, width, right in zip(texts, widths, rights, strict=True)
    ]
    return f"| {' | '.join(cells)} |"
