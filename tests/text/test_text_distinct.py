"""Distinct-n, its expectation-adjusted form, and the moving-average type–token ratio."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.text import distinct, expectation_adjusted_distinct, moving_average_ttr
from calipers.text.tokens import tokenise

TEXTS = st.lists(st.lists(st.sampled_from("abcd"), max_size=12).map(" ".join), min_size=1)


def grams(text: str, order: int) -> list[tuple[str, ...]]:
    words = text.split()
    return [tuple(words[at : at + order]) for at in range(len(words) - order + 1)]


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


@settings(deadline=None)
@given(TEXTS, st.integers(1, 5))
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
    with pytest.raises(
        InputError, match=f"order must be a whole number from 1 to 100; found {order!r}"
    ):
        distinct(["a"], order=order)


def test_a_misspelt_level():
    with pytest.raises(InputError, match="unknown value for per 'sampel'; did you mean 'sample'"):
        distinct(["a"], per="sampel")


@settings(deadline=None)
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
    with pytest.raises(InputError, match="vocabulary must be a whole number of at least 2"):
        expectation_adjusted_distinct(["a"], vocabulary=vocabulary)


def test_adjusted_distinct_of_no_tokens():
    score = white(["", " "], expectation_adjusted_distinct)
    assert np.isnan(score.value)
    assert score.reason == "no text has a token"


@settings(deadline=None)
@given(TEXTS, st.integers(1, 6))
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
