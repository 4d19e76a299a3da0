"""Sample size: where a score tends with more samples, and the size that separates two systems.

A score with infinitely many samples is read from its values at n/8, n/4, n/2 and n. If the error
falls like 1/n, the last doubling took away half of what was left, so the limit is the last value
and that step once more (Richardson). That is the law of smooth functionals of the two
distributions: of divergences over fixed cells, Fréchet distances, energy distances. Balls of a
fixed number of neighbours settle more slowly, and then the limit still lies on the same side, but
farther away. A free exponent (Aitken) and 1/√n were tried: the one doubles the noise, the other
overshoots on every score that keeps to the law. It does not see what happens beyond n: steps that
shrink for another reason look like settling.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.numeric.validation import check_inner_share

PARTS = (8, 4, 2, 1)
"""Into how many parts the rows are cut, from the smallest parts to the whole."""
# Steps that shrink by less from one doubling to the next fall slower than n to the power -1/4
SLOW = 2.0**-0.25
SURE = 2.0


@dataclass(frozen=True)
class Extrapolation:
    """The limit of a sequence of values at doubling sizes.

    Attributes
    ----------
    limit
        The value with infinitely many samples, within the range of the score; NaN where the steps
        do not shrink, or a value is not finite.
    error
        Standard error of the step from the last value to the limit.
    """

    limit: float
    error: float


@dataclass(frozen=True, eq=False)
class Nested:
    """Scores of nested parts of both sets.

    Attributes
    ----------
    levels
        From the smallest parts to the whole: parts of one random order of the rows, as they follow
        each other, so that part i is the union of the parts 2i and 2i + 1 of the level before.
        Shapes ``(orders, 8)``, ``(orders, 4)``, ``(orders, 2)`` and ``(orders, 1)``.
    """

    levels: tuple[NDArray[np.float64], ...]

    @property
    def means(self) -> tuple[float, ...]:
        """The mean of each level.

        Every mean depends on all rows, so what chance the rows bring moves all of them alike, and
        their differences show what the size does.
        """
        return tuple(float(level.mean()) for level in self.levels)

    @property
    def step_error(self) -> float:
        """Standard error of the last step, from differences between single parts and their halves.

        That falls like the root of the size, at least; a step that is seen once, the last, is
        compared with those that are seen several times.
        """
        variances = []
        for place, (parts, whole) in enumerate(
            zip(self.levels[:-2], self.levels[1:-1], strict=True)
        ):
            steps = whole - parts.reshape(*whole.shape, 2).mean(axis=-1)
            variances.append(float(steps.var(ddof=1)) / 2 ** (len(self.levels) - 2 - place))
        return math.sqrt(float(np.mean(variances)))

    @property
    def spread(self) -> float:
        """Standard error of the score of all rows, from its variance over quarters of them."""
        quarters = self.levels[-3]
        return math.sqrt(float(quarters.var(axis=1, ddof=1).mean()) / quarters.shape[1])


def extrapolate(
    means: Sequence[float],
    step_error: float,
    *,
    range: tuple[float, float] = (-math.inf, math.inf),
) -> Extrapolation:
    """Extrapolate values at doubling sizes.

    Parameters
    ----------
    means
        Mean scores at n/8, n/4, n/2 and n.
    step_error
        Standard error of the last step.
    range
        Smallest and largest value of the score, which the limit is kept to.

    Examples
    --------
    >>> round(extrapolate([0.9, 0.7, 0.6, 0.55], 0.001).limit, 6)
    0.5
    >>> extrapolate([0.1, 0.2, 0.3, 0.4], 0.001).limit
    nan
    """
    if not np.isfinite(means).all() or is_unsettled(means, step_error):
        return Extrapolation(math.nan, math.nan)
    limit = 2 * means[-1] - means[-2]
    return Extrapolation(min(max(limit, range[0]), range[1]), step_error)


def is_unsettled(means: Sequence[float], step_error: float) -> bool:
    """Whether the steps are significant and do not shrink from one doubling to the next.

    Two steps together are less noisy, the last two alone are farther on: both must say so.
    """
    earliest, middle, last = np.diff(means)
    late, early = middle + last, earliest + middle
    if abs(late) <= SURE * math.sqrt(2) * step_error:
        return False
    return not (_shrinks(last, middle) or _shrinks(late, early))


def _shrinks(step: float, before: float) -> bool:
    """Whether a step keeps the direction of the one before, or nearly stops, and is shorter."""
    return abs(step) < SLOW * abs(before)


LEVEL = 0.95
POWER = 0.8
MOST = 10**9


def separating_n(
    difference: float,
    standard_error: float,
    n: int,
    *,
    level: float = LEVEL,
    power: float = POWER,
) -> int | None:
    """Estimate the samples per set that would separate two systems as far apart as these.

    The standard error falls with the root of the number of samples. The number is found where the
    difference, in units of that error, reaches the normal quantiles of `level` and `power`
    together. It takes the difference as seen for the true one: a difference that chance has made
    small asks for too many samples, and the other way round.

    Parameters
    ----------
    difference, standard_error
        Of the scores of two systems at `n` samples.
    n
        Samples in every set.
    level
        Confidence at which the difference is to be found, in (0, 1).
    power
        In which share of runs it is to be found, in (0, 1).

    Returns
    -------
    int or None
        None where the difference is found already, is 0, either number is not finite, or it would
        take more than 10⁹ samples.

    Raises
    ------
    InputError
        If `n` is below 1, or `level` or `power` lies outside (0, 1).

    Examples
    --------
    >>> separating_n(0.01, 0.01, 1_000)
    7849
    >>> separating_n(0.03, 0.01, 1_000) is None
    True
    """
    _check(n, level, power)
    if not (math.isfinite(difference) and math.isfinite(standard_error)) or difference == 0:
        return None
    confident = NormalDist().inv_cdf((1 + level) / 2)
    if abs(difference) >= confident * standard_error:
        return None
    wanted = confident + max(0.0, NormalDist().inv_cdf(power))
    root = wanted * standard_error / abs(difference)
    return None if n * root > MOST or n * root**2 > MOST else math.ceil(n * root**2)


def _check(n: int, level: float, power: float) -> None:
    if n < 1:
        raise InputError(f"n must be at least 1; found {n!r}")
    check_inner_share("level", level)
    check_inner_share("power", power)
