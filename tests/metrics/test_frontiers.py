"""Scores of the frontier family: worked by hand, bounded as the paper says, signed in full."""

import math

import numpy as np
import pytest

from calipers import Histograms, divergence_frontier
from calipers.catalogue.embeddings import METRICS
from calipers.catalogue.estimation import DIVERGENCE, EstimationOptions
from calipers.curves.divergences import DIVERGENCES, find_divergence
from calipers.estimate.likelihood_ratios import LikelihoodRatios
from calipers.metrics.frontiers import (
    SUMMARIES,
    divergence_score,
    integral_bound,
    midpoint_bound,
    range_by,
    summary_score,
)

PINS = {"n": 4, "m": 4, "seed": 0}
FINITE = [word for word in DIVERGENCE.forms if np.isfinite(find_divergence(word).at_zero)]


def score(name, options, estimate, **more):
    frontier = divergence_frontier(estimate, divergence=options.divergence)
    return summary_score(name, options, frontier, pins=PINS, **more)


def counts(left, right, smoothing="none"):
    return Histograms(np.array(left), np.array(right), smoothing=smoothing)


def test_by_hand():
    pair = counts([1, 3], [3, 1])
    chi2 = EstimationOptions(divergence="chi2")
    # p = (¼, ¾), q = (¾, ¼), r = (½, ½): χ² = Σ (p − r)² / r = ¼ from either side
    assert score("midpoint", chi2, pair).value == pytest.approx(0.25)
    # Σ (p − q)² / q = ¼ / ¾ + ¼ / ¼
    direct = divergence_score("divergence", chi2, pair, pins=PINS)
    assert direct.value == pytest.approx(1 / 3 + 1)
    assert (
        direct.signature == "metric:divergence:chi2|divergence:chi2|smoothing:none|n:4|m:4|seed:0"
    )
    smooth = divergence_score(
        "divergence",
        EstimationOptions("chi2", smoothing="laplace"),
        pair.smoothed("laplace"),
        pins=PINS,
    )
    assert smooth.value == pytest.approx((2 - 4) ** 2 / 6 * (1 / 4 + 1 / 2))


def test_the_bounds_of_the_paper():
    assert integral_bound(find_divergence("kl")) == 1.0
    assert integral_bound(find_divergence("chi2")) == 2.0
    assert midpoint_bound(find_divergence("kl")) == pytest.approx(math.log(2), abs=1e-15)
    assert midpoint_bound(find_divergence("chi2")) == 1.0
    assert range_by("divergence", EstimationOptions("total_variation")) == (0.0, 1.0)
    assert range_by("divergence", EstimationOptions()) == (0.0, math.inf)
    assert METRICS["mauve"].range_of(EstimationOptions("chi2", "knn")) == (0.0, 1.0)
    assert range_by("frontier_integral", EstimationOptions(estimator="knn")) == (0.0, 1.0)
    assert range_by("frontier_integral", EstimationOptions("reverse_kl")) == (0.0, math.inf)


@pytest.mark.parametrize("divergence", FINITE)
def test_disjoint_supports_reach_the_bounds(divergence):
    pair, options = counts([3, 1, 0, 0], [0, 0, 2, 2]), EstimationOptions(divergence)
    for name in ("frontier_integral", "midpoint"):
        found = score(name, options, pair)
        assert found.value == pytest.approx(found.range[1], rel=1e-6), name
        assert found.value <= found.range[1]
    direct = divergence_score("divergence", options, pair, pins=PINS)
    assert direct.value == pytest.approx(direct.range[1])


@pytest.mark.parametrize("name", SUMMARIES)
@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_equal_histograms_are_best(name, divergence):
    found = score(name, EstimationOptions(divergence), counts([5, 2, 9], [5, 2, 9]))
    best = 1.0 if found.better == "higher" else 0.0
    assert found.value == pytest.approx(best, abs=1e-9)


def test_infinite_values_name_the_mass_that_is_missing():
    pair = counts([3, 1, 0], [3, 0, 1])
    one = divergence_score("divergence", EstimationOptions(), pair, pins=PINS)
    assert one.value == math.inf
    assert one.reason == (
        "kl is infinite: 25.00% of the reference distribution lies where the generated has nothing"
    )
    other = divergence_score("divergence", EstimationOptions("reverse_kl"), pair, pins=PINS)
    assert "25.00% of the generated distribution lies where the reference has" in other.reason
    some = divergence_score("divergence", EstimationOptions("le_cam"), pair, pins=PINS)
    assert math.isfinite(some.value)
    assert some.reason is None


def test_ratios_are_read_as_histograms_are():
    ratios = LikelihoodRatios.of([3.0, 3.0, 1 / 3], [3.0, 1 / 3, 1 / 3], pins={"estimator": "own"})
    found = score("mauve", EstimationOptions("chi2", "knn"), ratios, c=2.0)
    assert found.value == divergence_frontier(ratios, divergence="chi2").area(2.0)
    assert "smoothing" not in found.signature
    for pin in ("metric:mauve:chi2:knn", "divergence:chi2", "c:2", "grid:25", "area:both_axes"):
        assert pin in found.signature.split("|")


def test_a_star_stands_for_its_smoothing():
    star = EstimationOptions(smoothing="krichevsky-trofimov")
    assert star.starred_key("mauve") == "mauve_star"
    assert (
        EstimationOptions("chi2", smoothing=star.smoothing).starred_key("frontier")
        == "frontier_star:chi2"
    )
    assert EstimationOptions(smoothing="laplace").starred_key("mauve") == "mauve:laplace"
    found = score("midpoint", star, counts([3, 0], [0, 3], "krichevsky-trofimov"))
    assert found.signature.startswith("metric:midpoint_star|divergence:kl|smoothing:krichevsky")


def test_a_value_beyond_its_range_is_none():
    """Over the other side alone one ratio that is far off decides."""
    off = LikelihoodRatios([3.0] * 9, [-3.0] * 8 + [12.0])
    options = EstimationOptions(estimator="knn", points="other_side")
    frontier = divergence_frontier(off, points="other_side")
    found = summary_score("frontier_integral", options, frontier, pins=PINS)
    assert math.isnan(found.value)
    assert found.range == (0.0, 1.0)
    assert "beyond the 1 that it can be at most" in found.reason
    both = score("frontier_integral", EstimationOptions(estimator="knn"), off)
    assert 0.5 < both.value <= 1
    assert both.reason is None
