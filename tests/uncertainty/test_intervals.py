"""Confidence intervals: by hand, where the scale changes, and what must always hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.uncertainty.spread import (
    FAR,
    Component,
    Spread,
    check_level,
    confidence_interval,
    is_rough,
    quantile,
    tails,
)

ANY = (-np.inf, np.inf)
FROM_ZERO = (0.0, np.inf)
LEVELS = [0.5, 0.8, 0.9, 0.95, 0.99, 0.999]


def moving(error, freedom=19):
    """A spread with this standard error."""
    deviations = np.resize([1.0, -1.0], freedom + 1)
    return Spread((Component("generated", error * deviations / np.sqrt(freedom + 1)),))


def logit(share):
    return np.log(share / (1 - share))


def test_quantiles_are_those_of_the_tables():
    assert quantile(19, 0.95) == pytest.approx(2.0930, abs=5e-5)
    assert 2.0150 < quantile(4.5, 0.9) < 2.1318  # between 5 and 4 degrees of freedom
    assert quantile(np.inf, 0.95) == pytest.approx(1.95996, abs=5e-6)
    assert quantile(10**7, 0.99) == pytest.approx(quantile(np.inf, 0.99), rel=1e-6)


def test_tails_are_those_of_the_tables():
    assert tails(19, 2.0930) == pytest.approx(0.05, abs=1e-5)
    assert tails(19, -2.0930) == tails(19, 2.0930)
    assert tails(np.inf, 1.95996) == pytest.approx(0.05, abs=1e-6)
    assert tails(4, 0.0) == 1.0
    for freedom in (1.5, 7, np.inf):
        assert tails(freedom, quantile(freedom, 0.97)) == pytest.approx(0.03)


def test_on_the_straight_scale_by_hand():
    low, high = confidence_interval(5.0, moving(0.1), bounds=ANY)
    assert (low, high) == pytest.approx((5 - 0.20930, 5 + 0.20930), abs=1e-5)
    low, high = confidence_interval(-3.0, moving(1.0, 4), level=0.9, bounds=ANY)
    assert (low, high) == pytest.approx((-3 - 2.1318, -3 + 2.1318), abs=1e-4)


def test_on_the_logit_scale_by_hand():
    # The slope of the logit at 0.2 is 1/0.16, so the half-width there is 2.093 · 0.02 / 0.16
    low, high = confidence_interval(0.2, moving(0.02))
    assert logit(high) - logit(0.2) == pytest.approx(2.0930 * 0.02 / 0.16, rel=1e-4)
    assert logit(0.2) - logit(low) == pytest.approx(2.0930 * 0.02 / 0.16, rel=1e-4)


def test_far_out_the_ends_go_on_straight_by_hand():
    # One unit of the logit is as far as the curve goes: odds of 1/99 times or over e
    low, high = 1 / (1 + 99 * np.e), np.e / (99 + np.e)
    beyond = quantile(19, 0.95) * 0.01 - 0.0099
    assert beyond > 0
    assert confidence_interval(0.01, moving(0.01)) == pytest.approx((0.0, high + beyond))
    assert confidence_interval(0.99, moving(0.01)) == pytest.approx((1 - high - beyond, 1.0))
    reach = 0.0099 + 0.001
    found = confidence_interval(0.01, moving(reach / quantile(19, 0.95)))
    assert found == pytest.approx((low - 0.001, high + 0.001), rel=1e-6)


@pytest.mark.parametrize("share", [1e-4, 0.01, 0.3, 0.5, 0.9, 0.9999])
def test_the_curve_and_the_line_meet(share):
    reaches = FAR * share * (1 - share) * np.array([1 - 1e-9, 1 + 1e-9])
    curve, line = (
        confidence_interval(share, moving(reach / quantile(19, 0.95))) for reach in reaches
    )
    assert curve == pytest.approx(line, rel=1e-6)


@pytest.mark.parametrize(("error", "rough"), [(0.004, False), (0.005, True)])
def test_near_the_bounds_an_interval_is_rough(error, rough):
    for value in (0.01, 0.99):
        assert is_rough(value, moving(error), level=0.95, bounds=(0.0, 1.0)) == rough
    assert not is_rough(0.01, moving(error), level=0.5, bounds=(0.0, 1.0))
    assert not is_rough(0.5, moving(error), level=0.95, bounds=(0.0, 1.0))
    assert not is_rough(0.01, moving(error), level=0.95, bounds=FROM_ZERO)
    assert not is_rough(1.0, moving(error), level=0.95, bounds=(0.0, 1.0))


shares = st.floats(1e-6, 1 - 1e-6)


@given(shares, st.floats(1e-8, 10), st.sampled_from(LEVELS))
@settings(deadline=None)
def test_holds_the_value_and_stays_within_bounds(share, error, level):
    low, high = confidence_interval(share, moving(error), level=level)
    assert 0 <= low <= share <= high <= 1
    low, high = confidence_interval(share, moving(error), level=level, bounds=FROM_ZERO)
    assert 0 <= low <= share < high


@given(shares, st.floats(1e-8, 10), st.sampled_from(LEVELS))
@settings(deadline=None)
def test_a_share_and_what_it_leaves_have_mirrored_intervals(share, error, level):
    low, high = confidence_interval(share, moving(error), level=level)
    other = confidence_interval(1 - share, moving(error), level=level)
    assert other == pytest.approx((1 - high, 1 - low), rel=1e-5, abs=1e-12)


@given(shares, st.floats(1e-6, 0.5), st.sampled_from(LEVELS[:-1]))
@settings(deadline=None)
def test_more_confidence_is_wider_on_either_scale(share, error, level):
    higher = LEVELS[LEVELS.index(level) + 1]
    low, high = confidence_interval(share, moving(error), level=level)
    below, above = confidence_interval(share, moving(error), level=higher)
    assert below <= low
    assert high <= above


@given(st.floats(-100, 100), st.floats(1e-3, 10), st.floats(0.01, 100), st.floats(-50, 50))
@settings(deadline=None)
def test_units_do_not_matter_where_there_are_no_bounds(value, error, factor, shift):
    found = confidence_interval(value, moving(error), bounds=ANY)
    moved = confidence_interval(factor * value + shift, moving(factor * error), bounds=ANY)
    assert moved == pytest.approx([factor * end + shift for end in found], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(("value", "ends"), [(1.0, (0.9791, 1.0)), (0.0, (0.0, 0.0209))])
def test_a_score_at_its_bound(value, ends):
    assert confidence_interval(value, moving(0.01)) == pytest.approx(ends, abs=1e-4)


def test_bounds_on_one_side_and_a_value_beyond_them():
    assert confidence_interval(0.1, moving(1.0), bounds=FROM_ZERO)[0] == 0
    assert confidence_interval(0.1, moving(1.0), bounds=(0.0, 0.5)) == (0.0, 0.5)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_none_without_a_value(value):
    assert confidence_interval(value, moving(0.1), bounds=ANY) is None


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_none_where_nothing_moves_or_a_replicate_is_missing(value):
    assert confidence_interval(value, moving(0.0)) is None
    assert confidence_interval(value, Spread((Component("seed", np.array([0.1, np.nan])),))) is None
    assert confidence_interval(value, Spread(())) is None


@pytest.mark.parametrize("value", [1e-300, 0.5, 1 - 1e-16])
@pytest.mark.parametrize("error", [1e-200, 1e-3, 1e100])
@pytest.mark.parametrize("level", [1e-12, 0.95, 1 - 1e-16])
@pytest.mark.filterwarnings("error")
def test_extremes_stay_numbers_in_order(value, error, level):
    found = confidence_interval(value, moving(error), level=level)
    if found is not None:
        assert 0 <= found[0] <= found[1] <= 1


@pytest.mark.parametrize("level", [0, 1, -0.1, 1.5, np.nan, True, "0.95", None, [0.9]])
def test_refuses_what_is_no_level(level):
    with pytest.raises(InputError, match=r"level must lie between 0 and 1, such as 0.95; found"):
        check_level(level)
    with pytest.raises(InputError, match="level must lie between 0 and 1"):
        confidence_interval(0.5, moving(0.1), level=level)


@pytest.mark.parametrize("level", [0.5, 0.999, np.float32(0.9), np.float64(0.9)])
def test_takes_every_kind_of_number(level):
    check_level(level)
