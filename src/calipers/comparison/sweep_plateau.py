"""Where a curve levels off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

TOLERANCE = 0.01
# Values on a plateau: one or two are near the end whatever the curve does
FEWEST = 3
# A share of 495 in 500 is 0.01 from 1
ROUNDING = 1e-9


@dataclass(frozen=True)
class Plateau:
    """From which value on a curve stays level, or why none can be named.

    Attributes
    ----------
    start
        The smallest value from which on the mean stays level; None where there is no plateau.
    level
        The mean at the last value; NaN where the curve is not defined throughout.
    tolerance
        How far from it the mean may lie, at least.
    reason
        Why there is no plateau; None where there is one.
    """

    start: int | None
    level: float
    tolerance: float
    reason: str | None = None


def plateau(
    values: NDArray[np.int64],
    mean: NDArray[np.float64],
    error: NDArray[np.float64] | None,
    *,
    tolerance: float = TOLERANCE,
) -> Plateau:
    """Find the smallest value from which on the mean stays near where it ends.

    At every value of the plateau the mean lies within ``max(tolerance, its standard error)`` of
    the mean at the last value. The spread of single replicates would be too generous: five of
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
        In units of the score.
    """
    last = float(mean[-1])
    if not np.isfinite(mean).all():
        return Plateau(None, last, tolerance, "the score is not defined at every value")
    allowed = np.full(len(mean), tolerance) if error is None else np.maximum(tolerance, error)
    away = np.flatnonzero(np.abs(mean - last) > allowed + ROUNDING)
    first = int(away[-1]) + 1 if away.size else 0
    if len(mean) - first >= FEWEST and 2 * values[first] <= values[-1]:
        return Plateau(int(values[first]), last, tolerance)
    return Plateau(None, last, tolerance, _reason(values, mean, first))


def _reason(values: NDArray[np.int64], mean: NDArray[np.float64], first: int) -> str:
    """Say what was found instead; `first` is where the level end of the curve begins."""
    if len(values) < FEWEST:
        return f"{len(values)} values are too few to tell"
    if first == 0:
        return f"level throughout, but from {values[0]} it does not double"
    off = float(mean[first - 1] - mean[-1])
    side = "below" if off < 0 else "above"
    return f"at {values[first - 1]} still {abs(off):.3f} {side} the end"
