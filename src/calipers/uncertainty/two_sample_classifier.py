"""The classifier two-sample test: can a plane tell held-out samples of the two sets apart?

Lopez-Paz and Oquab (ICLR 2017) with two changes: labels are permuted, so the p-value is exact at
every size, and every row is judged, each by a classifier that was trained on the other folds. The
statistic is the area under the ROC curve, the mean over the folds: it uses how far a row lies from
the plane and not only on which side, and finds more than accuracy does (docs/two_sample.md).

The classifier is a regularised linear discriminant: the difference of the training means, times
the inverse of the training covariance, shrunk towards a multiple of the identity by d/(d + n + m).
Covariance and shrinkage are of all rows whatever their label, so each fold is factorised once, and
a permutation costs two matrix products. Labels are permuted within folds, which keeps these
balanced.

What it does not see: whatever no plane separates, such as equal means with another spread, or modes
lost on all sides of the mean. :func:`calipers.uncertainty.two_sample_mmd.mmd_test` sees such gaps
where they are coarse; this test sees a small shift along a direction of small variance, which the
kernel drowns in the spread of the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.numeric.compile import kernel
from calipers.numeric.distances import Points
from calipers.numeric.row_sets import RowSets
from calipers.numeric.scratch import scratch
from calipers.numeric.threads import Workers, workers
from calipers.numeric.validation import check_pair, check_whole
from calipers.uncertainty.two_sample import Chosen, TwoSample, check_options, permuted

Floats = NDArray[np.float64]
Measure = Callable[[Floats, Chosen], Floats]

LEAST = 1e-9  # mean eigenvalue, over that of all rows; less is none
ROUNDING = np.int64(2**13 - 1)  # last bits of a score that rounding, not the row, decides


def classifier_test(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    permutations: int = 999,
    folds: int = 5,
    seed: int = 0,
    level: float = 0.95,
    threads: int | None = None,
) -> TwoSample:
    """Tell whether a linear classifier can tell held-out rows of the sets apart, with a p-value.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``; taken as given.
    permutations
        How often labels are permuted, from 1: no p-value is below 1/(1 + permutations).
    folds
        In how many parts each set is dealt, at random, from 2.
    seed
        Of the folds and the permutations.
    level
        Confidence level of the threshold, in (0, 1).
    threads
        Number of threads (default: all cores); no effect on the result.

    Returns
    -------
    TwoSample
        With the held-out area under the ROC curve as the statistic: 0.5 is chance, 1 a perfect
        classifier. NaN with a reason where a set has fewer rows than there are folds.

    Raises
    ------
    InputError
        If the arrays do not fit together, are not finite, or an option is out of its range.
    """
    check_options(permutations, seed, level)
    check_whole("folds", folds, 2)
    left, right = check_pair(reference, generated)
    n, m = len(left), len(right)
    pins = {
        "test": "classifier",
        "model": "linear_discriminant",
        "shrinkage": "d/(d+n+m)",
        "statistic": "auc",
        "folds": folds,
        "permutations": permutations,
        "seed": seed,
        "n": n,
        "m": m,
        "d": left.shape[1],
    }
    if min(n, m) < folds:
        reason = f"{folds} folds need at least {folds} rows in each set; there are {n} and {m}"
        return TwoSample.undefined(
            "classifier", reason, permutations=permutations, level=level, pins=pins
        )
    with workers(threads) as pool:
        parts = cross_fit(left, right, pool, folds=folds, seed=seed)
        statistic, null = permuted(
            lambda chosen: held_out(chosen, parts, area),
            [part.sizes for part in parts],
            permutations,
            pool,
            seed=seed,
        )
    return TwoSample.of("classifier", statistic, null, level=level, pins=pins)


@dataclass(frozen=True, eq=False)
class Fold:
    """A fold: its rows, and what the classifier for it needs that depends on no label.

    Attributes
    ----------
    rows
        Centred rows, those of the reference first, shape ``(r, d)``.
    sizes
        How many of them are of the reference, and how many of the generated set.
    solved
        The rows by the inverse of the shrunk covariance of all rows outside the fold, shape
        ``(d, r)``.
    """

    rows: Floats
    sizes: tuple[int, int]
    solved: Floats


def cross_fit(
    left: Points, right: Points, pool: Workers, *, folds: int, seed: int, share: float | None = None
) -> list[Fold]:
    """Deal both sets to folds, and factorise what the classifier for each of them needs.

    `share` is how far its covariance is shrunk, in [0, 1]; :func:`shrinkage` by default.
    """
    n, m, d = len(left), len(right), left.shape[1]
    fold = _deal(n, m, folds, seed)
    sizes = [
        (int(np.sum(fold[:n] == which)), int(np.sum(fold[n:] == which))) for which in range(folds)
    ]
    cut = _standard(left, right, [np.flatnonzero(fold == which) for which in range(folds)])
    moments = list(pool.map(lambda part: part.T @ part, cut))
    total = np.sum(moments, axis=0)
    share = shrinkage(n + m, d) if share is None else share
    # Made here, since other threads do not know how much memory may be taken
    solved = [scratch(own.T.shape, np.float64) for own in cut]

    def part(which: int) -> Fold:
        own, outside = cut[which], total - moments[which]
        solve = _inverse(outside, -own.sum(axis=0), n + m - len(own), share, d)
        return Fold(own, sizes[which], np.matmul(solve, own.T, out=solved[which]))

    return list(pool.map(part, range(folds)))


def _standard(left: Points, right: Points, folds: list[NDArray[np.intp]]) -> list[Floats]:
    """The rows of each fold about the mean of all, in units of their spread.

    They have no more dimensions than there are rows in all.
    """
    rows, d = RowSets((left, right)), left.shape[1]
    given = max(float(np.abs(part).max()) for _, part in rows.blocks()) or 1.0
    total, squares = np.zeros(d), 0.0
    for _, part in rows.blocks():
        total += (part.astype(np.float64) / given).sum(axis=0)
    mean = total / len(rows)
    for _, part in rows.blocks():
        moved = part.astype(np.float64) / given - mean
        squares += float(np.einsum("ij,ij->", moved, moved))
    spread = np.sqrt(squares / (len(rows) * d))
    if spread < 1e-12:  # all rows are one, up to rounding
        return [np.zeros((len(index), 1)) for index in folds]
    cut = [rows.copied(index, np.float64) for index in folds]
    for own in cut:
        own /= given
        own -= mean
        own /= spread
    if d <= len(rows):
        return cut
    # Turned into their own span, rows keep their products: a classifier sees no more of them
    turned = np.linalg.qr(np.concatenate(cut).T).R.T
    return np.split(turned, np.cumsum([len(own) for own in cut])[:-1])


def _deal(n: int, m: int, folds: int, seed: int) -> NDArray[np.int64]:
    """The fold of every row; sizes differ by one at most, in either set and in both together."""
    rng = np.random.default_rng([seed, n, m])
    sides = np.arange(n) % folds, (np.arange(m) + n) % folds
    return np.concatenate([rng.permutation(side) for side in sides])


def shrinkage(rows: int, d: int) -> float:
    """Tell how far to shrink the covariance of so many rows towards a multiple of the identity.

    A ridge of d/rows times the mean eigenvalue: next to none where rows abound, half of all where
    there are as many dimensions as rows.

    Examples
    --------
    >>> round(shrinkage(8_000, 130), 3), shrinkage(300, 300)
    (0.016, 0.5)
    """
    return d / (d + rows)


def _inverse(moment: Floats, total: Floats, count: int, share: float, d: int) -> Floats:
    """Of the shrunk covariance, from the sum of products and the sum of so many rows."""
    mean = total / count
    covariance = moment / count - np.outer(mean, mean)
    level = np.trace(covariance) / d
    ridged = (1 - share) * covariance + share * max(level, LEAST) * np.eye(len(covariance))
    return np.linalg.inv(ridged)


def held_out(chosen: Chosen, parts: list[Fold], measure: Measure) -> Floats:
    """Score held-out rows by every relabelling, ``(c, places)``, and take a mean over the folds."""
    labels = np.split(chosen, np.cumsum([len(fold.rows) for fold in parts])[:-1], axis=1)
    ours = [own.astype(np.float64) @ fold.rows for own, fold in zip(labels, parts, strict=True)]
    totals = [fold.rows.sum(axis=0) for fold in parts]
    every, total = sum(ours), np.sum(totals, axis=0)
    n, m = np.sum([fold.sizes for fold in parts], axis=0)
    values = []
    for fold, own, ones, sums in zip(parts, labels, ours, totals, strict=True):
        one, other = every - ones, total - sums
        one /= n - fold.sizes[0]
        other = (other - (n - fold.sizes[0]) * one) / (m - fold.sizes[1])
        # How far rows lie on the reference's side of a plane, wherever that stands: as areas need
        values.append(measure((one - other) @ fold.solved, own))
    return np.asarray(np.mean(values, axis=0))


def area(scores: Floats, labels: Chosen) -> Floats:
    """Area under the ROC curve of every row of scores, shape ``(c, r)``; ties count half."""
    codes = np.ascontiguousarray(scores + 0.0).view(np.int64)  # no negative zeros
    codes = (codes & ~ROUNDING) | labels  # the label rides along in the last bit
    ordered = np.sort(codes.view(np.float64), axis=1).view(np.int64)
    areas = np.empty(len(scores))
    _areas(ordered, areas)
    return areas


@kernel
def _areas(ordered: Any, areas: Any) -> None:
    for i in range(ordered.shape[0]):
        places, wins, below, above = ordered.shape[1], 0.0, 0, 0
        j = 0
        while j < places:
            value, ones, zeros = ordered[i, j] | 1, 0, 0
            while j < places and (ordered[i, j] | 1) == value:
                ones += ordered[i, j] & 1
                zeros += 1 - (ordered[i, j] & 1)
                j += 1
            wins += ones * (below + 0.5 * zeros)
            below += zeros
            above += ones
        areas[i] = wins / (above * below)
