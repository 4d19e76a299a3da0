"""Correlations over systems: by hand, as scipy gives them, and where they are undefined.

With errors on both columns: by hand, by their laws, and how often intervals cover."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from calipers.errors import InputError
from calipers.uncertainty.bradley_terry import fit_bradley_terry
from calipers.uncertainty.correlation import (
    correlation_matrix,
    draw_errors,
    interval_of_errors,
    mid_ranks,
    pearson,
    spearman,
    widened,
)
from calipers.uncertainty.preferences import Preferences

columns = st.integers(3, 12).flatmap(
    lambda n: st.tuples(*(st.lists(st.integers(-5, 5), min_size=n, max_size=n) for _ in range(2)))
)


def test_by_hand():
    # Ranks 1 2 3 4 and 1 2 4 3: 1 - 6·2/(4·15) = 0.8
    assert spearman([0.1, 0.2, 0.3, 0.4], [5, 6, 8, 7]).value == pytest.approx(0.8)
    # Moved to mean 0: (-1, 0, 1) and (-2, 1, 1); 3/√(2·6)
    assert pearson([1, 2, 3], [0, 3, 3]).value == pytest.approx(3 / np.sqrt(12))


@settings(max_examples=60)
@given(columns)
def test_equal_scipy(pair):
    a, b = np.array(pair, dtype=float) / 7
    assume(np.ptp(a) > 0 and np.ptp(b) > 0)
    assert spearman(a, b).value == pytest.approx(stats.spearmanr(a, b)[0], abs=1e-12)
    assert pearson(a, b).value == pytest.approx(stats.pearsonr(a, b)[0], abs=1e-12)


@settings(max_examples=40)
@given(columns)
def test_laws(pair):
    a, b = np.array(pair, dtype=float)
    for measure in (spearman, pearson):
        plain = measure(a, b)
        turned, mirrored, moved = measure(b, a), measure(-a, b), measure(3 * a + 7, b)
        if np.ptp(a) == 0 or np.ptp(b) == 0:
            for undefined in (plain, turned, mirrored, moved):
                assert np.isnan(undefined.value)
                assert undefined.reason == "all systems have the same value on one side"
            continue
        assert turned.value == pytest.approx(plain.value)
        assert mirrored.value == pytest.approx(-plain.value)
        assert moved.value == pytest.approx(plain.value)
        if measure is spearman:
            assert spearman(np.exp(a), b).value == pytest.approx(plain.value)


def test_fishers_interval_of_pearson_equals_scipy(rng):
    a = rng.standard_normal(12)
    b = a + rng.standard_normal(12)
    expected = stats.pearsonr(a, b).confidence_interval(0.9)
    assert pearson(a, b, level=0.9).interval == pytest.approx((expected.low, expected.high))


def test_the_interval_of_spearman_by_hand():
    # 0.8 of 4 systems: variance (1 + 0.32)/1
    low, high = spearman([1, 2, 3, 4], [1, 2, 4, 3]).interval
    middle, reach = np.arctanh(0.8), 1.959963984540054 * np.sqrt(1.32)
    assert (low, high) == pytest.approx((np.tanh(middle - reach), np.tanh(middle + reach)))


@pytest.mark.slow
def test_intervals_cover_with_thirty_systems(rng):
    true = {"pearson": 0.6, "spearman": 6 / np.pi * np.arcsin(0.3)}
    hits = {"pearson": [], "spearman": []}
    for _ in range(600):
        a, b = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], 30).T
        for name, measure in (("pearson", pearson), ("spearman", spearman)):
            low, high = measure(a, b).interval
            hits[name].append(low <= true[name] <= high)
    assert 0.925 <= np.mean(hits["pearson"]) <= 0.975
    assert 0.925 <= np.mean(hits["spearman"]) <= 0.975


def test_undefined_is_nan_with_a_reason():
    few = spearman([1, 2, np.nan], [1, 2, 3])
    assert (np.isnan(few.value), few.interval, few.n) == (True, None, 2)
    assert "at least 3 systems" in few.reason
    for measure in (spearman, pearson):
        assert "the same value" in measure([2, 2, 2, 2], [1, 2, 3, 4]).reason
        assert "the same value" in measure([1, 2, 3], [0.1 + 0.2, 0.3, 0.3]).reason
    assert "lies on no line" in pearson([1, 2, np.inf], [1, 2, 3]).reason


def test_infinite_values_have_ranks():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert spearman([-np.inf, 0, np.inf, np.inf], [1, 2, 3, 3]).value == 1


def test_no_interval_where_it_would_have_no_length():
    assert spearman([1, 2, 3, 4, 5], [1, 2, 3, 4, 5]).interval is None
    assert pearson([1, 2, 3], [1, 2, 4]).interval is None


def test_rounding_makes_no_order():
    # 0.382 - 0.281 and 0.101 are the same to a person, and not to a float
    a = [abs(0.281 - 0.382), 0.101, 0.2]
    assert a[0] != a[1]
    assert spearman(a, [1, 2, 3]).value == spearman([1, 1, 2], [1, 2, 3]).value


def test_matrix_rests_on_the_systems_that_both_metrics_have(rng):
    values = rng.standard_normal((9, 3))
    values[0, 1] = values[1, 2] = values[2, 2] = np.nan
    for kind, measure in (("spearman", spearman), ("pearson", pearson)):
        found = correlation_matrix(values, kind=kind)
        assert found.systems.tolist() == [[9, 8, 7], [8, 8, 6], [7, 6, 7]]
        assert np.diagonal(found.values) == pytest.approx([1, 1, 1])
        for i in range(3):
            for j in range(3):
                assert found.values[i, j] == measure(values[:, i], values[:, j]).value
        assert found.reasons == ((None,) * 3,) * 3


def test_matrix_says_why_a_cell_is_empty():
    found = correlation_matrix([[1, 5, np.nan], [2, 5, 1], [3, 5, 2]])
    assert "the same value" in found.reasons[0][1]
    assert "at least 3 systems" in found.reasons[0][2]
    assert np.isnan(found.values[1]).all()
    assert correlation_matrix(np.zeros((4, 0))).values.shape == (0, 0)


def test_bad_input():
    with pytest.raises(InputError, match="found 2 and 3 of them"):
        spearman([1, 2], [1, 2, 3])
    with pytest.raises(InputError, match=r"b .*\(systems,\), .*\(1, 3\)"):
        pearson([1, 2, 3], [[1, 2, 3]])
    with pytest.raises(InputError, match="a must be numbers"):
        spearman(["high", "low"], [1, 2])
    with pytest.raises(InputError, match=r"level .*0 and 1, .* 95"):
        spearman([1, 2, 3], [1, 2, 3], level=95)
    with pytest.raises(InputError, match="correlation 'spearmann'"):
        correlation_matrix([[1, 2]], kind="spearmann")
    with pytest.raises(InputError, match=r"values .*\(systems, metrics\)"):
        correlation_matrix([1, 2, 3])


def test_reaches_as_far_as_the_farther_percentile():
    # Nine draws keep the order 1 2 3 4, one turns its last two: Spearman 1 and 0.8
    a, b = np.arange(4.0)[None], np.tile(np.arange(4.0), (10, 1))
    b[0] = [0, 1, 3, 2]
    assert interval_of_errors("spearman", 1.0, a, b, level=0.9) == pytest.approx((0.89, 1.0))
    assert interval_of_errors("spearman", 0.8, a, b, level=0.9) == pytest.approx((0.6, 1.0))


def test_none_without_errors_or_value():
    exact = np.arange(4.0)[None]
    assert interval_of_errors("pearson", 1.0, exact, exact) is None
    moved = np.tile(exact, (5, 1))
    assert interval_of_errors("pearson", float("nan"), exact, moved) is None
    assert interval_of_errors("pearson", 0.5, np.ones((1, 4)), moved) is None


def test_every_draw_is_scipys_correlation(rng):
    a, b = rng.standard_normal((40, 20)), rng.integers(0, 4, (40, 20)).astype(float)
    for kind, measure in (("spearman", stats.spearmanr), ("pearson", stats.pearsonr)):
        found = [measure(x, y)[0] for x, y in zip(a, b, strict=True)]
        low, high = np.quantile(found, [0.025, 0.975])
        reach = max(0.1 - low, high - 0.1)
        assert reach < 0.9
        assert interval_of_errors(kind, 0.1, a, b) == pytest.approx((0.1 - reach, 0.1 + reach))


@settings(max_examples=40)
@given(st.lists(st.lists(st.integers(0, 4), min_size=6, max_size=6), min_size=1, max_size=5))
def test_ranks_of_rows_are_those_of_scipy(rows):
    values = np.array(rows) / 7
    assert mid_ranks(values) == pytest.approx(stats.rankdata(values, axis=1))
    assert mid_ranks(values[0]) == pytest.approx(stats.rankdata(values[0]))
    assert mid_ranks(values[0, :1]).tolist() == [1.0]
    assert mid_ranks(values[0, :0]).tolist() == []


def test_errors_have_the_covariance_asked_for(rng):
    half = rng.standard_normal((5, 4))
    covariance = half @ half.T  # of rank 4
    drawn = draw_errors(covariance, seed=3, draws=200_000)
    assert np.cov(drawn.T) == pytest.approx(covariance, abs=0.05 * covariance.diagonal().max())
    assert drawn.mean(axis=0) == pytest.approx(np.zeros(5), abs=0.05)
    assert (drawn == draw_errors(covariance, seed=3, draws=200_000)).all()
    assert (drawn[:9] != draw_errors(covariance, seed=4, draws=9)).all()


def test_a_covariance_must_be_one():
    for bad in ([1.0], [[1.0, 2.0]], [[1.0, 2.0], [3.0, 1.0]], [[np.nan]]):
        with pytest.raises(InputError, match="a covariance must be"):
            draw_errors(bad, seed=0)


def test_two_intervals_join_as_the_sides_of_a_right_angle():
    # 0.3 and 0.4 below, 0.05 and 0.12 above: 0.5 and 0.13
    assert widened(0.5, (0.2, 0.55), (0.1, 0.62)) == pytest.approx((0.0, 0.63))
    assert widened(0.9, (-0.9, 0.97), (-0.9, 1.0)) == (-1.0, 1.0)
    assert widened(0.5, (0.2, 0.6), None) == (0.2, 0.6)
    assert widened(1.0, None, (0.2, 1.0)) is None


def judged(rng, strengths, often):
    """Judgements of every pair by Davidson's model, of log odds."""
    n = len(strengths)
    i, j = np.triu_indices(n, 1)
    half = (strengths[i] - strengths[j]) / 2
    weights = np.column_stack([np.exp(half), np.full(len(i), 0.6), np.exp(-half)])
    drawn = rng.multinomial(often, weights / weights.sum(axis=1, keepdims=True))
    wins, ties = np.zeros((n, n)), np.zeros((n, n))
    wins[i, j], ties[i, j], wins[j, i] = drawn.T
    return Preferences(tuple(map(str, range(n))), wins, ties + ties.T)


@pytest.mark.slow
@pytest.mark.parametrize("correlation", [0.0, 0.9, 1.0])
def test_intervals_cover_with_few_judgements(rng, correlation):
    """Eight systems, ten judgements of a pair: scores taken for exact cover nothing of it."""
    fixed, drawn = {"spearman": [], "pearson": []}, []
    for world in range(250):
        strengths = rng.standard_normal(8)
        values = correlation * strengths
        values += np.sqrt(1 - correlation**2) * rng.standard_normal(8)
        fit = fit_bradley_terry(judged(rng, 0.6 * strengths, 10))
        scores = fit.scores + draw_errors(fit.covariance, seed=world, draws=1000)
        for kind, measure in (("spearman", spearman), ("pearson", pearson)):
            found, aim = measure(values, fit.scores), measure(values, strengths).value
            low, high = interval_of_errors(kind, found.value, values[None], scores)
            fixed[kind].append(low - 1e-9 <= aim <= high + 1e-9)
        ends = widened(found.value, found.interval, (low, high))
        drawn.append(ends[0] <= correlation <= ends[1])
    for hits in (*fixed.values(), drawn):
        assert np.mean(hits) >= 0.93 - 2 * np.sqrt(0.05 * 0.95 / 250)
