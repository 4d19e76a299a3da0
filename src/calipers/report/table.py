"""A comparison as data ──► the table that a person reads, on a terminal or as plain text.

Both are the same lines: the terminal adds weight and shade, never a meaning of its own, so
nothing is lost without colours.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from calipers.report import copies, groups, notes, uncertain
from calipers.report.content import (
    BEST,
    Data,
    Metric,
    lead_columns,
    score_column,
    shown_metrics,
)
from calipers.report.grid import Line, render
from calipers.report.layout import Grid, arrange
from calipers.report.numbers import MISSING
from calipers.report.uncertain_block import Block, block_lines
from calipers.report.uncertain_marks import all_marks, is_tested
from calipers.report.wrapping import explained, listed, wrapped

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

NARROWEST = 40


class ComparisonTable:
    """A table for rich: lays itself out for the width that it is given."""

    def __init__(self, data: Data, *, width: int | None = None, details: bool = False) -> None:
        self._data = data
        self._width = width
        self._details = details

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the table line by line."""
        from rich.text import Text

        width = min(self._width or options.max_width, options.max_width)
        for line in _lines(self._data, width, plain=False, details=self._details):
            yield Text.assemble(*line, overflow="fold", no_wrap=False, end="\n")


def comparison_table(
    data: Data, *, width: int | None = None, details: bool = False
) -> ComparisonTable:
    """Show a comparison on a terminal.

    Parameters
    ----------
    data
        What ``Comparison.to_dict()`` gives.
    width
        Cells that a line may take; by default what the console has.
    details
        Whether to show how far every pair of systems is apart, score by score.
    """
    return ComparisonTable(data, width=width, details=details)


def plain_text(data: Data, *, width: int = 100, details: bool = False) -> str:
    """Write a comparison as plain text: aligned, without colours or box drawing.

    Where the views do not fit side by side, every line names its view, so that
    ``grep model_a`` keeps its sense.

    Parameters
    ----------
    data
        What ``Comparison.to_dict()`` gives.
    width
        Cells that a line may take; longer single words, such as paths, are left whole.
    details
        As for :func:`comparison_table`.
    """
    lines = _lines(data, width, plain=True, details=details)
    return "\n".join("".join(text for text, _ in line).rstrip() for line in lines)


def _lines(data: Data, width: int, *, plain: bool, details: bool) -> Iterator[Line]:
    width = max(width, NARROWEST)
    yield from wrapped(notes.title(data), width, "bold")
    yield ()
    metrics = shown_metrics(data)
    marks = all_marks(data, metrics)
    for grid in _grids(data, metrics, marks, width, plain=plain):
        yield from render(grid.columns, gap=grid.gap, rule="-" if plain else "─")
        yield ()
    shown = {mark for column in marks for mark in column}
    yield from uncertain.lines(data, metrics, shown, width, plain=plain, details=details)
    yield from _groups(data, width, plain=plain)
    yield from _copies(data, width, plain=plain)
    yield from _below(data, metrics, width, marked=BEST in shown and not is_tested(data))


def _grids(
    data: Data, metrics: list[Metric], marks: list[tuple[str, ...]], width: int, *, plain: bool
) -> list[Grid]:
    """Lay out the scores; plain text takes one line for each row that names its view, if it can."""
    ways = [(True, True), (False, True), (False, False)] if plain else [(False, False)]
    found = []
    for inline, labelled in ways:
        columns = [
            score_column(data, metric, each, inline=inline)
            for metric, each in zip(metrics, marks, strict=True)
        ]
        found.append(arrange(lead_columns(data), columns, width=width, labelled=labelled))
    sure = any(uncertain.interval_lines(data, metrics))
    return min(found if sure else found[:1], key=len)


def _groups(data: Data, width: int, *, plain: bool) -> Iterator[Line]:
    """Write the scores by group, where there are any."""
    grids = list(groups.group_grids(data, width=width))
    if grids:
        block = Block(groups.heading(data), grids, caption=groups.caption(data))
        yield from block_lines(block, width, plain=plain)


def _copies(data: Data, width: int, *, plain: bool) -> Iterator[Line]:
    """Write what was copied from the training set, where one was given."""
    if data.get("train"):
        grids = copies.copy_grids(data, width=width)
        block = Block(copies.heading(data), grids, caption=copies.caption())
        yield from block_lines(block, width, plain=plain)


def _below(data: Data, metrics: list[Metric], width: int, *, marked: bool) -> Iterator[Line]:
    """Write what stands under the table: notes, missing values, warnings, and how to read it."""
    blocks = [
        listed("note: ", notes.remarks(data), width, ""),
        listed(f"{MISSING} ", notes.reasons(data, metrics), width, ""),
        listed("warning: ", notes.warnings(data), width, "yellow"),
    ]
    for block in blocks:
        yield from block
    if any(blocks):
        yield ()
    yield from explained(list(notes.legend(data, metrics)), width)
    yield from wrapped(notes.marks(metrics, best_shown=marked), width, "dim")
    yield from wrapped(notes.more(metrics), width, "dim")
