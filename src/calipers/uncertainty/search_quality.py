"""The quality of an approximate search of neighbours, measured on a sample of rows.

Of some rows of both sets all neighbours are found, without any index: their true balls, in which
true balls of the other set they lie, and in which of the balls that the search found. So for each
of them one knows what precision or recall counts and what it should count. The mean difference is
the error of the score.

What it does not tell: the error of what is read otherwise from neighbours. Coverage and density
rest on the same balls and the same pairs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np

from calipers.estimate.knn.balls import as_distance
from calipers.estimate.knn.close_pairs import close_pairs
from calipers.estimate.knn.neighbourhoods import Balls, Neighbourhoods, directions
from calipers.numeric.arrays import Flags, Floats, Longs
from calipers.numeric.distances import Points, Sieve, sieves
from calipers.numeric.threads import Workers, workers
from calipers.serialise import Plain
from calipers.uncertainty.proportions import share_interval

SAMPLE = 1_000
"""Rows of each set of which all neighbours are found."""

LEVEL = 0.95


@dataclass(frozen=True)
class SampledMean(Plain):
    """A mean over sampled rows, with its interval at 95 %."""

    value: float
    low: float
    high: float

    @classmethod
    def mean(cls, several: Sequence[SampledMean]) -> SampledMean:
        """Return the mean of several of equal weight, with the mean of their interval lengths."""
        ends = [(part.value, part.low, part.high) for part in several]
        return cls(*np.mean(ends, axis=0).tolist())


@dataclass(frozen=True)
class SearchQuality(Plain):
    """The share of neighbours that a search found, and the resulting errors.

    Attributes
    ----------
    neighbour_recall
        Share of the k nearest neighbours of a row, within its own set, that the search found; of
        equally distant ones any will do.
    members
        Share of the rows in the balls that the search spans which were counted.
    precision_error, recall_error
        The score less what it would be if no neighbour were missed.
    sampled
        Rows of the two sets together on which this was measured.
    """

    neighbour_recall: SampledMean
    members: float
    precision_error: SampledMean
    recall_error: SampledMean
    sampled: int

    @classmethod
    def mean(cls, several: Sequence[SearchQuality]) -> SearchQuality:
        """Return the mean over several files of a system."""
        return cls(
            SampledMean.mean([quality.neighbour_recall for quality in several]),
            float(np.mean([quality.members for quality in several])),
            SampledMean.mean([quality.precision_error for quality in several]),
            SampledMean.mean([quality.recall_error for quality in several]),
            sum(quality.sampled for quality in several),
        )


def measure_search(
    reference: Points,
    generated: Points,
    near: Neighbourhoods,
    *,
    k: int,
    size: int = SAMPLE,
    seed: int = 0,
    threads: int | None = None,
) -> SearchQuality:
    """Compare the results of a search with all pairs of sampled rows.

    Parameters
    ----------
    reference, generated
        The rows whose neighbourhoods these are, shapes ``(n, d)`` and ``(m, d)``.
    near
        What the search found.
    k
        Neighbours that span a ball, up to `near.k_max`.
    size
        Rows of each set to sample; a smaller set is taken whole, and leaves no doubt.
    seed
        Seed of the sample.
    threads
        No effect on the result.
    """
    if near.distance == "cosine":
        reference, generated = directions(reference, generated)
    sets = sieves(reference, generated, threads=threads)
    balls, sizes = (near.reference, near.generated), (len(reference), len(generated))
    rng = np.random.default_rng(seed)
    rows = [np.sort(rng.permutation(n)[: min(n, size)]) for n in sizes]
    with workers(threads) as pool:
        owners = [
            _Owners(points, side_balls.radii[:, k - 1], near, k, pool)
            for points, side_balls in zip(sets, balls, strict=True)
        ]
        hit_shares = [
            (side_balls.radii[chosen, :k] <= owner.true_radii(chosen)[:, None]).mean(axis=1)
            for side_balls, owner, chosen in zip(balls, owners, rows, strict=True)
        ]
        precision = _membership(owners[0], near.reference, sets[1], rows[1], k)
        recall = _membership(owners[1], near.generated, sets[0], rows[0], k)
    sampled, there = sum(map(len, rows)), precision.there + recall.there
    return SearchQuality(
        neighbour_recall=_mean_share(np.concatenate(hit_shares), sum(sizes)),
        members=(precision.counted + recall.counted) / there if there else 1.0,
        precision_error=_mean_difference(precision.approximate, precision.true, sizes[1]),
        recall_error=_mean_difference(recall.approximate, recall.true, sizes[0]),
        sampled=sampled,
    )


class _Owners:
    """A set of which the true balls are found as they are asked for.

    A true ball lies within the one that the search spans, so only pairs within that are looked at.
    """

    def __init__(
        self, points: Sieve, radii: Floats, near: Neighbourhoods, k: int, pool: Workers
    ) -> None:
        self.points, self.radii, self._k, self._pool = points, radii, k, pool
        self._distance, self._closed = near.distance, near.ties == "closed"
        self._squared = 2 * radii if near.distance == "cosine" else radii**2
        self._known = np.full(len(radii), np.nan)

    def hold(self, distance: Floats, radii: Floats) -> Flags:
        """Whether balls hold rows at some distance from their centres."""
        inside: Flags = distance <= radii if self._closed else distance < radii
        return inside

    def true_radii(self, owners: Longs) -> Floats:
        """The radii of the true balls of some owners, each looked for once."""
        unknown = np.unique(owners[np.isnan(self._known[owners])])
        for start in range(0, len(unknown), SAMPLE):
            chosen = unknown[start : start + SAMPLE]
            none = np.full(len(self.radii), -np.inf)
            limits = self._squared[chosen], none
            row, other, squared = _all_close(self.points, chosen, self.points, limits, self._pool)
            others = chosen[row] != other
            row, squared = row[others], squared[others]
            ordered = squared[np.lexsort((squared, row))]
            last = np.searchsorted(np.sort(row), np.arange(len(chosen))) + self._k - 1
            self._known[chosen] = as_distance(ordered[last], self._distance)
        return self._known[owners]

    def around(self, guests: Sieve, chosen: Longs) -> tuple[Longs, Longs, Floats]:
        """The places of chosen guests, the owners whose spanned balls hold them, and how far."""
        limits = np.full(len(chosen), -np.inf), self._squared
        row, owner, squared = _all_close(guests, chosen, self.points, limits, self._pool)
        distance = as_distance(squared, self._distance)
        inside = self.hold(distance, self.radii[owner])
        return row[inside], owner[inside], distance[inside]


def _all_close(
    rows: Sieve, chosen: Longs, others: Sieve, limits: tuple[Floats, Floats], pool: Workers
) -> tuple[Longs, Longs, Floats]:
    parts = zip(*close_pairs(rows, chosen, others, limits, pool), strict=True)
    place, other, squared = (np.concatenate(column) for column in parts)
    return place, other, squared


@dataclass(frozen=True)
class _Membership:
    """Which of some guests lie in a ball, as found and in truth; rows in spanned balls, and all."""

    approximate: Flags
    true: Flags
    counted: int
    there: int


def _membership(owners: _Owners, balls: Balls, guests: Sieve, chosen: Longs, k: int) -> _Membership:
    """Tell of some guests whether a true ball holds them: the deepest ball is looked at first."""
    place, owner, distance = owners.around(guests, chosen)
    inside = balls.inside[chosen, k - 1]
    depth = distance / np.maximum(owners.radii[owner], np.finfo(np.float64).tiny)
    order = np.lexsort((owner, depth, place))
    place, owner, distance = place[order], owner[order], distance[order]
    start, stop = (np.searchsorted(place, np.arange(len(chosen)), side) for side in SIDES)
    true, width = np.zeros(len(chosen), np.bool_), 1
    while (waiting := np.flatnonzero(~true & (start < stop))).size:
        ends = np.minimum(start[waiting] + width, stop[waiting])
        spans = zip(start[waiting], ends, strict=True)
        deepest = np.concatenate([np.arange(*span) for span in spans])
        within_ball = owners.hold(distance[deepest], owners.true_radii(owner[deepest]))
        true[place[deepest[within_ball]]] = True
        start[waiting], width = ends, 2 * width
    return _Membership(inside > 0, true, int(inside.sum()), len(place))


SIDES: tuple[Literal["left", "right"], ...] = ("left", "right")


def _mean_share(shares: Floats, population: int) -> SampledMean:
    value = float(shares.mean())
    return SampledMean(value, *_interval(value, len(shares), population))


def _mean_difference(searched: Flags, true: Flags, population: int) -> SampledMean:
    """The mean of paired differences, by the intervals of the shares of either sign.

    They are put together by squares, as Newcombe does (Statistics in Medicine 1998).
    """
    n = len(searched)
    up, down = float((searched & ~true).mean()), float((true & ~searched).mean())
    low_up, high_up = _interval(up, n, population)
    low_down, high_down = _interval(down, n, population)
    value = up - down
    low = value - math.hypot(up - low_up, high_down - down)
    high = value + math.hypot(high_up - up, down - low_down)
    return SampledMean(value, low, high)


def _interval(share: float, n: int, population: int) -> tuple[float, float]:
    """Wilson's interval of a share of n rows, of a population that has no more than these."""
    if n == population:
        return share, share
    effective = n * (population - 1) / (population - n)
    return share_interval(share, effective, NormalDist().inv_cdf((1 + LEVEL) / 2))
