"""The k-NN balls of two sets and who lies in them: what all support metrics are read from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.estimate.balls import BallCounts, Counts, Radii, Side, count_tile
from calipers.estimate.blocks import Blocks
from calipers.estimate.distances import Points, Sieve, sieves
from calipers.estimate.nearest import nearest_neighbours
from calipers.estimate.tiles import BLOCK, Span, rectangle, spans, workers
from calipers.estimate.validate import check_choice, check_pair, check_whole

Ties = Literal["closed", "open"]
# Neighbours kept beyond k, at least, so that the radii without one block of rows are known too
SPARE = 8
# Where labels are so uneven that more would be needed, such a radius is the last known one
MOST_KEPT = 1024


@dataclass(frozen=True)
class Replicates:
    """Counts for the chosen k with one block of rows left out, enough to score each replicate.

    Attributes
    ----------
    held_without
        Guests in the ball of each owner once block b of the owners is deleted, ``(n, blocks)``.
    held_from
        Guests in the ball of each owner that belong to block b of theirs, ``(n, blocks)``.
    inside_without
        Owners that hold each guest once block b of the owners is deleted, ``(m, blocks)``.
    """

    held_without: Counts
    held_from: Counts
    inside_without: Counts


@dataclass(frozen=True)
class Balls:
    """The k-NN balls of one set (the owners), and which rows of the other (the guests) they hold.

    Attributes
    ----------
    radii
        Distance of every owner to its k-th nearest own neighbour, for k from 1 to k_max, shape
        ``(n, k_max)``, float64.
    held
        How many guests lie in the ball of every owner, for each k, ``(n, k_max)``, int32.
    inside
        In how many of the balls every guest lies, for each k, shape ``(m, k_max)``, int32.
    replicates
        The same with one block of rows left out, or None where no blocks were given.
    """

    radii: NDArray[np.float64]
    held: Counts
    inside: Counts
    replicates: Replicates | None


@dataclass(frozen=True)
class Neighbourhoods:
    """Who lies in whose k-NN balls, for all k up to k_max, from one pass over the distances.

    Attributes
    ----------
    reference
        The balls of the reference rows; their guests are the generated rows.
    generated
        The balls of the generated rows; their guests are the reference rows.
    ties
        ``"closed"`` counts a point on the rim of a ball as inside, ``"open"`` as outside.
    k_max
        The largest k for which the counts are known.
    reference_blocks, generated_blocks
        The block of every row, for replicates.
    """

    reference: Balls
    generated: Balls
    ties: Ties
    k_max: int
    reference_blocks: Blocks
    generated_blocks: Blocks


def neighbourhoods(
    reference: Points,
    generated: Points,
    *,
    k: int = 4,
    k_max: int | None = None,
    ties: Ties = "closed",
    blocks: tuple[Blocks, Blocks] | None = None,
    threads: int | None = None,
    block_size: int = BLOCK,
) -> Neighbourhoods:
    """Find out which samples lie in whose k-NN balls, exactly and without an n by n matrix.

    Parameters
    ----------
    reference, generated
        Rows to compare, shapes ``(n, d)`` and ``(m, d)``; float32 or float64 are taken as given,
        anything else is converted once.
    k
        Neighbours that span a ball, from 1 to the smaller set less one.
    k_max
        Counts are kept for every k up to this one (default: `k`).
    ties
        Whether the rim of a ball belongs to it: ``"closed"`` (the papers) or ``"open"`` (prdc).
    blocks
        Block labels of both sets; with them, counts of delete-one-block replicates are kept.
    threads, block_size
        Where and in what pieces the work is done. Neither changes a count.

    Returns
    -------
    Neighbourhoods
        Every count equals that of a float64 brute force over all pairs.

    Raises
    ------
    InputError
        If the arrays do not fit together, hold NaN or infinity, or have too few rows for k.
    """
    reference, generated = check_pair(reference, generated)
    k_max = check_k(k, k_max, reference, generated)
    check_choice("ties", ties, ("closed", "open"))
    check_whole("block_size", block_size, 1)
    blocks = blocks or (Blocks.none(len(reference)), Blocks.none(len(generated)))
    _check_blocks(blocks, len(reference), len(generated))
    sides = [
        _side(sieve, k, k_max, labels, threads, block_size)
        for sieve, labels in zip(sieves(reference, generated), blocks, strict=True)
    ]
    counts = _count(sides[0], sides[1], ties == "closed", threads, block_size)
    return Neighbourhoods(
        reference=_balls(sides[0], counts[0]),
        generated=_balls(sides[1], counts[1]),
        ties=ties,
        k_max=k_max,
        reference_blocks=blocks[0],
        generated_blocks=blocks[1],
    )


def check_k(k: int, k_max: int | None, reference: Points, generated: Points) -> int:
    """Return the largest k that is asked for, or say which set is too small for it."""
    check_whole("k", k, 1)
    largest = max(k, k if k_max is None else check_whole("k_max", k_max, 1))
    for name, points in (("reference", reference), ("generated", generated)):
        if len(points) < largest + 1:
            raise InputError(
                f"k = {largest} needs at least {largest + 1} samples in each set; "
                f"the {name} set has {len(points)}"
            )
    return largest


def _check_blocks(blocks: tuple[Blocks, Blocks], n: int, m: int) -> None:
    """Refuse labels that the kernels would write beyond their arrays with."""
    if blocks[0].count != blocks[1].count:
        raise InputError(
            "both sets must have equally many blocks; "
            f"found {blocks[0].count} and {blocks[1].count}"
        )
    for name, side, rows in (("reference", blocks[0], n), ("generated", blocks[1], m)):
        labels = side.labels
        if labels.shape != (rows,):
            raise InputError(f"{name} blocks must label {rows} rows; found shape {labels.shape}")
        if side.count and not 0 <= labels.min() <= labels.max() < side.count:
            raise InputError(f"{name} block labels must lie in 0..{side.count - 1}")


def _side(
    points: Sieve, k: int, k_max: int, blocks: Blocks, threads: int | None, size: int
) -> Side:
    spare = 0
    if blocks.count:  # how many of the k nearest one block may hold, six standard deviations up
        share = k / blocks.count
        spare = max(SPARE, math.ceil(share + 6 * math.sqrt(share)))
    while True:
        kept = min(k_max + spare, len(points.rows) - 1)
        nearest = nearest_neighbours(points, k=kept, threads=threads, block=size)
        radii = Radii.of(nearest, k=k, k_max=k_max, blocks=blocks)
        if radii.short == 0 or kept == len(points.rows) - 1 or kept > MOST_KEPT:
            return Side(points, radii, blocks)
        spare = 2 * spare + k  # one block holds most neighbours of some row: keep more


def _count(
    reference: Side, generated: Side, closed: bool, threads: int | None, size: int
) -> tuple[BallCounts, BallCounts]:
    n, m = len(reference.points.rows), len(generated.points.rows)
    k_max, blocks = reference.radii.squared.shape[1], reference.blocks.count
    totals = BallCounts.zeros(n, m, k_max, blocks), BallCounts.zeros(m, n, k_max, blocks)

    def work(tile: tuple[Span, Span]) -> tuple[slice, slice, tuple[BallCounts, BallCounts]]:
        rows, columns = slice(*tile[0]), slice(*tile[1])
        return rows, columns, count_tile(reference, generated, rows, columns, closed=closed)

    tiles = rectangle(spans(n, size), spans(m, size))
    with workers(threads) as pool:
        for rows, columns, parts in pool.map(work, tiles):
            totals[0].add(parts[0], rows, columns)
            totals[1].add(parts[1], columns, rows)
    return totals


def _balls(side: Side, counts: BallCounts) -> Balls:
    replicates = Replicates(counts.held_without, counts.held_from, counts.inside_without)
    return Balls(
        np.sqrt(side.radii.squared),
        np.cumsum(counts.held, axis=1, dtype=np.int32),
        np.cumsum(counts.inside, axis=1, dtype=np.int32),
        replicates if side.blocks.count else None,
    )
