"""The nearest of every row and who lies in whose ball, gathered from tiles of distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.balls import holds
from calipers.estimate.distance_provider import Doubles
from calipers.estimate.jit import kernel
from calipers.estimate.search_again import insert
from calipers.estimate.tiles import Span


@dataclass(frozen=True)
class Nearby:
    """The k nearest others of every row so far, closest first, equal ones by index.

    Attributes
    ----------
    distance
        Shape ``(rows, k)``, infinite where fewer were seen.
    index
        Which rows they are, shape ``(rows, k)``, -1 where fewer were seen.
    beyond
        How many more lie at exactly the last distance, of the rows before `n` and of the rest,
        shape ``(rows, 2)``.
    n
        The first row of the second set.
    """

    distance: Doubles
    index: NDArray[np.int64]
    beyond: NDArray[np.int64]
    n: int

    @classmethod
    def empty(cls, rows: int, k: int, n: int) -> Nearby:
        """Nothing seen yet."""
        return cls(
            np.full((rows, k), np.inf),
            np.full((rows, k), -1, np.int64),
            np.zeros((rows, 2), np.int64),
            n,
        )

    def take(self, tile: Doubles, rows: Span, columns: Span) -> None:
        """Take in a tile, for its rows and for its columns; no row is its own neighbour."""
        if self.distance.shape[1] == 0:
            return
        known = self.distance, self.index, self.beyond, self.n
        _take(tile, rows[0], columns[0], *known)
        if rows != columns:
            _take(np.ascontiguousarray(tile.T), columns[0], rows[0], *known)

    @property
    def by_set(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How many rows of either set lie within the k-th distance, its rim included."""
        first = (self.index < self.n).sum(axis=1) + self.beyond[:, 0]
        return first, (self.index >= self.n).sum(axis=1) + self.beyond[:, 1]


@dataclass(frozen=True)
class Held:
    """Who of the other set lies in the balls of every row of the union, by the smallest such k.

    Attributes
    ----------
    radii
        Of the balls of every row, ascending, shape ``(rows, k_max)``.
    closed
        Whether the rim belongs to a ball.
    held
        Guests in the ball of every row that no smaller of its balls holds, ``(rows, k_max)``.
    inside
        The same from the side of the guests: balls that every row is in, ``(rows, k_max)``.
    """

    radii: Doubles
    closed: bool
    held: NDArray[np.int32]
    inside: NDArray[np.int32]

    @classmethod
    def empty(cls, radii: Doubles, *, closed: bool) -> Held:
        """Nobody seen yet."""
        return cls(
            np.ascontiguousarray(radii),
            closed,
            np.zeros(radii.shape, np.int32),
            np.zeros(radii.shape, np.int32),
        )

    def take(self, tile: Doubles, rows: Span, columns: Span) -> None:
        """Take in a tile of one set against the other, for its rows and for its columns."""
        if self.radii.shape[1]:
            _count(tile, rows[0], columns[0], self.radii, self.closed, self.held, self.inside)


@kernel
def _take(
    tile: Any, row0: int, column0: int, distance: Any, index: Any, beyond: Any, n: int
) -> None:
    for r in range(tile.shape[0]):
        row = row0 + r
        for c in range(tile.shape[1]):
            column = column0 + c
            last, which = distance[row, -1], index[row, -1]
            if tile[r, c] > last or row == column:
                continue
            if tile[r, c] == last and column > which >= 0:
                beyond[row, 0 if column < n else 1] += 1
                continue
            insert(distance, index, row, tile[r, c], column)
            if last > distance[row, -1]:  # who was tied with the old last one lies further now
                beyond[row] = 0
            elif which >= 0:
                beyond[row, 0 if which < n else 1] += 1


@kernel
def _count(
    tile: Any, row0: int, column0: int, radii: Any, closed: bool, held: Any, inside: Any
) -> None:
    for r in range(tile.shape[0]):
        row = row0 + r
        for c in range(tile.shape[1]):
            column, found = column0 + c, tile[r, c]
            _enter(row, column, found, radii, closed, held, inside)
            _enter(column, row, found, radii, closed, held, inside)


@kernel
def _enter(
    owner: int, guest: int, found: float, radii: Any, closed: bool, held: Any, inside: Any
) -> None:
    """Count a guest in the smallest ball of the owner that holds it."""
    for k in range(radii.shape[1] - 1, -2, -1):
        if k < 0 or not holds(radii[owner, k], found, closed):
            break
    if k + 1 < radii.shape[1]:
        held[owner, k + 1] += 1
        inside[guest, k + 1] += 1
