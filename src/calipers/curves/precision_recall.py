"""The precision–recall curve of two distributions (PRD).

For a slope λ from 0 to infinity, precision is α(λ) = E_Q[min(1, λ·p/q)] and recall is
β(λ) = E_P[min(1, q/(λ·p))]: how much of Q, and how much of P, a common part can make up (Sajjadi et
al., NeurIPS 2018, theorem 2; Le Bronnec et al., ACL 2024, theorem 1). On histograms these are
Σ min(λ·p, q) and Σ min(p, q/λ), equal to the authors' 2019 release on the same counts.

What it does not detect: on few cells it sees only their mass, so two sets that differ within the
cells look alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from calipers.curves.divergence import Vector
from calipers.curves.frontier import best_f_beta
from calipers.estimate.likelihood_ratios import Estimate, LikelihoodRatios, ratios_of
from calipers.numeric.validation import check_whole

ANGLES = 1001
EDGE = 1e-10
EVERYWHERE = (
    "this estimator gives both distributions mass everywhere, so it cannot tell what one of "
    "them lacks"
)


@dataclass(frozen=True, eq=False)
class PrecisionRecallCurve:
    """How good a part of the generated set can be, against how much of the reference it covers.

    Attributes
    ----------
    precision, recall
        Points of the curve, shape ``(angles,)``, in [0, 1], from high recall to high precision.
    max_precision
        α_∞, the share of the generated set where the reference has some mass, in [0, 1]; NaN where
        the estimator gives mass everywhere.
    max_recall
        β_0, the share of the reference where the generated set has some mass; NaN likewise.
    total_variation
        1 − α(1), the total variation distance of the two, in [0, 1].
    reason
        Why the end points are NaN; None where they are not.
    """

    precision: Vector
    recall: Vector
    max_precision: float
    max_recall: float
    total_variation: float
    reason: str | None = None

    def f_beta(self, beta: float = 8.0) -> float:
        """The largest F_β on the curve, (1 + β²)·α·β / (β²·α + β), in [0, 1].

        β = 8 weighs recall (diversity), β = 1/8 precision (quality); Sajjadi et al., section 4.1.

        Parameters
        ----------
        beta
            Weight of recall against precision, above 0.
        """
        return best_f_beta(self.precision, self.recall, beta)


def precision_recall_curve(estimate: Estimate, *, angles: int = ANGLES) -> PrecisionRecallCurve:
    """Trace the trade-off between precision and recall.

    Parameters
    ----------
    estimate
        :class:`~calipers.Histograms` or :class:`~calipers.LikelihoodRatios`. Smoothing is taken
        back: it would make every cell positive, and so hide what one of the sets lacks.
    angles
        Number of points, at slopes λ = tan(angle) with angles evenly spaced in (0, π/2).
    """
    check_whole("angles", angles, 1)
    ratios = ratios_of(estimate, raw=True)
    slopes = _slopes(angles)
    hidden = ratios.positive
    return PrecisionRecallCurve(
        precision=_overlap(ratios, slopes),
        recall=_overlap(ratios.swapped, 1 / slopes),
        max_precision=np.nan if hidden else max(0.0, 1 - ratios.outside_reference),
        max_recall=np.nan if hidden else max(0.0, 1 - ratios.outside_generated),
        total_variation=1 - float(_overlap(ratios, np.ones(1))[0]),
        reason=EVERYWHERE if hidden else None,
    )


def mean_curve(curves: Sequence[PrecisionRecallCurve]) -> PrecisionRecallCurve:
    """Average curves of several quantisations, angle by angle."""
    return PrecisionRecallCurve(
        np.mean([curve.precision for curve in curves], axis=0),
        np.mean([curve.recall for curve in curves], axis=0),
        float(np.mean([curve.max_precision for curve in curves])),
        float(np.mean([curve.max_recall for curve in curves])),
        float(np.mean([curve.total_variation for curve in curves])),
        curves[0].reason,
    )


@lru_cache(maxsize=8)
def _slopes(angles: int) -> Vector:
    """λ = tan(angle) for angles evenly spaced in (0, π/2)."""
    slopes: Vector = np.tan(np.linspace(EDGE, np.pi / 2 - EDGE, angles))
    slopes.flags.writeable = False
    return slopes


def _overlap(ratios: LikelihoodRatios, slopes: Vector) -> Vector:
    """E_Q[min(1, λ·r)] for every slope λ, by sums over the sorted ratios r."""
    r, weights = ratios.at_generated, ratios.generated_weights
    weights = np.full(len(r), 1 / len(r)) if weights is None else weights
    order = np.argsort(r, kind="stable")
    split = np.searchsorted(r[order], 1 / slopes)
    below = np.concatenate([[0.0], np.cumsum((weights * r)[order])])
    above = np.concatenate([np.cumsum(weights[order][::-1])[::-1], [0.0]])
    shared: Vector = np.clip(slopes * below[split] + above[split], 0.0, 1.0)
    return shared
