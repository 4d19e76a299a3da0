"""Tiles of the matrix of all pairs: a block of rows of one set against one of another.

What a tile gives is a pure function of its rows, and merging two results does not depend on their
order, so an engine that runs elsewhere only has to map the same function over the same tiles.
"""

from __future__ import annotations

import numpy as np

from calipers.numeric.panels import PANEL
from calipers.numeric.threads import available_threads

BLOCK = 1024
LARGEST = 3072

Span = tuple[int, int]


def spans(n: int, size: int = BLOCK) -> list[Span]:
    """Divide ``range(n)`` into consecutive spans of at most `size` rows."""
    return [(start, min(start + size, n)) for start in range(0, n, size)]


def block_of(n: int, m: int, threads: int | None = None) -> int:
    """Return the rows of a tile that gives every thread about 24 tiles of n x m pairs.

    Small tiles cost time between them, large ones leave threads idle at the end.
    """
    return int(np.clip(np.sqrt(n * m / (24 * available_threads(threads))), BLOCK, LARGEST))


def panel_spans(n: int, size: int = BLOCK) -> list[Span]:
    """Divide ``range(n)`` into spans of about `size` rows that start at whole panels."""
    return spans(n, max(1, round(size / PANEL)) * PANEL)


def rectangle(rows: list[Span], columns: list[Span]) -> list[tuple[Span, Span]]:
    """Return all tiles of a matrix of one set against another."""
    return [(row, column) for row in rows for column in columns]


def triangle(rows: list[Span]) -> list[tuple[Span, Span]]:
    """Return the tiles on and above the diagonal of a set against itself, diagonal ones first.

    The diagonal comes first because it gives every row a finite radius early, which lets the
    sieve drop most of the pairs of the later tiles.
    """
    count = len(rows)
    return [(rows[i], rows[i + offset]) for offset in range(count) for i in range(count - offset)]
