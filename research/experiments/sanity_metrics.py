"""The metrics that the sanity checks look at, called as a person would call them."""

from __future__ import annotations

import numpy as np

from calipers import metrics

FIDELITY, DIVERSITY, NOVELTY, COPYING = "fidelity", "diversity", "novelty", "copying"

KINDS = {
    "precision": FIDELITY,
    "density": FIDELITY,
    "clipped_density": FIDELITY,
    "probabilistic_precision": FIDELITY,
    "cover_precision": FIDELITY,
    "sphere_precision": FIDELITY,
    "topp": FIDELITY,
    "recall": DIVERSITY,
    "coverage": DIVERSITY,
    "clipped_coverage": DIVERSITY,
    "probabilistic_recall": DIVERSITY,
    "cover_recall": DIVERSITY,
    "sphere_recall": DIVERSITY,
    "topr": DIVERSITY,
    "authenticity": NOVELTY,
    "near_copies": COPYING,
}
"""Key of a metric to what it claims to measure."""


def all_scores(
    reference: np.ndarray, generated: np.ndarray, *, threads: int | None = None
) -> dict[str, float]:
    """Every metric of a pair, each with its own defaults."""
    pair = reference, generated
    plain = metrics.precision_recall(*pair, threads=threads)
    spread = metrics.density_coverage(*pair, threads=threads)
    clipped = metrics.clipped_density_coverage(*pair, threads=threads)
    likely = metrics.probabilistic_precision_recall(*pair, threads=threads)
    cover = metrics.precision_recall_cover(*pair, threads=threads)
    sphere = metrics.sphere_precision_recall(*pair, threads=threads)
    topological = metrics.topological_precision_recall(*pair, threads=threads)
    found = {
        "precision": plain.precision,
        "density": spread.density,
        "clipped_density": clipped.density,
        "probabilistic_precision": likely.precision,
        "cover_precision": cover.precision,
        "sphere_precision": sphere.precision,
        "topp": topological.precision,
        "recall": plain.recall,
        "coverage": spread.coverage,
        "clipped_coverage": clipped.coverage,
        "probabilistic_recall": likely.recall,
        "cover_recall": cover.recall,
        "sphere_recall": sphere.recall,
        "topr": topological.recall,
        "authenticity": metrics.authenticity(*pair, threads=threads),
        "near_copies": metrics.near_copies(*pair, threads=threads),
    }
    return {name: score.value for name, score in found.items()}
