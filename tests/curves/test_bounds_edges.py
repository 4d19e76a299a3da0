"""Corners of the error bounds that their laws leave free."""

import math

import numpy as np
import pytest

from calipers.curves import Divergence
from calipers.curves.bounds import (
    ErrorBound,
    expected_missing_mass,
    missing_mass,
    oracle_bound,
    smoothness_constants,
    statistical_bound,
)
from calipers.curves.divergences import LE_CAM
from calipers.errors import InputError
from calipers.estimate import Histograms


def test_the_curvature_of_the_conjugate_rules_where_it_is_larger():
    # λ = 0.05: C1* = 0.95² / 0.05, C0 = 0.95 < C2* = 0.95 / 0.4
    bound = statistical_bound("interpolated_kl=0.05", n=100, k=25)
    assert bound.generated == pytest.approx((18.05 * math.log(100) + 2.375) * 0.75)
    # C1 = 1, C0* = log 20 − 0.95 > C2 = 1/2
    assert bound.reference == pytest.approx((math.log(100) + math.log(20) - 0.95) * 0.75)


@pytest.mark.parametrize(
    ("parts", "informative"),
    [((0.3, 0.3, 0.3), True), ((0.5, 0.5, 0.0), False), ((0.5, 0.4, 0.3), False)],
)
def test_a_bound_says_something_only_below_the_largest_value(parts, informative):
    assert ErrorBound(*parts, most=1.0).informative is informative


def test_a_pseudo_count_of_zero_is_none_and_an_infinite_one_is_refused():
    zero = statistical_bound("le_cam", n=50, k=4, smoothing=0)
    assert zero == statistical_bound("le_cam", n=50, k=4, smoothing="none")
    with pytest.raises(
        InputError, match="a pseudo-count must be a number of at least 0; found inf"
    ):
        statistical_bound("le_cam", n=50, k=4, smoothing=math.inf)


def test_a_probability_above_one_by_rounding_is_one():
    assert expected_missing_mass([1 + 1e-10], n=3) == 0
    assert np.isfinite(oracle_bound("le_cam", [1 + 1e-10, 0.0], [0.5, 0.5], n=5).value)


@pytest.mark.parametrize("last", [0.501, 0.499])
def test_probabilities_must_sum_to_one_closely(last):
    with pytest.raises(InputError, match="distribution must sum to 1; found"):
        expected_missing_mass([0.5, last], n=3)


def test_a_generator_under_another_ones_name_is_refused_even_if_it_is_close():
    near = Divergence("le_cam", lambda t: 1.02 * LE_CAM.generator(t), 0.51, 0.51)
    with pytest.raises(InputError, match="constants of a divergence"):
        smoothness_constants(near)
    same = Divergence("le_cam", lambda t: LE_CAM.generator(t) * 1.0, 0.5, 0.5)
    assert smoothness_constants(same) == smoothness_constants("le_cam")


def test_missing_mass_is_a_share_of_the_own_side():
    found = missing_mass(Histograms([3, 1, 0, 1], [0, 7, 1, 2]))
    assert (found.reference, found.generated) == (0.4, 0.1)
