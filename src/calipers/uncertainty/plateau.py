"""Plateaus: the k or sample size from which on a score is level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from calipers.serialise import Plain

if TYPE_CHECKING:
    pass


TOLERANCE = 0.01
# Of the value at the end, where scores have no scale of their own: an MMD may end at 0.005
RELATIVE = 0.05
# Values on a plateau: one or two are near the end whatever the curve does
FEWEST = 3
# A share of 495 in 500 is 0.01 from 1
ROUNDING = 1e-9


@dataclass(frozen=True)
class Plateau(Plain):
    """The value from which on a curve is level, or why there is none.

    Attributes
    ----------
    start
        The smallest value from which on the mean stays level; None where there is no plateau.
    level
        The mean at the last value; NaN where the curve is not defined throughout.
    tolerance
        How far from it the mean may lie, at least, in units of the score.
    relative
        The share of the level that `tolerance` is; None where it is given as such.
    reason
        Why there is no plateau; None where there is one.
    """

    start: int | None
    level: float
    tolerance: float
    relative: float | None = None
    reason: str | None = None


def plateau(
    values: NDArray[np.int64],
    mean: NDArray[np.float64],
    error: NDArray[np.float64] | None,
    *,
    tolerance: float = TOLERANCE,
    range: tuple[float, float] = (0.0, 1.0),
) -> Plateau:
    """Find the smallest value from which on the mean stays near its end.

    At every value of the plateau the mean lies within ``max(tolerance, its standard error)`` of
    the mean at the last value. For scores whose range reaches beyond [0, 1] the tolerance is 5 %
    of that mean's absolute value instead: 0.01 says nothing about a score that ends at 0.005, or
    at 40. The spread of single replicates would be too generous: five of
    them can all drift in one direction well within it. A plateau holds at least three values and
    begins at half of the last one or before, so the curve stays level while k or n doubles: near
    its end any slow curve looks level.

    Parameters
    ----------
    values
        What was swept, ascending, shape ``(v,)``.
    mean, error
        Of the replicates at each value and its standard error, shape ``(v,)``; no error for a
        single replicate.
    tolerance
        For scores within [0, 1], in their units.
    range
        Smallest and largest value that the score can take.
    """
    last = float(mean[-1])
    relative = None if range[0] >= 0 and range[1] <= 1 else RELATIVE
    scale = 1.0 if relative is None else abs(last)
    least = tolerance if relative is None else relative * scale
    if not np.isfinite(mean).all():
        return Plateau(None, last, least, relative, "the score is not defined at every value")
    allowed = np.full(len(mean), least) if error is None else np.maximum(least, error)
    first = _level_from(mean, allowed + ROUNDING * scale)
    if len(mean) - first >= FEWEST and 2 * values[first] <= values[-1]:
        return Plateau(int(values[first]), last, least, relative)
    return Plateau(None, last, least, relative, _reason(values, mean, first, relative is None))


def _level_from(mean: NDArray[np.float64], allowed: NDArray[np.float64]) -> int:
    """Return the first position from which on the mean stays as near its end as is allowed."""
    away = np.flatnonzero(np.abs(mean - mean[-1]) > allowed)
    return int(away[-1]) + 1 if away.size else 0


def _reason(values: NDArray[np.int64], mean: NDArray[np.float64], first: int, unit: bool) -> str:
    """Say what was found instead; `first` is where the level end of the curve begins."""
    if len(values) < FEWEST:
        return f"{len(values)} values are too few to tell"
    if first == 0:
        return f"level throughout, but from {values[0]} it does not double"
    off = float(mean[first - 1] - mean[-1])
    side = "below" if off < 0 else "above"
    return f"at {values[first - 1]} still {abs(off):{'.3f' if unit else '.3g'}} {side} the end"
