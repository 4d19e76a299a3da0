"""N-grams as integers: the same as counting tuples of words, for any order."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.text.corpus import join
from calipers.text.tokens import as_corpus, tokenise

TEXTS = st.lists(
    st.lists(st.sampled_from("abcd"), max_size=12).map(" ".join), min_size=1, max_size=8
)
ORDERS = range(1, 7)


def grams(text, order):
    words = text.split()
    return [tuple(words[i : i + order]) for i in range(len(words) - order + 1)]


def first_appearances(texts, order):
    found = {}
    for text in texts:
        for gram in grams(text, order):
            found.setdefault(gram, len(found))
    return found


def test_an_example_by_hand():
    corpus = as_corpus(["a b a b", "b", "", "b a c"], "whitespace")
    pairs = corpus.ngrams(2)  # ab ba ab | | | ba ac
    assert pairs.ids.tolist() == [0, 1, 0, 1, 2]
    assert pairs.starts.tolist() == [0, 3, 3, 3, 5]
    assert (pairs.order, pairs.size) == (2, 3)
    assert pairs.counts.tolist() == [2, 2, 1]
    assert pairs.totals.tolist() == [3, 0, 0, 2]
    within = pairs.within
    assert within.ids.tolist() == [0, 1, 1, 2]
    assert within.counts.tolist() == [2, 1, 1, 1]
    assert within.starts.tolist() == [0, 2, 2, 2, 4]
    assert within.different.tolist() == [2, 0, 0, 2]


@settings(max_examples=100, deadline=None)
@given(texts=TEXTS)
def test_numbers_and_counts_equal_those_of_tuples(texts):
    corpus = as_corpus(texts, "whitespace")
    for order in ORDERS:
        made, numbers = corpus.ngrams(order), first_appearances(texts, order)
        split = np.split(made.ids, made.starts[1:-1])
        assert [part.tolist() for part in split] == [
            [numbers[gram] for gram in grams(text, order)] for text in texts
        ]
        assert made.size == len(numbers)
        counted = Counter(gram for text in texts for gram in grams(text, order))
        assert made.counts.tolist() == [counted[gram] for gram in numbers]


@settings(max_examples=100, deadline=None)
@given(texts=TEXTS)
def test_counts_within_texts_equal_those_of_tuples(texts):
    corpus = as_corpus(texts, "whitespace")
    for order in ORDERS:
        within, numbers = corpus.ngrams(order).within, first_appearances(texts, order)
        for row, text in enumerate(texts):
            mine = slice(within.starts[row], within.starts[row + 1])
            counted = Counter(numbers[gram] for gram in grams(text, order))
            assert within.ids[mine].tolist() == sorted(counted)
            assert dict(zip(within.ids[mine], within.counts[mine], strict=True)) == counted


@settings(max_examples=50, deadline=None)
@given(texts=TEXTS, references=TEXTS)
def test_joined_corpora_share_numbers(texts, references):
    both = join(*tokenise(texts, references, tokenizer="whitespace"))
    alone = as_corpus([*texts, *references], "whitespace")
    for order in ORDERS:
        assert np.array_equal(both.ngrams(order).ids, alone.ngrams(order).ids)
        assert np.array_equal(both.ngrams(order).starts, alone.ngrams(order).starts)


def test_a_part_of_a_joint_vocabulary_is_numbered_from_zero():
    _, second = tokenise(["a b c"], ["d c d"], tokenizer="whitespace")
    assert second.tokens.tolist() == [3, 2, 3]
    assert second.ngrams(1).ids.tolist() == [0, 1, 0]
    assert second.ngrams(1).size == 2


def test_numbers_beyond_those_of_a_small_table():
    rng = np.random.default_rng(0)
    texts = [" ".join(map(str, rng.integers(0, 3000, 200))) for _ in range(100)]
    corpus = as_corpus(texts, "whitespace")
    for order in (2, 3):
        numbers = first_appearances(texts, order)
        expected = [numbers[gram] for text in texts for gram in grams(text, order)]
        assert corpus.ngrams(order).ids.tolist() == expected


def test_orders_are_made_once_and_in_any_sequence():
    corpus = as_corpus(["a b c d"], "whitespace")
    fourth = corpus.ngrams(4)
    assert corpus.ngrams(4) is fourth
    assert corpus.ngrams(np.int64(2)) is corpus.ngrams(2)
    assert corpus.ngrams(2).ids.tolist() == [0, 1, 2]
    assert corpus.ngrams(9).size == 0


@pytest.mark.parametrize("texts", [[""], ["", " "], ["a"]])
def test_texts_shorter_than_the_order_have_none(texts):
    made = as_corpus(texts, "whitespace").ngrams(2)
    assert (made.size, made.ids.tolist(), made.counts.tolist()) == (0, [], [])
    assert made.starts.tolist() == [0] * (len(texts) + 1)
    assert made.within.different.tolist() == [0] * len(texts)


@pytest.mark.parametrize("order", [0, -1, 1.5, "2", None, True])
def test_the_order_is_a_whole_number_from_one(order):
    with pytest.raises(InputError, match="order must be a whole number from 1 to 100; found"):
        as_corpus(["a b"], "whitespace").ngrams(order)


def test_dtypes_are_compact():
    made = as_corpus(["a b a"], "whitespace").ngrams(2)
    within = made.within
    assert (made.ids.dtype, made.starts.dtype) == (np.int32, np.int64)
    assert (within.ids.dtype, within.counts.dtype, within.starts.dtype) == (
        *(np.int32, np.int32),
        np.int64,
    )
