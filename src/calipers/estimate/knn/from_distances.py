"""Neighbour estimates from distances alone, for objects that are not vectors.

Whatever can tell the distances of two sets, such as strings under a kernel, gives them in tiles: a
block of rows of the union of both sets against another block. Two passes, each set within itself
and then one against the other, look at every pair of different rows once; memory grows with n + m.
Both estimates can be read from one pair of passes, which matters where a distance is dear. They are
the objects that :func:`~calipers.estimate.neighbourhoods` and
:func:`~calipers.estimate.knn_ratios` give for vectors, by the same rules for ties.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from calipers.catalogue.settings import Distance, Ties
from calipers.errors import InputError
from calipers.estimate.balanced_neighbours import PAPER_K
from calipers.estimate.knn.kernels import count_members, take_neighbours
from calipers.estimate.knn.neighbourhoods import NO_SUPPORTS, Balls, Neighbourhoods
from calipers.estimate.knn.ratios import count_itself, ratios_of_counts
from calipers.estimate.likelihood_ratios import LikelihoodRatios
from calipers.numeric.arrays import Floats
from calipers.numeric.blocks import Blocks
from calipers.numeric.threads import available_threads, workers
from calipers.numeric.tiles import Span, rectangle, spans, triangle
from calipers.numeric.validation import check_choice, check_whole

Tile = tuple[Span, Span]

SMALLEST, LARGEST = 32, 512  # rows of a tile


class DistanceProvider(Protocol):
    """Protocol for the distances between all rows of two sets.

    Rows are numbered through both sets: 0 to n - 1 are the reference, n to n + m - 1 the generated
    rows. The distance of a pair must not depend on the tile that asks for it, nor on which of the
    two comes first, down to the last bit: distances tie where they are equal.
    """

    @property
    def name(self) -> str:
        """Name of the distance in signatures, with everything that changes a distance."""
        ...

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of reference and generated rows, n and m."""
        ...

    def tile(self, rows: Span, columns: Span) -> Floats:
        """Return distances of consecutive rows to consecutive others, finite and at least 0.

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


Take = Callable[[Floats, Span, Span], None]


def within(
    provider: DistanceProvider, span: Span, take: Take, *, threads: int | None = None
) -> None:
    """Process the tiles of some rows against themselves, each pair once, in a fixed order."""
    rows = _cut(span, span, threads)[0]
    for tile, (left, right) in _tiles(provider, triangle(rows), threads):
        take(tile, left, right)


def across(provider: DistanceProvider, take: Take, *, threads: int | None = None) -> None:
    """Process the tiles of the reference against the generated rows, in a fixed order."""
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
) -> Iterator[tuple[Floats, Tile]]:
    def work(tile: Tile) -> tuple[Floats, Tile]:
        return _checked(provider.tile(*tile), *tile), tile

    with workers(threads) as pool:
        yield from pool.map(work, tiles)


def _checked(tile: Floats, rows: Span, columns: Span) -> Floats:
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


@dataclass(frozen=True)
class NearestSoFar:
    """The k nearest others of every row seen so far, closest first, ties by index.

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

    distance: Floats
    index: NDArray[np.int64]
    beyond: NDArray[np.int64]
    n: int

    @classmethod
    def empty(cls, rows: int, k: int, n: int) -> NearestSoFar:
        """Return an empty state."""
        return cls(
            np.full((rows, k), np.inf),
            np.full((rows, k), -1, np.int64),
            np.zeros((rows, 2), np.int64),
            n,
        )

    def take(self, tile: Floats, rows: Span, columns: Span) -> None:
        """Merge a tile, for its rows and columns; no row is its own neighbour."""
        if self.distance.shape[1] == 0:
            return
        known = self.distance, self.index, self.beyond, self.n
        take_neighbours(tile, rows[0], columns[0], *known)
        if rows != columns:
            take_neighbours(np.ascontiguousarray(tile.T), columns[0], rows[0], *known)

    @property
    def by_set(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Numbers of rows of either set within the k-th distance, inclusive."""
        first = (self.index < self.n).sum(axis=1) + self.beyond[:, 0]
        return first, (self.index >= self.n).sum(axis=1) + self.beyond[:, 1]


@dataclass(frozen=True)
class Members:
    """The other set's rows in the balls of every row of the union, by the smallest such k.

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

    radii: Floats
    closed: bool
    held: NDArray[np.int32]
    inside: NDArray[np.int32]

    @classmethod
    def empty(cls, radii: Floats, *, closed: bool) -> Members:
        """Return an empty state."""
        return cls(
            np.ascontiguousarray(radii),
            closed,
            np.zeros(radii.shape, np.int32),
            np.zeros(radii.shape, np.int32),
        )

    def take(self, tile: Floats, rows: Span, columns: Span) -> None:
        """Merge a tile of one set against the other, for its rows and columns."""
        if self.radii.shape[1]:
            count_members(
                tile, rows[0], columns[0], self.radii, self.closed, self.held, self.inside
            )


def neighbourhoods_from(
    provider: DistanceProvider,
    *,
    k: int = 4,
    k_max: int | None = None,
    ties: Ties = "closed",
    threads: int | None = None,
) -> Neighbourhoods:
    """Count which samples lie in which k-NN balls from distances alone, tile by tile.

    Parameters
    ----------
    provider
        Tells the distances of two sets.
    k
        The k of the k-NN balls, from 1 to the smaller set minus one.
    k_max
        Counts are kept for every k up to this one (default: `k`).
    ties
        Whether the boundary of a ball is inside: ``"closed"`` (the papers) or ``"open"`` (prdc).
    threads
        Number of threads (default: all cores); no effect on the result.

    Returns
    -------
    Neighbourhoods
        Every count equals that of a brute force over the provider's distances. There are no
        replicates and no further supports.

    Raises
    ------
    InputError
        If a set is too small for k, or a tile is not as the provider should give it.

    Examples
    --------
    >>> import numpy as np
    >>> class Lines:
    ...     name, sizes = "absolute difference", (4, 4)
    ...     values = np.array([0.0, 1.0, 2.0, 3.0, 0.5, 1.5, 9.0, 10.0])
    ...     def tile(self, rows, columns):
    ...         return abs(self.values[slice(*rows), None] - self.values[slice(*columns)])
    >>> neighbourhoods_from(Lines(), k=1).reference.inside[:, 0].tolist()
    [2, 2, 0, 0]
    """
    largest = max(check_whole("k", k, 1), k if k_max is None else check_whole("k_max", k_max, 1))
    return pass_over(provider, k_max=largest, ties=ties, threads=threads).neighbourhoods


def knn_ratios_from(
    provider: DistanceProvider, *, k: int = PAPER_K, threads: int | None = None
) -> LikelihoodRatios:
    """Estimate p/q at every sample from its nearest neighbours, by distances alone.

    Parameters
    ----------
    provider
        Tells the distances of two sets.
    k
        How many neighbours in the union, from 1 to n + m - 1; all at the distance of the k-th
        count.
    threads
        Number of threads (default: all cores); no effect on the result.

    Returns
    -------
    LikelihoodRatios
        As :func:`~calipers.estimate.knn_ratios` gives them for vectors.

    Raises
    ------
    InputError
        If both sets together are too small for k, or a tile is not as it should be.

    Examples
    --------
    >>> import numpy as np
    >>> class Lines:
    ...     name, sizes = "absolute difference", (4, 4)
    ...     values = np.array([0.0, 1.0, 2.0, 3.0, 0.5, 1.5, 9.0, 10.0])
    ...     def tile(self, rows, columns):
    ...         return abs(self.values[slice(*rows), None] - self.values[slice(*columns)])
    >>> knn_ratios_from(Lines(), k=2).at_generated.round(3).tolist()
    [2.0, 2.0, 0.5, 0.5]
    """
    return pass_over(provider, k_union=check_whole("k", k, 1), threads=threads).ratios


@dataclass(frozen=True)
class DistancePasses:
    """The results of two passes over the distances of two sets.

    Attributes
    ----------
    name
        Of the distance.
    own, other, union
        The nearest of every row in its own set, in the other one, in both.
    members
        Who lies in whose balls.
    """

    name: str
    own: NearestSoFar
    other: NearestSoFar
    union: NearestSoFar
    members: Members

    @property
    def neighbourhoods(self) -> Neighbourhoods:
        """The k-NN balls of both sets, for all k up to k_max."""
        n = self.own.n
        m = len(self.own.distance) - n
        return Neighbourhoods(
            reference=self._balls(slice(0, n), slice(n, n + m)),
            generated=self._balls(slice(n, n + m), slice(0, n)),
            ties="closed" if self.members.closed else "open",
            distance=cast(Distance, self.name),
            supports=NO_SUPPORTS,
            k_max=self.members.radii.shape[1],
            reference_blocks=Blocks.none(n),
            generated_blocks=Blocks.none(m),
        )

    @property
    def ratios(self) -> LikelihoodRatios:
        """p/q at every row."""
        n, k = self.union.n, self.union.distance.shape[1]
        reference, generated = count_itself(*self.union.by_set, n)
        return ratios_of_counts(reference, generated, n, k=k, distance=self.name)

    def _balls(self, owners: slice, guests: slice) -> Balls:
        return Balls(
            radii=self.members.radii[owners],
            held=np.cumsum(self.members.held[owners], axis=1, dtype=np.int32),
            inside=np.cumsum(self.members.inside[guests], axis=1, dtype=np.int32),
            own_nearest=self.own.index[owners, 0] - owners.start,
            nearest=self.other.index[guests, 0] - owners.start,
            distance=np.ascontiguousarray(self.other.distance[guests, 0]),
        )


def pass_over(
    provider: DistanceProvider,
    *,
    k_max: int = 0,
    k_union: int = 0,
    ties: Ties = "closed",
    threads: int | None = None,
) -> DistancePasses:
    """Make the two passes behind both estimates; 0 leaves one of them out.

    Parameters
    ----------
    provider
        Tells the distances of two sets.
    k_max
        Largest k of the balls.
    k_union
        Neighbours in the union, for the ratios.
    ties
        Whether the boundary of a ball belongs to it; the k-th neighbour in the union always counts.
    threads
        Number of threads (default: all cores); no effect on the result.
    """
    n, m = provider.sizes
    check_choice("ties", ties, ("closed", "open"))
    _check_sizes(n, m, k_max, k_union)
    check_whole("threads", 1 if threads is None else threads, 1)
    nearest, other, union = (
        NearestSoFar.empty(n + m, k, n) for k in (k_max, min(k_max, 1), k_union)
    )

    def take_own(tile: Floats, rows: Span, columns: Span) -> None:
        nearest.take(tile, rows, columns)
        union.take(tile, rows, columns)

    def take_other(tile: Floats, rows: Span, columns: Span) -> None:
        members.take(tile, rows, columns)
        other.take(tile, rows, columns)
        union.take(tile, rows, columns)

    for span in ((0, n), (n, n + m)):
        within(provider, span, take_own, threads=threads)
    members = Members.empty(nearest.distance, closed=ties == "closed")
    across(provider, take_other, threads=threads)
    return DistancePasses(provider.name, nearest, other, union, members)


def _check_sizes(n: int, m: int, k_max: int, k_union: int) -> None:
    for name, rows in (("reference", n), ("generated", m)):
        if rows < k_max + 1:
            raise InputError(
                f"k = {k_max} needs at least {k_max + 1} samples in each set; "
                f"the {name} set has {rows}"
            )
    if k_union > n + m - 1:
        raise InputError(
            f"k must be at most {n + m - 1}, the number of other samples in both sets; "
            f"found {k_union}"
        )
