"""A comparison in which the reference and the systems answer the same prompts."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import calipers
from calipers.commands.rank.scores import MetricColumn, ranking_values
from calipers.results import Comparison
from calipers.results.ranking import leaders_of
from calipers.samples import SampleSet
from calipers.score import Score

BARE = {"embedder": None, "normalise": "none", "cache": False, "threads": 1, "floor": False}
AUC = "classifier_auc"


def answers(rows, prompts, name="x"):
    named = SampleSet.from_texts(["x"] * len(rows), name="y", prompts=prompts).prompts
    return replace(SampleSet.from_vectors(rows, name=name), prompts=named)


def drawn(seed=0, n=200, shift=0.1, d=8):
    """A reference and a system that answer the same prompts, and the prompts."""
    rng = np.random.default_rng(seed)
    means = rng.standard_normal((n, d))
    x, y = (means + 0.3 * rng.standard_normal((n, d)) for _ in range(2))
    return x, y + shift, [f"prompt {row}" for row in range(n)]


def compare(reference, systems, **options):
    return calipers.compare(reference, systems, **{**BARE, "metrics": "precision", **options})


def against_reference(found, name):
    return {t.score: t for t in found.tests if t.a == name and t.b == "reference"}


@pytest.fixture(scope="module")
def found():
    x, y, prompts = drawn()
    return compare(answers(x, prompts), {"model": answers(y, prompts)})


def test_the_test_is_within_prompts_and_says_so(found):
    tests = against_reference(found, "model")
    for test in tests.values():
        assert test.p_value < 0.01
        assert "|prompts:shared(200)|" in test.signature
    assert found["model"].prompts.shared == 200
    assert found["model"].prompts.by == "prompt"
    assert "tested within 200 shared prompts" in str(found)


def test_rows_whose_prompts_nobody_knows_are_tested_as_before():
    x, y, _ = drawn()
    found = compare(x, {"model": y})
    assert found["model"].prompts is None
    for test in against_reference(found, "model").values():
        assert test.p_value > 0.05  # what prompts differ in hides the gap
        assert "prompts:" not in test.signature


def test_a_persons_word_reaches_the_test():
    x, y, _ = drawn()
    found = compare(x, {"model": y}, paired=True)
    assert found["model"].prompts.by == "paired"
    assert all(test.p_value < 0.01 for test in against_reference(found, "model").values())
    assert "tested within 200 pairs of rows" in str(found)


def test_rows_in_another_order_and_cut_sets_find_their_prompts():
    x, y, prompts = drawn()
    order = np.random.default_rng(1).permutation(200)[:150]
    other = answers(y[order], [prompts[row] for row in order])
    found = compare(answers(x, prompts), {"model": other}, max_samples=180)
    shared = found["model"].prompts.shared
    assert 120 < shared < 150
    assert f"|prompts:shared({shared})" in found["model"][AUC].signature
    assert all(test.p_value < 0.01 for test in against_reference(found, "model").values())


def test_the_area_is_one_number_everywhere(found, tmp_path):
    score, test = found["model"][AUC], against_reference(found, "model")[AUC]
    assert test.difference == score.value > 0.6
    low, high = score.interval
    assert low < score.value < high
    data = json.loads(json.dumps(found.to_dict()))
    assert data["systems"][0]["scores"][AUC]["value"] == score.value
    assert f"{score.value:.2f} [".removeprefix("0") in str(found)
    assert AUC in found.to_frame().to_string()
    kept = Comparison.from_dict(data)
    assert kept["model"][AUC].value == score.value
    assert kept["model"].prompts == found["model"].prompts
    assert kept.tests == found.tests
    asked = compare(*sets_of(drawn()), metrics=AUC)
    assert asked["model"][AUC] == score.value
    assert asked["model"][AUC].interval == score.interval


def sets_of(made):
    x, y, prompts = made
    return answers(x, prompts), {"model": answers(y, prompts)}


def test_adding_a_system_changes_nothing(found):
    x, y, prompts = drawn()
    sets = {"model": answers(y, prompts), "other": answers(y[::-1].copy(), prompts)}
    both = compare(answers(x, prompts), sets)
    assert both["model"][AUC].value == found["model"][AUC].value
    assert both["model"][AUC].interval == found["model"][AUC].interval
    one, two = (against_reference(each, "model") for each in (both, found))
    assert {key: test.difference for key, test in one.items()} == {
        key: test.difference for key, test in two.items()
    }


def test_clusters_that_are_the_prompts_leave_no_answer_out():
    rng = np.random.default_rng(2)
    means = np.repeat(rng.standard_normal((60, 6)), 4, axis=0)
    x, y = (means + 0.3 * rng.standard_normal((240, 6)) for _ in range(2))
    prompts = [f"prompt {row // 4}" for row in range(240)]
    one, two = answers(x, prompts), answers(y + 0.1, prompts)
    plain = compare(one, {"model": two})
    clustered = compare(one, {"model": two}, cluster="prompt")
    assert against_reference(clustered, "model")[AUC].p_value < 0.01
    assert clustered["model"][AUC].value == plain["model"][AUC].value
    assert "|n:240|m:240|" in clustered["model"][AUC].signature


def test_no_level_no_area():
    x, y, prompts = drawn()
    found = compare(answers(x, prompts), {"model": answers(y, prompts)}, level=None)
    assert list(found["model"].scores) == ["precision"]
    asked = compare(*sets_of(drawn()), level=None, metrics=AUC)
    assert asked["model"][AUC].interval is None


# ------------------------------------------------------------------ folds of whole prompts


ACCURACIES = ("classifier_accuracy", "discriminator_accuracy")


def test_every_accuracy_keeps_the_answers_to_a_prompt_in_one_fold():
    x, y, prompts = drawn(n=240, shift=0.0, d=32)
    other = answers(y, prompts)
    sets = {"equal": other, "shifted": answers(y + 0.4, prompts)}
    found = compare(answers(x, prompts), sets, metrics=",".join(ACCURACIES), level=None)
    for name in ACCURACIES:
        assert 0.4 < found["equal"][name].value < 0.6  # a twin in training would make it 0.3
        assert found["shifted"][name].value > 0.7
        assert "folds_by:prompt" in found["shifted"][name].signature


def test_few_prompts_give_no_accuracy():
    x, y, _ = drawn(n=60)
    prompts = [f"prompt {row % 5}" for row in range(60)]
    found = compare(answers(x, prompts), {"m": answers(y, prompts)}, metrics=",".join(ACCURACIES))
    assert all("need 10 on each side" in found["m"][name].reason for name in ACCURACIES)


@pytest.mark.parametrize("estimator", ["classifier", "boosted"])
def test_ratios_of_classifiers_keep_prompts_together(estimator):
    x, y, prompts = drawn(n=240, shift=0.3, d=6)
    one, other = answers(x, prompts), {"m": answers(y, prompts)}
    found = compare(one, other, metrics=f"mauve:{estimator}", level=None)
    assert "folds_by:prompt" in found["m"][f"mauve:{estimator}"].signature


def test_adding_systems_of_any_kind_changes_nothing(found):
    x, y, prompts = drawn()
    others = {
        "partly": answers(y[:90] + 1, [*prompts[:50], *(f"other {row}" for row in range(40))]),
        "unknown": y[50:170] * 2,
        "several": answers(np.repeat(y[:60], 2, axis=0), np.repeat(prompts[:60], 2).tolist()),
    }
    sets = {**others, "model": answers(y, prompts)}
    every = compare(answers(x, prompts), sets, keep_sizes=True)
    alone, beside = found["model"].scores, every["model"].scores
    assert alone.keys() == beside.keys()
    for name, score in alone.items():
        assert beside[name].value == score.value
        assert beside[name].interval == score.interval
        assert beside[name].signature == score.signature


# ------------------------------------------------------------------ below 0.5 is chance


def scored(value):
    return Score(value, better="lower", signature=f"metric:{AUC}|folds:5")


def test_what_is_below_chance_is_not_closer():
    assert leaders_of([scored(0.25), scored(0.5), scored(0.6)], "lower") == [0, 1]
    pair = [Score(value, better="lower", signature="metric:mmd|n:5") for value in (0.25, 0.5)]
    assert leaders_of(pair, "lower") == [0]


def test_rankings_take_it_for_chance_too():
    column = MetricColumn({"a": 0.25, "b": 0.5, "c": 0.6}, better="lower", chance=0.5)
    assert ranking_values(column, ["a", "b", "c"]).tolist() == [-0.5, -0.5, -0.6]
