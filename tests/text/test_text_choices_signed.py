"""Choices reach the arithmetic and the signature: one small case for each."""

from dataclasses import replace

import numpy as np
import pytest

from calipers import text as t
from calipers.catalogue.choosing import find_text
from calipers.text.measuring import cut, score_of, score_of_reference
from calipers.text.near_texts import hash_ngrams, minhashes
from calipers.text.tokens import tokenise

W = {"tokenizer": "whitespace"}


def test_a_shorter_phrase_inside_a_longer_one_is_not_overcounted():
    found = t.repeated_endings(["a b a b a b b b"], **W)
    assert (found.lengths.tolist(), found.copies.tolist()) == ([1], [3])


def test_texts_of_one_mark_have_ended():
    assert t.non_termination(["!", "?", "a"]).per_sample.tolist() == [0, 0, 1]


SIGNED = [
    (lambda: t.distinct(["a b"], per="sample", **W), "per:sample"),
    (lambda: t.expectation_adjusted_distinct(["a b"], vocabulary=9, **W), "vocabulary:9"),
    (lambda: t.moving_average_ttr(["a b c"], window=2, **W), "window:2"),
    (lambda: t.zipf_coefficient(["a a b"], top=7, **W), "top:7"),
    (lambda: t.mean_length(["a b"], unit="words"), "unit:words"),
    (lambda: t.compression_ratio(["a b"], level=3), "level:3"),
    (lambda: t.exact_duplicates(["a", "A"], fold=True), "fold:True"),
    (
        lambda: t.bleu(["a b"], ["a b"], smoothing="floor", smoothing_value=0.2),
        "smoothing_value:0.2",
    ),
    (lambda: t.rouge(["a b"], ["a b c"], part="recall"), "part:recall"),
]


@pytest.mark.parametrize(("score", "pin"), SIGNED)
def test_signatures_name_the_choices(score, pin):
    assert f"|{pin}" in score().signature


def test_case_counts_in_ter_where_it_is_asked_for():
    assert t.ter(["The CAT"], ["the cat"]).value == 0
    assert t.ter(["The CAT"], ["the cat"], case_sensitive=True).value == 100


def test_words_in_another_order_hash_apart():
    (corpus,) = tokenise(["a b", "a c", "b a"], **W)
    assert len(set(hash_ngrams(corpus, corpus.ngrams(2)).tolist())) == 3


def test_the_seed_reaches_the_permutations():
    sets, hashes = [np.arange(9, dtype=np.int32)], np.arange(9, dtype=np.uint32)
    one, two = (minhashes(sets, hashes, 16, seed) for seed in (1, 2))
    assert (one != two).any()
    assert "|seed:2|" in t.near_duplicates(["a b"], order=1, seed=2, **W).signature


def test_near_duplicates_are_better_closer_within_a_set_and_lower_against_another():
    texts = ["a b c", "a b d"]
    assert t.near_duplicates(texts, order=1, **W).better == "closest"
    assert t.near_duplicates(texts, ["a b"], order=1, **W).better == "lower"


def test_a_pool_without_tokens_has_no_value():
    texts = ["", "", "", "a b c"]
    values = [t.self_bleu(texts, others=1, seed=s, **W) for s in range(12)]
    assert any(np.isnan(v.value) and v.reason for v in values)


def test_orders_up_to_a_hundred_are_taken():
    long = " ".join(map(str, range(100)))
    assert t.distinct([long], order=100, **W).value == 1
    assert t.self_bleu([long, long], order=100, **W).value == pytest.approx(1)


def test_stemmer():
    assert t.rouge(["running dogs"], ["run dog"], kind="rouge1", stemmer=True).value == 1
    assert t.rouge(["running dogs"], ["run dog"], kind="rouge1").value == 0


def test_threads_and_seed_reach_the_metric(named):
    seen = []
    choice = find_text("self_bleu")

    spy = replace(
        choice,
        metric=replace(
            choice.metric,
            read=named(
                lambda held, _: seen.append((held.seed, held.threads)) or t.distinct(held.texts)
            ),
        ),
    )
    a, b = tokenise(["a b c"], ["a c d"], **W)
    score_of(spy, a, b, seed=3, threads=2)
    find_text_of = replace(spy)
    score_of_reference(find_text_of, b, seed=3, threads=2)
    assert set(seen) == {(3, 2)}


def test_kept_results_belong_to_both_sets():
    x, y, z = tokenise(
        [f"a b c {i % 7} {i % 3}" for i in range(30)],
        [f"a b c {i % 5} d" for i in range(30)],
        [f"q r s {i}" for i in range(30)],
        **W,
    )
    choice = find_text("string_mauve")
    assert score_of(choice, x, y).value > 0.5 > score_of(choice, x, z).value


def test_numbers_in_keys_are_short():
    assert find_text("vendi:q=2").key == "vendi:q=2"
    assert find_text("vendi:q=2.0").key == "vendi:q=2"


def test_the_seed_chooses_the_rows_that_are_kept():

    (corpus,) = tokenise([str(n) for n in range(50)], **W)
    assert cut(corpus, 5, seed=1).texts != cut(corpus, 5, seed=0).texts


def test_what_is_kept_of_the_reference_belongs_to_one_seed_and_one_training_set():
    (a, b, c) = tokenise(
        ["a b c d e f", "a b x y", "p q"] * 5,
        ["a b", "c d e f g", "h i j k l m", "n"] * 9,
        ["a b", "c d e f g"] * 5,
        **W,
    )
    choice = find_text("distinct:n=2")
    score_of(choice, a, b, seed=0)
    fresh = score_of(find_text("distinct:n=2"), a, b, seed=1)
    assert score_of(choice, a, b, seed=1).reference == fresh.reference
    choice = find_text("novelty:n=1:train")
    score_of(choice, a, b, train=c)
    fresh = score_of(find_text("novelty:n=1:train"), a, b, train=a)
    assert score_of(choice, a, b, train=a).reference == fresh.reference
