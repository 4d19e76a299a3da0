"""The metrics over arrays, each by itself, for people who have their embeddings."""

from calipers.estimate.preprocess import Preprocessed, preprocess
from calipers.metrics.clipped import ClippedDensityCoverage, clipped_density_coverage
from calipers.metrics.copying import authenticity, near_copies
from calipers.metrics.cover import precision_recall_cover
from calipers.metrics.frechet import frechet_distance
from calipers.metrics.frontiers import Mauve, mauve
from calipers.metrics.groups import scores_by_group
from calipers.metrics.prd import Prd, prd
from calipers.metrics.probabilistic import probabilistic_precision_recall
from calipers.metrics.realism import realism
from calipers.metrics.spheres import sphere_precision_recall
from calipers.metrics.support import (
    DensityCoverage,
    PrecisionRecall,
    density_coverage,
    precision_recall,
)
from calipers.metrics.topp import TopologicalPrecisionRecall, topological_precision_recall

__all__ = [
    "ClippedDensityCoverage",
    "DensityCoverage",
    "Mauve",
    "Prd",
    "PrecisionRecall",
    "Preprocessed",
    "TopologicalPrecisionRecall",
    "authenticity",
    "clipped_density_coverage",
    "density_coverage",
    "frechet_distance",
    "mauve",
    "near_copies",
    "prd",
    "precision_recall",
    "precision_recall_cover",
    "preprocess",
    "probabilistic_precision_recall",
    "realism",
    "scores_by_group",
    "sphere_precision_recall",
    "topological_precision_recall",
]
