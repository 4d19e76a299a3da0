"""The k-NN balls of a set, in the form that the pass over the pairs compares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calipers.catalogue.settings import Distance
from calipers.errors import InputError
from calipers.estimate.knn.kernels import count_own, radii_of_halves, radii_without_blocks
from calipers.estimate.knn.nearest import Nearest
from calipers.numeric.arrays import Floats, Ints
from calipers.numeric.blocks import Blocks
from calipers.numeric.distances import Sieve
from calipers.numeric.scratch import scratch
from calipers.numeric.validation import check_whole

LARGEST_FACTOR = 1e6


@dataclass(frozen=True)
class Supports:
    """Further supports measured in the same pass; None leaves one out.

    Attributes
    ----------
    capped
        The k of balls whose radius is capped at the median of their set's radii.
    smaller
        The k of balls of which only those with a radius up to the median count.
    spread
        ``(k, factor)``: balls of one radius, `factor` times the mean k-th radius of their set.
    across
        Whether the distance of every row to its k-th nearest row of the other set is kept.
    """

    capped: int | None = None
    smaller: int | None = None
    spread: tuple[int, float] | None = None
    across: bool = False

    @property
    def k_max(self) -> int:
        """The largest k that they need; 0 if they need none."""
        return max(self.capped or 0, self.smaller or 0, self.spread[0] if self.spread else 0)


class Radii(NamedTuple):
    """Squared radii of the balls around the rows of a set, float64.

    Attributes
    ----------
    squared
        For every row and every k from 1 to k_max, shape ``(n, k_max)``.
    without
        For every row and block, the radius for the chosen k once that block of the own set is
        deleted, shape ``(n, blocks)``; no columns where no replicates are kept.
    largest
        The largest of these for every row, shape ``(n,)``: no pair beyond it counts.
    capped
        The radius capped at the median, -1 where none is asked for, shape ``(n,)``.
    smaller
        The radius where it is at most the median, else -1, shape ``(n,)``.
    labels
        The block of every row, shape ``(n,)``, int64.
    halves
        For every row and halving, the radius for the chosen k in the row's own half, shape
        ``(n, halvings)``; no columns where the set is not halved.
    codes
        In which half every row lies, a bit for each halving, shape ``(n,)``, uint64.
    """

    squared: Floats
    without: Floats
    largest: Floats
    capped: Floats
    smaller: Floats
    labels: NDArray[np.int64]
    halves: Floats
    codes: NDArray[np.uint64]

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Numbers of k, blocks and halvings."""
        return self.squared.shape[1], self.without.shape[1], self.halves.shape[1]

    def rows(self, start: int, stop: int) -> Radii:
        """Return the radii of some rows."""
        return Radii(
            self.squared[start:stop],
            self.without[start:stop],
            self.largest[start:stop],
            self.capped[start:stop],
            self.smaller[start:stop],
            self.labels[start:stop],
            self.halves[start:stop],
            self.codes[start:stop],
        )


@dataclass(frozen=True)
class BallSide:
    """One of the two sets of a pass: its rows, nearest neighbours and balls.

    Attributes
    ----------
    points
        The rows, ready for the sieve.
    nearest
        Their nearest own neighbours.
    radii
        Their balls.
    k
        The chosen k, of the replicates.
    median
        The square of the median radius at which balls are capped, NaN where none is asked for.
    spread
        The common squared radius of :attr:`Supports.spread`, NaN where none is asked for.
    """

    points: Sieve
    nearest: Nearest
    radii: Radii
    k: int
    median: float
    spread: float


def radii_of(
    nearest: Nearest, *, k: int, k_max: int, blocks: Blocks, supports: Supports
) -> tuple[Radii, int]:
    """Read the radii from the nearest neighbours of a set.

    Also returns how many radii without a block, or within a half, are too small, since too few
    neighbours are known.
    """
    n = len(nearest.squared)
    without = scratch((n, blocks.count), np.float64)
    labels = blocks.labels
    short = radii_without_blocks(nearest.squared, nearest.index, labels, labels, k, without)
    codes = np.zeros(n, np.uint64) if blocks.halves is None else blocks.halves
    halves = scratch((n, blocks.halvings), np.float64)
    short += radii_of_halves(nearest.squared, nearest.index, codes, k, halves)
    squared = np.ascontiguousarray(nearest.squared[:, :k_max])
    capped, smaller = np.full((2, n), -1.0)
    if supports.capped is not None:
        capped = np.minimum(
            squared[:, supports.capped - 1], median_radius(squared, supports.capped)
        )
    if supports.smaller is not None:
        squared_radii = squared[:, supports.smaller - 1]
        smaller = np.where(
            squared_radii <= median_radius(squared, supports.smaller), squared_radii, -1.0
        )
    largest = np.maximum(squared[:, -1], without.max(axis=1, initial=0.0))
    largest = np.maximum(largest, halves.max(axis=1, initial=0.0))
    radii = Radii(squared, without, largest, capped, smaller, labels, halves, codes)
    return radii, int(short)


def common_radius(nearest: Nearest, supports: Supports, distance: Distance) -> float:
    """Return the squared common radius of all balls, NaN where none is requested."""
    if supports.spread is None:
        return np.nan
    k, factor = supports.spread
    mean = float(as_distance(nearest.squared[:, k - 1], distance).mean())
    return 2 * factor * mean if distance == "cosine" else (factor * mean) ** 2


def as_distance(squared: Floats, distance: Distance) -> Floats:
    """Convert squared distances of rows into the requested distance."""
    return squared / 2 if distance == "cosine" else np.sqrt(squared)


def capped_own(side: BallSide, *, closed: bool) -> Ints:
    """Count the capped balls of its own set that every row lies in, excluding its own, ``(n,)``."""
    counts = np.zeros(len(side.radii.capped), np.int32)
    count_own(
        side.nearest.squared,
        side.nearest.index,
        side.radii.capped,
        side.points.points,
        closed,
        counts,
    )
    return counts


def check_supports(supports: Supports) -> None:
    """Refuse invalid further supports."""
    k, factor = supports.spread or (1, 1.0)
    named = (("capped", supports.capped), ("smaller", supports.smaller), ("spread", k))
    for name, number in named:
        check_whole(f"k of {name}", 1 if number is None else number, 1)
    check_factor("the factor of spread", factor)


def check_factor(name: str, factor: Any) -> None:
    """Refuse an invalid factor of a radius."""
    real = isinstance(factor, int | float | np.floating) and not isinstance(factor, bool)
    if not (real and 0 < factor <= LARGEST_FACTOR):
        raise InputError(f"{name} must be above 0 and at most {LARGEST_FACTOR:g}; found {factor!r}")


def median_radius(squared: Floats, k: int | None) -> float:
    """Return the square of the median k-th radius; exact where it is one of the radii."""
    if k is None:
        return np.nan
    column = np.sort(squared[:, k - 1])
    low, high = column[(len(column) - 1) // 2], column[len(column) // 2]
    return float(low if low == high else ((np.sqrt(low) + np.sqrt(high)) / 2) ** 2)
