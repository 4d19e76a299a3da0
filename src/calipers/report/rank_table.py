"""A ranking as data ──► its tables and sentences, on a terminal or as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich.cells import cell_len

from calipers.report import rank_content as content
from calipers.report import rank_words as words
from calipers.report.grid import Column, Line, render
from calipers.report.laid_out import LaidOut, as_text
from calipers.report.layout import packed
from calipers.report.names import shorten
from calipers.report.rank_content import Data
from calipers.report.rank_matrix import matrix_columns, matrix_shown, matrix_title
from calipers.report.wrapping import explained, listed, wrapped

NARROWEST = 40

Block = tuple[str, Sequence[Column], Sequence[tuple[Column, ...]]]


class RankingTable(LaidOut):
    """Tables of a ranking for rich."""

    def lines(self, width: int) -> Iterator[Line]:
        """Yield the lines for a width."""
        return _lines(self._data, width, rule="─")


def ranking_text(data: Data, *, width: int = 100) -> str:
    """Write a ranking as plain text: aligned, without colours or box drawing.

    Parameters
    ----------
    data
        What ``Ranking.to_dict()`` gives.
    width
        Cells that a line may take; longer single words are left whole.
    """
    return as_text(_lines(data, width, rule="-"))


def _lines(data: Data, width: int, *, rule: str) -> Iterator[Line]:
    width = max(width, NARROWEST)
    yield from wrapped(content.title(data), width, "bold")
    for title, lead, runs in _blocks(data, width):
        yield ()
        yield from wrapped(title, width, "bold")
        for index, grid in enumerate(packed(_capped(lead, width), runs, width=width)):
            yield from [()] if index else []
            yield from render(grid.columns, gap=grid.gap, rule=rule)
    yield ()
    yield from _below(data, width)


def _blocks(data: Data, width: int) -> Iterator[Block]:
    """Give every table: its title, the columns that name its rows, and runs of others."""
    for truth in content.fitted(data):
        names, *others = content.fit_columns(data, truth)
        yield content.fit_title(data, truth), [names], _single(others)
    if len(data["truths"]) > 1:
        columns = content.summary_columns(data)
        heads = [shorten(column.header, max(8, width // 2)) for column in columns]
        metrics = _single([replace(c, header=h) for c, h in zip(columns, heads, strict=True)])
        yield content.summary_title(), [content.truth_column(data)], metrics
    for truth in data["truths"]:
        lead, runs = content.beside_lead(data, truth), content.beside_runs(data, truth)
        yield content.beside_title(data, truth), lead, runs
    if matrix_shown(data):
        names, columns = matrix_columns(data, width)
        yield matrix_title(data), [names], _single(columns)


def _single(columns: Sequence[Column]) -> list[tuple[Column, ...]]:
    return [(column,) for column in columns]


def _capped(columns: Sequence[Column], width: int) -> list[Column]:
    """Let the names in the first column take a third of the width."""
    cap = max(8, width // 3, cell_len(columns[0].header))
    cells = tuple(replace(cell, text=shorten(cell.text, cap)) for cell in columns[0].cells)
    return [replace(columns[0], cells=cells), *columns[1:]]


def _below(data: Data, width: int) -> Iterator[Line]:
    """Write what stands under the tables: verdicts, notes, warnings, and how to read them."""
    verdicts = listed("- ", words.verdicts(data), width, "")
    remarks = listed("note: ", words.remarks(data), width, "")
    alarms = listed("warning: ", words.warnings(data), width, "yellow")
    for part in (verdicts, [*remarks, *alarms]):
        yield from [*part, *([()] if part else [])]
    yield from explained(list(words.legend(data)), width)
    yield from wrapped(
        "All numbers: --json FILE, or .to_dict() in Python. As a heat map: --plot FILE.",
        width,
        "dim",
    )
