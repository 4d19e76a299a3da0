"""Trade-off curves between two distributions, from any estimate of them."""

from calipers.curves.frontier import DivergenceFrontier, divergence_frontier
from calipers.curves.precision_recall import PrecisionRecallCurve, precision_recall_curve

__all__ = [
    "DivergenceFrontier",
    "PrecisionRecallCurve",
    "divergence_frontier",
    "precision_recall_curve",
]
