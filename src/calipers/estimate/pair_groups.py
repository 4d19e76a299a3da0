"""Sums over pairs of rows by group of rows: what deleted blocks and swapped labels are read from.

With the sum over the pairs of every two groups at hand, the sum over any union of groups costs no
second look at the rows. Groups are what the caller makes of them: the blocks that replicates leave
out, or the rows that a permutation moves together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.blocks import Blocks
from calipers.estimate.pair_kernels import Tiles, exact_tiles
from calipers.estimate.pair_tiles import Floats, Measure, PairSums, Rows
from calipers.estimate.tiles import Span, Workers, spans, triangle, workers

TILE = 384  # a float32 tile fits the cache of a core

Labels = NDArray[np.int64]


def group_sums(
    tiles: Tiles, labels: Labels, count: int, pool: Workers, *, size: int = TILE
) -> Floats:
    """Sum a symmetric measure over the ordered pairs of different rows of every two groups.

    Parameters
    ----------
    tiles
        From two spans of rows to the values of their pairs.
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

    def work(tile: tuple[Span, Span]) -> tuple[Labels, Labels, Floats]:
        values = tiles(*tile)
        if tile[0] == tile[1]:
            np.fill_diagonal(values, 0.0)
        (rows, row_starts), (columns, column_starts) = (_runs(labels[slice(*s)]) for s in tile)
        with np.errstate(over="ignore", invalid="ignore"):  # found in the sum
            part = _sum_runs(values, row_starts)
            return rows, columns, np.add.reduceat(part, column_starts, axis=1, dtype=np.float64)

    total = np.zeros((count, count))
    for tile in pool.map(_with_mirror(work), triangle(spans(len(labels), size))):
        for rows, columns, part in tile:
            total[np.ix_(rows, columns)] += part
    return total


Part = tuple[Labels, Labels, Floats]


def _with_mirror(work: Callable[[tuple[Span, Span]], Part]) -> Callable[..., list[Part]]:
    """A tile beside the diagonal stands for its mirror image too."""

    def both(tile: tuple[Span, Span]) -> list[Part]:
        rows, columns, part = work(tile)
        mirror = [] if tile[0] == tile[1] else [(columns, rows, part.T)]
        return [(rows, columns, part), *mirror]

    return both


def _sum_runs(values: NDArray[Any], starts: Labels) -> NDArray[Any]:
    """Sum runs of rows; those of one length at once, many times faster."""
    length = len(values) // len(starts)
    if np.array_equal(starts, np.arange(0, len(values), length)) and len(values) % length == 0:
        runs: NDArray[Any] = values.reshape(len(starts), length, -1).sum(axis=1)
        return runs
    summed: NDArray[Any] = np.add.reduceat(values, starts, axis=0)
    return summed


def _runs(labels: Labels) -> tuple[Labels, Labels]:
    """The groups among consecutive rows, and where each begins."""
    starts = np.flatnonzero(np.r_[True, labels[1:] != labels[:-1]])
    return labels[starts], starts


@dataclass(frozen=True, eq=False)
class Replicates:
    """A number of two sets, and what it would be without each block of rows.

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
    def undefined(cls, blocks: tuple[Blocks, Blocks]) -> Replicates:
        """NaN throughout."""
        one, other = (np.full(side.count, np.nan) for side in blocks)
        return cls(np.nan, one, other)


def replicates(
    rows: tuple[Rows, Rows],
    measure: Measure,
    blocks: tuple[Blocks, Blocks],
    summary: Callable[[PairSums], float],
    *,
    threads: int | None = None,
) -> Replicates:
    """Sum a symmetric measure over all pairs once, and read a number off without every block.

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
    for side, own in zip(rows, blocks, strict=True):
        if len(side.squares) != len(own.labels):
            raise ValueError(f"{len(side.squares)} rows, but labels for {len(own.labels)}")
    cut, other = (max(1, side.count) for side in blocks)  # one for all where there are no blocks
    labels = np.concatenate([blocks[0].labels, blocks[1].labels + cut])
    order = np.argsort(labels, kind="stable")
    tiles = exact_tiles(Rows.joined(*rows).take(order), measure)
    with workers(threads) as pool:
        sums = group_sums(tiles, labels[order], cut + other, pool)
    sizes = np.bincount(labels, minlength=cut + other)

    def value(gone: int | None) -> float:
        return _defined(summary, _left(sums, sizes, cut, gone))

    return Replicates(
        value(None),
        np.array([value(block) for block in range(blocks[0].count)]),
        np.array([value(cut + block) for block in range(blocks[1].count)]),
    )


def _left(sums: Floats, sizes: Labels, cut: int, gone: int | None) -> PairSums:
    """What is left of the sums without a group; groups before the cut are of the reference."""
    groups = np.arange(len(sums))
    kept = groups != gone
    one, other = kept & (groups < cut), kept & (groups >= cut)
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
