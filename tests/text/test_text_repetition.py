"""Texts that repeat themselves or each other, and texts that never came to an end."""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.text import (
    distinct,
    non_termination,
    rep_n,
    repeated_endings,
    repetition_frequency,
    self_repetition,
)
from calipers.text.termination import ENDS, ends_sentence
from calipers.text.tokens import tokenise
from extras import need

# Texts that end in loops, repeats within a text, and phrases that texts share.


WORDS = st.one_of(
    st.lists(st.sampled_from("ab"), max_size=16),
    st.tuples(
        st.lists(st.sampled_from("abc"), max_size=4),
        st.lists(st.sampled_from("abc"), min_size=1, max_size=4),
        st.integers(1, 4),
    ).map(lambda parts: parts[0] + parts[1] * parts[2]),
)
TEXTS = st.lists(WORDS.map(" ".join), min_size=1, max_size=6)


def white(texts, metric, **options):
    return metric(texts, tokenizer="whitespace", **options)


def copies_at_end(words: list[str], phrase: int) -> int:
    found = 1
    while words[len(words) - (found + 1) * phrase : len(words) - found * phrase] == words[-phrase:]:
        found += 1
    return found


def slow_ending(words: list[str], longest: int) -> tuple[int, int]:
    """The phrase with the most copies, shortest first; (0, 1) where nothing is repeated."""
    best = (0, 1)
    for phrase in range(1, min(longest, len(words) // 2) + 1):
        found = copies_at_end(words, phrase)
        best = (phrase, found) if found > best[1] else best
    return best


def test_by_hand():
    texts = ["a b b", "a b c b c", "b b a", "", "a"]
    score = white(texts, repetition_frequency)
    assert score.per_sample.tolist() == [True, True, False, False, False]
    assert score.value == 2 / 5
    found = white(texts, repeated_endings)
    assert found.lengths.tolist() == [1, 2, 0, 0, 0]
    assert found.copies.tolist() == [2, 2, 1, 1, 1]


@given(TEXTS, st.one_of(st.none(), st.integers(1, 6)), st.integers(2, 4))
def test_equals_every_phrase_tried(texts, longest, copies):
    expected = [slow_ending(text.split(), longest or 99) for text in texts]
    found = white(texts, repeated_endings, longest=longest)
    assert list(zip(found.lengths, found.copies, strict=True)) == expected
    looped = [most >= copies for _, most in expected]
    score = white(texts, repetition_frequency, copies=copies, longest=longest)
    assert score.per_sample.tolist() == looped
    assert score.value == np.mean(looped)


@given(TEXTS)
def test_holtzmans_rule_can_be_read_from_the_endings(texts):
    expected = []
    for words in map(str.split, texts):
        most = [
            copies_at_end(words, phrase) if phrase <= len(words) else 1 for phrase in range(1, 91)
        ]
        phrase = int(np.argmax(most)) + 1
        expected.append(max(most) > 1 and (phrase >= 3 or max(most) > 50))
    found = white(texts, repeated_endings, longest=90)
    assert ((found.copies > 1) & ((found.lengths > 2) | (found.copies > 50))).tolist() == expected


def test_the_phrase_may_be_half_the_text():
    words = [f"w{at}" for at in range(500)]
    found = white([" ".join(words * 2), " ".join([*words, "x", *words])], repeated_endings)
    assert found.lengths.tolist() == [500, 0]


@pytest.mark.parametrize("unit", [["a"], ["a", "b"], [f"w{at}" for at in range(1000)]])
def test_a_long_loop_takes_linear_time(unit):
    (corpus,) = tokenise([" ".join(unit * (2_000_000 // len(unit)))], tokenizer="whitespace")
    found = repeated_endings(corpus)  # 10¹² steps if it were quadratic
    assert found.lengths.tolist() == [len(unit)]
    assert found.copies.tolist() == [2_000_000 // len(unit)]


@pytest.mark.parametrize(
    ("text", "length", "copies"),
    [
        ("It was a dog. " * 6, 4, 6),
        ("I do not know. " * 3, 4, 3),
        ('"Yes," he said. ' * 5, 6, 5),
        ('He said: "No." ' * 5, 6, 5),
        ("(He ran.) " * 4, 4, 4),
        ("Look! It was a dog. It was a dog.", 4, 2),
    ],
)
def test_a_sentence_again_and_again_is_a_loop(text, length, copies):
    found = repeated_endings([text])
    assert (found.lengths.tolist(), found.copies.tolist()) == ([length], [copies])
    assert repetition_frequency([text]).value == 1
    others = ["It was a cat.", "a ." if text[0] == "I" else "dog."]
    assert repetition_frequency([*others, text]).per_sample.tolist() == [False, False, True]


@pytest.mark.parametrize(
    "text",
    ["It was a dog.", "A dog. It was a dog.", "The dog. It ran. The dog.", ".", "'' .", "dog. ''"],
)
def test_ordinary_ends_are_no_loop(text):
    assert repetition_frequency([text]).value == 0


@pytest.mark.parametrize("sentence", ["It was a dog.", '"Yes," he said.', "(He ran.)", "So it is!"])
@pytest.mark.parametrize("copies", [1, 2, 5])
def test_sentences_repeat_as_often_by_nltk_as_by_13a(sentence, copies):
    text = f"Once upon a time. {' '.join([sentence] * copies)}"
    found = [repeated_endings([text], tokenizer=name) for name in ("nltk", "13a")]
    assert [each.copies.tolist() for each in found] == [[copies], [copies]]


def test_a_stop_stays_apart_where_that_has_more_copies():
    assert white(["b. x . . ."], repeated_endings).copies.tolist() == [3]
    assert white(["x. x ."], repeated_endings).lengths.tolist() == [1]
    assert white(["x. x .", "y ."], repeated_endings).copies.tolist() == [2, 1]


@pytest.mark.slow
def test_many_texts_with_final_stops_take_linear_time():
    (corpus,) = tokenise(["a b. c d. c d."] * 50_000 + ["It was a dog. " * 100_000])
    assert repetition_frequency(corpus).value == 1


def test_signature_of_repetition_names_the_rule():
    assert "copies:2|longest:any" in white(["a"], repetition_frequency).signature
    assert "copies:3|longest:9" in white(["a"], repetition_frequency, copies=3, longest=9).signature


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"copies": 1}, "copies .*at least 2.* 1"),
        ({"longest": 0}, "longest .*at least 1.* 0"),
        ({"longest": "any"}, "longest .*at least 1.* 'any'"),
    ],
)
def test_repetition_refuses(options, message):
    with pytest.raises(InputError, match=message):
        white(["a"], repetition_frequency, **options)


@given(TEXTS, st.integers(1, 4))
def test_rep_n_counts_repeats(texts, order):
    expected = []
    for words in map(str.split, texts):
        counts = Counter(tuple(words[at : at + order]) for at in range(len(words) - order + 1))
        repeats = sum(counts.values()) - len(counts)
        expected.append(repeats / counts.total() if counts else np.nan)
    score = white(texts, rep_n, order=order)
    np.testing.assert_allclose(score.per_sample, expected, rtol=1e-14, atol=1e-15)
    sample = white(texts, distinct, order=order, per="sample")
    if np.isnan(expected).all():
        assert np.isnan([score.value, sample.value]).all()
        assert score.reason
    else:
        assert score.value == pytest.approx(1 - sample.value, abs=1e-15)


def test_rep_n_of_short_texts_is_undefined():
    score = white(["a b c"], rep_n)
    assert np.isnan(score.value)
    assert score.reason == "no text has 4 tokens"


@given(TEXTS, st.integers(1, 3))
def test_self_repetition_equals_sets_counted(texts, order):
    sets = [
        {tuple(words[at : at + order]) for at in range(len(words) - order + 1)}
        for words in map(str.split, texts)
    ]
    holders = Counter(gram for each in sets for gram in each)
    expected = [
        np.log(1 + sum(holders[gram] - 1 for gram in each)) if each and len(sets) > 1 else np.nan
        for each in sets
    ]
    score = white(texts, self_repetition, order=order)
    np.testing.assert_allclose(score.per_sample, expected, rtol=1e-14)


def test_texts_that_share_nothing_have_no_self_repetition():
    assert white(["a b c d a b c d", "e f g h"], self_repetition).value == 0


def test_equal_texts_repeat_each_other():
    # 3 four-grams in each of 5 texts, each in 4 others
    score = white(["a b c d e f"] * 5, self_repetition)
    assert score.value == pytest.approx(np.log(1 + 3 * 4), rel=1e-14)


def test_a_single_text_has_no_other_to_repeat():
    score = white(["a b c d e"], self_repetition)
    assert np.isnan(score.value)
    assert score.reason == "there is only one text, and no other to repeat"


@pytest.mark.parametrize("word", ["can't", "it's", "John's", "dogs'", "wanna", "dog"])
@pytest.mark.parametrize("closing", ["", '"', ")"])
def test_loops_of_sentences_that_end_in_a_contraction(word, closing):
    opening = {"": "", '"': '"', ")": "("}[closing]
    text = "Well. " + " ".join([f"{opening}I saw {word}.{closing}"] * 3)
    other = f"{word}. " * 2 + "and so on."  # what another text holds changes nothing
    found = repeated_endings([text, other])
    assert found.copies[0] >= 3
    assert found.copies[0] == repeated_endings([text]).copies[0]


def test_two_words_are_no_contraction():
    assert repeated_endings(["I want some. I want so me."]).copies.tolist() == [1]


# Texts that never came to an end.


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
        "Τι κάνεις;",
        "Τι κάνεις\u037e»",
        "ပြီးပြီ။",
        "ចប់ហើយ។",
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
        "one; two;",
        ";",
    ],
)
def test_texts_that_did_not_end(text):
    assert not ends_sentence(text)


def test_the_marks_are_those_of_unicode():
    regex = need("regex")
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


def test_scripts_that_mark_no_end_have_no_value_without_a_mark():
    score = non_termination(["ฉันชอบกาแฟ", "ฉันชอบกาแฟ!", "ຂ້ອຍມັກກາເຟ", "I like ไทย and"])
    np.testing.assert_array_equal(score.per_sample, [np.nan, 0, np.nan, 1])
    alone = non_termination(["ฉันชอบกาแฟ"])
    assert np.isnan(alone.value)
    assert "does not mark the end of sentences, as Thai" in alone.reason


def test_a_limit_must_be_a_length():
    with pytest.raises(InputError, match=r"limit .*at least 1.* 0"):
        non_termination(["a"], limit=0)


def test_a_long_tail_of_quotes_is_no_trouble():
    assert ends_sentence("a." + '"' * 1_000_000)
