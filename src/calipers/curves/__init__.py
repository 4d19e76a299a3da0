"""Divergences and trade-off curves between two distributions, from any estimate of them."""

from calipers.curves.custom import custom_divergence
from calipers.curves.divergence import Divergence
from calipers.curves.divergences import (
    DIVERGENCES,
    find_divergence,
    interpolated_chi2,
    interpolated_kl,
    skew_jensen_shannon,
)
from calipers.curves.expectation import f_divergence
from calipers.curves.frontier import DivergenceFrontier, divergence_frontier
from calipers.curves.precision_recall import PrecisionRecallCurve, precision_recall_curve

__all__ = [
    "DIVERGENCES",
    "Divergence",
    "DivergenceFrontier",
    "PrecisionRecallCurve",
    "custom_divergence",
    "divergence_frontier",
    "f_divergence",
    "find_divergence",
    "interpolated_chi2",
    "interpolated_kl",
    "precision_recall_curve",
    "skew_jensen_shannon",
]
