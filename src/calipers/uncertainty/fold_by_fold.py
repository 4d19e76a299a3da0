"""Small p-values from folds, below the limit of one over the number of permutations.

A permutation test of R relabellings knows no p-value below 1/(1 + R), and a correction for some
hundred tests needs smaller ones. Here they come from the folds of the classifier, one after the
other. The discriminant that judges a fold is trained on the folds before it, so that nothing of it
depends on which label the rows of this fold bear. Under the null hypothesis the labels within each
of its prompts are then exchangeable whatever came before, and the sum of the ranks of the
reference's rows has a distribution that is known without drawing:

- of prompts with one answer of either side it is Wilcoxon's signed-rank distribution, counted in
  full;
- of others it is bounded, by Chernoff's bound on a sum over independent prompts.

Each fold thus has a p-value that is valid given all folds before, so that their product is at least
as large, in distribution, as that of as many independent uniform numbers (Fisher's combination).

This test alone finds less than permutations do, since it trains on fewer rows. But it may stand in
for the p-values that they cannot give: where no relabelling reaches the statistic, the p-value is
the smaller one of 1/(1 + R) and this. For every α of 1/(1 + R) or more, what is called significant
is then what permutations call so, and for every smaller α it is part of what this test calls so:
either holds its level, and so does the p-value.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb, exp, lgamma, log

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.discriminant import Part
from calipers.numeric.arrays import Floats, Indices

STEPS = 40
"""Times that a third is taken off the interval of exponents in which the best bound lies."""
STEEPEST = 60.0
"""The largest exponent, of ranks between -1 and 1: larger ones change no bound worth having."""
LEAST = 1e-300
COUNTED = 300
"""Prompts of a fold up to which the distribution is counted; of more it is bounded."""


def fold_by_fold(part: Part) -> float:
    """Return a p-value for equal distributions of the answers of both sides, given the prompts.

    Parameters
    ----------
    part
        Rows of shared prompts, whole prompts dealt to folds.

    Returns
    -------
    float
        Between `LEAST` and 1.
    """
    sizes, labels = np.array(part.strata), part.labels
    ends = np.cumsum(sizes.sum(axis=1))  # of the rows of each prompt
    total = np.zeros(part.folds[0].rows.shape[1])
    logs: list[float] = []
    start = first = 0
    for fold in part.folds:
        stop = start + len(fold.rows)
        last = int(np.searchsorted(ends, stop)) + 1
        ours = labels[start:stop]
        if start:
            logs.append(log(max(_rank_p(total @ fold.solved, ours, sizes[first:last]), LEAST)))
        # Rows are taken about the mean of their prompt: the sum of one side is how sides differ
        total += fold.rows[ours].sum(axis=0)
        start, first = stop, last
    return max(_product_p(sum(logs), len(logs)), LEAST)


def _rank_p(scores: Floats, ours: NDArray[np.bool_], sizes: Indices) -> float:
    """The chance of so large a sum of ranks of the reference's rows, or a bound of it."""
    if (sizes == 1).all() and len(sizes) <= COUNTED:
        return _signed_rank_p(scores[0::2] - scores[1::2])
    order = np.argsort(np.abs(scores), kind="stable")
    ranks = np.empty(len(scores))
    ranks[order] = _mean_ranks(np.abs(scores)[order])
    values = np.sign(scores) * ranks / len(ranks)
    reached = float(values[ours].sum())
    alike = _by_size(values, sizes)

    def exponent(steepness: float) -> float:
        """The logarithm of the bound at one exponent, which is convex."""
        return sum(_log_moment(steepness, *prompts) for prompts in alike) - steepness * reached

    low, high = 0.0, STEEPEST
    for _ in range(STEPS):
        third = (high - low) / 3
        if exponent(low + third) < exponent(high - third):
            high -= third
        else:
            low += third
    return exp(min(0.0, exponent((low + high) / 2)))


def _by_size(values: Floats, sizes: Indices) -> list[tuple[Floats, int]]:
    """The values of the prompts of each two numbers of answers, and how many are one side's."""
    starts = np.cumsum(sizes.sum(axis=1)) - sizes.sum(axis=1)
    kinds, which = np.unique(sizes, axis=0, return_inverse=True)
    return [
        (values[np.add.outer(starts[which.ravel() == kind], np.arange(n + m))], n)
        for kind, (n, m) in enumerate(kinds.tolist())
    ]


def _log_moment(steepness: float, values: Floats, chosen: int) -> float:
    """Log E[exp(s Σ)] of the sum of some values of each prompt, drawn without replacement.

    The sum over all draws is an elementary symmetric polynomial.
    """
    most = values.max(axis=1, keepdims=True)
    sums = np.zeros((len(values), chosen + 1))
    sums[:, 0] = 1.0
    for weights in np.exp(steepness * (values - most)).T:
        sums[:, 1:] += sums[:, :-1] * weights[:, None]
    draws = len(values) * log(comb(values.shape[1], chosen))
    return float(np.log(sums[:, -1]).sum() + steepness * chosen * most.sum() - draws)


def _signed_rank_p(differences: Floats) -> float:
    """Of Wilcoxon's signed ranks, one-sided; pairs without a difference decide nothing."""
    known = differences[differences != 0]
    if not len(known):
        return 1.0
    sizes = np.abs(known)
    order = np.argsort(sizes, kind="stable")
    doubled = np.rint(2 * _mean_ranks(sizes[order])).astype(np.int64)
    reached = int(doubled[known[order] > 0].sum())
    tail = _tail(tuple(doubled.tolist()))
    return float(tail[reached])


def _mean_ranks(ordered: Floats) -> Floats:
    """The ranks of ordered numbers from 1; equal ones share the mean of theirs."""
    _, inverse, counts = np.unique(ordered, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    mean: Floats = (last - (counts - 1) / 2)[inverse]
    return mean


@lru_cache(maxsize=64)
def _tail(ranks: tuple[int, ...]) -> Floats:
    """For every sum the chance that random signs give it or a larger one to the positive ranks."""
    chances = np.zeros(sum(ranks) + 1)
    chances[0] = 1.0
    reach = 0
    for rank in ranks:
        reach += rank
        chances[: reach + 1] = (
            chances[: reach + 1] + np.concatenate([np.zeros(rank), chances[: reach + 1 - rank]])
        ) / 2
    return np.cumsum(chances[::-1])[::-1]


def _product_p(logs: float, count: int) -> float:
    """The chance that as many uniform numbers have so small a product, of which this is the log.

    Examples
    --------
    >>> round(_product_p(np.log(0.05), 1), 12)
    0.05
    """
    if not count or logs >= 0:
        return 1.0
    # exp(l) Σ (-l)^i / i!, the upper tail of a gamma distribution of whole shape
    terms = [logs + i * log(-logs) - lgamma(i + 1) for i in range(count)]
    return min(1.0, float(np.exp(np.logaddexp.reduce(terms))))
