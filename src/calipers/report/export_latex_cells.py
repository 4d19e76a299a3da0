"""The cells of a table ──► LaTeX."""

from __future__ import annotations

from dataclasses import replace

from calipers.report.export_cells import Parts, parts_of, split_arrow
from calipers.report.export_latex_escape import escape
from calipers.report.export_table import SYSTEM
from calipers.report.grid import Cell, Column
from calipers.report.numbers import MISSING

_DAGGERS = {"†": r"\dagger", "‡": r"\ddagger", "§": r"\mathsection", "¶": r"\mathparagraph"}


SMALL, BOLD = 2 / 3, 1.15
"""How wide a small or a bold character is, of one of the usual size."""


def as_wide(column: Column) -> Column:
    """Give a column as wide as this one is in print: intervals are small, arrows and gaps wide."""
    arrow = "  " * bool(split_arrow(column.header)[1])
    cells = tuple(map(_as_wide, column.cells)) if column.right else column.cells
    return replace(column, header=f"{column.header}{arrow} ", cells=cells)


def head_text(column: Column) -> str:
    """Write the head of a column, with its arrow."""
    return _with_arrow(column.header)


def name_text(cell: Cell, kind: str) -> str:
    """Write what a row is called."""
    return escape(cell.text) if kind == SYSTEM else _with_arrow(cell.text)


def cell_text(cell: Cell) -> str:
    """Write a value, its mark above and its interval below the line behind it.

    They stand behind each other: at this size, above each other they would touch.

    Examples
    --------
    >>> cell_text(Cell("0.878±0.050= "))
    '0.878$^{\\\\dagger}{}_{\\\\pm 0.050}$'
    >>> cell_text(Cell("0.930[0.878,0.961]~*"))
    '\\\\textbf{0.930}$_{[0.878, 0.961]\\\\sim}$'
    """
    parts = parts_of(cell)
    value = _number(parts.value)
    value = rf"\textbf{{{value}}}" if parts.best and value else value
    above = _DAGGERS.get(parts.dagger, parts.dagger)
    below = _below(parts)
    behind = f"^{{{above}}}{{}}" * bool(above) + f"_{{{below}}}" * bool(below)
    return f"{value}${behind}$" if behind else value


def _as_wide(cell: Cell) -> Cell:
    parts = parts_of(cell)
    value = (len(parts.value) + parts.value.count("-")) * (BOLD if parts.best else 1)
    small = SMALL * (len(parts.spread + parts.dagger) + parts.spread.count("±") + parts.approximate)
    return Cell("0" * round(1 + value + small))


def _below(parts: Parts) -> str:
    spread = parts.spread.replace("±", r"\pm ")
    return spread + (r"\sim" if parts.approximate else "")


def _number(value: str) -> str:
    return "--" if value == MISSING else escape(value).replace("-", "$-$")


def _with_arrow(text: str) -> str:
    words, arrow = split_arrow(text)
    return " ".join(filter(None, (escape(words), escape(arrow))))
