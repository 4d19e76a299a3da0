"""Estimates of how two sets of embeddings relate: the objects from which all scores are read."""

from calipers.estimate.axes import Preprocessed, preprocess
from calipers.estimate.classifier import Classification, Discrimination, classify, discriminate
from calipers.estimate.classifier_odds import sample_odds
from calipers.estimate.estimators import estimate_ratios
from calipers.estimate.gaussians import gaussian_ratios
from calipers.estimate.histograms import Histograms
from calipers.estimate.kernel_ratios import kde_ratios
from calipers.estimate.knn.balls import Supports
from calipers.estimate.knn.from_distances import (
    DistanceProvider,
    knn_ratios_from,
    neighbourhoods_from,
)
from calipers.estimate.knn.neighbourhoods import Balls, Neighbourhoods, neighbourhoods
from calipers.estimate.knn.ratios import knn_ratios
from calipers.estimate.likelihood_ratios import Estimate, LikelihoodRatios
from calipers.estimate.model_probabilities import probability_ratios
from calipers.estimate.quantise import Quantisation, quantise
from calipers.estimate.sample_odds import SampleOdds

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
    "SampleOdds",
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
    "sample_odds",
]
