"""How two sets of embeddings relate: the small objects that all scores are read from."""

from calipers.estimate.balls import Supports
from calipers.estimate.histograms import Histograms
from calipers.estimate.likelihood_ratios import Estimate, LikelihoodRatios
from calipers.estimate.neighbourhoods import Balls, Neighbourhoods, neighbourhoods
from calipers.estimate.preprocess import Preprocessed, preprocess
from calipers.estimate.quantise import Quantisation, quantise

__all__ = [
    "Balls",
    "Estimate",
    "Histograms",
    "LikelihoodRatios",
    "Neighbourhoods",
    "Preprocessed",
    "Quantisation",
    "Supports",
    "neighbourhoods",
    "preprocess",
    "quantise",
]
