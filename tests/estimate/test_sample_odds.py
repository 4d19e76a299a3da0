"""Precision-recall curves by classifiers: least cost over thresholds, ends, and halves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from calipers.curves import precision_recall_curve
from calipers.errors import InputError
from calipers.estimate import SampleOdds, sample_odds
from calipers.estimate.classifier import assign_folds
from calipers.metrics import support

ODDS = st.lists(
    st.one_of(st.integers(-3, 3).map(float), st.sampled_from([-np.inf, np.inf])),
    min_size=1,
    max_size=9,
)
SLOPES = np.tan(np.linspace(1e-10, np.pi / 2 - 1e-10, 1001))


def least_cost(reference, generated, slopes):
    """min over thresholds of λ · (reference below) + (generated from there on), as shares."""
    levels = np.unique(np.concatenate([reference, generated]))
    costs = [np.ones(len(slopes)), slopes]  # everything is called real, or nothing
    for level in levels:
        missed, false = np.mean(reference < level), np.mean(generated >= level)
        costs.append(slopes * missed + false)
    return np.min(costs, axis=0)


@given(ODDS, ODDS)
def test_the_curve_is_the_least_cost_over_all_thresholds(reference, generated):
    reference, generated = np.array(reference), np.array(generated)
    curve = precision_recall_curve(SampleOdds(reference, generated))
    expected = least_cost(reference, generated, SLOPES)
    np.testing.assert_allclose(curve.precision, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(curve.recall, expected / SLOPES, rtol=1e-9, atol=1e-9)
    rates = [np.mean(reference >= at) - np.mean(generated >= at) for at in (*reference, *generated)]
    assert curve.total_variation == pytest.approx(max(0.0, *rates), abs=1e-12)


@given(ODDS, ODDS)
def test_swapping_the_sides_swaps_precision_and_recall(reference, generated):
    one = precision_recall_curve(SampleOdds(np.array(reference), np.array(generated)))
    two = precision_recall_curve(SampleOdds(-np.array(generated), -np.array(reference)))
    np.testing.assert_allclose(one.precision, two.recall[::-1], rtol=1e-6, atol=1e-9)
    assert one.area() == pytest.approx(two.area(), abs=1e-9)


def test_a_curve_by_hand():
    # Odds of the reference 3, 2, 0 and of the generated set 2, 1, 1. Called real from 2 on, 1/3 of
    # the reference is missed and 1/3 of the generated set is called real: α(1) = 2/3. From 3 on,
    # 2/3 is missed and nothing called real: α(1/2) = min(1/2, 1/6 + 1/3, 1/3) = 1/3.
    odds = SampleOdds(np.array([3.0, 2.0, 0.0]), np.array([2.0, 1.0, 1.0]))
    curve = precision_recall_curve(odds)
    assert curve.total_variation == pytest.approx(1 / 3)
    half = int(np.argmin(np.abs(SLOPES - 0.5)))
    assert curve.precision[half] == pytest.approx(SLOPES[half] * 2 / 3)
    assert np.isnan(curve.max_precision)
    assert "mass everywhere" in curve.reason
    # Up to slope 1 it is the line at β = 2/3, from 2 on that at α = 1; between them α = (λ + 1)/3
    # and β = α/λ lie on (α - 1/3)(β - 1/3) = 1/9, with 1/18 + log(2)/9 below it from β = 1/2 to 2/3
    assert curve.area() == pytest.approx(1 / 2 + 1 / 18 + np.log(2) / 9, abs=1e-4)


def shoelace(corners):
    x, y = np.array([(0, 0), *corners]).T
    return abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2


@pytest.fixture(scope="module")
def sets():
    rng = np.random.default_rng(2)
    return rng.standard_normal((70, 6)), rng.standard_normal((60, 6)) * 0.8 + 0.3


@pytest.mark.parametrize("ties", ["closed", "open"])
@pytest.mark.parametrize("distance", ["euclidean", "cosine"])
def test_in_sample_ends_are_precision_recall_and_coverage(sets, ties, distance):
    same = {"k": 3, "ties": ties, "distance": distance}
    both, swapped = support(*sets, **same), support(*sets[::-1], **same)
    balls = precision_recall_curve(sample_odds(*sets, "support", held_out=False, **same))
    near = precision_recall_curve(sample_odds(*sets, "coverage", held_out=False, **same))
    assert (balls.max_precision, balls.max_recall) == (both.precision.value, both.recall.value)
    assert (near.max_precision, near.max_recall) == (swapped.coverage.value, both.coverage.value)


def test_on_a_grid_of_ties_the_ends_are_precision_and_recall():
    rng = np.random.default_rng(0)
    sets = rng.integers(0, 3, (40, 2)).astype(float), rng.integers(0, 4, (50, 2)).astype(float)
    for ties in ("closed", "open"):
        expected = support(*sets, k=2, ties=ties)
        ends = sample_odds(*sets, "support", k=2, ties=ties, held_out=False).ends
        assert ends == (expected.precision.value, expected.recall.value)


@pytest.mark.parametrize("family", ["support", "coverage"])
def test_in_sample_odds_equal_plain_counts(sets, family):
    k, odds = 3, sample_odds(*sets, family, k=3, held_out=False)
    train = np.concatenate(sets)
    n, distance = len(sets[0]), np.linalg.norm(train[:, None] - train[None], axis=2)
    np.fill_diagonal(distance, np.inf)
    sides = np.arange(len(train)) < n, np.arange(len(train)) >= n
    counts = []
    for row in range(len(train)):
        count = []
        for side, other in (sides, sides[::-1]):
            radius = (
                np.array([np.sort(distance[owner, side])[k - 1] for owner in np.flatnonzero(side)])
                if family == "support"
                else np.sort(distance[row, other])[k - 1]
            )
            count.append((distance[row, side] <= radius).sum() + side[row])
        counts.append(count)
    counts = np.array(counts)
    with np.errstate(divide="ignore"):
        expected = np.log(counts[:, 0] / n) - np.log(counts[:, 1] / (len(train) - n))
    np.testing.assert_allclose(np.concatenate([odds.log_reference, odds.log_generated]), expected)


def test_answers_to_one_prompt_are_no_neighbours_in_sample(sets):
    prompts = np.arange(70) // 2, np.arange(60) // 2
    expected = within_prompts_ends(sets, prompts)
    assert sample_odds(*sets, "support", k=3, held_out=False, prompts=prompts).ends == expected


def within_prompts_ends(sets, prompts):
    ends = []
    for owners, guests, own, other in (
        (*sets, *prompts),
        (*sets[::-1], *prompts[::-1]),
    ):
        within = np.linalg.norm(owners[:, None] - owners[None], axis=2)
        within[own[:, None] == own[None]] = np.inf
        across = np.linalg.norm(guests[:, None] - owners[None], axis=2)
        across[other[:, None] == own[None]] = np.inf
        ends.append(float((across <= np.sort(within, axis=1)[:, 2]).any(axis=1).mean()))
    return tuple(ends)


FAMILIES = ("support", "coverage", "knn", "kde", "classifier")


@pytest.mark.parametrize("family", FAMILIES)
def test_a_sample_is_judged_by_the_other_half_alone(sets, family):
    # Axes and scale are those of both halves, so the moved row keeps the moments: it is swapped
    rng = np.random.default_rng(5)
    sets = tuple(np.concatenate([side, rng.standard_normal((60, 6))]) for side in sets)
    before = sample_odds(*sets, family)
    folds = assign_folds(*sets, folds=2, seed=0)
    mine = np.flatnonzero(folds[0] == folds[0][0])
    assert len(mine) > 30
    odds = before.log_reference
    train = sets[0][folds[0] != folds[0][0]], sets[1][folds[1] != folds[0][0]]
    if family == "support":
        k = round((min(map(len, sets)) / 2) ** 0.5)
        counts = []
        for rows in train:
            radius = np.sort(np.linalg.norm(rows[:, None] - rows[None], axis=2), axis=1)[:, k]
            counts.append(np.mean(np.linalg.norm(rows - sets[0][0], axis=1) <= radius))
        with np.errstate(divide="ignore"):
            assert odds[0] == pytest.approx(np.log(counts[0]) - np.log(counts[1]))
    moved = [side.copy() for side in sets]
    moved[0][mine[1]], moved[0][mine[2]] = sets[0][mine[2]], sets[0][mine[1]]
    again = sample_odds(*moved, family)
    np.testing.assert_allclose(again.log_reference[0], odds[0], rtol=1e-9)
    np.testing.assert_allclose(again.log_reference[mine[1]], odds[mine[2]], rtol=1e-6, atol=1e-9)


def true_curve(gap):
    """α(λ) of N(0, 1) and N(gap, 1), whose likelihood ratio falls with x."""
    limit = (np.log(SLOPES) + gap**2 / 2) / gap
    return SLOPES * norm.sf(limit) + norm.cdf(limit - gap)


def test_true_odds_give_the_closed_form_of_two_gaussians():
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal(40_000), rng.standard_normal(40_000) + 1
    curve = precision_recall_curve(SampleOdds(-x, -y))
    errors = (curve.precision - true_curve(1.0)) / np.maximum(SLOPES, 1)
    assert np.abs(errors).max() < 0.01
    expected = shoelace(np.stack([true_curve(1.0) / SLOPES, true_curve(1.0)], axis=1))
    assert curve.area() == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(
    ("family", "above"), [("knn", 0.06), ("kde", 0.06), ("classifier", 0.02), ("coverage", 0.06)]
)
def test_held_out_curves_of_two_gaussians_are_near_the_closed_form(family, above):
    # Less than the true gap is seen, never much more: what no classifier of the family can tell
    rng = np.random.default_rng(3)
    curves = []
    for seed in range(4):
        x, y = rng.standard_normal((2, 1000, 5))
        y[:, 0] += 1
        curves.append(precision_recall_curve(sample_odds(x, y, family, seed=seed)).precision)
    gap = np.mean(curves, axis=0) - true_curve(1.0)
    assert gap.max() < above
    assert gap.min() > -0.03


@pytest.mark.parametrize("family", FAMILIES)
def test_equal_distributions_come_near_the_corner(family):
    x, y = np.random.default_rng(4).standard_normal((2, 600, 4))
    curve = precision_recall_curve(sample_odds(x, y, family))
    assert curve.area() > 0.97
    assert curve.f_beta(8) > 0.97
    if family in ("support", "coverage", "knn"):
        assert min(curve.max_precision, curve.max_recall) > 0.9


def test_what_is_left_out_is_not_judged():
    odds = SampleOdds(
        np.array([1.0, 2.0]), np.array([0.0, 1.0]), np.array([True, False]), np.array([True, True])
    )
    less = odds.without("reference", np.array([False, True]))
    assert less.log_reference.tolist() == [1.0]
    assert less.ends == (1.0, 1.0)
    assert odds.ends == (1.0, 0.5)


def test_whole_prompts_are_dealt_to_a_half(sets):
    prompts = np.arange(70) // 2, np.arange(60) // 2
    folds = assign_folds(*sets, folds=2, seed=0, prompts=prompts)
    assert all(np.array_equal(side[::2], side[1::2]) for side in folds)
    one = sample_odds(*sets, "knn", k=9, prompts=prompts)
    train = np.concatenate([side[fold == 1] for side, fold in zip(sets, folds, strict=True)])
    row = int(np.flatnonzero(folds[0] == 0)[0])
    first = np.argsort(np.linalg.norm(train - sets[0][row], axis=1))[:9]
    n = int((folds[0] == 1).sum())
    near = (first < n).sum() / n, (first >= n).sum() / (len(train) - n)
    with np.errstate(divide="ignore"):
        assert one.log_reference[row] == pytest.approx(np.log(near[0]) - np.log(near[1]))


def test_bad_input_is_refused(sets):
    with pytest.raises(InputError, match="'knn' judges held-out samples alone"):
        sample_odds(*sets, "knn", held_out=False)
    with pytest.raises(InputError, match="k must be at most 59"):
        sample_odds(*sets, "support", k=60, held_out=False)
    with pytest.raises(InputError, match="k must be at most 29"):
        sample_odds(*sets, "coverage", k=30)
    with pytest.raises(InputError, match="k must be at most 65, the rows of both training sets"):
        sample_odds(*sets, "knn", k=66)
    with pytest.raises(InputError, match="family"):
        sample_odds(*sets, "forest")
    with pytest.raises(InputError, match="odds of the generated samples"):
        SampleOdds(np.zeros(2), np.array([np.nan]))
    with pytest.raises(InputError, match="at least two rows"):
        sample_odds(sets[0][:1], sets[1], "classifier")
