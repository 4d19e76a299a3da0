"""Intervals and tests of a whole comparison, also of small sets, several files and groups."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize, stats

import calipers
from calipers.catalogue.choosing import choose, needs_of
from calipers.catalogue.needs import NOTHING
from calipers.catalogue.settings import Settings
from calipers.embedders import Embeddings
from calipers.errors import InputError
from calipers.estimate.axes import preprocess
from calipers.estimate.knn.passes import LocalPasses
from calipers.evaluate import inference
from calipers.evaluate.embedding import Embedded
from calipers.evaluate.inference import adjusted, are_paired, prompts_of
from calipers.evaluate.inputs import InputSet, InputSystem
from calipers.evaluate.intervals import correlations, permutations_for, with_intervals
from calipers.evaluate.scoring import Scored, average
from calipers.evaluate.spaces import RunSpace
from calipers.metrics.pair import Pair
from calipers.report.render.text import plain
from calipers.samples import SampleSet, System
from calipers.score import Score
from calipers.uncertainty.holm import holm
from calipers.uncertainty.replicates import curve_variances, delete_blocks, spreads
from calipers.uncertainty.sample_size import separating_n
from calipers.uncertainty.spread import Component, Spread
from hand_made import listed_tests

SHOWN = "precision recall coverage mauve_star"
ALL = [choice.name for choice in choose(None, ("vectors",))]


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


@pytest.fixture(scope="module")
def everything():
    """All that is measured by default, asked for by name, so that every score has an interval."""
    return compare(metrics=ALL)


@pytest.mark.slow
def test_every_score_of_the_default_set_has_an_interval_that_holds_it(everything):
    usual = {choice.name for choice in choose(None, ("vectors",))} | {"classifier_auc"}
    for system in everything:
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


@pytest.mark.slow
def test_sources_say_what_was_drawn(everything):
    scores = everything["near"].scores
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
    tests = listed_tests(data)
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
    options = {"generated": systems, "metrics": "precision recall density", "normalise": "l2"}
    with pytest.MonkeyPatch.context() as patch:  # what is computed from tests needs all digits
        patch.setattr(inference, "DIGITS", 15)
        return compare(**options), compare(**options, margin=0.05)


def test_tests_have_as_many_digits_as_are_written(found, three):
    for rounded in pair_tests(found):
        numbers = (*rounded.interval, rounded.p_value, rounded.standard_error, rounded.detectable)
        assert all(number == float(f"{number:.5g}") for number in numbers)
        assert rounded.difference == float(f"{rounded.difference:.7g}")
    exact = pair_tests(three[0])
    assert any(test.p_value != float(f"{test.p_value:.5g}") for test in exact)


@pytest.mark.slow
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
    with pytest.raises(InputError, match=r"margin .*0 and 1, such as 0.05; found"):
        compare(margin=margin)


def test_a_margin_needs_a_level():
    with pytest.raises(InputError, match=r"confidence level.*level None"):
        compare(margin=0.05, level=None)


def test_tests_against_the_reference_are_a_family_of_their_own(found):
    tests = [test for test in found.tests if test.b == "reference"]
    assert {test.score for test in tests} == {"classifier_auc", "mmd"}
    assert [t.adjusted_p_value for t in tests] == pytest.approx(holm([t.p_value for t in tests]))
    assert all(test.interval is None for test in tests)
    assert all(test.p_value < 0.01 for test in tests if test.a == "far")


@pytest.mark.slow
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


@pytest.mark.slow
def test_the_same_numbers_on_one_thread_and_on_four(everything):
    found, again = everything, compare(metrics=ALL, threads=4)
    for name in ("near", "far"):
        for key, score in again[name].scores.items():
            first = found[name][key]
            assert score.interval == pytest.approx(first.interval, rel=1e-6, abs=1e-9), key
    assert [t.p_value for t in again.tests] == pytest.approx([t.p_value for t in found.tests])


@pytest.mark.slow
def test_one_seed_fixes_everything(found):
    again = compare()
    assert [intervals(system) for system in again] == [intervals(system) for system in found]
    assert again.tests == found.tests
    other = compare(seed=1, metrics="recall mauve_star")
    assert other["far"]["recall"].interval != found["far"]["recall"].interval
    assert other["far"]["recall"].value == found["far"]["recall"].value


@pytest.mark.slow
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


@pytest.mark.slow
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
    assert pair_tests(found) == []  # it is not ranked


def test_a_score_that_one_system_lacks_is_not_tested():
    same = REFERENCE.copy()
    same[0] += 1e-3  # with a row of its own it is no copy of the reference
    systems = {"far": drawn(220, 1.0), "same": same}
    for generated in (systems, dict(reversed(systems.items()))):
        found = compare(generated=generated, metrics="realism recall")
        assert [test.score for test in pair_tests(found)] == ["recall"]


@pytest.mark.slow
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_sets_that_do_not_vary():
    still = np.ones((220, 5), np.float32)
    found = compare(still, {"still": still, "near": drawn(220)}, metrics="support frontier prd mmd")
    assert found["still"]["precision"].interval is None
    for score in found["still"].scores.values():
        assert score.interval is None or score.interval[0] <= score.value <= score.interval[1]


def test_identical_and_still_but_different_scores_say_why():
    # All of one system lies on a point of the reference, none of the other does
    point, other = (np.tile(np.float32(row), (100, 1)) for row in ([1, 0], [0, 5]))
    systems = {"on": np.concatenate([point, point]), "off": np.full((200, 2), 9, np.float32)}
    found = compare(np.concatenate([point, other]), systems, metrics="precision")
    (test,) = pair_tests(found)
    assert test.difference == 1
    assert np.isnan([test.p_value, test.adjusted_p_value]).all()
    assert test.reason == "neither score varies between resamples, yet they differ"


@pytest.mark.slow
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


@pytest.mark.slow
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
    with pytest.raises(InputError, match=r"level .*0 and 1"):
        compare(level=level)


def test_refuses_pairs_that_cannot_be():
    with pytest.raises(InputError, match=r"one size.* 200 to 210"):
        compare(generated={"a": NEAR, "b": FAR[:200]}, paired=True, keep_sizes=True)
    with pytest.raises(InputError, match=r"paired .*'yes'"):
        compare(paired="yes")
    with pytest.raises(InputError, match=r"paired .*found 1"):
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
    *known, unknown = (test.adjusted_p_value for test in adjusted(tests))
    assert known == pytest.approx([0.03, 0.02])
    assert np.isnan(unknown)
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


def files(name, *sizes, shift=0.0):
    sets = [
        SampleSet.from_vectors(drawn(n, shift, seed=10 + i), name=f"{name}{i}")
        for i, n in enumerate(sizes)
    ]
    return System(name, tuple(sets))


@pytest.mark.slow
def test_several_files_are_the_seeds_of_a_system():
    found = compare(generated=[files("a", 210, 210, 210), files("b", 210, shift=0.3)])
    for key in SHOWN.split():
        score = found["a"][key]
        low, high = score.interval or (1.0, 1.0)  # a share of 1 in every part does not move
        assert low <= score.value <= high, key
    single = compare(generated=[System("a", (files("a", 210).sets[0],))], metrics="recall")
    recall = found["a"]["recall"]
    assert recall.sources["generated"] < single["a"]["recall"].sources["generated"]
    assert len(recall.seeds) == 3
    assert len(pair_tests(found)) == len(SHOWN.split())


@pytest.mark.slow
def test_files_of_different_size_that_were_kept():
    found = compare(generated=[files("a", 210, 410, shift=0.5)], keep_sizes=True, metrics=ALL)
    assert all(found["a"][key].interval for key in (*SHOWN.split(), "realism", "sphere_recall"))


@pytest.mark.slow
def test_a_file_too_small_for_replicates_says_so():
    found = compare(
        generated=[files("a", 60, 210), files("b", 210)], keep_sizes=True, metrics=SHOWN
    )
    assert found["a"]["recall"].interval is None
    assert found["b"]["recall"].interval is not None
    assert pair_tests(found) == []
    few = "too few samples for intervals and for tests between systems: 60 of 100"
    assert any(warning.startswith(f"a: {few}") for warning in found.warnings)


@pytest.mark.parametrize("n", [6, 30, 99])
def test_sets_too_small_for_blocks(n):
    found = compare(drawn(n), {"a": drawn(n, seed=1), "b": drawn(n, seed=2)})
    assert all(score.interval is None for system in found for score in system.scores.values())
    assert pair_tests(found) == []
    assert (
        f"too few samples for intervals and for tests between systems: {n} of 100 "
        "(20 blocks of k + 1)"
    ) in found.warnings


def test_sets_large_enough_for_some_scores():
    usual = [choice.name for choice in choose(None, ("embedding",))]
    found = compare(drawn(120), {"a": drawn(120, seed=1)}, metrics=usual)
    assert found["a"]["recall"].interval is not None
    assert found["a"]["realism"].interval is None
    assert (
        "too few samples for the intervals of realism, clipped_density, clipped_coverage, "
        "probabilistic_precision and 7 more: 120 of 200"
    ) in found.warnings
    plain = compare(drawn(120), {"a": drawn(120, seed=1)}, metrics=SHOWN)
    assert not any("too few" in warning for warning in plain.warnings)


def test_a_larger_k_needs_more_samples():
    found = compare(k=10, metrics="recall")
    assert any("210 of 220" in warning for warning in found.warnings)
    assert compare(k=9, metrics="density")["near"]["density"].interval is not None


@pytest.fixture(scope="module")
def grouped():
    labels = [str(row % 3) for row in range(220)]
    reference = SampleSet.from_vectors(REFERENCE, name="r").with_groups(labels)
    near = SampleSet.from_vectors(NEAR, name="near").with_groups(labels[:210])
    return compare(reference, {"near": near, "far": FAR}, group="topic", metrics="support")


def test_groups_have_intervals(grouped):
    keys = [key for key in grouped["near"].scores if "=" in key]
    assert {key.split(":")[0] for key in keys} == {"precision", "recall", "coverage"}
    assert any(":own=" in key for key in keys)
    for key in keys:
        score = grouped["near"][key]
        if score.interval is None:
            assert score.value in (0.0, 1.0), key
            continue
        assert score.interval[0] <= score.value <= score.interval[1], key
    wider = [grouped["near"][f"coverage:group={g}"].standard_error for g in "012"]
    assert min(wider) > grouped["near"]["coverage"].standard_error


def test_groups_do_not_move_the_interval_of_the_whole(grouped):
    keys = ("precision", "recall", "density", "coverage")
    found = compare(metrics=keys)
    for key in keys:
        assert certain(grouped["near"][key]) == certain(found["near"][key])


def test_only_what_is_shown_has_intervals_and_floors(found):
    moving = [key for key, score in found["near"].scores.items() if score.interval]
    assert moving == [*SHOWN.split(), "classifier_auc"]  # which is shown beside the tests
    everything = compare(metrics=[*found["near"].scores])
    for key, score in found["near"].scores.items():
        assert everything["near"][key].value == score.value
        if key in moving:
            assert certain(everything["near"][key]) == certain(score)
    assert everything["near"]["density"].interval is not None
    bands = found["near"].curve_errors
    assert bands.keys() == {"frontier", "frontier_star", "prd"}
    for key, errors in everything["near"].curve_errors.items():
        np.testing.assert_array_equal(bands[key], errors)


def test_a_group_that_one_block_holds_has_no_interval_and_disturbs_no_other():
    labels = ["rare", *(["other"] * 219)]
    reference = SampleSet.from_vectors(REFERENCE, name="r").with_groups(labels)
    all_one = SampleSet.from_vectors(REFERENCE, name="r").with_groups(["other"] * 220)
    rare, none = (
        compare(each, {"near": NEAR}, group="topic", metrics="support")["near"]
        for each in (reference, all_one)
    )
    assert rare["recall:group=rare"].interval is None
    ours, whole = (each["coverage:group=other"].standard_error for each in (rare, none))
    assert ours == pytest.approx(whole, rel=0.1)


@pytest.mark.slow
def test_shared_cells_keep_their_blocks(found):
    shared = compare(shared=True)
    for system in shared:
        for key in SHOWN.split():
            score = system[key]
            assert score.interval[0] <= score.value <= score.interval[1], key
    ours, theirs = (each["near"]["mauve_star"].standard_error for each in (shared, found))
    assert 0.5 < ours / theirs < 2
    several = compare(generated=[files("a", 210, 210), files("b", 210)], shared=True)
    assert several["a"]["mauve_star"].interval is not None
    assert len(set(several["a"]["mauve_star"].seeds)) == 2
    assert len(pair_tests(several)) == len(SHOWN.split())


def test_pairs_that_could_not_be_used_are_not_claimed():
    found = compare(
        generated=[files("a", 210, 210), files("b", 210)], metrics="recall", paired=True
    )
    assert [test.paired for test in pair_tests(found)] == [False]


def test_shared_cells_of_a_file_by_block():
    near, two = drawn(105, 0.2, seed=1), drawn(110, 0.4, seed=2)
    sets = [(Embeddings({"v": each}, {}),) for each in (near,)]
    sets.append((Embeddings({"v": two}, {}), Embeddings({"v": near + 1}, {})))
    embedded = Embedded(Embeddings({"v": REFERENCE}, {}), tuple(sets))
    space = RunSpace.of(embedded, ["x", "y"], Settings(threads=1))
    for system in sets:
        for file in system:
            pair = space.pair("v", file, Settings(threads=1), NOTHING)
            cells = pair.estimates.cells
            labels = cells.labels[1]
            np.testing.assert_array_equal(
                cells.best.generated, np.bincount(labels, minlength=len(cells.centres))
            )
            for block in range(20):
                rest = labels[pair.blocks[1].labels != block]
                np.testing.assert_array_equal(
                    cells.best.without("generated", block).generated,
                    np.bincount(rest, minlength=len(cells.centres)),
                )
                kept = cells.labels[0][pair.blocks[0].labels != block]
                np.testing.assert_array_equal(
                    cells.best.without("reference", block).reference,
                    np.bincount(kept, minlength=len(cells.centres)),
                )


def answers(name, *files):
    sets = (SampleSet.from_texts(["x"] * len(each), name=name, prompts=each) for each in files)
    return InputSystem(name, tuple(InputSet(each, len(each)) for each in sets))


def test_pairs_are_found_file_by_file():
    one, two = ["where", "when", "why"], ["who", "what", "how"]
    assert are_paired(answers("a", one), answers("b", one))
    assert are_paired(answers("a", one, two), answers("b", one, two))
    assert not are_paired(answers("a", one, two), answers("b", two, one))
    assert not are_paired(answers("a", one, two), answers("b", one))
    assert not are_paired(answers("a", one), answers("b", one[:2]))


def test_systems_that_answer_the_same_prompts_have_one_number():
    one, two = ["where", "when", "why"], ["who", "what", "how"]
    systems = [answers("a", one), answers("b", two), answers("c", one), answers("d", two)]
    assert prompts_of(systems, None) == [0, 1, 0, 1]
    assert prompts_of(systems, True) == [0, 0, 0, 0]
    assert prompts_of(systems, False) == [0, 1, 2, 3]
    assert prompts_of([*systems, answers("e", one, two)], None)[4] == 4
    assert prompts_of([], None) == []


def test_the_number_that_would_separate_counts_the_smaller_set():
    found = compare(
        generated={"a": drawn(200, 0.3, seed=4), "b": drawn(400, 0.35, seed=5)},
        keep_sizes=True,
        metrics="density",
    )
    (test,) = pair_tests(found)
    low, high = test.interval
    assert low < 0 < high
    errors = [found[name]["density"].standard_error for name in "ab"]
    larger = separating_n(test.difference, sum(errors), 200)
    smaller = separating_n(test.difference, min(errors) / 2, 200) or 200
    assert smaller < test.separating_n < larger
    wanted = 200 * ((1.96 + 0.8416) / abs(test.difference)) ** 2
    assert test.separating_n == pytest.approx(
        wanted * (np.diff(test.interval)[0] / 4.1) ** 2, rel=0.1
    )


def test_scores_whose_movement_nothing_tells_are_named():
    rng = np.random.default_rng(0)
    rows = [rng.standard_normal((120, 4)) for _ in range(2)]
    made = calipers.compare(*rows, metrics="mauve:knn precision", cache=False)
    (said,) = (warning for warning in made.warnings if warning.startswith("no intervals"))
    assert said.startswith("no intervals for mauve:knn: neither the omission of blocks")
    (system,) = made
    assert system["mauve:knn"].interval is None
    assert system["precision"].interval is not None


def moving(*deviations):
    return Spread((Component("reference", np.array(deviations, float)),))


def test_scores_of_one_view_are_paired_by_their_keys():
    up, down, across = moving(1, -1, 0), moving(-1, 1, 0), moving(1, 1, -2)
    spreads = {"precision": up, "recall": down, "form.precision": up, "form.recall": across}
    spreads |= {"density": up, "coverage": up, "form.density": up}
    assert correlations(spreads) == pytest.approx(
        {
            "precision|recall": -1,
            "precision|coverage": 1,
            "form.precision|form.recall": 0,
            "density|coverage": 1,
        }
    )


def test_both_sets_move_a_curve(rng):
    sets = rng.standard_normal((150, 3)), rng.standard_normal((150, 3)) + 0.7
    found = calipers.compare(sets[0], {"x": sets[1]}, metrics="mauve,prd_f8", floor=False)["x"]
    rows = preprocess(*sets, norm="none")
    choices = choose("mauve,prd_f8", ("embedding",))
    pair = Pair(
        rows.reference, rows.generated, Settings(), needs_of(each.metric for each in choices)
    )
    for choice in choices:
        choice.score(pair)
    left_out = delete_blocks(pair)
    spreads(pair, choices, left_out=left_out)
    for key, (reference, generated) in curve_variances(pair, left_out).items():
        assert min(reference.max(), generated.max()) > 0
        np.testing.assert_allclose(
            found.curve_errors[key], np.sqrt(reference + generated), rtol=1e-6, atol=1e-12
        )
    assert set(found.curve_errors) == {"frontier", "prd"}


def test_without_intervals_there_are_none(rng):
    sets = rng.standard_normal((2, 150, 3))
    found = calipers.compare(sets[0], {"x": sets[1]}, metrics="mauve", level=None, floor=False)
    assert (found["x"].curve_errors, found["x"].correlations) == ({}, {})
    assert set(found["x"].curves) == {"frontier"}


def of_file(curve, reference, generated):
    variances = np.array([[reference], [generated]], float)
    return Scored({}, {"prd": np.array([curve], float)}, {}, curve_variances={"prd": variances})


def test_files_share_the_reference_and_add_a_part_of_their_own():
    files = [of_file([0.5, 0.5], [4, 8], [2, 6]), of_file([0.5, 0.5], [2, 0], [6, 2])]
    reference, generated = average(files).curve_variances["prd"]
    assert reference.tolist() == [[3, 4]]
    assert generated.tolist() == [[2, 2]]  # means of 4, halved


def test_files_that_scatter_more_than_chance_have_that_scatter():
    files = [of_file([value, 0.5], [0, 0], [1, 1]) for value in (1, 2, 6)]
    moved = average(files).curve_variances["prd"][1, 0]
    assert moved.tolist() == pytest.approx([14 / 2 / 3, 1 / 3])


def test_a_curve_whose_errors_one_file_lacks_has_none():
    known, unknown = of_file([1, 1], [1, 1], [1, 1]), Scored({}, {"prd": np.ones((1, 2))}, {})
    assert average([known, unknown]).curve_variances == {}
    assert average([known, unknown]).curves["prd"].tolist() == [[1, 1]]


def test_a_p_value_that_no_permutation_reached_is_at_its_limit(rng):
    far, near = rng.normal(size=(140, 3)) + 9, rng.normal(size=(140, 3))
    found = calipers.compare(
        rng.normal(size=(140, 3)), {"far": far, "near": near}, cache=False, floor=False
    )
    tests = {(test.a, test.score): test for test in found.tests if test.b == "reference"}
    assert tests["far", "mmd"].at_limit
    assert not tests["near", "mmd"].at_limit
    assert "yes: p ≤ " in plain(found.document(details=True))
    between = [test for test in found.tests if test.b != "reference"]
    assert between
    assert not any(test.at_limit for test in between)


@pytest.mark.parametrize("prompts", [False, True])
def test_without_intervals_no_more_neighbours_are_found_than_scores_need(rng, monkeypatch, prompts):
    asked = []
    nearest = LocalPasses.nearest

    def noted(self, points, k):
        asked.append(k)
        return nearest(self, points, k)

    monkeypatch.setattr(LocalPasses, "nearest", noted)
    sets = rng.normal(size=(2, 400, 8))
    options = {"metrics": ["precision", "recall", "mauve"], "floor": False, "paired": prompts}
    scores = []
    for level in (0.95, None):
        asked.clear()
        found = calipers.compare(sets[0], {"x": sets[1]}, level=level, **options)["x"]
        assert max(asked) <= 5 if level is None else min(asked) > 20
        scores.append([found[key].value for key in ("precision", "recall", "mauve")])
    assert scores[0] == scores[1]
