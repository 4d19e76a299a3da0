"""Distances from elsewhere: what the neighbour estimates take in place of vectors.

Whoever can tell the distances of two sets of things, strings under a kernel for one, gives them as
tiles: a block of rows of the union of both sets against another block. No estimate asks for more
than a few tiles at a time, and each pair of different rows is asked for once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.estimate.tiles import Span, available_threads, rectangle, spans, triangle, workers

Doubles = NDArray[np.float64]
Tile = tuple[Span, Span]

SMALLEST, LARGEST = 32, 512  # rows of a tile


class DistanceProvider(Protocol):
    """Anything that tells the distances of all rows of two sets.

    Rows are numbered through both sets: 0 to n - 1 are the reference, n to n + m - 1 the generated
    rows. The distance of a pair must not depend on the tile that asks for it, nor on which of the
    two comes first, down to the last bit: ties are told by equality.
    """

    @property
    def name(self) -> str:
        """What the distance is called in signatures; pins all that changes one."""
        ...

    @property
    def sizes(self) -> tuple[int, int]:
        """The number of reference and of generated rows, n and m."""
        ...

    def tile(self, rows: Span, columns: Span) -> Doubles:
        """Distances of consecutive rows to consecutive others, finite and at least 0.

        Parameters
        ----------
        rows, columns
            First and last + 1 of the rows of the union. Called from several threads at a time.

        Returns
        -------
        array
            Shape ``(rows, columns)``, float64.
        """
        ...


Take = Callable[[Doubles, Span, Span], None]


def within(
    provider: DistanceProvider, span: Span, take: Take, *, threads: int | None = None
) -> None:
    """Show the tiles of some rows against themselves, each pair once, in a fixed order."""
    rows = _cut(span, span, threads)[0]
    for tile, (left, right) in _tiles(provider, triangle(rows), threads):
        take(tile, left, right)


def across(provider: DistanceProvider, take: Take, *, threads: int | None = None) -> None:
    """Show the tiles of the reference against the generated rows, in a fixed order."""
    n, m = provider.sizes
    rows, columns = _cut((0, n), (n, n + m), threads)
    for tile, (left, right) in _tiles(provider, rectangle(rows, columns), threads):
        take(tile, left, right)


def _cut(left: Span, right: Span, threads: int | None) -> tuple[list[Span], list[Span]]:
    """Cut two spans so that every thread has some tiles to work on."""
    sizes = [last - first for first, last in (left, right)]
    wanted = np.sqrt(sizes[0] * sizes[1] / (24 * available_threads(threads)))
    size = int(np.clip(wanted, SMALLEST, LARGEST))
    rows, columns = (
        [(first + start, first + stop) for start, stop in spans(last - first, size)]
        for first, last in (left, right)
    )
    return rows, columns


def _tiles(
    provider: DistanceProvider, tiles: list[Tile], threads: int | None
) -> Iterator[tuple[Doubles, Tile]]:
    def work(tile: Tile) -> tuple[Doubles, Tile]:
        return _checked(provider.tile(*tile), *tile), tile

    with workers(threads) as pool:
        yield from pool.map(work, tiles)


def _checked(tile: Doubles, rows: Span, columns: Span) -> Doubles:
    tile = np.ascontiguousarray(tile, dtype=np.float64)
    shape = (rows[1] - rows[0], columns[1] - columns[0])
    if tile.shape != shape:
        raise InputError(
            f"a tile of distances of rows {rows} and {columns} must have shape {shape}; "
            f"found {tile.shape}"
        )
    if not (tile.min() >= 0 and tile.max() < np.inf):
        row, column = np.argwhere(~((tile >= 0) & (tile < np.inf)))[0]
        raise InputError(
            f"distances must be finite and at least 0; that of rows {rows[0] + row} and "
            f"{columns[0] + column} (counted from 0 through both sets) is {tile[row, column]:g}"
        )
    return tile
