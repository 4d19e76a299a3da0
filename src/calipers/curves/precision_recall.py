"""The precision–recall curve of two distributions (PRD).

For a slope λ from 0 to infinity, precision is α(λ) = Σ min(λ·p, q) and recall is
β(λ) = α(λ)/λ = Σ min(p, q/λ): how much of Q, and how much of P, a common part can make up
(Sajjadi et al., NeurIPS 2018, theorem 2). Equal to the authors' 2019 release on the same counts.

On few cells it sees only their mass: two sets that differ within the cells look alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.estimate.histograms import Histograms

ANGLES = 1001
EDGE = 1e-10


@dataclass(frozen=True)
class PrecisionRecallCurve:
    """How good a part of the generated set can be, against how much of the reference it covers.

    Attributes
    ----------
    precision, recall
        Points of the curve, shape ``(angles,)``, in [0, 1], from high recall to high precision.
    """

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]

    def f_beta(self, beta: float) -> float:
        """The largest F_β on the curve, (1 + β²)·α·β / (β²·α + β), in [0, 1].

        β = 8 weighs recall (diversity), β = 1/8 precision (quality).

        Parameters
        ----------
        beta
            Weight of recall against precision, above 0.
        """
        if not 0 < beta < np.inf:
            raise InputError(f"beta must be above 0 and finite; found {beta}")
        # Weights of the harmonic mean: β²/(1 + β²) and 1/(1 + β²), without squaring a large β
        on_recall = 1 / (1 + beta**-2) if beta > 1 else beta**2 / (1 + beta**2)
        below = on_recall * self.precision + (1 - on_recall) * self.recall
        above = self.precision * self.recall
        return float(np.max(np.divide(above, below, out=np.zeros_like(above), where=below > 0)))


def precision_recall_curve(pair: Histograms, *, angles: int = ANGLES) -> PrecisionRecallCurve:
    """Trace the trade-off between precision and recall over the cells.

    Parameters
    ----------
    pair
        Counts of both sets over the same cells. Smoothing is left out: it would make every cell
        positive, and so hide what one of the sets lacks.
    angles
        Number of points, at slopes λ = tan(angle) with angles evenly spaced in (0, π/2).
    """
    p, q = pair.smoothed("none").probabilities
    slopes = np.tan(np.linspace(EDGE, np.pi / 2 - EDGE, angles))[:, None]  # (angles, 1)
    precision = np.minimum(slopes * p, q).sum(axis=1)
    recall = np.minimum(p, q / slopes).sum(axis=1)
    return PrecisionRecallCurve(np.clip(precision, 0.0, 1.0), np.clip(recall, 0.0, 1.0))


def mean_curve(curves: Sequence[PrecisionRecallCurve]) -> PrecisionRecallCurve:
    """Average curves of several quantisations, angle by angle."""
    return PrecisionRecallCurve(
        np.mean([curve.precision for curve in curves], axis=0),
        np.mean([curve.recall for curve in curves], axis=0),
    )
