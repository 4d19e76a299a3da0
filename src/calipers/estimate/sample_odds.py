"""The odds of every sample to be of the reference, as a classifier orders them.

The least cost of its errors over all thresholds, α(λ) = min over A of λ·P(not A) + Q(A) with A what
lies above a threshold, is that of the likelihood ratio p/q of the odds themselves, made to rise
with them: over the pieces on which the isotonic regression of the labels is constant, α(λ) is the
sum of min(λ·p, q). So odds are an estimate as the others are, and what reads curves and divergences
reads them from these too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from calipers.errors import InputError
from calipers.estimate.likelihood_ratios import LikelihoodRatios
from calipers.lazy import lazily
from calipers.numeric.arrays import Flags, Floats, Vector


@dataclass(frozen=True, eq=False)
class SampleOdds:
    """The odds of every sample of both sets to be of the reference, in any monotone scale.

    Attributes
    ----------
    log_reference, log_generated
        The logarithm of the odds, shapes ``(n,)`` and ``(m,)``, in [−∞, ∞]: only their order
        counts.
    covered
        Whether generated training rows are near each reference sample, shape ``(n,)``; the mean is
        the end of recall. None where every sample has some of both sets.
    supported
        Whether reference training rows are near each generated sample, shape ``(m,)``; the mean is
        the end of precision. None likewise.
    pins
        What made them, for signatures.

    Raises
    ------
    InputError
        If a side has no sample, or odds are not numbers.
    """

    log_reference: Vector
    log_generated: Vector
    covered: Flags | None = None
    supported: Flags | None = None
    pins: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for side in ("reference", "generated"):
            odds = np.asarray(getattr(self, f"log_{side}"), np.float64)
            if odds.ndim != 1 or len(odds) == 0 or np.isnan(odds).any():
                raise InputError(
                    f"the odds of the {side} samples must be a list of numbers, at least one"
                )
            object.__setattr__(self, f"log_{side}", odds)

    @lazily
    def ratios(self) -> LikelihoodRatios:
        """log p/q from the odds, made monotone in the odds.

        Over the generated samples E[min(1, λ·p/q)] is the least cost over all thresholds.
        """
        n, m = len(self.log_reference), len(self.log_generated)
        values, places = np.unique(
            np.concatenate([self.log_reference, self.log_generated]), return_inverse=True
        )
        p, q = _pooled(
            np.bincount(places[:n], minlength=len(values)) / n,
            np.bincount(places[n:], minlength=len(values)) / m,
        )
        with np.errstate(divide="ignore"):
            logs = np.log(p) - np.log(q)
        return LikelihoodRatios(logs[places[:n]], logs[places[n:]], pins=self.pins)

    @property
    def raw(self) -> SampleOdds:
        """The estimate itself, since it has no smoothing to remove."""
        return self

    @property
    def ends(self) -> tuple[float, float]:
        """Precision and recall at the ends of the curve, in [0, 1]; NaN where unknown."""
        if self.supported is None or self.covered is None:
            return np.nan, np.nan
        return float(self.supported.mean()), float(self.covered.mean())

    def without(self, side: str, left_out: Flags) -> SampleOdds:
        """Return the odds without some samples of one side, by the same classifiers."""
        logs, near = f"log_{side}", {"reference": "covered", "generated": "supported"}[side]
        known = getattr(self, near)
        return replace(
            self,
            **{
                logs: getattr(self, logs)[~left_out],
                near: None if known is None else known[~left_out],
            },
        )


def _pooled(p: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Masses of the pieces to which rising odds are pooled until p/q rises, at each of the odds."""
    from scipy.optimize import isotonic_regression

    blocks = isotonic_regression(p / (p + q), weights=p + q).blocks
    starts, sizes = blocks[:-1], np.diff(blocks)
    return (
        np.repeat(np.add.reduceat(p, starts), sizes),
        np.repeat(np.add.reduceat(q, starts), sizes),
    )
