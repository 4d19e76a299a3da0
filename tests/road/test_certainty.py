"""Intervals and tests of a whole comparison, on vectors that were drawn for it."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize, stats

import calipers
from calipers.catalogue.choosing import choose
from calipers.errors import InputError
from calipers.road.certainty import adjusted, permutations_for, with_intervals
from calipers.score import Score
from calipers.uncertainty.holm import holm
from calipers.uncertainty.spread import Component, Spread

SHOWN = "precision recall coverage mauve_star"


def drawn(n, shift=0.0, seed=0, d=5):
    rng = np.random.default_rng([77, n, seed])
    return (rng.standard_normal((n, d)) + shift).astype(np.float32)


REFERENCE = drawn(220)
NEAR, FAR = drawn(210, 0.2, seed=1), drawn(210, 1.0, seed=2)


def compare(reference=REFERENCE, generated=None, **options):
    options = {"floor": False, "threads": 1, "cache": False} | options
    return calipers.compare(reference, generated or {"near": NEAR, "far": FAR}, **options)


def certain(score):
    return score.interval, score.level, score.standard_error, dict(score.sources), score.approximate


def intervals(system):
    return {key: certain(score) for key, score in system.scores.items()}


def pair_tests(found):
    return [test for test in found.tests if test.b != "reference"]


@pytest.fixture(scope="module")
def found():
    return compare()


def test_every_score_of_the_default_set_has_an_interval_that_holds_it(found):
    usual = {choice.name for choice in choose(None, ("vectors",))}
    for system in found:
        assert system.scores.keys() == usual
        for key, score in system.scores.items():
            low, high = score.interval
            assert low <= score.value <= high, key
            assert low < high, key
            assert score.range[0] <= low, key
            assert high <= score.range[1], key
            assert score.level == 0.95
            assert score.standard_error > 0
            assert sum(each**2 for each in score.sources.values()) == pytest.approx(
                score.standard_error**2
            )


def test_sources_say_what_was_drawn(found):
    scores = found["near"].scores
    assert set(scores["precision"].sources) == {"reference", "generated"}
    assert set(scores["mauve"].sources) == {"reference", "generated", "seed"}
    assert set(scores["prd_f8"].sources) == {"reference", "generated", "seed"}
    assert set(scores["frechet_distance"].sources) == {"reference", "generated"}
    assert set(scores["realism"].sources) == {"both"}
    approximate = {key for key, score in scores.items() if score.approximate}
    assert {"realism", "sphere_recall"} <= approximate
    assert not approximate & {"recall", "density", "frechet_distance", "frontier_integral"}


def test_json_carries_all_of_it(found):
    data = json.loads(json.dumps(found.to_dict()))
    score = data["systems"][0]["scores"]["recall"]
    assert score["interval"] == list(found["near"]["recall"].interval)
    assert (score["level"], score["approximate"]) == (0.95, False)
    assert set(score["sources"]) == {"reference", "generated"}
    tests = data["tests"]
    assert {(each["a"], each["b"]) for each in tests} == {
        ("near", "far"),
        ("near", "reference"),
        ("far", "reference"),
    }
    assert data["settings"]["level"] == 0.95


def test_tests_between_systems(found):
    tests = {test.score: test for test in pair_tests(found)}
    assert set(tests) == set(SHOWN.split())
    for key, test in tests.items():
        gap = found["near"][key].value - found["far"][key].value
        assert test.difference == pytest.approx(gap)
        assert test.interval[0] < gap < test.interval[1]
        assert not test.paired
        assert test.reason is None
    assert tests["mauve_star"].p_value < 0.01
    family = [test.p_value for test in pair_tests(found)]
    corrected = np.array([test.adjusted_p_value for test in pair_tests(found)])
    # By step-down: never more is added than by Holm, but for what draws leave to chance
    assert (corrected <= holm(family) + 0.01).all()
    assert (corrected >= np.array(family) - 0.01).all()


def test_tests_say_what_they_would_have_found(found):
    for test in pair_tests(found):
        reach = (test.interval[1] - test.interval[0]) / 2
        assert reach == pytest.approx(2.03 * test.standard_error, rel=0.03)
        # At a level corrected for four tests, and found in four of five runs
        assert 1.3 * reach < test.detectable < 1.9 * reach
        assert test.equivalence is None
    for test in found.tests:
        if test.b == "reference":
            assert (test.standard_error, test.detectable, test.equivalence) == (None, None, None)


@pytest.fixture(scope="module")
def three():
    systems = {"near": NEAR, "again": drawn(210, 0.2, seed=5), "far": FAR}
    options = {"generated": systems, "metrics": "precision recall density"}
    return compare(**options), compare(**options, margin=0.05)


def test_all_pairs_and_scores_are_one_family(three):
    tests = pair_tests(three[0])
    assert len(tests) == 9
    corrected = [test.adjusted_p_value for test in tests]
    by_holm = holm([test.p_value for test in tests])
    assert (corrected <= by_holm + 0.01).all()
    assert sum(corrected) < sum(by_holm) - 0.1


def test_equivalence_is_tested_where_a_margin_was_given(three):
    plain, made = three
    tests = {(t.a, t.b, t.score): t for t in pair_tests(made)}
    # Density is no share, and a margin says nothing of it
    assert {key[2] for key, t in tests.items() if t.equivalence is None} == {"density"}
    bounded = [t for key, t in tests.items() if key[2] != "density"]
    statistics = [(0.05 - abs(t.difference)) / t.standard_error for t in bounded]
    alone = [stats.t.sf(t, freedom(test)) for t, test in zip(statistics, bounded, strict=True)]
    assert [t.equivalence for t in bounded] == pytest.approx(holm(alone), rel=1e-4, abs=1e-9)
    assert tests["near", "again", "precision"].equivalence < 0.001
    assert tests["near", "far", "recall"].equivalence == 1.0
    assert (plain.settings["margin"], made.settings["margin"]) == (None, 0.05)
    assert "≡" in str(made)
    assert "≡" not in str(plain)
    assert [replace(t, equivalence=None) for t in pair_tests(made)] == list(pair_tests(plain))


def freedom(test):
    """The degrees of freedom behind the interval of a difference."""
    reach = (test.interval[1] - test.interval[0]) / 2 / test.standard_error
    return optimize.brentq(lambda freedom: stats.t.isf(0.025, freedom) - reach, 3, 1000)


@pytest.mark.parametrize("margin", [0, 1, -0.1, 5, np.nan, True, "0.05"])
def test_refuses_a_margin_that_is_none(margin):
    with pytest.raises(
        InputError, match=r"margin must lie between 0 and 1, such as 0\.05, or be N"
    ):
        compare(margin=margin)


def test_a_margin_needs_a_level():
    with pytest.raises(InputError, match="tests of equivalence, which need a level; found None"):
        compare(margin=0.05, level=None)


def test_tests_against_the_reference_are_a_family_of_their_own(found):
    tests = [test for test in found.tests if test.b == "reference"]
    assert {test.score for test in tests} == {"classifier_auc", "mmd"}
    assert [t.adjusted_p_value for t in tests] == pytest.approx(holm([t.p_value for t in tests]))
    assert all(test.interval is None for test in tests)
    assert all(test.p_value < 0.01 for test in tests if test.a == "far")


def test_another_level_changes_the_ends_alone(found):
    wide = compare(level=0.99, metrics=SHOWN)
    for key in SHOWN.split():
        one, two = found["far"][key], wide["far"][key]
        assert two.interval[0] <= one.interval[0] <= one.interval[1] <= two.interval[1]
        assert (one.standard_error, one.value) == (two.standard_error, two.value)
        assert two.level == 0.99
    assert [t.p_value for t in pair_tests(wide)] == [t.p_value for t in pair_tests(found)]
    assert pair_tests(wide)[0].interval[0] < pair_tests(found)[0].interval[0]


def test_no_level_no_intervals_no_tests(found):
    bare = compare(level=None)
    assert bare.tests == ()
    for key, score in bare["near"].scores.items():
        assert certain(score) == (None, None, None, {}, False), key
        assert score.value == found["near"][key].value
    assert bare.settings["level"] is None
    assert not any("interval" in warning for warning in bare.warnings)


def test_the_same_numbers_on_one_thread_and_on_four(found):
    again = compare(threads=4)
    for name in ("near", "far"):
        for key, score in again[name].scores.items():
            first = found[name][key]
            assert score.interval == pytest.approx(first.interval, rel=1e-6, abs=1e-9), key
    assert [t.p_value for t in again.tests] == pytest.approx([t.p_value for t in found.tests])


def test_one_seed_fixes_everything(found):
    again = compare()
    assert [intervals(system) for system in again] == [intervals(system) for system in found]
    assert again.tests == found.tests
    other = compare(seed=1, metrics="recall mauve_star")
    assert other["far"]["recall"].interval != found["far"]["recall"].interval
    assert other["far"]["recall"].value == found["far"]["recall"].value


def test_neither_the_order_nor_a_further_system_moves_an_interval(found):
    third = drawn(210, 0.5, seed=3)
    more = compare(generated={"third": third, "far": FAR, "near": NEAR})
    for name in ("near", "far"):
        assert intervals(more[name]) == intervals(found[name])
    turned = {t.score: t for t in pair_tests(more) if (t.a, t.b) == ("far", "near")}
    for test in pair_tests(found):
        assert turned[test.score].difference == pytest.approx(-test.difference)
        assert turned[test.score].p_value == pytest.approx(test.p_value, abs=0.02)
        assert turned[test.score].adjusted_p_value >= test.adjusted_p_value - 0.02
    assert len(pair_tests(more)) == 3 * len(pair_tests(found))


def test_one_system_alone_has_no_one_to_be_held_against_but_the_reference():
    alone = compare(generated={"near": NEAR}, metrics=SHOWN)
    assert {test.b for test in alone.tests} == {"reference"}
    assert alone["near"]["recall"].interval is not None


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_two_systems_that_are_one():
    found = compare(generated={"a": NEAR, "b": NEAR.copy()}, metrics=SHOWN)
    assert {test.p_value for test in pair_tests(found)} == {1.0}
    assert {test.adjusted_p_value for test in pair_tests(found)} == {1.0}
    assert {test.difference for test in pair_tests(found)} == {0.0}
    assert intervals(found["a"]) == intervals(found["b"])


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_system_that_is_the_reference():
    found = compare(generated={"same": REFERENCE.copy(), "far": drawn(220, 1.0)})
    scores = found["same"].scores
    assert scores["coverage"].interval is None  # nothing moves it
    assert scores["coverage"].value == 1.0
    assert np.isinf(scores["realism"].value)
    assert scores["realism"].interval is None
    against = {t.score: t.p_value for t in found.tests if (t.a, t.b) == ("same", "reference")}
    assert against["mmd"] > 0.5
    tests = {test.score: test for test in pair_tests(found)}
    assert tests["mauve_star"].p_value < 0.05


def test_a_score_that_one_system_lacks_is_not_tested():
    systems = {"far": drawn(220, 1.0), "same": REFERENCE.copy()}
    for generated in (systems, dict(reversed(systems.items()))):
        found = compare(generated=generated, metrics="realism recall")
        assert [test.score for test in pair_tests(found)] == ["recall"]


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_sets_that_do_not_vary():
    still = np.ones((220, 5), np.float32)
    found = compare(still, {"still": still, "near": drawn(220)}, metrics="support frontier prd mmd")
    assert found["still"]["precision"].interval is None
    for score in found["still"].scores.values():
        assert score.interval is None or score.interval[0] <= score.value <= score.interval[1]


def test_identical_and_still_but_different_scores_say_why():
    # All of one system lies on the reference's one point, none of the other does
    point = np.tile(np.float32([1, 0]), (200, 1))
    found = compare(point, {"on": point, "off": point[:, ::-1].copy()}, metrics="precision")
    (test,) = pair_tests(found)
    assert (test.difference, test.adjusted_p_value, test.p_value) == pytest.approx(
        (1.0, np.nan, np.nan), nan_ok=True
    )
    assert test.reason == "neither score moves from one draw to another, yet they differ"


def test_pairs_are_found_and_sharpen_the_test(rng):
    prompts = 1.5 * rng.standard_normal((210, 5))
    one, two = (prompts + 0.2 * rng.standard_normal((210, 5)) for _ in range(2))
    systems = {"one": one.astype(np.float32), "two": two.astype(np.float32)}
    apart, together, found_out = (
        compare(generated=systems, metrics="density prd_f8", paired=paired)
        for paired in (False, True, None)
    )
    assert {test.paired for test in pair_tests(together)} == {True}
    assert {test.paired for test in pair_tests(apart)} == {False}
    assert {test.paired for test in pair_tests(found_out)} == {False}  # vectors have no prompts
    widths = [
        {test.score: np.subtract(*test.interval[::-1]) for test in pair_tests(each)}
        for each in (apart, together)
    ]
    assert widths[1]["prd_f8"] < 0.8 * widths[0]["prd_f8"]
    # Row i of both lies in the same half: where halves decide, what prompts do cancels anyway
    assert widths[1]["density"] < 1.05 * widths[0]["density"]
    assert intervals(apart["one"]) == intervals(together["one"])


def test_what_a_comparison_of_cosines_or_of_doubles_says():
    for options in ({"distance": "cosine"}, {"ties": "open"}):
        assert compare(metrics=SHOWN, **options)["far"]["recall"].interval is not None
    doubles = compare(
        REFERENCE.astype(float), {"near": NEAR.astype(float)}, metrics="precision recall"
    )
    singles = compare(generated={"near": NEAR}, metrics="precision recall")
    assert doubles["near"]["recall"].interval == pytest.approx(
        singles["near"]["recall"].interval, rel=1e-6
    )


@pytest.mark.parametrize("level", [0, 1, -1, 1.5, np.nan, True, "0.95"])
def test_refuses_a_level_that_is_none(level):
    with pytest.raises(InputError, match=r"level must lie between 0 and 1, such as 0\.95; found"):
        compare(level=level)


def test_refuses_pairs_that_cannot_be():
    with pytest.raises(InputError, match=r"generated sets of one size.* found 200 to 210 samples"):
        compare(generated={"a": NEAR, "b": FAR[:200]}, paired=True, keep_sizes=True)
    with pytest.raises(InputError, match="paired must be True, False or None; found 'yes'"):
        compare(paired="yes")
    with pytest.raises(InputError, match="paired must be True, False or None; found 1"):
        compare(paired=1)


def test_only_known_spreads_become_intervals():
    scores = {"known": Score(0.5), "unknown": Score(0.5), "still": Score(1.0)}
    moves = Spread((Component("both", np.array([0.01, -0.01])),), approximate=True)
    still = Spread((Component("both", np.zeros(2)),))
    made = with_intervals(scores, {"known": moves, "still": still, "other": moves}, 0.9)
    assert made.keys() == scores.keys()
    assert made["known"].approximate
    assert made["known"].level == 0.9
    assert made["unknown"] is scores["unknown"]
    assert made["still"].interval is None


def test_a_family_is_corrected_in_its_order(found):
    tests = [replace(found.tests[0], p_value=p) for p in (0.03, 0.01, np.nan)]
    assert [test.adjusted_p_value for test in adjusted(tests)] == pytest.approx(
        [0.03, 0.02, np.nan], nan_ok=True
    )
    assert adjusted([]) == ()


@pytest.mark.parametrize(
    ("tests", "level", "rows", "expected"),
    [
        (8, 0.95, 8_000, 499),
        (100, 0.95, 8_000, 3_999),
        (8, 0.99, 8_000, 1_599),
        (8, 0.95, 600, 3_199),
        (8, 0.9999, 600, 19_999),
    ],
)
def test_more_tests_take_more_permutations(tests, level, rows, expected):
    assert permutations_for(tests, level, rows=rows) == expected
