"""``by_prompt``: whole runs on sets of answers, and what cannot be run."""

from __future__ import annotations

import json

import numpy as np
import pytest

import calipers
from calipers.errors import InputError
from calipers.metrics import similarity_across, similarity_between, similarity_within
from calipers.results.result import load_result
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
    return calipers.by_prompt(
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
    by_name = {test.second: test for test in found.tests}
    assert by_name["narrow"].p_value == 0.01
    assert by_name["narrow"].adjusted == 0.02  # of two tests
    assert by_name["narrow"].distinguishable
    assert not by_name["same"].distinguishable
    assert {test.kernel for test in found.tests} == {"gaussian"}


def test_systems_are_tested_against_each_other_without_a_reference():
    one = calipers.by_prompt(None, {"a": vectors(1), "b": vectors(2, moved=2.0)}, **OPTIONS)
    (test,) = one.tests
    assert (test.first, test.second, test.distinguishable) == ("a", "b", True)
    assert one.reference is None


def test_a_single_system_has_scores_and_no_tests():
    one = calipers.by_prompt(None, {"a": vectors(1)}, **OPTIONS)
    assert one.tests == ()
    assert "narrow" not in str(one)
    assert "1 system on 24 prompts" in str(one)


def test_a_reference_with_one_text_for_each_prompt_has_no_own_similarity():
    one = calipers.by_prompt(vectors(0, samples=1, name="human"), {"a": vectors(1)}, **OPTIONS)
    assert np.isnan(one.homogeneity.values[0, 0])
    assert np.isfinite(one.homogeneity.values[0, 1])
    assert one.reference.scores["similarity"].reason == "no prompt has enough samples"
    assert "estimate:biased" in one.tests[0].signature


@pytest.mark.slow
def test_texts_are_compared_as_strings_too():
    words = ("yes sure", "no never", "maybe later")
    same = {f"p{i}": [words[i], words[i].upper(), f"{words[i]} "] for i in range(3)}
    mixed = {f"p{i}": ["one two three", "four five six", f"seven eight nine{i}"] for i in range(3)}
    one = calipers.by_prompt(
        None, {"same": texts("same", same), "mixed": texts("mixed", mixed)},
        **OPTIONS,
    )  # fmt: skip
    assert one["same"].scores["distinct_texts"].value == 1.0
    assert one["same"].scores["conditional_vendi"].value == pytest.approx(1.0, abs=1e-6)
    assert one["mixed"].scores["distinct_texts"].value == 3.0
    assert one["mixed"].scores["string_similarity"].value == 0.0
    assert {test.kernel for test in one.tests} == {"gaussian", "hamming"}


def test_files_of_one_system_are_taken_together():
    parts = [vectors(seed, samples=1) for seed in (1, 2, 3)]
    one = calipers.by_prompt(None, {"a": parts}, **OPTIONS)
    assert one["a"].per_prompt == (3, 3)
    assert one.settings["k"] == 3


def test_prompts_that_a_set_lacks_are_named_and_left_out():
    answers = {f"p{i}": [f"green hills {i}", f"blue rivers {i}"] for i in range(4)}
    fewer = {prompt: own for prompt, own in answers.items() if prompt != "p2"}
    one = calipers.by_prompt(
        None, {"a": texts("a", answers), "b": texts("b", fewer)}, embedder="tfidf", **OPTIONS
    )
    assert one.prompts == ("p0", "p1", "p3")
    assert one.warnings[0] == (
        "1 prompt of 4 left out, which not every set has: b lacks 1 prompt ('p2')"
    )


def test_the_order_of_rows_moves_no_score(found):
    def turned(samples):
        return samples.take(np.arange(len(samples))[::-1])

    other = calipers.by_prompt(
        turned(vectors(0, name="human")),
        {"same": turned(vectors(1)), "narrow": turned(vectors(2, spread=0.2))},
        **OPTIONS,
    )
    for one, two in zip(found.sets, other.sets, strict=True):
        assert [score.value for score in one.scores.values()] == pytest.approx(
            [score.value for score in two.scores.values()], abs=1e-9
        )
    assert other.homogeneity.apart == pytest.approx(found.homogeneity.apart, nan_ok=True)


def test_it_is_kept_and_read_again(found, tmp_path):
    found.save(tmp_path / "p.zip")
    (tmp_path / "p.json").write_text(json.dumps(found.to_dict(), allow_nan=False))
    for name in ("p.zip", "p.json"):
        again = load_result(tmp_path / name)
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
    from calipers.report.plots.homogeneity import homogeneity_plot

    axes = homogeneity_plot(found.to_dict()).axes()
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
            "--by-prompt (by_prompt), by default it is 'prompt'",
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
            "no system has more than one sample for a prompt; give several files of a system "
            "(NAME=GLOB), or files with several rows of each prompt",
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
            "a: its rows have no field 'question' that names their prompt (--by-prompt, by_prompt)",
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
        calipers.by_prompt(reference, systems, **{"embedder": "tfidf", **OPTIONS, **options})
    assert str(error.value) == message
