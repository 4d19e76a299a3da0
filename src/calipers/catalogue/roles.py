"""What metrics measure: closeness of the distributions, quality or diversity of the samples."""

from __future__ import annotations

CLOSENESS = (
    "mauve_star",
    "mauve",
    "frontier_integral_star",
    "frontier_integral",
    "midpoint_star",
    "midpoint",
    "divergence_star",
    "divergence",
    "total_variation",
    "mauve_ot",
    "frechet_distance",
    "mmd",
    "kid",
    "energy_distance",
)
"""Scores of the gap between the distributions, the one to speak of first."""

QUALITY = ("precision", "clipped_density", "cover_precision", "topp", "probabilistic_precision")
DIVERSITY = ("recall", "coverage", "clipped_coverage", "cover_recall", "topr")
"""Shares between 0 and 1, higher better, the one to speak of first."""
