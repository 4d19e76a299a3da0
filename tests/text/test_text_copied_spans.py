import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.text import copied_spans, longest_copied_span, novelty
from calipers.text.tokens import tokenise

few_words = st.lists(st.sampled_from("ab"), max_size=10).map(" ".join)
sets = st.lists(few_words, min_size=1, max_size=5)


def longest(texts, references, **options):
    return longest_copied_span(texts, references, tokenizer="whitespace", **options)


def spans(texts, references, **options):
    found = copied_spans(texts, references, tokenizer="whitespace", **options)
    return [
        (each.row, each.start, each.length, each.reference, each.reference_start) for each in found
    ]


def brute_force(text, references):
    """All spans of one text that are in a reference and in no longer one: {(start, length)}."""
    words = text.split()
    held = {
        (start, end)
        for start in range(len(words))
        for end in range(start + 1, len(words) + 1)
        if any(contains(reference.split(), words[start:end]) for reference in references)
    }
    return {
        (start, end - start)
        for start, end in held
        if (start - 1, end) not in held and (start, end + 1) not in held
    }


def contains(words, part):
    return any(words[at : at + len(part)] == part for at in range(len(words)))


def test_by_hand():
    references = ["the cat sat on the mat", "a dog barked"]
    texts = ["the cat sat down", "a dog sat on the sofa", "nothing shared", ""]
    score = longest(texts, references)
    np.testing.assert_array_equal(score.per_sample, [3, 3, 0, np.nan])
    assert score.value == 2
    assert score.better == "lower"
    assert score.signature.startswith(
        "metric:longest_copied_span|over:mean|references:2|undefined:1|tokenizer:whitespace|n:4|"
    )
    assert longest(texts, references, over="largest").value == 3
    found = copied_spans(texts, references, least=2, tokenizer="whitespace")
    assert [" ".join(each.tokens) for each in found] == ["the cat sat", "a dog", "sat on the"]
    assert spans(texts, references, least=2) == [(0, 0, 3, 0, 0), (1, 0, 2, 1, 0), (1, 2, 3, 0, 2)]


def test_spans_may_overlap_but_lie_in_no_other():
    assert spans(["a b c d"], ["x b c d", "a b c x"], least=2) == [
        (0, 0, 3, 1, 0),
        (0, 1, 3, 0, 1),
    ]


def test_spans_end_with_texts_and_references():
    assert longest(["a b", "c d"], ["b c"]).per_sample.tolist() == [1, 1]
    assert longest(["a b c"], ["a b", "c"]).per_sample.tolist() == [2]


@settings(max_examples=100, deadline=None)
@given(sets, sets)
def test_equals_brute_force(texts, references):
    found = spans(texts, references, least=1)
    expected = [brute_force(text, references) for text in texts]
    for row, each in enumerate(expected):
        assert {(start, length) for at, start, length, *_ in found if at == row} == each
    for row, start, length, reference, beginning in found:
        words = texts[row].split()[start : start + length]
        assert references[reference].split()[beginning : beginning + length] == words
    lengths = [
        max((length for _, length in each), default=0) if text.split() else math.nan
        for text, each in zip(texts, expected, strict=True)
    ]
    np.testing.assert_array_equal(longest(texts, references).per_sample, lengths)


def test_equals_brute_force_on_longer_texts(rng):
    texts, references = (
        [" ".join(rng.choice(list("abcd"), 40)) for _ in range(12)] for _ in range(2)
    )
    found = spans(texts, references, least=4)
    assert found
    for row, text in enumerate(texts):
        expected = {each for each in brute_force(text, references) if each[1] >= 4}
        assert {(start, length) for at, start, length, *_ in found if at == row} == expected


@settings(max_examples=30, deadline=None)
@given(sets, sets, st.integers(1, 5))
def test_shorter_than_n_exactly_where_all_ngrams_are_new(texts, references, order):
    lengths = longest(texts, references).per_sample
    new = novelty(texts, references, order=order, tokenizer="whitespace").per_sample
    defined = ~np.isnan(new)
    np.testing.assert_array_equal(lengths[defined] < order, new[defined] == 1)


@settings(max_examples=30, deadline=None)
@given(sets, sets, st.randoms())
def test_order_of_texts_and_references_does_not_matter(texts, references, random):
    rows = random.sample(range(len(texts)), len(texts))
    turned = longest(
        [texts[row] for row in rows], random.sample(references, len(references))
    ).per_sample
    np.testing.assert_array_equal(turned, longest(texts, references).per_sample[rows])


@given(sets)
@settings(max_examples=20, deadline=None)
def test_a_text_among_the_references_is_copied_whole(texts):
    lengths = [len(text.split()) or math.nan for text in texts]
    np.testing.assert_array_equal(longest(texts, texts).per_sample, lengths)


@pytest.mark.parametrize("phrase", ["a", "a b c d e f g", "a a b"])
def test_texts_that_repeat_a_phrase_take_no_quadratic_time(phrase):
    text = " ".join([phrase] * (300_000 // len(phrase.split())))
    longest(["a"], ["a"])  # compiled before the clock starts
    start = time.perf_counter()
    score = longest([text], [text, text])
    assert time.perf_counter() - start < 20
    assert score.value == len(text.split())


def test_many_equal_texts():
    text = " ".join(map(str, range(30)))
    assert longest([text] * 2_000, [text] * 3_000).value == 30
    assert len(spans([text] * 50, [text] * 50)) == 50


def test_no_shared_word_and_no_token():
    assert longest(["a b"], ["c d"]).value == 0
    assert spans(["a b"], ["c d"], least=1) == []
    assert longest(["a b"], [""]).value == 0
    score = longest(["", " "], ["a"], over="largest")
    assert math.isnan(score.value)
    assert score.reason == "no text has a token"
    assert spans([""], ["", ""], least=1) == []


def test_corpora_of_one_list_of_words_may_be_held_against_each_other():
    own, known, _ = tokenise(["a b"], ["x a b"], ["y"], tokenizer="whitespace")
    assert longest_copied_span(own, known).value == 2
    assert copied_spans(own, known, least=2)[0].tokens == ["a", "b"]


def test_scripts_emoji_and_surrogates():
    text = "\ud800 這是 一個 👩‍👩‍👧 مرحبا"
    assert longest([text], ["x " + text]).value == 5


def test_the_record_is_readable_and_equal_by_its_numbers():
    one, two = (copied_spans(["a b"], ["a b"], least=2, tokenizer="whitespace")[0] for _ in "ab")
    assert one == two
    assert repr(one) == "CopiedSpan(row=0, start=0, length=2, reference=0, reference_start=0)"


@pytest.mark.parametrize("least", [0, -1, 1.5, "ten", True])
def test_least_must_be_a_whole_number(least):
    with pytest.raises(InputError, match="least must be a whole number of at least 1"):
        copied_spans(["a"], ["a"], least=least)


def test_bad_input():
    with pytest.raises(InputError, match="unknown value for over 'max'"):
        longest(["a"], ["a"], over="max")
    with pytest.raises(InputError, match="references must hold at least one text"):
        longest(["a"], [])
    apart = tokenise(["a"], tokenizer="whitespace") + tokenise(["a"], tokenizer="whitespace")
    with pytest.raises(InputError, match="tokenised together"):
        copied_spans(*apart)
