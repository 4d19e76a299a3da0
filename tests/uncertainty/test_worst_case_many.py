"""Many systems: the sweep is exact while few intervals meet, and a true bound where many do."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.uncertainty import worst_case
from calipers.uncertainty.worst_case import worst_case_spearman
from calipers.uncertainty.worst_case_search import (
    Corners,
    double,
    enumerate_corners,
    open_at_once,
    search,
    sweep,
)

seeds = st.integers(0, 2**32 - 1)


def systems(seed, n, deviation):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n)
    means = truth + rng.choice([0.3, 1]) * rng.normal(size=n)
    return means, deviation * rng.uniform(0.5, 1.5, n), truth


def lowest_numerator(corners):
    table = corners.constant + double(corners.linear, corners.coupling)
    return int(table.min())


@settings(max_examples=30, deadline=None)
@given(seeds, st.sampled_from([0.05, 0.3, 2.0]))
def test_the_quadratic_form_is_the_numerator(seed, deviation):
    means, deviations, truth = systems(seed, 6, deviation)
    corners = Corners.of(means, deviations, truth)
    ranks = truth.argsort().argsort() * 2
    for corner in range(2**6):
        high = (corner >> np.arange(6)) & 1 == 1
        scores = means + np.where(high, deviations, -deviations)
        pairs = np.sign(np.subtract.outer(scores, scores)) * np.subtract.outer(ranks, ranks)
        assert corners.numerator(high) == np.triu(pairs).sum()


@settings(max_examples=30, deadline=None)
@given(seeds, st.sampled_from([0.05, 0.3, 2.0]), st.integers(3, 12))
def test_a_wide_sweep_finds_the_minimum_and_a_narrow_one_bounds_it(seed, deviation, n):
    corners = Corners.of(*systems(seed, n, deviation))
    least, guide = lowest_numerator(corners), search(corners, 0)
    exact = sweep(corners, width=n, guide=guide)
    assert exact.score == least == corners.numerator(exact.high)
    for width in (1, 3):
        cut = sweep(corners, width=width, guide=guide)
        assert cut.score <= least
        assert (cut.high is not None) == (open_at_once(corners) <= width)


def any_form(rng, n, linear):
    """A quadratic form with any couplings at all, such as no intervals would have."""
    coupling = np.triu(rng.integers(-9, 10, (n, n)), 1)
    places = np.arange(n)
    return Corners(
        low=places,
        high=places + n,
        constant=5,
        linear=linear,
        coupling=coupling + coupling.T,
        shared=np.empty(0, dtype=np.int64),
        truth_spread=1,
    )


@settings(max_examples=80, deadline=None)
@given(seeds, st.integers(1, 8))
def test_a_sweep_bounds_any_form_from_below_whatever_its_guide(seed, width):
    rng = np.random.default_rng(seed)
    form = any_form(rng, 8, rng.integers(-9, 10, 8))
    found = sweep(form, width=width, guide=rng.random(8) < 0.5)
    assert found.score <= lowest_numerator(form)
    if found.high is not None:
        assert form.numerator(found.high) == found.score == lowest_numerator(form)


@settings(max_examples=30, deadline=None)
@given(seeds, st.integers(1, 8))
def test_a_bound_is_tight_where_the_guide_is_the_clear_minimum(seed, width):
    rng = np.random.default_rng(seed)
    guide = rng.random(8) < 0.5
    form = any_form(rng, 8, np.where(guide, -1000, 1000))
    assert sweep(form, width=width, guide=guide).score == form.numerator(guide)


@settings(max_examples=40, deadline=None)
@given(seeds)
def test_the_bound_allows_for_ties(seed):
    rng = np.random.default_rng(seed)
    means, deviations = rng.integers(0, 4, 7).astype(float), rng.integers(0, 3, 7).astype(float)
    truth = -means + rng.normal(size=7)  # where correlations are negative, ties lower them
    corners = Corners.of(means, deviations, truth)
    found = worst_case_spearman(means, deviations, truth)
    if found.reason is None:
        assert corners.bound(lowest_numerator(corners)) <= found.value + 1e-12


@settings(max_examples=20, deadline=None)
@given(seeds, st.integers(3, 30))
def test_no_change_of_a_sign_lowers_what_the_search_found(seed, n):
    corners = Corners.of(*systems(seed, n, 1.0))
    found = search(corners, 0)
    for i in range(n):
        near = found.copy()
        near[i] ^= True
        assert corners.numerator(near) >= corners.numerator(found)


@pytest.mark.parametrize("seed", range(4))
def test_the_search_finds_the_minimum_of_thirty_systems(seed):
    corners = Corners.of(*systems(seed, 30, 1.0))
    found = search(corners, 0)
    assert corners.numerator(found) == sweep(corners, width=22, guide=found).score


@settings(max_examples=25, deadline=None)
@given(seeds, st.booleans())
def test_the_long_way_brackets_the_exact_one(seed, rounded):
    means, deviations, truth = systems(seed, 11, 0.5)
    if rounded:
        means, deviations = means.round(), deviations.round()
    exact = worst_case_spearman(means, deviations, truth)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worst_case, "MOST_FREE", 3)
        found = worst_case_spearman(means, deviations, truth)
    assert found.lower_bound <= exact.value + 1e-12
    assert found.value >= exact.value - 1e-12
    assert not found.exact or found.value == pytest.approx(exact.value)
    assert found.plain == exact.plain


def test_both_exact_ways_agree_on_twenty_systems():
    corners = Corners.of(*systems(5, 20, 1.0))
    assert corners.coupled.all()
    one = enumerate_corners(corners)
    other = sweep(corners, width=20, guide=one)
    assert corners.numerator(one) == other.score


def test_many_systems_of_which_few_meet_are_exact():
    found = worst_case_spearman(*systems(3, 300, 0.01))
    assert found.exact
    assert found.value < found.plain


def test_many_systems_that_all_meet_are_bounded_and_say_so():
    given_ = systems(4, 45, 2.0)
    found = worst_case_spearman(*given_)
    assert not found.exact
    assert found.lower_bound < found.value < found.plain
    assert found.value - found.lower_bound < 0.15
    assert worst_case_spearman(*given_).value == found.value  # the seed fixes the search


def test_descents_that_end_where_all_scores_are_tied_still_give_a_value(monkeypatch):
    # The least numerator, 0, belongs to corners at which all scores are equal
    monkeypatch.setattr(worst_case, "MOST_FREE", 0)
    assert worst_case_spearman([0, 0, 1], [0, 0, 1], [0, 0, 1]).value == 1
    assert worst_case_spearman([0, 0, 1], [1, 1, 0], [0, 0, 1]).value == pytest.approx(0.5)


def test_twenty_systems_take_no_more_than_seconds():
    start = time.perf_counter()
    assert worst_case_spearman(*systems(6, 20, 2.0)).exact
    assert time.perf_counter() - start < 5
