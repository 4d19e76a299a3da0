"""Every metric beside every truth, and beside every other metric."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from calipers.comparison.ranking import Beside, Matrix, Truth
from calipers.road.rank_scores import Scores, compared
from calipers.uncertainty.correlation import correlation_matrix, pearson, spearman
from calipers.uncertainty.worst_case import worst_case_spearman

Kind = Literal["spearman", "pearson"]


def beside(truth: Truth, scores: Scores, *, level: float, seed: int) -> Truth:
    """Hold every metric against a truth, each over the systems that have both."""
    names = [name for name in scores.systems if math.isfinite(truth.scores.get(name, math.nan))]
    ideal = {name: truth.scores[name] for name in names}
    found = {key: _beside(key, scores, ideal, level=level, seed=seed) for key in scores.columns}
    return replace(truth, metrics=found)


def correlated(scores: Scores, truths: Sequence[Truth], kind: Kind) -> Matrix:
    """Correlate all metrics and truths with one another, by their values as measured.

    Paper 000, figures 7 and A.5.
    """
    columns = [column.means for column in scores.columns.values()]
    rows = [
        [column.get(name, math.nan) for column in (*columns, *(t.scores for t in truths))]
        for name in scores.systems
    ]
    found = correlation_matrix(np.array(rows, dtype=np.float64), kind=kind)
    names = (*scores.columns, *(truth.name for truth in truths))
    return Matrix(kind, names, len(truths), found.values, found.systems, found.reasons)


def _beside(
    key: str, scores: Scores, ideal: dict[str, float], *, level: float, seed: int
) -> Beside:
    column = scores.columns[key]
    names = [
        name
        for name, value in zip(ideal, compared(column, tuple(ideal)), strict=True)
        if math.isfinite(value)
    ]
    values = np.array(compared(column, names), dtype=np.float64)
    spread = np.array([column.deviations[name] for name in names], dtype=np.float64)
    truth = np.array([ideal[name] for name in names], dtype=np.float64)
    ranks = spearman(values, truth, level=level)
    straight = pearson(values, truth, level=level)
    worst = worst_case_spearman(values, spread, truth, seed=seed)
    return Beside(
        metric=key,
        n=len(names),
        spearman=ranks.value,
        spearman_interval=ranks.interval,
        worst=worst.value,
        exact=worst.exact,
        bound=worst.lower_bound,
        pearson=straight.value,
        pearson_interval=straight.interval,
        reason=ranks.reason or straight.reason,
    )
