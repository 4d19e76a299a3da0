"""The metrics over arrays, each by itself, for people who have their embeddings."""

from calipers.estimate.preprocess import Preprocessed, preprocess
from calipers.metrics.frechet import frechet_distance
from calipers.metrics.frontiers import Mauve, mauve
from calipers.metrics.prd import Prd, prd
from calipers.metrics.support import (
    DensityCoverage,
    PrecisionRecall,
    density_coverage,
    precision_recall,
)

__all__ = [
    "DensityCoverage",
    "Mauve",
    "Prd",
    "PrecisionRecall",
    "Preprocessed",
    "density_coverage",
    "frechet_distance",
    "mauve",
    "prd",
    "precision_recall",
    "preprocess",
]
