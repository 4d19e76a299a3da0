"""How much a score moves, and its interval: by hand, by classical formulas, and the laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from calipers.errors import InputError
from calipers.uncertainty.spread import (
    ALLOWANCE,
    FAR,
    Component,
    Spread,
    check_level,
    confidence_interval,
    correlation,
    is_rough,
    mean_spread,
    quantile,
    tails,
)

NUMBERS = arrays(float, st.integers(2, 12), elements=st.floats(-100, 100))
MAKERS = [Component.jackknife, Component.of_mean, Component.of_one]


def test_jackknife_by_hand():
    # Scores without one of three blocks: 1, 2, 6. Their mean is 3, the squares sum to 14
    part = Component.jackknife("reference", [1, 2, 6])
    np.testing.assert_allclose(part.deviations, np.sqrt(2 / 3) * np.array([-2, -1, 3]))
    assert part.variance == pytest.approx(2 / 3 * 14)
    assert (part.freedom, part.source) == (2, "reference")


def test_means_and_single_values_by_hand():
    values = [2, 4, 9]  # mean 5, squares sum to 26
    assert Component.of_mean("generated", values).variance == pytest.approx(26 / 2 / 3)
    assert Component.of_one("seed", values).variance == pytest.approx(26 / 2)
    assert Component.of_one("seed", values).times(-3).variance == pytest.approx(9 * 13)


def test_jackknife_of_a_mean_is_the_classical_error_of_a_mean_of_blocks(rng):
    blocks = rng.standard_normal((20, 7))
    without = [np.delete(blocks, block, axis=0).mean() for block in range(20)]
    found = Component.jackknife("generated", without)
    assert found.variance == pytest.approx(blocks.mean(axis=1).var(ddof=1) / 20)
    single = [np.delete(blocks.ravel(), row).mean() for row in range(140)]
    assert Component.jackknife("generated", single).variance == pytest.approx(
        blocks.var(ddof=1) / 140
    )


@pytest.mark.parametrize("make", MAKERS)
@given(values=NUMBERS, factor=st.floats(-50, 50), shift=st.floats(-50, 50))
@settings(max_examples=40)
def test_deviations_scale_and_do_not_shift(make, values, factor, shift):
    part, moved = make("both", values), make("both", factor * values + shift)
    np.testing.assert_allclose(moved.deviations, factor * part.deviations, atol=1e-9)
    assert abs(part.deviations.sum()) < 1e-9
    assert part.variance == pytest.approx((part.deviations**2).sum())


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("odd", [np.inf, -np.inf, np.nan])
@pytest.mark.filterwarnings("error")
def test_a_replicate_without_a_value_is_told(make, odd):
    assert not Spread((make("reference", [1, odd, 2]),)).finite
    assert Spread((make("reference", [1, 3, 2]),)).finite


def test_sources_add_up_and_are_named():
    parts = (
        Component("reference", np.array([3.0, 0.0])),
        Component("generated", np.array([0.0, 4.0, 0.0])),
        Component("generated", np.array([12.0, 0.0])),
        Component("seed", np.array([0.0, 0.0])),
    )
    spread = Spread(parts)
    assert spread.standard_error == pytest.approx(13)
    assert spread.by_source == pytest.approx({"reference": 3, "generated": np.sqrt(160), "seed": 0})
    assert spread.of("generated") == parts[1:3]
    assert spread.of("both") == ()


def test_degrees_of_freedom_by_welch_and_satterthwaite():
    wide = Component("reference", np.full(20, 2 / np.sqrt(20)))  # variance 4, freedom 19
    narrow = Component("generated", np.full(5, 1 / np.sqrt(5)))  # variance 1, freedom 4
    assert Spread((wide, narrow)).freedom == pytest.approx(25 / (16 / 19 + 1 / 4))
    assert Spread((wide,)).freedom == pytest.approx(19)
    assert Spread((wide, wide)).freedom == pytest.approx(38)
    still = Component("seed", np.zeros(5))
    assert Spread((wide, still)).freedom == pytest.approx(19)
    assert Spread((still,)).freedom == np.inf


@given(values=st.lists(NUMBERS, min_size=1, max_size=4), factor=st.floats(0.01, 100))
@settings(max_examples=60)
def test_scale_moves_the_error_and_not_the_freedom(values, factor):
    parts = [Component.jackknife("reference", each) for each in values]
    spread, scaled = Spread(tuple(parts)), Spread(tuple(p.times(factor) for p in parts))
    assert scaled.standard_error == pytest.approx(factor * spread.standard_error)
    if spread.variance > 1e-6:
        assert scaled.freedom == pytest.approx(spread.freedom)
        largest = sum(part.freedom for part in parts)
        assert min(part.freedom for part in parts) - 1e-9 <= spread.freedom <= largest + 1e-9


def of_file(reference, generated, seed=(), halves=None, approximate=False):
    parts = [Component("reference", np.array(reference)), Component("generated", generated)]
    parts += [Component("seed", np.array(seed))] if seed else []
    return Spread(tuple(parts), approximate, None if halves is None else np.array(halves))


def test_the_mean_of_two_files_by_hand():
    one = of_file([3.0, -3.0], np.array([4.0, -4.0]), (1.0, -1.0))
    two = of_file([1.0, -1.0], np.array([2.0, -2.0]), (1.0, -1.0))
    mean = mean_spread([one, two], [0.5, 0.6])
    # The reference, which both share, is averaged: (2, -2). The others are halved and stand apart
    assert mean.by_source == pytest.approx(
        {"reference": np.sqrt(8), "generated": np.sqrt(8 + 2), "seed": np.sqrt(0.5 + 0.5)}
    )
    assert mean.halves is None
    assert not mean.approximate


def test_files_that_scatter_more_than_chance_have_that_scatter():
    quiet = of_file([1.0, -1.0], np.array([0.1, -0.1]))
    mean = mean_spread([quiet, quiet, quiet], [1.0, 2.0, 6.0])
    assert mean.by_source["generated"] == pytest.approx(np.sqrt(14 / 2 / 3))
    assert mean.of("generated")[0].freedom == 2
    assert mean.by_source["reference"] == pytest.approx(np.sqrt(2))
    calm = mean_spread([quiet, quiet, quiet], [1.0, 1.0, 1.0])
    assert calm.by_source["generated"] == pytest.approx(0.1 * np.sqrt(2) / np.sqrt(3))


def test_what_was_scaled_in_one_file_is_marked_in_the_mean():
    one, two = (of_file([1.0, -1.0], np.zeros(2), approximate=each) for each in (False, True))
    assert mean_spread([one, two], [1, 1]).approximate
    assert mean_spread([two], [1]) is two


def test_files_cut_into_different_numbers_of_parts_have_the_mean_of_their_errors():
    wide = Spread((Component("both", np.array([3.0, -3.0, 0.0])),), True)
    narrow = Spread((Component("both", np.array([1.0, -1.0])),), True)
    mean = mean_spread([wide, narrow], [1, 1])
    assert mean.standard_error == pytest.approx((3 + 1) * np.sqrt(2) / 2)
    still = Spread((Component("both", np.zeros(4)),), True)
    assert mean_spread([still, Spread((Component("both", np.zeros(2)),))], [1, 1]).variance == 0


def test_halves_bound_the_variance_by_hand():
    parts = (Component("reference", np.array([4.0, -4.0])), Component("seed", np.array([2.0, 0])))
    plain = Spread(parts)
    assert (plain.summed, plain.share, plain.variance) == (36.0, 1.0, 36.0)
    close = Spread(parts, halves=np.array([1.0, 2.0, -1.0]))  # sum of squares 6
    assert close.variance == pytest.approx(ALLOWANCE * 6)
    assert close.share == pytest.approx(ALLOWANCE / 6)
    assert close.summed == 36.0
    # What each source does is as large a share of it as before, and the freedom is theirs
    assert close.by_source == pytest.approx(
        {"reference": np.sqrt(32 * close.share), "seed": np.sqrt(4 * close.share)}
    )
    assert close.freedom == plain.freedom
    far = Spread(parts, halves=np.array([30.0, 0.0]))
    assert (far.share, far.variance) == (1.0, 36.0)
    same = Spread(parts, halves=np.zeros(3))
    assert (same.variance, same.freedom) == (0.0, plain.freedom)
    still = Spread((Component("reference", np.zeros(2)),), halves=np.ones(3))
    assert (still.share, still.variance) == (1.0, 0.0)


@given(values=NUMBERS, halves=NUMBERS, factor=st.floats(-50, 50))
@settings(max_examples=60)
def test_halves_never_lengthen_and_scale_as_the_score_does(values, halves, factor):
    plain = Spread((Component.jackknife("reference", values),))
    spread = Spread(plain.components, halves=halves)
    assert spread.standard_error <= plain.standard_error
    assert 0 <= spread.share <= 1
    assert sum(each**2 for each in spread.by_source.values()) == pytest.approx(spread.variance)
    scaled = spread.times(factor)
    assert scaled.variance == pytest.approx(factor**2 * spread.variance)
    assert scaled.approximate == spread.approximate


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("odd", [np.inf, np.nan])
def test_a_half_without_a_value_is_told(odd):
    parts = (Component("reference", np.array([1.0, -1.0])),)
    assert not Spread(parts, halves=np.array([0.5, odd])).finite
    assert Spread(parts, halves=np.array([0.5, 0.1])).finite


def test_the_mean_of_two_files_has_the_mean_of_their_halves():
    own = np.array([4.0, -4.0])
    one = of_file([0.0, 0.0], own, halves=[1.0, 2.0])
    two = of_file([0.0, 0.0], own, halves=[3.0, -2.0])
    mean = mean_spread([one, two], [0.5, 0.5])
    np.testing.assert_allclose(mean.halves, [2.0, 0.0])
    assert mean.variance == pytest.approx(min(16.0, ALLOWANCE * 4))
    bare = of_file([0.0, 0.0], own)
    assert mean_spread([one, bare], [0.5, 0.5]).halves is None


def test_files_that_scatter_have_that_scatter_and_the_share_of_the_rest():
    files = [of_file([3.0, -3.0], np.array([4.0, -4.0]), halves=[1.0, 1.0]) for _ in range(2)]
    share = ALLOWANCE * 2 / (18 + 16)
    # Within each file 16 of the generated set is a share of that; the files scatter by less, 1
    calm = mean_spread(files, [1.0, 3.0])
    assert calm.share == pytest.approx(share)
    assert len(calm.of("generated")) == 2
    # and by more, 4
    apart = mean_spread(files, [1.0, 5.0])
    assert apart.halves is None
    assert apart.by_source == pytest.approx({"reference": np.sqrt(18 * share), "generated": 2.0})


def test_errors_of_two_scores_go_together_as_their_deviations_do():
    ours, theirs = Component("reference", np.array([3.0, -3.0])), np.array([1.0, -1.0])
    first = Spread((ours, Component("generated", np.array([0.0, 0.0]))))
    second = Spread((Component("reference", theirs), Component("generated", 2 * theirs)))
    # Covariance 3 + 3, standard errors √18 and √(2 + 8)
    assert correlation(first, second) == pytest.approx(6 / np.sqrt(180))
    assert correlation(first, first.times(-2.0)) == pytest.approx(-1)


def test_of_several_files_errors_go_together_file_by_file():
    up, across = np.array([1.0, -1.0]), np.array([2.0, -2.0])
    alike = [of_file([0.0, 0.0], each) for each in (up, -up)]
    first = mean_spread(alike, [1, 1])
    assert correlation(first, first) == pytest.approx(1)
    second = mean_spread([of_file([0.0, 0.0], each) for each in (across, across)], [1, 1])
    # Halved: covariances 1 and -1 of the two files cancel
    assert correlation(first, second) == pytest.approx(0)
    scattered = mean_spread(alike, [1, 9])
    assert len(scattered.of("generated")) == 1
    assert correlation(first, scattered) is None


def test_correlation_is_unknown_where_nothing_moves_or_replicates_differ():
    moves = Spread((Component("reference", np.array([1.0, -1.0])),))
    still = Spread((Component("reference", np.zeros(2)),))
    other = Spread((Component("reference", np.array([1.0, -2.0, 1.0])),))
    elsewhere = Spread((Component("both", np.array([1.0, -1.0])),))
    assert [correlation(moves, each) for each in (still, other, elsewhere)] == [None] * 3


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
def test_holds_the_value_and_stays_within_bounds(share, error, level):
    low, high = confidence_interval(share, moving(error), level=level)
    assert 0 <= low <= share <= high <= 1
    low, high = confidence_interval(share, moving(error), level=level, bounds=FROM_ZERO)
    assert 0 <= low <= share < high


@given(shares, st.floats(1e-8, 10), st.sampled_from(LEVELS))
def test_a_share_and_what_it_leaves_have_mirrored_intervals(share, error, level):
    low, high = confidence_interval(share, moving(error), level=level)
    other = confidence_interval(1 - share, moving(error), level=level)
    assert other == pytest.approx((1 - high, 1 - low), rel=1e-5, abs=1e-12)


@given(shares, st.floats(1e-6, 0.5), st.sampled_from(LEVELS[:-1]))
def test_more_confidence_is_wider_on_either_scale(share, error, level):
    higher = LEVELS[LEVELS.index(level) + 1]
    low, high = confidence_interval(share, moving(error), level=level)
    below, above = confidence_interval(share, moving(error), level=higher)
    assert below <= low
    assert high <= above


@given(st.floats(-100, 100), st.floats(1e-3, 10), st.floats(0.01, 100), st.floats(-50, 50))
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
    with pytest.raises(InputError, match=r"level .*0 and 1"):
        check_level(level)
    with pytest.raises(InputError, match="level must lie between 0 and 1"):
        confidence_interval(0.5, moving(0.1), level=level)


@pytest.mark.parametrize("level", [0.5, 0.999, np.float32(0.9), np.float64(0.9)])
def test_takes_every_kind_of_number(level):
    check_level(level)
