"""Estimators by name, and what the laws of the estimates leave free."""

import importlib.util
import inspect
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.cluster import KMeans

from calipers.catalogue import estimation
from calipers.catalogue.estimation import PAIRED_C
from calipers.curves import divergence_frontier, f_divergence, precision_recall_curve
from calipers.curves.precision_recall import mean_curve
from calipers.errors import InputError
from calipers.estimate import (
    Histograms,
    LikelihoodRatios,
    Supports,
    neighbourhoods,
    preprocess,
    quantise,
)
from calipers.estimate.axes import leading_axes, unit_rows, whiten
from calipers.estimate.classifier import Classification, assign_folds, classify, logistic, platt
from calipers.estimate.estimators import ESTIMATORS, estimate_ratios
from calipers.estimate.gaussians import gaussian_kl, gaussian_ratios
from calipers.estimate.kernel_ratios import kde_ratios
from calipers.estimate.kmeans.kernels import lay_out
from calipers.estimate.kmeans.lloyd import k_means
from calipers.estimate.knn.ratios import knn_ratios
from calipers.estimate.measures import centred, squared_distances
from calipers.estimate.model_probabilities import probability_ratios
from calipers.estimate.transport import stop_overs
from calipers.metrics import prd, precision_recall
from calipers.numeric.blocks import Blocks
from calipers.numeric.row_sets import RowSets
from calipers.numeric.threads import workers

_spec = importlib.util.spec_from_file_location(
    "brute_force", Path(__file__).with_name("brute_force.py")
)
oracle = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(oracle)

NAMES = list(ESTIMATORS)


def test_constants_are_those_of_the_paper():
    assert PAIRED_C == {
        "quantisation": 5.0,
        "knn": 10.0,
        "kde": 10.0,
        "classifier": 2.5,
        "boosted": 2.5,
        "gaussian": 1.0,
        "model": 5.0,
    }


def test_there_is_a_function_for_every_estimator_of_the_catalogue():
    assert NAMES == ["knn", "kde", "classifier", "boosted", "gaussian"]
    assert (estimation.COUNTING, *NAMES) == estimation.ESTIMATORS
    assert set(PAIRED_C) == {*estimation.ESTIMATORS, "model"}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_curve_is_read_from_every_estimator(name):
    found = estimate_ratios(name, *oracle.two_gaussians(0.5, 3, 600, seed=0), seed=4, threads=2)
    assert found.pins["estimator"] == name
    assert found.pins.get("seed", 4) == 4
    assert 0.02 < f_divergence(found, "jensen_shannon") < 0.2
    frontier = divergence_frontier(found)
    assert 0.1 < frontier.area(PAIRED_C[name]) < 0.99
    assert 0.5 < precision_recall_curve(found).f_beta(8) < 1


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_farther_sets_score_worse(name):
    areas = []
    for kl in (0.0, 0.5, 2.0):
        found = estimate_ratios(name, *oracle.two_gaussians(kl, 4, 500, seed=2))
        areas.append(divergence_frontier(found).area(PAIRED_C[name]))
    assert areas[0] > areas[1] > areas[2]


@pytest.mark.parametrize("name", NAMES)
def test_swapped_sets_have_the_opposite_ratios(name):
    x, y = oracle.two_gaussians(0.3, 4, 400, seed=5, m=250)
    found, swapped = estimate_ratios(name, x, y), estimate_ratios(name, y, x)
    tolerance = {"rtol": 1e-5, "atol": 1e-5}
    finite = (
        np.nan_to_num(swapped.log_generated, neginf=-99.0),
        np.nan_to_num(-found.log_reference, neginf=-99.0),
    )
    np.testing.assert_allclose(*finite, **tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_rows_does_not_matter(name, rng):
    x, y = oracle.two_gaussians(0.3, 12, 300, seed=6)
    order = rng.permutation(300)
    values = [
        f_divergence(estimate_ratios(name, left, right), "jensen_shannon")
        for left, right in ((x, y), (x[order], y), (x, y[order]))
    ]
    assert values == pytest.approx([values[0]] * 3, rel=1e-5)


@pytest.mark.parametrize("name", ["quantisation", "model", "knnn", ""])
def test_names_that_rows_alone_do_not_serve_are_refused(name):
    with pytest.raises(InputError, match="estimator of likelihood ratios"):
        estimate_ratios(name, np.eye(3), np.eye(3))


# What the laws of the estimates leave free: defaults, limits, scales, shapes, labels.


_spec.loader.exec_module(oracle)


def test_ratios_are_kept_below_overflow():
    ratios = LikelihoodRatios([0.0], [680.0, 900.0, -900.0, -np.inf])
    found = ratios.at_generated
    assert found[0] == np.exp(680)
    assert found[1] <= 1e300
    assert 0 < found[2] < 1e-290
    assert found[3] == 0
    assert LikelihoodRatios([650.0, 0.0], [0.0]).outside_generated == 0


def test_swapping_takes_everything_along():
    ratios = LikelihoodRatios(
        [1.0, 2.0], [3.0, 4.0], [0.1, 0.9], [0.4, 0.6], positive=True, pins={"estimator": "x"}
    )
    swapped = ratios.swapped
    np.testing.assert_array_equal(swapped.log_reference, [-3, -4])
    np.testing.assert_array_equal(swapped.log_generated, [-1, -2])
    np.testing.assert_array_equal(swapped.reference_weights, [0.4, 0.6])
    np.testing.assert_array_equal(swapped.generated_weights, [0.1, 0.9])
    assert swapped.positive
    assert swapped.pins == {"estimator": "x"}


def test_shares_must_sum_to_one_closely():
    with pytest.raises(InputError, match="shares that sum to 1"):
        LikelihoodRatios([0.0, 1.0], [0.0], [0.5, 0.5001])
    with pytest.raises(InputError, match="shares that sum to 1"):
        LikelihoodRatios([0.0, 1.0], [0.0], [0.5, 0.4999])


def test_counts_that_no_float_holds_are_refused():
    assert Histograms([2**53], [1]).reference.tolist() == [2**53]
    with pytest.raises(InputError, match=r"must be at most 2\^53"):
        Histograms([2**53 + 2], [1])


def test_ratios_of_cells_say_how_they_were_made():
    pair = Histograms([3, 1], [1, 2], smoothing="laplace")
    assert pair.ratios.pins == {"smoothing": "laplace", "cells": 2}
    np.testing.assert_allclose(pair.ratios.generated_weights, [0.4, 0.6])


def test_f_beta_weighs_recall_by_default():
    curve = precision_recall_curve(Histograms([5, 1, 4], [2, 6, 2]))
    assert curve.f_beta() == curve.f_beta(8) != curve.f_beta(1)


def test_mean_curves_are_means_of_every_part():
    pairs = ([1, 1, 0], [2, 0, 0]), ([1, 3, 0], [0, 1, 3]), ([2, 1, 1], [2, 2, 0])
    curves = [precision_recall_curve(Histograms(*pair), angles=7) for pair in pairs]
    mean = mean_curve(curves)
    for name in ("precision", "recall", "max_precision", "max_recall", "total_variation"):
        expected = sum(getattr(curve, name) for curve in curves) / 3
        np.testing.assert_allclose(getattr(mean, name), expected, rtol=1e-12)
    assert mean.reason is None


def test_mean_curves_keep_the_reason():
    hidden = precision_recall_curve(LikelihoodRatios([0.5], [-0.5], positive=True))
    assert mean_curve([hidden, hidden]).reason == hidden.reason is not None
    assert np.isnan(mean_curve([hidden, hidden]).max_recall)


def test_logarithms_above_zero_by_more_than_rounding_are_refused():
    with pytest.raises(InputError, match=r"at most 0.* row 1 with 0\.001"):
        probability_ratios(([0.001], [-1.0]), ([-1.0], [-1.0]))


@pytest.mark.parametrize(
    ("call", "options"),
    [
        (knn_ratios, {"k": 50, "dimensions": 10}),
        (kde_ratios, {"bandwidth": "balloon", "dimensions": 10}),
        (gaussian_ratios, {"draws": 100_000, "dimensions": 10, "seed": 0}),
        (
            classify,
            {"model": "logistic", "folds": 5, "penalty": 1.0, "calibrate": True, "seed": 0},
        ),
    ],
)
def test_defaults_are_those_that_are_written_down(call, options):
    found = inspect.signature(call).parameters
    assert {name: found[name].default for name in options} == options


def test_ten_dimensions_are_kept(rng):
    x, y = rng.standard_normal((60, 14)), rng.standard_normal((50, 14))
    for call in (knn_ratios, kde_ratios, gaussian_ratios):
        assert call(x, y).pins["dimensions"] == 10


def test_an_automatic_k_never_asks_for_more_than_there_are(rng):
    x, y = rng.standard_normal((3, 9)), rng.standard_normal((3, 9))
    assert knn_ratios(x, y, k="auto").pins["k"] == 5
    assert np.isfinite(kde_ratios(x, y).log_generated).all()


def test_a_single_row_with_a_tie_counts_all_at_its_distance():
    # Only the reference row at 0 has a tie at its second distance, on either side
    found = knn_ratios([[0.0], [0.5]], [[-1.0], [1.0], [30.0]], k=2)
    assert found.log_reference[0] == pytest.approx(-np.log((2 / 3) / (2 / 2)))


def test_many_copies_are_given_a_tenth_of_scotts_bandwidth(rng):
    x = np.repeat(rng.standard_normal((3, 2)), 80, axis=0)
    y = np.repeat(rng.standard_normal((3, 2)), 90, axis=0)
    balloon, narrow = kde_ratios(x, y), kde_ratios(x, y, bandwidth=0.1 * 240 ** (-1 / 6))
    np.testing.assert_allclose(balloon.log_reference, narrow.log_reference, rtol=1e-9)
    np.testing.assert_allclose(balloon.log_generated, narrow.log_generated, rtol=1e-9)


def test_how_well_a_classifier_does_is_told_before_calibration():
    for seed in range(6):
        x, y = oracle.two_gaussians(0.01, 6, 60, seed=seed, m=40)
        one, two = (classify(x, y, calibrate=choice, seed=seed) for choice in (True, False))
        assert (one.accuracy, one.auc) == (two.accuracy, two.auc)


def test_as_many_folds_as_samples_are_allowed(rng):
    x, y = rng.standard_normal((5, 2)), rng.standard_normal((6, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert np.isfinite(classify(x, y, folds=5).ratios.log_reference).all()


def test_the_trees_are_small_and_many():
    from sklearn.ensemble import HistGradientBoostingClassifier

    x, y = oracle.two_gaussians(0.5, 4, 300, seed=3)
    rows, labels = np.concatenate([x, y]), np.arange(600) < 300
    found = classify(x, y, model="boosted", folds=2, calibrate=False, seed=1)
    fold = np.concatenate(assign_folds(x, y, folds=2, seed=1))
    expected = np.empty(600)
    for which in (0, 1):
        own = fold == which
        trees = HistGradientBoostingClassifier(
            max_iter=100, max_leaf_nodes=8, learning_rate=0.05, early_stopping=False
        ).fit(rows[~own], labels[~own])
        expected[own] = trees.decision_function(rows[own])
        expected[own] -= np.log(labels[~own].sum() / (~labels[~own]).sum())
    np.testing.assert_allclose(found.ratios.log_reference, expected[:300], atol=1e-9)
    np.testing.assert_allclose(found.ratios.log_generated, expected[300:], atol=1e-9)


def test_of_equal_stop_overs_the_first_counts():
    prices, stops = stop_overs(np.zeros((4, 4)), 0.3)
    assert not prices.any()
    assert not stops.any()


def test_stop_overs_where_the_way_back_costs_more(rng):
    costs = rng.random((5, 5))
    prices, stops = stop_overs(costs, 0.3)
    every = 0.3 * costs[:, :, None] + 0.7 * costs[None, :, :]  # from, over, to
    np.testing.assert_array_equal(prices, every.min(axis=1))
    np.testing.assert_array_equal(stops, every.argmin(axis=1))


@pytest.mark.parametrize("side", [0, 1])
def test_infinite_logarithms_on_one_side_are_enough_to_be_told(side):
    plain, never = ([-1.0], [-2.0]), [([-1.0], [-np.inf]), ([-np.inf], [-1.0])][side]
    pair = (never, plain) if side == 0 else (plain, never)
    assert not probability_ratios(*pair).positive


def test_equal_scores_are_calibrated_without_a_warning():
    with np.errstate(all="raise"):
        assert platt(np.zeros(6), np.arange(6) < 3) == (0.0, 0.0)


def test_an_axis_of_little_variance_counts_as_much_as_any(rng):
    scale = np.array([1.0, 1e-4, 1e-3])
    x, y = rng.standard_normal((40, 3)), rng.standard_normal((30, 3)) + 0.3
    left, right = whiten(x * scale, y * scale)
    assert left.shape == (40, 3)
    union, plain = np.concatenate([left, right]), np.concatenate(whiten(x, y))
    np.testing.assert_allclose(union @ union.T, plain @ plain.T, atol=1e-6)


def test_axes_that_are_asked_for_are_kept_however_small(rng):
    scale = np.array([100.0, 1.0, 1.0, 0.1])
    x, y = rng.standard_normal((40, 4)) * scale, rng.standard_normal((30, 4)) * scale
    assert [side.shape[1] for side in leading_axes(x, y, dimensions=3)] == [3, 3]


def test_negative_zeros_are_copies_of_zeros():
    left, right = assign_folds(np.zeros((10, 2)), -np.zeros((5, 2)), folds=5, seed=0)
    np.testing.assert_array_equal(left[:5], right)


def test_draws_have_the_covariance_of_their_set(rng):
    # Correlations that point opposite ways: transposed factors would draw from other Gaussians
    shear = np.array([[1.0, 0.0], [0.9, 0.4]])
    x = rng.standard_normal((3000, 2)) @ shear.T
    y = rng.standard_normal((3000, 2)) @ (shear * [[1, 1], [-1, 1]]).T
    found = gaussian_ratios(x, y)
    fits = (x.mean(axis=0), np.cov(x.T)), (y.mean(axis=0), np.cov(y.T))
    forth, back = gaussian_kl(*fits[0], *fits[1]), gaussian_kl(*fits[1], *fits[0])
    assert found.log_reference.mean() == pytest.approx(forth, rel=0.02)
    assert -found.log_generated.mean() == pytest.approx(back, rel=0.02)


def test_pairs_are_measured_about_the_mean_of_all_rows(rng):
    x, y = rng.standard_normal((30, 3)) + 5, rng.standard_normal((90, 3)) + 9
    one, other = centred(x, y)
    np.testing.assert_allclose(
        np.concatenate([one.points, other.points]).mean(axis=0), 0, atol=1e-12
    )


def test_columns_far_from_zero_are_standardised_alike():
    x, y = oracle.two_gaussians(0.5, 3, 80, seed=2)
    rows, labels = np.concatenate([x, y]), np.arange(160) < 80
    near, far = (
        logistic(1.0)(RowSets((rows + place,)), np.arange(160), labels)(rows + place)
        for place in (0.0, 1e4)
    )
    np.testing.assert_allclose(far, near, atol=1e-4)


def test_calibration_never_sees_the_scores_that_it_is_for():
    x, y = oracle.two_gaussians(0.3, 3, 31, seed=5, m=23)
    scores = classify(x, y, folds=3, calibrate=False, seed=1).ratios
    found = classify(x, y, folds=3, seed=1).ratios
    both = np.concatenate([scores.log_reference, scores.log_generated])
    fold, labels = np.concatenate(assign_folds(x, y, folds=3, seed=1)), np.arange(54) < 31
    expected = np.empty(54)
    for which in range(3):
        own = fold == which
        slope, intercept = platt(both[~own], labels[~own])
        prior = np.log(labels[~own].sum() / (~labels[~own]).sum())
        expected[own] = slope * both[own] + intercept - prior
    np.testing.assert_allclose(found.log_reference, expected[:31], atol=1e-9)
    np.testing.assert_allclose(found.log_generated, expected[31:], atol=1e-9)


@pytest.mark.parametrize("scale", [1e-60, 1.0, 1e60])
def test_projected_coordinates_are_of_the_order_of_one(rng, scale):
    x, y = rng.standard_normal((40, 9)) * scale, rng.standard_normal((30, 9)) * scale
    left, right = leading_axes(x, y, dimensions=4)
    assert 0.2 < np.abs(np.concatenate([left, right])).max() < 4


def test_only_the_order_of_held_out_samples_says_that_sets_are_separated():
    ratios = LikelihoodRatios([1.0], [-1.0])
    assert Classification(ratios, accuracy=0.9, auc=1.0).separates
    assert not Classification(ratios, accuracy=1.0, auc=0.9).separates


@pytest.mark.parametrize("spread", [1e-1, 1e-2, 1e-3, 1e-4])
def test_close_pairs_keep_their_digits(rng, spread):
    x = rng.standard_normal((40, 5))
    y = x + spread * rng.standard_normal((40, 5))
    wide = np.asarray(x, np.longdouble), np.asarray(y, np.longdouble)
    expected = np.array([((row - wide[1]) ** 2).sum(axis=1) for row in wide[0]]).astype(float)
    np.testing.assert_allclose(squared_distances(*centred(x, y)), expected, rtol=2e-12)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("knn", lambda x, y: knn_ratios(x, y)),
        ("kde", lambda x, y: kde_ratios(x, y)),
        ("classifier", lambda x, y: classify(x, y, dimensions=10, seed=3).ratios),
        ("boosted", lambda x, y: classify(x, y, model="boosted", dimensions=10, seed=3).ratios),
        ("gaussian", lambda x, y: gaussian_ratios(x, y, seed=3)),
    ],
)
def test_a_name_stands_for_the_estimator_with_its_sides_in_order(name, call):
    x, y = oracle.two_gaussians(0.5, 3, 70, seed=1, m=50)
    found, expected = estimate_ratios(name, x, y, seed=3), call(x, y)
    np.testing.assert_array_equal(found.log_reference, expected.log_reference)
    np.testing.assert_array_equal(found.log_generated, expected.log_generated)
    assert found.pins == expected.pins


def test_calibration_finds_the_optimum_among_far_outliers():
    steep = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        positive = rng.random(40) < 0.7
        scores = rng.standard_cauchy(40) ** 3 + 9 * positive
        targets = np.where(
            positive, (positive.sum() + 1) / (positive.sum() + 2), 1 / ((~positive).sum() + 2)
        )
        slope, intercept = platt(scores, positive)
        if slope > 0:
            steep += 1
            error = 1 / (1 + np.exp(-(slope * scores + intercept))) - targets
            assert abs(error.sum()) < 1e-6
            assert abs(error @ scores) < 1e-6 * np.abs(scores).max()
    assert steep > 5


FIVE = Blocks.balanced(60, seed=0, count=5)


@pytest.fixture
def pair(rng):
    return rng.standard_normal((200, 8)), rng.standard_normal((150, 8)) * 0.9


@pytest.mark.parametrize("exponent", [-160, -60, 60, 166, 300])
def test_no_scale_changes_who_lies_in_whose_balls(pair, exponent):
    plain = precision_recall(*pair)
    scaled = precision_recall(*(np.ldexp(side, exponent) for side in pair))
    assert scaled.precision.value == plain.precision.value
    assert scaled.recall.value == plain.recall.value


@pytest.mark.parametrize("exponent", [-160, -80, 64, 130, 300])
def test_no_scale_changes_the_cells(pair, exponent):
    plain = quantise(*pair, buckets=20)
    scaled = quantise(*(np.ldexp(side, exponent) for side in pair), buckets=20)
    np.testing.assert_array_equal(scaled.best.reference, plain.best.reference)
    assert scaled.inertias == tuple(np.ldexp(plain.inertias, 2 * exponent))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("exponent", [-80, 60, 120])
def test_no_scale_changes_the_axes(pair, dtype, exponent):
    plain = preprocess(*(side.astype(dtype) for side in pair), norm="none")
    scaled = preprocess(*(np.ldexp(side, exponent).astype(dtype) for side in pair), norm="none")
    np.testing.assert_allclose(
        np.ldexp(scaled.reference, -exponent), plain.reference, rtol=1e-4, atol=1e-5
    )


def test_what_float32_cannot_hold_is_refused(pair):
    with pytest.raises(InputError, match="too large for float32; scale them"):
        preprocess(*(side * 1e60 for side in pair), norm="none")
    with pytest.raises(InputError, match="too small for float32; scale them"):
        preprocess(*(side * 1e-60 for side in pair), norm="none")


def test_rows_whose_squares_underflow_get_length_one():
    rows = unit_rows(np.array([[3e-170, 4e-170], [0.0, 0.0], [3.0, 4.0]]))
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0, 0], [0.6, 0.8]])


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("distance", [30.0, 1e3, 1e4])
def test_clusters_far_apart_get_the_labels_of_a_float64_run(rng, distance, threads):
    # Float32 products of such rows cancel; only float64 distances tell the centres apart
    shift = np.repeat([[0.0, 0.0], [distance, 0.0]], 500, axis=0)
    rows = (rng.standard_normal((1000, 2)) + shift - shift.mean(axis=0)).astype(np.float32)
    with workers(threads) as pool:
        table = lay_out([rows], pool)
        found = k_means(table, 40, seed=0, max_iterations=500, workers=pool)
    first = rows[np.random.default_rng(0).choice(1000, 40, replace=False)].astype(float)
    theirs = KMeans(40, init=first, n_init=1, max_iter=500).fit(rows.astype(float))
    np.testing.assert_array_equal(found.labels, theirs.labels_)


@pytest.mark.parametrize("count", [2, 5])
def test_replicates_are_exact_when_a_block_holds_most_neighbours(rng, count):
    reference, generated = rng.standard_normal((2, 200, 5))
    labels = Blocks.balanced(200, seed=0, count=count)
    near = neighbourhoods(reference, generated, k=12, blocks=(labels, labels))
    for block in range(count):
        kept = labels.labels != block
        fewer = neighbourhoods(reference[kept], generated, k=12)
        np.testing.assert_array_equal(
            near.reference.replicates.inside_without[:, block], fewer.reference.inside[:, 11]
        )


@pytest.mark.parametrize(
    ("left", "right", "words"),
    [
        (
            Blocks.balanced(60, seed=0, count=5),
            Blocks.balanced(60, seed=0, count=20),
            "found 5 and",
        ),
        (
            Blocks.balanced(60, seed=0, count=5),
            Blocks.balanced(30, seed=0, count=5),
            "label 60 rows",
        ),
        (Blocks(np.full(60, 7), 5), Blocks(np.arange(60) % 5, 5), r"must lie in 0\.\.4"),
        (Blocks(np.arange(60) % 5, 5), Blocks.balanced(60, seed=0, count=5), "must be halved"),
    ],
)
def test_blocks_that_do_not_fit_are_refused(rng, left, right, words):
    rows = rng.standard_normal((60, 3))
    with pytest.raises(InputError, match=words):
        neighbourhoods(rows, rows, k=2, blocks=(left, right))


@pytest.mark.parametrize("difference", [1e-1, 1e-3, 1e-5, 1e-8])
def test_the_frontier_integral_of_near_equal_cells(difference):
    # To first order in x² a cell adds ⅓·(p + q)·x², with x = (p − q)/(p + q)
    more = round(difference * 10**9)
    pair = Histograms([10**9, 10**9], [10**9 + more, 10**9 - more])
    p, q = pair.probabilities
    x = (p - q) / (p + q)
    first_order = np.sum((p + q) * x**2) / 3
    found = divergence_frontier(pair).integral()
    assert found == pytest.approx(first_order, rel=difference**2, abs=1e-16)


def test_counts_beyond_exact_floats_are_refused():
    with pytest.raises(InputError, match=r"must be at most 2\^53"):
        Histograms(np.array([2**62, 2**62]), np.array([1, 1]))


@pytest.mark.parametrize("beta", [1e-160, 1e160])
def test_f_beta_of_extreme_weights_is_one_of_the_ends(beta):
    curve = precision_recall_curve(Histograms(np.array([1, 1]), np.array([2, 0])))
    expected = curve.recall.max() if beta > 1 else curve.precision.max()
    assert curve.f_beta(beta) == pytest.approx(expected)


def test_numbers_of_any_whole_kind_and_no_other(pair):
    assert quantise(*pair, buckets=np.int64(5), restarts=1).buckets == 5
    for options, words in (({"k": 2.5}, "found 2.5"), ({"k": True}, "found True")):
        with pytest.raises(InputError, match=words):
            neighbourhoods(*pair, **options)
    with pytest.raises(InputError, match=r"block_size .*at least 1"):
        neighbourhoods(*pair, block_size=0)
    with pytest.raises(InputError, match=r"seed .*at least 0.* -1"):
        prd(*pair, seed=-1)
    with pytest.raises(InputError, match="reference must hold finite numbers"):
        quantise(np.full((20, 2), np.nan), pair[1][:, :2])


def _assert_like_brute_force(reference, generated, k):
    supports = Supports(capped=k, smaller=k, spread=(k, 1.2))
    near = neighbourhoods(reference, generated, k=k, supports=supports)
    for balls, owners, guests in (
        (near.reference, reference, generated),
        (near.generated, generated, reference),
    ):
        held, inside, *_ = oracle.counts(owners, guests, k)
        np.testing.assert_array_equal(balls.held[:, k - 1], held)
        np.testing.assert_array_equal(balls.inside[:, k - 1], inside)
        capped, depth, missed, own = oracle.supports(owners, guests, k, 1.2)
        np.testing.assert_array_equal(balls.capped, capped)
        np.testing.assert_array_equal(balls.capped_own, own)
        np.testing.assert_allclose(balls.realism, depth, rtol=1e-6)
        np.testing.assert_allclose(balls.missed, missed, atol=3e-6)


@pytest.mark.parametrize(
    ("outlier", "dtype"),
    [(1e15, np.float32), (1e23, np.float32), (1e30, np.float32), (1e30, np.float64)],
)
def test_rows_that_two_outliers_make_vanish_in_float32(rng, outlier, dtype):
    # Their mean is 0, where all other rows lie: scaled by the outliers, products underflow
    reference, generated = rng.standard_normal((60, 5)), rng.standard_normal((50, 5))
    reference[:2] = [[outlier] * 5, [-outlier] * 5]
    _assert_like_brute_force(reference.astype(dtype), generated.astype(dtype), 3)


@pytest.mark.parametrize("scale", [1e-140, 1e-150, 1e-152])
def test_rows_whose_squares_are_hardly_above_nothing(rng, scale):
    _assert_like_brute_force(
        rng.standard_normal((60, 5)) * scale, rng.standard_normal((50, 5)) * scale, 3
    )


def test_guests_so_far_that_their_realism_is_hardly_above_nothing(rng):
    reference = rng.standard_normal((60, 2)) * 1e-3
    generated = rng.standard_normal((50, 2)) * 1e5 + 1e20
    _assert_like_brute_force(reference, generated, 3)


@pytest.mark.parametrize("spread", [0.0, 1e-9, 1e-3])
def test_clusters_tighter_than_float32_tells(rng, spread):
    centres = 100 * rng.standard_normal((4, 20))
    reference, generated = (
        centres[rng.integers(4, size=n)] + spread * rng.standard_normal((n, 20)) for n in (170, 90)
    )
    _assert_like_brute_force(reference, generated, 4)
    near = neighbourhoods(reference, generated, k=4)
    across = oracle.squared_distances(reference, generated)
    within = oracle.squared_distances(reference, reference)
    np.fill_diagonal(within, np.inf)
    np.testing.assert_array_equal(near.reference.nearest, across.argmin(axis=0))
    np.testing.assert_array_equal(near.reference.own_nearest, within.argmin(axis=1))


def collapsed_and_near(rng):
    """A reference; a generator that repeats a few rows far away; and one that is near."""
    reference = rng.standard_normal((300, 6))
    few = 3 + 0.2 * rng.standard_normal((100, 6))
    near = rng.standard_normal((300, 6)) * np.array([1.6, 1, 1, 1, 1, 1])
    near[:, 0] += 2
    return reference, few[rng.integers(0, 100, 300)], near


@pytest.mark.filterwarnings("ignore:the classifier tells")
@pytest.mark.parametrize("name", ["knn", "kde", "classifier", "gaussian"])
def test_a_collapsed_generator_is_farther_than_a_near_one(name, rng):
    reference, collapsed, near = collapsed_and_near(rng)
    far, close = (
        divergence_frontier(estimate_ratios(name, reference, rows)) for rows in (collapsed, near)
    )
    c = PAIRED_C[name]
    least = divergence_frontier(LikelihoodRatios([600.0], [-600.0])).area(c)
    assert far.area(c) == pytest.approx(least, abs=0.02)  # as sets that share nothing
    assert close.area(c) > far.area(c) + 0.05
    assert 0.94 < far.integral() <= 1
    assert 0.2 < close.integral() < 0.5


def test_over_the_other_side_a_collapsed_generator_passes_for_nearer_than_it_is(rng):
    """What is measured over draws of the collapsed Gaussian says nothing of the reference."""
    reference, collapsed, _ = collapsed_and_near(rng)
    ratios = estimate_ratios("gaussian", reference, collapsed)
    assert divergence_frontier(ratios).area(1.0) == pytest.approx(0.5, abs=0.01)
    assert divergence_frontier(ratios, points="other_side").area(1.0) > 0.7
    assert ratios.shared < 1e-6
