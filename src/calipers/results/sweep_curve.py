"""One metric against what was swept: means, bands, and where it levels off."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.results.sweep_plateau import TOLERANCE, Plateau, plateau
from calipers.score import Better


@dataclass(frozen=True, eq=False)
class Curve:
    """One metric of one system by one view, against what was swept.

    Attributes
    ----------
    values
        What was swept, ascending, shape ``(v,)``, int64.
    replicates
        The score at every value, one row for each seed file or random order, shape ``(r, v)``,
        float64.
    signature
        One line that pins every choice but the swept one.
    range, better
        As of a :class:`~calipers.Score`.
    reason
        Why some scores are NaN; None where none is.
    tolerance
        How far from its end the mean of a score within [0, 1] may lie on a plateau, at least; 5 %
        of the value at the end hold for other scores.
    """

    values: NDArray[np.int64]
    replicates: NDArray[np.float64]
    signature: str
    range: tuple[float, float] = (0.0, 1.0)
    better: Better = "higher"
    reason: str | None = None
    tolerance: float = TOLERANCE

    @cached_property
    def mean(self) -> NDArray[np.float64]:
        """Mean over the replicates, shape ``(v,)``."""
        return np.asarray(self.replicates.mean(axis=0))

    @cached_property
    def deviation(self) -> NDArray[np.float64] | None:
        """Standard deviation over the replicates (r - 1 in the denominator); None for one."""
        if len(self.replicates) == 1:
            return None
        with np.errstate(invalid="ignore"):
            return np.asarray(self.replicates.std(axis=0, ddof=1))

    @property
    def low(self) -> NDArray[np.float64] | None:
        """Lower edge of the band: mean less one standard deviation; None for one replicate."""
        return None if self.deviation is None else self.mean - self.deviation

    @property
    def high(self) -> NDArray[np.float64] | None:
        """Upper edge of the band: mean plus one standard deviation; None for one replicate."""
        return None if self.deviation is None else self.mean + self.deviation

    @cached_property
    def plateau(self) -> Plateau:
        """From where on the mean stays within the tolerance, or its standard error, of its end."""
        spread = self.deviation
        error = None if spread is None else spread / math.sqrt(len(self.replicates))
        return plateau(self.values, self.mean, error, tolerance=self.tolerance, range=self.range)

    def to_dict(self) -> dict[str, Any]:
        """Return the curve as plain data; numbers that JSON lacks become None."""
        level = self.plateau
        return {
            "values": self.values.tolist(),
            "mean": _numbers(self.mean),
            "deviation": _numbers(self.deviation),
            "low": _numbers(self.low),
            "high": _numbers(self.high),
            "replicates": [_numbers(row) for row in self.replicates],
            "plateau": {
                "start": level.start,
                "level": _number(level.level),
                "tolerance": _number(level.tolerance),
                "relative": level.relative,
                "reason": level.reason,
            },
            "range": [_number(bound) for bound in self.range],
            "better": self.better,
            "signature": self.signature,
            "reason": self.reason,
        }


def _numbers(values: NDArray[np.float64] | None) -> list[float | None] | None:
    return None if values is None else [_number(value) for value in values.tolist()]


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
