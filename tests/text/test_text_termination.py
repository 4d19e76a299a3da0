"""Texts that never came to an end."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from calipers.errors import InputError
from calipers.text import non_termination
from calipers.text.termination import ENDS, ends_sentence


@pytest.mark.parametrize(
    "text",
    [
        "The end.",
        "Really?!  \n",
        "“Yes,” she said, “I will.”",
        "He left (at last!)",
        "*Fin.*",
        "„Ja.“",
        "« Oui. »",
        "he said .''",
        "終わりました。",
        "「はい。」",
        "结束了！",
        "انتهى؟",
        "وہ چلا گیا۔",
        "यह अंत है।",
        "ይህ መጨረሻው ነው።",
        "Ավարտ։",
        "He waited…",
        "What‼\ufe0f",
        "Done.\u200b",
    ],
)
def test_texts_that_ended(text):
    assert ends_sentence(text)


@pytest.mark.parametrize(
    "text",
    [
        "and then the",
        "one, two,",
        "as follows:",
        "he said “",
        "3.5",
        "done. And",
        "🎉",
        "\ud800",
        "’",
    ],
)
def test_texts_that_did_not_end(text):
    assert not ends_sentence(text)


def test_the_marks_are_those_of_unicode():
    regex = pytest.importorskip("regex")
    terminal = regex.compile(r"\p{Sentence_Terminal}")
    found = {chr(code) for code in range(0x10000) if terminal.match(chr(code))}
    assert len(ENDS & found) > 90
    assert {f"{ord(mark):x}" for mark in ENDS - found} <= {
        "2026",
        "22ef",
        "fe19",
        "f0d",
        "f0e",
        "f0f",
        "f10",
        "f11",
    }
    assert max(map(ord, ENDS)) < sys.maxunicode


def test_the_last_character_decides_without_a_limit():
    score = non_termination(["Done.", "and then", "", " \n"])
    np.testing.assert_array_equal(score.per_sample, [0, 1, np.nan, np.nan])
    assert score.value == 0.5
    assert "by:last_character" in score.signature
    assert "undefined:2" in score.signature
    assert "tokenizer" not in score.signature


def test_with_a_limit_the_length_decides():
    texts = ["a b c", "a b", "", "a b c d."]
    score = non_termination(texts, limit=3, tokenizer="whitespace")
    assert score.per_sample.tolist() == [1, 0, 0, 1]
    assert score.value == 0.5
    assert "limit:3" in score.signature
    assert "tokenizer:whitespace" in score.signature


def test_empty_texts_alone_have_no_value():
    score = non_termination(["", "  "])
    assert np.isnan(score.value)
    assert score.reason == "every text is empty or white space"


def test_a_limit_must_be_a_length():
    with pytest.raises(InputError, match="limit must be a whole number of at least 1; found 0"):
        non_termination(["a"], limit=0)


def test_a_long_tail_of_quotes_is_no_trouble():
    assert ends_sentence("a." + '"' * 1_000_000)
