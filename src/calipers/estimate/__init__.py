"""How two sets of embeddings relate: the small objects that all scores are read from."""

from calipers.estimate.balls import Supports
from calipers.estimate.classifier import Classification, Discrimination, classify, discriminate
from calipers.estimate.distance_provider import DistanceProvider
from calipers.estimate.estimators import estimate_ratios
from calipers.estimate.from_distances import knn_ratios_from, neighbourhoods_from
from calipers.estimate.gaussian_ratios import gaussian_ratios
from calipers.estimate.histograms import Histograms
from calipers.estimate.kde_ratios import kde_ratios
from calipers.estimate.knn_ratios import knn_ratios
from calipers.estimate.likelihood_ratios import Estimate, LikelihoodRatios
from calipers.estimate.model_probabilities import probability_ratios
from calipers.estimate.neighbourhoods import Balls, Neighbourhoods, neighbourhoods
from calipers.estimate.preprocess import Preprocessed, preprocess
from calipers.estimate.quantise import Quantisation, quantise

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
