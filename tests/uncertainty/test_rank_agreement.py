"""How alike two columns order systems, and what chance would do: by hand, laws, as scipy does."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calipers.uncertainty.correlation import mid_ranks
from calipers.uncertainty.rank_agreement import (
    chance,
    kendall,
    rarely_reached,
    spearman,
    why_undefined,
)

# Few levels, so that ties are common
LEVELS = st.integers(0, 4).map(float)
COLUMNS = st.integers(3, 7).flatmap(
    lambda size: st.tuples(*[st.lists(LEVELS, min_size=size, max_size=size)] * 2)
)


def column(*values):
    return np.array(values, dtype=float)


def test_spearman_and_kendall_by_hand():
    # Ranks 1 2 3 4 5 against 2 1 4 3 5: squared differences 1 1 1 1 0, so 1 - 6·4 / (5·24) = 0.8;
    # of ten pairs two are swapped, so (8 - 2) / 10 = 0.6
    a, b = column(0.1, 0.2, 0.3, 0.4, 0.5), column(0.7, 0.6, 0.9, 0.8, 1.0)
    assert spearman(a, b) == 0.8
    assert kendall(a, b) == 0.6


def test_ties_share_their_mean_rank():
    assert mid_ranks(column(5, 1, 5, 5, 0)).tolist() == [4, 2, 4, 4, 1]
    # Ranks 1.5 1.5 3 against 1 2 3: (0.25 + 0.25 ... ) gives 1.5 / sqrt(1.5 · 2)
    assert spearman(column(1, 1, 2), column(1, 2, 3)) == pytest.approx(1.5 / math.sqrt(3))
    # Two of three pairs agree, one is a tie of the first: 2 / sqrt(2 · 3)
    assert kendall(column(1, 1, 2), column(1, 2, 3)) == pytest.approx(2 / math.sqrt(6))


@given(COLUMNS)
def test_as_scipy_gives_them(columns):
    a, b = map(np.array, columns)
    if why_undefined(a, b) is None:
        assert spearman(a, b) == pytest.approx(stats.spearmanr(a, b).statistic, abs=1e-11)
        assert kendall(a, b) == pytest.approx(stats.kendalltau(a, b).statistic, abs=1e-11)
    else:
        assert math.isnan(spearman(a, b))
        assert math.isnan(kendall(a, b))
        assert math.isnan(chance(a, b))


def same(value, plain, columns):
    """Both are equal, or both undefined where the columns leave nothing to correlate."""
    if why_undefined(*map(np.array, columns)):
        assert np.isnan([value, plain]).all()
    else:
        np.testing.assert_allclose(value, plain, atol=1e-11, equal_nan=False)


@given(COLUMNS, st.randoms(use_true_random=False))
def test_the_order_of_the_systems_does_not_matter(columns, random):
    a, b = map(np.array, columns)
    order = list(range(len(a)))
    random.shuffle(order)
    for measure in (spearman, kendall, chance):
        same(measure(a[order], b[order]), measure(a, b), columns)


@given(COLUMNS)
def test_symmetric_bounded_and_turned_round_by_a_minus(columns):
    a, b = map(np.array, columns)
    for measure in (spearman, kendall):
        plain = measure(a, b)
        same(measure(b, a), plain, columns)
        same(measure(-a, b), -plain, columns)
        same(measure(np.exp(a), 3 * b + 1), plain, columns)
        assert why_undefined(a, b) or -1 <= plain <= 1


@given(COLUMNS)
def test_a_column_with_itself(columns):
    a = np.array(columns[0])
    if np.ptp(a) > 0:
        assert spearman(a, a) == kendall(a, a) == 1.0


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        (column(1, 2), column(1, 2), "ranks of 2 systems cannot correlate; at least 3"),
        (column(1, 1, 1), column(1, 2, 3), "the same value"),
        (column(1, 2, 3), column(1, math.nan, 3), "no value"),
        (column(1, 2, 3), column(1, math.inf, 3), "no value"),
    ],
)
def test_undefined_is_nan_with_a_reason(a, b, reason):
    assert reason in why_undefined(a, b)
    assert math.isnan(spearman(a, b))
    assert math.isnan(kendall(a, b))


def test_chance_is_the_share_of_orders_that_correlate_as_well():
    a = column(1, 2, 3, 4)
    assert chance(a, column(1, 2, 3, 4)) == 1 / 24
    assert chance(a, column(4, 3, 2, 1)) == 1.0
    b = column(1, 2, 4, 3)
    brute = [spearman(a, column(*order)) >= spearman(a, b) for order in permutations(b)]
    assert chance(a, b) == pytest.approx(np.mean(brute))


def test_chance_beyond_eight_systems_is_students():
    a = np.arange(12.0)
    b = np.array([3, 0, 1, 2, 7, 4, 11, 6, 9, 8, 5, 10.0])
    expected = stats.spearmanr(a, b, alternative="greater").pvalue
    assert chance(a, b) == pytest.approx(expected, rel=1e-9)
    assert chance(a, a) == 0.0
    assert chance(a, -a) == pytest.approx(1.0)


def test_what_chance_rarely_reaches():
    # Table values of Spearman's one-sided 5 % limit
    found = [round(rarely_reached(size), 3) for size in (4, 5, 6, 7, 8)]
    assert found == [1.0, 0.9, 0.829, 0.714, 0.643]
    assert math.isnan(rarely_reached(2))
    assert math.isnan(rarely_reached(3))
    assert rarely_reached(9) == pytest.approx(0.582, abs=0.002)
    assert rarely_reached(30) < rarely_reached(12) < rarely_reached(9)
