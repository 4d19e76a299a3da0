"""A comparison as data ──► a compact table of HTML for a notebook.

Styles stand in the elements and lean on the notebook's own colours, so that it looks right in
light and dark. There is no script; names of strangers are escaped, also from MathJax.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape as html_escape

from calipers.report.content import BEST
from calipers.report.export_cells import DAGGERS, parts_of, split_arrow
from calipers.report.export_table import (
    FAMILY,
    FLOOR,
    REFERENCE,
    SYSTEM,
    Data,
    Document,
    Section,
    document_of,
    groups_of,
)
from calipers.report.grid import Cell, Column
from calipers.report.names import VIEWS, clean
from calipers.report.uncertain_numbers import APPROXIMATE

LINE = "1px solid rgba(128, 128, 128, .45)"
PLAIN = "background: none; border: 0; white-space: nowrap; padding: .15em .7em"
FAINT = "opacity: .75"


def notebook_html(data: Data) -> str:
    """Write a comparison as HTML that a notebook shows below a cell.

    One table with a head for each view (system, for text statistics), the best in bold and the
    intervals small; what the marks mean below it; notes, warnings and further tables folded.

    Parameters
    ----------
    data
        What ``Comparison.to_dict()`` or ``TextComparison.to_dict()`` gives.

    Raises
    ------
    InputError
        If the data are of neither.
    """
    document = document_of(data)
    body = "\n".join(_parts(document))
    return f'<div class="calipers mathjax_ignore tex2jax_ignore">\n{body}\n</div>'


def _parts(document: Document) -> Iterator[str]:
    main, *more = document.sections
    yield f'<div style="{FAINT}">{_text(document.title)}</div>'
    yield _table(main, document)
    marks = " · ".join(_explained(sign, words) for sign, words in document.marks)
    yield f'<div style="{FAINT}; font-size: .85em; max-width: 70em">{marks}</div>'
    yield from _folded("note", document.notes)
    yield from _folded("warning", document.warnings)
    for section in more:
        body = _table(section, document) + f'<div style="{FAINT}">{_text(section.caption)}</div>'
        yield f"<details><summary>{_text(section.heading)}</summary>{body}</details>"


def _folded(word: str, texts: Sequence[str]) -> Iterator[str]:
    """Fold notes or warnings under how many there are."""
    if texts:
        items = "".join(f"<li>{_text(text)}</li>" for text in texts)
        count = f"{len(texts)} {word}{'s' if texts[1:] else ''}"
        yield f"<details><summary>{count}</summary><ul>{items}</ul></details>"


def _explained(sign: str, words: str) -> str:
    shown = "<b>bold</b>" if sign == BEST else _text(DAGGERS.get(sign, sign))
    return f"{shown} {_text(words)}"


def _table(section: Section, document: Document) -> str:
    columns = (*section.lead, *section.columns)
    heads = "".join(_head(column, document, section) for column in columns)
    rows = "".join(_rows(section, columns))
    return (
        '<div style="overflow-x: auto"><table style="border-collapse: collapse; margin: .4em 0; '
        'font-variant-numeric: tabular-nums">'
        f'<thead>{_groups(section)}<tr style="background: none; border-bottom: {LINE}">{heads}</tr>'
        f"</thead><tbody>{rows}</tbody></table></div>"
    )


def _groups(section: Section) -> str:
    """Name the views (systems, for text statistics) above their columns."""
    groups = groups_of(section)
    if not any(name for name, _ in groups):
        return ""
    first = f'<td colspan="{len(section.lead)}" style="{PLAIN}"></td>'
    heads = "".join(
        f'<th scope="colgroup" colspan="{count}" title="{VIEWS.get(name, "")}" '
        f'style="{PLAIN}; text-align: center; border-bottom: {LINE}">{_text(name)}</th>'
        for name, count in groups
    )
    return f'<tr style="background: none">{first}{heads}</tr>'


def _head(column: Column, document: Document, section: Section) -> str:
    name, arrow = split_arrow(column.header)
    tells = document.meanings.get(name, "") if column.right else ""
    style = f"{PLAIN}; {_aligned(column, section)}"
    title = html_escape(clean(tells))
    return f'<th scope="col" title="{title}" style="{style}">{_text(name)}{arrow}</th>'


def _rows(section: Section, columns: Sequence[Column]) -> Iterator[str]:
    for kind, *cells in zip(section.kinds, *(column.cells for column in columns), strict=True):
        shade = f"; {FAINT}" if kind in (FLOOR, REFERENCE) else ""
        line = f"; border-top: {LINE}" if kind == FLOOR else ""
        shown = "".join(_cell(*each, kind, section) for each in zip(columns, cells, strict=True))
        yield f'<tr style="background: none{shade}{line}">{shown}</tr>'


def _cell(column: Column, cell: Cell, kind: str, section: Section) -> str:
    style = f'style="{PLAIN}; {_aligned(column, section)}"'
    if not column.right:
        return f'<th scope="row" {style}>{_name(cell.text, kind)}</th>'
    parts = parts_of(cell)
    value = f"<b>{_text(parts.value)}</b>" if parts.best else _text(parts.value)
    spread = parts.spread + (APPROXIMATE if parts.approximate else "")
    small = f' <small style="{FAINT}">{_text(spread)}</small>' if spread else ""
    return f"<td {style}>{value}{small}{_text(parts.dagger)}</td>"


def _name(text: str, kind: str) -> str:
    name, arrow = (text, "") if kind == SYSTEM else split_arrow(text)
    shown = f"<bdi>{_text(name)}</bdi>{arrow}"
    if kind == FAMILY:
        return f"<i>{shown}</i>"
    return f'<span style="font-weight: normal">{shown}</span>'


def _aligned(column: Column, section: Section) -> str:
    return f"text-align: {'left' if section.is_left(column) else 'right'}"


def _text(text: object) -> str:
    """Escape a text for HTML; dollars and backslashes stand alone, so that no formula begins."""
    safe = html_escape(clean(text))
    return safe.replace("$", "<span>$</span>").replace("\\", "<span>\\</span>")
