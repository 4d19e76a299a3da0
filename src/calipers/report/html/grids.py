"""Grids and blocks of the terminal's table ──► the same as plain data for HTML tables.

What they say is decided where they are made; here only the padding goes, which lines them up on a
terminal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from calipers.report import copies, groups
from calipers.report.content import Data, Metric
from calipers.report.grid import Cell, Column
from calipers.report.layout import Grid
from calipers.report.uncertain_advice import advice_block
from calipers.report.uncertain_block import Block
from calipers.report.uncertain_floor import floor_block
from calipers.report.uncertain_pairs import pairs_block
from calipers.report.uncertain_reference import reference_block
from calipers.report.uncertain_seeds import seeds_block

WIDE = 10_000
"""A width at which nothing is broken: a table of a page scrolls within its box."""
PAGE = 150
"""Where there are many runs of columns, they are stacked at this width."""


@dataclass(frozen=True)
class Table:
    """Rows of cells under two rows of heads: groups with their numbers of columns, and names."""

    groups: tuple[tuple[str, int], ...]
    headers: tuple[tuple[str, bool], ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Part:
    """A block of the page: what it is called and how it is found, its tables, and its sentences."""

    id: str
    heading: str
    tables: tuple[Table, ...]
    tells: tuple[str, ...]
    caption: str


def parts(data: Data, metrics: Sequence[Metric]) -> list[Part]:
    """Give the blocks that a comparison has, the most telling first."""
    found = {
        "against-reference": reference_block(data, WIDE),
        "floor": floor_block(data, metrics, WIDE, plain=False),
        "pairs": pairs_block(data, metrics, WIDE, details=True),
        "seeds": seeds_block(data, metrics, WIDE, plain=False),
        "groups": _groups(data),
        "train": _train(data),
        "advice": advice_block(data, WIDE),
    }
    return [_part(place, block) for place, block in found.items() if block is not None]


def tables(grids: Iterable[Grid]) -> Iterator[Table]:
    """Give grids as tables."""
    for grid in grids:
        columns = grid.columns
        runs = [(name, len(list(run))) for name, run in groupby(columns, key=lambda c: c.group)]
        rows = zip(*(map(_bare, column.cells) for column in columns), strict=True)
        heads = tuple((column.header, column.right) for column in columns)
        yield Table(tuple(runs), heads, tuple(rows))


def floor_row(data: Data, metrics: Sequence[Metric]) -> dict[tuple[str, str], str]:
    """Give the noise floor by view and header of each score, where one floor holds for all systems.

    The size of the halves stands under two empty strings.
    """
    block = floor_block(data, metrics, WIDE, plain=False)
    if block is None:
        return {}
    columns = [column for grid in block.grids for column in grid.columns]
    floors = [row for row, cell in enumerate(columns[0].cells) if cell.style]
    if len(floors) != 1:
        return {}
    return {("", ""): columns[1].cells[0].text, **dict(_floors(columns[2:]))}


def _floors(columns: Sequence[Column]) -> Iterator[tuple[tuple[str, str], str]]:
    for column in columns:
        yield (column.group, column.header), column.cells[0].text.strip()


def _part(place: str, block: Block) -> Part:
    laid_out = tuple(tables(block.grids))
    return Part(place, block.heading, laid_out, tuple(block.tells), block.caption)


def _groups(data: Data) -> Block | None:
    grids = list(groups.group_grids(data, width=PAGE))
    return Block(groups.heading(data), grids, (), groups.caption(data)) if grids else None


def _train(data: Data) -> Block | None:
    if not data.get("train"):
        return None
    grids = copies.copy_grids(data, width=PAGE)
    return Block(copies.heading(data), grids, (), copies.caption())


def _bare(cell: Cell) -> Cell:
    return Cell(cell.text.strip(), cell.style, cell.under.strip())
