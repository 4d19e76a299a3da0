"""Likelihood ratios of two Gaussians."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from calipers.curves import f_divergence
from calipers.errors import InputError
from calipers.estimate.gaussians import gaussian_kl, gaussian_ratios

_spec = importlib.util.spec_from_file_location(
    "brute_force", Path(__file__).with_name("brute_force.py")
)
oracle = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(oracle)


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
        ({"draws": 0}, r"draws .*at least 1.* 0"),
        ({"seed": -1}, r"seed .*at least 0.* -1"),
        ({"dimensions": 0}, r"dimensions .*at least 1.* 0"),
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
