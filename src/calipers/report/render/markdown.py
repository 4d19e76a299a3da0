"""Documents as Markdown, for an issue, a README or a notebook.

GitHub's tables: read alike by GitHub, pandoc and markdown-it. Names are texts of strangers: all
that Markdown, HTML, Liquid or mathematics would act on is written as a character reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from calipers.report.render.printed import (
    REMARKS,
    SIGNS,
    aside_of,
    head_of,
    is_approximate,
    is_best,
    marks_of,
    pieces,
    spread_of,
    value_of,
)
from calipers.report.scored import document_of
from calipers.report.table import (
    FAMILY,
    FLOOR,
    SYSTEM,
    Cell,
    Column,
    Document,
    Note,
    Notes,
    Table,
    Text,
)
from calipers.results.result import Result
from calipers.wording.cells import cell_len, padded
from calipers.wording.names import clean, sees
from calipers.wording.numbers import APPROXIMATE
from calipers.wording.short_names import among
from calipers.wording.words import said

WIDTH = 110
"""Characters of a table that GitHub shows without a scroll bar."""

_REFERENCES = {ord(character): f"&#{ord(character)};" for character in "|\\`$<>&{}@"}
"""Written as references: within a table parsers disagree about a backslash before a bar, and
sites act on these before or after Markdown does (mathematics, Liquid, mentions)."""

_ESCAPED = re.compile(r"([*~^#\[\]]|=(?==))|(?<![^\W_])(_)|(_)(?![^\W_])")
_MENTION = re.compile(r"(?<![^\W_])(&#64;)(?=\w)")
_WORD_JOINER = "\N{WORD JOINER}"


def markdown(shown: Document | Result) -> str:
    """Write a document, or the summary of a result, as Markdown, ready for an issue or a README.

    A table that would be too wide is split by view (by system, for text statistics); the best of a
    column is bold as well. Explanations of marks, reasons for missing values and warnings follow
    the order of the document.

    Examples
    --------
    >>> import calipers
    >>> systems = {"model": ["a b", "a b c"]}
    >>> result = calipers.measure_texts(systems, metrics="mean_length", level=None)
    >>> markdown(result).partition(" · ")[0]
    'Texts, without a reference'
    """
    document = document_of(shown)
    blocks = [escape(document.title)]
    with among(document.names):
        for block in document.blocks:
            if isinstance(block, Notes):
                blocks += _notes(block.notes)
            else:
                blocks += _table(block, document.samples)
    return "\n\n".join(blocks) + "\n"


def escape(text: object) -> str:
    """Escape a text for Markdown, on one line.

    A ``@`` that would mention a person on GitHub is followed by an invisible joiner.

    Examples
    --------
    >>> escape("model_a|b"), escape("<b>*x*"), escape("MAUVE*")
    ('model_a&#124;b', '&#60;b&#62;\\\\*x\\\\*', 'MAUVE\\\\*')
    """
    safe = clean(text).translate(_REFERENCES)
    safe = re.sub(r"&#(?=\d+;)", "\0", safe)  # these # are part of a reference
    safe = _ESCAPED.sub(lambda match: "\\" + match.group(), safe).replace("\0", "&#")
    return _MENTION.sub(rf"\1{_WORD_JOINER}", safe)


def _notes(notes: Sequence[Note]) -> Iterator[str]:
    """Write notes: signs on one line, remarks, points and names as lists, the rest as it is."""
    for form, run in groupby(notes, key=_form):
        members = list(run)
        if form == "signs":
            yield " · ".join(map(_explained, members))
        elif form == "list":
            yield "\n".join(map(_listed, members))
        else:
            yield from (_paragraph(note) for note in members)


def _form(note: Note) -> str:
    listed = (*REMARKS, "warning", "legend", "named", "point", "subpoint")
    return "signs" if note.kind in SIGNS else "list" if note.kind in listed else "paragraph"


def _listed(note: Note) -> str:
    before = {"warning": "- Warning: ", "point": "- ", "subpoint": "  - "}
    if note.kind == "legend":
        return f"- {escape(note.sign)}: {escape(note)}"
    if note.kind == "named":
        return f"- {escape(', '.join(note.about))}: {escape(note)}"
    return before.get(note.kind, "- Note: ") + escape(note)


def _paragraph(note: Note) -> str:
    if note.kind == "heading":
        return f"**{escape(note).strip()}**"
    if note.kind == "signature":
        return f"{escape(note.sign)} {_code(str(note)) if note.sign else escape(note)}".strip()
    return f"**Caution**: {escape(note)}" if note.kind == "caution" else escape(note)


def _code(line: str) -> str:
    """Write a signature as code, but one that would end the code."""
    return escape(line) if "`" in line else f"`{clean(line)}`"


def _explained(note: Note) -> str:
    return f"{escape(note.sign)} {escape(note)}".strip()


def _table(table: Table, samples: str | None = None) -> Iterator[str]:
    """Write a table, or its pieces, each under the name of its view or system."""
    if table.heading:
        yield f"**{escape(table.heading).strip()}**"
    for piece in pieces(table, WIDTH) if table.columns else ():
        groups = [name for name, _ in piece.groups if name]
        if len(groups) == 1:
            seen = sees(groups[0], samples) if SYSTEM in piece.kinds else ""
            yield f"**{escape(groups[0])}**" + (f": {seen}" if seen else "")
        yield _grid(piece, several=len(groups) > 1)
    yield from _notes(table.notes)


def _grid(table: Table, *, several: bool) -> str:
    heads = [_head(column, several=several) for column in table.columns]
    columns = [_column(column, table.kinds) for column in table.columns]
    rights = [not table.is_left(column) for column in table.columns]
    widths = [
        max(3, *(cell_len(text) for text in (head, *cells)))
        for head, cells in zip(heads, columns, strict=True)
    ]
    rules = [_rule(width, right) for width, right in zip(widths, rights, strict=True)]
    rows = [heads, rules, *map(list, zip(*columns, strict=True))]
    return "\n".join(_line(row, widths, rights) for row in rows)


def _head(column: Column, *, several: bool) -> str:
    view = f" ({escape(column.group)})" if several and column.group else ""
    return " ".join(filter(None, (escape(head_of(column)), column.arrow))) + view


def _column(column: Column, kinds: Sequence[str]) -> list[str]:
    if column.align != "left":
        return [_cell(cell) for cell in column.cells]
    return [_name(cell, kind) for cell, kind in zip(column.cells, kinds, strict=True)]


def _name(cell: Cell, kind: str) -> str:
    """Write what a row is called; a system may be called as the noise floor is."""
    arrow = cell.arrow if isinstance(cell, Text) else ""
    name = said(cell.text) if isinstance(cell, Text) else cell.value
    shown = " ".join(filter(None, (escape(name), arrow)))
    return f"**{shown}**" if kind == FAMILY else f"*{shown}*" if kind == FLOOR else shown


def _cell(cell: Cell) -> str:
    value = escape(value_of(cell))
    value = f"**{value}**" if is_best(cell) and value else value
    spread = escape(spread_of(cell) + APPROXIMATE * is_approximate(cell))
    shown = " ".join(filter(None, (value, spread))) + escape(marks_of(cell))
    return " ".join(filter(None, (shown, escape(aside_of(cell)))))


def _rule(width: int, right: bool) -> str:
    return "-" * (width - 1) + ":" if right else ":" + "-" * (width - 1)


def _line(texts: Sequence[str], widths: Sequence[int], rights: Sequence[bool]) -> str:
    cells = [
        padded(text, width, right=right)
        for text, width, right in zip(texts, widths, rights, strict=True)
    ]
    return f"| {' | '.join(cells)} |"
