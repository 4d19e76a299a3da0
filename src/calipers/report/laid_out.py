"""Lines that lay themselves out for a width: for rich on a terminal, or as plain text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from calipers.report.grid import Line

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult


class LaidOut:
    """Results for rich: they lay themselves out for the width that they are given."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data

    def lines(self, width: int) -> Iterator[Line]:
        """Yield the lines for a width."""
        raise NotImplementedError

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the lines one by one."""
        from rich.text import Text

        for line in self.lines(options.max_width):
            yield Text.assemble(*line, overflow="fold", no_wrap=False, end="\n")


def as_text(lines: Iterable[Line]) -> str:
    """Write lines as plain text, without weight and shade."""
    return "\n".join("".join(text for text, _ in line).rstrip() for line in lines)
