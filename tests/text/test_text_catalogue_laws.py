"""What holds for every text metric of the catalogue, whatever it measures."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest

from calipers.catalogue.choosing import choose_text, find_text
from calipers.catalogue.metric import resolve
from calipers.catalogue.texts import TEXT_METRICS
from calipers.text.measuring import cut
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
MODELS = {"bert_score_precision", "bert_score_recall", "bert_score_f1"}
"""Those that run a model have their laws elsewhere."""

MORE = [
    "distinct",
    "distinct:n=3:sample",
    "self_bleu:n=2:pairwise",
    "compression:zstd",
    "mean_length:characters",
    "moving_average_ttr:window=5",
    "zipf_coefficient:top=5",
    "novelty:n=2:types",
    "near_duplicates:reference",
    "longest_copied_span:largest",
    "vendi:q=inf",
    "string_mauve:subsequence",
    "non_termination:limit=9",
    "rouge:rouge1:recall",
    "chrf:words=2",
    "ter",
]
KEYS = [
    choice.key
    for choice in [
        *choose_text("all", train=True, aligned=True),
        *choose_text(MORE, train=True, aligned=True),
    ]
    if choice.metric.name not in MODELS
]


def written(seed, n=30):
    """Texts of 8 to 24 words, two of them equal, and a longer one."""
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(WORDS, rng.integers(8, 25))) for _ in range(n - 2)]
    return [*texts, texts[0], " ".join(texts[1:8])]


SETS = tokenise(written(0), written(1), written(2), tokenizer="whitespace")


def score(key, generated, reference=SETS[0], train=SETS[2]):
    return find_text(key).score(generated, reference, train=train, threads=1)


def test_these_are_all_of_them():
    assert {find_text(key).metric.name for key in KEYS} == {*TEXT_METRICS} - MODELS


@pytest.mark.parametrize("key", KEYS)
def test_a_value_lies_in_its_range_and_is_signed(key):
    found, metric = score(key, SETS[1]), find_text(key).metric
    assert found.reason is None
    assert metric.range[0] <= found.value <= metric.range[1]
    assert metric.range[0] <= found.range[0] <= found.value <= found.range[1] <= metric.range[1]
    if find_text(key).has_gap or metric.side != "own":
        assert found.better == ("closest" if find_text(key).has_gap else metric.better)
    assert found.signature.startswith("metric:")
    assert "calipers:" in found.signature
    if found.per_sample is not None:
        assert len(found.per_sample) == len(SETS[1])


@pytest.mark.parametrize("key", KEYS)
def test_it_gives_the_same_again(key):
    first, second = score(key, SETS[1]), score(key, SETS[1])
    assert first.value == second.value
    assert first.reference == second.reference
    assert first.signature == second.signature


@pytest.mark.parametrize("key", KEYS)
def test_the_order_of_the_texts_moves_nothing(key):
    """Aligned metrics are held against the same references in the same new order."""
    if find_text(key).metric.ordered:
        pytest.skip("it says that the order moves it")
    turned = np.random.default_rng(5).permutation(30)
    texts, others, known = written(1), written(0), written(2)
    generated, reference, train = tokenise(
        [texts[row] for row in turned],
        [others[row] for row in turned],
        known,
        tokenizer="whitespace",
    )
    found, before = score(key, generated, reference, train), score(key, SETS[1])
    assert found.value == pytest.approx(before.value, abs=1e-12)
    if before.reference is not None:
        assert found.reference == pytest.approx(before.reference, abs=1e-12)


@pytest.mark.parametrize("key", KEYS)
def test_equal_sets_have_no_gap(key):
    found = score(key, SETS[0])
    assert (found.gap is not None) == find_text(key).has_gap
    if found.gap is not None:
        assert found.gap == 0


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(
    "texts",
    [["", "", ""], ["a"], ["a", "a", "a", "a"], ["", "🙂 \ud800", "日本語の文", " "]],
    ids=["empty", "one", "equal", "odd"],
)
def test_a_degenerate_set_has_a_value_or_a_reason(key, texts):
    others = [*reversed(texts)]
    generated, reference, train = tokenise(texts, others, others, tokenizer="whitespace")
    found = score(key, generated, reference, train)
    if np.isnan(found.value):
        assert found.reason
    else:
        low, high = find_text(key).metric.range
        assert low <= found.value <= high
        assert found.reason is None


def test_the_reference_is_measured_once(named):
    calls, found = [], find_text("distinct")

    def counted(held, options):
        calls.append(held.texts)
        return resolve(found.metric.read)(held, options)

    choice = replace(found, metric=replace(found.metric, read=named(counted)))
    first = choice.score(SETS[1], SETS[0])
    second = choice.score(SETS[2], SETS[0])
    own = choice.of_reference(SETS[0])
    assert first.reference == second.reference == own.value
    assert [each is SETS[0] for each in calls] == [False, True, False]


def test_the_reference_is_measured_anew_for_another_training_set_or_seed():
    choice = find_text("novelty:n=2:train")
    for train in (SETS[1], SETS[2]):
        expected = find_text("novelty:n=2:train").of_reference(SETS[0], train=train)
        assert choice.of_reference(SETS[0], train=train).value == expected.value
        assert choice.score(SETS[1], SETS[0], train=train).reference == expected.value
    drawn = find_text("self_bleu:sample=5")
    values = {drawn.of_reference(SETS[0], seed=seed).value for seed in range(4)}
    assert len(values) == 4
    few = tokenise(written(3)[:10], written(4), tokenizer="whitespace")
    cuts = {find_text("distinct").score(*few, seed=seed).reference for seed in range(3)}
    held = find_text("distinct")
    assert {held.score(*few, seed=seed).reference for seed in range(3)} == cuts
    assert len(cuts) > 1


def test_other_options_are_measured_anew():
    choice = find_text("distinct")
    choice.of_reference(SETS[0])
    other = replace(choice, options={**choice.options, "n": 3})
    assert (
        other.of_reference(SETS[0]).value == find_text("distinct:n=3").of_reference(SETS[0]).value
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
        own = find_text(key).of_reference(SETS[0], train=SETS[2])
        assert own.signature.endswith("|against:train")


@pytest.mark.parametrize("key", ["near_duplicates:train", "string_precision"])
def test_a_set_held_against_itself_is_forgotten_too(key):
    choice = find_text(key)
    (reference,) = tokenise(written(3), tokenizer="whitespace")
    choice.score(reference, reference, train=reference, threads=1)
    gone = weakref.ref(reference)
    del reference
    gc.collect()
    assert gone() is None


def test_what_was_measured_is_forgotten_with_the_reference():
    choice = find_text("distinct")
    reference, generated = tokenise(written(3), written(4), tokenizer="whitespace")
    choice.score(generated, reference)
    gone = weakref.ref(reference)
    del reference
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("smaller", ["generated", "reference"])
def test_sets_of_different_size_are_cut_to_the_smaller(smaller):
    few, many = tokenise(written(3)[:10], written(4), tokenizer="whitespace")
    generated, reference = (few, many) if smaller == "generated" else (many, few)
    found = find_text("self_bleu").score(generated, reference)
    assert "cut:10" in found.signature
    sides = find_text("self_bleu").score(cut(generated, 10), cut(reference, 10))
    assert (found.value, found.reference) == (sides.value, sides.reference)
    assert (found.per_sample is None) == (smaller == "reference")
    kept = find_text("self_bleu").score(generated, reference, keep_sizes=True)
    assert kept.value == find_text("self_bleu").score(generated).value
    assert "cut:" not in kept.signature
    assert "cut:" not in find_text("mean_length").score(generated, reference).signature


def test_without_a_reference_there_is_no_gap():
    found = find_text("self_bleu").score(SETS[1])
    assert found.reference is None
    assert found.gap is None
