"""Sums of kernels and distances over all pairs of rows, tile by tile.

What is summed is a measure of :mod:`calipers.estimate.measures`. Sums are kept by group of rows:
with the sum over the pairs of every two groups at hand, the sum over any union of groups costs no
second look at the rows. Groups are what the caller makes of them: the blocks that replicates leave
out, or the rows that a permutation moves together. Memory grows with n + m, not with n·m.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.measures import (
    CentredRows,
    ExactTiles,
    Measure,
    Tiles,
    squared_distances,
)
from calipers.estimate.products import products_for
from calipers.numeric.arrays import Floats, Longs
from calipers.numeric.blocks import Blocks
from calipers.numeric.row_sets import RowSets
from calipers.numeric.threads import Workers, workers
from calipers.numeric.tiles import Span, rectangle, spans, triangle


@dataclass(frozen=True)
class PairSums:
    """Sums of a symmetric measure over pairs of different rows within the sets, and across them.

    Attributes
    ----------
    reference, generated
        Sum over all ordered pairs of two different rows of the set.
    across
        Sum over all pairs of a reference and a generated row.
    n, m
        Rows of the reference and of the generated set.
    """

    reference: float
    generated: float
    across: float
    n: int
    m: int

    def unbiased(self) -> float:
        """E[k(x, x')] + E[k(y, y')] − 2E[k(x, y)], the U-statistic over different rows."""
        within = self.reference / (self.n * (self.n - 1)) + self.generated / (self.m * (self.m - 1))
        return within - 2 * self.across / (self.n * self.m)


def pair_sums(
    reference: CentredRows, generated: CentredRows, measure: Measure, *, threads: int | None = None
) -> PairSums:
    """Sum a symmetric measure over all pairs, with the same bits for any number of threads.

    Parameters
    ----------
    reference, generated
        Both sets, centred where the measure allows it.
    measure
        From two blocks of rows to the values of their pairs, shape ``(rows, rows)``. Where they,
        or their sum, overflow, the sum is NaN.
    threads
        Number of threads (default: all cores).
    """
    n, m = len(reference.squares), len(generated.squares)
    elsewhere = products_for((n + m) ** 2 / 2 * len(reference.centre), measure)
    if elsewhere is not None:
        one, other = (elsewhere.total(rows, None, measure) for rows in (reference, generated))
        return PairSums(one, other, elsewhere.total(reference, generated, measure), n, m)
    sides = spans(n), spans(m)
    with workers(threads) as pool:
        one, other = (
            _total(rows, rows, triangle(cut), measure, pool, symmetric=True)
            for rows, cut in zip((reference, generated), sides, strict=True)
        )
        across = _total(reference, generated, rectangle(*sides), measure, pool)
    return PairSums(one, other, across, n, m)


def _total(
    left: CentredRows,
    right: CentredRows,
    tiles: list[tuple[Span, Span]],
    measure: Measure,
    pool: Workers,
    *,
    symmetric: bool = False,
) -> float:
    def work(tile: tuple[Span, Span]) -> float:
        values = measure(left.span(tile[0]), right.span(tile[1]))
        if symmetric and tile[0] == tile[1]:
            np.fill_diagonal(values, 0.0)
        twice = symmetric and tile[0] != tile[1]
        with np.errstate(over="ignore", invalid="ignore"):  # reported as NaN
            return float(values.sum()) * (2 if twice else 1)

    return sum_of_tiles(list(pool.map(work, tiles)))


def sum_of_tiles(totals: Sequence[float]) -> float:
    """Return the sum, rounded once; NaN where it, or one of its parts, overflows."""
    if not all(map(math.isfinite, totals)):
        return math.nan
    try:
        return math.fsum(totals)
    except OverflowError:
        return math.nan


STRIP = 250  # rows of a strip of distances for the median


def median_distance(
    rows: tuple[CentredRows, CentredRows], pool: Workers, *, seed: int, most: int
) -> float:
    """Return the median distance between different rows of the union of both sets.

    Of more than `most` rows, a seeded sample of so many counts.
    """
    n = sum(len(side.squares) for side in rows)
    if n < 2:
        return 0.0
    drawn = np.arange(n)
    if n > most:
        drawn = np.sort(np.random.default_rng(seed).choice(n, most, replace=False))
    given = RowSets(tuple(side.given for side in rows)).take(drawn)
    points = given.astype(np.float64) - rows[0].centre
    return _middle(_distinct_pairs(CentredRows.of(points), pool))


def _distinct_pairs(rows: CentredRows, pool: Workers) -> Floats:
    """Squared distances of all unordered pairs of different rows."""
    n = len(rows.squares)

    def work(span: Span) -> Floats:
        squares = squared_distances(rows.span(span), rows.span((span[0], n)))
        return np.concatenate([row[i + 1 :] for i, row in enumerate(squares)])

    return np.concatenate(list(pool.map(work, spans(n, STRIP))))


def _middle(squares: Floats) -> float:
    """The median of the roots; of two in the middle their mean, and not the root of the mean."""
    middle = [(len(squares) - 1) // 2, len(squares) // 2]
    return float(np.mean(np.sqrt(np.partition(squares, middle)[middle])))


TILE = 384  # a float32 tile fits the cache of a core


def group_sums(
    tiles: Tiles, labels: Longs, count: int, pool: Workers, *, size: int = TILE
) -> Floats:
    """Sum a symmetric measure over the ordered pairs of different rows of every two groups.

    Parameters
    ----------
    tiles
        Values of the pairs of any two spans of the rows.
    labels
        The group of every row, ascending, shape ``(n,)``, from 0 to ``count - 1``.
    count
        Number of groups G; some may be empty.
    pool
        Threads that share the tiles; their number changes no bit.
    size
        Rows of a tile.

    Returns
    -------
    ndarray
        Shape ``(G, G)``, symmetric, float64.
    """
    sums: Floats = power_sums(tiles, labels, count, pool, (1,), size=size)[0]
    return sums


def power_sums(
    tiles: Tiles,
    labels: Longs,
    count: int,
    pool: Workers,
    powers: Sequence[int],
    *,
    size: int = TILE,
) -> Floats:
    """Sum powers of a symmetric measure as :func:`group_sums` does, in one pass over the pairs.

    The ninth power of a Gaussian kernel, for one, is that of a third of its width, and takes no
    further exponential.

    Parameters
    ----------
    tiles, labels, count, pool, size
        As for :func:`group_sums`.
    powers
        Exponents, from 1.

    Returns
    -------
    ndarray
        Shape ``(powers, G, G)``, symmetric in the groups, float64.
    """
    n, d = tiles.rows.given.shape
    elsewhere = products_for(n * n / 2 * d, tiles.measure)
    if elsewhere is not None:
        return elsewhere.power_sums(tiles.rows, tiles.measure, labels, count, powers)

    def work(tile: tuple[Span, Span]) -> tuple[Longs, Longs, list[Floats]]:
        values = tiles(*tile)
        if tile[0] == tile[1]:
            np.fill_diagonal(values, 0.0)
        (rows, row_starts), (columns, column_starts) = (_runs(labels[slice(*s)]) for s in tile)
        parts = []
        for power in powers:
            with np.errstate(over="ignore", invalid="ignore"):  # found in the sum
                part = _sum_runs(power_of(values, power), row_starts)
                parts.append(_sum_columns(part, column_starts))
        return rows, columns, parts

    total = np.zeros((len(powers), count, count))
    for tile in pool.map(_with_mirror(work), triangle(spans(len(labels), size))):
        for rows, columns, parts in tile:
            for sums, part in zip(total, parts, strict=True):
                _add(sums, rows, columns, part)
    return total


def power_of(values: NDArray[Any], power: int) -> NDArray[Any]:
    """Give the values to a whole power from 1, by squares, which is many times faster than pow.

    Examples
    --------
    >>> power_of(np.array([2.0, 3.0]), 9).tolist()
    [512.0, 19683.0]
    """
    if power == 1:
        return values
    raised = values * values
    for place, digit in enumerate(f"{power:b}"[1:]):
        if place:
            raised *= raised
        if digit == "1":
            raised *= values
    found: NDArray[Any] = raised
    return found


def _add(sums: Floats, rows: Longs, columns: Longs, part: Floats) -> None:
    """Add to the sums of some groups; of consecutive ones without a copy."""
    if rows[-1] - rows[0] < len(rows) and columns[-1] - columns[0] < len(columns):
        sums[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] += part
    else:
        sums[np.ix_(rows, columns)] += part


Part = tuple[Longs, Longs, list[Floats]]


def _with_mirror(work: Callable[[tuple[Span, Span]], Part]) -> Callable[..., list[Part]]:
    """A tile beside the diagonal stands for its mirror image too."""

    def both(tile: tuple[Span, Span]) -> list[Part]:
        rows, columns, parts = work(tile)
        mirror = [] if tile[0] == tile[1] else [(columns, rows, [part.T for part in parts])]
        return [(rows, columns, parts), *mirror]

    return both


def _sum_runs(values: NDArray[Any], starts: Longs) -> NDArray[Any]:
    """Sum runs of rows; those of one length at once, many times faster."""
    if len(starts) == len(values):
        return values
    length = len(values) // len(starts)
    if np.array_equal(starts, np.arange(0, len(values), length)) and len(values) % length == 0:
        runs: NDArray[Any] = values.reshape(len(starts), length, -1).sum(axis=1)
        return runs
    summed: NDArray[Any] = np.add.reduceat(values, starts, axis=0)
    return summed


def _sum_columns(values: NDArray[Any], starts: Longs) -> Floats:
    """Sum runs of columns in float64."""
    if len(starts) == values.shape[1]:
        wide: Floats = values.astype(np.float64, copy=False)
        return wide
    summed: Floats = np.add.reduceat(values, starts, axis=1, dtype=np.float64)
    return summed


def _runs(labels: Longs) -> tuple[Longs, Longs]:
    """The groups among consecutive rows, and where each begins."""
    starts = np.flatnonzero(np.r_[True, labels[1:] != labels[:-1]])
    return labels[starts], starts


@dataclass(frozen=True, eq=False)
class PairwiseReplicates:
    """A statistic of two sets, and its value without each block of rows.

    Attributes
    ----------
    value
        Of all rows.
    without_reference, without_generated
        For every block of the set, of the rows that are left without it, shape ``(blocks,)``; NaN
        where too few are left.
    """

    value: float
    without_reference: Floats
    without_generated: Floats

    @classmethod
    def undefined(cls, blocks: tuple[Blocks, Blocks]) -> PairwiseReplicates:
        """Return NaN for all values."""
        one, other = (np.full(side.count, np.nan) for side in blocks)
        return cls(np.nan, one, other)


def replicates(
    rows: tuple[CentredRows, CentredRows],
    measure: Measure,
    blocks: tuple[Blocks, Blocks],
    summary: Callable[[PairSums], float],
    *,
    threads: int | None = None,
) -> PairwiseReplicates:
    """Sum a symmetric measure over all pairs once, and evaluate a statistic without each block.

    Parameters
    ----------
    rows
        Both sets.
    measure
        From two blocks of rows to the values of their pairs.
    blocks
        The blocks of the reference and of the generated rows; a set without blocks has no
        replicates.
    summary
        From sums over pairs to the number.
    threads
        Number of threads (default: all cores); changes no bit.

    Raises
    ------
    ValueError
        If there is not one label for every row.
    """
    for side, side_blocks in zip(rows, blocks, strict=True):
        if len(side.squares) != len(side_blocks.labels):
            raise ValueError(f"{len(side.squares)} rows, but labels for {len(side_blocks.labels)}")
    cut, other = (max(1, side.count) for side in blocks)  # one for all where there are no blocks
    labels = np.concatenate([blocks[0].labels, blocks[1].labels + cut])
    order = np.argsort(labels, kind="stable")
    tiles = ExactTiles(CentredRows.joined(rows, order), measure)
    with workers(threads) as pool:
        sums = group_sums(tiles, labels[order], cut + other, pool)
    sizes = np.bincount(labels, minlength=cut + other)

    def value(gone: int | None) -> float:
        return _defined(summary, _left(sums, sizes, cut, gone))

    return PairwiseReplicates(
        value(None),
        np.array([value(block) for block in range(blocks[0].count)]),
        np.array([value(cut + block) for block in range(blocks[1].count)]),
    )


def _left(sums: Floats, sizes: Longs, cut: int, gone: int | None) -> PairSums:
    """What is left of the sums without a group; groups before the cut are of the reference."""
    groups = np.arange(len(sums))
    remaining = groups != gone
    one, other = remaining & (groups < cut), remaining & (groups >= cut)
    return PairSums(
        float(sums[np.ix_(one, one)].sum()),
        float(sums[np.ix_(other, other)].sum()),
        float(sums[np.ix_(one, other)].sum()),
        int(sizes[one].sum()),
        int(sizes[other].sum()),
    )


def _defined(summary: Callable[[PairSums], float], sums: PairSums) -> float:
    """NaN where too few rows are left, or where the sums overflow."""
    try:
        value = summary(sums)
    except ZeroDivisionError:
        return np.nan
    return value if np.isfinite(value) else np.nan
