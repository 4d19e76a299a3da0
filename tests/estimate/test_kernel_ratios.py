"""Likelihood ratios from kernel densities."""

import importlib.util
import re
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.estimate.kernel_ratios import kde_ratios

_spec = importlib.util.spec_from_file_location(
    "brute_force", Path(__file__).with_name("brute_force.py")
)
oracle = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(oracle)


def column(*values):
    return np.array(values, np.float64)[:, None]


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
    kde_ratios(x, y, threads=1)  # loads
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
