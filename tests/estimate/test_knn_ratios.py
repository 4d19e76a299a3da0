"""Likelihood ratios from nearest neighbours."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from calipers.errors import InputError
from calipers.estimate.balanced_neighbours import balanced_count
from calipers.estimate.knn.ratios import knn_ratios, neighbour_counts

_spec = importlib.util.spec_from_file_location(
    "brute_force", Path(__file__).with_name("brute_force.py")
)
oracle = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(oracle)


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
        (0, r"k .*at least 1.* 0"),
        (2.5, "k must be a whole number"),
        ("all", "k must be a whole number"),
        (7, r"k .*at most 6.* 7"),
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
