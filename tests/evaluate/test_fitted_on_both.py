"""Embedders that are fitted: what is tested was fitted on both sets, what is scored on one."""

from __future__ import annotations

import numpy as np
import pytest

import calipers
from calipers.embedders import load_embedder
from calipers.embedders.embedder import as_embedder
from calipers.evaluate.embedding import embed_sides, open_embedder
from calipers.evaluate.inputs import comparison_inputs
from calipers.options.comparison import CompareOptions
from calipers.progress import Silent
from calipers.samples import as_sample_set
from calipers.score import signature_pins

WORDS = ["the", "a", "cat", "dog", "sat", "ran", "on", "in", "mat", "road", "and", "then", "far"]


def texts(count, seed, words=WORDS):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(words, rng.integers(6, 20))) for _ in range(count)]


def refit_of(embedder, reference, generated):
    options = CompareOptions(embedder=embedder, cache=False)
    inputs = comparison_inputs(
        reference,
        generated,
        options,
        seed=0,
        skip_bad=False,
        keep_sizes=True,
        labels=options,
        paired=False,
    )
    model = open_embedder(options, inputs.sets)
    return embed_sides(inputs, model, None, Silent()).refit


@pytest.mark.parametrize("embedder", ["characters", "tfidf"])
def test_the_vectors_that_are_tested_do_not_tell_which_set_a_text_is_from(embedder):
    left, right = texts(40, 1), texts(35, 2)
    refit = refit_of(embedder, left, right)
    given = refit(as_sample_set(left), as_sample_set(right))
    mixed = [*left[:20], *right[15:], *left[30:]], [*right[:15], *left[20:30]]
    swapped = refit(*map(as_sample_set, mixed))
    for view in given[0].views:
        known = dict(
            zip([*left, *right], np.vstack([one.views[view] for one in given]), strict=True)
        )
        rows = np.vstack([one.views[view] for one in swapped])
        for text, row in zip([*mixed[0], *mixed[1]], rows, strict=True):
            np.testing.assert_allclose(row, known[text], atol=1e-6)


@pytest.mark.parametrize("embedder", ["characters", "tfidf"])
def test_only_what_is_tested_is_fitted_on_both(embedder):
    left, right = texts(80, 3), texts(80, 4, [*WORDS, "zebra", "quickly"])
    options = {"embedder": embedder, "cache": False, "floor": False}
    found = calipers.compare(left, {"one": right}, **options)
    again = calipers.compare(left, {"one": right, "two": texts(80, 5)}, **options)
    alone = calipers.compare(left, {"one": right}, level=None, **options)
    assert [test.difference for test in found.tests] == [
        test.difference for test in again.tests if test.a == "one"
    ]
    for test in found.tests:
        assert signature_pins(test.signature)["fitted_on"] == "both_sets"
    score = found["one"]["classifier_auc"]
    assert score.value == next(t.difference for t in found.tests if t.score == "classifier_auc")
    assert score.value == again["one"]["classifier_auc"].value
    revision = load_embedder(embedder).fitted([*left, *right]).signature["revision"]
    assert signature_pins(score.signature)["revision"] == revision
    for name in ("precision", "recall", "coverage"):
        assert found["one"][name].value == alone["one"][name].value
        assert signature_pins(found["one"][name].signature)["revision"] != revision


def test_embedders_that_are_not_fitted_are_tested_as_they_are():
    assert load_embedder("minilm").unfitted is None
    assert as_embedder(load_embedder("characters")).unfitted is None
