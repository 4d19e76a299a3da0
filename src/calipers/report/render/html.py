"""Documents as compact HTML for notebooks.

Styles stand in the elements and lean on the notebook's own colours, so that it looks right in
light and dark. There is no script; names of strangers are escaped, also from MathJax.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from html import escape as html_escape

from calipers.report.render.printed import (
    REMARKS,
    SIGNS,
    aside_of,
    head_of,
    is_approximate,
    is_best,
    marks_of,
    spread_of,
    value_of,
)
from calipers.report.render.printed import (
    pieces as pieces_of,
)
from calipers.report.table import (
    FAMILY,
    FLOOR,
    REFERENCE,
    Cell,
    Column,
    Document,
    Note,
    Table,
    Text,
)
from calipers.wording.cells import pieces
from calipers.wording.names import clean, sees
from calipers.wording.numbers import APPROXIMATE
from calipers.wording.short_names import among, peers
from calipers.wording.words import said

WIDTH = 115
"""Characters of a table that a notebook of 900 pixels shows without a scroll bar."""
LINE = "1px solid rgba(128, 128, 128, .45)"
PLAIN = "background: none; border: 0; white-space: nowrap; padding: .15em .7em"
FAINT = "opacity: .75"
PAGE_STYLE = (
    "body { font: 15px/1.5 system-ui, sans-serif; max-width: 75em; margin: 2em auto; "
    "padding: 0 1em; color-scheme: light dark } table { border-collapse: collapse }"
)


def html(document: Document, *, figure: bytes = b"", interactive: str = "") -> str:
    """Write a document as HTML for the output of a notebook cell, with a figure as SVG.

    The first table has a head for each view (system, for text statistics), the best in bold and
    the intervals small; what the marks mean stands below it; notes, warnings and further tables
    are folded. Views that do not fit beside each other stand above each other. `interactive` is a
    page that opens below, in a frame of its own that may run its scripts and nothing else.
    """
    with among(document.names):
        body = "\n".join(_parts(document, figure))
    if interactive:
        body += (
            "\n<details><summary>Interactive table: sort, search, signatures</summary>"
            '<iframe sandbox="allow-scripts" loading="lazy" title="Interactive table" '
            f'style="width: 100%; height: 40em; border: {LINE}" '
            f'srcdoc="{html_escape(interactive)}"></iframe></details>'
        )
    return f'<div class="calipers mathjax_ignore tex2jax_ignore">\n{body}\n</div>'


def page(document: Document, *, figure: bytes = b"") -> str:
    """Write a document as one HTML file that opens offline, with a figure as SVG."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html_escape(clean(document.title))}</title>\n"
        f"<style>{PAGE_STYLE}</style>\n</head>\n"
        f"<body>\n{html(document, figure=figure)}\n</body>\n</html>\n"
    )


def _parts(document: Document, figure: bytes) -> Iterator[str]:
    title = html_escape(clean(document.title))
    yield f'<div style="{FAINT}">{_text(document.title)}</div>'
    for note in document.of_kind("verdict", "caution"):
        caution = "Caution: " if note.kind == "caution" else ""
        yield f"<div>{caution}{_text(note)}</div>"
    if figure:
        source = base64.b64encode(figure).decode()
        yield (
            f'<img alt="{title}" style="max-width: 100%; background: white" '
            f'src="data:image/svg+xml;base64,{source}">'
        )
    main, *more = document.tables
    if main.heading:
        yield f"<div><b>{_text(main.heading)}</b></div>"
    for piece in pieces_of(main, WIDTH) if main.columns else [main]:
        yield _table(piece, document.samples)
    yield from map(_faint, main.notes)
    marks = " · ".join(map(_explained, document.of_kind(*SIGNS)))
    yield f'<div style="{FAINT}; font-size: .85em; max-width: 70em">{marks}</div>'
    for note in document.of_kind("signature"):
        line = f"{_text(note.sign)} <code>{_text(note)}</code>" if note.sign else _text(note)
        yield f'<div style="{FAINT}; font-size: .85em; overflow-wrap: anywhere">{line}</div>'
    yield from _folded("note", document.of_kind(*REMARKS))
    seen = document.of_kind("verdict", "caution")  # say what matters of the warnings already
    yield from _folded("warning", document.of_kind("warning"), opened=not seen)
    for table in more:
        body = (_table(table, document.samples) if table.columns else "") + "".join(
            map(_faint, table.notes)
        )
        yield f"<details><summary>{_text(table.heading)}</summary>{body}</details>"
    shown = (*SIGNS, *REMARKS, "warning", "legend", "how", "verdict", "caution", "signature")
    yield from (_paragraph(note) for note in document.notes if note.kind not in shown)
    yield from _folded("name", document.of_kind("legend"))


def _faint(note: Note) -> str:
    return f'<div style="{FAINT}">{_text(note)}</div>'


def _paragraph(note: Note) -> str:
    """Write what was found, in bold where it heads others."""
    about = f"{', '.join(note.about)}: " if note.kind == "named" else ""
    text = _text(f"{about}{note}")
    return f"<div><b>{text}</b></div>" if note.kind == "heading" else f"<div>{text}</div>"


def _folded(word: str, notes: Sequence[Note], *, opened: bool = False) -> Iterator[str]:
    """Fold notes or warnings under how many there are; `opened`, they are seen at once."""
    if notes:
        items = "".join(f"<li>{_named(note)}</li>" for note in notes)
        count = f"{len(notes)} {word}{'s' if notes[1:] else ''}"
        yield f"<details{' open' * opened}><summary>{count}</summary><ul>{items}</ul></details>"


def _named(note: Note) -> str:
    return f"{_text(note.sign)}: {_text(note)}" if note.kind == "legend" else _text(note)


def _explained(note: Note) -> str:
    return f"{_text(note.sign)} {_text(note)}".strip()


def _table(table: Table, samples: str | None) -> str:
    heads = "".join(_head(column, table) for column in table.columns)
    rows = "".join(_rows(table))
    return (
        '<div style="overflow-x: auto"><table style="border-collapse: collapse; margin: .4em 0; '
        'font-variant-numeric: tabular-nums">'
        f"<thead>{_groups(table, samples)}"
        f'<tr style="background: none; border-bottom: {LINE}">{heads}</tr>'
        f"</thead><tbody>{rows}</tbody></table></div>"
    )


def _groups(table: Table, samples: str | None) -> str:
    """Name the views (systems, for text statistics) above their columns."""
    groups = table.groups
    if not any(name for name, _ in groups):
        return ""
    first = f'<td colspan="{len(table.lead)}" style="{PLAIN}"></td>'
    heads = "".join(
        f'<th scope="colgroup" colspan="{count}" title="{sees(name, samples)}" '
        f'style="{PLAIN}; text-align: center; border-bottom: {LINE}">{_text(name)}</th>'
        for name, count in groups
    )
    return f'<tr style="background: none">{first}{heads}</tr>'


def _head(column: Column, table: Table) -> str:
    style = f"{PLAIN}; {_aligned(column, table)}"
    title, name = html_escape(clean(column.meaning)), _text(head_of(column))
    return f'<th scope="col" title="{title}" style="{style}">{name}{column.arrow}</th>'


def _rows(table: Table) -> Iterator[str]:
    columns = table.columns
    for kind, *cells in zip(table.kinds, *(column.cells for column in columns), strict=True):
        shade = f"; {FAINT}" if kind in (FLOOR, REFERENCE) else ""
        line = f"; border-top: {LINE}" if kind == FLOOR else ""
        shown = "".join(_cell(*pair, kind, table) for pair in zip(columns, cells, strict=True))
        yield f'<tr style="background: none{shade}{line}">{shown}</tr>'


def _cell(column: Column, cell: Cell, kind: str, table: Table) -> str:
    style = f'style="{PLAIN}; {_aligned(column, table)}"'
    if column.align == "left":
        return f'<th scope="row" {style}>{_name(cell, kind)}</th>'
    value = f"<b>{_text(value_of(cell))}</b>" if is_best(cell) else _text(value_of(cell))
    spread = spread_of(cell) + APPROXIMATE * is_approximate(cell)
    small = f' <small style="{FAINT}">{_text(spread)}</small>' if spread else ""
    aside = f" {_text(aside_of(cell))}" if aside_of(cell) else ""
    return f"<td {style}>{value}{small}{_text(marks_of(cell))}{aside}</td>"


def _name(cell: Cell, kind: str) -> str:
    arrow = cell.arrow if isinstance(cell, Text) else ""
    name = said(cell.text) if isinstance(cell, Text) else cell.value
    shown = f"<bdi>{_plain(name)}</bdi>{arrow}"
    if kind == FAMILY:
        return f"<i>{shown}</i>"
    return f'<span style="font-weight: normal">{shown}</span>'


def _aligned(column: Column, table: Table) -> str:
    return f"text-align: {'left' if table.is_left(column) else 'right'}"


def _text(text: object) -> str:
    """Write a text in HTML, with what runs from right to left set apart from the rest."""
    known = peers()
    parts = pieces(clean(text), (*known.names, *known.whole))
    return "".join(f"<bdi>{_plain(part)}</bdi>" if apart else _plain(part) for part, apart in parts)


def _plain(text: object) -> str:
    """Escape a text for HTML; dollars and backslashes stand alone, so that no formula begins."""
    safe = html_escape(clean(text))
    return safe.replace("$", "<span>$</span>").replace("\\", "<span>\\</span>")
