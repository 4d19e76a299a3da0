"""How many samples it takes to tell two systems apart."""

from __future__ import annotations

import math
from statistics import NormalDist

from calipers.errors import InputError

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
    """Tell how many samples in every set would separate two systems as far apart as these.

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
    for name, share in (("level", level), ("power", power)):
        if not 0 < share < 1:
            raise InputError(f"{name} must lie between 0 and 1; found {share!r}")
