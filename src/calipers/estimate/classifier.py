"""Likelihood ratios from a classifier between the two sets, and its accuracy.

    p/q = (m / n) · η(x) / (1 − η(x)),   with η(x) the probability that x is from the reference

(Pillutla et al., JMLR 2023, section 4.3, equation 28). Every sample is judged by a classifier that
was trained on the other folds, which are stratified, seeded, and keep copies together. Where both
sets answer the same prompts, they keep the answers to a prompt together: a classifier that was
trained on one of two twins would take the other for one of the same set. The paper's classifier is
logistic regression with an L2 penalty; gradient-boosted trees see what no plane separates.

Scores are calibrated: log p/q is a line in the held-out score, fitted to the scores of the other
folds (Platt, 1999). Without it many dimensions make a classifier too sure of itself: for two equal
Gaussians in 100 dimensions and 1,000 samples a side KL comes out at 0.18 without and at 0.001 with
it, for a true KL of 0.5 at 1.00 and 0.40; in 5 dimensions it changes nothing.

:func:`discriminate` is the discriminator of section 6.3, for its accuracy alone: one part of four
is the test set, and cross-validation on the rest chooses the penalty.

What it does not detect: whatever the classifier cannot express, such as equal means with different
spread for the logistic one. It then errs towards no difference. Where it separates both sets it
says no more than that: how large the ratios are is up to the penalty and to Platt's targets.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.errors import InputError, require
from calipers.estimate.axes import leading_axes
from calipers.estimate.likelihood_ratios import LikelihoodRatios
from calipers.estimate.logistic import fit_design, fit_logistic
from calipers.estimate.prompt_strata import Prompts
from calipers.numeric.arrays import Flags, Floats, Indices
from calipers.numeric.distances import Points
from calipers.numeric.row_sets import RowSets, row_ranks
from calipers.numeric.scratch import scratch
from calipers.numeric.threads import limit_threads
from calipers.numeric.validation import check_choice, check_pair, check_whole, is_positive

PLATT = 1e-10
"""Penalty on the slope of a calibration: next to none, so that a line is found in any case."""


def platt(scores: Floats, positive: NDArray[np.bool_]) -> tuple[float, float]:
    """Fit a line from scores to log-odds by maximum likelihood (Platt scaling).

    Targets are (N₊ + 1) / (N₊ + 2) and 1 / (N₋ + 2) in place of 1 and 0, as Platt has them, so that
    the line stays finite when the scores separate the classes. The slope is not below 0: scores
    that order held-out samples the wrong way round tell nothing. Where it is 0 the log-odds are
    those of the counts, log (N₊ / N₋), at every score.

    Both classes must occur.

    Returns
    -------
    slope, intercept
        log-odds = slope · score + intercept.
    """
    spread = float(np.abs(scores).max(initial=0.0))
    count = int(positive.sum()), int((~positive).sum())
    prior = float(np.log(count[0] / count[1]))  # nothing separates: no need for Platt's targets
    if scores.min() == scores.max():
        return 0.0, prior
    x = scores / spread
    targets = np.where(positive, (count[0] + 1) / (count[0] + 2), 1 / (count[1] + 2))
    weights, intercept = fit_logistic(x[:, None], targets, PLATT)
    slope = float(weights[0])
    return (slope / spread, intercept) if slope > 0 else (0.0, prior)


Folds = NDArray[np.int64]


def assign_folds(
    reference: Points,
    generated: Points,
    *,
    folds: int,
    seed: int,
    prompts: Prompts | None = None,
) -> tuple[Folds, Folds]:
    """Assign the rows of both sets to folds of nearly equal size.

    With `prompts`, the number of the prompt of every row, whole prompts are dealt.

    A row and its copy in the other set come into one fold: apart, a classifier that has seen the
    one would be certain, and wrong, about the other. The first copy is matched with the first, the
    second with the second; copies within a set alone are dealt like other rows. Folds depend on the
    rows and not on their order, and swapping the sets swaps them.

    Returns
    -------
    tuple of ndarrays
        Fold of every reference and of every generated row, shapes ``(n,)`` and ``(m,)``, int64. In
        either set the sizes of two folds differ by 1 at most, with `prompts` the numbers of these.
    """
    if prompts is not None:
        return _deal_prompts(prompts, folds, seed)
    n = len(reference)
    rank = row_ranks(reference, generated)
    copies = [_count_before(rank[:n]), _count_before(rank[n:])]
    keys = [_pair_key(part, copy) for part, copy in zip((rank[:n], rank[n:]), copies, strict=True)]
    dealt = []
    for side, other in (keys, keys[::-1]):
        copied = np.isin(side, other)
        fold = np.empty(len(side), np.int64)
        # Both sets are shuffled alike, so that nothing depends on which of them comes first
        fold[copied] = _deal(side[copied], folds, seed, start=0)
        fold[~copied] = _deal(side[~copied], folds, seed, start=int(copied.sum()))
        dealt.append(fold)
    return dealt[0], dealt[1]


def _count_before(rank: Folds) -> Folds:
    """How many equal rows stand before every row."""
    order = np.argsort(rank, kind="stable")
    ordered = rank[order]
    first = np.searchsorted(ordered, ordered)
    count = np.empty_like(rank)
    count[order] = np.arange(len(rank)) - first
    return count


def _pair_key(rank: Folds, copy: Folds) -> Folds:
    """One number for a row and which of its copies it is."""
    return rank * (1 << 31) + copy


def _deal(keys: Folds, folds: int, seed: int, *, start: int) -> Folds:
    """Shuffle the keys, which are all different, and deal them round, after `start` others."""
    dealt = (np.random.default_rng(seed).permutation(len(keys)) + start) % folds
    fold = np.empty(len(keys), np.int64)
    fold[np.argsort(keys)] = dealt
    return fold


def _deal_prompts(prompts: Prompts, folds: int, seed: int) -> tuple[Folds, Folds]:
    """Deal the prompts that both sets answer, then those of either set alone."""
    numbers, places = np.unique(np.concatenate(prompts), return_inverse=True)
    sides = np.split(places.ravel(), [len(prompts[0])])
    ours, theirs = (np.bincount(side, minlength=len(numbers)) > 0 for side in sides)
    fold, start = np.empty(len(numbers), np.int64), int((ours & theirs).sum())
    for dealt, first in ((ours & theirs, 0), (ours & ~theirs, start), (theirs & ~ours, start)):
        fold[dealt] = _deal(numbers[dealt], folds, seed, start=first)
    return fold[sides[0]], fold[sides[1]]


Learner = Callable[[RowSets, Indices, Flags], Callable[[Points], Floats]]
"""Learns from some rows and their labels, and gives the log-odds of others."""

Model = Literal["logistic", "boosted"]

# Many small steps of small trees: the log-odds of a few thousand samples need no deep ones
TREES, LEAVES, STEP = 100, 8, 0.05


def logistic(penalty: float) -> Learner:
    """Fit logistic regression on standardised columns, with penalty ½ · penalty · ‖w‖²."""

    def train(rows: RowSets, index: Indices, labels: Flags) -> Callable[[Points], Floats]:
        mean, scale = _standard(rows, index)
        design = scratch((len(index), rows.columns + 1), np.float64)
        for place, part in rows.blocks(index):
            design[place, :-1] = (part - mean) / scale
        design[:, -1] = 1.0
        weights, intercept = fit_design(design, labels, penalty)
        return lambda points: np.asarray((points - mean) / scale @ weights + intercept, np.float64)

    return train


def boosted(penalty: float) -> Learner:
    """Fit gradient-boosted trees on histograms of the columns, without a penalty."""

    def train(rows: RowSets, index: Indices, labels: Flags) -> Callable[[Points], Floats]:
        purpose = "the estimator 'boosted'"
        ensemble = require("sklearn.ensemble", extra="trees", purpose=purpose)
        fitted = ensemble.HistGradientBoostingClassifier(
            max_iter=TREES,
            max_leaf_nodes=LEAVES,
            learning_rate=STEP,
            early_stopping=False,
            random_state=0,  # draws the rows that place the bins, where there are many
        )
        fitted.fit(rows.copied(index), labels)
        return lambda points: np.asarray(fitted.decision_function(points), np.float64)

    return train


LEARNERS: dict[str, Callable[[float], Learner]] = {"logistic": logistic, "boosted": boosted}


def _standard(rows: RowSets, index: Indices) -> tuple[Floats, Floats]:
    """Mean and standard deviation of the columns; 1 where a column is constant up to rounding."""
    total, largest = np.zeros(rows.columns), np.zeros(rows.columns)
    for _, part in rows.blocks(index):
        total += part.sum(axis=0, dtype=np.float64)
        largest = np.maximum(largest, np.abs(part).max(axis=0))
    mean, spread = total / len(index), np.zeros(rows.columns)
    # A power of two about the largest number of each column rounds nothing and keeps squares safe
    exponent = np.frexp(largest)[1]
    for _, part in rows.blocks(index):
        spread += (np.ldexp(part - mean, -exponent) ** 2).sum(axis=0)
    scale = np.ldexp(np.sqrt(spread / len(index)), exponent)
    return mean, np.where(scale > 1e-12 * np.abs(mean), scale, 1.0)


SIDES = ("reference", "generated")


class SeparationWarning(UserWarning):
    """A classifier makes no error on held-out samples, so its ratios mean little."""


PERFECT = (
    "the classifier separates the reference and the generated set without a single error on "
    "held-out samples: the likelihood ratios are finite only because they are regularised, and "
    "their size means little"
)

PENALTIES = tuple(float(penalty) for penalty in 10.0 ** np.linspace(4, -4, 10))
"""The penalties to choose from: of 1/C, scikit-learn's usual ten; section 6.3 names none."""


@dataclass(frozen=True, eq=False)
class Classification:
    """Held-out accuracy and odds of a cross-fitted classifier between two sets.

    Attributes
    ----------
    ratios
        log p/q at every sample, from classifiers that have not seen it; finite everywhere.
    accuracy
        Share of held-out samples that are put into their own set, the mean over the two sets; in
        [0, 1], 0.5 is chance also where n ≠ m.
    auc
        Share of the pairs of held-out samples, one of each set, of which the reference's looks
        more like the reference; the mean over the folds, in [0, 1], 0.5 is chance.
    """

    ratios: LikelihoodRatios
    accuracy: float
    auc: float

    @property
    def separates(self) -> bool:
        """Whether it makes no error on held-out samples, so that the ratios mean little."""
        return self.auc == 1.0


def classify(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    model: Model = "logistic",
    folds: int = 5,
    penalty: float = 1.0,
    calibrate: bool = True,
    dimensions: int | None = None,
    prompts: Prompts | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> Classification:
    """Train a classifier to tell two sets apart, and return its accuracy and its odds.

    Parameters
    ----------
    reference, generated
        Rows, shapes ``(n, d)`` and ``(m, d)``, at least `folds` each.
    model
        ``"logistic"`` on standardised columns, or ``"boosted"`` trees.
    folds
        Number of parts of the samples, from 2; stratified, with a row and its copy in the
        other set in one part.
    penalty
        λ of the logistic one times the number of training samples, above 0: its loss is the mean
        log-loss plus λ/2 · ‖w‖². The paper tries 1 to 0.001 and finds that it hardly matters.
    calibrate
        Whether log-odds are refitted to held-out scores.
    dimensions
        Leading principal axes of the union that are kept; None, the default, keeps all columns.
    prompts
        The number of the prompt that each row of both sets answers; answers to one prompt are in
        one part then. None where they share none.
    seed
        Seed of the folds.
    threads
        Number of threads of BLAS and OpenMP (default: as they are set).

    Returns
    -------
    Classification
        Ratios at all samples, in their order, with held-out accuracy and AUC.

    Raises
    ------
    InputError
        If the arrays do not fit together, a set has fewer samples than folds, or an option is out
        of its range.

    Warns
    -----
    UserWarning
        If no held-out sample is misjudged.

    Examples
    --------
    >>> import numpy as np
    >>> reference = np.arange(20.0)[:, None]
    >>> found = classify(reference, reference + 100)
    >>> found.accuracy, found.auc
    (1.0, 1.0)
    """
    check_choice("model", model, tuple(LEARNERS))
    pair = check_pair(reference, generated)
    left, right = pair if dimensions is None else leading_axes(*pair, dimensions=dimensions)
    n, m = len(left), len(right)
    _check_options(folds, penalty, seed, n, m)
    labels = np.arange(n + m) < n
    fold = np.concatenate(assign_folds(left, right, folds=folds, seed=seed, prompts=prompts))
    with limit_threads(threads):
        rows, every = RowSets((left, right)), np.arange(n + m)
        scores = _held_out(rows, every, labels, fold, LEARNERS[model](float(penalty)))
    logs = _calibrated(scores, labels, fold) if calibrate else scores
    pins: dict[str, object] = {
        "estimator": "classifier" if model == "logistic" else model,
        "folds": int(folds),
        "calibrated": bool(calibrate),
        "seed": int(seed),
    }
    pins |= {} if prompts is None else {"folds_by": "prompt"}
    pins |= {"penalty": float(penalty)} if model == "logistic" else {}
    pins |= {} if dimensions is None else {"dimensions": left.shape[1]}
    ratios = LikelihoodRatios(logs[:n], logs[n:], positive=True, pins=pins)
    classification = Classification(ratios, _accuracy(scores, labels), _auc(scores, labels, fold))
    if classification.separates:
        warnings.warn(PERFECT, SeparationWarning, stacklevel=2)
    return classification


@dataclass(frozen=True)
class Discrimination:
    """Accuracy of a discriminator on a held-out test set.

    Attributes
    ----------
    accuracy
        Share of the test set that is put into its own set, the mean over the two sets; in [0, 1],
        0.5 is chance also where n ≠ m.
    tested
        How many rows of the reference and of the generated set were tested.
    penalty
        The penalty that cross-validation chose.
    """

    accuracy: float
    tested: tuple[int, int]
    penalty: float


def discriminate(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    parts: int = 4,
    folds: int = 5,
    prompts: Prompts | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> Discrimination:
    """Train a discriminator by the protocol of Pillutla et al., JMLR 2023, section 6.3.

    Logistic regression on standardised columns is trained on three quarters of both sets and
    tested on the fourth. The penalty is the one of :data:`PENALTIES` with the best accuracy in
    cross-validation on the rows that are trained on; of equals the largest.

    Parameters
    ----------
    reference, generated
        Rows, shapes ``(n, d)`` and ``(m, d)``.
    parts
        One of so many parts is the test set, from 2; 4 makes the 25 % of the paper.
    folds
        Of the cross-validation, from 2. Test set and folds are stratified, and keep a row and its
        copy in the other set together.
    prompts
        The number of the prompt that each row of both sets answers; answers to one prompt are in
        one part then. None where they share none.
    seed
        Seed of the test set and the folds.
    threads
        Number of threads of BLAS and OpenMP (default: as they are set).

    Returns
    -------
    Discrimination

    Raises
    ------
    InputError
        If the arrays do not fit together, a set has too few samples, or an option is out of its
        range.

    Examples
    --------
    >>> import numpy as np
    >>> reference = np.arange(20.0)[:, None]
    >>> found = discriminate(reference, reference + 100)
    >>> found.accuracy, found.tested
    (1.0, (5, 5))
    """
    left, right = check_pair(reference, generated)
    check_whole("parts", parts, 2)
    check_whole("folds", folds, 2)
    check_whole("seed", seed, 0)
    sides = assign_folds(left, right, folds=parts, seed=seed, prompts=prompts)
    left_out = [part == 0 for part in sides]
    trained = [
        RowSets((points,)).copied(np.flatnonzero(part > 0))
        for points, part in zip((left, right), sides, strict=True)
    ]
    for name, points, trained_rows in zip(SIDES, (left, right), trained, strict=True):
        if len(points) < parts or len(trained_rows) < folds:
            raise InputError(
                f"a discriminator with 1 part of {parts} for its test and folds = {folds} needs "
                f"{parts} samples in each set, and {folds} to train on; the {name} set has "
                f"{len(points)}"
            )
    rows, tested = RowSets((left, right)), np.concatenate(left_out)
    labels = np.arange(len(rows)) < len(left)
    known_prompts = (
        None if prompts is None else (prompts[0][~left_out[0]], prompts[1][~left_out[1]])
    )
    dealt = assign_folds(*trained, folds=folds, seed=seed, prompts=known_prompts)
    fold = np.concatenate(dealt)
    seen, known = np.flatnonzero(~tested), labels[~tested]
    with limit_threads(threads):
        areas = [
            _accuracy(_held_out(rows, seen, known, fold, logistic(p)), known) for p in PENALTIES
        ]
        best = PENALTIES[int(np.argmax(areas))]
        log_odds = logistic(best)(rows, seen, known)
        scores = _applied(log_odds, rows, np.flatnonzero(tested)) - _log_prior(known)
    sizes = int(labels[tested].sum()), int((~labels[tested]).sum())
    return Discrimination(_accuracy(scores, labels[tested]), sizes, best)


def _held_out(
    rows: RowSets, index: Indices, labels: Flags, fold: Folds, learner: Learner
) -> Floats:
    """Log p/q at some rows, each from a classifier that was trained on the other folds of them."""
    logs = np.empty(len(index))
    for which in np.unique(fold):
        in_fold = fold == which
        log_odds = _applied(learner(rows, index[~in_fold], labels[~in_fold]), rows, index[in_fold])
        logs[in_fold] = log_odds - _log_prior(labels[~in_fold])
    return logs


def _applied(log_odds: Callable[[Points], Floats], rows: RowSets, index: Indices) -> Floats:
    """The log-odds of some rows, block by block."""
    return np.concatenate([log_odds(part) for _, part in rows.blocks(index)])


def _calibrated(scores: Floats, labels: Flags, fold: Folds) -> Floats:
    """Log p/q at every row, on the line that fits the held-out scores of the other folds."""
    logs = np.zeros_like(scores)
    in_folds = [fold == which for which in np.unique(fold)]
    if not any(np.ptp(scores[in_fold]) > 0 for in_fold in in_folds):
        return logs  # from fold to fold there is no more than the rounding of what was trained
    for in_fold in in_folds:
        slope, intercept = platt(scores[~in_fold], labels[~in_fold])
        logs[in_fold] = slope * scores[in_fold] + intercept - _log_prior(labels[~in_fold])
    return logs


def _log_prior(labels: Flags) -> float:
    """Logarithm of n / m among the samples that were trained on: equation 28 takes it away."""
    return float(np.log(labels.sum() / (~labels).sum()))


def _accuracy(scores: Floats, labels: Flags) -> float:
    signed = np.where(labels, scores, -scores)
    right = (signed > 0) + 0.5 * (signed == 0)
    return float(0.5 * right[labels].mean() + 0.5 * right[~labels].mean())


def _auc(scores: Floats, labels: Flags, fold: Folds) -> float:
    in_folds = [fold == which for which in np.unique(fold)]
    return float(
        np.mean([area(scores[in_fold & labels], scores[in_fold & ~labels]) for in_fold in in_folds])
    )


def area(positive: Floats, negative: Floats) -> float:
    """Compute the area under the ROC curve: the share of pairs in which the positive scores higher.

    A tie counts half. Neither may be empty.
    """
    ordered = np.sort(negative)
    below = np.searchsorted(ordered, positive, side="left").sum()
    ties = np.searchsorted(ordered, positive, side="right").sum() - below
    return float((below + 0.5 * ties) / (len(positive) * len(negative)))


def _check_options(folds: Any, penalty: Any, seed: Any, n: int, m: int) -> None:
    check_whole("folds", folds, 2)
    check_whole("seed", seed, 0)
    if not is_positive(penalty):
        raise InputError(f"penalty must be a number above 0; found {penalty!r}")
    for name, size in (("reference", n), ("generated", m)):
        if size < folds:
            raise InputError(
                f"a classifier with folds = {folds} needs at least {folds} samples in each set; "
                f"the {name} set has {size}"
            )
