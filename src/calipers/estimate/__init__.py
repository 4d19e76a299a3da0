"""How two sets of embeddings relate: the small objects that all scores are read from."""

from calipers.estimate.axes import Preprocessed, preprocess
from calipers.estimate.classifier import Classification, Discrimination, classify, discriminate
from calipers.estimate.estimators import estimate_ratios
from calipers.estimate.histograms import Histograms
from calipers.estimate.knn.balls import Supports
from calipers.estimate.knn.from_distances import (
    DistanceProvider,
    knn_ratios_from,
    neighbourhoods_from,
)
from calipers.estimate.knn.neighbourhoods import Balls, Neighbourhoods, neighbourhoods
from calipers.estimate.likelihood_ratios import Estimate, LikelihoodRatios
from calipers.estimate.quantise import Quantisation, quantise
from calipers.estimate.ratios import gaussian_ratios, kde_ratios, knn_ratios, probability_ratios

__all__ = [
    "Balls",
    "Classification",
    "Discrimination",
    "DistanceProvider",
    "Estimate",
    "Histograms",
    "LikelihoodRatios",
    "Neighbourhoods",
    "Preprocessed",
    "Quantisation",
    "Supports",
    "classify",
    "discriminate",
    "estimate_ratios",
    "gaussian_ratios",
    "kde_ratios",
    "knn_ratios",
    "knn_ratios_from",
    "neighbourhoods",
    "neighbourhoods_from",
    "preprocess",
    "probability_ratios",
    "quantise",
]
