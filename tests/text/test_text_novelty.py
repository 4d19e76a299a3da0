import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.text import novelty
from calipers.text.tokens import tokenise

few_words = st.lists(st.sampled_from("abc"), max_size=8).map(" ".join)
sets = st.lists(few_words, min_size=1, max_size=6)


def measured(texts, references, **options):
    return novelty(texts, references, tokenizer="whitespace", **options)


def windows(text, order):
    words = text.split()
    return [tuple(words[start : start + order]) for start in range(len(words) - order + 1)]


def brute_force(texts, references, order, of):
    known = {gram for text in references for gram in windows(text, order)}
    each = [windows(text, order) for text in texts]
    pooled = [gram for grams in each for gram in grams]
    if of == "types":
        each, pooled = [set(grams) for grams in each], set(pooled)

    def share(grams):
        return sum(gram not in known for gram in grams) / len(grams) if grams else math.nan

    return share(pooled), [share(grams) for grams in each]


def test_by_hand():
    score = measured(["a b c", "b c d", "a"], ["a b c"], order=2)
    assert score.value == 0.25
    np.testing.assert_array_equal(score.per_sample, [0, 0.5, np.nan])
    assert score.better == "higher"
    assert score.signature.startswith("metric:novelty|order:2|of:tokens|references:1|undefined:1|")


def test_every_occurrence_counts_or_every_type_once():
    texts = ["x x x x a b"]  # bigrams: xx three times, xa, ab
    assert measured(texts, ["a b"], order=2).value == 4 / 5
    assert measured(texts, ["a b"], order=2, of="types").value == 2 / 3


def test_texts_weigh_by_their_ngrams():
    score = measured(["a b", "x y z u v"], ["a b"], order=2)
    assert score.value == 4 / 5
    assert score.per_sample.tolist() == [0, 1]


def test_ngrams_do_not_reach_over_the_end_of_a_reference():
    assert measured(["a b"], ["a", "b"], order=2).value == 1
    assert measured(["a b"], ["a b"], order=2).value == 0


@settings(max_examples=60, deadline=None)
@given(sets, sets, st.integers(1, 4), st.sampled_from(["tokens", "types"]))
def test_equals_brute_force(texts, references, order, of):
    score = measured(texts, references, order=order, of=of)
    value, each = brute_force(texts, references, order, of)
    np.testing.assert_allclose(score.value, value, atol=1e-15)
    np.testing.assert_allclose(score.per_sample, each, atol=1e-15)


@settings(max_examples=30, deadline=None)
@given(sets, sets)
def test_longer_ngrams_are_never_less_new(texts, references):
    each = np.array([measured(texts, references, order=order).per_sample for order in (1, 2, 3)])
    assert not np.any(each[1:] < each[:-1])


@settings(max_examples=30, deadline=None)
@given(sets, sets, st.randoms())
def test_order_of_texts_and_references_does_not_matter(texts, references, random):
    score = measured(texts, references, order=2)
    rows = random.sample(range(len(texts)), len(texts))
    turned = measured(
        [texts[row] for row in rows], random.sample(references, len(references)), order=2
    )
    np.testing.assert_array_equal(turned.per_sample, score.per_sample[rows])
    np.testing.assert_array_equal(turned.value, score.value)


@settings(max_examples=20, deadline=None)
@given(sets, st.sampled_from(["tokens", "types"]))
def test_nothing_out_of_the_references_is_new(references, of):
    score = measured(references[:3], references, order=2, of=of)
    assert score.value == 0 or np.isnan(score.per_sample).all()


def test_more_references_never_make_it_rise():
    texts = ["a b c d", "d c b a"]
    values = [
        measured(texts, ["a b c d", "c b", "d c b a"][:count], order=2).value for count in (1, 2, 3)
    ]
    assert values == [0.5, 2 / 6, 0]


def test_no_text_long_enough():
    score = measured(["a b", ""], ["a b c d"])
    assert math.isnan(score.value)
    assert score.reason == "no text has 4 tokens"
    assert np.isnan(score.per_sample).all()


def test_empty_references_hold_nothing():
    assert measured(["a b c d e"], ["", "a b"]).value == 1


def test_corpora_give_the_same():
    texts, references = ["a b c", "b c d"], ["a b c"]
    together = tokenise(texts, references, tokenizer="whitespace")
    assert novelty(*together, order=2).value == measured(texts, references, order=2).value


def test_scripts_emoji_and_surrogates():
    text = "\ud800 這是 一個 👩‍👩‍👧 مرحبا"
    assert measured([text], [text + " x"], order=5).value == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"order": 0}, "order must be a whole number from 1 to 100; found 0"),
        ({"order": 101}, "order must be a whole number from 1 to 100; found 101"),
        ({"order": 2.5}, "found 2.5"),
        ({"of": "token"}, "unknown value for of 'token'; did you mean 'tokens'"),
    ],
)
def test_options_out_of_range(options, words):
    with pytest.raises(InputError, match=words):
        measured(["a"], ["a"], **options)


def test_bad_sets():
    with pytest.raises(InputError, match="references must hold at least one text"):
        measured(["a"], [])
    with pytest.raises(InputError, match="texts must hold strings only; row 2 is 3"):
        measured(["a", 3], ["a"])
    apart = tokenise(["a"], tokenizer="whitespace") + tokenise(["a"], tokenizer="whitespace")
    with pytest.raises(InputError, match="tokenised together"):
        novelty(*apart)
