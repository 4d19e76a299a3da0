"""Sentences ──► lines of a given width, as all tables print them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len

from calipers.report.grid import Line

FIXED = "\N{NO-BREAK SPACE}"
SECOND = "\ufffe"
"""No character: it stands for the second cell of a wide one while lines are filled."""


def wrapped(text: str, width: int, style: str, *, first: str = "", hang: int = 0) -> Iterator[Line]:
    """Break a text into lines that hang below its first words; a number keeps its % sign."""
    lines = textwrap.wrap(
        _padded(text.replace(" %", f"{FIXED}%")),
        width,
        initial_indent=first,
        subsequent_indent=" " * (hang or cell_len(first)),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return (((line.replace(FIXED, " ").replace(SECOND, ""), style),) for line in lines)


def _padded(text: str) -> str:
    """Let every character count as many as the cells that it takes."""
    if text.isascii():
        return text
    return "".join(c + SECOND * (cell_len(c) - 1) for c in text)


def listed(mark: str, texts: Iterable[str], width: int, style: str) -> list[Line]:
    """Break texts into lines, with a mark before each text."""
    return [line for text in texts for line in wrapped(text, width, style, first=mark)]


def explained(pairs: Sequence[tuple[str, str]], width: int) -> Iterator[Line]:
    """Set names on the left and what they mean on the right."""
    margin = max((cell_len(name) for name, _ in pairs), default=0)
    for name, meaning in pairs:
        first = name + " " * (margin - cell_len(name) + 2)
        yield from wrapped(meaning, width, "dim", first=first)
