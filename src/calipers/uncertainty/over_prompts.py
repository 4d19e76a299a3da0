"""Means over prompts, with intervals for the sampling of prompts.

Samples of one prompt are alike, so that they do not count as independent; prompts do. A mean over
prompts of a value for each has the interval of Student's t,

    mean ± t_{P−1} s / sqrt(P),

P prompts, s the standard deviation of their values. It holds whatever the samples of a prompt do to
each other, and covers the mean over the population that prompts are drawn from, at this number of
samples for each. A score that is no mean of values, such as a similarity over pairs of prompts, has
the jackknife that leaves out one prompt at a time, with the same quantile.

What it does not see: prompts that are variants of one another; they are no independent draws.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.score import Better, Score, signature
from calipers.uncertainty.spread import check_level, quantile

FEWEST = 2
"""Prompts below which nothing tells how far they differ."""

ONE_PROMPT = "a single prompt does not show how far prompts differ"
NO_PROMPT = "no prompt has enough samples"


def mean_over_prompts(
    values: ArrayLike,
    *,
    level: float = 0.95,
    bounds: tuple[float, float] = (-np.inf, np.inf),
    better: Better = "closest",
    pins: Mapping[str, object] | None = None,
) -> Score:
    """Average a value of each prompt, with an interval over prompts.

    Parameters
    ----------
    values
        Shape ``(prompts,)``; NaN where a prompt has no value, which leaves it out.
    level
        Confidence level of the interval, in (0, 1).
    bounds
        Smallest and largest value, at which the interval is cut.
    better, pins
        Of the score, and of its signature.

    Returns
    -------
    Score
        ``per_sample`` holds the values. Without an interval where there is one prompt; NaN with a
        reason where none has a value.

    Raises
    ------
    InputError
        If the level is not in (0, 1).

    Examples
    --------
    >>> score = mean_over_prompts([1.0, 2.0, 3.0])
    >>> score.value, [round(end, 3) for end in score.interval]
    (2.0, [-0.484, 4.484])
    """
    check_level(level)
    by_prompt = np.asarray(values, np.float64)
    known = by_prompt[np.isfinite(by_prompt)]
    error = float(known.std(ddof=1) / np.sqrt(len(known))) if len(known) >= FEWEST else None
    value = float(known.mean()) if len(known) else float("nan")
    return _score(value, error, len(known), level, bounds, better, pins, by_prompt)


def jackknife_over_prompts(
    value: float,
    replicates: ArrayLike,
    *,
    level: float = 0.95,
    bounds: tuple[float, float] = (-np.inf, np.inf),
    better: Better = "closest",
    pins: Mapping[str, object] | None = None,
) -> Score:
    """Add to a score of all prompts the interval of the jackknife over prompts.

    Parameters
    ----------
    value
        The score of all.
    replicates
        The score without each prompt in turn, shape ``(prompts,)``.
    level, bounds, better, pins
        As for :func:`mean_over_prompts`.

    Raises
    ------
    InputError
        If the level is not in (0, 1).
    """
    check_level(level)
    leave_one_out = np.asarray(replicates, np.float64)
    count, error = len(leave_one_out), None
    if count >= FEWEST and np.isfinite(leave_one_out).all():
        error = float(
            np.sqrt((count - 1) / count * np.square(leave_one_out - leave_one_out.mean()).sum())
        )
    return _score(value, error, count, level, bounds, better, pins, None)


def between_prompts(
    between: ArrayLike,
    within: ArrayLike | None = None,
    *,
    level: float = 0.95,
    bounds: tuple[float, float] = (-np.inf, np.inf),
    better: Better = "closest",
    pins: Mapping[str, object] | None = None,
) -> Score:
    """Average a similarity over pairs of prompts, or its difference from within prompts.

    Parameters
    ----------
    between
        For each prompt its mean similarity to the others, shape ``(prompts,)``.
    within
        For each prompt the similarity of its own samples; the score is then the mean of these less
        the mean of `between`.
    level, bounds, better, pins
        As for :func:`mean_over_prompts`.

    Returns
    -------
    Score
        With the interval of the jackknife over prompts, since each is in P − 1 of the pairs; none
        where there are fewer than three prompts, or one has a single sample.

    Raises
    ------
    InputError
        If the level is not in (0, 1).
    """
    pairs = np.asarray(between, np.float64)
    similarity = np.zeros_like(pairs) if within is None else np.asarray(within, np.float64)
    sign, count, known = (1.0 if within is None else -1.0), len(pairs), np.isfinite(similarity)
    value = similarity[known].mean() + sign * pairs.mean() if known.any() else np.nan
    replicates = np.full(count, np.nan)
    if count > 2 and known.all():
        # The sum over ordered pairs is Σ (P − 1) b_p; without a prompt it lacks 2 (P − 1) b_p
        left = (pairs.sum() - 2 * pairs) / (count - 2)
        replicates = (similarity.sum() - similarity) / (count - 1) + sign * left
    more = {"level": level, "bounds": bounds, "better": better, "pins": pins}
    return jackknife_over_prompts(float(value), replicates, **more)  # type: ignore[arg-type]


def _score(
    value: float,
    error: float | None,
    count: int,
    level: float,
    bounds: tuple[float, float],
    better: Better,
    pins: Mapping[str, object] | None,
    per_sample: NDArray[np.float64] | None,
) -> Score:
    interval, reason = None, None
    value = min(max(value, bounds[0]), bounds[1])  # which rounding may exceed; NaN stays
    if not np.isfinite(value):
        reason = NO_PROMPT if count == 0 else ONE_PROMPT
    elif error is not None:
        reach = quantile(count - 1, level) * error
        interval = max(bounds[0], value - reach), min(bounds[1], value + reach)
    return Score(
        value=value,
        interval=interval,
        level=None if interval is None else level,
        range=bounds,
        better=better,
        signature=signature({**(pins or {}), "prompts": count}),
        reason=reason,
        per_sample=per_sample,
        standard_error=error,
    )
