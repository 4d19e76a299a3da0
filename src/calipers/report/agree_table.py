"""An agreement as data ──► scores, correlations and sentences, on a terminal or as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from calipers.report import agree_content as content
from calipers.report import agree_words as words
from calipers.report.agree_content import Data
from calipers.report.grid import Column, Line, render
from calipers.report.laid_out import LaidOut, as_text
from calipers.report.layout import packed
from calipers.report.names import shorten
from calipers.report.wrapping import explained, listed, wrapped

NARROWEST = 40


class AgreementTable(LaidOut):
    """Scores, correlations and sentences for rich."""

    def lines(self, width: int) -> Iterator[Line]:
        """Yield the lines for a width."""
        return _lines(self._data, width, rule="─")


def agreement_text(data: Data, *, width: int = 100) -> str:
    """Write an agreement as plain text: aligned, without colours or box drawing.

    Parameters
    ----------
    data
        What ``Agreement.to_dict()`` gives.
    width
        Cells that a line may take; longer single words are left whole.
    """
    return as_text(_lines(data, width, rule="-"))


def _lines(data: Data, width: int, *, rule: str) -> Iterator[Line]:
    width = max(width, NARROWEST)
    yield from wrapped(content.title(data), width, "bold")
    yield ()
    yield from render(_capped(content.set_columns(data), width), gap=2, rule=rule)
    for metric in data["metrics"]:
        yield ()
        yield from wrapped(content.metric_title(data, metric), width, "bold")
        runs = content.score_runs(data, metric)
        yield from _grids(content.name_column(data), runs, width, rule)
    if words.correlated(data):
        yield ()
        yield from wrapped(content.correlation_title(data), width, "bold")
        runs = content.correlation_runs(data)
        yield from _grids(content.metric_column(data), runs, width, rule)
    yield ()
    for sentence, pairs in words.verdicts(data):
        yield from wrapped(sentence, width, "", first="- ")
        yield from listed("  - ", pairs, width, "")
    yield ()
    yield from wrapped(words.verdict(data), width, "bold")
    yield ()
    yield from _below(data, width)


def _grids(
    names: Column, runs: Sequence[tuple[Column, ...]], width: int, rule: str
) -> Iterator[Line]:
    """Set as many embedders side by side as fit; what does not goes below."""
    lead = _capped([names], width)
    for grid in packed(lead, runs, width=width):
        yield from render(grid.columns, gap=grid.gap, rule=rule)


def _capped(columns: Sequence[Column], width: int) -> list[Column]:
    """Let the names in the first column take a third of the width."""
    cap = max(8, width // 3)
    cells = tuple(replace(cell, text=shorten(cell.text, cap)) for cell in columns[0].cells)
    return [replace(columns[0], cells=cells), *columns[1:]]


def _below(data: Data, width: int) -> Iterator[Line]:
    """Write what stands under the tables: notes, warnings, and how to read them."""
    remarks = listed("note: ", words.remarks(data), width, "")
    alarms = listed("warning: ", words.warnings(data), width, "yellow")
    yield from [*remarks, *alarms, *([()] if remarks or alarms else [])]
    yield from explained(list(words.legend(data)), width)
    yield from wrapped(
        "Columns that agree may be wrong together. All correlations, Kendall's too, and "
        "signatures: --json FILE, or .to_dict() in Python.",
        width,
        "dim",
    )
