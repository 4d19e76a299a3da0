"""Intervals and tests where sets are small, come in several files or in groups, or share cells."""

from __future__ import annotations

import numpy as np
import pytest

import calipers
from calipers.catalogue.needs import NOTHING
from calipers.embed import Embeddings
from calipers.metrics.pair import Settings
from calipers.road.certainty import are_paired, prompts_of
from calipers.road.intake import Cut, Entry
from calipers.road.shared import RunSpace
from calipers.road.stages import Embedded
from calipers.samples import SampleSet, System
from calipers.uncertainty.sample_size import separating_n

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


def pair_tests(found):
    return [test for test in found.tests if test.b != "reference"]


@pytest.fixture(scope="module")
def found():
    return compare()


def files(name, *sizes, shift=0.0):
    sets = [
        SampleSet.from_vectors(drawn(n, shift, seed=10 + i), name=f"{name}{i}")
        for i, n in enumerate(sizes)
    ]
    return System(name, tuple(sets))


def test_several_files_are_the_seeds_of_a_system():
    found = compare(generated=[files("a", 210, 210, 210), files("b", 210, shift=0.3)])
    for key, score in found["a"].scores.items():
        low, high = score.interval or (1.0, 1.0)  # a share of 1 in every part does not move
        assert low <= score.value <= high, key
    single = compare(generated=[System("a", (files("a", 210).sets[0],))], metrics="recall")
    recall = found["a"]["recall"]
    assert recall.sources["generated"] < single["a"]["recall"].sources["generated"]
    assert len(recall.seeds) == 3
    assert len(pair_tests(found)) == 4


def test_files_of_different_size_that_were_kept():
    found = compare(generated=[files("a", 210, 410, shift=0.5)], keep_sizes=True)
    assert all(found["a"][key].interval for key in (*SHOWN.split(), "realism", "sphere_recall"))


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
    found = compare(drawn(120), {"a": drawn(120, seed=1)})
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


def test_groups_do_not_move_the_interval_of_the_whole(grouped, found):
    for key in ("precision", "recall", "density", "coverage"):
        assert certain(grouped["near"][key]) == certain(found["near"][key])


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


def test_shared_cells_keep_their_blocks(found):
    shared = compare(shared=True)
    for system in shared:
        for key, score in system.scores.items():
            assert score.interval[0] <= score.value <= score.interval[1], key
    ours, theirs = (each["near"]["mauve_star"].standard_error for each in (shared, found))
    assert 0.5 < ours / theirs < 2
    several = compare(generated=[files("a", 210, 210), files("b", 210)], shared=True)
    assert several["a"]["mauve_star"].interval is not None
    assert len(set(several["a"]["mauve_star"].seeds)) == 2
    assert len(pair_tests(several)) == 4


def test_pairs_that_could_not_be_used_are_not_claimed():
    found = compare(
        generated=[files("a", 210, 210), files("b", 210)], metrics="recall", paired=True
    )
    assert [test.paired for test in pair_tests(found)] == [False]


def test_shared_cells_of_a_file_by_block():
    near, two = drawn(105, 0.2, seed=1), drawn(110, 0.4, seed=2)
    sets = [(Embeddings({"v": each}, {}),) for each in (near,)]
    sets.append((Embeddings({"v": two}, {}), Embeddings({"v": near + 1}, {})))
    space = RunSpace.of(Embedded(Embeddings({"v": REFERENCE}, {}), tuple(sets)), ["x", "y"])
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
    return Entry(name, tuple(Cut(each, len(each)) for each in sets))


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
    assert said.startswith("no intervals for mauve:knn: neither blocks left out")
    (system,) = made
    assert system["mauve:knn"].interval is None
    assert system["precision"].interval is not None
