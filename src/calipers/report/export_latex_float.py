"""One table ──► floats of LaTeX, each no wider and no higher than a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from calipers.report.export_latex_cells import as_wide, cell_text, head_text, name_text
from calipers.report.export_latex_escape import escape
from calipers.report.export_pieces import pieces
from calipers.report.export_table import FAMILY, FLOOR, Run, Section, groups_of
from calipers.report.grid import Cell

WIDTH = 90
"""Characters in ``\\small`` that fit the 5.5 inches of most styles for papers."""

ROWS, MARGINS = 48, 4
"""Rows that a page has room for, and those that the head of a table takes."""

ROW = "      "


def table(section: Section, caption: str, label: str) -> list[str]:
    """Write a float with one tabular, or as many with several as it takes."""
    floats = _floats(pieces(section, WIDTH, as_wide=as_wide))
    first = [rf"  \caption{{{caption}}}", rf"  \label{{{label}}}"]
    later = [r"  \caption{(continued)}"]
    return [_float(each, later if place else first) for place, each in enumerate(floats)]


def _floats(sections: Sequence[Section]) -> list[list[Section]]:
    """Fill pages with tables, since a float that is too high for a page is printed on none."""
    found: list[list[Section]] = []
    for section in sections:
        rows = sum(len(each.kinds) + MARGINS for each in [*(found[-1:] or [[]])[0], section])
        if found and rows <= ROWS:
            found[-1].append(section)
        else:
            found.append([section])
    return found


def _float(sections: Sequence[Section], about: Sequence[str]) -> str:
    return "\n".join(
        [
            r"\begin{table}",
            r"  \centering\small\setlength{\tabcolsep}{4pt}",
            *about,
            r"  \smallskip",
            "\n  \\par\\medskip\n".join(map(_tabular, sections)),
            r"\end{table}",
        ]
    )


def _tabular(section: Section) -> str:
    columns = (*section.lead, *section.columns)
    kinds = "".join("l" if section.is_left(column) else "r" for column in columns)
    lines = [
        rf"  \begin{{tabular}}{{@{{}}{kinds}@{{}}}}",
        r"    \toprule",
        *_groups(section),
        f"{ROW}{' & '.join(map(head_text, columns))} \\\\",
        r"    \midrule",
        *_rows(section),
        r"    \bottomrule",
        r"  \end{tabular}",
    ]
    return "\n".join(lines)


def _groups(section: Section) -> list[str]:
    """Name the views (systems, for text statistics) above their columns, with a rule below each."""
    groups, first = groups_of(section), len(section.lead) + 1
    if not any(group for group, _ in groups):
        return []
    heads, rules = [""] * len(section.lead), []
    for group, count in groups:
        heads.append(rf"\multicolumn{{{count}}}{{c}}{{{escape(group)}}}")
        rules.append(rf"\cmidrule(lr){{{first}-{first + count - 1}}}" if group else "")
        first += count
    return [f"{ROW}{' & '.join(heads)} \\\\", f"    {' '.join(filter(None, rules))}"]


def _rows(section: Section) -> Iterator[str]:
    """Write the rows, with a space before the floor and before each family."""
    columns = (*section.lead, *section.columns)
    before = section.kinds[:1]
    for kind, *cells in zip(section.kinds, *(column.cells for column in columns), strict=True):
        if kind not in before and kind in (FLOOR, FAMILY):
            yield r"    \addlinespace"
        yield f"{ROW}{_row(columns, cells, kind)} \\\\"
        before = (kind,)


def _row(columns: Run, cells: list[Cell], kind: str) -> str:
    if kind == FAMILY:
        heading = rf"\textit{{{escape(cells[0].text)}}}"
        return rf"\multicolumn{{{len(cells)}}}{{@{{}}l}}{{{heading}}}"
    texts = [
        cell_text(cell) if column.right else name_text(cell, kind)
        for column, cell in zip(columns, cells, strict=True)
    ]
    return " & ".join(texts)
