"""Likelihood ratios: neighbours, kernel densities, Gaussians and model probabilities."""

import importlib.util
import re
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, multivariate_normal

from calipers.curves import divergence_frontier, f_divergence, precision_recall_curve
from calipers.errors import InputError
from calipers.estimate import Histograms, LikelihoodRatios
from calipers.estimate.ratios import (
    balanced_count,
    gaussian_kl,
    gaussian_ratios,
    kde_ratios,
    knn_ratios,
    neighbour_counts,
    probability_ratios,
)

_spec = importlib.util.spec_from_file_location(
    "brute_force", Path(__file__).with_name("brute_force.py")
)
oracle = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(oracle)


def test_plain_ratios_and_their_shares():
    ratios = LikelihoodRatios.of([2.0, np.inf, 4.0, 1.0], [0.0, 0.5])
    np.testing.assert_allclose(ratios.log_reference, [np.log(2), np.inf, np.log(4), 0])
    assert ratios.outside_generated == 0.25
    assert ratios.outside_reference == 0.5
    assert ratios.ratios is ratios.raw is ratios
    back = ratios.swapped.swapped
    np.testing.assert_array_equal(back.log_generated, ratios.log_generated)
    np.testing.assert_array_equal(ratios.at_generated, [0.0, 0.5])


def test_pr_curve_by_hand():
    # r = 0 and 2 at the generated, 2 and ∞ at the reference samples
    ratios = LikelihoodRatios.of([2.0, np.inf], [0.0, 2.0])
    curve = precision_recall_curve(ratios, angles=3, points="own_side")
    # slopes ~0, 1, ~∞: α = E_Q min(1, λr), β = E_P min(1, 1/(λr))
    np.testing.assert_allclose(curve.precision, [0, 0.5, 0.5], atol=1e-9)
    np.testing.assert_allclose(curve.recall, [0.5, 0.25, 0], atol=1e-9)
    assert (curve.max_precision, curve.max_recall, curve.total_variation) == (0.5, 0.5, 0.5)
    assert curve.reason is None
    # Over both sides a sample weighs 1/(1 + r) as one of Q: ⅙ and 0, ½ and ⅙; the rest as one of P
    curve = precision_recall_curve(ratios, angles=3)
    np.testing.assert_allclose(curve.precision, [0, 0.4, 0.4], atol=1e-9)
    np.testing.assert_allclose(curve.recall, [4 / 7, 2 / 7, 0], atol=1e-9)
    assert (curve.max_precision, curve.max_recall) == (pytest.approx(0.4), pytest.approx(4 / 7))
    assert curve.total_variation == pytest.approx(1 - (1 / 6 + 1 / 6))


def test_end_points_that_an_estimator_cannot_know():
    curve = precision_recall_curve(LikelihoodRatios([0.5, 1.0], [-0.5, 0.2], positive=True))
    assert np.isnan(curve.max_precision)
    assert np.isnan(curve.max_recall)
    assert "mass everywhere" in curve.reason


def test_histograms_as_weighted_samples():
    pair = Histograms([3, 1, 0], [0, 2, 2])
    ratios = pair.ratios
    np.testing.assert_allclose(ratios.log_reference, [np.inf, np.log(0.5)])
    np.testing.assert_allclose(ratios.reference_weights, [0.75, 0.25])
    np.testing.assert_allclose(ratios.log_generated, [np.log(0.5), -np.inf])
    assert not ratios.positive
    smoothed = pair.smoothed("laplace")
    assert smoothed.ratios.positive
    assert smoothed.raw.smoothing == "none"
    assert smoothed.pins == {"smoothing": "laplace", "cells": 3}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([0.0, np.nan], [0.0]), "the reference side has NaN in row 2"),
        (([-np.inf], [0.0]), "a reference sample .*some likelihood.*row 1"),
        (([0.0], [0.0, np.inf]), "a generated sample .*some likelihood.*row 2"),
        (([], [0.0]), "reference side must be a list"),
        (([[0.0]], [0.0]), "one for each sample; found \\(1, 1\\)"),
        ((["x"], [0.0]), "reference side must be real numbers"),
        (([1 + 2j], [0.0]), "reference side must be real numbers"),
        (([[0.0], [1.0, 2.0]], [0.0]), "reference side cannot be read"),
        (([0.0, 1.0], [0.0], [0.5, 0.6]), "shares that sum to 1.* 2 with sum 1.1"),
        (([0.0, 1.0], [0.0], [1.0]), "2 shares"),
        (([0.0, 1.0], [0.0], [-0.5, 1.5]), "2 shares"),
    ],
)
def test_bad_ratios(arguments, words):
    with pytest.raises(InputError, match=words):
        LikelihoodRatios(*arguments)


def test_bad_plain_ratios():
    with pytest.raises(InputError, match=r"negative or NaN.*generated"):
        LikelihoodRatios.of([1.0], [-1.0])


LOG2 = np.log(2)


def column(*values):
    return np.array(values, np.float64)[:, None]


def test_six_points_by_hand():
    # Two nearest of each, own side + 1: at 0 one of either side, so q/p = (1/3) / (2/3)
    found = knn_ratios(column(0, 1, 10), column(2, 11, 12), k=2)
    np.testing.assert_allclose(found.log_reference, [LOG2, LOG2, -LOG2])
    np.testing.assert_allclose(found.log_generated, [LOG2, -LOG2, -LOG2])
    assert not found.positive
    assert found.pins == {
        "estimator": "knn",
        "k": 2,
        "own_count": "+1",
        "ties": "closed",
        "dimensions": 1,
    }


def test_without_a_neighbour_of_the_other_side_the_ratio_is_infinite():
    found = knn_ratios(column(0, 1, 10), column(2, 11, 12), k=1)
    assert found.log_reference[0] == np.inf
    assert found.log_generated[2] == -np.inf


def test_all_samples_at_the_kth_distance_count():
    # Both at distance 1 from 0: q/p = (2/3) / (1/1), whichever comes first
    for generated in (column(-1, 1, 5), column(5, 1, -1)):
        assert knn_ratios(column(0), generated, k=1).log_reference[0] == pytest.approx(np.log(1.5))


@pytest.mark.parametrize(("k", "share"), [(5, 0.3), (50, 0.5), (50, 0.8)])
def test_one_more_on_the_own_side_takes_the_bias_away(k, share):
    # Every split of the k neighbours of the last row, weighed by its chance
    odds = share / (1 - share)
    mean = 0.0
    for a in range(k + 1):
        near, far = neighbour_counts(np.zeros((k + 1, 1)), a, k)
        mean += binom.pmf(a, k, share) * near[-1] / far[-1]
    assert mean == pytest.approx(odds * (1 - share**k))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "m", "d", "k"), [(80, 80, 3, 7), (40, 150, 8, 30), (3, 2, 1, 4)])
def test_knn_equals_brute_force(rng, dtype, n, m, d, k):
    x = (rng.standard_normal((n, d)) + 1e3).astype(dtype)
    y = (rng.standard_normal((m, d)) * 0.7 + 1e3).astype(dtype)
    found = knn_ratios(x, y, k=k, dimensions=None)
    at_reference, at_generated = oracle.knn_logs(x, y, k)
    np.testing.assert_allclose(found.log_reference, at_reference, atol=1e-12)
    np.testing.assert_allclose(found.log_generated, at_generated, atol=1e-12)


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 40), threads=st.integers(1, 3))
def test_laws_on_a_grid_full_of_ties(seed, k, threads):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(4, size=(60, 2)) * 1.0, rng.integers(3, size=(35, 2)) * 1.0
    found = knn_ratios(x, y, k=k, threads=threads)
    at_reference, at_generated = oracle.knn_logs(x, y, k)
    np.testing.assert_allclose(found.log_reference, at_reference, atol=1e-12)
    np.testing.assert_allclose(found.log_generated, at_generated, atol=1e-12)
    swapped = knn_ratios(y, x, k=k)
    np.testing.assert_allclose(swapped.log_generated, -found.log_reference, atol=1e-12)
    np.testing.assert_allclose(swapped.log_reference, -found.log_generated, atol=1e-12)
    order = rng.permutation(60)
    again = knn_ratios(x[order], y, k=k)
    np.testing.assert_array_equal(again.log_reference, found.log_reference[order])
    np.testing.assert_array_equal(again.log_generated, found.log_generated)
    turned = knn_ratios(x @ [[0, 1], [-1, 0]], y @ [[0, 1], [-1, 0]], k=k)
    np.testing.assert_array_equal(turned.log_generated, found.log_generated)


def test_order_and_rotation_do_not_matter_after_the_projection(rng):
    x, y = rng.standard_normal((300, 20)), rng.standard_normal((200, 20)) + 0.3
    found = knn_ratios(x, y, dimensions=5)
    order = rng.permutation(300)
    again = knn_ratios(x[order], y, dimensions=5, threads=1)
    np.testing.assert_array_equal(again.log_reference, found.log_reference[order])
    np.testing.assert_array_equal(again.log_generated, found.log_generated)
    rotation = np.linalg.qr(rng.standard_normal((20, 20)))[0]
    turned = knn_ratios(x @ rotation * 7, y @ rotation * 7, dimensions=5)
    np.testing.assert_array_equal(turned.log_generated, found.log_generated)


@pytest.mark.parametrize("copies", [1, 4])
def test_equal_sets_have_the_ratio_one_everywhere(rng, copies):
    x = np.repeat(rng.standard_normal((50, 3)), copies, axis=0)
    found = knn_ratios(x, x.copy(), k=6)
    assert np.all(found.log_reference == 0)
    assert np.all(found.log_generated == 0)


def test_constant_sets_of_unequal_size_have_the_ratio_one():
    found = knn_ratios(np.ones((30, 2)), np.ones((60, 2)), k=20)
    np.testing.assert_allclose(found.log_generated, 0, atol=1e-15)


def test_sets_far_apart_do_not_touch(rng):
    found = knn_ratios(rng.standard_normal((90, 3)), rng.standard_normal((80, 3)) + 50, k=20)
    assert found.outside_generated == 1.0
    assert found.outside_reference == 1.0


@pytest.mark.slow
def test_unequal_sizes_do_not_bias_the_ratio():
    ratios = knn_ratios(*oracle.two_gaussians(0.0, 2, 4000, seed=1, m=1000), k=100)
    assert np.exp(ratios.log_generated).mean() == pytest.approx(1, abs=0.02)
    assert np.exp(-ratios.log_reference).mean() == pytest.approx(1, abs=0.02)


@pytest.mark.slow
def test_knn_error_falls_with_the_number_of_samples():
    errors = []
    for n in (500, 2000, 8000):
        draws = [
            oracle.mean_kl(knn_ratios(*oracle.two_gaussians(0.5, 3, n, seed))) for seed in range(3)
        ]
        errors.append(abs(np.mean(draws) - 0.5))
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 0.05


def test_automatic_k_is_the_papers_at_its_size():
    assert balanced_count(50, 5000, 9000, 10) == 50
    assert balanced_count(50, 20000, 20000, 2) == 100
    x, y = oracle.two_gaussians(0.5, 2, 20, seed=0)
    assert knn_ratios(x[:2], y[:1], k="auto").pins["k"] == 1
    assert knn_ratios(x, y, k="auto").pins["k"] == 3


@pytest.mark.parametrize(
    ("k", "words"),
    [
        (0, "k .*at least 1.* 0"),
        (2.5, "k must be a whole number"),
        ("all", "k must be a whole number"),
        (7, "k .*at most 6.* 7"),
    ],
)
def test_a_k_that_cannot_be_is_refused(k, words):
    with pytest.raises(InputError, match=words):
        knn_ratios(column(0, 1, 2), column(3, 4, 5, 6), k=k)


def test_sets_that_do_not_fit_together_are_refused():
    with pytest.raises(InputError, match=r"columns.* 2 and 3"):
        knn_ratios(np.eye(2), np.eye(3), k=1)
    with pytest.raises(InputError, match="generated must hold finite numbers"):
        knn_ratios(column(0, 1), column(0, np.nan), k=1)


def test_four_points_by_hand():
    # The union's variance is 5/3: at distance t the kernel is exp(-0.3 t²)
    found = kde_ratios(column(0, 2), column(1, 3), bandwidth=1)
    p_at_3, q_at_3 = (np.exp(-2.7) + np.exp(-0.3)) / 2, np.exp(-1.2)
    np.testing.assert_allclose(found.log_generated, [-0.3 + 1.2, np.log(p_at_3 / q_at_3)])
    np.testing.assert_allclose(found.log_reference, -found.log_generated[::-1])
    assert found.positive
    assert found.pins == {"estimator": "kde", "bandwidth": 1, "dimensions": 1}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bandwidth", ["balloon", "scott", 0.05])
@pytest.mark.parametrize(("n", "m"), [(150, 150), (60, 1200)])
def test_kde_equals_brute_force(rng, dtype, bandwidth, n, m):
    d = 3
    x = (rng.standard_normal((n, d)) * 2 + 30).astype(dtype)
    y = (rng.standard_normal((m, d)) + 31).astype(dtype)
    found = kde_ratios(x, y, bandwidth=bandwidth, dimensions=None)
    union = np.concatenate([x, y]).astype(np.float64)
    deviation = np.sqrt(np.trace(np.cov(union.T)) / d)
    if bandwidth == "balloon":
        widths = oracle.balloon(x, y, round(50 * (min(n, m) / 5000) ** (2 / 5)))
        assert widths.min() > 0.1 * deviation * min(n, m) ** (-1 / 7)
    else:
        width = min(n, m) ** (-1 / 7) if bandwidth == "scott" else bandwidth
        widths = np.full(n + m, width * deviation)
    at_reference, at_generated = oracle.kde_logs(x, y, widths)
    tolerance = {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(found.log_reference, at_reference, **tolerance)
    np.testing.assert_allclose(found.log_generated, at_generated, **tolerance)


@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1), bandwidth=st.sampled_from(["balloon", "scott", 0.3]))
def test_kde_laws(seed, bandwidth):
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((90, 4)), rng.standard_normal((140, 4)) * 1.3 + 0.2
    found = kde_ratios(x, y, bandwidth=bandwidth, threads=1)
    same = kde_ratios(x, y, bandwidth=bandwidth, threads=3)
    np.testing.assert_array_equal(same.log_reference, found.log_reference)
    np.testing.assert_array_equal(same.log_generated, found.log_generated)
    close = {"rtol": 1e-8, "atol": 1e-8}
    swapped = kde_ratios(y, x, bandwidth=bandwidth)
    np.testing.assert_allclose(swapped.log_generated, -found.log_reference, **close)
    np.testing.assert_allclose(swapped.log_reference, -found.log_generated, **close)
    order = rng.permutation(140)
    again = kde_ratios(x, y[order], bandwidth=bandwidth)
    np.testing.assert_allclose(again.log_generated, found.log_generated[order], **close)
    rotation = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    turned = kde_ratios(5 * x @ rotation + 1, 5 * y @ rotation + 1, bandwidth=bandwidth)
    np.testing.assert_allclose(turned.log_reference, found.log_reference, **close)


def test_nothing_underflows_however_far_samples_lie(rng):
    x, y = rng.standard_normal((80, 2)), rng.standard_normal((80, 2)) + 1e6
    for bandwidth in ("balloon", "scott", 1e-3):
        found = kde_ratios(x, y, bandwidth=bandwidth)
        assert np.isfinite(found.log_reference).all()
        assert (found.log_reference > 0).all()
        assert (found.log_generated < 0).all()


@pytest.mark.parametrize("exponent", [-1000, -540, 300])
def test_kde_takes_rows_in_any_unit(rng, exponent):
    x, y = rng.standard_normal((80, 2)), rng.standard_normal((60, 2)) + 0.5
    found = kde_ratios(x, y)
    scaled = kde_ratios(np.ldexp(x, exponent), np.ldexp(y, exponent))
    np.testing.assert_allclose(scaled.log_reference, found.log_reference, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("bandwidth", [1e-100, 1e100])
def test_the_narrowest_and_the_widest_kernel_are_finite(rng, bandwidth):
    x, y = rng.standard_normal((80, 2)), rng.standard_normal((60, 2)) + 1e6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = kde_ratios(x, y, bandwidth=bandwidth)
    assert np.isfinite(found.log_reference).all()


@pytest.mark.parametrize("bandwidth", [1e-160, 1e160, 10**400])
def test_a_bandwidth_whose_square_is_no_float_is_refused(bandwidth):
    words = re.escape(f"from 1e-100 to 1e+100 standard deviations of the union; found {bandwidth}")
    with pytest.raises(InputError, match="bandwidth must be .* " + words):
        kde_ratios(np.eye(3), np.eye(3) + 1, bandwidth=bandwidth)


def test_copies_and_constant_axes_are_no_obstacle(rng):
    x = np.repeat(rng.standard_normal((4, 3)), 30, axis=0)
    y = np.repeat(rng.standard_normal((4, 3)), 30, axis=0)
    x[:, 1], y[:, 1] = 2.0, 2.0
    found = kde_ratios(x, y)
    assert np.isfinite(found.log_generated).all()
    without = kde_ratios(np.delete(x, 1, axis=1), np.delete(y, 1, axis=1), bandwidth=0.3)
    assert np.isfinite(without.log_generated).all()


def test_in_equal_sets_the_copy_of_a_sample_counts(rng):
    x = rng.standard_normal((200, 2))
    found = kde_ratios(x, x.copy())
    assert (found.log_generated > 0).all()
    np.testing.assert_allclose(found.log_reference, -found.log_generated, atol=1e-12)


@pytest.mark.slow
def test_kde_error_falls_with_the_number_of_samples():
    errors = []
    for n in (500, 2000, 8000):
        draws = [
            oracle.mean_kl(kde_ratios(*oracle.two_gaussians(0.5, 2, n, seed))) for seed in range(3)
        ]
        errors.append(abs(np.mean(draws) - 0.5))
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 0.15


@pytest.mark.slow
def test_memory_stays_far_below_a_matrix_of_all_pairs():
    x, y = oracle.two_gaussians(0.5, 3, 3000, seed=0)
    kde_ratios(x, y, threads=1)  # compiles
    tracemalloc.start()
    kde_ratios(x, y, threads=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3000 * 3000 * 8 / 5


@pytest.mark.parametrize("bandwidth", [0, -1.0, np.nan, np.inf, True, "silverman", None, [1.0]])
def test_a_bandwidth_that_is_none_is_refused(bandwidth):
    with pytest.raises(InputError, match=r"bandwidth .*'balloon', 'scott' or"):
        kde_ratios(np.eye(3), np.eye(3), bandwidth=bandwidth)


def test_kde_refuses_single_rows_and_constant_sets():
    with pytest.raises(InputError, match=r"two rows .*generated"):
        kde_ratios(np.eye(3), np.eye(1, 3))
    with pytest.raises(InputError, match="all rows of both sets are equal"):
        kde_ratios(np.ones((3, 2)), np.ones((4, 2)))


def fitted_kl(x, y):
    return gaussian_kl(x.mean(axis=0), np.cov(x.T), y.mean(axis=0), np.cov(y.T))


def test_divergence_by_hand():
    one, four = np.eye(1), 4 * np.eye(1)
    # ½ (1/4 + 1/4 - 1 + log 4)
    found = gaussian_kl(np.ones(1), one, np.zeros(1), four)
    assert found == pytest.approx(np.log(2) - 0.25)
    assert gaussian_kl(np.zeros(1), one, np.zeros(1), one) == 0
    assert gaussian_kl(np.zeros(2), np.eye(2), np.zeros(2), np.diag([1.0, 0.0])) == np.inf


def test_two_points_a_side_by_hand():
    # N(1, 2) and N(2, 2): log p/q = (3 - 2z) / 4 and so, at draws μ + √2 ε, (3 - 2μ) / 4 - ε / √2
    found = gaussian_ratios([[0.0], [2.0]], [[1.0], [3.0]], draws=5, seed=3)
    normal = np.random.default_rng(3).standard_normal(5)
    np.testing.assert_allclose(found.log_reference, 0.25 - normal / np.sqrt(2), rtol=1e-5)
    np.testing.assert_allclose(found.log_generated, -0.25 - normal / np.sqrt(2), rtol=1e-5)
    assert found.positive
    assert found.pins == {
        "estimator": "gaussian",
        "draws": 5,
        "ridge": 1e-6,
        "dimensions": 1,
        "seed": 3,
    }


def test_means_over_draws_equal_the_closed_form(rng):
    x = rng.standard_normal((400, 3)) @ np.array([[0.8, 0.3, 0], [0, 0.9, 0.2], [0, 0, 0.9]]) + 0.3
    y = rng.standard_normal((300, 3))
    found = gaussian_ratios(x, y)
    assert found.log_reference.mean() == pytest.approx(fitted_kl(x, y), rel=0.02)
    assert -found.log_generated.mean() == pytest.approx(fitted_kl(y, x), rel=0.02)
    assert oracle.mean_kl(found) == pytest.approx(fitted_kl(x, y), rel=0.05)
    assert np.exp(found.log_generated).mean() == pytest.approx(1, abs=0.02)


def test_the_ratio_is_that_of_the_normal_densities(rng):
    x, y = rng.standard_normal((50, 1)), rng.standard_normal((60, 1)) * 2 + 1
    found = gaussian_ratios(x, y, draws=2000)
    p, q = (multivariate_normal(s.mean(), s.var(ddof=1)) for s in (x, y))
    normal = np.random.default_rng(0).standard_normal(2000)
    for logs, side in ((found.log_reference, x), (found.log_generated, y)):
        # In one dimension the axis may point either way
        for sign in (1, -1):
            at = side.mean() + sign * side.std(ddof=1) * normal
            if np.allclose(logs, p.logpdf(at) - q.logpdf(at), rtol=1e-3, atol=1e-3):
                break
        else:
            pytest.fail("neither sign of the axis gives the ratio of the normal densities")


@pytest.mark.parametrize("d", [2, 3, 5])
@pytest.mark.parametrize("kl", [0.25, 0.5])
def test_two_gaussians_within_ten_percent(d, kl):
    found = f_divergence(gaussian_ratios(*oracle.two_gaussians(kl, d, 4000, seed=1)), "kl")
    assert found == pytest.approx(kl, rel=0.1)


def test_gaussian_laws(rng):
    x, y = rng.standard_normal((80, 6)), rng.standard_normal((120, 6)) * 1.2 + 0.1
    found = gaussian_ratios(x, y, draws=500)
    close = {"rtol": 1e-9, "atol": 1e-9}
    swapped = gaussian_ratios(y, x, draws=500)
    np.testing.assert_allclose(swapped.log_generated, -found.log_reference, **close)
    np.testing.assert_allclose(swapped.log_reference, -found.log_generated, **close)
    again = gaussian_ratios(x[rng.permutation(80)], y, draws=500)
    np.testing.assert_allclose(again.log_generated, found.log_generated, **close)
    other = gaussian_ratios(x, y, draws=500, seed=1)
    assert np.abs(other.log_generated - found.log_generated).max() > 0.1
    scaled = gaussian_ratios(1e4 * x + 3, 1e4 * y + 3, draws=500)
    np.testing.assert_allclose(scaled.log_generated, found.log_generated, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("exponent", [-1000, -540, 300])
def test_gaussians_take_rows_in_any_unit(rng, exponent):
    x, y = rng.standard_normal((80, 3)), rng.standard_normal((120, 3)) + 0.5
    found = gaussian_ratios(x, y, draws=50)
    scaled = gaussian_ratios(np.ldexp(x, exponent), np.ldexp(y, exponent), draws=50)
    np.testing.assert_allclose(scaled.log_reference, found.log_reference, rtol=1e-9, atol=1e-9)


def test_rotation_and_scale_move_it_by_chance_alone(rng):
    x, y = rng.standard_normal((500, 4)), rng.standard_normal((500, 4)) + 0.3
    mixing = rng.standard_normal((4, 4)) + 2 * np.eye(4)
    values = [oracle.mean_kl(gaussian_ratios(a, b)) for a, b in ((x, y), (x @ mixing, y @ mixing))]
    assert values[0] == pytest.approx(values[1], rel=0.05)


def test_equal_sets_have_the_ratio_one(rng):
    x = rng.standard_normal((50, 4))
    found = gaussian_ratios(x, x.copy(), draws=100)
    np.testing.assert_array_equal(found.log_generated, 0)


def test_singular_covariances_stay_finite(rng):
    x, y = rng.standard_normal((60, 5)), rng.standard_normal((60, 5)) + 0.4
    x[:, 3:], y[:, 3:] = 7.0, 7.0
    found = gaussian_ratios(x, y)
    plain = gaussian_ratios(x[:, :3], y[:, :3])
    assert oracle.mean_kl(found) == pytest.approx(oracle.mean_kl(plain), rel=0.05)
    x[:, 4] = x[:, 0] + x[:, 1]  # flat on one side alone, and so infinitely far without the ridge
    for left, right in ((x, y), (y, x), (x[:3], y[:2])):
        found = gaussian_ratios(left, right, draws=200)
        assert np.isfinite(found.log_reference).all()
        assert np.isfinite(found.log_generated).all()


def test_two_modes_are_one_to_it(rng):
    """Example 30 of the paper: mean and covariance are all that it sees."""
    modes = rng.standard_normal((4000, 1)) + np.where(np.arange(4000) % 2, 3.0, -3.0)[:, None]
    single = rng.standard_normal((4000, 1)) * np.sqrt(10)
    assert oracle.mean_kl(gaussian_ratios(modes, single)) < 0.01


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"draws": 0}, "draws .*at least 1.* 0"),
        ({"seed": -1}, "seed .*at least 0.* -1"),
        ({"dimensions": 0}, "dimensions .*at least 1.* 0"),
    ],
)
def test_options_out_of_range_are_refused(options, words):
    with pytest.raises(InputError, match=words):
        gaussian_ratios(np.eye(4), np.eye(4) + 1, **options)


def test_gaussians_refuse_single_rows_and_constant_sets():
    with pytest.raises(InputError, match=r"Gaussian .*two rows"):
        gaussian_ratios(np.eye(1, 3), np.eye(3))
    with pytest.raises(InputError, match="all rows of both sets are equal"):
        gaussian_ratios(np.ones((3, 2)), np.ones((4, 2)))


INF = np.inf


def test_two_texts_a_side_by_hand():
    found = probability_ratios(([-1.0, -2.0], [-3.0, -2.5]), ([-4.0, -1.0], [-2.0, -2.0]))
    np.testing.assert_allclose(found.log_reference, [2, 0.5])
    np.testing.assert_allclose(found.log_generated, [-2, 1])
    assert found.positive
    assert found.pins == {"estimator": "model"}


def test_the_paper_averages_over_the_own_side():
    log_p, log_q = np.array([-1.0, -2.0]), np.array([-3.0, -2.5])
    found = probability_ratios((log_p, log_q), ([-4.0, -1.0], [-2.0, -2.0]))
    frontier = divergence_frontier(found, grid=[0.3], points="own_side")
    mixture = np.log(0.3 * np.exp(log_p) + 0.7 * np.exp(log_q))
    assert frontier.reference_cost[0] == pytest.approx((log_p - mixture).mean())


def test_what_one_model_cannot_write_is_infinite():
    found = probability_ratios(([-1.0, -2.0], [-INF, -2.5]), ([-INF], [-2.0]))
    assert found.log_reference[0] == INF
    assert found.log_generated[0] == -INF
    assert not found.positive
    assert found.outside_generated == 0.5


def test_sides_may_differ_in_length_and_swap():
    p, q = np.array([-1.0, -5.0, -2.0]), np.array([-2.0, -2.0, -1.0])
    found = probability_ratios((p, q), (p[:1], q[:1]))
    swapped = probability_ratios((q[:1], p[:1]), (q, p))
    np.testing.assert_array_equal(swapped.log_generated, -found.log_reference)
    np.testing.assert_array_equal(swapped.log_reference, -found.log_generated)


def test_equal_models_have_the_ratio_one():
    logs = np.array([-120.5, -3.0])
    found = probability_ratios((logs, logs), (logs, logs))
    assert not found.log_reference.any()


def test_probabilities_may_lie_above_one_by_rounding():
    assert probability_ratios(([1e-7], [-1.0]), ([-1.0], [0.0])).positive


@pytest.mark.parametrize(
    ("reference", "generated", "words"),
    [
        (([-1, np.nan], [-1, -1]), ([-1], [-1]), "reference samples under P' .* row 2 with nan"),
        (([-1], [-1]), ([-1], [INF]), "generated samples under Q .* row 1 with inf"),
        (([-1, -2, 0.5], [-1] * 3), ([-1], [-1]), r"at most 0; 1 row\(s\) .* row 3 with 0.5"),
        (([-1], [-1, -2]), ([-1], [-1]), "reference .*as many .* 1 and 2"),
        (([-1], [-1]), ([-1, -2], [-1]), "generated .*as many .* 2 and 1"),
        (([], []), ([-1], [-1]), r"list, one for each sample.* shape \(0,\)"),
        (([[-1]], [[-1]]), ([-1], [-1]), r"found shape \(1, 1\)"),
        ((["a"], [-1]), ([-1], [-1]), "reference samples under P' .*numbers"),
        (([-1, -INF], [-1, -1]), ([-1], [-1]), "possible under P'.* the first is row 2"),
        (([-1], [-1]), ([-1], [-INF]), "generated samples .*possible under Q.* row 1"),
        ([-1, -2, -3], ([-1], [-1]), "reference .*pair of lists.* list of 3"),
        (np.zeros((2, 4)), ([-1], [-1]), "reference must be a pair of lists"),
    ],
)
def test_bad_input_is_named(reference, generated, words):
    with pytest.raises(InputError, match=words):
        probability_ratios(reference, generated)
