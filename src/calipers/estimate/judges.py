"""Families of classifiers for held-out curves, by the share of each training set near a row.

A family is trained on rows of both sets and then gives, at any rows, what either set has near them:
a share of its rows, or the logarithm of a density. Distances are taken in float64, pair by pair, so
that time grows with the product of trained and judged rows, and no count depends on their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from calipers.catalogue.settings import Ties
from calipers.errors import InputError
from calipers.estimate.balanced_neighbours import PAPER_K, balanced_count
from calipers.estimate.kernel_ratios import log_density, widths_of
from calipers.numeric.arrays import Flags, Floats, Longs, Vector
from calipers.numeric.distances import Points, Sides
from calipers.numeric.tiles import spans

ROWS = 64


@dataclass(frozen=True)
class Near:
    """The share of either training set near some rows.

    Attributes
    ----------
    reference, generated
        Shares of the sets in [0, 1], or logarithms of their densities, shape ``(rows,)``.
    logs
        Whether these are logarithms.
    """

    reference: Vector
    generated: Vector
    logs: bool = False

    @property
    def log_odds(self) -> Vector:
        """Logarithm of the reference's share over the generated set's; 0 where both are empty."""
        if self.logs:
            return self.reference - self.generated
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(self.reference) - np.log(self.generated)
        neither = (self.reference == 0) & (self.generated == 0)
        odds: Vector = np.where(neither, 0.0, logs)
        return odds


@dataclass(frozen=True)
class Training:
    """The rows that a family is trained on.

    Attributes
    ----------
    reference, generated
        Rows, shapes ``(n, d)`` and ``(m, d)``.
    prompts
        The number of the prompt of all rows, the reference's first, shape ``(n + m,)``: rows of one
        prompt are then no neighbours. None where all rows may be.
    """

    reference: Points
    generated: Points
    prompts: Longs | None = None

    @property
    def n(self) -> int:
        """Number of reference rows."""
        return len(self.reference)

    @property
    def sides(self) -> Sides:
        """Both sets."""
        return self.reference, self.generated

    def distances(
        self, points: Points, places: Longs | None, side: int | None = None
    ) -> Iterator[tuple[slice, Floats]]:
        """Squared distances of rows to one of the sets, or to both, block by block.

        `places` are those of the rows where they are training rows themselves, counted through both
        sets: the distance to itself, and to those of the same prompt, is infinite.
        """
        from scipy.spatial.distance import cdist

        rows = np.concatenate(self.sides) if side is None else self.sides[side]
        first = self.n if side == 1 else 0
        rows = np.asarray(rows, np.float64)
        for span in spans(len(points), ROWS):
            part = slice(*span)
            squared = cdist(np.asarray(points[part], np.float64), rows, "sqeuclidean")
            if places is not None:
                own = places[part] - first
                among = np.flatnonzero((own >= 0) & (own < len(rows)))
                squared[among, own[among]] = np.inf
                if self.prompts is not None:
                    mates = self.prompts[first : first + len(rows)]
                    squared[self.prompts[places[part]][:, None] == mates] = np.inf
            yield part, squared

    def own(self, places: Longs | None, side: int, count: int) -> Longs:
        """Indicator of the rows that belong to a set: 1 for those, else 0."""
        if places is None:
            return np.zeros(count, np.int64)
        own: Longs = ((places >= self.n) == bool(side)).astype(np.int64)
        return own


Trained = Callable[[Points, "Longs | None"], Near]
"""Judges rows, given their places where they are training rows themselves."""

Judge = Callable[[Training], Trained]


def balls(k: int, ties: Ties) -> Judge:
    """Return the share of k-NN balls of either training set that hold each row."""

    def judge(training: Training) -> Trained:
        _check_k(training, k)
        n = training.n
        places = np.arange(n), n + np.arange(len(training.generated))
        radii = []
        for side, rows in enumerate(training.sides):
            radius = np.empty(len(rows))
            for part, squared in training.distances(rows, places[side], side):
                radius[part] = _kth(squared, k)
            radii.append(radius)

        def trained(points: Points, at: Longs | None) -> Near:
            shares = []
            for side, rows in enumerate(training.sides):
                count = training.own(at, side, len(points))
                for part, squared in training.distances(points, at, side):
                    count[part] += _within(squared, radii[side], ties).sum(axis=1)
                shares.append(count / len(rows))
            return Near(shares[0], shares[1])

        return trained

    return judge


def reach(k: int, ties: Ties) -> Judge:
    """Return the share of either training set as near to a row as the k-th row of the other set."""

    def judge(training: Training) -> Trained:
        _check_k(training, k)

        def trained(points: Points, at: Longs | None) -> Near:
            counts = [training.own(at, side, len(points)) for side in (0, 1)]
            both = (training.distances(points, at, side) for side in (0, 1))
            for (part, ours), (_, theirs) in zip(*both, strict=True):
                counts[0][part] += _within(ours, _kth(theirs, k)[:, None], ties).sum(axis=1)
                counts[1][part] += _within(theirs, _kth(ours, k)[:, None], ties).sum(axis=1)
            return Near(counts[0] / training.n, counts[1] / len(training.generated))

        return trained

    return judge


def neighbours(k: int) -> Judge:
    """Return the share of either training set among a row's k nearest of both, ties included."""

    def judge(training: Training) -> Trained:
        n, m = map(len, training.sides)
        if k > n + m:
            raise InputError(
                f"k must be at most {n + m}, the rows of both training sets; found {k}"
            )

        def trained(points: Points, at: Longs | None) -> Near:
            counts = np.empty((2, len(points)))
            for part, squared in training.distances(points, at):
                near = squared <= _kth(squared, k)[:, None]
                counts[0, part], counts[1, part] = near[:, :n].sum(axis=1), near[:, n:].sum(axis=1)
            return Near(counts[0] / n, counts[1] / m)

        return trained

    return judge


def kernels(threads: int | None) -> Judge:
    """Return Gaussian kernel densities of either training set, with `kde_ratios`' bandwidths."""

    def judge(training: Training) -> Trained:
        (n, d), m = training.reference.shape, len(training.generated)
        k = min(balanced_count(PAPER_K, n, m, d), n + m)

        def trained(points: Points, at: Longs | None) -> Near:
            squared = np.empty(len(points))
            for part, distances in training.distances(points, at):
                squared[part] = _kth(distances, k)
            width, at_rows = widths_of(squared, min(n, m), d), np.asarray(points, np.float64)
            ours, theirs = (
                log_density(
                    at_rows, np.asarray(rows, np.float64), width, own=False, threads=threads
                )
                for rows in training.sides
            )
            return Near(ours, theirs, logs=True)

        return trained

    return judge


def _kth(squared: Floats, k: int) -> Vector:
    kth: Vector = np.partition(squared, k - 1, axis=1)[:, k - 1]
    return kth


def _within(squared: Floats, radii: Floats, ties: Ties) -> Flags:
    inside: Flags = squared <= radii if ties == "closed" else squared < radii
    return inside & np.isfinite(squared)


def _check_k(training: Training, k: int) -> None:
    most = min(map(len, training.sides)) - 1
    if k > most:
        raise InputError(
            f"k must be at most {most}, one less than the rows that are trained on in the smaller "
            f"set; found {k}"
        )
