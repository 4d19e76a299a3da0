"""Every metric beside every truth, and beside every other metric."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from calipers.evaluate.rank_scores import Scores, compared
from calipers.results.ranking import Beside, Matrix, Truth
from calipers.uncertainty.correlation import (
    DRAWS,
    Correlation,
    Kind,
    correlation_matrix,
    draw_errors,
    interval_of_errors,
    pearson,
    spearman,
    widened,
)
from calipers.uncertainty.worst_case import worst_case_spearman


def beside(truth: Truth, scores: Scores, *, level: float, seed: int) -> Truth:
    """Hold every metric against a truth, each over the systems that have both.

    The errors of the truth are drawn once for all metrics, and those of a metric for it alone, by
    systems in the order of their names: neither the order of rows nor a further metric changes
    them.
    """
    names = [name for name in scores.systems if math.isfinite(truth.scores.get(name, math.nan))]
    ideal = {name: truth.scores[name] for name in names}
    covariance = _covariance(truth, sorted(names))
    drawn = None
    if covariance is not None:
        errors = draw_errors(covariance, seed=2 * seed)
        drawn = dict(zip(sorted(names), errors.T, strict=True))
    found = {
        key: _beside(key, scores, ideal, drawn, level=level, seed=seed) for key in scores.columns
    }
    return replace(truth, metrics=found)


def _covariance(truth: Truth, names: Sequence[str]) -> NDArray[np.float64] | None:
    """Of the errors of a truth; None where nothing is known of them."""
    if truth.fit is not None:
        players = [player.name for player in truth.fit.players]
        places = [players.index(name) for name in names]
        return truth.fit.covariance[np.ix_(places, places)]
    deviations = np.array([truth.deviations.get(name, 0.0) for name in names], dtype=np.float64)
    return np.diag(deviations**2) if deviations.any() else None


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
    key: str,
    scores: Scores,
    ideal: dict[str, float],
    drawn: Mapping[str, NDArray[np.float64]] | None,
    *,
    level: float,
    seed: int,
) -> Beside:
    column = scores.columns[key]
    names = [
        name
        for name, value in zip(ideal, compared(column, tuple(ideal)), strict=True)
        if math.isfinite(value)
    ]
    values = compared(column, names)
    spread = np.array([column.deviations[name] for name in names], dtype=np.float64)
    truth = np.array([ideal[name] for name in names], dtype=np.float64)
    worst = worst_case_spearman(values, spread, truth, seed=seed)
    moved = compared(column, names, _errors(names, spread, seed=2 * seed + 1))
    true = truth[None]
    if drawn is not None and names:
        true = true + np.column_stack([drawn[name] for name in names])
    found: dict[Kind, Correlation] = {
        "spearman": spearman(values, truth, level=level),
        "pearson": pearson(values, truth, level=level),
    }
    errors = {
        kind: interval_of_errors(kind, each.value, moved, true, level=level)
        for kind, each in found.items()
    }
    wide = {kind: widened(each.value, each.interval, errors[kind]) for kind, each in found.items()}
    fixed = errors if drawn is not None else dict.fromkeys(found)
    return Beside(
        metric=key,
        n=len(names),
        spearman=found["spearman"].value,
        spearman_interval=wide["spearman"],
        worst=worst.value,
        exact=worst.exact,
        bound=worst.lower_bound,
        pearson=found["pearson"].value,
        pearson_interval=wide["pearson"],
        reason=found["spearman"].reason or found["pearson"].reason,
        spearman_fixed=fixed["spearman"],
        pearson_fixed=fixed["pearson"],
    )


def _errors(
    names: Sequence[str], deviations: NDArray[np.float64], *, seed: int
) -> NDArray[np.float64]:
    """Draw the errors of a metric, shape ``(draws, n)``; a single row of zeros without any."""
    if not deviations.any():
        return np.zeros((1, len(names)))
    order = np.argsort(names)
    errors = np.empty((DRAWS, len(names)))
    errors[:, order] = draw_errors(np.diag(deviations[order] ** 2), seed=seed)
    return errors
