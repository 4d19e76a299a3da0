"""Tests between systems: by hand, by simulation where the null is true, and their laws."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from calipers.uncertainty.differences import Shuffles, difference
from calipers.uncertainty.intervals import quantile
from calipers.uncertainty.spread import Component, Spread, mean_spread

FEW = Shuffles(draws=999)


def compare(first, second, values, *, paired=False, level=0.95, shuffles=FEW):
    return difference(first, second, values, paired=paired, level=level, shuffles=shuffles)


def spread(reference=(), generated=(), seed=(), crossed=0.0):
    """A spread whose score is a sum of means over blocks."""
    given = {"reference": reference, "generated": generated, "seed": seed}
    parts = [Component.of_mean(name, each) for name, each in given.items() if len(each)]
    return Spread(tuple(parts), crossed=crossed)


def drawn(rng, blocks=20, own=1.0, shared=1.0):
    return shared * rng.standard_normal(blocks), own * rng.standard_normal((2, blocks))


def test_error_and_interval_by_hand():
    large, small = np.array([3.0, -3.0]), np.array([1.0, -1.0])
    first = Spread((Component("reference", large), Component("generated", small)))
    second = Spread((Component("reference", small), Component("generated", large)))
    found = compare(first, second, (0.7, 0.5))
    # The reference, shared by both, is subtracted first: (2, -2). What each has of its own adds up
    assert found.value == pytest.approx(0.2)
    assert found.standard_error == pytest.approx(np.sqrt(8 + 2 + 18))
    freedom = 28**2 / (8**2 + 2**2 + 18**2)
    reach = quantile(freedom, 0.95) * np.sqrt(28)
    assert found.interval == pytest.approx((0.2 - reach, 0.2 + reach))
    assert not found.paired
    together = compare(first, second, (0.7, 0.5), paired=True)
    assert together.standard_error == pytest.approx(np.sqrt(8 + 8))
    assert together.paired


def test_what_both_sources_count_is_taken_off_the_shared_one():
    gap = np.array([2.0, -2.0])
    first = Spread((Component("reference", gap), Component("generated", gap)), crossed=1.0)
    second = Spread((Component("reference", 0 * gap), Component("generated", gap)), crossed=2.0)
    assert compare(first, second, (1, 0)).standard_error == pytest.approx(np.sqrt(8 - 3 + 16))
    huge = Spread(second.components, crossed=1e6)  # half of it is kept in any case
    assert compare(first, huge, (1, 0)).standard_error == pytest.approx(np.sqrt(4 + 16))


def test_p_value_by_every_flip(rng, monkeypatch):
    monkeypatch.setattr("calipers.uncertainty.differences.FEW", 0)
    # Nothing but the reference moves: the shuffles are flips of its blocks, 2^8 in all
    blocks = rng.standard_normal(8)
    first, second = spread(reference=blocks), spread(reference=np.zeros(8))
    gaps = first.components[0].deviations
    value = 1.7 * first.standard_error
    flips = np.array(list(product([-1, 1], repeat=8)))
    sums = flips @ gaps
    t = np.sqrt(7 / 8) * sums / np.sqrt(gaps @ gaps - sums**2 / 8)
    found = compare(first, second, (value, 0.0), shuffles=Shuffles(draws=40_000))
    assert found.p_value == pytest.approx(np.mean(np.abs(t) >= 1.7), abs=0.01)


def test_p_value_by_every_swap(rng, monkeypatch):
    monkeypatch.setattr("calipers.uncertainty.differences.FEW", 0)
    one, two = (spread(generated=each) for each in rng.standard_normal((2, 5)))
    pool = np.concatenate([one.components[0].deviations, two.components[0].deviations])
    t = []
    for mine in combinations(range(10), 5):
        left, right = pool[list(mine)], np.delete(pool, mine)
        squares = pool @ pool - left.sum() ** 2 / 5 - right.sum() ** 2 / 5
        t.append(np.sqrt(4 / 5) * (left.sum() - right.sum()) / np.sqrt(squares))
    value = 2.0 * np.hypot(one.standard_error, two.standard_error)
    found = compare(one, two, (value, 0.0), shuffles=Shuffles(draws=40_000))
    assert found.p_value == pytest.approx(np.mean(np.abs(t) >= 2.0), abs=0.01)


@pytest.mark.parametrize("paired", [False, True])
def test_the_order_of_the_systems_turns_the_sign_and_nothing_else(rng, paired):
    shared, own = drawn(rng)
    one, two = (spread(0.5 * i * shared, each, own[0][:5]) for i, each in enumerate(own))
    here = compare(one, two, (0.9, 0.2), paired=paired)
    there = compare(two, one, (0.2, 0.9), paired=paired)
    assert there.value == -here.value
    assert there.standard_error == pytest.approx(here.standard_error)
    assert there.interval == pytest.approx((-here.interval[1], -here.interval[0]))
    assert there.p_value == pytest.approx(here.p_value, abs=0.03)


def test_scale_moves_neither_p_value_nor_its_sign(rng):
    shared, own = drawn(rng)
    one, two = (spread(i * shared, each) for i, each in enumerate(own))
    found = compare(one, two, (0.5, 0.1))
    many = [Spread(tuple(part.times(1e6) for part in each.components)) for each in (one, two)]
    scaled = compare(*many, (5e5, 1e5))
    assert scaled.p_value == found.p_value
    assert scaled.standard_error == pytest.approx(1e6 * found.standard_error)


def under_the_null(rng, worlds, blocks, *, paired, own=(1.0, 1.0)):
    """P-values where both systems score alike: Gaussian blocks of a reference and of samples."""
    found = []
    for _ in range(worlds):
        reference = rng.standard_normal((2, blocks))
        prompts, each = rng.standard_normal(blocks), rng.standard_normal((2, blocks))
        samples = [paired * prompts + size * x for size, x in zip(own, each, strict=True)]
        sides = [spread(x, y) for x, y in zip(reference, samples, strict=True)]
        values = tuple(x.mean() + y.mean() for x, y in zip(reference, samples, strict=True))
        found.append(compare(*sides, values, paired=paired).p_value)
    return np.array(found)


@pytest.mark.parametrize("paired", [False, True])
def test_p_values_are_uniform_where_the_systems_score_alike(rng, paired):
    p_values = under_the_null(rng, 2000, 20, paired=paired)
    ordered = np.sort(p_values)
    gap = np.abs(ordered - (np.arange(2000) + 0.5) / 2000).max()
    assert gap < 1.63 / np.sqrt(2000)  # Kolmogorov and Smirnov, at 1 %
    assert (p_values <= 0.005).sum() <= 20  # 10 expected; both sources flipped alike give over 20


def test_unequal_spreads_keep_the_level(rng):
    p_values = under_the_null(rng, 400, 20, paired=False, own=(0.2, 5.0))
    assert 0.02 <= np.mean(p_values <= 0.05) <= 0.09


def scores_of_files(rng, files, scatter, worlds):
    """P-values between two systems of several files each, which score alike on average."""
    found = []
    for _ in range(worlds):
        values = scatter * rng.standard_normal((2, files, 1)) + rng.standard_normal((2, files, 20))
        sides = [
            mean_spread([spread(generated=each) for each in side], side.mean(axis=1))
            for side in values
        ]
        found.append(compare(*sides, tuple(values.mean(axis=(1, 2)))).p_value)
    return np.array(found)


@pytest.mark.parametrize(("files", "scatter"), [(2, 1.0), (3, 0.0), (3, 1.0), (5, 0.3)])
def test_few_files_keep_the_level_far_out(rng, files, scatter):
    p_values = scores_of_files(rng, files, scatter, 500)
    assert np.mean(p_values <= 0.05) <= 0.08
    assert np.mean(p_values <= 0.01) <= 0.03  # by shuffles alone 5 to 14 %


def test_few_parts_keep_the_level_far_out(rng):
    p_values = []
    for _ in range(1000):
        sides = rng.standard_normal((2, 5))
        parts = [Spread((Component.of_mean("both", each),), approximate=True) for each in sides]
        p_values.append(compare(*parts, tuple(sides.mean(axis=1))).p_value)
    assert np.mean(np.array(p_values) <= 0.01) <= 0.02  # by shuffles alone over 3 %
    assert 0.01 <= np.mean(np.array(p_values) <= 0.05) <= 0.06


def test_few_contributions_have_no_smaller_p_value_than_students_t():
    one, two = (
        Spread((Component.of_mean("both", each),), approximate=True)
        for each in ([1, 2, 3], [0] * 3)
    )
    # No flip of (-1, 0, 1) reaches a t of 6; Student's on 2 degrees has a closed form
    found = compare(one, two, (6 * one.standard_error, 0.0))
    assert found.p_value == pytest.approx(1 - 6 / np.sqrt(2 + 36))


def test_sources_are_flipped_apart(rng):
    # Two shared sources that happen to be equal: flipped together they would look like one of
    # twice the size, with four times the variance in place of twice
    blocks = rng.standard_normal(20)
    one, two = spread(blocks, blocks), spread(np.zeros(20), np.zeros(20))
    value = 1.96 * one.standard_error
    assert compare(one, two, (value, 0.0), paired=True).p_value < 0.09
    assert not np.array_equal(FEW.flips(20), FEW.flips(20, 1))


def test_a_real_difference_is_found_and_pairs_make_it_sharper(rng):
    prompts, noise = 3 * rng.standard_normal(20), 0.3 * rng.standard_normal((2, 20))
    one, two = (spread(generated=prompts + each) for each in noise)
    apart = compare(one, two, (0.5, 0.0))
    together = compare(one, two, (0.5, 0.0), paired=True)
    assert together.standard_error < 0.3 * apart.standard_error
    assert apart.p_value > 0.2
    assert together.p_value < 0.01
    assert (together.paired, apart.paired) == (True, False)


def test_larger_differences_have_smaller_p_values(rng):
    shared, own = drawn(rng)
    one, two = (spread(i * shared, each) for i, each in enumerate(own))
    found = [compare(one, two, (gap, 0.0)).p_value for gap in np.linspace(0, 3, 9)]
    assert found[0] == 1.0
    assert (np.diff(found) <= 0).all()
    assert found[-1] == 1 / 1000  # itself among 999 shuffles: never 0


def test_systems_that_move_alike_and_score_alike():
    same = spread(np.arange(20.0), np.arange(20.0))
    found = compare(same, same, (0.4, 0.4))
    assert (found.value, found.p_value) == (0.0, 1.0)
    paired = compare(same, same, (0.4, 0.4), paired=True)
    assert (paired.standard_error, paired.p_value, paired.interval) == (0.0, 1.0, (0.0, 0.0))


def test_nothing_moves_yet_the_scores_differ():
    still = spread(np.zeros(20), np.zeros(20))
    found = compare(still, still, (1.0, 0.5))
    assert np.isnan(found.p_value)
    assert found.interval == (0.5, 0.5)
    assert compare(Spread(()), Spread(()), (1.0, 1.0)).p_value == 1.0


@pytest.mark.filterwarnings("error")
def test_two_files_that_alone_scatter(rng):
    # Two contributions on a side: many shuffles have no variance of their own
    one = Spread((Component.of_mean("generated", [0.1, 0.3]),))
    two = Spread((Component.of_mean("generated", [0.7, 1.1]),))
    found = compare(one, two, (0.2, 0.9))
    assert 0 < found.p_value <= 1
    single = compare(one, Spread(()), (0.2, 0.9))
    assert 0 < single.p_value <= 1


def test_one_system_has_a_source_that_the_other_lacks(rng):
    blocks = rng.standard_normal(20)
    one, two = spread(blocks, blocks, blocks[:5]), spread(blocks, blocks)
    found = compare(one, two, (1.0, 0.0))
    assert found.standard_error == pytest.approx(
        np.sqrt(sum(part.variance for part in (*one.components[1:], two.components[1])))
    )


def test_blocks_that_do_not_match_are_not_subtracted(rng):
    one, two = spread(generated=rng.standard_normal(20)), spread(generated=rng.standard_normal(3))
    found = compare(one, two, (1.0, 0.0), paired=True)
    assert not found.paired
    assert found.standard_error == pytest.approx(np.hypot(one.standard_error, two.standard_error))


def test_a_seed_decides_and_is_all_that_decides(rng):
    shared, own = drawn(rng)
    one, two = (spread(i * shared, each) for i, each in enumerate(own))
    found = [compare(one, two, (0.4, 0.0), shuffles=Shuffles(s, 999)) for s in (0, 0, 1)]
    assert found[0] == found[1]
    assert found[0].p_value != found[2].p_value


def test_shuffles_are_signs_and_owners():
    shuffles = Shuffles(3, 200)
    np.testing.assert_array_equal(shuffles.flips(6), Shuffles(3, 200).flips(6))
    assert shuffles.flips(6) is shuffles.flips(6)
    assert set(np.unique(shuffles.flips(6))) == {-1.0, 1.0}
    assert abs(shuffles.flips(6).mean()) < 0.1
    swaps = shuffles.swaps(2, 5)
    assert swaps.shape == (200, 7)
    assert (swaps.sum(axis=1) == 2).all()
    assert np.abs(swaps.mean(axis=0) - 2 / 7).max() < 0.12
    np.testing.assert_array_equal(swaps, Shuffles(3, 200).swaps(2, 5))
