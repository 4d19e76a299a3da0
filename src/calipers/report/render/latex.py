r"""Documents as LaTeX tables for papers, with booktabs as the only package.

Best values are bold, intervals small beside them, and what is not distinguishable from the best
carries a sign. The caption says how it was measured and what the marks mean; the verdict and the
warnings are comments, for the author.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace

from calipers.report.render.layout import Strip, Written
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
    written,
)
from calipers.report.scored import document_of
from calipers.report.table import FAMILY, FLOOR, Cell, Column, Document, Note, Table, Text
from calipers.results.result import Result
from calipers.unicode.composition import composed
from calipers.wording.cells import cell_len
from calipers.wording.marks import ALIKE, BEST, EQUAL, FLOOR_MARK, UNTESTED
from calipers.wording.names import clean
from calipers.wording.numbers import APPROXIMATE, MISSING
from calipers.wording.short_names import among
from calipers.wording.words import said

MOST_FLOATS = 10
"""Floats after which pages are printed: LaTeX stops where more than 18 wait for a place."""

WIDTH = 90
"""Characters in ``\\small`` that fit the 5.5 inches of most styles for papers."""

ROWS, MARGINS = 48, 4
"""Rows that a page has room for, and those that the head of a table takes."""

ROW = "      "
SMALL, BOLD = 2 / 3, 1.15
"""How wide a small or a bold character is, of one of the usual size."""

_MARKS = {
    BEST: "",
    ALIKE: r"\approx",
    EQUAL: r"\equiv",
    UNTESTED: r"\#",
    FLOOR_MARK: r"\surd",
}
"""A mark as mathematics; the best is bold in place of one."""

_ASCII = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    '"': "''",
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
}
"""Brackets and stars in braces: the end of a row takes those that begin the next for its own."""

_SYMBOLS = {
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "≈": r"$\approx$",
    "→": r"$\rightarrow$",
    "✓": r"$\surd$",
    "▲": r"$\triangle$",
    "≡": r"$\equiv$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "·": r"$\cdot$",
    "χ": r"$\chi$",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "λ": r"$\lambda$",
    "¹": r"\textsuperscript{1}",
    "²": r"\textsuperscript{2}",
    "³": r"\textsuperscript{3}",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "‘": "`",
    "’": "'",
    "“": "``",
    "”": "''",
    "\N{NO-BREAK SPACE}": "~",
}
_KNOWN = _ASCII | _SYMBOLS
_DASHES = re.compile(r"-(?=-)")
"""A dash before another one: together they would be printed as one long dash."""


def latex(shown: Document | Result) -> str:
    r"""Write the tables of a document, or of a result's summary, as LaTeX floats for a paper.

    Needs ``\usepackage{booktabs}``. The first caption states how it was measured. A table is one
    ``tabular``, with a rule over the columns of each view, or several where it would be too wide.
    Notes are below the last table.

    Examples
    --------
    >>> import calipers
    >>> systems = {"model": ["a b", "a b c"]}
    >>> result = calipers.measure_texts(systems, metrics="mean_length", level=None)
    >>> latex(result).count("tabular")
    2
    """
    document = document_of(shown)
    with among(document.names):
        return _latex(document)


def _latex(document: Document) -> str:
    floats = list[str]()
    for place, table in enumerate(_drawn(document), start=1):
        words = [_said(document)] if place == 1 else []
        words += [f"{escape(table.heading)}."] if table.heading else []
        words += [escape(note) for note in table.notes]
        label = "tab:calipers" if place == 1 else f"tab:calipers-{place}"
        floats += _table(table, " ".join(words), label)
    body = "\n\n".join([*_emptied(floats), *_paragraphs(document)])
    return "\n".join([*_comments(document, body), body, ""])


def escape(text: object) -> str:
    """Escape a text for LaTeX, so that its characters are printed and no commands run.

    Letters of any script stay as they are, for an engine that has them; a symbol that is not known
    here is printed as its code point, since most engines would stop at it.

    Examples
    --------
    >>> escape("model_a & 50 %"), escape("[x]"), escape("χ²")
    ('model\\\\_a \\\\& 50 \\\\%', '{[}x{]}', '$\\\\chi$\\\\textsuperscript{2}')
    """
    whole = _DASHES.sub("-\0", composed(clean(text)))
    return "".join(map(_printed, whole)).replace("\0", "{}")


def needs_unicode_fonts(text: str) -> bool:
    """Tell whether a text holds characters that pdfLaTeX cannot print without further packages."""
    return any(ord(character) > 0x17F for character in text)


def cell_text(cell: Cell) -> str:
    """Write a value with its mark, and its interval below.

    They stand behind each other: at this size, above each other they would touch.

    Examples
    --------
    >>> from calipers.report.table import ScoreCell
    >>> cell_text(ScoreCell("0.878", "±0.050", mark="≈"))
    '0.878$^{\\\\approx}{}_{\\\\pm 0.050}$'
    >>> cell_text(ScoreCell("0.930", "[0.878,0.961]", approximate=True, mark="▲"))
    '\\\\textbf{0.930}$_{[0.878, 0.961]\\\\sim}$'
    """
    value = _number(value_of(cell))
    value = rf"\textbf{{{value}}}" if is_best(cell) and value else value
    above = "".join(_MARKS.get(mark, mark) for mark in marks_of(cell))
    below = spread_of(cell).replace("±", r"\pm ") + r"\sim" * is_approximate(cell)
    behind = f"^{{{above}}}{{}}" * bool(above) + f"_{{{below}}}" * bool(below)
    aside = escape(aside_of(cell))
    return " ".join(filter(None, (f"{value}${behind}$" if behind else value, aside)))


def _drawn(document: Document) -> list[Table]:
    """Return the tables that have columns."""
    return [table for table in document.tables if table.columns]


def _emptied(floats: Sequence[str]) -> Iterator[str]:
    """Have the pages printed now and then."""
    for place, body in enumerate(floats):
        yield body if place % MOST_FLOATS or not place else f"\\clearpage\n{body}"


def _comments(document: Document, body: str) -> Iterator[str]:
    """Say what the document needs, and what its author should know."""
    yield rf"% Made by {document.made_by}. Needs \usepackage{{booktabs}}."
    if needs_unicode_fonts(body):
        yield "% Holds letters beyond Latin: use LuaLaTeX or XeLaTeX and a font that has them"
        yield r"% (\usepackage{fontspec} \setmainfont{...})."
        yield f"% Scripts: {', '.join(_scripts(body))}."
    yield from (f"% Verdict: {clean(str(note))}" for note in document.of_kind("verdict"))
    yield from (f"% Caution: {clean(str(note))}" for note in document.of_kind("caution"))
    yield from (f"% Warning: {clean(warning)}" for warning in document.warnings)


def _scripts(body: str) -> list[str]:
    """Name the scripts beyond Latin, by the first words of the names of their letters."""
    letters = (c for c in dict.fromkeys(body) if needs_unicode_fonts(c) and c.isalpha())
    names = (unicodedata.name(c, "").partition(" ")[0] for c in letters)
    known = {"CJK": "Han", "HALFWIDTH": "Katakana", "FULLWIDTH": "full width", "LATIN": ""}
    return sorted({known.get(name, name.capitalize()) for name in names} - {""}, key=str.lower)


def _said(document: Document) -> str:
    """Say what was measured, how to read it, and why values are missing."""
    signs = document.of_kind(*SIGNS)
    words = [_sentence(document.title.replace(" · ", "; "))]
    words += [_sign(note.sign) + _sentence(str(note)) for note in signs if note.sign]
    words += [_sentence(str(note)) for note in signs if not note.sign]
    words += [_signature(note) for note in document.of_kind("signature")]
    return " ".join([*words, *(_sentence(str(note)) for note in document.of_kind(*REMARKS))])


def _signature(note: Note) -> str:
    """Write what was measured; a line of pins may be broken behind each."""
    if not note.sign:
        return _sentence(str(note).replace(" · ", "; "))
    pins = escape(note).replace(r"\textbar{}", r"\textbar{}\allowbreak{}")
    return rf"{escape(note.sign)}: \texttt{{{pins}}}."


def _paragraphs(document: Document) -> Iterator[str]:
    """Write what else is said: findings, points and names."""
    shown = (*SIGNS, *REMARKS, "warning", "how", "verdict", "caution", "signature")
    apart = [note for table in document.tables if not table.columns for note in table.notes]
    for note in (*apart, *document.notes):
        if note.kind not in shown:
            about = note.sign or ", ".join(note.about) * (note.kind == "named")
            before = f"{escape(about)}: " if about else ""
            yield rf"\noindent {before}{_sentence(str(note))}"


def _sign(sign: str) -> str:
    known = {BEST: r"\textbf{Bold}", APPROXIMATE: r"$\sim$"}
    return f"{known.get(sign) or escape(sign)}: "


def _sentence(text: str) -> str:
    return escape(text.removesuffix(".")) + "."


def _table(table: Table, caption: str, label: str) -> list[str]:
    """Write a float with one tabular, or as many with several as it takes."""
    floats = _floats(pieces(table, WIDTH, measure=_as_printed))
    first = [rf"  \caption{{{caption}}}", rf"  \label{{{label}}}"]
    later = [r"  \caption{(continued)}"]
    return [_float(tables, later if place else first) for place, tables in enumerate(floats)]


def _floats(tables: Sequence[Table]) -> list[list[Table]]:
    """Fill pages with tables, since a float that is too high for a page is printed on none."""
    pages: list[list[Table]] = []
    for table in tables:
        rows = sum(len(part.kinds) + MARGINS for part in [*(pages[-1:] or [[]])[0], table])
        if pages and rows <= ROWS:
            pages[-1].append(table)
        else:
            pages.append([table])
    return pages


def _float(tables: Sequence[Table], about: Sequence[str]) -> str:
    return "\n".join(
        [
            r"\begin{table}",
            r"  \centering\small\setlength{\tabcolsep}{4pt}",
            *about,
            r"  \smallskip",
            "\n  \\par\\medskip\n".join(map(_tabular, tables)),
            r"\end{table}",
        ]
    )


def _tabular(table: Table) -> str:
    columns = table.columns
    kinds = "".join("l" if table.is_left(column) else "r" for column in columns)
    lines = [
        rf"  \begin{{tabular}}{{@{{}}{kinds}@{{}}}}",
        r"    \toprule",
        *_groups(table),
        f"{ROW}{' & '.join(map(_head, columns))} \\\\",
        r"    \midrule",
        *_rows(table),
        r"    \bottomrule",
        r"  \end{tabular}",
    ]
    return "\n".join(lines)


def _groups(table: Table) -> list[str]:
    """Name the views (systems, for text statistics) above their columns, with a rule below each."""
    groups, first = table.groups, len(table.lead) + 1
    if not any(group for group, _ in groups):
        return []
    heads, rules = [""] * len(table.lead), []
    for group, count in groups:
        heads.append(rf"\multicolumn{{{count}}}{{c}}{{{escape(group)}}}")
        rules.append(rf"\cmidrule(lr){{{first}-{first + count - 1}}}" if group else "")
        first += count
    return [f"{ROW}{' & '.join(heads)} \\\\", f"    {' '.join(filter(None, rules))}"]


def _rows(table: Table) -> Iterator[str]:
    """Write the rows, with a space before the floor and before each family."""
    columns = table.columns
    before = table.kinds[:1]
    for kind, *cells in zip(table.kinds, *(column.cells for column in columns), strict=True):
        if kind not in before and kind in (FLOOR, FAMILY):
            yield r"    \addlinespace"
        yield f"{ROW}{_row(columns, cells, kind)} \\\\"
        before = (kind,)


def _row(columns: Sequence[Column], cells: Sequence[Cell], kind: str) -> str:
    if kind == FAMILY:
        heading = rf"\textit{{{escape(value_of(cells[0]))}}}"
        return rf"\multicolumn{{{len(cells)}}}{{@{{}}l}}{{{heading}}}"
    texts = [
        _name(cell) if column.align == "left" else cell_text(cell)
        for column, cell in zip(columns, cells, strict=True)
    ]
    return " & ".join(texts)


def _head(column: Column) -> str:
    return _with_arrow(head_of(column), column.arrow)


def _name(cell: Cell) -> str:
    if isinstance(cell, Text):
        return _with_arrow(said(cell.text), cell.arrow)
    return escape(cell.value)


def _as_printed(column: Column, kinds: Sequence[str]) -> Strip:
    """Give a column as wide as this one is in print: intervals are small, arrows and gaps wide."""
    strip = written(column, kinds)
    cells = strip.cells if column.align == "left" else tuple(map(_width_of, column.cells))
    return replace(strip, header=f"{strip.header}{'  ' * bool(column.arrow)} ", cells=cells)


def _width_of(cell: Cell) -> Written:
    text = value_of(cell)
    value = (cell_len(text) + text.count("-")) * (BOLD if is_best(cell) else 1)
    behind = spread_of(cell) + marks_of(cell) + aside_of(cell)
    small = SMALL * (len(behind) + behind.count("±") + is_approximate(cell))
    return Written("0" * round(1 + value + small))


def _number(value: str) -> str:
    return "--" if value == MISSING else escape(value).replace("-", "$-$")


def _with_arrow(text: str, arrow: str) -> str:
    return " ".join(filter(None, (escape(text), escape(arrow))))


def _printed(character: str) -> str:
    known = _KNOWN.get(character)
    if known is not None:
        return known
    kind = unicodedata.category(character)
    letter = kind[0] in "LM" or kind in ("Nd", "Nl", "Cf")  # a joiner that is left is spelling
    return character if character.isascii() or letter else rf"\texttt{{U+{ord(character):04X}}}"
