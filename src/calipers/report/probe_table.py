"""A probe as data ──► a table for each view, on a terminal or as plain text."""

from __future__ import annotations

from collections.abc import Iterator

from calipers.report import probe_content as content
from calipers.report.grid import Line, render
from calipers.report.laid_out import LaidOut, as_text
from calipers.report.layout import packed
from calipers.report.probe_content import Data
from calipers.report.wrapping import explained, listed, wrapped

NARROWEST = 40


class ProbeTable(LaidOut):
    """Tables for rich."""

    def lines(self, width: int) -> Iterator[Line]:
        """Yield the lines for a width."""
        return _lines(self._data, width, rule="─")


def probe_text(data: Data, *, width: int = 100) -> str:
    """Write a probe as plain text: aligned, without colours or box drawing.

    Parameters
    ----------
    data
        What ``Probe.to_dict()`` gives.
    width
        Cells that a line may take; longer single words are left whole.
    """
    return as_text(_lines(data, width, rule="-"))


def _lines(data: Data, width: int, *, rule: str) -> Iterator[Line]:
    width = max(width, NARROWEST)
    yield from wrapped(content.title(data), width, "bold")
    for view in data["views"]:
        yield ()
        yield from wrapped(content.view_title(view), width, "bold")
        lead = content.change_columns(data, view)
        runs = [*content.metric_runs(data, view), (content.verdict_column(data, view),)]
        for grid in packed(lead, runs, width=width):
            yield from render(grid.columns, gap=grid.gap, rule=rule)
    yield ()
    remarks = listed("note: ", content.remarks(data), width, "")
    alarms = listed("warning: ", content.warnings(data), width, "yellow")
    yield from [*remarks, *alarms, *([()] if remarks or alarms else [])]
    yield from explained(list(content.legend(data)), width)
    yield from wrapped(
        "What an embedder does not see, no score tells. Every halving: --json FILE, or .to_dict() "
        "in Python.",
        width,
        "dim",
    )
