"""A sweep as data ──► the tables and sentences that a person reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.cells import cell_len

from calipers.report import sweep_words as words
from calipers.report.grid import Column, Line, render, total_width
from calipers.report.laid_out import LaidOut, as_text
from calipers.report.sweep_content import Data, curve_column, curves, swept_views, value_column
from calipers.report.wrapping import explained, listed, wrapped

NARROWEST = 40
GAP = 2


class SweepTable(LaidOut):
    """Tables of a sweep for rich."""

    def lines(self, width: int) -> Iterator[Line]:
        """Yield the lines for a width."""
        return _lines(self._data, width, rule="─")


def sweep_text(data: Data, *, width: int = 100) -> str:
    """Write a sweep as plain text: aligned, without colours or box drawing.

    Parameters
    ----------
    data
        What ``Sweep.to_dict()`` gives.
    width
        Cells that a line may take.
    """
    return as_text(_lines(data, width, rule="-"))


def _lines(data: Data, width: int, *, rule: str) -> Iterator[Line]:
    width = max(width, NARROWEST)
    yield from wrapped(words.title(data), width, "bold")
    for view in swept_views(data):
        yield ()
        if len(data["settings"]["views"]) > 1:
            yield from wrapped(words.view_title(view), width, "bold")
        yield from _view(data, view, width, rule)
    yield from _below(data, width)


def _view(data: Data, view: str, width: int, rule: str) -> Iterator[Line]:
    lead = value_column(data)
    columns = [curve_column(data, curve) for curve in curves(data) if curve.view == view]
    for index, piece in enumerate(_pieces(lead, columns, width)):
        if index:
            yield ()
        yield from render(piece, gap=GAP, rule=rule)


def _pieces(lead: Column, columns: Sequence[Column], width: int) -> Iterator[list[Column]]:
    """Set as many systems side by side as fit; one that is too wide alone is broken."""
    piece = [lead]
    for _, run in groupby(columns, key=lambda column: column.group):
        system = list(run)
        if len(piece) > 1 and total_width([*piece, *system], GAP) > width:
            yield piece
            piece = [lead]
        for column in system:
            if len(piece) > 1 and total_width([*piece, column], GAP) > width:
                yield piece
                piece = [lead]
            piece.append(column)
    yield piece


def _below(data: Data, width: int) -> Iterator[Line]:
    yield ()
    yield from wrapped(words.plateau_title(data), width, "bold")
    yield from _plateaus(data, width)
    yield ()
    yield from listed("note: ", words.remarks(data), width, "")
    yield from listed("– ", words.reasons(data), width, "")
    yield from listed("warning: ", words.warnings(data), width, "yellow")
    yield ()
    yield from explained(list(words.legend(data)), width)
    yield from wrapped(words.more(data), width, "dim")


def _plateaus(data: Data, width: int) -> Iterator[Line]:
    """Set the names of the curves in columns where half a line has room for them."""
    found = words.plateaus(data)
    widths = [
        max(map(cell_len, names)) for names in zip(*(names for names, _ in found), strict=True)
    ]
    for names, sentence in found:
        padded = (n + " " * (w - cell_len(n) + GAP) for n, w in zip(names, widths, strict=True))
        if sum(widths) + GAP * len(widths) <= width // 2:
            yield from wrapped(sentence, width, "", first="".join(padded))
        else:
            yield from wrapped(f"{', '.join(names)}: {sentence}", width, "", hang=GAP)
