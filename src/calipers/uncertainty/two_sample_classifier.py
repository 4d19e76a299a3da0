"""The classifier two-sample test, by a linear classifier on held-out samples.

Lopez-Paz and Oquab (ICLR 2017) with two changes: labels are permuted, so the p-value is exact at
every size, and every row is judged, each by a classifier that was trained on the other folds
(:mod:`calipers.estimate.discriminant`). The statistic is the area under the ROC curve, the mean
over the folds: it uses how far a row lies from the plane and not only on which side, and finds more
than accuracy does (docs/two_sample.md). Labels are permuted within folds, which keeps these
balanced.

**Where both sets answer the same prompts**, folds keep a prompt together, and labels are permuted
among the answers to each shared prompt; among whole prompts where one side alone has them
(:mod:`calipers.estimate.prompt_strata` says why that is exact). The statistic is the area over the
rows of a fold about the mean of their prompt: of one answer on either side it is Wilcoxon's
signed-rank statistic of the differences. What is reported beside it (``estimate``) is the area
within prompts, the chance to tell which of two answers to one prompt is the reference's: that means
the same however many answers a prompt has, but as a statistic it is a sign test, which finds less.
Of sets that share some of their prompts, the two parts are added up. Each is weighted by how much
it would see of a gap along any one direction, sqrt(pairs · tr Σ⁻¹ / d), over its standard deviation
in all relabellings. Neither depends on which labelling is the true one, so the sum is as exact.

What it does not see: whatever no plane separates, such as equal means with another spread, or modes
lost on all sides of the mean. :func:`calipers.uncertainty.two_sample_mmd.mmd_test` sees such gaps
where they are coarse; this test sees a small shift along a direction of small variance, which the
kernel drowns in the spread of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from calipers.estimate.discriminant import FOLDS, Part, mean_area, parts_of, too_few
from calipers.estimate.prompt_strata import PromptStrata, check_prompts
from calipers.numeric.arrays import Flags, Floats
from calipers.numeric.threads import workers
from calipers.numeric.validation import check_pair, check_whole
from calipers.uncertainty.fold_by_fold import fold_by_fold
from calipers.uncertainty.two_sample import (
    Prompts,
    TwoSample,
    at_limit,
    check_options,
    relabelled,
)


def classifier_test(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    prompts: Prompts | None = None,
    permutations: int = 999,
    folds: int = FOLDS,
    seed: int = 0,
    level: float = 0.95,
    threads: int | None = None,
    tail: bool = False,
) -> TwoSample:
    """Test whether a linear classifier distinguishes held-out rows of the two sets.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``; taken as given.
    prompts
        The number of the prompt that each row answers, shapes ``(n,)`` and ``(m,)``; rows of one
        number answer one prompt, whichever side they are on. None where no prompts are shared.
    permutations
        How often labels are permuted, from 1: no p-value is below 1/(1 + permutations).
    folds
        Number of random parts of each set, from 2, with whole prompts where these are
        known.
    seed
        Of the folds and the permutations.
    level
        Confidence level of the threshold, in (0, 1).
    threads
        Number of threads (default: all cores); no effect on the result.
    tail
        Whether a p-value may be smaller than 1/(1 + permutations), where no permutation reaches
        the statistic and prompts are shared: then by
        :func:`calipers.uncertainty.fold_by_fold.fold_by_fold`.

    Returns
    -------
    TwoSample
        With the held-out area under the ROC curve as the estimate: 0.5 is chance, 1 a perfect
        classifier. It is the statistic too, unless prompts are shared. NaN with a reason where
        there are fewer rows in a set, or fewer prompts, than folds.

    Raises
    ------
    InputError
        If the arrays do not fit together, are not finite, or an option is out of its range.
    """
    check_options(permutations, seed, level)
    check_whole("folds", folds, 2)
    left, right = check_pair(reference, generated)
    n, m = len(left), len(right)
    strata = None
    if prompts is not None:
        strata = PromptStrata.of(*check_prompts(prompts, n, m), seed)
    pins = {
        "test": "classifier",
        "model": "linear_discriminant",
        "shrinkage": "d/(d+n+m)" if strata is None else "d/(d+n+m-prompts)",
        "statistic": "auc" if strata is None else "auc_about_prompts",
        **({} if strata is None else {"prompts": strata.signature}),
        "folds": folds,
        "permutations": permutations,
        **({"tail": "fold_by_fold"} if tail and strata is not None else {}),
        "seed": seed,
        "n": n,
        "m": m,
        "d": left.shape[1],
    }
    with workers(threads) as pool:
        parts = parts_of(left, right, pool, folds=folds, seed=seed, strata=strata)
        if not parts:
            return TwoSample.undefined(
                "classifier",
                too_few(n, m, folds, strata),
                permutations=permutations,
                level=level,
                pins=pins,
            )
        areas = relabelled(
            lambda chosen: _areas(chosen, parts),
            [stratum for part in parts for stratum in part.strata],
            permutations,
            pool,
            seed=seed,
        )
    values = areas @ _weights(areas, parts)
    test = TwoSample.of("classifier", values[0], values[1:], level=level, pins=pins)
    if strata is None:
        return test
    if tail and parts[0].within and at_limit(test):
        test = replace(test, p_value=min(test.p_value, fold_by_fold(parts[0])))
    return replace(test, estimate=mean_area(parts))


def _areas(chosen: Flags, parts: Sequence[Part]) -> Floats:
    """The area of every part by every relabelling, shape ``(c, parts)``."""
    ends = np.cumsum([sum(map(sum, part.strata)) for part in parts])[:-1]
    cut = np.split(chosen, ends, axis=1)
    return np.stack([part.areas(labels) for part, labels in zip(parts, cut, strict=True)], axis=1)


def _weights(areas: Floats, parts: Sequence[Part]) -> Floats:
    """What each part counts; the same whichever of the labellings is the true one."""
    if len(parts) == 1:
        return np.ones(1)
    spread = areas.std(axis=0)
    seen = np.sqrt([part.information for part in parts])
    weights = np.where(spread > 0, seen / np.where(spread > 0, spread, 1), 0)
    return weights / weights.sum() if weights.sum() > 0 else np.full(len(parts), 1 / len(parts))
