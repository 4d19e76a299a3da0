"""Lengths and the vocabulary."""

from __future__ import annotations

import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.text import length_spread, mean_length, median_length, vocabulary_size
from calipers.text.tokens import tokenise

UNITS = {"words": lambda text: len(text.split()), "characters": len}


def test_units_by_hand():
    texts = ["It's 5 o'clock.", "", "日本 語"]
    assert mean_length(texts, unit="words").per_sample.tolist() == [3, 0, 2]
    assert mean_length(texts, unit="characters").per_sample.tolist() == [15, 0, 4]
    tokens = mean_length(texts, tokenizer="whitespace")
    assert tokens.per_sample.tolist() == [3, 0, 2]
    assert tokens.value == 5 / 3
    assert "unit:tokens" in tokens.signature
    assert "tokenizer:whitespace" in tokens.signature


def test_only_tokens_name_a_tokenizer():
    for unit in UNITS:
        score = mean_length(["a b"], unit=unit)
        assert f"metric:mean_length|unit:{unit}|n:1" in score.signature
        assert "tokenizer" not in score.signature


@settings(deadline=None)
@given(st.lists(st.text(max_size=20), min_size=2), st.sampled_from(sorted(UNITS)))
def test_equal_pythons_statistics(texts, unit):
    lengths = [UNITS[unit](text) for text in texts]
    assert mean_length(texts, unit=unit).value == pytest.approx(statistics.fmean(lengths))
    assert median_length(texts, unit=unit).value == statistics.median(lengths)
    assert length_spread(texts, unit=unit).value == pytest.approx(statistics.stdev(lengths))


def test_a_corpus_gives_its_texts_and_its_tokens():
    (corpus,) = tokenise(["one two, three"], tokenizer="whitespace")
    assert mean_length(corpus).value == 3
    assert mean_length(corpus, unit="characters").value == 14


def test_a_single_text_has_no_spread():
    score = length_spread(["a b"], unit="words")
    assert np.isnan(score.value)
    assert score.reason == "a single text has no spread"


def test_a_misspelt_unit():
    with pytest.raises(InputError, match="unknown value for unit 'word'; did you mean 'words'"):
        mean_length(["a"], unit="word")


def test_vocabulary_of_this_set_alone():
    texts, others = ["a b a", "", "c a"], ["d e f"]
    corpus, _ = tokenise(texts, others, tokenizer="whitespace")
    score = vocabulary_size(corpus)
    assert score.value == 3
    assert score.per_sample.tolist() == [2, 0, 2]
    assert vocabulary_size([""], tokenizer="whitespace").value == 0
