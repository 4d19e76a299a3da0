"""The ceiling: by hand and by enumeration, laws, bounds, and coverage in simulated crowds."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from calipers.errors import InputError
from calipers.uncertainty import ceiling as module
from calipers.uncertainty.bradley_terry_fits import DIGITS, BradleyTerryFits
from calipers.uncertainty.ceiling import ceiling, ceilings, ratings_ceilings
from calipers.uncertainty.correlation import correlate_rows
from calipers.uncertainty.rated_pairs import RatedPairs, count_rated_pairs


@pytest.fixture(scope="module")
def crowds(experiments):
    """The script that draws crowds."""
    import crowds

    return crowds


TABLE = np.array([[1.0, 2, 4], [1, 3, 2], [2, 1, 5], [3, 4, 9]])
"""Four raters of three systems."""


def columns(table):
    raters, systems = np.indices(table.shape)
    return systems.ravel(), raters.ravel(), table.ravel()


def scores_of(wins):
    """Scores of tables of wins ``(tables, n, n)`` in which all systems may have met."""
    low, high = np.triu_indices(wins.shape[-1], 1)
    fits = BradleyTerryFits.of(wins.shape[-1], low, high)
    return fits.scores(np.concatenate([wins[:, low, high], wins[:, high, low]], axis=1))


def test_ratings_by_enumeration():
    # Four raters can be halved in three ways, all as likely
    halves = [((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2))]
    found = [
        np.corrcoef(*(TABLE[list(half)].mean(axis=0) for half in both))[0, 1] for both in halves
    ]
    half = float(np.mean(found))
    asked = ratings_ceilings(*columns(TABLE), splits=4000, draws=2)["pearson"]
    assert asked.half == pytest.approx(half, abs=0.02)
    assert asked.value == pytest.approx(2 * asked.half / (1 + asked.half))
    assert asked.attainable == pytest.approx(math.sqrt(asked.value))
    assert (asked.unit, asked.units, asked.systems) == ("raters", 4, 3)
    assert asked.interval[0] <= asked.value <= asked.interval[1]


def test_scores_of_a_half_by_a_general_search():
    """Wins, and a tie of every system with one of score 0."""
    wins = np.array([[0, 5.5, 2], [1.5, 0, 3], [1, 0, 0]])

    def against(theta):
        apart = np.subtract.outer(theta, theta)
        own = np.log(expit(theta)).sum() + np.log(expit(-theta)).sum()
        return -float((wins * np.log(expit(apart))).sum()) - own / 2

    best = minimize(against, np.zeros(3), tol=1e-12).x
    found = scores_of(np.stack([wins, 2 * wins]))
    assert found[0] == pytest.approx(best - best.mean(), abs=1e-5)
    assert found.mean(axis=1) == pytest.approx([0, 0], abs=10**-DIGITS)


def test_systems_alike_are_equal_in_whatever_order_they_come():
    """Else rounding would rank them, and a ceiling would depend on the processor."""
    rng = np.random.default_rng(0)
    wins = rng.integers(0, 4, (500, 5, 5)) / 2 * (rng.random((500, 5, 5)) < 0.5)
    wins[:, np.arange(5), np.arange(5)] = 0
    found = scores_of(wins)
    for _ in range(5):
        order = rng.permutation(5)
        other = scores_of(wins[:, order][:, :, order])
        np.testing.assert_array_equal(other, found[:, order])
    wins[:, 1] = wins[:, 0]
    wins[:, :, 1] = wins[:, :, 0]
    wins[:, :2, :2] = 0
    assert (np.ptp(scores_of(wins)[:, :2], axis=1) == 0).all()


@pytest.mark.parametrize("design", ["baselines", "two groups", "chain"])
def test_scores_are_the_same_whatever_pairs_are_known_to_meet(design):
    """Systems that never met are eliminated first; a table with all pairs has them as zeros."""
    rng = np.random.default_rng(7)
    low, high = {
        "baselines": (np.array([0, 0, 0, 1, 1]), np.array([2, 3, 4, 4, 5])),
        "two groups": (np.array([0, 0, 1, 3]), np.array([1, 2, 2, 4])),
        "chain": (np.arange(6), np.arange(1, 7)),
    }[design]
    n = int(high.max()) + 1
    wins = np.zeros((50, n, n))
    wins[:, low, high] = rng.integers(0, 9, (50, len(low)))
    wins[:, high, low] = rng.integers(0, 9, (50, len(low)))
    fits = BradleyTerryFits.of(n, low, high)
    assert len(fits.apart) > 1
    sparse = np.concatenate([wins[:, low, high], wins[:, high, low]], axis=1)
    np.testing.assert_allclose(fits.scores(sparse), scores_of(wins), atol=2 * 10**-DIGITS)
    start = rng.normal(size=(1, n))
    np.testing.assert_allclose(fits.scores(sparse, start), scores_of(wins), atol=2 * 10**-DIGITS)


def test_an_order_of_random_numbers_is_theirs():
    keys = np.random.default_rng(3).random(70_000)
    # Many alike in their first 32 bits, some in a row
    keys[1::2] = keys[::2] + 2.0**-40
    keys[2::4] = keys[1::4] + 2.0**-41
    keys = np.random.default_rng(4).permutation(keys % 1)
    np.testing.assert_array_equal(keys[module._order(keys)], np.sort(keys))


def crowd_of_one_mind(raters=6):
    rows = [(a, b, "a", f"r{r}") for r in range(raters) for a, b in ("xy", "yz", "xz", "zw", "yw")]
    a, b, answer, rater = zip(*rows, strict=True)
    return count_rated_pairs(a, b, answer, rater=rater)


def test_a_crowd_of_one_mind_agrees():
    for kind in ("spearman", "pearson"):
        found = ceiling(crowd_of_one_mind(), correlation=kind, splits=20, draws=20)
        assert found.value == pytest.approx(1)
        assert found.half == pytest.approx(1)
        assert found.interval[0] > 0.999


def test_both_correlations_at_once_are_those_of_each_alone(crowds):
    pairs = crowds.draw_pairs(np.random.default_rng(8), crowds.CROWDS[4], 12, 300)
    both = ceilings(pairs, splits=20, draws=20)
    for kind in ("spearman", "pearson"):
        assert both[kind] == ceiling(pairs, correlation=kind, splits=20, draws=20)


def test_a_crowd_that_guesses_does_not(crowds):
    rng = np.random.default_rng(0)
    pairs = crowds.draw_pairs(rng, crowds.CROWDS[0], 30, 600)
    pairs = replace(pairs, outcome=rng.choice([-1, 1], 600))
    found = ceiling(pairs, splits=50, draws=60)
    low, high = found.interval
    assert low < 0 < high
    assert found.value < 0.6
    assert found.attainable == pytest.approx(math.sqrt(max(found.value, 0)))


def test_columns_of_systems_and_order_of_rows_do_not_matter(crowds):
    rng = np.random.default_rng(1)
    pairs = crowds.draw_pairs(rng, crowds.CROWDS[4], 12, 300)
    turned = replace(pairs, i=pairs.j, j=pairs.i, outcome=-pairs.outcome, first=-pairs.first)
    turned = turned.select(rng.permutation(300))
    one, other = (ceiling(each, splits=20, draws=20) for each in (pairs, turned))
    assert one.value == pytest.approx(other.value)
    assert one.interval == pytest.approx(other.interval)
    assert ceiling(pairs, splits=20, draws=20) == one
    assert ceiling(pairs, splits=20, draws=20, seed=1) != one


def test_systems_can_be_left_out(crowds):
    pairs = crowds.draw_pairs(np.random.default_rng(2), crowds.CROWDS[0], 12, 600)
    some = ceiling(pairs, systems=crowds.NAMES[1:], splits=20, draws=5)
    assert some.systems == 8
    with pytest.raises(InputError, match="unknown system 'human2'"):
        ceiling(pairs, systems=["human2"])


def test_judgements_are_halved_where_raters_are_few():
    pairs = crowd_of_one_mind(3)
    found = ceiling(pairs, splits=5, draws=2)
    assert (found.unit, found.units) == ("judgements", 15)
    nobody = replace(pairs, raters=(), rater=np.full(15, -1))
    assert ceiling(nobody, splits=5, draws=2).unit == "judgements"
    system, _, rating = columns(TABLE)
    assert (
        ratings_ceilings(system, None, rating, splits=5, draws=2)["spearman"].unit == "judgements"
    )


def test_reasons_and_refusals():
    two = count_rated_pairs(["x"] * 8, ["y"] * 8, ["a"] * 8, rater=list("abcdabcd"))
    assert ceiling(two).reason == "at least 3 systems are needed"
    none = two.select(np.zeros(8, dtype=bool))
    assert ceiling(none).reason == "there are no judgements"
    assert math.isnan(ceiling(none).value)
    assert ceiling(none).interval is None
    constant = ratings_ceilings(*columns(np.ones((4, 3))))["spearman"]
    assert "scores that differ" in constant.reason
    with pytest.raises(InputError, match="correlation 'kendall'"):
        ceiling(two, correlation="kendall")
    with pytest.raises(InputError, match=r"splits .*at least 1"):
        ceiling(two, splits=0)
    with pytest.raises(InputError, match="ratings must be finite"):
        ratings_ceilings([0, 1], None, [1.0, math.nan])
    with pytest.raises(InputError, match="one value for each rating"):
        ratings_ceilings([0, 1], None, [1.0])
    with pytest.raises(InputError, match="rater must have one value"):
        ratings_ceilings([0, 1], [0], [1.0, 2.0])


@pytest.mark.slow
def test_a_crowd_as_large_as_the_published_one_takes_seconds(crowds):
    pairs = crowds.draw_pairs(np.random.default_rng(3), crowds.CROWDS[5], 214, 36 * 90)
    start = time.process_time()
    ceiling(pairs)
    assert time.process_time() - start < 5


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["alike", "all of these"])
def test_the_value_is_what_two_crowds_would_have(crowds, kind):
    (crowd,) = (crowd for crowd in crowds.CROWDS if crowd.name == kind)

    def scores(seed):
        drawn: RatedPairs = crowds.draw_pairs(np.random.default_rng([4, seed]), crowd, 60, 1200)
        wins = drawn.preferences.wins + drawn.preferences.ties / 2
        return scores_of(wins[None])[0]

    many = np.array([scores(seed) for seed in range(300)])
    between = float(correlate_rows("pearson", many[::2], many[1::2]).mean())
    mean = np.broadcast_to(many.mean(axis=0), many.shape)
    best = float(correlate_rows("pearson", many, mean).mean())
    found = [
        ceiling(
            crowds.draw_pairs(np.random.default_rng([5, seed]), crowd, 60, 1200),
            correlation="pearson",
            splits=50,
            draws=60,
        )
        for seed in range(60)
    ]
    assert np.mean([one.value for one in found]) == pytest.approx(between, abs=0.04)
    assert np.mean([one.attainable for one in found]) == pytest.approx(best, abs=0.03)
    inside = [one.interval[0] <= between <= one.interval[1] for one in found]
    assert np.mean(inside) >= 0.9
