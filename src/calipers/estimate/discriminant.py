"""A cross-fitted linear discriminant between two sets, and its accuracy on held-out rows.

Each row is judged by a discriminant that was trained on the other folds: the difference of the
training means, times the inverse of the training covariance, shrunk towards a multiple of the
identity by d/(d + rows). Covariance and shrinkage are of all rows whatever their label, so each
fold is factorised once, and another labelling costs two matrix products.

**Where both sets answer the same prompts**, most of what rows differ in is the prompt. An answer of
one side then stands near one of the other, and a discriminant that was trained on the one gives the
other the wrong label. So the folds keep a prompt together, and every row of a shared prompt is
taken about the mean of all rows of its prompt, which leaves what sides do differently with one
prompt: the discriminant is trained on differences within prompts, with the covariance within them.
Where there are fewer prompts than folds, their answers are dealt to the folds instead.
Rows of prompts that one side alone has stay as they are and have a discriminant of their own. What
may be exchanged, and which rows take part, is in :mod:`calipers.estimate.prompt_strata`.

The **area under the ROC curve** is the chance that of two held-out rows, one of each side, the
reference's looks more like the reference: 0.5 where the sides cannot be told apart. Of shared
prompts it is that of two answers to one prompt; prompts count by ab/(a + b) where they have a and b
answers. Folds, and rows of shared and of other prompts, count by their number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.far_rows import far_rows
from calipers.estimate.prompt_strata import PromptStrata
from calipers.lazy import lazily
from calipers.numeric import native
from calipers.numeric.arrays import Flags, Floats, Indices
from calipers.numeric.distances import Points
from calipers.numeric.row_sets import RowSets
from calipers.numeric.scratch import scratch
from calipers.numeric.threads import Workers

Measure = Callable[[Floats, Flags], Floats]

FOLDS = 5

LEAST = 1e-9  # mean eigenvalue, over that of all rows; less is none
ROUNDING = np.int64(2**13 - 1)  # last bits of a score that rounding, not the row, decides
TIES = 1e-9  # of a score, or of a typical one: what rounding may put between two equal rows


@dataclass(frozen=True, eq=False)
class Fold:
    """A fold: its rows, and the part of its classifier that does not depend on labels.

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


@dataclass(frozen=True, eq=False)
class Part:
    """Rows among which labels are exchangeable, divided into folds.

    Attributes
    ----------
    folds
        The folds, whose rows bear the labels in turn.
    index
        The row behind each of them, counted through both sets, shape ``(r,)``.
    strata
        Among how many labels of the reference and of the generated set labels are exchanged, for
        each stratum in turn, those of the reference first.
    answers
        How many rows in turn bear one label.
    within
        Whether a stratum is a prompt that both sides answer, whose rows alone are compared.
    information
        How much a gap along any one direction would be seen, up to a factor that all parts share:
        the number of pairs of rows that it would take, over the variance.
    """

    folds: Sequence[Fold]
    index: Indices
    strata: Sequence[tuple[int, int]]
    answers: int = 1
    within: bool = False
    information: float = 1.0

    @property
    def labels(self) -> Flags:
        """Which rows are of the reference."""
        return np.repeat(labels_of(self.strata), self.answers)

    def areas(self, chosen: Flags) -> Floats:
        """Score held-out rows for every relabelling, ``(c, places)``, with areas over each fold."""
        return held_out(np.repeat(chosen, self.answers, axis=1), self.folds, area)

    def area(self, counted: Flags | None = None) -> float:
        """Return the area under the ROC curve: of each fold, or of the pairs within prompts.

        `counted` tells which rows are trained on and judged, whole prompts where they are shared.
        NaN where they leave a fold nothing of a side to train on.
        """
        every = np.ones(len(self.index), np.bool_) if counted is None else counted
        labels = self.labels
        scores = self._scores(labels, every)
        if scores is None:
            return float("nan")
        if self.within:
            return self._within_prompts(scores, every)
        spans = zip(scores, _cut(labels, self.folds), _cut(every, self.folds), strict=True)
        left = [(side_scores[on][None], ours[on][None]) for side_scores, ours, on in spans]
        values = [area(*scored)[0] for scored in left if scored[1].any() and not scored[1].all()]
        return float(np.mean(values)) if values else float("nan")

    def _scores(self, labels: Flags, counted: Flags) -> list[Floats] | None:
        """How far every row lies on the reference's side, by what was trained on other folds.

        None where there is nothing of a side outside a fold.
        """
        sides = []
        for side in (labels & counted, ~labels & counted):
            cut = _cut(side, self.folds)
            sums = [
                on.astype(np.float64) @ fold.rows for on, fold in zip(cut, self.folds, strict=True)
            ]
            counts = [int(on.sum()) for on in cut]
            sides.append(
                [(sum(sums) - s, sum(counts) - c) for s, c in zip(sums, counts, strict=True)]
            )
        if not all(count for side in sides for _, count in side):
            return None
        return [
            (one / n - other / m) @ fold.solved
            for (one, n), (other, m), fold in zip(*sides, self.folds, strict=True)
        ]

    def _within_prompts(self, scores: Sequence[Floats], counted: Flags) -> float:
        """The share of the pairs of answers to one prompt that are judged right."""
        total = weight = 0.0
        joined = np.concatenate(scores)
        typical = float(np.median(np.abs(joined)))  # an extreme row makes no ties of the others
        for ours, theirs in self._pairs:
            on = counted[ours[:, 0]]
            one, other = joined[ours[on]][:, :, None], joined[theirs[on]][:, None, :]
            near = TIES * np.maximum(np.maximum(np.abs(one), np.abs(other)), typical)
            wins = (one - other > near) + 0.5 * (np.abs(one - other) <= near)
            worth = ours.shape[1] * theirs.shape[1] / (ours.shape[1] + theirs.shape[1])
            total += worth * float(wins.mean(axis=(1, 2)).sum())
            weight += worth * int(on.sum())
        return total / weight if weight else float("nan")

    @lazily
    def _pairs(self) -> list[tuple[Indices, Indices]]:
        """The places of the answers of both sides, for the prompts of each two numbers of them."""
        starts = np.cumsum([0, *(n + m for n, m in self.strata)])
        by_size: dict[tuple[int, int], list[int]] = {}
        for start, sizes in zip(starts.tolist(), self.strata, strict=False):
            by_size.setdefault(sizes, []).append(start)
        return [
            (np.add.outer(places, np.arange(n)), np.add.outer(places, np.arange(n, n + m)))
            for (n, m), places in by_size.items()
        ]


def labels_of(strata: Sequence[tuple[int, int]]) -> Flags:
    """Return which labels are of the reference, stratum by stratum."""
    return np.concatenate([np.repeat([True, False], sizes) for sizes in strata])


def mean_area(parts: Sequence[Part], counted: Sequence[Flags] | None = None) -> float:
    """Return the area under the ROC curve over all parts, weighted by their numbers of rows."""
    masks = [None] * len(parts) if counted is None else counted
    sizes = [len(part.index) for part in parts]
    areas = [part.area(mask) for part, mask in zip(parts, masks, strict=True)]
    return float(np.average(areas, weights=sizes))


def parts_of(
    left: Points,
    right: Points,
    pool: Workers,
    *,
    folds: int,
    seed: int,
    strata: PromptStrata | None = None,
) -> list[Part]:
    """Divide both sets into folds, whole prompts where these are known, and factorise matrices.

    Returns
    -------
    list of Part
        One where no prompts are known; else one for the shared prompts and one for the others, as
        far as there are as many of them as folds.
    """
    if strata is None:
        n, m = len(left), len(right)
        if min(n, m) < folds:
            return []
        fold = _deal(n, m, folds, seed)
        index = [np.flatnonzero(fold == which) for which in range(folds)]
        fits = cross_fit(left, right, pool, folds=folds, seed=seed)
        return [Part(fits, np.concatenate(index), [fit.sizes for fit in fits])]
    parts = []
    rng = np.random.default_rng([seed, len(strata.sizes), 3])
    if len(strata.sizes) >= folds:
        dealt = rng.permutation(np.arange(len(strata.sizes)) % folds)
        parts.append(_of_shared(left, right, pool, strata, dealt))
    elif (few := _split(strata, folds, rng)) is not None:
        parts.append(_of_shared(left, right, pool, *few))
    if min(strata.prompts) >= folds:
        parts.append(_of_others(left, right, pool, strata, folds, seed))
    return parts


def _split(
    strata: PromptStrata, folds: int, rng: np.random.Generator
) -> tuple[PromptStrata, Indices] | None:
    """Deal the answers to few prompts to the folds, as if each fold had prompts of its own.

    Rows are taken about the mean of their prompt in their fold, so that nothing of it is carried
    over. None where some fold would have no prompt that both sides answer.
    """
    rows: list[Indices] = []
    sizes: list[tuple[int, int]] = []
    dealt: list[int] = []
    start = 0
    for n, m in strata.sizes:
        members = strata.shared[start : start + n + m]
        ours, theirs = rng.permutation(members[:n]), rng.permutation(members[n:])
        start += n + m
        for which in range(folds):
            pair = ours[which::folds], theirs[which::folds]
            if min(map(len, pair)):
                rows += pair
                sizes.append((len(pair[0]), len(pair[1])))
                dealt.append(which)
    if len(set(dealt)) < folds:
        return None
    shared = replace(strata, shared=np.concatenate(rows), sizes=tuple(sizes))
    return shared, np.array(dealt, np.intp)


def _of_shared(
    left: Points, right: Points, pool: Workers, strata: PromptStrata, dealt: Indices
) -> Part:
    """Rows of shared prompts, about the mean of their prompt; each was dealt to a fold."""
    sizes = np.array(strata.sizes)
    counts = sizes.sum(axis=1)
    starts = np.cumsum(counts) - counts
    fold_prompts = [np.flatnonzero(dealt == which) for which in range(int(dealt.max()) + 1)]
    index = [
        np.concatenate([strata.shared[starts[p] : starts[p] + counts[p]] for p in prompts])
        for prompts in fold_prompts
    ]
    cut = _standard(left, right, index)
    for rows, prompts in zip(cut, fold_prompts, strict=True):
        first = np.cumsum(counts[prompts]) - counts[prompts]
        means = np.add.reduceat(rows, first, axis=0) / counts[prompts][:, None]
        rows -= np.repeat(means, counts[prompts], axis=0)
    totals = [tuple(sizes[prompts].sum(axis=0).tolist()) for prompts in fold_prompts]
    freedom = int(counts.sum()) - len(counts)
    fits, inverse = _fits(cut, totals, pool, shrinkage(freedom, left.shape[1]), left.shape[1])
    pairs = float((sizes.prod(axis=1) / counts).sum())
    order = np.concatenate(fold_prompts)
    return Part(
        fits,
        np.concatenate(index),
        [strata.sizes[p] for p in order.tolist()],
        within=True,
        information=pairs * inverse,
    )


def _of_others(
    left: Points, right: Points, pool: Workers, strata: PromptStrata, folds: int, seed: int
) -> Part:
    """Rows of prompts that one side alone has, whole prompts in a fold."""
    n, m = strata.prompts
    dealt = _deal(n, m, folds, seed)
    rows = strata.alone.reshape(n + m, strata.answers)
    index = [rows[dealt == which].ravel() for which in range(folds)]
    fold_prompts = [
        (int(np.sum(dealt[:n] == which)), int(np.sum(dealt[n:] == which))) for which in range(folds)
    ]
    sizes = [(a * strata.answers, b * strata.answers) for a, b in fold_prompts]
    share = shrinkage(strata.alone.size, left.shape[1])
    cut = _standard(left, right, index)
    fits, inverse = _fits(cut, sizes, pool, share, left.shape[1])
    return Part(
        fits,
        np.concatenate(index),
        fold_prompts,
        strata.answers,
        information=n * m / (n + m) * inverse,
    )


def too_few(n: int, m: int, folds: int, strata: PromptStrata | None) -> str:
    """Explain why sets cannot be divided into folds."""
    if strata is None:
        return f"{folds} folds need at least {folds} rows in each set; there are {n} and {m}"
    one, other = strata.prompts
    return (
        f"{folds} folds need at least {folds} prompts that both sets answer, or {folds} answers of "
        f"each to one of these; or as many prompts of either that the other lacks; there are "
        f"{len(strata.sizes)} prompts in both, and {one} and {other} in one of them"
    )


def cross_fit(
    left: Points, right: Points, pool: Workers, *, folds: int, seed: int, share: float | None = None
) -> list[Fold]:
    """Divide both sets into folds, and factorise the matrices of each fold's classifier.

    `share` is how far its covariance is shrunk, in [0, 1]; :func:`shrinkage` by default.
    """
    n, m, d = len(left), len(right), left.shape[1]
    fold = _deal(n, m, folds, seed)
    sizes = [
        (int(np.sum(fold[:n] == which)), int(np.sum(fold[n:] == which))) for which in range(folds)
    ]
    cut = _standard(left, right, [np.flatnonzero(fold == which) for which in range(folds)])
    return _fits(cut, sizes, pool, shrinkage(n + m, d) if share is None else share, d)[0]


def _fits(
    cut: Sequence[Floats], sizes: Sequence[tuple[int, int]], pool: Workers, share: float, d: int
) -> tuple[list[Fold], float]:
    """Factorise what the classifier of each fold needs; and the mean of what it divides by."""
    moments = list(pool.map(lambda part: part.T @ part, cut))
    total, count = np.sum(moments, axis=0), sum(map(len, cut))
    sums = np.sum([fold_rows.sum(axis=0) for fold_rows in cut], axis=0)
    # Made here, since other threads do not know how much memory may be taken
    solved = [scratch(fold_rows.T.shape, np.float64) for fold_rows in cut]

    def fit(which: int) -> tuple[Fold, float]:
        fold_rows, outside = cut[which], total - moments[which]
        solve = _inverse(outside, sums - fold_rows.sum(axis=0), count - len(fold_rows), share, d)
        fold = Fold(fold_rows, sizes[which], np.matmul(solve, fold_rows.T, out=solved[which]))
        return fold, float(np.trace(solve)) / d

    fits = list(pool.map(fit, range(len(cut))))
    return [fold for fold, _ in fits], float(np.mean([inverse for _, inverse in fits]))


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
    for fold_rows in cut:
        fold_rows /= given
        fold_rows -= mean
        fold_rows /= spread
    _pull_in(cut)
    if d <= len(rows):
        return cut
    # Turned into their own span, rows keep their products: a classifier sees no more of them
    turned = np.linalg.qr(np.concatenate(cut).T).R.T
    return np.split(turned, np.cumsum([len(fold_rows) for fold_rows in cut])[:-1])


def _pull_in(cut: list[Floats]) -> None:
    """Bring a few rows that lie far out to the distance of the farthest others, of either label.

    One row of hundreds a thousand times as far out as the others decides the means and the
    covariance, and turned an area of 0.999 into 0.28. Labels play no part, so that p-values stay
    exact; where no row lies so far out, nothing changes.
    """
    far = far_rows(cut)
    if far is None:
        return
    near = far.without(cut)
    count = sum(map(len, near))
    mean = np.sum([part.sum(axis=0) for part in near], axis=0) / count
    squares = [np.einsum("ij,ij->i", part - mean, part - mean) for part in near]
    spread = np.sqrt(sum(part.sum() for part in squares) / (count * cut[0].shape[1]))
    if spread == 0:  # the others are all one
        return
    reach = np.sqrt(max(part.max(initial=0.0) for part in squares))
    for part in cut:
        part -= mean
        lengths = np.sqrt(np.einsum("ij,ij->i", part, part))
        part *= (np.minimum(1.0, reach / np.maximum(lengths, reach)) / spread)[:, None]


def _deal(n: int, m: int, folds: int, seed: int) -> NDArray[np.int64]:
    """The fold of every row; sizes differ by one at most, in either set and in both together."""
    rng = np.random.default_rng([seed, n, m])
    sides = np.arange(n) % folds, (np.arange(m) + n) % folds
    return np.concatenate([rng.permutation(side) for side in sides])


def shrinkage(rows: int, d: int) -> float:
    """Compute how far to shrink a covariance towards a multiple of the identity.

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


def _cut(values: NDArray[Any], folds: Sequence[Fold]) -> list[NDArray[Any]]:
    """What stands beside the rows, fold by fold."""
    ends = list(accumulate(len(fold.rows) for fold in folds))
    return [values[start:end] for start, end in pairwise([0, *ends])]


def held_out(chosen: Flags, parts: Sequence[Fold], measure: Measure) -> Floats:
    """Score held-out rows for every relabelling, ``(c, places)``, and average over the folds."""
    labels = np.split(chosen, np.cumsum([len(fold.rows) for fold in parts])[:-1], axis=1)
    ours = [
        fold_labels.astype(np.float64) @ fold.rows
        for fold_labels, fold in zip(labels, parts, strict=True)
    ]
    totals = [fold.rows.sum(axis=0) for fold in parts]
    every, total = sum(ours), np.sum(totals, axis=0)
    n, m = np.sum([fold.sizes for fold in parts], axis=0)
    values = []
    for fold, fold_labels, ones, sums in zip(parts, labels, ours, totals, strict=True):
        one, other = every - ones, total - sums
        one /= n - fold.sizes[0]
        other = (other - (n - fold.sizes[0]) * one) / (m - fold.sizes[1])
        # How far rows lie on the reference's side of a plane, wherever that stands: as areas need
        values.append(measure((one - other) @ fold.solved, fold_labels))
    return np.asarray(np.mean(values, axis=0))


def area(scores: Floats, labels: Flags) -> Floats:
    """Compute the area under the ROC curve of every row of scores, ``(c, r)``; ties count half."""
    codes = np.ascontiguousarray(scores + 0.0).view(np.int64)  # no negative zeros
    codes = (codes & ~ROUNDING) | labels  # the label rides along in the last bit
    ordered = np.sort(codes.view(np.float64), axis=1).view(np.int64)
    areas = np.empty(len(scores))
    _areas(ordered, areas)
    return areas


_areas = native.kernel("roc_areas", "ordered i8[count, places]", "areas f8[count] out")
