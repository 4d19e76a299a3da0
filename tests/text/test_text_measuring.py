"""A statistic of texts beside that of the reference: measured once, cut to one size, forgotten."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest

from calipers.catalogue.choosing import find_text
from calipers.catalogue.metric import resolve
from calipers.text.measuring import cut, score_of, score_of_reference
from calipers.text.tokens import tokenise

WORDS = [
    "the",
    "a",
    "cat",
    "dog",
    "sun",
    "moon",
    "sat",
    "ran",
    "on",
    "mat",
    "and",
    "again",
    ",",
    ".",
]


def written(seed, n=30):
    """Texts of 8 to 24 words, two of them equal, and a longer one."""
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(WORDS, rng.integers(8, 25))) for _ in range(n - 2)]
    return [*texts, texts[0], " ".join(texts[1:8])]


SETS = tokenise(written(0), written(1), written(2), tokenizer="whitespace")


def score(key, generated, reference=SETS[0], train=SETS[2]):
    return score_of(find_text(key), generated, reference, train=train, threads=1)


def test_the_reference_is_measured_once(named):
    calls, found = [], find_text("distinct")

    def counted(held, options):
        calls.append(held.texts)
        return resolve(found.metric.read)(held, options)

    choice = replace(found, metric=replace(found.metric, read=named(counted)))
    first = score_of(choice, SETS[1], SETS[0])
    second = score_of(choice, SETS[2], SETS[0])
    own = score_of_reference(choice, SETS[0])
    assert first.reference == second.reference == own.value
    assert [each is SETS[0] for each in calls] == [False, True, False]


def test_the_reference_is_measured_anew_for_another_training_set_or_seed():
    choice = find_text("novelty:n=2:train")
    for train in (SETS[1], SETS[2]):
        expected = score_of_reference(find_text("novelty:n=2:train"), SETS[0], train=train)
        assert score_of_reference(choice, SETS[0], train=train).value == expected.value
        assert score_of(choice, SETS[1], SETS[0], train=train).reference == expected.value
    drawn = find_text("self_bleu:sample=5")
    values = {score_of_reference(drawn, SETS[0], seed=seed).value for seed in range(4)}
    assert len(values) == 4
    few = tokenise(written(3)[:10], written(4), tokenizer="whitespace")
    cuts = {score_of(find_text("distinct"), *few, seed=seed).reference for seed in range(3)}
    held = find_text("distinct")
    assert {score_of(held, *few, seed=seed).reference for seed in range(3)} == cuts
    assert len(cuts) > 1


def test_other_options_are_measured_anew():
    choice = find_text("distinct")
    score_of_reference(choice, SETS[0])
    other = replace(choice, options={**choice.options, "n": 3})
    assert (
        score_of_reference(other, SETS[0]).value
        == score_of_reference(find_text("distinct:n=3"), SETS[0]).value
    )


@pytest.mark.parametrize(
    ("key", "against"),
    [
        ("novelty", "reference"),
        ("novelty:train", "train"),
        ("longest_copied_span", "reference"),
        ("longest_copied_span:train", "train"),
        ("near_duplicates:reference", "reference"),
        ("near_duplicates:train", "train"),
        ("near_duplicates", None),
        ("self_bleu", None),
    ],
)
def test_the_signature_says_what_the_texts_are_held_against(key, against):
    found = score(key, SETS[1])
    assert f"|against:{against}" in found.signature or against is None
    assert ("|against:" in found.signature) == (against is not None)
    if against == "train":
        own = score_of_reference(find_text(key), SETS[0], train=SETS[2])
        assert own.signature.endswith("|against:train")


@pytest.mark.parametrize("key", ["near_duplicates:train", "string_precision"])
def test_a_set_held_against_itself_is_forgotten_too(key):
    choice = find_text(key)
    (reference,) = tokenise(written(3), tokenizer="whitespace")
    score_of(choice, reference, reference, train=reference, threads=1)
    gone = weakref.ref(reference)
    del reference
    gc.collect()
    assert gone() is None


def test_what_was_measured_is_forgotten_with_the_reference():
    choice = find_text("distinct")
    reference, generated = tokenise(written(3), written(4), tokenizer="whitespace")
    score_of(choice, generated, reference)
    gone = weakref.ref(reference)
    del reference
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("smaller", ["generated", "reference"])
def test_sets_of_different_size_are_cut_to_the_smaller(smaller):
    few, many = tokenise(written(3)[:10], written(4), tokenizer="whitespace")
    generated, reference = (few, many) if smaller == "generated" else (many, few)
    found = score_of(find_text("self_bleu"), generated, reference)
    assert "cut:10" in found.signature
    sides = score_of(find_text("self_bleu"), cut(generated, 10), cut(reference, 10))
    assert (found.value, found.reference) == (sides.value, sides.reference)
    assert (found.per_sample is None) == (smaller == "reference")
    kept = score_of(find_text("self_bleu"), generated, reference, keep_sizes=True)
    assert kept.value == score_of(find_text("self_bleu"), generated).value
    assert "cut:" not in kept.signature
    assert "cut:" not in score_of(find_text("mean_length"), generated, reference).signature


def test_without_a_reference_there_is_no_gap():
    found = score_of(find_text("self_bleu"), SETS[1])
    assert found.reference is None
    assert found.gap is None
