"""p-values over a family: step-down max-T and Holm's correction, and whole families simulated."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.uncertainty.differences import _against_best, critical_value, differences, step_down
from calipers.uncertainty.holm import holm
from calipers.uncertainty.spread import Component, Spread

# p-values over a family: step-down max-T and Holm's correction.
#
# By hand, against the procedures in plain loops, and what must always hold.


SIZES = st.integers(1, 7), st.integers(1, 40)


@st.composite
def families(draw):
    """Statistics and draws on a grid, where many are equal; correlated or not."""
    tests, draws = (draw(size) for size in SIZES)
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    step = draw(st.sampled_from([0.5, 0.01]))
    shared = draw(st.sampled_from([0.0, 1.0, 5.0])) * rng.standard_normal((draws, 1))
    null = rng.standard_normal((draws, tests)) + shared
    statistics = 1.5 * rng.standard_normal(tests)
    return np.round(statistics / step) * step, np.round(null / step) * step


def by_loops(statistics, null, families=None):
    """Westfall and Young's algorithm 4.1 as they give it, a draw at a time.

    The columns of a step are those of all tests that are not settled before it.
    """
    families = families or [[place] for place in range(len(statistics))]
    order = sorted(range(len(statistics)), key=lambda place: -abs(statistics[place]))
    adjusted, running = [np.nan] * len(statistics), 0.0
    for step, place in enumerate(order):
        reached = 0
        for draw in null:
            remaining = {column for other in order[step:] for column in families[other]}
            largest = max(abs(draw[column]) for column in remaining)
            reached += largest >= abs(statistics[place])
        running = max(running, (1 + reached) / (1 + len(null)))
        adjusted[place] = running
    return adjusted


def test_by_hand():
    null = np.array([[0.5, 3.0, 0.0], [-2.5, 1.0, 0.0], [0.0, 0.0, -9.0], [1.0, -1.5, 0.0]])
    adjusted = step_down([1.5, -2.0, 10.0], [null])
    # The third: none of four reach 10. The second, against the first two: 3.0 and 2.5 reach 2.
    # The first alone: 2.5 reaches 1.5, which is less than what was found for the second
    assert adjusted.tolist() == [3 / 5, 3 / 5, 1 / 5]
    # The largest of each draw: 3, 2.5, 9, 1.5
    assert critical_value([null], 1.0) == 9.0
    assert critical_value([null], 0.5) == 2.75


def test_families_by_hand():
    # Systems b (the best), c and d: the pairs bc, bd, cd, of which bc and bd are tested
    null = np.array([[0.5, 0.2, 4.0], [1.0, -0.3, 2.5], [-2.2, 0.1, 0.0], [0.0, -1.6, -5.0]])
    with_best = [3.0, 1.5]
    # By themselves: none of four reach 3. Then -1.6 reaches 1.5 in bd
    assert step_down(with_best, [null]).tolist() == [1 / 5, 2 / 5]
    # With c go bc and cd: at first 4.0 and -5.0 in cd reach 3. Of bd alone one reaches 1.5,
    # which is less than what was found for c
    assert step_down(with_best, [null], [[0, 2], [1]]).tolist() == [3 / 5, 3 / 5]
    # Would cd go with d, it would stay: 4.0, 2.5, -1.6 and -5.0 reach 1.5
    assert step_down(with_best, [null], [[0], [1, 2]]).tolist() == [3 / 5, 4 / 5]
    # A test without a statistic takes its columns with it
    assert step_down([np.nan, 1.5], [null], [[0, 2], [1]])[1] == 2 / 5


@given(families())
@settings(max_examples=80)
def test_equals_the_definition(family):
    statistics, null = family
    adjusted = step_down(statistics, [null])
    np.testing.assert_allclose(adjusted, by_loops(statistics, null), rtol=1e-12)
    assert critical_value([null], 1.0) == np.abs(null).max()


@given(families(), st.integers(0, 10**6))
@settings(max_examples=80)
def test_families_equal_the_definition(family, seed):
    statistics, null = family
    # More columns than tests; each test takes some with it, its own among them or not
    rng = np.random.default_rng(seed)
    # Doubled, which is exact: what ties must not hang on the last digit of a product
    null = np.hstack([null, 2.0 * rng.permuted(null, axis=0)])
    columns = null.shape[1]
    taken = [
        rng.choice(columns, rng.integers(1, columns + 1), replace=False).tolist()
        for _ in statistics
    ]
    adjusted = step_down(statistics, [null], taken)
    np.testing.assert_allclose(adjusted, by_loops(statistics, null, taken), rtol=1e-12)


@given(families())
@settings(max_examples=40)
def test_without_families_each_test_has_its_own_column(family):
    statistics, null = family
    own = [[place] for place in range(len(statistics))]
    np.testing.assert_array_equal(step_down(statistics, [null], own), step_down(statistics, [null]))


@given(families(), st.sampled_from([0.5, 0.9, 0.95]))
@settings(max_examples=60)
def test_critical_value_is_a_quantile_of_the_largest(family, level):
    _, null = family
    largest = [max(abs(value) for value in draw) for draw in null]
    found = critical_value([null], level)
    assert found == pytest.approx(np.quantile(largest, level), rel=1e-12)
    # It lies between two draws, the lower one of which may be the last of a share `level`
    above = sum(size > found for size in largest)
    assert above <= np.ceil((1 - level) * (len(largest) - 1) - 1e-9)


@given(families())
@settings(max_examples=80)
def test_keeps_the_order_and_lowers_no_p_value(family):
    statistics, null = family
    adjusted = step_down(statistics, [null])
    alone = [step_down(statistics[[i]], [null[:, [i]]])[0] for i in range(len(statistics))]
    assert (adjusted >= np.array(alone) - 1e-12).all()
    assert (adjusted <= 1).all()
    order = np.argsort(-np.abs(statistics), kind="stable")
    assert (np.diff(adjusted[order]) >= 0).all()


@given(families(), st.randoms())
@settings(max_examples=60)
def test_neither_signs_nor_the_order_of_tests_matter(family, random):
    statistics, null = family
    adjusted = step_down(statistics, [null])
    places = list(range(len(statistics)))
    random.shuffle(places)
    signs = np.array([random.choice([-1, 1]) for _ in places])
    turned = step_down(signs * statistics[places], [-null[:, places]])
    np.testing.assert_array_equal(turned, adjusted[places])
    assert critical_value([-null[:, places]], 0.9) == critical_value([null], 0.9)


@given(families(), st.integers(1, 45))
@settings(max_examples=60)
def test_chunks_of_draws_do_not_matter(family, size):
    statistics, null = family
    chunks = [null[start : start + size] for start in range(0, len(null), size)]
    whole, parts = step_down(statistics, [null]), step_down(statistics, iter(chunks))
    np.testing.assert_array_equal(parts, whole)
    assert critical_value(iter(chunks), 0.9) == critical_value([null], 0.9)


@given(families(), st.integers(0, 10**6))
@settings(max_examples=80)
def test_never_above_holm_where_all_tests_have_one_distribution(family, seed):
    statistics, null = family
    # The same values in every column, in whatever order: each test alone has the same p-value
    rng, values = np.random.default_rng(seed), null[:, 0]
    null = np.stack([rng.permutation(values) for _ in statistics], axis=1)
    reached = (np.abs(values)[:, None] >= np.abs(statistics) * (1 - 1e-12)).sum(axis=0)
    adjusted = step_down(statistics, [null])
    assert (adjusted <= holm((1 + reached) / (1 + len(values))) + 1e-12).all()


def test_tests_that_have_nothing_to_do_with_each_other_are_corrected_nearly_as_by_holm(rng):
    null = rng.standard_normal((100_000, 4))
    statistics = [3.0, 2.6, 2.4, 2.2]
    adjusted = step_down(statistics, [null])
    reached = [1 - (1 - 2 * _tail(t)) ** (4 - place) for place, t in enumerate(statistics)]
    assert adjusted == pytest.approx(np.maximum.accumulate(reached), rel=0.05)
    assert adjusted == pytest.approx(holm([2 * _tail(t) for t in statistics]), rel=0.08)


def _tail(statistic):
    from scipy.special import ndtr

    return float(ndtr(-statistic))


def test_tests_that_say_the_same_count_once(rng):
    null = np.repeat(rng.standard_normal((999, 1)), 6, axis=1)
    together = step_down([2.5] * 6, [null])
    alone = step_down([2.5], [null[:, :1]])
    assert together.tolist() == alone.tolist() * 6


def test_what_rounding_alone_tells_apart_is_equal():
    statistic = 0.1 + 0.2
    assert statistic > 0.3
    assert step_down([statistic], [np.full((9, 1), 0.3)]).tolist() == [1.0]


@pytest.mark.filterwarnings("error")
def test_a_test_without_a_statistic_does_not_count():
    null = np.array([[0.5, 99.0, 1.0], [2.5, np.nan, 0.1], [0.1, np.inf, 0.2]])
    adjusted = step_down([2.0, np.nan, 0.3], [null])
    kept = step_down([2.0, 0.3], [null[:, [0, 2]]])
    assert adjusted[[0, 2]].tolist() == kept.tolist()
    assert np.isnan(adjusted[1])
    assert np.isnan(step_down([np.nan, np.nan], [null[:, :2]])).all()


def test_the_smallest_p_value_is_one_among_all_draws():
    adjusted = step_down([np.inf, 50.0, 0.0], [np.ones((19, 3))])
    assert adjusted.tolist() == [1 / 20, 1 / 20, 1.0]


def test_no_tests_and_no_draws():
    assert step_down([], [np.empty((7, 0))]).shape == (0,)
    assert critical_value([np.empty((7, 0))], 0.95) == 0.0
    assert step_down([5.0], []).tolist() == [1.0]


SHARES = st.lists(st.floats(0, 1), max_size=12)


def stepwise(p_values):
    """The smallest level at which Holm's procedure, as he gives it, rejects each hypothesis."""
    adjusted = [1.0] * len(p_values)
    running = 0.0
    for step, place in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        running = max(running, (len(p_values) - step) * p_values[place])
        adjusted[place] = min(1.0, running)
    return adjusted


def rejected(p_values, level):
    """Step down: go on as long as the next smallest p-value is small enough."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    out = set()
    for step, place in enumerate(order):
        if p_values[place] > level / (len(p_values) - step):
            break
        out.add(place)
    return out


def test_holm_by_hand():
    # 0.01 · 4; 0.02 · 3; 0.04 · 2; the last, 0.05, may not fall below the one before it
    assert holm([0.04, 0.01, 0.05, 0.02]) == pytest.approx([0.08, 0.04, 0.08, 0.06])
    assert holm([0.6, 0.7]).tolist() == [1.0, 1.0]


@given(SHARES)
def test_holm_equals_the_definition(p_values):
    np.testing.assert_allclose(holm(p_values), stepwise(p_values))


@given(SHARES, st.sampled_from([0.011, 0.053, 0.207]))
def test_holm_rejects_what_the_procedure_rejects(p_values, level):
    adjusted = holm(p_values)
    near = np.isclose(adjusted, level, rtol=1e-9)
    found = {place for place in range(len(p_values)) if adjusted[place] <= level}
    if not near.any():
        assert found == rejected(p_values, level)


@given(SHARES)
def test_holm_keeps_the_order_and_lowers_nothing(p_values):
    given_, adjusted = np.array(p_values), holm(p_values)
    assert ((adjusted >= given_) & (adjusted <= 1)).all()
    assert (np.diff(adjusted[np.argsort(given_)]) >= 0).all()


@given(st.lists(st.floats(0, 1), min_size=2, max_size=8), st.floats(0, 1))
def test_holm_lowers_no_adjusted_value_of_a_larger_p_value(p_values, other):
    raised = [max(p_values[0], other), *p_values[1:]]
    assert holm(raised)[0] >= holm(p_values)[0] - 1e-15


@given(SHARES, st.randoms())
def test_holm_does_not_depend_on_the_order(p_values, random):
    places = list(range(len(p_values)))
    random.shuffle(places)
    shuffled = holm([p_values[i] for i in places])
    np.testing.assert_array_equal(shuffled, holm(p_values)[places])


def test_holm_does_not_count_what_has_no_p_value():
    found = holm([0.01, np.nan, 0.04])
    assert found[[0, 2]] == pytest.approx([0.02, 0.04])
    assert np.isnan(found[1])
    assert np.isnan(holm([np.nan, np.nan])).all()
    assert holm([]).shape == (0,)


# Whole families of tests, simulated: false findings, power, and what differences are found.
#
# Scores are means over Gaussian blocks, of a reference that all systems share and of samples of
# each. Fixed seeds, so that every count is the same in every run; each bound would be broken by a
# procedure that is named beside it.


SYSTEMS, SCORES, BLOCKS = 6, 3, 20
ALPHA = 0.05


def world(rng, systems, scores, *, alike=0.0, reference=1.0, gaps=None):
    """Values and spreads: `alike` is how much scores have in common, `gaps` the true values."""

    def blocks(size):
        together, apart = rng.standard_normal((2, systems, scores, BLOCKS))
        return size * (np.sqrt(alike) * together[:, :1] + np.sqrt(1 - alike) * apart)

    # The reference moves every system in its own way, more or less alike
    common = reference * rng.standard_normal((1, scores, BLOCKS))
    shared, own = common + blocks(0.5 * reference), blocks(1.0)
    true = np.zeros((systems, scores)) if gaps is None else gaps
    means = true + shared.mean(axis=2) + own.mean(axis=2)
    spreads = [
        {
            key: Spread(
                (
                    Component.of_mean("reference", shared[place, key]),
                    Component.of_mean("generated", own[place, key]),
                )
            )
            for key in range(scores)
        }
        for place in range(systems)
    ]
    return [dict(enumerate(each)) for each in means], spreads


def simulated(rng, worlds, *size, draws=499, **how):
    """The tests of so many worlds."""
    return [differences(*world(rng, *size, **how), draws=draws, seed=i) for i in range(worlds)]


@pytest.mark.slow
@pytest.mark.slow
@pytest.mark.parametrize(("alike", "reference"), [(0.0, 1.0), (0.9, 2.0)])
def test_equal_systems_are_seldom_called_different_by_any_test(rng, alike, reference):
    families = simulated(rng, 300, SYSTEMS, SCORES, alike=alike, reference=reference)
    assert {len(family) for family in families} == {45}
    found = np.mean([any(t.adjusted_p_value < ALPHA for t in family) for family in families])
    assert 0.015 <= found <= 0.085  # 0.05 and three standard deviations of 300 worlds
    alone = np.mean([any(t.p_value < ALPHA for t in family) for family in families])
    assert alone > 0.5  # without a correction


@pytest.mark.slow
@pytest.mark.slow
def test_one_system_that_differs_makes_the_others_no_less_safe(rng):
    gaps = np.zeros((4, 2))
    gaps[0] = 5.0
    families = simulated(rng, 300, 4, 2, gaps=gaps)
    assert all(t.adjusted_p_value < ALPHA for family in families for t in family if t.first == 0)
    false = [any(t.adjusted_p_value < ALPHA for t in f if t.first > 0) for f in families]
    # The settled tests leave the family, and the level is made use of: not below a third of it
    assert 0.015 <= np.mean(false) <= 0.085


@pytest.mark.slow
@pytest.mark.slow
def test_more_is_found_than_by_holm_where_scores_go_together(rng):
    gaps = np.zeros((3, 8))
    gaps[0] = 1.0
    families = simulated(rng, 150, 3, 8, alike=0.95, gaps=gaps)
    true = [[t.first == 0 for t in family] for family in families]
    ours = [[t.adjusted_p_value < ALPHA for t in family] for family in families]
    theirs = [holm([t.p_value for t in family]) < ALPHA for family in families]
    power, by_holm = (np.mean(np.array(each)[np.array(true)]) for each in (ours, theirs))
    assert 0.3 < by_holm < power - 0.12


@pytest.mark.slow
@pytest.mark.slow
def test_the_detectable_difference_is_found_in_four_of_five_runs(rng):
    one = simulated(rng, 400, 2, 1)
    size = np.mean([t.detectable for (t,) in one])
    gaps = np.array([[size], [0.0]])
    found = simulated(rng, 1_200, 2, 1, gaps=gaps)
    power = np.mean([t.adjusted_p_value < ALPHA for (t,) in found])
    assert power == pytest.approx(0.8, abs=0.035)  # three standard deviations


@pytest.mark.slow
@pytest.mark.slow
def test_the_detectable_difference_allows_for_the_whole_family(rng):
    families = simulated(rng, 100, 4, 3)
    sizes = [np.mean([t.detectable for t in family]) for family in families]
    gaps = np.zeros((4, 3))
    gaps[0, 0] = np.mean(sizes)
    found = simulated(rng, 300, 4, 3, gaps=gaps)
    power = np.mean(
        [t.adjusted_p_value < ALPHA for f in found for t in f if (t.first, t.score) == (0, 0)]
    )
    # Steps after the first are held against fewer tests: somewhat more is found than promised
    assert 0.75 <= power <= 0.88
    alone = np.mean([t.p_value < ALPHA for f in found for t in f if (t.first, t.score) == (0, 0)])
    assert alone > 0.95


def against_the_best(rng, worlds, gaps, *, draws=499, **how):
    """For every world the pairs with its best systems: their tests, and whether these are true."""
    found = []
    for seed in range(worlds):
        values, spreads = world(rng, *gaps.shape, gaps=gaps, **how)
        best = {key: max(range(len(gaps)), key=lambda s: values[s][key]) for key in values[0]}
        family = differences(values, spreads, draws=draws, seed=seed)
        pairs = [t for t in family if best[t.score] in (t.first, t.second)]
        # Whoever came out best, what is truly at the top must not be found to be worse
        other = [t.first + t.second - best[t.score] for t in pairs]
        worse = [
            gaps[s, t.score] < gaps[:, t.score].max() for s, t in zip(other, pairs, strict=True)
        ]
        found.append((family, pairs, np.array(worse)))
    return found


def false_findings(worlds):
    """The share of worlds where a system that is truly at the top is found to be worse."""
    each = [
        any(t.adjusted_p_value < ALPHA for t, true in zip(pairs, worse, strict=True) if not true)
        for _, pairs, worse in worlds
    ]
    return np.mean(each)


BY_BEST = "calipers.uncertainty.differences._against_best"


@pytest.mark.slow
@pytest.mark.slow
@pytest.mark.parametrize(("alike", "reference"), [(0.0, 1.0), (0.9, 2.0)])
def test_of_equal_systems_none_is_called_worse_than_the_best(rng, monkeypatch, alike, reference):
    gaps, state = np.zeros((6, 2)), rng.bit_generator.state
    worlds = against_the_best(rng, 300, gaps, alike=alike, reference=reference)
    assert all((len(pairs), worse.sum()) == (10, 0) for _, pairs, worse in worlds)
    assert 0.013 <= false_findings(worlds) <= 0.087  # 0.05 and three standard deviations
    # The best was chosen for its score: as if it had been named before, each pair with it a test
    # with nothing but its own column, that would be broken
    monkeypatch.setattr(BY_BEST, lambda *given: {place: [place] for place in _against_best(*given)})
    rng.bit_generator.state = state
    named = against_the_best(rng, 300, gaps, alike=alike, reference=reference)
    assert false_findings(named) > 0.087


@pytest.mark.slow
@pytest.mark.slow
@pytest.mark.parametrize(
    "gaps",
    [
        [0, 0, 0, -9, -9],  # settled at once
        [0, 0, -0.6, -1.2, -1.8],  # settled or not, and now and then the best by chance
        [0, 0, 0, -0.2, -0.2],  # seldom settled, often the best by chance
    ],
)
def test_worse_systems_make_those_at_the_top_no_less_safe(rng, gaps):
    # By the second score the last are at the top
    both = np.stack([gaps, gaps[::-1]], axis=1).astype(float)
    # 0.05 and three standard deviations of 300 worlds
    assert false_findings(against_the_best(rng, 300, both)) <= 0.087


@pytest.mark.slow
@pytest.mark.slow
def test_the_level_is_made_use_of_where_the_others_are_settled(rng, monkeypatch):
    gaps, state = np.array([[0.0], [0], [-9], [-9], [-9], [-9]]), rng.bit_generator.state
    worlds = against_the_best(rng, 400, gaps)
    # One pair is left, and its level whole: 0.05 and three standard deviations
    assert 0.017 <= false_findings(worlds) <= 0.083
    # Other pairs of systems that score alike keep the level by themselves
    rest = [any(t.adjusted_p_value < ALPHA for t in f if t.first >= 2) for f, _, _ in worlds]
    assert np.mean(rest) <= 0.083
    # Over all pairs those six stay, and leave the one a seventh of the level
    monkeypatch.setattr(BY_BEST, lambda *_: {})
    rng.bit_generator.state = state
    assert false_findings(against_the_best(rng, 400, gaps)) < 0.5 * false_findings(worlds)


@pytest.mark.slow
@pytest.mark.slow
def test_more_is_found_to_be_worse_than_over_all_pairs(rng, monkeypatch):
    gaps = np.outer([0, 0, -0.6, -1.2, -1.8, -2.4], [1.0, 0.7])
    state = rng.bit_generator.state
    ours = against_the_best(rng, 120, gaps)
    # The plain step-down over all pairs and scores, of the same worlds by the same draws
    monkeypatch.setattr(BY_BEST, lambda *_: {})
    rng.bit_generator.state = state
    plain = against_the_best(rng, 120, gaps)
    found = [
        [
            np.mean([t.adjusted_p_value < ALPHA for t in np.array(pairs)[worse]])
            for _, pairs, worse in w
        ]
        for w in (ours, plain)
    ]
    power, before = np.mean(found, axis=1)
    assert 0.3 < before < power - 0.02
    # By itself no test says anything else, and pairs without the best say the same
    for (one, pairs, _), (two, _, _) in zip(ours, plain, strict=True):
        assert [t.p_value for t in one] == [t.p_value for t in two]
        assert all(t in pairs or t == u for t, u in zip(one, two, strict=True))


@pytest.mark.slow
@pytest.mark.slow
@pytest.mark.parametrize("size", [0.0, 0.4, 1.0])
def test_power_against_the_best_is_never_less_than_over_all_pairs(rng, monkeypatch, size):
    gaps = np.zeros((5, 2))
    gaps[1:] = -size
    state, power = rng.bit_generator.state, []
    for plain in (False, True):
        if plain:
            monkeypatch.setattr(BY_BEST, lambda *_: {})
        rng.bit_generator.state = state
        worlds = against_the_best(rng, 100, gaps)
        power.append(np.mean([[t.adjusted_p_value < ALPHA for t in p] for _, p, _ in worlds]))
    assert power[0] >= power[1]


@pytest.mark.slow
@pytest.mark.slow
def test_systems_a_margin_apart_are_seldom_called_equal(rng):
    margin, rates = 2.0, {}
    for apart in (margin, -margin, 0.0):
        found = simulated(rng, 800, 2, 1, gaps=np.array([[apart], [0.0]]), draws=9)
        rates[apart] = np.mean([t.equivalence(margin) < ALPHA for (t,) in found])
    assert 0.027 <= rates[margin] <= 0.073  # 0.05 and three standard deviations
    assert 0.027 <= rates[-margin] <= 0.073
    assert rates[0.0] > 0.9
