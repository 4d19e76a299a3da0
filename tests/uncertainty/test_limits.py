"""Scores against limits: by hand, against a simulation with known truth, and laws."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calipers.score import Score
from calipers.uncertainty.limits import LimitEstimate, LimitTest, decide
from calipers.uncertainty.spread import (
    Component,
    Spread,
    confidence_interval,
    ends,
    freedom_behind,
    quantile,
    reach_to,
)

SHARES = st.floats(0.02, 0.98)
UNIT, OPEN, POSITIVE = (0.0, 1.0), (-np.inf, np.inf), (0.0, np.inf)


def test_one_condition_by_hand():
    """Recall 0.70 with an error of 0.05 on a straight scale, and the limit 0.80."""
    found = LimitEstimate(0.70, 0.05, 19)
    assert found.statistic(0.80) == pytest.approx(2.0)
    assert found.p_value(0.80, "below") == pytest.approx(stats.t.sf(2, 19))
    assert found.p_value(0.80, "above") == pytest.approx(stats.t.cdf(2, 19))
    (decision,) = decide([LimitTest(found, 0.80, "below")])
    assert decision.outcome == "fails"  # 2 > t(0.95, 19) = 1.729
    assert decision.bounds == pytest.approx((0.70 - 1.7291 * 0.05, 0.70 + 1.7291 * 0.05), abs=1e-5)
    (decision,) = decide([LimitTest(found, 0.80, "above")])
    assert decision.outcome == "passes"
    (decision,) = decide([LimitTest(found, 0.80, "below")], level=0.99)
    assert decision.outcome == "inconclusive"  # 2 < t(0.99, 19) = 2.539


def test_a_share_is_compared_on_the_logit_scale():
    spread = Spread((Component.of_mean("generated", [0.93, 0.97, 0.95, 0.92, 0.98]),))
    low, high = confidence_interval(0.95, spread, level=0.9)
    score = Score(0.95, (low, high), 0.9, standard_error=spread.standard_error)
    found = LimitEstimate.of(score)
    assert found.freedom == pytest.approx(4)
    # The ends of the 90 % interval are where one-sided tests have p = 0.05
    assert found.p_value(low, "above") == pytest.approx(0.05)
    assert found.p_value(high, "below") == pytest.approx(0.05)
    assert found.p_value(low, "below") == pytest.approx(0.95)
    assert found.one_sided(0.05, 0.05) == pytest.approx((low, high))


def test_a_distance_reaches_further_upwards():
    found = LimitEstimate(0.5, 0.1, np.inf, POSITIVE)
    reach = 1.644854 * 0.1
    low, high = found.one_sided(0.05, 0.05)
    assert low == pytest.approx(0.5 - reach)
    assert high == pytest.approx(0.5 * np.exp(reach / 0.5))
    assert found.p_value(high, "below") == pytest.approx(0.05)
    assert found.p_value(low, "above") == pytest.approx(0.05)
    assert LimitEstimate(1e-9, 0.1, np.inf, POSITIVE).one_sided(0.05, 0.05)[1] > 1e100


@given(SHARES, st.floats(1e-4, 0.4), st.sampled_from([UNIT, OPEN, (0.0, np.inf)]))
def test_an_end_tells_how_far_it_reaches(value, reach, bounds):
    for end, bound in zip(ends(value, reach, bounds=bounds), bounds, strict=True):
        if end != bound:
            assert reach_to(value, end, bounds=bounds) == pytest.approx(reach, rel=1e-6)


@given(SHARES, st.floats(0.001, 0.1), st.sampled_from([3, 7.5, 19, 40, np.inf]))
def test_degrees_of_freedom_come_back_from_an_interval(value, error, freedom):
    for bounds in (UNIT, OPEN):
        interval = ends(value, quantile(freedom, 0.95) * error, bounds=bounds)
        found = freedom_behind(value, interval, error, level=0.95, bounds=bounds)
        assert found is not None
        if np.isinf(freedom):
            assert found > 1e5
        else:
            assert found == pytest.approx(freedom, rel=1e-4)


def test_an_interval_that_is_cut_at_both_ends_tells_no_degrees_of_freedom():
    for bounds in (UNIT, (-1.0, 1.0)):
        assert freedom_behind(0.5, bounds, 0.1, level=0.95, bounds=bounds) is None


TESTS = st.lists(
    st.builds(
        LimitTest,
        st.builds(
            LimitEstimate,
            SHARES,
            st.floats(0.001, 0.2),
            st.sampled_from([4.0, 19.0, np.inf]),
            st.sampled_from([UNIT, OPEN, POSITIVE]),
        ),
        SHARES,
        st.sampled_from(["below", "above"]),
    ),
    min_size=1,
    max_size=6,
)


@given(TESTS, st.sampled_from([0.8, 0.95, 0.99]))
def test_the_interval_is_what_decides(tests, level):
    for test, decision in zip(tests, decide(tests, level=level), strict=True):
        low, high = decision.bounds
        assert low <= test.estimate.value <= high
        beyond = high - test.limit if test.side == "below" else test.limit - low
        within = low - test.limit if test.side == "below" else test.limit - high
        if abs(beyond) > 1e-9:
            assert (decision.outcome == "fails") == (beyond < 0)
        if abs(within) > 1e-9:
            assert (decision.outcome == "passes") == (within > 0)


@given(TESTS)
def test_holm_only_takes_failures_back(tests):
    alone = [decide([test])[0].outcome for test in tests]
    for before, after in zip(alone, (each.outcome for each in decide(tests)), strict=True):
        assert after == before or (before, after) == ("fails", "inconclusive")


@given(TESTS, st.randoms())
def test_the_order_of_conditions_changes_nothing(tests, random):
    order = list(range(len(tests)))
    random.shuffle(order)
    found, moved = decide(tests), decide([tests[place] for place in order])
    assert [found[place] for place in order] == moved


def test_several_failures_are_stepped_down():
    errors = LimitEstimate(0.0, 1.0)
    limits = [stats.norm.isf(p) for p in (0.01, 0.02, 0.04)]
    found = decide([LimitTest(errors, limit, "below") for limit in limits])
    assert [each.outcome for each in found] == ["fails", "fails", "fails"]
    assert [each.adjusted_p_met for each in found] == pytest.approx([0.03, 0.04, 0.04])
    found = decide([LimitTest(errors, stats.norm.isf(p), "below") for p in (0.01, 0.03, 0.04)])
    assert [each.outcome for each in found] == ["fails", "inconclusive", "inconclusive"]


def test_a_difference_has_the_errors_of_both():
    ours, theirs = LimitEstimate(0.7, 0.03, 10), LimitEstimate(0.8, 0.04, 20)
    found = ours.less(theirs)
    assert (found.value, found.standard_error) == pytest.approx((-0.1, 0.05))
    assert found.freedom == pytest.approx(25.0**2 / (9.0**2 / 10 + 16.0**2 / 20))
    twice = ours.less(theirs, 2.0)
    assert (twice.value, twice.standard_error) == pytest.approx((-0.9, np.hypot(0.03, 0.08)))


def spread(**deviations):
    return Spread(tuple(Component(source, np.array(each)) for source, each in deviations.items()))


def test_what_one_reference_brings_to_both_is_set_off():
    shared = np.array([0.03, -0.03, 0.04, -0.04])
    ours = spread(reference=shared, generated=[0.01, -0.01])
    theirs = spread(reference=0.5 * shared, generated=[0.02, -0.02])
    found = LimitEstimate.of_difference(-0.1, ours, theirs)
    # Half of the shared deviations remain; what was generated adds up
    variance = 0.25 * (2 * 0.03**2 + 2 * 0.04**2) + 2 * 0.01**2 + 2 * 0.02**2
    assert found.standard_error == pytest.approx(math.sqrt(variance))
    equal = LimitEstimate.of_difference(
        0.0, ours, spread(reference=shared, generated=[0.02, -0.02])
    )
    assert equal.standard_error == pytest.approx(math.sqrt(2 * 0.01**2 + 2 * 0.02**2))


def test_blocks_that_do_not_match_are_not_set_off():
    ours = spread(reference=[0.03, -0.03], generated=[0.01, -0.01])
    assert LimitEstimate.of_difference(0.0, ours, spread(reference=[0.1, 0.0, -0.1])) is None
    assert LimitEstimate.of_difference(0.0, ours, ours.times(math.nan)) is None
    still = spread(reference=[0.0, 0.0])
    assert LimitEstimate.of_difference(0.0, still, still) is None


def test_the_same_samples_err_alike():
    score = LimitEstimate(0.7, 0.03, 10)
    found = score.less(score, same=True)
    assert (found.value, found.standard_error) == (0, 0)
    assert decide([LimitTest(found, -0.02, "below")])[0].outcome == "passes"
    assert decide([LimitTest(found, 0.0, "below")])[0].outcome == "passes"
    assert decide([LimitTest(found, 0.0, "below", inclusive=True)])[0].outcome == "fails"
    assert decide([LimitTest(found, 0.01, "below")])[0].outcome == "fails"


@pytest.mark.parametrize("blocks", [4, 10, 20, 50])
@pytest.mark.parametrize("alpha", [0.2, 0.1, 0.05, 0.01, 0.001])
def test_a_share_that_never_moves_has_a_bound_above_the_exact_one(blocks, alpha):
    exact = 1 - alpha ** (1 / blocks)  # a score of 0 in all blocks, each of mean 1 - (1 - p)
    found = LimitEstimate.of(Score(0.0), blocks=blocks)
    assert found.one_sided(alpha, alpha)[1] >= exact
    assert found.one_sided(alpha, alpha)[0] < 0.0 or found.interval(alpha, alpha)[0] == -np.inf
    mirrored = LimitEstimate.of(Score(1.0), blocks=blocks)
    assert mirrored.one_sided(alpha, alpha)[0] <= 1 - exact


def test_what_has_no_error_is_none():
    assert LimitEstimate.of(Score(0.5)) is None
    assert LimitEstimate.of(Score(0.0, range=(0, np.inf))) is None


def test_so_many_samples_decide_in_four_of_five_runs(rng):
    """At the size that is named, four of five runs decide: by drawing scores at that size."""
    value, limit, error = 0.78, 0.8, 0.02
    (now,) = decide([LimitTest(LimitEstimate(value, error), limit, "below")])
    assert now.outcome == "inconclusive"
    smaller = error / np.sqrt(now.factor)
    outcomes = [
        decide([LimitTest(LimitEstimate(drawn, smaller), limit, "below")])[0].outcome
        for drawn in rng.normal(value, smaller, 4_000)
    ]
    assert outcomes.count("fails") / 4_000 == pytest.approx(0.8, abs=0.02)


def test_on_the_limit_no_number_of_samples_decides():
    assert decide([LimitTest(LimitEstimate(0.8, 0.02), 0.8, "below")])[0].factor is None


@pytest.mark.slow
def test_a_gate_of_normal_scores_errs_no_more_than_its_level(rng):
    """Ten conditions, all with the truth on the limit: 5 % of gates fail; passes are rarer."""
    gates = 4_000
    failed = passed = single = 0
    for scores in rng.normal(size=(gates, 10)):
        found = [
            each.outcome
            for each in decide([LimitTest(LimitEstimate(s, 1.0), 0.0, "below") for s in scores])
        ]
        failed += "fails" in found
        passed += set(found) == {"passes"}
        single += (
            decide([LimitTest(LimitEstimate(scores[0], 1.0), 0.0, "below")])[0].outcome == "passes"
        )
    assert failed / gates == pytest.approx(0.05, abs=0.012)
    assert single / gates == pytest.approx(0.05, abs=0.012)
    assert passed == 0
