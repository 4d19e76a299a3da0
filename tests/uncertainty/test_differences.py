"""Tests between systems: by hand, by simulation where the null is true, and their laws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from calipers.uncertainty.differences import (
    ALLOWANCE,
    Difference,
    Null,
    _streams,
    differences,
)
from calipers.uncertainty.spread import Component, Spread, mean_spread, quantile


def compare(first, second, values, *, paired=False, level=0.95, draws=999, seed=0):
    """Test two systems by one score."""
    (found,) = differences(
        [{"s": values[0]}, {"s": values[1]}],
        [{"s": first}, {"s": second}],
        prompts=[0, 0] if paired else None,
        level=level,
        seed=seed,
        draws=draws,
    )
    return found


def spread(reference=(), generated=(), seed=(), halves=None):
    """A spread whose score is a sum of means over blocks."""
    given_ = {"reference": reference, "generated": generated, "seed": seed}
    parts = [Component.of_mean(name, each) for name, each in given_.items() if len(each)]
    return Spread(tuple(parts), halves=halves)


def drawn(rng, blocks=20, own=1.0, shared=1.0):
    return shared * rng.standard_normal(blocks), own * rng.standard_normal((2, blocks))


# One test by itself


def test_error_and_interval_by_hand():
    large, small = np.array([3.0, -3.0]), np.array([1.0, -1.0])
    first = Spread((Component("reference", large), Component("generated", small)))
    second = Spread((Component("reference", small), Component("generated", large)))
    found = compare(first, second, (0.7, 0.5))
    # The reference, shared by both, is subtracted first: (2, -2). What each has of its own adds up
    assert found.value == pytest.approx(0.2)
    assert found.standard_error == pytest.approx(np.sqrt(8 + 2 + 18))
    assert found.freedom == pytest.approx(28**2 / (8**2 + 2**2 + 18**2))
    reach = quantile(found.freedom, 0.95) * np.sqrt(28)
    assert found.interval == pytest.approx((0.2 - reach, 0.2 + reach))
    assert not found.paired
    together = compare(first, second, (0.7, 0.5), paired=True)
    assert together.standard_error == pytest.approx(np.sqrt(8 + 8))
    assert together.paired
    assert (found.first, found.second, found.score) == (0, 1, "s")


def test_halves_bound_the_error_of_the_difference():
    gap = np.array([2.0, -2.0])
    first = Spread((Component("reference", gap),), halves=np.array([0.5, 0.1]))
    second = Spread((Component("reference", -gap),), halves=np.array([0.1, -0.1]))
    # Halves of both systems are the same halves: their differences are subtracted, (0.4, 0.2)
    found = compare(first, second, (1.0, 0.0))
    assert found.standard_error == pytest.approx(np.sqrt(ALLOWANCE * (0.16 + 0.04)))
    # No more than what blocks say, and only of systems that were both halved
    wide = replace(second, halves=np.array([90.0, 90.0]))
    for other in (wide, replace(second, halves=None)):
        assert compare(first, other, (1.0, 0.0)).standard_error == pytest.approx(np.sqrt(32))


def test_p_value_of_blocks_of_the_reference_is_that_of_students_paired_test(rng):
    ours, theirs = rng.standard_normal((2, 8))
    ours += 0.9
    found = compare(spread(ours), spread(theirs), (ours.mean(), theirs.mean()))
    wanted = stats.ttest_rel(ours, theirs)
    assert found.p_value == pytest.approx(wanted.pvalue, rel=1e-9)
    assert found.interval == pytest.approx(tuple(wanted.confidence_interval(0.95)))


def test_p_value_of_samples_of_their_own_is_that_of_welchs_test(rng):
    ours, theirs = rng.standard_normal(5) + 1, 3 * rng.standard_normal(20)
    found = compare(spread(generated=ours), spread(generated=theirs), (ours.mean(), theirs.mean()))
    wanted = stats.ttest_ind(ours, theirs, equal_var=False)
    assert found.p_value == pytest.approx(wanted.pvalue, rel=1e-9)
    assert found.interval == pytest.approx(tuple(wanted.confidence_interval(0.95)))


@pytest.mark.parametrize("paired", [False, True])
def test_the_order_of_the_systems_turns_the_sign_and_nothing_else(rng, paired):
    shared, own = drawn(rng)
    one, two = (spread(0.5 * i * shared, each, own[0][:5]) for i, each in enumerate(own))
    here = compare(one, two, (0.9, 0.2), paired=paired)
    there = compare(two, one, (0.2, 0.9), paired=paired)
    assert there.value == -here.value
    assert there.standard_error == pytest.approx(here.standard_error)
    assert there.interval == pytest.approx((-here.interval[1], -here.interval[0]))
    assert there.p_value == pytest.approx(here.p_value)
    assert there.adjusted_p_value == pytest.approx(here.adjusted_p_value, abs=0.04)


def test_scale_moves_neither_p_value_nor_its_sign(rng):
    shared, own = drawn(rng)
    halves = 0.1 * rng.standard_normal((2, 31))
    one, two = (
        spread(i * shared, each, halves=half)
        for i, (each, half) in enumerate(zip(own, halves, strict=True))
    )
    found = compare(one, two, (0.5, 0.1))
    scaled = compare(one.times(1e6), two.times(1e6), (5e5, 1e5))
    assert scaled.p_value == pytest.approx(found.p_value, rel=1e-9)
    assert scaled.adjusted_p_value == found.adjusted_p_value
    assert scaled.standard_error == pytest.approx(1e6 * found.standard_error)
    assert scaled.detectable == pytest.approx(1e6 * found.detectable)


def under_the_null(rng, worlds, blocks, *, paired, own=(1.0, 1.0)):
    """P-values where both systems score alike: Gaussian blocks of a reference and of samples."""
    found = []
    for _ in range(worlds):
        reference = rng.standard_normal((2, blocks))
        prompts, each = rng.standard_normal(blocks), rng.standard_normal((2, blocks))
        samples = [paired * prompts + size * x for size, x in zip(own, each, strict=True)]
        sides = [spread(x, y) for x, y in zip(reference, samples, strict=True)]
        values = tuple(x.mean() + y.mean() for x, y in zip(reference, samples, strict=True))
        found.append(compare(*sides, values, paired=paired, draws=9).p_value)
    return np.array(found)


@pytest.mark.slow
@pytest.mark.parametrize("paired", [False, True])
def test_p_values_are_uniform_where_the_systems_score_alike(rng, paired):
    p_values = under_the_null(rng, 2000, 20, paired=paired)
    ordered = np.sort(p_values)
    gap = np.abs(ordered - (np.arange(2000) + 0.5) / 2000).max()
    assert gap < 1.63 / np.sqrt(2000)  # Kolmogorov and Smirnov, at 1 %
    assert (p_values <= 0.005).sum() <= 20  # 10 expected


@pytest.mark.slow
def test_unequal_spreads_keep_the_level(rng):
    p_values = under_the_null(rng, 1000, 20, paired=False, own=(0.2, 5.0))
    assert 0.03 <= np.mean(p_values <= 0.05) <= 0.07


def scores_of_files(rng, files, scatter, worlds):
    """P-values between two systems of several files each, which score alike on average."""
    found = []
    for _ in range(worlds):
        values = scatter * rng.standard_normal((2, files, 1)) + rng.standard_normal((2, files, 20))
        sides = [
            mean_spread([spread(generated=each) for each in side], side.mean(axis=1))
            for side in values
        ]
        found.append(compare(*sides, tuple(values.mean(axis=(1, 2))), draws=9).p_value)
    return np.array(found)


@pytest.mark.slow
@pytest.mark.parametrize(("files", "scatter"), [(2, 1.0), (3, 0.0), (3, 1.0), (5, 0.3)])
def test_few_files_keep_the_level_far_out(rng, files, scatter):
    p_values = scores_of_files(rng, files, scatter, 500)
    assert np.mean(p_values <= 0.05) <= 0.08
    assert np.mean(p_values <= 0.01) <= 0.03  # by the normal distribution 5 to 14 %


@pytest.mark.slow
def test_few_parts_keep_the_level_far_out(rng):
    p_values = []
    for _ in range(1000):
        sides = rng.standard_normal((2, 5))
        parts = [Spread((Component.of_mean("both", each),), approximate=True) for each in sides]
        p_values.append(compare(*parts, tuple(sides.mean(axis=1)), draws=9).p_value)
    assert np.mean(np.array(p_values) <= 0.01) <= 0.02  # by the normal distribution over 3 %
    assert 0.03 <= np.mean(np.array(p_values) <= 0.05) <= 0.07


def test_few_contributions_have_the_p_value_of_students_t():
    one, two = (
        Spread((Component.of_mean("both", each),), approximate=True)
        for each in ([1, 2, 3], [0] * 3)
    )
    # Student's on 2 degrees has a closed form; correcting for one test changes it by chance alone
    found = compare(one, two, (6 * one.standard_error, 0.0))
    assert found.p_value == pytest.approx(1 - 6 / np.sqrt(2 + 36))
    assert found.adjusted_p_value == pytest.approx(found.p_value, abs=0.02)


def test_a_real_difference_is_found_and_pairs_make_it_sharper(rng):
    prompts, noise = 3 * rng.standard_normal(20), 0.3 * rng.standard_normal((2, 20))
    one, two = (spread(generated=prompts + each) for each in noise)
    apart = compare(one, two, (0.5, 0.0))
    together = compare(one, two, (0.5, 0.0), paired=True)
    assert together.standard_error < 0.3 * apart.standard_error
    assert apart.adjusted_p_value > 0.2
    assert together.adjusted_p_value < 0.01
    assert (together.paired, apart.paired) == (True, False)


def test_larger_differences_have_smaller_p_values(rng):
    shared, own = drawn(rng)
    one, two = (spread(i * shared, each) for i, each in enumerate(own))
    found = [compare(one, two, (gap, 0.0)) for gap in np.linspace(0, 3, 9)]
    assert found[0].p_value == found[0].adjusted_p_value == 1.0
    assert (np.diff([each.p_value for each in found]) < 0).all()
    assert (np.diff([each.adjusted_p_value for each in found]) <= 0).all()
    assert found[-1].adjusted_p_value == 1 / 1000  # itself among 999 draws: never 0


def test_systems_that_move_alike_and_score_alike():
    same = spread(np.arange(20.0), np.arange(20.0))
    found = compare(same, same, (0.4, 0.4))
    assert (found.value, found.p_value, found.adjusted_p_value) == (0.0, 1.0, 1.0)
    paired = compare(same, same, (0.4, 0.4), paired=True)
    assert (paired.standard_error, paired.p_value, paired.interval) == (0.0, 1.0, (0.0, 0.0))
    assert np.isnan(paired.detectable)


@pytest.mark.filterwarnings("error")
def test_nothing_moves_yet_the_scores_differ():
    still = spread(np.zeros(20), np.zeros(20))
    found = compare(still, still, (1.0, 0.5))
    assert np.isnan([found.p_value, found.adjusted_p_value, found.detectable]).all()
    assert found.interval == (0.5, 0.5)
    assert compare(Spread(()), Spread(()), (1.0, 1.0)).adjusted_p_value == 1.0


@pytest.mark.filterwarnings("error")
def test_two_files_that_alone_scatter():
    one = Spread((Component.of_mean("generated", [0.1, 0.3]),))
    two = Spread((Component.of_mean("generated", [0.7, 1.1]),))
    found = compare(one, two, (0.2, 0.9))
    assert found.p_value == pytest.approx(
        stats.ttest_ind([0.1, 0.3], [0.7, 1.1], equal_var=False).pvalue
    )
    single = compare(one, Spread(()), (0.2, 0.9))
    assert 0 < single.p_value < single.adjusted_p_value + 0.05 <= 1.05


def test_one_system_has_a_source_that_the_other_lacks(rng):
    blocks = rng.standard_normal(20)
    one, two = spread(blocks, blocks, blocks[:5]), spread(blocks, blocks)
    for paired, own in ((False, (one.components[1], two.components[1])), (True, ())):
        for first, second in ((one, two), (two, one)):
            found = compare(first, second, (1.0, 0.0), paired=paired)
            assert found.standard_error == pytest.approx(
                np.sqrt(sum(part.variance for part in (*own, one.components[2])))
            )


def test_blocks_that_do_not_match_are_not_subtracted(rng):
    one, two = spread(generated=rng.standard_normal(20)), spread(generated=rng.standard_normal(3))
    found = compare(one, two, (1.0, 0.0), paired=True)
    assert not found.paired
    assert found.standard_error == pytest.approx(np.hypot(one.standard_error, two.standard_error))


def test_several_files_are_paired_file_by_file(rng):
    files = rng.standard_normal((2, 20))
    one = Spread(tuple(Component.of_mean("generated", each) for each in files))
    two = Spread(tuple(Component.of_mean("generated", each) for each in files[::-1]))
    same = compare(one, one, (0.0, 0.0), paired=True)
    assert (same.standard_error, same.paired) == (0.0, True)
    gap = Component.of_mean("generated", files[0] - files[1])
    turned = compare(one, two, (0.0, 0.0), paired=True)
    assert turned.standard_error == pytest.approx(np.sqrt(2 * gap.variance))


# Families of tests


def test_every_pair_by_every_score_that_both_have(rng):
    spreads = [
        {key: spread(rng.standard_normal(20)) for key in keys} for keys in ("ba", "abc", "b")
    ]
    values = [dict.fromkeys(each, place) for place, each in enumerate(spreads)]
    found = differences(values, spreads, draws=99)
    assert [(test.first, test.second, test.score, test.value) for test in found] == [
        (0, 1, "b", -1),
        (0, 1, "a", -1),
        (0, 2, "b", -2),
        (1, 2, "b", -1),
    ]
    assert differences([], []) == differences(values[:1], spreads[:1]) == []
    assert differences(values[:2], [{}, spreads[1]]) == []


def family_of(shared, own, values):
    """Systems whose score by each key is a mean over shared blocks and one over their own."""
    spreads = [
        {key: spread(shared[place, key], own[place, key]) for key in range(shared.shape[1])}
        for place in range(len(shared))
    ]
    return [dict(enumerate(each)) for each in values], spreads


def test_scores_that_say_the_same_count_once(rng):
    own = rng.standard_normal((2, 1, 20)).repeat(8, axis=1)
    values = np.array([[0.6] * 8, [0.0] * 8])
    many = differences(*family_of(np.zeros_like(own), own, values), draws=9_999)
    (one,) = differences(*family_of(np.zeros((2, 1, 20)), own[:, :1], values[:, :1]), draws=9_999)
    assert 0.02 < one.p_value < 0.1
    for test in many:  # Holm would say eight times as much
        assert test.adjusted_p_value == pytest.approx(one.p_value, abs=0.012)
        assert test.detectable == pytest.approx(one.detectable, rel=0.02)


def test_scores_that_move_apart_are_corrected_for_one_another(rng):
    shared, own = np.zeros((2, 8, 20)), rng.standard_normal((2, 8, 20))
    values = np.zeros((2, 8))
    values[0, 0] = 0.8
    found = differences(*family_of(shared, own, values), draws=9_999)
    independent = 1 - (1 - found[0].p_value) ** 8
    assert found[0].adjusted_p_value == pytest.approx(independent, abs=0.02)
    assert found[0].adjusted_p_value > 5 * found[0].p_value
    alone = differences(*family_of(shared[:, :1], own[:, :1], values[:, :1]), draws=9_999)[0]
    assert found[0].detectable > 1.2 * alone.detectable


def test_what_two_sources_do_is_drawn_apart(rng):
    # Two sources that happen to be equal: drawn together they would look like one of twice the
    # size, with four times the variance in place of twice
    blocks = rng.standard_normal(20)
    one, two = spread(blocks, blocks, blocks), spread(*np.zeros((3, 20)))
    for paired in (False, True):
        found = compare(one, two, (1.96 * one.standard_error, 0.0), paired=paired, draws=9_999)
        assert found.adjusted_p_value == pytest.approx(found.p_value, abs=0.01)
        assert found.p_value < 0.06


def test_blocks_of_systems_are_drawn_apart_unless_they_answer_the_same_prompts(rng):
    # Three systems whose samples move alike. Apart, the three differences are nearly independent;
    # paired, what all share cancels, and a third of the size is left of each
    common, own = rng.standard_normal(20), rng.standard_normal((3, 20))
    spreads = [{"s": spread(generated=3 * common + each)} for each in own]
    values = [{"s": 0.0}, {"s": 0.0}, {"s": 2.0}]
    apart = differences(values, spreads, draws=9_999)
    together = differences(values, spreads, prompts=[4, 4, 4], draws=9_999)
    mixed = differences(values, spreads, prompts=[4, 1, 4], draws=9_999)
    assert [test.paired for test in mixed] == [False, True, False]
    for here, there in ((apart[0], mixed[0]), (together[1], mixed[1]), (apart[2], mixed[2])):
        assert here.standard_error == there.standard_error
    assert together[1].adjusted_p_value < 0.01 < 0.02 < apart[1].adjusted_p_value


def test_halves_leave_the_correlation_of_tests_to_the_blocks(rng):
    # Half the error by halves: statistics are twice as large, and the draws are none the smaller
    own = rng.standard_normal((2, 3, 20))
    values, spreads = family_of(np.zeros_like(own), own, np.zeros((2, 3)))
    values[0] = dict.fromkeys(range(3), 0.5)
    halved = []
    for each in spreads:
        sized = {}
        for key, one in each.items():
            error = np.sqrt(one.variance / 4 / ALLOWANCE)
            place = len(halved) * 3 + key  # halves of the systems in different directions
            sized[key] = replace(one, halves=error * np.eye(6)[place])
        halved.append(sized)
    plain, sharp = (differences(values, each, draws=9_999) for each in (spreads, halved))
    for one, two in zip(plain, sharp, strict=True):
        assert two.standard_error == pytest.approx(one.standard_error / 2)
        assert two.detectable == pytest.approx(one.detectable / 2)
    # The scores move apart: three tests count as three
    smallest = min(sharp, key=lambda test: test.p_value)
    assert smallest.adjusted_p_value == pytest.approx(1 - (1 - smallest.p_value) ** 3, rel=0.25)


def test_a_seed_decides_and_is_all_that_decides(rng):
    shared, own = drawn(rng)
    one, two = (spread(i * shared, each) for i, each in enumerate(own))
    found = [compare(one, two, (0.4, 0.0), seed=seed) for seed in (0, 0, 1)]
    assert found[0] == found[1]
    assert found[0].adjusted_p_value != found[2].adjusted_p_value
    assert found[0].p_value == found[2].p_value


def test_draws_in_pieces_are_the_same_draws(rng, monkeypatch):
    shared, own = rng.standard_normal((2, 3, 2, 20))
    given_ = family_of(shared, own, 0.5 * rng.standard_normal((3, 2)))
    monkeypatch.setattr("calipers.uncertainty.differences.CHUNK", 60)
    found = differences(*given_, draws=2_001)
    monkeypatch.undo()
    whole = differences(*given_, draws=2_001)
    for one, two in zip(found, whole, strict=True):  # random numbers come in another order
        assert one.adjusted_p_value == pytest.approx(two.adjusted_p_value, abs=0.04)
        # Of 2,001 draws 100 ± 10 lie above the critical value: 10 % of its p-value, twice
        assert 1 - one.single_level == pytest.approx(1 - two.single_level, rel=0.4)
        drawn_ = {"adjusted_p_value": 0, "detectable": 0, "single_level": 0}
        assert replace(one, **drawn_) == replace(two, **drawn_)
    (few,) = differences(*family_of(shared[:2, :1], own[:2, :1], np.ones((2, 1))), draws=3)
    assert few.adjusted_p_value in (0.25, 0.5, 0.75, 1.0)


@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(1, 3))
@settings(max_examples=25)
def test_laws_of_a_family(seed, systems, scores):
    rng = np.random.default_rng(seed)
    shared, own = rng.standard_normal((2, systems, scores, 20))
    values, spreads = family_of(shared, own, rng.standard_normal((systems, scores)))
    found = differences(values, spreads, draws=199)
    p_values = np.array([test.p_value for test in found])
    adjusted = np.array([test.adjusted_p_value for test in found])
    assert ((adjusted > 0) & (adjusted <= 1)).all()
    # Pairs with the best of a score are one family, and all others are held against all pairs:
    # within each what is rarer alone is rarer among all, and no correction lowers a p-value
    best = [max(range(systems), key=lambda system: values[system][key]) for key in range(scores)]
    with_best = np.array([best[test.score] in (test.first, test.second) for test in found])
    assert with_best.sum() == (systems - 1) * scores
    for kind in (with_best, ~with_best):
        order = np.argsort(p_values[kind], kind="stable")
        assert (np.diff(adjusted[kind][order]) >= 0).all()
    assert (adjusted >= p_values - 5 * np.sqrt(p_values / 199) - 1e-9).all()
    for test in found:
        assert test.interval[0] < test.value < test.interval[1]
        assert test.detectable > quantile(test.freedom, 0.9) * test.standard_error
        assert 0.95 <= test.single_level < 1


def test_a_test_that_cannot_be_made_corrects_no_other(rng):
    blocks = rng.standard_normal((2, 20))
    spreads = [{"s": spread(each), "still": spread(np.zeros(20))} for each in blocks]
    values = [{"s": 0.5, "still": 1.0}, {"s": 0.0, "still": 0.5}]
    moving, still = differences(values, spreads)
    alone = compare(*(each["s"] for each in spreads), (0.5, 0.0), draws=9_999)
    assert moving == replace(alone, adjusted_p_value=moving.adjusted_p_value)
    assert moving.adjusted_p_value == pytest.approx(alone.adjusted_p_value, abs=0.02)
    assert np.isnan(still.adjusted_p_value)
    assert (still.single_level, np.isnan(still.detectable)) == (moving.single_level, True)


def test_the_level_of_a_single_test(rng):
    shared, own = np.zeros((2, 8, 20)), rng.standard_normal((2, 8, 20))
    values, spreads = family_of(shared, own, np.zeros((2, 8)))
    for count, wanted in ((1, 0.05), (8, 1 - 0.95 ** (1 / 8))):
        few = [{key: each[key] for key in range(count)} for each in spreads]
        found = differences(values, few, draws=9_999)
        assert len({test.single_level for test in found}) == 1
        # Scores that move apart: as by Šidák, up to the 500 draws beyond the critical value
        assert 1 - found[0].single_level == pytest.approx(wanted, rel=0.15)
        for test in found:
            reach = quantile(test.freedom, test.single_level) + quantile(test.freedom, 0.6)
            assert test.detectable == pytest.approx(reach * test.standard_error)


# Pairs with the best


def by_steps(values, spreads, tests, sign, draws):
    """Adjusted p-values of the pairs with the best, system after system, in plain loops.

    The system farthest from the best is held against all pairs of all systems that remain by any
    score; then it leaves its score, and the next one follows.
    """
    normal = [float(stats.norm.isf(test.p_value / 2)) for test in tests]
    moved = [
        {key: _streams(one, place) for key, one in e.items()} for place, e in enumerate(spreads)
    ]
    errors = np.array([test.standard_error for test in tests])  # no halves: as by the blocks
    null = np.vstack(list(Null(tests, moved, errors, 0, draws)))
    remaining = {key: set(range(len(values))) for key in values[0]}
    best = {key: max(remaining[key], key=lambda s: sign * values[s][key]) for key in remaining}
    with_best = [i for i, t in enumerate(tests) if best[t.score] in (t.first, t.second)]
    adjusted, running = {}, 0.0
    for i in sorted(with_best, key=lambda i: -normal[i]):
        columns = [j for j, t in enumerate(tests) if {t.first, t.second} <= remaining[t.score]]
        reached = sum(max(abs(draw[j]) for j in columns) >= normal[i] for draw in null)
        running = max(running, (1 + reached) / (1 + draws))
        adjusted[i] = running
        key = tests[i].score
        remaining[key] -= {tests[i].first, tests[i].second} - {best[key]}
    return adjusted


@pytest.mark.parametrize("better", ["higher", "lower", "closest"])
@pytest.mark.parametrize(("systems", "scores"), [(2, 1), (3, 1), (3, 3), (5, 2)])
def test_pairs_with_the_best_system_after_system(rng, better, systems, scores):
    shared, own = rng.standard_normal((2, systems, scores, 20))
    values, spreads = family_of(shared, own, 0.6 * rng.standard_normal((systems, scores)))
    found = differences(values, spreads, better=dict.fromkeys(range(scores), better), draws=199)
    wanted = by_steps(values, spreads, found, 1 if better == "higher" else -1, 199)
    assert len(wanted) == (systems - 1) * scores
    for place, p in wanted.items():
        assert found[place].adjusted_p_value == pytest.approx(p, rel=1e-12)


def test_lower_and_closest_mirror_higher(rng):
    shared, own = rng.standard_normal((2, 4, 3, 20))
    values, spreads = family_of(shared, own, 0.7 * rng.standard_normal((4, 3)))
    turned = [{key: -value for key, value in each.items()} for each in values]
    higher = differences(values, spreads, draws=999)
    assert higher == differences(values, spreads, better={0: "higher"}, draws=999)
    for better in ("lower", "closest"):
        mirrored = differences(turned, spreads, better=dict.fromkeys(range(3), better), draws=999)
        for one, two in zip(higher, mirrored, strict=True):
            assert two.value == -one.value
            assert two.interval == pytest.approx((-one.interval[1], -one.interval[0]))
            assert (two.p_value, two.adjusted_p_value) == (one.p_value, one.adjusted_p_value)
            assert (two.detectable, two.single_level) == (one.detectable, one.single_level)
    # Which end is the better one decides which pairs come first
    lower = differences(values, spreads, better=dict.fromkeys(range(3), "lower"), draws=999)
    assert [t.p_value for t in lower] == [t.p_value for t in higher]
    assert [t.adjusted_p_value for t in lower] != [t.adjusted_p_value for t in higher]


@pytest.mark.parametrize("better", ["higher", "lower"])
def test_the_order_of_the_systems_does_not_matter(rng, better):
    shared, own = rng.standard_normal((2, 5, 2, 20))
    values, spreads = family_of(shared, own, 0.5 * rng.standard_normal((5, 2)))
    how = {"better": {0: better, 1: better}, "draws": 9_999}
    found = {(t.first, t.second, t.score): t for t in differences(values, spreads, **how)}
    for order in ([4, 3, 2, 1, 0], [2, 0, 4, 1, 3]):
        moved = differences([values[s] for s in order], [spreads[s] for s in order], **how)
        for test in moved:
            first, second = order[test.first], order[test.second]
            same = found[min(first, second), max(first, second), test.score]
            assert test.value == (same.value if first < second else -same.value)
            assert test.p_value == pytest.approx(same.p_value, rel=1e-9)
            # Two sets of 9,999 draws: four standard errors of their difference, at p = 1/2
            p = same.adjusted_p_value
            error = np.sqrt(2 * p * (1 - p) / 9_999)
            assert test.adjusted_p_value == pytest.approx(p, abs=4 * error + 2e-4)


def test_a_system_found_worse_leaves_its_score_to_the_others(rng):
    shared, own = np.zeros((4, 1, 20)), rng.standard_normal((4, 1, 20))
    level = np.array([[0.0], [-0.9], [-9.0], [-9.5]])
    values, spreads = family_of(shared, own, level)
    found = {(t.first, t.second): t for t in differences(values, spreads, draws=9_999)}
    (alone,) = differences(values[:2], spreads[:2], draws=9_999)
    # The two that are far off leave with all their pairs, though one of these tells nothing
    assert found[2, 3].p_value > 0.1
    assert found[0, 1].adjusted_p_value == pytest.approx(alone.adjusted_p_value, abs=0.005)
    # Were they the best, the pair would be held against what remains of all pairs
    lower = differences(values, spreads, better={0: "lower"}, draws=9_999)[0]
    assert lower.adjusted_p_value > 1.4 * alone.adjusted_p_value


def test_a_system_that_moves_with_the_best_costs_the_others_nothing(rng):
    blocks = rng.standard_normal((3, 20))
    # The second moves as the best does and scores less: no test can be made of that
    moves = [blocks[1], blocks[0], blocks[2], blocks[0]]
    values = [{"s": value} for value in (0.5, 0.1, -0.9, 1.0)]
    spreads = [{"s": spread(each)} for each in moves]
    found = {(t.first, t.second): t for t in differences(values, spreads, draws=9_999)}
    assert np.isnan(found[1, 3].adjusted_p_value)
    kept = [0, 2, 3]
    without = differences([values[s] for s in kept], [spreads[s] for s in kept], draws=9_999)
    for test in without:
        if kept[test.second] == 3:
            same = found[kept[test.first], 3]
            assert same.adjusted_p_value == test.adjusted_p_value
    assert found[0, 3].p_value > found[2, 3].p_value


def difference(value, error, freedom=np.inf, **more):
    return Difference(0, 1, "s", value, error, freedom, (value, value), 0.5, **more)


def test_equivalence_by_hand():
    # Three standard errors below the upper margin, and seven above the lower one
    assert difference(0.02, 0.01).equivalence(0.05) == pytest.approx(0.0013498980)
    assert difference(-0.02, 0.01).equivalence(0.05) == pytest.approx(0.0013498980)
    # On the margin, and two standard errors beyond it
    assert difference(0.05, 0.01).equivalence(0.05) == pytest.approx(0.5)
    assert difference(0.07, 0.01).equivalence(0.05) == pytest.approx(0.9772498681)
    # Student's on 2 degrees has a closed form: P(T > 3) = (1 - 3 / √(2 + 9)) / 2
    wanted = (1 - 3 / np.sqrt(11)) / 2
    assert difference(0.02, 0.01, 2.0).equivalence(0.05) == pytest.approx(wanted)
    # A difference that does not move lies within the margin or does not
    assert [difference(v, 0.0).equivalence(0.05) for v in (0.0, -0.04, 0.05, -1.0)] == [0, 0, 1, 1]


def test_equal_within_a_margin_is_an_interval_within_it(rng):
    for value, error, margin, freedom in rng.random((200, 4)) * [0.1, 0.05, 0.1, 40] + [0, 0, 0, 1]:
        test = difference(value, error, freedom)
        reach = quantile(freedom, 1 - 2 * 0.05) * error
        assert (test.equivalence(margin) < 0.05) == (value + reach < margin)


def test_a_wider_margin_is_easier_to_keep(rng):
    for value, error in rng.random((50, 2)):
        p_values = [difference(value, error, 9.0).equivalence(m) for m in (0.1, 0.4, 0.9)]
        assert p_values == sorted(p_values, reverse=True)
        assert difference(-value, error, 9.0).equivalence(0.4) == p_values[1]
