"""Correlations of columns with errors: by hand, by their laws, and how often intervals cover."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from calipers.errors import InputError
from calipers.uncertainty.bradley_terry import fit_bradley_terry
from calipers.uncertainty.correlation import (
    draw_errors,
    interval_of_errors,
    mid_ranks,
    pearson,
    spearman,
    widened,
)
from calipers.uncertainty.preferences import Preferences


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


@settings(max_examples=40, deadline=None)
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
