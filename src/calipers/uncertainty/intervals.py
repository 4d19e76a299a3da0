"""Confidence intervals: estimate ± t · standard error, on the logit scale for shares.

What an interval covers is the expectation of the estimator at these sizes and settings. How far
that is from the value at infinitely many samples is bias, and no interval knows it. Percentiles of
resampled scores are not used: resampling adds the very bias that plug-in scores suffer from.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from calipers.errors import InputError
from calipers.uncertainty.spread import Spread

UNIT = (0.0, 1.0)
FAR = 1.0
"""Half-width on the logit scale beyond which the logit is no longer near a straight line."""


def confidence_interval(
    value: float, spread: Spread, *, level: float = 0.95, bounds: tuple[float, float] = UNIT
) -> tuple[float, float] | None:
    """Tell between which values the score lies on average, at a level of confidence.

    Parameters
    ----------
    value
        The score.
    spread
        How much it moves.
    level
        Confidence level, in (0, 1).
    bounds
        Smallest and largest value of the score; on (0, 1) the interval is made on the logit
        scale, elsewhere it is cut at the bounds.

    Returns
    -------
    tuple of float or None
        Both ends; None where the score or a replicate of it has no finite value, or where
        nothing moves although the score can.
    """
    check_level(level)
    if not (np.isfinite(value) and spread.finite) or spread.variance == 0:
        return None
    reach = quantile(spread.freedom, level) * spread.standard_error
    if tuple(bounds) == UNIT and 0 < value < 1:
        return _on_logits(value, reach)
    low, high = bounds
    return max(low, value - reach), min(high, value + reach)


def is_rough(value: float, spread: Spread, *, level: float, bounds: tuple[float, float]) -> bool:
    """Whether a share lies so near to 0 or 1 that its interval is a rough one, mostly too long."""
    if tuple(bounds) != UNIT or not 0 < value < 1:
        return False
    return quantile(spread.freedom, level) * spread.standard_error > FAR * value * (1 - value)


def quantile(freedom: float, level: float) -> float:
    """The two-sided quantile of Student's t."""
    from scipy.special import ndtri, stdtrit

    lower = (1 - level) / 2
    return -float(stdtrit(freedom, lower) if np.isfinite(freedom) else ndtri(lower))


def tails(freedom: float, statistic: float) -> float:
    """How often Student's t lies as far from 0 as the statistic, on either side."""
    from scipy.special import ndtr, stdtr

    far = -abs(statistic)
    return 2 * float(stdtr(freedom, far) if np.isfinite(freedom) else ndtr(far))


def check_level(level: Any) -> None:
    """Refuse what is no level of confidence.

    Raises
    ------
    InputError
        If it does not lie in (0, 1).
    """
    if not is_inner_share(level):
        raise InputError(f"level must lie between 0 and 1, such as 0.95; found {level!r}")


def is_inner_share(value: Any) -> bool:
    """Whether something is a real number between 0 and 1, both left out."""
    real = isinstance(value, Real) and not isinstance(value, bool)
    return real and bool(0 < value < 1)


def _on_logits(value: float, reach: float) -> tuple[float, float]:
    """Ends whose logits are equally far from that of the value.

    Further off than the slope at the value means anything (a share within a few samples of 0 or
    1), each end goes on in a straight line, and is cut at 0 and 1.
    """
    slope = value * (1 - value)
    near = min(reach, FAR * slope)
    factor, odds = np.exp(near / slope), value / (1 - value)
    low, high = odds / (odds + factor), odds * factor / (1 + odds * factor)
    return max(0.0, float(low) - (reach - near)), min(1.0, float(high) + (reach - near))
