"""Topics: partitions of both sets into cells, and the few groups into which cells merge.


Ward's method joins, one after the other, the two groups whose union adds least to the squared
distances of all rows from their group's mean; k-means then moves single cells to the mean that
they are nearest to. Nothing is drawn at random, so that the same cells give the same topics. On
news of known classes this finds topics a little tighter and purer than k-means from ten random
starts does (``research/experiments/explanations_merging.py``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.explain.evidence import DistanceSpace, Evidence, Labels, means
from calipers.numeric.arrays import Matrix

Weights = NDArray[np.float64]
Groups = NDArray[np.intp]

ROUNDS = 100


@dataclass(frozen=True, eq=False)
class Division:
    """A partition of both sets into regions.

    Attributes
    ----------
    reference, generated
        The region of every row.
    expected, produced, contributions
        Smoothed shares of both sets and the term of the frontier integral, for every region.
    cells
        The cells that make up every region.
    """

    reference: Labels
    generated: Labels
    expected: NDArray[np.float64]
    produced: NDArray[np.float64]
    contributions: NDArray[np.float64]
    cells: tuple[tuple[int, ...], ...]

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Number of rows of each set in every region."""
        return (
            np.bincount(self.reference, minlength=len(self)),
            np.bincount(self.generated, minlength=len(self)),
        )

    @property
    def worst_first(self) -> NDArray[np.intp]:
        """The regions in order of their contribution, the largest first."""
        return np.argsort(-self.contributions, kind="stable")


def division_of(evidence: Evidence) -> Division | None:
    """Divide both sets by the quantisation; None where there is none."""
    if evidence.reference_cells is None or evidence.generated_cells is None:
        return None
    from calipers.curves.contributions import contributions
    from calipers.estimate.histograms import Histograms

    labels = np.asarray(evidence.reference_cells), np.asarray(evidence.generated_cells)
    cells = evidence.cells or max(int(side_labels.max()) for side_labels in labels) + 1
    reference, generated = (np.bincount(side_labels, minlength=cells) for side_labels in labels)
    histograms = Histograms(reference, generated, smoothing="krichevsky-trofimov")
    p, q = histograms.probabilities
    single = tuple((cell,) for cell in range(cells))
    return Division(*labels, p, q, contributions(histograms), single)


def coarser(division: Division, space: DistanceSpace, topics: int) -> Division:
    """Merge adjacent cells into topics, the topic with the largest contribution first."""
    topic = _topic_of(division, space, topics)
    summed = _summed(topic, division.contributions)
    order = np.argsort(-summed, kind="stable")
    topic = np.argsort(order)[topic]
    return Division(
        topic[division.reference],
        topic[division.generated],
        _summed(topic, division.expected),
        _summed(topic, division.produced),
        summed[order],
        tuple(tuple(np.flatnonzero(topic == number).tolist()) for number in range(len(order))),
    )


def _summed(topic: NDArray[np.intp], values: NDArray[np.float64]) -> NDArray[np.float64]:
    sums: NDArray[np.float64] = np.bincount(topic, values).astype(np.float64)
    return sums


def _topic_of(division: Division, space: DistanceSpace, topics: int) -> NDArray[np.intp]:
    """The topic of every cell; one that holds no row belongs nowhere, and goes to the largest."""
    weights = np.sum(division.counts, axis=0)
    filled = weights > 0
    merged_topics = merged(_middles(division, space)[filled], weights[filled], topics)
    largest = int(np.argmax(np.bincount(merged_topics, weights[filled])))
    topic = np.full(len(weights), largest, np.intp)
    topic[filled] = merged_topics
    return topic


def _middles(division: Division, space: DistanceSpace) -> Matrix:
    """The mean of the rows of both sets in every cell."""
    rows = np.concatenate([space.reference, space.generated])
    return means(rows, np.concatenate([division.reference, division.generated]), len(division))


# ------------------------------------------------------------------ merging


def merged(points: Matrix, weights: NDArray[np.integer], groups: int) -> Groups:
    """Cluster weighted points around a few means.

    Parameters
    ----------
    points, weights
        Shapes ``(k, q)`` and ``(k,)``; weights above 0.
    groups
        At least 1; no more are made than there are points.

    Returns
    -------
    ndarray
        The group of each point, whole numbers from 0, shape ``(k,)``; no group is empty.
    """
    mass = np.asarray(weights, np.float64)
    return _settled(points, mass, _ward(points, mass, min(groups, len(points))))


def _ward(points: Matrix, weights: Weights, groups: int) -> Groups:
    """Undo the costliest of all unions until so many groups are left."""
    unions = sorted(_unions(points, weights), key=lambda union: union[0])
    root = list(range(len(points)))
    for _, one, other in unions[: len(points) - groups]:
        root[_root(root, other)] = _root(root, one)
    roots = [_root(root, place) for place in range(len(points))]
    return np.unique(roots, return_inverse=True)[1]


def _root(root: list[int], place: int) -> int:
    while root[place] != place:
        root[place] = root[root[place]]
        place = root[place]
    return place


def _unions(points: Matrix, weights: Weights) -> Iterator[tuple[float, int, int]]:
    """All unions down to one group, each with its cost, by chains of nearest neighbours.

    Two groups that are each other's nearest may be joined at once, whatever else is joined before:
    with Ward's costs the order makes no difference.
    """
    means, mass = points.copy(), weights.copy()
    squares = np.einsum("ij,ij->i", means, means)
    chain: list[int] = []
    for _ in range(len(points) - 1):
        if not chain:
            chain = [int(np.argmax(mass > 0))]
        cost = _extend(chain, means, mass, squares)
        other, one = chain.pop(), chain.pop()
        yield cost, one, other
        total = mass[one] + mass[other]
        means[one] = (mass[one] * means[one] + mass[other] * means[other]) / total
        squares[one] = means[one] @ means[one]
        mass[one], mass[other] = total, 0.0


def _extend(chain: list[int], means: Matrix, mass: Weights, squares: Weights) -> float:
    """Follow the nearest groups until the last two are each other's nearest; their cost."""
    while True:
        tip = chain[-1]
        far = squares + squares[tip] - 2 * (means @ means[tip])
        cost = np.where(mass > 0, mass * mass[tip] / (mass + mass[tip]) * far, np.inf)
        cost[tip] = np.inf
        nearest = int(np.argmin(cost))
        if len(chain) > 1 and cost[chain[-2]] <= cost[nearest]:
            return float(cost[chain[-2]])
        chain.append(nearest)


def _settled(points: Matrix, weights: Weights, groups: Groups) -> Groups:
    """Move every point to the nearest mean until none moves, or a group would be empty."""
    count = int(groups.max()) + 1
    for _ in range(ROUNDS):
        sums = np.zeros((count, points.shape[1]))
        np.add.at(sums, groups, weights[:, None] * points)
        centres = sums / np.bincount(groups, weights)[:, None]
        nearest = np.argmin(
            np.einsum("ij,ij->i", centres, centres) - 2 * points @ centres.T, axis=1
        )
        if len(np.unique(nearest)) < count or (nearest == groups).all():
            break
        groups = nearest
    return groups
