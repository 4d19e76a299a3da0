"""N-grams as integers, distinct-n, its expectation-adjusted form, and the type–token ratio."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.text import distinct, expectation_adjusted_distinct, moving_average_ttr
from calipers.text.corpus import join
from calipers.text.tokens import as_corpus, tokenise

# N-grams as integers: the same as counting tuples of words, for any order.


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


@settings(max_examples=100)
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


@settings(max_examples=100)
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


@settings(max_examples=50)
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
    with pytest.raises(InputError, match=r"order .*1 to 100"):
        as_corpus(["a b"], "whitespace").ngrams(order)


def test_dtypes_are_compact():
    made = as_corpus(["a b a"], "whitespace").ngrams(2)
    within = made.within
    assert (made.ids.dtype, made.starts.dtype) == (np.int32, np.int64)
    assert (within.ids.dtype, within.counts.dtype, within.starts.dtype) == (
        *(np.int32, np.int32),
        np.int64,
    )


# Distinct-n, its expectation-adjusted form, and the moving-average type–token ratio.


FOUR_LETTERS = st.lists(st.lists(st.sampled_from("abcd"), max_size=12).map(" ".join), min_size=1)


def white(texts, metric, **options):
    return metric(texts, tokenizer="whitespace", **options)


def test_both_levels_by_hand():
    texts = ["the cat sat", "the cat ran the cat ran"]
    # bigrams: "the cat" 3x, "cat sat", "cat ran" 2x, "ran the": 4 different of 7; 2 of 2 and 3 of 5
    system = white(texts, distinct, order=2)
    assert system.value == 4 / 7
    assert system.per_sample.tolist() == [1.0, 3 / 5]
    sample = white(texts, distinct, order=2, per="sample")
    assert sample.value == pytest.approx((1 + 3 / 5) / 2, abs=0)
    assert sample.per_sample.tolist() == system.per_sample.tolist()
    assert "order:2" in sample.signature
    assert "per:sample" in sample.signature
    assert sample.better == "closest"


@given(FOUR_LETTERS, st.integers(1, 5))
def test_equals_sets_of_tuples(texts, order):
    every = [grams(text, order) for text in texts]
    flat = [gram for each in every for gram in each]
    score = white(texts, distinct, order=order)
    shares = [len(set(each)) / len(each) if each else np.nan for each in every]
    np.testing.assert_array_equal(score.per_sample, shares)
    if flat:
        assert score.value == len(set(flat)) / len(flat)
        assert white(texts, distinct, order=order, per="sample").value == pytest.approx(
            np.nanmean(shares), rel=1e-15
        )
    else:
        assert np.isnan(score.value)
        assert score.reason.startswith("no text has")


def test_a_text_without_an_ngram_has_no_share_and_is_counted():
    score = white(["a b", "a", ""], distinct, order=2, per="sample")
    np.testing.assert_array_equal(score.per_sample, [1.0, np.nan, np.nan])
    assert score.value == 1.0
    assert "undefined:2" in score.signature


def test_no_ngram_reaches_over_the_end_of_a_text():
    assert white(["a b", "c d"], distinct, order=2).value == 1.0  # no "b c"
    assert white(["a", "b"], distinct, order=2).reason == "no text has 2 tokens"


@pytest.mark.parametrize("order", [0, -1, 1.5, True, "2", 101, 10**30])
def test_an_order_that_is_no_sensible_number(order):
    with pytest.raises(InputError, match=f"order .*1 to 100.* {order!r}"):
        distinct(["a"], order=order)


def test_a_misspelt_level():
    with pytest.raises(InputError, match=r"per 'sampel'.*'sample'"):
        distinct(["a"], per="sampel")


@given(st.integers(1, 300), st.integers(2, 60))
def test_the_expected_number_is_exact(draws, size):
    from calipers.text.distinct_ngrams import expected

    exact = size * (1 - Fraction(size - 1, size) ** draws)
    assert expected(draws, size) == pytest.approx(float(exact), rel=1e-12)


def test_the_expected_number_stays_exact_for_huge_sizes():
    from calipers.text.distinct_ngrams import expected

    draws, size = 10**6, 10**15  # draws - draws (draws - 1) / (2 size) + …
    assert expected(draws, size) == pytest.approx(draws - draws**2 / (2 * size), rel=1e-15)
    assert expected(10**12, 1000) == 1000
    assert expected(1, 10**300) == pytest.approx(1, rel=1e-15)


def test_adjusted_distinct_is_the_ratio_to_chance():
    score = white(["a b a", "c"], expectation_adjusted_distinct, vocabulary=5)
    assert score.value == pytest.approx(3 / (5 * (1 - 0.8**4)), rel=1e-14)
    assert "vocabulary:5" in score.signature
    usual = white(["a b a", "c"], expectation_adjusted_distinct)
    assert "vocabulary:50257" in usual.signature
    # in the limit of a large vocabulary it is Distinct-n
    large = white(["a b a", "c"], expectation_adjusted_distinct, vocabulary=10**12)
    assert large.value == pytest.approx(3 / 4, rel=1e-9)


def test_adjusted_distinct_does_not_fall_with_length_where_distinct_does():
    rng = np.random.default_rng(0)
    short, long = (
        [" ".join(map(str, rng.integers(0, 200, size))) for _ in range(50)] for size in (5, 40)
    )
    values = [
        white(texts, expectation_adjusted_distinct, vocabulary=200).value for texts in (short, long)
    ]
    assert values == pytest.approx([1, 1], abs=0.05)
    assert white(short, distinct).value > 4 * white(long, distinct).value


@pytest.mark.parametrize("vocabulary", [1, 0, -3, 2.5])
def test_a_vocabulary_that_is_too_small(vocabulary):
    with pytest.raises(InputError, match=r"vocabulary .*at least 2"):
        expectation_adjusted_distinct(["a"], vocabulary=vocabulary)


def test_adjusted_distinct_of_no_tokens():
    score = white(["", " "], expectation_adjusted_distinct)
    assert np.isnan(score.value)
    assert score.reason == "no text has a token"


@given(FOUR_LETTERS, st.integers(1, 6))
def test_moving_average_equals_every_window_counted(texts, window):
    expected = []
    for text in texts:
        windows = [len(set(gram)) / window for gram in grams(text, window)]
        expected.append(np.mean(windows) if windows else np.nan)
    score = white(texts, moving_average_ttr, window=window)
    np.testing.assert_allclose(score.per_sample, expected, rtol=1e-12)
    if np.all(np.isnan(expected)):
        assert np.isnan(score.value)
    else:
        assert score.value == pytest.approx(np.nanmean(expected), rel=1e-12)


def test_texts_shorter_than_the_window_have_no_value():
    score = moving_average_ttr(["too short"])
    assert np.isnan(score.value)
    assert score.reason == "no text has the 50 tokens of a window"
    assert white(["a a"], moving_average_ttr, window=10**30).reason.startswith("no text has the 1")


def test_a_window_as_long_as_the_text_gives_the_plain_ratio():
    assert white(["a b a c"], moving_average_ttr, window=4).value == 3 / 4
    assert white(["a b a c"], moving_average_ttr, window=1).value == 1


def test_statistics_of_a_corpus_are_those_of_its_texts_alone():
    texts, others = ["a b c", "a b"], ["z y x w", "v"]
    corpus, _ = tokenise(texts, others, tokenizer="whitespace")
    assert distinct(corpus).value == white(texts, distinct).value
    assert moving_average_ttr(corpus, window=2).value == 1.0
    assert "tokenizer:whitespace" in distinct(corpus).signature
