"""``by_prompt``: whole runs on sets of answers, and what cannot be run."""

from __future__ import annotations

import json

import numpy as np
import pytest

import calipers
from calipers.commands.prompts import tests as prompt_tests
from calipers.commands.prompts.options import PromptsOptions
from calipers.commands.prompts.scores import PromptSamples
from calipers.errors import InputError
from calipers.metrics import similarity_across, similarity_between, similarity_within
from calipers.results.result import load
from calipers.samples import SampleSet

PROMPTS = 24
OPTIONS = {"cache": False, "permutations": 99, "threads": 1}


def vectors(seed: int, *, samples: int = 4, spread: float = 1.0, moved: float = 0.0, name="x"):
    """Answers about a place of each prompt, in random order."""
    places = np.random.default_rng(99).standard_normal((PROMPTS, 1, 6))
    rng = np.random.default_rng(seed)
    rows = places + spread * rng.standard_normal((PROMPTS, samples, 6)) + moved
    order = rng.permutation(PROMPTS * samples)
    labels = np.repeat([f"p{p:02}" for p in range(PROMPTS)], samples)[order]
    samples_set = SampleSet.from_vectors(rows.reshape(-1, 6)[order], name=name)
    return samples_set.with_clusters(labels.tolist())


def texts(name: str, answers: dict[str, list[str]]):
    rows = [(text, prompt) for prompt, own in answers.items() for text in own]
    return SampleSet.from_texts([t for t, _ in rows], name=name, prompts=[p for _, p in rows])


@pytest.fixture(scope="module")
def found():
    return calipers.prompts(
        vectors(0, name="human"),
        {"same": vectors(1), "narrow": vectors(2, spread=0.2)},
        **OPTIONS,
    )


def test_scores_are_means_over_prompts(found):
    given = vectors(2, spread=0.2)
    rows, labels = given.vectors, np.array(list(given.clusters))
    scores = found["narrow"].scores
    assert scores["similarity"].value == pytest.approx(similarity_within(rows, labels).mean())
    assert scores["between"].value == pytest.approx(similarity_between(rows, labels).mean())
    assert scores["similarity"].per_sample == pytest.approx(similarity_within(rows, labels))
    assert scores["contrast"].value == pytest.approx(
        scores["similarity"].value - scores["between"].value
    )
    assert "distinct_texts" not in scores
    assert found.settings["k"] == 4


def test_the_matrix_holds_own_and_shared_similarity(found):
    matrix = found.homogeneity
    first, second = vectors(0), vectors(2, spread=0.2)
    across = similarity_across(
        first.vectors, list(first.clusters), second.vectors, list(second.clusters)
    )
    assert matrix.names == ("human", "same", "narrow")
    assert matrix.values[0, 2] == matrix.values[2, 0] == pytest.approx(across.mean())
    own = [each.scores["similarity"].value for each in found.sets]
    assert np.diag(matrix.values) == pytest.approx(own)
    assert matrix.apart[1, 2] == pytest.approx((own[1] + own[2]) / 2 - matrix.values[1, 2])
    assert ("human", "same") in matrix.alike()
    assert ("human", "narrow") not in matrix.alike()


def test_a_narrow_system_is_told_from_the_reference_and_an_equal_one_is_not(found):
    by_name = {test.second: test for test in found.tests if test.test == "gaussian"}
    assert by_name["narrow"].p_value == 0.01
    assert by_name["narrow"].adjusted == 0.02  # of two tests
    assert by_name["narrow"].distinguishable
    assert not by_name["same"].distinguishable
    assert [test.test for test in found.tests] == ["classifier"] * 2 + ["gaussian"] * 2


def test_systems_are_tested_against_each_other_without_a_reference():
    one = calipers.prompts(None, {"a": vectors(1), "b": vectors(2, moved=2.0)}, **OPTIONS)
    assert {test.test for test in one.tests} == {"classifier", "gaussian"}
    for test in one.tests:
        assert (test.first, test.second, test.distinguishable) == ("a", "b", True)
    assert one.reference is None


def test_a_single_system_has_scores_and_no_tests():
    one = calipers.prompts(None, {"a": vectors(1)}, **OPTIONS)
    assert one.tests == ()
    assert "narrow" not in str(one)
    assert "1 system on 24 prompts" in str(one)


def test_a_reference_with_one_text_for_each_prompt_has_no_own_similarity():
    one = calipers.prompts(vectors(0, samples=1, name="human"), {"a": vectors(1)}, **OPTIONS)
    assert np.isnan(one.homogeneity.values[0, 0])
    assert np.isfinite(one.homogeneity.values[0, 1])
    assert one.reference.scores["similarity"].reason == "no prompt has enough samples"
    assert "estimate:biased" in one.tests[1].signature


def single(found, test):
    (one,) = [each for each in found.tests if each.test == test]
    return one


def test_one_sample_a_prompt_is_tested_over_prompts_and_not_within_them():
    sets = {"a": vectors(1, samples=1, spread=0.3), "b": vectors(2, samples=1, spread=0.3, moved=1)}
    one = calipers.prompts(None, sets, **OPTIONS)
    across, within = single(one, "classifier"), single(one, "gaussian")
    assert across.distinguishable
    assert across.p_value == 0.01
    assert 0.9 < across.estimate <= 1
    assert (within.distinguishable, np.isnan(within.p_value)) == (None, True)
    assert within.reason.startswith("both sets have one sample of each prompt")
    page = str(one)
    assert "yes (AUC 1.00, p = 0.010)" in page
    assert "within prompts: a and b are not testable, since both sets have one sample of each" in (
        " ".join(page.split())
    )
    assert "not distinguishable" not in page
    # How alike the two answer needs one sample, how alike each answers itself two
    assert np.isfinite(one.homogeneity.values[0, 1])
    assert np.isnan(np.diag(one.homogeneity.values)).all()
    assert np.isnan(one.homogeneity.apart).all()
    assert "every set has one sample of each prompt" in one.warnings[0]
    assert one.settings["k"] == 1
    for key in ("distinct_k", "vendi_within", "conditional_vendi", "similarity"):
        assert np.isnan(one["a"][key].value), key
        assert one["a"][key].reason, key
    assert np.isfinite(one["a"]["between"].value)
    assert " distinct" not in page


def test_systems_are_tested_in_every_view(rng):
    at = np.arange(PROMPTS)

    def answers(name, moved):
        rows, form = rng.standard_normal((2, PROMPTS, 5))
        return PromptSamples(name, rows, None, at, PROMPTS, {"form": form + moved})

    options = PromptsOptions(permutations=99, threads=1)
    found = prompt_tests.tests_between(
        None, [answers("a", 0.0), answers("b", 4.0)], options, view="meaning"
    )
    tested = {(test.test, test.view): test for test in found}
    assert list(tested) == [
        ("classifier", "meaning"),
        ("classifier", "form"),
        ("gaussian", "meaning"),
    ]
    assert not tested["classifier", "meaning"].distinguishable
    assert tested["classifier", "form"].distinguishable


def test_equal_systems_with_one_sample_a_prompt_are_not_told_apart():
    sets = {"a": vectors(1, samples=1), "b": vectors(2, samples=1)}
    assert not single(calipers.prompts(None, sets, **OPTIONS), "classifier").distinguishable


def test_what_few_relabellings_cannot_show_is_not_testable():
    several = {name: vectors(seed, samples=2) for name, seed in (("a", 1), ("b", 2))}
    few = {
        name: samples.take([row for row, at in enumerate(samples.clusters) if at in ("p00",)])
        for name, samples in several.items()
    }
    test = single(calipers.prompts(None, few, **OPTIONS), "gaussian")
    assert test.distinguishable is None
    assert test.reason == (
        "the samples of these prompts can be relabelled in 3 ways, so that no p-value is below 0.33"
    )
    over = single(calipers.prompts(None, few, **OPTIONS), "classifier")
    assert over.distinguishable is None
    assert "5 folds need at least 5" in over.reason


def test_a_pair_that_is_not_testable_does_not_count_in_the_correction():
    sets = {"a": vectors(1, samples=1), "b": vectors(2, samples=1, moved=1.0), "c": vectors(3)}
    one = calipers.prompts(None, sets, **OPTIONS)
    within = {(t.first, t.second): t for t in one.tests if t.test == "gaussian"}
    assert np.isnan(within["a", "b"].adjusted)
    assert np.isfinite(within["a", "c"].adjusted)
    assert within["b", "c"].adjusted <= 2 * within["b", "c"].p_value


@pytest.mark.slow
def test_texts_are_compared_as_strings_too():
    words = ("yes sure", "no never", "maybe later")
    same = {f"p{i}": [words[i], words[i].upper(), f"{words[i]} "] for i in range(3)}
    mixed = {f"p{i}": ["one two three", "four five six", f"seven eight nine{i}"] for i in range(3)}
    one = calipers.prompts(
        None, {"same": texts("same", same), "mixed": texts("mixed", mixed)},
        **OPTIONS,
    )  # fmt: skip
    assert one["same"].scores["distinct_texts"].value == 1.0
    assert one["same"].scores["conditional_vendi"].value == pytest.approx(1.0, abs=1e-6)
    assert one["mixed"].scores["distinct_texts"].value == 3.0
    assert one["mixed"].scores["string_similarity"].value == 0.0
    assert {test.test for test in one.tests} == {"classifier", "gaussian", "hamming"}


def test_files_of_one_system_are_taken_together():
    parts = [vectors(seed, samples=1) for seed in (1, 2, 3)]
    one = calipers.prompts(None, {"a": parts}, **OPTIONS)
    assert one["a"].per_prompt == (3, 3)
    assert one.settings["k"] == 3


def test_prompts_that_a_set_lacks_are_named_and_left_out():
    answers = {f"p{i}": [f"green hills {i}", f"blue rivers {i}"] for i in range(4)}
    fewer = {prompt: own for prompt, own in answers.items() if prompt != "p2"}
    one = calipers.prompts(
        None, {"a": texts("a", answers), "b": texts("b", fewer)}, embedder="tfidf", **OPTIONS
    )
    assert one.prompts == ("p0", "p1", "p3")
    assert one.warnings[0] == (
        "1 prompt of 4 left out, which not every set has: b lacks 1 prompt ('p2')"
    )


def test_the_order_of_rows_moves_no_score(found):
    def turned(samples):
        return samples.take(np.arange(len(samples))[::-1])

    other = calipers.prompts(
        turned(vectors(0, name="human")),
        {"same": turned(vectors(1)), "narrow": turned(vectors(2, spread=0.2))},
        **OPTIONS,
    )
    for one, two in zip(found.sets, other.sets, strict=True):
        assert [score.value for score in one.scores.values()] == pytest.approx(
            [score.value for score in two.scores.values()], abs=1e-9
        )
    one, two = found.homogeneity.apart, other.homogeneity.apart
    pairs = ~np.eye(len(one), dtype=bool)  # no set lies apart from itself
    assert two[pairs] == pytest.approx(one[pairs])
    assert np.isnan([np.diag(one), np.diag(two)]).all()


def test_it_is_kept_and_read_again(found, tmp_path):
    found.save(tmp_path / "p.zip")
    (tmp_path / "p.json").write_text(json.dumps(found.to_dict(), allow_nan=False))
    for name in ("p.zip", "p.json"):
        again = load(tmp_path / name)
        assert isinstance(again, calipers.ByPrompt)
        assert again.to_dict() == found.to_dict()
        assert str(again) == str(found)


def test_rows_are_tidy(found):
    rows = list(found._rows())
    assert {row["system"] for row in rows} == {"human", "same", "narrow"}
    of_prompts = list(found._sample_rows())
    assert of_prompts[0]["prompt"] == "p00"
    assert sum(row["key"] == "similarity" for row in of_prompts) == 3 * PROMPTS


def test_the_figure_writes_every_value(found):
    from calipers.commands.prompts.plot import homogeneity_plot

    axes = homogeneity_plot(found).axes()
    written = {text.get_text() for text in axes.texts}
    assert written == {f"{value:.2f}" for value in found.homogeneity.values.ravel()}


@pytest.mark.parametrize(
    ("reference", "systems", "options", "message"),
    [
        (
            None,
            {"a": ["some text"] * 3},
            {},
            "a: its samples name no prompts; the field of each row that holds them is named by "
            "`by_prompt`, by default it is 'prompt'",
        ),
        (
            None,
            {"a": texts("a", {"p": ["x", "y"]}), "b": texts("b", {"q": ["x", "y"]})},
            {},
            "a, b have no prompt in common; the samples of a prompt must name it alike, but a has "
            "'p' and b 'q'",
        ),
        (
            None,
            {"a": texts("a", {"p": ["x"], "q": ["y"]})},
            {},
            "a single system with one sample for each prompt has nothing to be compared with; give "
            "several files of the system (NAME=GLOB), several systems, or a reference",
        ),
        (
            None,
            {"a": texts("a", {"p": ["x", "y"]})},
            {"k": 3},
            "k is 3, but no prompt of a system has more than 2 samples",
        ),
        (
            None,
            {"a": texts("a", {"p": ["x", "y"]})},
            {"by_prompt": "question"},
            "a: its rows have no field 'question' that names their prompt (`by_prompt`)",
        ),
        (
            vectors(0, name="human"),
            {"a": texts("a", {"p": ["x", "y"]})},
            {},
            "human holds vectors and a holds texts; all sets must be samples of one kind",
        ),
        (
            None,
            {"a": texts("a", {"p": ["x", "y"]})},
            {"threshold": 2.0},
            "threshold must lie between 0 and 1, such as 0.8; found 2.0",
        ),
    ],
)
def test_what_cannot_be_run_is_refused(reference, systems, options, message):
    with pytest.raises(InputError) as error:
        calipers.prompts(reference, systems, **{"embedder": "tfidf", **OPTIONS, **options})
    assert str(error.value) == message


def test_any_number_of_pairs_can_be_told_apart():
    made = {f"s{i}": vectors(i, moved=3.0 * i) for i in range(6)}
    found = calipers.prompts(None, made, **OPTIONS)  # 99 permutations for 15 pairs: 0.15 at least
    for by in ("classifier", "gaussian"):
        tests = [test for test in found.tests if test.test == by]
        assert len(tests) == 15
        assert sum(test.distinguishable for test in tests) >= 13
        assert min(test.adjusted for test in tests) < 1e-20
    assert "given the prompt: all 15 pairs" in " ".join(str(found).split())


def test_what_the_classifier_does_not_see_takes_more_permutations():
    made = {f"s{i}": vectors(i, samples=6, spread=0.3 if i < 2 else 1.5) for i in range(6)}
    found = calipers.prompts(None, made, **OPTIONS)
    tests = {(t.first, t.second): t for t in found.tests if t.test == "gaussian"}
    assert tests["s0", "s2"].distinguishable
    assert "permutations:1199" in tests["s0", "s2"].signature
    assert not tests["s0", "s1"].distinguishable
    assert "permutations:99|" in tests["s0", "s1"].signature
