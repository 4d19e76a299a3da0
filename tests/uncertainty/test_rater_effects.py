"""Scores with effects of raters: by hand, by brute force, laws, and known raters found again."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import logsumexp

from calipers.errors import InputError
from calipers.uncertainty.bradley_terry import fit_bradley_terry
from calipers.uncertainty.davidson import outcomes
from calipers.uncertainty.rated_pairs import RatedPairs
from calipers.uncertainty.rater_effects import fit_rater_effects
from calipers.uncertainty.rater_effects_fit import TYPICAL_SPREAD


def judged(names, i, j, outcome, rater, first):
    columns = [np.array(column, dtype=np.int64) for column in (i, j, outcome, rater, first)]
    raters = tuple(f"r{number}" for number in range(int(columns[3].max()) + 1))
    unknown = np.full_like(columns[0], -1)
    return RatedPairs(names, raters, (), *columns, unknown, np.zeros_like(unknown))


def crowd(rng, theta, sharp, side, tie, answers):
    """Judgements of raters of known parameters, so many of each."""
    n, raters = len(theta), len(sharp)
    rater = np.repeat(np.arange(raters), answers)
    i = rng.integers(0, n, len(rater))
    j = (i + rng.integers(1, n, len(rater))) % n
    first = rng.choice([-1, 1], len(rater))
    odds = sharp[rater] * (theta[i] - theta[j]) + side[rater] * first
    weights = np.exp(np.column_stack([odds / 2, np.broadcast_to(tie, raters)[rater], -odds / 2]))
    chances = (weights / weights.sum(axis=1, keepdims=True)).cumsum(axis=1)
    outcome = 1 - (rng.random(len(rater))[:, None] > chances).sum(axis=1).clip(max=2)
    return judged(tuple("pqrstuvw"[:n]), i, j, outcome, rater, first)


def test_one_rater_by_hand():
    # x first: preferred 8 times of 10; y first: x preferred 4 times of 10. The log odds are d + b
    # and d − b, so that both fit exactly, with variances 1/8 + 1/2 and 1/4 + 1/6.
    outcome = [1] * 8 + [-1] * 2 + [1] * 4 + [-1] * 6
    pairs = judged(("x", "y"), [0] * 20, [1] * 20, outcome, [0] * 20, [1] * 10 + [-1] * 10)
    found = fit_rater_effects(pairs)
    with_x, with_y = math.log(8 / 2), math.log(4 / 6)
    error = math.sqrt(1 / 8 + 1 / 2 + 1 / 4 + 1 / 6) / 2
    apart = found.difference("x", "y")
    assert apart.value == pytest.approx(100 * (with_x + with_y) / 2, rel=1e-5)
    assert apart.standard_error == pytest.approx(100 * error, rel=1e-5)
    assert found.side_bias == pytest.approx((with_x - with_y) / 2, rel=1e-5)
    reach = 1.959963984540054 * error
    low, high = found.side_bias_interval
    assert (low, high) == pytest.approx((found.side_bias - reach, found.side_bias + reach))
    (rater,) = found.raters
    assert (rater.name, rater.answers) == ("r0", 20)
    assert rater.side_bias == pytest.approx(found.side_bias)
    assert math.isnan(rater.discrimination)
    assert rater.discrimination_interval is None
    assert not found.clustered
    assert "one rater answered all" in found.left_out[0]


def test_one_rater_who_shows_no_sides_is_the_plain_fit():
    rng = np.random.default_rng(0)
    pairs = crowd(rng, np.array([0.8, 0.0, -0.8]), np.ones(1), np.zeros(1), 0.0, 90)
    pairs = replace(pairs, first=np.zeros(90, dtype=np.int64))
    for ties in ("davidson", "half", "drop"):
        plain = fit_bradley_terry(pairs.preferences, ties=ties)
        found = fit_rater_effects(pairs, ties=ties)
        assert found.scores == pytest.approx(plain.scores, abs=1e-4)
        assert found.covariance == pytest.approx(plain.covariance, rel=1e-4)
        assert found.log_likelihood == pytest.approx(plain.log_likelihood)
        assert found.comparisons == plain.comparisons
    assert len(found.left_out) == 2
    assert "side bias is left out" in found.left_out[1]


def test_what_cannot_be_told_is_left_out():
    rng = np.random.default_rng(1)
    pairs = crowd(rng, np.array([0.8, 0.0, -0.8]), np.ones(4), np.zeros(4), 0.0, 30)
    nobody = replace(pairs, raters=(), rater=np.full(120, -1))
    found = fit_rater_effects(nobody)
    assert found.raters == ()
    assert math.isnan(found.discrimination_spread)
    assert found.left_out == (
        "the raters are unknown: differences between raters cannot be estimated",
    )
    aliased = fit_rater_effects(replace(pairs, first=np.where(pairs.i < pairs.j, 1, -1)))
    assert "the same was always shown first" not in "".join(aliased.left_out)
    two = pairs.select((pairs.i < 2) & (pairs.j < 2))
    two = replace(two, names=("p", "q"), first=np.where(two.i < two.j, 1, -1))
    aliased = fit_rater_effects(two)
    assert "the same was always shown first" in "".join(aliased.left_out)
    assert math.isnan(aliased.side_bias)
    assert aliased.side_bias_interval is None


@pytest.mark.slow
def test_the_likelihood_by_brute_force():
    """Discrimination alone: integrated on a fine grid, and its summit found by a general search."""
    rng = np.random.default_rng(2)
    sharp = np.exp(np.array([1.0, 0.5, 0, -0.5, -1.0, 0.3, -0.3, 0.8]))
    pairs = crowd(rng, np.array([1.2, 0.0, -1.2]), sharp, np.zeros(8), -99.0, 40)
    pairs = replace(pairs, first=np.zeros(len(pairs), dtype=np.int64))
    grid = np.linspace(-5, 5, 201)

    def likelihood(x):
        theta, log_spread = np.array([x[0], x[1], -x[0] - x[1]]), x[2]
        spread = math.exp(log_spread)
        odds = np.exp(grid)[None, :] * (theta[pairs.i] - theta[pairs.j])[:, None]
        logs = outcomes(odds, -math.inf, pairs.outcome[:, None]).log_chance
        by_rater = np.array([logs[pairs.rater == r].sum(axis=0) for r in range(8)])
        normal = -((grid / spread) ** 2) / 2 - log_spread - math.log(2 * math.pi) / 2
        return float(logsumexp(by_rater + normal, axis=1).sum()) + 8 * math.log(grid[1] - grid[0])

    def against(x):
        spread = math.exp(x[2])
        prior = x[2] - (spread / TYPICAL_SPREAD[0]) ** 2 / 2
        return -likelihood(x) - prior

    best = minimize(against, [1.0, 0.0, -0.5], method="Nelder-Mead", options={"fatol": 1e-9})
    found = fit_rater_effects(pairs)
    assert found.scores[:2] / 100 == pytest.approx(best.x[:2], abs=0.01)
    assert math.log(found.discrimination_spread) == pytest.approx(best.x[2], abs=0.02)
    assert found.log_likelihood == pytest.approx(likelihood(best.x), abs=0.02)


@settings(max_examples=6)
@given(st.integers(0, 1000))
def test_laws(seed):
    """Order of rows and raters, the columns of systems, and the unit of scores: no matter."""
    rng = np.random.default_rng(seed)
    sharp = np.exp(0.4 * rng.standard_normal(6))
    pairs = crowd(rng, np.array([0.7, 0.0, -0.7]), sharp, rng.normal(0.3, 0.3, 6), -1.0, 20)
    found = fit_rater_effects(pairs)
    assert found.scores.mean() == pytest.approx(0, abs=1e-9)
    assert found.covariance.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-6)
    order = rng.permutation(6)
    turned = replace(
        pairs,
        raters=tuple(pairs.raters[place] for place in np.argsort(order)),
        i=pairs.j,
        j=pairs.i,
        outcome=-pairs.outcome,
        first=-pairs.first,
        rater=order[pairs.rater],
    ).select(rng.permutation(len(pairs)))
    again = fit_rater_effects(turned, scale=1.0)
    assert again.scores * 100 == pytest.approx(found.scores, abs=1e-3)
    assert again.intervals * 100 == pytest.approx(found.intervals, abs=1e-2)
    mine = {rater.name: rater for rater in found.raters}
    for rater in again.raters:
        assert rater.discrimination == pytest.approx(mine[rater.name].discrimination, rel=1e-4)
        assert rater.side_bias == pytest.approx(mine[rater.name].side_bias, abs=1e-4)
        assert rater.answers == mine[rater.name].answers


def test_swapped_sides_turn_the_side_bias():
    rng = np.random.default_rng(5)
    pairs = crowd(rng, np.array([0.7, 0.0, -0.7]), np.ones(6), np.full(6, 0.6), -1.0, 30)
    found = fit_rater_effects(pairs)
    swapped = fit_rater_effects(replace(pairs, first=-pairs.first))
    assert found.side_bias == pytest.approx(-swapped.side_bias, abs=1e-5)
    assert found.scores == pytest.approx(swapped.scores, abs=1e-3)


def test_a_judge_who_follows_the_first_side_and_one_who_guesses_are_exposed():
    rng = np.random.default_rng(6)
    sharp = np.append(np.ones(10), [0.0, 2.5])
    side = np.append(np.zeros(10), [0.0, 2.0])
    theta = np.array([1.0, 0.3, -0.3, -1.0])
    pairs = crowd(rng, theta, sharp, side, -2.0, np.append(np.full(10, 60), [300, 600]))
    found = fit_rater_effects(pairs)
    *people, guesser, judge = found.raters
    assert guesser.discrimination_interval[1] < 0.8
    assert judge.side_bias_interval[0] > 1.2
    assert all(abs(person.side_bias) < judge.side_bias_interval[0] for person in people)
    names = [person.name for person in people]
    ratio, (low, high) = found.relative_discrimination(judge.name, names)
    assert low > 1.5
    assert low < 2.5 < high
    assert low < ratio < high
    inverse, _ = found.relative_discrimination(names[0], [judge.name])
    assert inverse == pytest.approx(people[0].discrimination / judge.discrimination)
    with pytest.raises(InputError, match="unknown rater"):
        found.relative_discrimination("nobody")
    with pytest.raises(InputError, match="relative to other raters"):
        found.relative_discrimination(judge.name, [])


def test_of_few_answers_little_is_told():
    rng = np.random.default_rng(7)
    sharp = np.append(np.ones(8), 3.0)
    pairs = crowd(rng, np.array([1.0, 0.0, -1.0]), sharp, np.zeros(9), -2.0, [80] * 8 + [3])
    last = fit_rater_effects(pairs).raters[-1]
    low, high = last.discrimination_interval
    assert last.answers == 3
    assert low < 1 < high
    assert 0.6 < last.discrimination < 1.8


def test_a_judge_who_always_takes_the_first_is_refused():
    rng = np.random.default_rng(9)
    pairs = crowd(rng, np.array([0.8, 0.0, -0.8]), np.ones(1), np.zeros(1), -2.0, 90)
    for sign, side in ((1, "first"), (-1, "second")):
        with pytest.raises(InputError, match=f"shown {side}: .*finite"):
            fit_rater_effects(replace(pairs, outcome=sign * pairs.first))
    # Beside people it is one of them, and gets a large bias
    pairs = crowd(rng, np.array([0.8, 0.0, -0.8]), np.ones(6), np.zeros(6), -2.0, 40)
    outcome = np.where(pairs.rater == 5, pairs.first, pairs.outcome)
    found = fit_rater_effects(replace(pairs, outcome=outcome))
    assert found.raters[5].side_bias_interval[0] > 1


def test_scores_that_do_not_exist_are_refused_as_by_the_plain_fit():
    pairs = judged(("x", "y"), [0, 0], [1, 1], [1, 1], [0, 1], [1, -1])
    with pytest.raises(InputError, match="no finite scores fit best"):
        fit_rater_effects(pairs)
    pairs = judged(("x", "y"), [0, 0], [1, 1], [1, -1], [0, 1], [1, -1])
    with pytest.raises(InputError, match="level must lie between 0 and 1"):
        fit_rater_effects(pairs, level=1.0)


@pytest.mark.slow
def test_known_raters_are_found_again():
    """Intervals of discriminations and side biases hold what raters were drawn with."""
    theta = np.array([0.9, 0.3, -0.3, -0.9])
    sharp_held, side_held, mean_held = [], [], []
    for seed in range(40):
        rng = np.random.default_rng([8, seed])
        sharp = np.exp(0.5 * rng.standard_normal(15))
        side = rng.normal(0.5, 0.5, 15)
        found = fit_rater_effects(crowd(rng, theta, sharp, side, rng.normal(-1.5, 0.5, 15), 40))
        for rater, a, b in zip(found.raters, sharp, side, strict=True):
            sharp_held.append(rater.discrimination_interval[0] <= a)
            sharp_held[-1] &= a <= rater.discrimination_interval[1]
            side_held.append(rater.side_bias_interval[0] <= b <= rater.side_bias_interval[1])
        mean_held.append(found.side_bias_interval[0] <= 0.5 <= found.side_bias_interval[1])
    assert np.mean(sharp_held) >= 0.93
    assert np.mean(side_held) >= 0.93
    assert np.mean(mean_held) >= 0.88  # of 40: 95 % less two standard errors
