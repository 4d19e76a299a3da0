"""Cross-fitted odds of every sample to be of the reference, from classifiers.

A classifier calls a sample real where its odds reach a threshold. With A what it calls real,
precision at slope λ is the least cost of its errors (Simon, Webster and Rabin, ICML 2019; Sykes,
Simon and Rabin, arXiv 2405.01611)

    α(λ) = min over A of λ·P(not A) + Q(A),    and recall β(λ) = α(λ) / λ.

The likelihood ratio attains the minimum over all sets A. The families here take for A the upper
sets of the odds that they estimate:

- ``support``: how many of the k-NN balls of either training set hold the sample;
- ``coverage``: how many rows of each training set are as near to it as the k-th of the other one;
- ``knn``: how its k nearest training rows of both sets divide;
- ``kde``: Gaussian kernel densities of both training sets;
- ``classifier``, ``boosted``: logistic regression and gradient-boosted trees.

Both sets are cut in two halves, and each half is judged by what was trained on the other one, so
that the rates of error of every single classifier are estimated without bias. What bias is left
comes from two sides: a family without a good classifier puts the curve too high, the choice of the
best threshold on the very samples that are judged puts it too low. Of ``support`` and ``coverage``
there is the other form too, which judges the samples that it is trained on: its ends are precision
and recall (Kynkäänniemi et al., NeurIPS 2019), and coverage (Naeem et al., ICML 2020) of either set
by the other.

What it does not detect: a difference that no threshold on the odds can use; with halves, what half
of the samples are too few to learn.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from calipers.catalogue.settings import Distance, Ties
from calipers.errors import InputError
from calipers.estimate.axes import check_two_rows, leading_axes, scale_alike
from calipers.estimate.balanced_neighbours import PAPER_K
from calipers.estimate.classifier import SeparationWarning, assign_folds, classify
from calipers.estimate.estimators import CLASSIFIERS, LEADING_AXES
from calipers.estimate.judges import Judge, Near, Training, balls, kernels, neighbours, reach
from calipers.estimate.knn.neighbourhoods import directions
from calipers.estimate.prompt_strata import Prompts
from calipers.estimate.sample_odds import SampleOdds
from calipers.numeric.arrays import Longs
from calipers.numeric.distances import Sides
from calipers.numeric.validation import check_choice, check_pair, check_whole

Family = Literal["support", "coverage", "knn", "kde", "classifier", "boosted"]
"""What the odds of a sample are read from."""

IN_SAMPLE = ("support", "coverage")
"""The families that can also judge the samples that they are trained on."""

K = 4
"""Neighbours of supports and coverage where nothing is held out, as of precision and recall."""


def sample_odds(
    reference: ArrayLike,
    generated: ArrayLike,
    family: Family,
    *,
    k: int | None = None,
    held_out: bool = True,
    ties: Ties = "closed",
    distance: Distance = "euclidean",
    prompts: Prompts | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> SampleOdds:
    """Estimate the odds of every sample to be of the reference, by cross-fitted classifiers.

    Parameters
    ----------
    reference, generated
        Rows, shapes ``(n, d)`` and ``(m, d)``. Supports and coverage search them as they are, the
        other families on the 10 leading principal axes of the union.
    family
        The family of classifiers, as above.
    k
        Neighbours: of ``support`` and ``coverage`` in each set, by default the root of the rows
        that are trained on in the smaller set, and 4 where nothing is held out; of ``knn`` in both
        sets together, 50 by default. The other families have none.
    held_out
        Whether each half of both sets is judged by the other half. ``support`` and ``coverage`` can
        also judge the samples that they are trained on.
    ties, distance
        Of the balls of ``support`` and ``coverage``.
    prompts
        The number of the prompt that each row answers: whole prompts are dealt to a half. Where
        nothing is held out, answers to one prompt are no neighbours.
    seed
        Seed of the halves.
    threads
        Number of threads (default: all cores); no effect on the result.

    Returns
    -------
    SampleOdds
        At the samples, in their order.

    Raises
    ------
    InputError
        If the arrays do not fit together or are too small for k, a name is unknown, or a family
        that judges held-out samples alone is asked for another form.

    Examples
    --------
    >>> reference = [[0.0], [1.0], [2.0], [3.0]]
    >>> generated = [[0.5], [1.5], [9.0], [10.0]]
    >>> sample_odds(reference, generated, "support", k=1, held_out=False).ends
    (0.5, 0.75)
    """
    check_choice("family", family, get_args(Family))
    check_whole("seed", seed, 0)
    sides = check_pair(reference, generated)
    if not held_out and family not in IN_SAMPLE:
        raise InputError(
            f"{family!r} judges held-out samples alone; those that can judge the samples that they "
            f"are trained on are {' and '.join(map(repr, IN_SAMPLE))}"
        )
    if held_out:
        check_two_rows(len(sides[0]), len(sides[1]), "cutting both sets in halves")
    pins: dict[str, object] = {"judged": "held_out" if held_out else "in_sample"}
    pins |= {"seed": seed} if held_out else {}
    if family in CLASSIFIERS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SeparationWarning)  # order is all
            ratios = classify(
                *sides,
                model=CLASSIFIERS[family],
                folds=2,
                calibrate=False,
                dimensions=LEADING_AXES,
                prompts=prompts,
                seed=seed,
                threads=threads,
            ).ratios
        return SampleOdds(ratios.log_reference, ratios.log_generated, pins={**ratios.pins, **pins})
    pins = {"estimator": family, **pins}
    if family in IN_SAMPLE:
        count = check_whole("k", _usual(sides, held_out=held_out) if k is None else k, 1)
        make, rows = (balls if family == "support" else reach), sides
        if distance == "cosine":
            rows = directions(*sides)
        pins |= {"k": count, "ties": ties, "distance": distance}
        judge = make(count, ties)
    else:
        rows = leading_axes(*sides, dimensions=LEADING_AXES)
        pins |= {"dimensions": rows[0].shape[1]}
        if family == "kde":
            rows, judge = scale_alike(*rows), kernels(threads)
        else:
            count = check_whole("k", PAPER_K if k is None else k, 1)
            judge, pins = neighbours(count), pins | {"k": count}
    if held_out:
        folds = assign_folds(*sides, folds=2, seed=seed, prompts=prompts)
        return _of(*_by_halves(rows, folds, judge), pins=pins)
    numbers = None if prompts is None else np.concatenate(prompts)
    trained, n = judge(Training(*rows, numbers)), len(rows[0])
    ours, theirs = trained(rows[0], np.arange(n)), trained(rows[1], n + np.arange(len(rows[1])))
    return _of(ours, theirs, pins=pins)


def _usual(sides: Sides, *, held_out: bool) -> int:
    """So many neighbours that their number tells densities apart, where samples are held out."""
    return max(1, round(float(min(map(len, sides)) / 2) ** 0.5)) if held_out else K


def _by_halves(rows: Sides, folds: tuple[Longs, Longs], judge: Judge) -> tuple[Near, Near]:
    """Judge both halves of both sets, each by the other half."""
    made = [np.empty((2, len(side))) for side in rows]
    logs = False
    for half in (0, 1):
        trained = judge(Training(rows[0][folds[0] != half], rows[1][folds[1] != half]))
        for side, fold, near in zip(rows, folds, made, strict=True):
            judged = trained(side[fold == half], None)
            near[:, fold == half] = judged.reference, judged.generated
            logs = judged.logs
    ours, theirs = made
    return Near(ours[0], ours[1], logs), Near(theirs[0], theirs[1], logs)


def _of(ours: Near, theirs: Near, *, pins: Mapping[str, object]) -> SampleOdds:
    if ours.logs:
        return SampleOdds(ours.log_odds, theirs.log_odds, pins=pins)
    return SampleOdds(
        ours.log_odds,
        theirs.log_odds,
        covered=ours.generated > 0,
        supported=theirs.reference > 0,
        pins=pins,
    )
