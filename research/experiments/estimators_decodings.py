"""Thirteen decodings of an n-gram model: does every estimator rank them as MAUVE* does?

The continuations are those of the reproductions (reproduction/continued.py): an n-gram model of
order 3 continues the first ten words of 1,000 items of AG News by thirteen decodings, and people's
own continuations are the reference. MAUVE is read from every estimator, with its own c, averaged
over the samples of both sides, of the other side (equation 25 of Pillutla et al., JMLR 2023) and of
the own side; MAUVE* is that of 100 cells. The paper claims a Spearman correlation of 0.95 to 1.0.

Two intervals say how sure a correlation is. Over the texts, the thirteen decodings being fixed:
half of the prompts is left out at random, sixteen times, and the spread of the correlations on
Fisher's scale is that of all prompts (the jackknife that deletes one half, which holds for ranks
too, where leaving out a few does not: Shao and Wu, Ann. Statist. 1989). Over the decodings: Bonett
and Wright's, for decodings drawn at random from many alike.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from calipers import LikelihoodRatios, divergence_frontier, metrics
from calipers.catalogue.estimation import PAIRED_C, AveragedOver
from calipers.estimate import gaussian_ratios, kde_ratios, knn_ratios
from calipers.estimate.axes import leading_axes, preprocess
from calipers.estimate.classifier import classify
from calipers.estimate.logistic import fit_logistic
from calipers.uncertainty.correlation import spearman
from calipers.uncertainty.spread import quantile
from reproduction import continued
from reproduction.continued import CELLS, DECODINGS

Rows = np.ndarray
VIEWS = ("meaning", "form")
POINTS: tuple[AveragedOver, ...] = ("both_sides", "other_side", "own_side")
HALVES, DRAWS = 16, 10_000
CLAIM, MOST = 0.95, 0.9999
"""The least correlation that the paper claims; and the most that is taken to Fisher's scale."""

NARROW: dict[str, Callable[[Rows, Rows], LikelihoodRatios]] = {
    "knn": lambda x, y: knn_ratios(x, y, threads=1),
    "kde": lambda x, y: kde_ratios(x, y, threads=1),
    "classifier": lambda x, y: classify(x, y, dimensions=10, threads=1).ratios,
    "gaussian": lambda x, y: gaussian_ratios(x, y, draws=DRAWS),
}
"""The estimators on the ten leading axes, as ``--estimator`` has them."""


def half_split(x: Rows, y: Rows, dimensions: int | None) -> LikelihoodRatios:
    """The paper's recipe (section 4.3): train on one half of both sets, score the other half."""
    if dimensions is not None:
        x, y = leading_axes(x, y, dimensions=dimensions)
    rng = np.random.default_rng(0)
    (left, ours), (right, theirs) = (np.array_split(rng.permutation(each), 2) for each in (x, y))
    rows = np.concatenate([left, right]).astype(float)
    mean, scale = rows.mean(axis=0), rows.std(axis=0)
    labels = np.repeat([1.0, 0.0], [len(left), len(right)])
    weights, intercept = fit_logistic((rows - mean) / scale, labels, 1.0)
    logs = ((each - mean) / scale @ weights + intercept for each in (ours, theirs))
    return LikelihoodRatios(*logs, positive=True)


OTHERS: dict[str, Callable[[Rows, Rows], LikelihoodRatios]] = {
    "classifier, 50 axes": lambda x, y: classify(x, y, dimensions=50, threads=1).ratios,
    "classifier, all axes": lambda x, y: classify(x, y, threads=1).ratios,
    "classifier, half-split, 10 axes": lambda x, y: half_split(x, y, 10),
    "classifier, half-split, all axes": lambda x, y: half_split(x, y, None),
    "gaussian, 5 axes": lambda x, y: gaussian_ratios(x, y, draws=DRAWS, dimensions=5),
    "gaussian, 50 axes": lambda x, y: gaussian_ratios(x, y, draws=DRAWS, dimensions=50),
}
ESTIMATORS = NARROW | OTHERS


@functools.cache
def default(view: str, half: int | None = None) -> Rows:
    """MAUVE* of all decodings, of all prompts or of one half; ten samples for each cell."""
    kept, found = prompts(half), []
    cells, restarts = CELLS * len(kept) // continued.SIZE, 5 if half is None else 1
    for decoding in DECODINGS:
        rows = continued.rows(decoding, 3, view)[kept]
        reference = continued.reference_rows(view)[kept]
        made = metrics.mauve(reference, rows, buckets=cells, restarts=restarts, threads=1)
        found.append(made.mauve_star.value)
    return np.array(found)


def columns(
    view: str, names: Sequence[str], points: Sequence[AveragedOver], half: int | None = None
) -> dict[tuple[str, AveragedOver], Rows]:
    """MAUVE of all decodings by some estimators, of all prompts or of one half."""
    kept, found = prompts(half), []
    for decoding in DECODINGS:
        rows = continued.rows(decoding, 3, view)[kept]
        sets = preprocess(continued.reference_rows(view)[kept], rows, threads=1)
        row = {}
        for name in names:
            ratios = ESTIMATORS[name](sets.reference, sets.generated)
            c = PAIRED_C[name.partition(",")[0]]
            for each in points:
                row[name, each] = divergence_frontier(ratios, points=each).area(c)
        found.append(row)
    return {key: np.array([row[key] for row in found]) for key in found[0]}


def prompts(half: int | None = None) -> Rows:
    """All prompts, or one half; halves come in pairs that have no prompt in common."""
    if half is None:
        return np.arange(continued.SIZE)
    order = np.random.default_rng(half // 2).permutation(continued.SIZE)
    return np.sort(np.split(order, 2)[half % 2])


@dataclass(frozen=True)
class Agreement:
    """How alike an estimator and MAUVE* rank the decodings.

    Attributes
    ----------
    value
        Spearman's correlation.
    over_texts
        Its 95 % interval with the decodings fixed; None where it was not measured.
    over_decodings
        The interval for decodings drawn from many alike.
    """

    value: float
    over_texts: tuple[float, float] | None
    over_decodings: tuple[float, float] | None

    @property
    def holds(self) -> bool | None:
        """Whether the claim holds of these decodings; None where the texts leave it open."""
        if self.over_texts is None:
            return None
        low, high = self.over_texts
        return True if low >= CLAIM else False if high < CLAIM else None


@functools.cache
def agreements(view: str) -> dict[tuple[str, AveragedOver], Agreement]:
    """Of every estimator and average; over the texts for those of ``--estimator`` alone."""
    whole, star = columns(view, tuple(ESTIMATORS), POINTS), default(view)
    halves = [columns(view, tuple(NARROW), POINTS[:2], half) for half in range(HALVES)]
    found = {}
    for key, values in whole.items():
        both, over_texts = spearman(star, values), None
        if key in halves[0]:
            without = [
                spearman(default(view, half), each[key]).value for half, each in enumerate(halves)
            ]
            over_texts = interval(both.value, without)
        found[key] = Agreement(both.value, over_texts, both.interval)
    return found


def interval(value: float, halves: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of a correlation from those of halves, on Fisher's scale."""
    middle, scaled = (np.arctanh(np.clip(each, -MOST, MOST)) for each in (value, halves))
    # One half is left out of two, so that the variance of the whole is that of the halves
    reach = quantile(len(halves) - 1, 0.95) * np.std(scaled, ddof=1)
    return float(np.tanh(middle - reach)), float(np.tanh(middle + reach))


def told(found: Agreement) -> str:
    """The correlation with its interval over the texts."""
    if found.over_texts is None:
        return f"{found.value:.3f}"
    return f"{found.value:.3f} [{found.over_texts[0]:.2f}, {found.over_texts[1]:.2f}]"


def table() -> Iterator[str]:
    """The correlations with MAUVE* of every estimator, as Markdown, line by line."""
    yield "| view | estimator | " + " | ".join(POINTS) + " | both_sides, over decodings |"
    yield "| --- " * (len(POINTS) + 3) + "|"
    for view in VIEWS:
        found = agreements(view)
        for name in ESTIMATORS:
            cells = " | ".join(told(found[name, points]) for points in POINTS)
            low, high = found[name, POINTS[0]].over_decodings or (np.nan, np.nan)
            yield f"| {view} | {name} | {cells} | [{low:.2f}, {high:.2f}] |"
