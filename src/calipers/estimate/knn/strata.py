"""Strata: rows of one stratum are no neighbours of each other, and count in none of its balls.

Where both sets answer the same prompts, a generated row nearly always lies next to the reference's
answer to its own prompt, whoever wrote it. With the prompts as strata only answers to other prompts
are neighbours. Neighbours are found as ever and those of the own stratum left out; pairs of one
stratum are few, so they are counted by themselves, exactly, and taken off the counts of all pairs.
Whatever engine ran the passes, the counts are those of a brute force that skips these pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.errors import InputError
from calipers.estimate.knn.ball_counts import BallCounts
from calipers.estimate.knn.balls import BallSide
from calipers.estimate.knn.kernels import count_listed
from calipers.estimate.knn.nearest import Nearest
from calipers.estimate.knn.passes import SettledCounts
from calipers.numeric.arrays import Ints, Longs
from calipers.numeric.distances import squared_of_pairs

Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]

AT_ONCE = 2**20
"""Pairs that are listed together, give or take one row's."""

COUNTED = (
    "held",
    "inside",
    "held_without",
    "held_from",
    "inside_without",
    "held_halves",
    "inside_halves",
    "capped",
)
"""Counts of pairs; what else the passes find is left as it is for all pairs."""


@dataclass(frozen=True, eq=False)
class Strata:
    """The stratum of every row of two sets.

    Attributes
    ----------
    reference, generated
        A label for each row, shapes ``(n,)`` and ``(m,)``, int64; rows of one label, on either
        side, are of one stratum.
    """

    reference: Longs
    generated: Longs

    @classmethod
    def of(cls, labels: tuple[ArrayLike, ArrayLike], n: int, m: int) -> Strata:
        """Check the labels of both sets, and make the strata.

        Raises
        ------
        InputError
            If they do not label every row, or are no whole numbers.
        """
        made = []
        for name, side_labels, rows in zip(("reference", "generated"), labels, (n, m), strict=True):
            array = np.asarray(side_labels)
            if array.shape != (rows,) or array.dtype.kind not in "iu":
                raise InputError(
                    f"{name} strata must be whole numbers, one for each of {rows} rows; found "
                    f"shape {array.shape}, dtype {array.dtype}"
                )
            made.append(np.ascontiguousarray(array, np.int64))
        return cls(*made)

    @property
    def largest(self) -> tuple[int, int]:
        """Number of rows of the largest stratum of either set."""
        return largest_stratum(self.reference), largest_stratum(self.generated)


def of_others(nearest: Nearest, labels: Longs, k: int, owners: Longs | None = None) -> Nearest:
    """Remove rows of the same stratum from nearest rows, and keep the k closest others.

    Parameters
    ----------
    nearest
        The nearest rows of every row, so many that k others are among them.
    labels
        The stratum of each row among which they were found.
    owners
        The stratum of each row whose neighbours they are; None where that is the same set.
    """
    owner_labels = labels if owners is None else owners
    mates = (labels[nearest.index] == owner_labels[:, None]) & (nearest.index >= 0)
    places = np.argsort(mates, axis=1, kind="stable")[:, :k]
    squared = np.take_along_axis(np.where(mates, np.inf, nearest.squared), places, axis=1)
    index = np.take_along_axis(nearest.index, places, axis=1)
    return Nearest(np.ascontiguousarray(squared), np.ascontiguousarray(index))


def without_mates(
    strata: Strata,
    sides: tuple[BallSide, BallSide],
    passes: tuple[SettledCounts, SettledCounts],
    *,
    closed: bool,
) -> tuple[SettledCounts, SettledCounts]:
    """Subtract pairs within strata from the counts of all pairs."""
    left, right = sides
    n, m = len(left.points.points), len(right.points.points)
    sizes = left.radii.sizes
    mates = BallCounts.empty(n, m, sizes, 1), BallCounts.empty(m, n, sizes, 1)
    points, balls = (left.points.points, right.points.points), (left.radii, right.radii)
    for rows, columns in _pairs(strata.reference, strata.generated):
        count_listed(points, rows, columns, balls, mates, left.k, closed)
    first, second = (
        replace(settled, counts=_less(settled.counts, mate_counts))
        for settled, mate_counts in zip(passes, mates, strict=True)
    )
    return first, second


def capped_without_mates(counts: Ints, side: BallSide, labels: Longs, *, closed: bool) -> Ints:
    """Remove rows of the same stratum from the counts of capped balls.

    They were counted only where ties went on beyond the neighbours that were kept, so that all rows
    of the set were looked at.
    """
    points, capped, nearest = side.points.points, side.radii.capped, side.nearest.squared
    looked = _holds(capped, nearest[:, -1], closed=closed)
    counts = counts.copy()
    for rows, columns in _pairs(labels, labels):
        counted = looked[rows] & (rows != columns)
        owners, guests = rows[counted], columns[counted]
        squared = squared_of_pairs(points, owners, points, guests)
        np.subtract.at(counts, guests[_holds(capped[owners], squared, closed=closed)], 1)
    return counts


def nearest_others(settled: SettledCounts, strata: tuple[Longs, Longs]) -> SettledCounts:
    """Remove owners of the same stratum from those nearest to every guest.

    `strata` are those of the owners and of the guests.
    """
    owners, guests = strata
    known = settled.nearest.index.shape[1]
    neighbours = known - largest_stratum(owners)
    nearest = of_others(settled.nearest, owners, neighbours, guests)
    return replace(settled, nearest=nearest)


def largest_stratum(labels: Longs) -> int:
    """Return the number of rows in the largest stratum of a set."""
    return int(np.unique(labels, return_counts=True)[1].max(initial=1))


def _holds(
    squared_radii: NDArray[np.float64], squared: NDArray[np.float64], *, closed: bool
) -> NDArray[np.bool_]:
    inside: NDArray[np.bool_] = squared <= squared_radii if closed else squared < squared_radii
    return inside


def _less(counts: BallCounts, others: BallCounts) -> BallCounts:
    left = {}
    for name in COUNTED:
        rest = getattr(counts, name) - getattr(others, name)
        left[name] = np.maximum(rest, 0)  # a search that misses pairs may not have counted these
    return counts._replace(**left)


def _pairs(left: Longs, right: Longs) -> Iterator[Pairs]:
    """List the pairs of one label, those of some rows of the left at a time."""
    order = np.argsort(right, kind="stable")
    ordered = right[order]
    first = np.searchsorted(ordered, left, side="left")
    counts = np.searchsorted(ordered, left, side="right") - first
    batches = np.cumsum(counts) // AT_ONCE
    for batch in np.unique(batches):
        rows = np.flatnonzero(batches == batch)
        pair_counts = counts[rows]
        listed = np.repeat(rows, pair_counts)
        within = np.arange(len(listed)) - np.repeat(
            np.cumsum(pair_counts) - pair_counts, pair_counts
        )
        yield listed.astype(np.int64), order[first[listed] + within].astype(np.int64)
