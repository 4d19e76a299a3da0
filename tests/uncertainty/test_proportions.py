"""Fisher's exact test, the score interval of a ratio, and both where rows come in clusters."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from calipers.uncertainty.proportions import (
    clustered_p_values,
    effective_counts,
    exact_p_value,
    ratio_interval,
)

TABLES = st.tuples(*[st.integers(1, 80)] * 2).flatmap(
    lambda sizes: st.tuples(
        st.integers(0, sizes[0]), st.just(sizes[0]), st.integers(0, sizes[1]), st.just(sizes[1])
    )
)


def test_by_hand():
    # 4 of 8 rows in the category; of 70 ways to deal them to two sets of 4 rows:
    # 4 + 0 and 0 + 4 in one way each, 3 + 1 and 1 + 3 in 16, 2 + 2 in 36
    assert exact_p_value(4, 4, 0, 4) == pytest.approx(2 / 70)
    assert exact_p_value(3, 4, 1, 4) == pytest.approx(34 / 70)
    assert exact_p_value(2, 4, 2, 4) == 1
    # Both sets of unlike size: 3 of 5 rows, of 10 ways to choose 2 rows 1, 6 and 3 hold 0, 1, 2
    assert exact_p_value(2, 2, 1, 3) == pytest.approx(4 / 10)
    assert exact_p_value(0, 2, 3, 3) == pytest.approx(1 / 10)


def test_86_against_80_of_a_thousand_is_no_difference():
    assert exact_p_value(80, 1000, 86, 1000) == pytest.approx(0.685, abs=0.001)
    low, high = ratio_interval(80, 1000, 86, 1000)
    assert low < 0.7 < 80 / 86 < 1.2 < high


@given(TABLES)
def test_it_is_fishers_test(table):
    x, n, y, m = table
    expected = stats.fisher_exact([[x, n - x], [y, m - y]]).pvalue
    assert exact_p_value(x, n, y, m) == pytest.approx(expected, rel=1e-9)


@given(TABLES)
def test_sides_and_the_category_may_be_swapped(table):
    x, n, y, m = table
    p = exact_p_value(x, n, y, m)
    assert 0 < p <= 1
    assert exact_p_value(y, m, x, n) == pytest.approx(p, rel=1e-9)
    assert exact_p_value(n - x, n, m - y, m) == pytest.approx(p, rel=1e-9)


def test_large_sets_do_not_overflow():
    assert 0 < exact_p_value(40_000, 1_000_000, 41_000, 1_000_000) < 0.001


# ------------------------------------------------------------------ intervals


def test_the_published_example():
    # Koopman 1984: 36 of 40 against 16 of 80, 2.94 to 7.15
    assert ratio_interval(36, 40, 16, 80) == pytest.approx((2.94, 7.15), abs=0.005)


def test_without_rows_of_one_set_one_end_is_open_and_by_hand():
    # x = 0 of 1, y = 1 of 1: under a ratio t the likeliest share is p = 1/(2t), t·p = 1/2, so that
    # χ² = t²/(t·p(1 − t·p) + t²·p(1 − p)) = t²/(1/4 + t/2 − 1/4) = 2t
    low, high = ratio_interval(0, 1, 1, 1)
    assert low == 0
    assert high == pytest.approx(stats.chi2(1).ppf(0.95) / 2)
    assert ratio_interval(1, 1, 0, 1) == pytest.approx((1 / high, math.inf))
    assert ratio_interval(0, 5, 0, 7) == (0, math.inf)


@given(TABLES)
def test_it_holds_the_ratio_and_turns_round_with_the_sides(table):
    x, n, y, m = table
    assume(x and y)
    low, high = ratio_interval(x, n, y, m)
    assert low <= (x / n) / (y / m) * (1 + 1e-9)
    assert high >= (x / n) / (y / m) * (1 - 1e-9)
    assert ratio_interval(y, m, x, n) == pytest.approx((1 / high, 1 / low), rel=1e-6)


@given(TABLES)
def test_one_is_outside_where_pearsons_test_refuses_it(table):
    x, n, y, m = table
    pooled = (x + y) / (n + m)
    assume(0 < pooled < 1)
    spread = pooled * (1 - pooled) * (1 / n + 1 / m)
    chi_square = (x / n - y / m) ** 2 / spread
    limit = stats.chi2(1).ppf(0.95)
    assume(abs(chi_square - limit) > 1e-6)
    low, high = ratio_interval(x, n, y, m)
    assert (chi_square < limit) == (low < 1 < high)


def test_a_higher_level_is_wider():
    inner, outer = (ratio_interval(30, 400, 60, 400, level=level) for level in (0.9, 0.99))
    assert outer[0] < inner[0] < inner[1] < outer[1]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "m", "shares"), [(200, 300, (0.05, 0.1)), (500, 500, (0.2, 0.2))])
def test_it_holds_the_true_ratio_as_often_as_it_says(n, m, shares):
    rng, ratio = np.random.default_rng(0), shares[0] / shares[1]
    found = []
    for _ in range(2000):
        low, high = ratio_interval(rng.binomial(n, shares[0]), n, rng.binomial(m, shares[1]), m)
        found.append(low <= ratio <= high)
    assert np.mean(found) == pytest.approx(0.95, abs=0.015)


# ------------------------------------------------------------------ clusters


def grouped(rng, sizes, spread, first=0):
    """Labels of two categories by cluster, whose shares vary from cluster to cluster."""
    shares = np.clip(0.3 + spread * rng.standard_normal(len(sizes)), 0, 1)
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    return (rng.random(len(clusters)) < shares[clusters]).astype(int), clusters + first


def test_clusters_of_one_row_are_independent_rows():
    first = np.repeat([1, 0], [30, 70]), np.arange(100)
    second = np.repeat([1, 0], [15, 85]), np.arange(100, 200)
    p = clustered_p_values(first, second, categories=2, permutations=20_000)
    assert p[0] == p[1] == pytest.approx(exact_p_value(30, 100, 15, 100), abs=0.004)
    assert effective_counts(first[0] == 1, first[1]) == pytest.approx((30, 100), rel=0.02)


def test_by_hand_with_clusters():
    # Two clusters of two rows in either set, each of one category: 6 ways to choose two of four
    # clusters, of which 2 set the categories as far apart
    first, second = (np.zeros(4, int), np.repeat([0, 1], 2)), (np.ones(4, int), [2, 2, 3, 3])
    second = second[0], np.array(second[1])
    p = clustered_p_values(first, second, categories=2, permutations=9_999)
    assert p == pytest.approx(1 / 3, abs=0.02)
    # Rows by themselves: 2 of 70 ways
    assert exact_p_value(4, 4, 0, 4) == pytest.approx(2 / 70)


def test_clusters_of_both_sets_change_sides():
    # Of 10 prompts, each with one row of either set, 9 differ in one direction: 2·(10 + 1)/1024
    first = np.array([1] * 9 + [0]), np.arange(10)
    second = np.array([0] * 9 + [1]), np.arange(10)
    p = clustered_p_values(first, second, categories=2, permutations=40_000)
    assert p == pytest.approx(22 / 1024, abs=0.003)


def test_sides_may_be_swapped_with_clusters():
    rng = np.random.default_rng(3)
    first, second = grouped(rng, [5] * 30, 0.2), grouped(rng, [4] * 25, 0.2, first=20)
    ways = (first, second), (second, first)
    p = [clustered_p_values(*way, categories=2, permutations=5_000, seed=1) for way in ways]
    assert p[0] == pytest.approx(p[1], abs=0.03)
    again = clustered_p_values(first, second, categories=2, permutations=5_000, seed=1)
    assert (again == p[0]).all()


def test_a_single_cluster_tells_nothing():
    one = np.zeros(5, int), np.zeros(5, int)
    assert (clustered_p_values(one, one, categories=1) == 1).all()
    assert effective_counts(np.ones(5, bool), np.zeros(5, int)) == (1, 1)
    assert effective_counts(np.zeros(6, bool), np.repeat([0, 1], 3)) == (0, 2)


def test_the_design_effect_by_hand():
    inside = np.array([1, 1, 0, 0, 1, 1, 0, 0, 0, 0], bool)
    x, n = effective_counts(inside, np.repeat(np.arange(5), 2))
    # 5/4 · (2·1.2² + 3·0.8²) / (10 · 0.4 · 0.6)
    effect = 5 / 4 * (2 * 1.2**2 + 3 * 0.8**2) / 2.4
    assert (x, n) == pytest.approx((4 / effect, 10 / effect))


@pytest.mark.slow
@pytest.mark.parametrize("shared", [False, True])
def test_few_are_significant_where_both_sets_are_alike_in_clusters(shared):
    rng, found, plain = np.random.default_rng(7), [], []
    for _ in range(400):
        sizes = rng.integers(2, 12, 40)
        labels, clusters = grouped(rng, sizes, 0.25)
        if shared:  # rows of one cluster are dealt to both sets
            side = rng.random(len(labels)) < 0.5
        else:
            side = np.isin(clusters, rng.permutation(40)[:20])
        sets = [(labels[own], clusters[own]) for own in (side, ~side)]
        found.append(clustered_p_values(*sets, categories=2, permutations=399)[0] < 0.05)
        (x, n), (y, m) = ((int(own.sum()), len(own)) for own, _ in sets)
        plain.append(exact_p_value(x, n, y, m) < 0.05)
    assert np.mean(found) < 0.08
    assert shared or np.mean(plain) > 0.1  # that rows are not independent must not be overlooked
