"""HUSE: how well judgements and likelihoods together tell human from generated texts.

Every text has two numbers: how typical people found it, and the log-probability that the model
gives it, divided by its length. HUSE is twice the error of a classifier of the k nearest neighbours
on these two, each text being left out in turn (Hashimoto, Zhang and Liang, NAACL 2019, section 3;
k = 16, as the authors' release counts). It
is 1 where the texts cannot be told apart, and 0 where each can. By the judgements alone it is
HUSE-Q, the quality; HUSE-D = 1 + HUSE − HUSE-Q is the diversity, what likelihoods add.

Both numbers are divided by their standard deviation over all texts. Votes and errors are weighed so
that both sets count alike, a split vote is half an error, and all texts at the distance of the k-th
vote, so that the order of the texts changes nothing.

Intervals are by random halves of both sets: a quarter of the squared difference of their scores is
the variance. The jackknife does not serve: where few votes are far from split, leaving out a block
turns some of them at random, which it counts as many times as there are blocks (docs/huse.md).

What it does not detect: what neither judgements nor likelihoods show. Left-out errors of texts that
cannot be told apart are a little above a half, so HUSE may pass 1. Likelihoods are of the model
that wrote the texts, with its decoding: texts that it cannot write have none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calipers.errors import InputError
from calipers.numeric.arrays import Floats, Vector
from calipers.numeric.validation import as_array, check_whole
from calipers.score import Score, signature
from calipers.uncertainty.spread import Component, Spread, check_level, confidence_interval

K = 16
HALVINGS = 40
RANGE = (0.0, 2.0)


@dataclass(frozen=True)
class Huse:
    """HUSE with its parts for quality and for diversity.

    Attributes
    ----------
    huse
        Twice the left-out error by judgements and likelihoods, in [0, 2]; 1 where texts of people
        and of the machine cannot be told apart, higher is better.
    quality
        HUSE-Q, the same by judgements alone.
    diversity
        HUSE-D = 1 + HUSE − HUSE-Q, in [−1, 3].
    """

    huse: Score
    quality: Score
    diversity: Score


def huse(
    reference_judgements: ArrayLike,
    generated_judgements: ArrayLike,
    reference_likelihoods: ArrayLike,
    generated_likelihoods: ArrayLike,
    *,
    k: int = K,
    level: float = 0.95,
    seed: int = 0,
) -> Huse:
    """Compute HUSE from judgements and likelihoods of human and generated texts.

    Parameters
    ----------
    reference_judgements, generated_judgements
        How typical people found each text, the mean over raters, shapes ``(n,)`` and ``(m,)``.
    reference_likelihoods, generated_likelihoods
        The log-probability of each text under the model, divided by its tokens, same shapes.
    k
        Neighbours that vote, from 1 to n + m − 1.
    level
        Of the intervals, in (0, 1): by 40 random halvings of both sets.
    seed
        Seed of the halves.

    Returns
    -------
    Huse

    Raises
    ------
    InputError
        If the lists do not fit together, hold what is no number, or are too short for k.

    Examples
    --------
    >>> people, machine = [5.0, 4.0, 5.0, 4.0], [1.0, 2.0, 1.0, 2.0]
    >>> same = [-2.0, -2.5, -2.0, -2.5]
    >>> found = huse(people, machine, same, same, k=1)
    >>> float(found.quality.value), float(found.huse.value)
    (0.0, 0.0)
    """
    check_level(level)
    check_whole("seed", seed, 0)
    ours = _features("reference", reference_judgements, reference_likelihoods)
    theirs = _features("generated", generated_judgements, generated_likelihoods)
    n, m = len(ours), len(theirs)
    if min(n, m) < 2:
        raise InputError(f"HUSE needs at least two texts of each set; found {n} and {m}")
    if check_whole("k", k, 1) > n + m - 1:
        raise InputError(f"k must be at most {n + m - 1}, the other texts of both sets; found {k}")
    values = _all_three(ours, theirs, k)
    moved = _half_differences(ours, theirs, k, seed)
    pins = {"k": k, "scaled": "deviation", "n": n, "m": m, "seed": seed}
    scores = []
    for place, part in enumerate(("huse", "huse_q", "huse_d")):
        spread = Spread((Component("both", moved[:, place]),))
        bounds = RANGE if part != "huse_d" else (-1.0, 3.0)
        value = values[place]
        scores.append(
            Score(
                value,
                range=bounds,
                interval=confidence_interval(value, spread, level=level, bounds=bounds),
                level=level,
                standard_error=spread.standard_error,
                signature=signature({"metric": part, **pins}),
            )
        )
    return Huse(*scores)


def twice_the_error(ours: Floats, theirs: Floats, k: int) -> float:
    """Return twice the leave-one-out error of k nearest neighbours, with balanced sets.

    Parameters
    ----------
    ours, theirs
        Features, shapes ``(n, d)`` and ``(m, d)``; each is divided by its standard deviation.
    k
        Neighbours that vote, with all at the distance of the last; all others, where fewer.
    """
    from scipy.spatial.distance import cdist

    n, m = len(ours), len(theirs)
    rows = np.concatenate([ours, theirs])
    spread = rows.std(axis=0)
    rows = rows / np.where(spread > 0, spread, 1.0)
    squared = cdist(rows, rows, "sqeuclidean")
    np.fill_diagonal(squared, np.inf)
    farthest = np.partition(squared, min(k, n + m - 1) - 1, axis=1)[:, min(k, n + m - 1) - 1]
    near = squared <= farthest[:, None]
    votes = near[:, :n].sum(axis=1) / n - near[:, n:].sum(axis=1) / m
    votes = np.where(np.abs(votes) < 1e-12, 0.0, votes)
    wrong = np.concatenate([votes[:n] < 0, votes[n:] > 0]) + 0.5 * (votes == 0)
    return float(wrong[:n].mean() + wrong[n:].mean())


def _all_three(ours: Floats, theirs: Floats, k: int) -> tuple[float, float, float]:
    """HUSE, HUSE-Q and HUSE-D."""
    both, quality = twice_the_error(ours, theirs, k), twice_the_error(ours[:, :1], theirs[:, :1], k)
    return both, quality, 1 + both - quality


def _half_differences(ours: Floats, theirs: Floats, k: int, seed: int) -> Floats:
    """Half the differences of the scores of two halves over the root of their number, (r, 3)."""
    rng = np.random.default_rng(seed)
    gaps: Floats = np.empty((HALVINGS, 3))
    for halving in range(HALVINGS):
        one, other = (np.array_split(rng.permutation(side), 2) for side in (ours, theirs))
        first, second = _all_three(one[0], other[0], k), _all_three(one[1], other[1], k)
        gaps[halving] = np.subtract(first, second) / 2 / np.sqrt(HALVINGS)
    return gaps


def _features(side: str, judgements: ArrayLike, likelihoods: ArrayLike) -> Floats:
    columns = [_column(f"{side}_judgements", judgements)]
    columns.append(_column(f"{side}_likelihoods", likelihoods))
    if len(columns[0]) != len(columns[1]):
        raise InputError(
            f"each {side} text needs a judgement and a likelihood; found {len(columns[0])} and "
            f"{len(columns[1])}"
        )
    return np.stack(columns, axis=1)


def _column(name: str, given: Any) -> Vector:
    column = as_array(given, name)
    if column.ndim != 1 or column.dtype.kind not in "iuf":
        raise InputError(f"{name} must be a list of numbers, one for each text")
    values: Vector = column.astype(np.float64)
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        raise InputError(f"{name} must be finite numbers; text {row + 1} has {values[row]:g}")
    return values
