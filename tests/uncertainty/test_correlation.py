"""Correlations over systems: by hand, as scipy gives them, and where they are undefined."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from calipers.errors import InputError
from calipers.uncertainty.correlation import correlation_matrix, pearson, spearman

columns = st.integers(3, 12).flatmap(
    lambda n: st.tuples(*(st.lists(st.integers(-5, 5), min_size=n, max_size=n) for _ in range(2)))
)


def test_by_hand():
    # Ranks 1 2 3 4 and 1 2 4 3: 1 - 6·2/(4·15) = 0.8
    assert spearman([0.1, 0.2, 0.3, 0.4], [5, 6, 8, 7]).value == pytest.approx(0.8)
    # Moved to mean 0: (-1, 0, 1) and (-2, 1, 1); 3/√(2·6)
    assert pearson([1, 2, 3], [0, 3, 3]).value == pytest.approx(3 / np.sqrt(12))


@settings(max_examples=60, deadline=None)
@given(columns)
def test_equal_scipy(pair):
    a, b = np.array(pair, dtype=float) / 7
    assume(np.ptp(a) > 0 and np.ptp(b) > 0)
    assert spearman(a, b).value == pytest.approx(stats.spearmanr(a, b)[0], abs=1e-12)
    assert pearson(a, b).value == pytest.approx(stats.pearsonr(a, b)[0], abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(columns)
def test_laws(pair):
    a, b = np.array(pair, dtype=float)
    for measure in (spearman, pearson):
        found = measure(a, b).value
        assert measure(b, a).value == pytest.approx(found, nan_ok=True)
        assert measure(-a, b).value == pytest.approx(-found, nan_ok=True)
        assert measure(3 * a + 7, b).value == pytest.approx(found, nan_ok=True)
    assert spearman(np.exp(a), b).value == pytest.approx(spearman(a, b).value, nan_ok=True)


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
    with pytest.raises(InputError, match=r"b must have the shape \(systems,\), found \(1, 3\)"):
        pearson([1, 2, 3], [[1, 2, 3]])
    with pytest.raises(InputError, match="a must be numbers"):
        spearman(["high", "low"], [1, 2])
    with pytest.raises(InputError, match="level must lie between 0 and 1, found 95"):
        spearman([1, 2, 3], [1, 2, 3], level=95)
    with pytest.raises(InputError, match="unknown kind of correlation 'spearmann'"):
        correlation_matrix([[1, 2]], kind="spearmann")
    with pytest.raises(InputError, match=r"values must have the shape \(systems, metrics\)"):
        correlation_matrix([1, 2, 3])
