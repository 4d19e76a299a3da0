"""Divergences and trade-off curves between two distributions, from any estimate of them."""

from calipers.curves.bounds import (
    ErrorBound,
    expected_missing_mass,
    missing_mass,
    oracle_bound,
    quantisation_bound,
    recommended_cells,
    smoothness_constants,
    statistical_bound,
    total_bound,
)
from calipers.curves.contributions import contributions
from calipers.curves.divergence import Divergence, custom_divergence
from calipers.curves.divergences import (
    DIVERGENCES,
    find_divergence,
    interpolated_chi2,
    interpolated_kl,
    skew_jensen_shannon,
)
from calipers.curves.frontier import DivergenceFrontier, divergence_frontier, f_divergence
from calipers.curves.precision_recall import PrecisionRecallCurve, precision_recall_curve
from calipers.curves.renyi import RenyiFrontier, renyi_frontier

__all__ = [
    "DIVERGENCES",
    "Divergence",
    "DivergenceFrontier",
    "ErrorBound",
    "PrecisionRecallCurve",
    "RenyiFrontier",
    "contributions",
    "custom_divergence",
    "divergence_frontier",
    "expected_missing_mass",
    "f_divergence",
    "find_divergence",
    "interpolated_chi2",
    "interpolated_kl",
    "missing_mass",
    "oracle_bound",
    "precision_recall_curve",
    "quantisation_bound",
    "recommended_cells",
    "renyi_frontier",
    "skew_jensen_shannon",
    "smoothness_constants",
    "statistical_bound",
    "total_bound",
]
