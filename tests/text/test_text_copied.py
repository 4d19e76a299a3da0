"""Copies from the reference: spans of it in a text, and n-grams that are new to it."""

import math

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


@settings(max_examples=100)
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


@settings(max_examples=30)
@given(sets, sets, st.integers(1, 5))
def test_shorter_than_n_exactly_where_all_ngrams_are_new(texts, references, order):
    lengths = longest(texts, references).per_sample
    new = novelty(texts, references, order=order, tokenizer="whitespace").per_sample
    defined = ~np.isnan(new)
    np.testing.assert_array_equal(lengths[defined] < order, new[defined] == 1)


@settings(max_examples=30)
@given(sets, sets, st.randoms())
def test_order_of_texts_and_references_does_not_matter(texts, references, random):
    rows = random.sample(range(len(texts)), len(texts))
    turned = longest(
        [texts[row] for row in rows], random.sample(references, len(references))
    ).per_sample
    np.testing.assert_array_equal(turned, longest(texts, references).per_sample[rows])


@given(sets)
@settings(max_examples=20)
def test_a_text_among_the_references_is_copied_whole(texts):
    lengths = [len(text.split()) or math.nan for text in texts]
    np.testing.assert_array_equal(longest(texts, texts).per_sample, lengths)


@pytest.mark.parametrize("phrase", ["a", "a b c d e f g", "a a b"])
def test_texts_that_repeat_a_phrase_take_no_quadratic_time(phrase):
    text = " ".join([phrase] * (300_000 // len(phrase.split())))
    score = longest([text], [text, text])  # 10¹¹ steps if it were quadratic
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
    with pytest.raises(InputError, match=r"least .*at least 1"):
        copied_spans(["a"], ["a"], least=least)


def test_bad_input():
    with pytest.raises(InputError, match="unknown value for over 'max'"):
        longest(["a"], ["a"], over="max")
    with pytest.raises(InputError, match=r"references .*at least one text"):
        longest(["a"], [])
    apart = tokenise(["a"], tokenizer="whitespace") + tokenise(["a"], tokenizer="whitespace")
    with pytest.raises(InputError, match="tokenised together"):
        copied_spans(*apart)


up_to_eight_words = st.lists(st.sampled_from("abc"), max_size=8).map(" ".join)
sets_of_three_words = st.lists(up_to_eight_words, min_size=1, max_size=6)


def measured(texts, references, **options):
    return novelty(texts, references, tokenizer="whitespace", **options)


def windows(text, order):
    words = text.split()
    return [tuple(words[start : start + order]) for start in range(len(words) - order + 1)]


def novelty_by_brute_force(texts, references, order, of):
    known = {gram for text in references for gram in windows(text, order)}
    each = [windows(text, order) for text in texts]
    pooled = [gram for grams in each for gram in grams]
    if of == "types":
        each, pooled = [set(grams) for grams in each], set(pooled)

    def share(grams):
        return sum(gram not in known for gram in grams) / len(grams) if grams else math.nan

    return share(pooled), [share(grams) for grams in each]


def test_novelty_by_hand():
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


@settings(max_examples=60)
@given(
    sets_of_three_words,
    sets_of_three_words,
    st.integers(1, 4),
    st.sampled_from(["tokens", "types"]),
)
def test_novelty_equals_brute_force(texts, references, order, of):
    score = measured(texts, references, order=order, of=of)
    value, each = novelty_by_brute_force(texts, references, order, of)
    np.testing.assert_allclose(score.value, value, atol=1e-15)
    np.testing.assert_allclose(score.per_sample, each, atol=1e-15)


@settings(max_examples=30)
@given(sets_of_three_words, sets_of_three_words)
def test_longer_ngrams_are_never_less_new(texts, references):
    each = np.array([measured(texts, references, order=order).per_sample for order in (1, 2, 3)])
    assert not np.any(each[1:] < each[:-1])


@settings(max_examples=30)
@given(sets_of_three_words, sets_of_three_words, st.randoms())
def test_novelty_ignores_the_order_of_texts_and_references(texts, references, random):
    score = measured(texts, references, order=2)
    rows = random.sample(range(len(texts)), len(texts))
    turned = measured(
        [texts[row] for row in rows], random.sample(references, len(references)), order=2
    )
    np.testing.assert_array_equal(turned.per_sample, score.per_sample[rows])
    if np.isnan(score.per_sample).all():
        assert np.isnan([turned.value, score.value]).all()
        assert turned.reason == score.reason is not None
    else:
        assert turned.value == score.value


@settings(max_examples=20)
@given(sets_of_three_words, st.sampled_from(["tokens", "types"]))
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


def test_novelty_of_scripts_emoji_and_surrogates():
    text = "\ud800 這是 一個 👩‍👩‍👧 مرحبا"
    assert measured([text], [text + " x"], order=5).value == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"order": 0}, "order .*from 1 to 100.* 0"),
        ({"order": 101}, "order .*from 1 to 100.* 101"),
        ({"order": 2.5}, "found 2.5"),
        ({"of": "token"}, "of 'token'.*'tokens'"),
    ],
)
def test_options_out_of_range(options, words):
    with pytest.raises(InputError, match=words):
        measured(["a"], ["a"], **options)


def test_bad_sets():
    with pytest.raises(InputError, match=r"references .*at least one text"):
        measured(["a"], [])
    with pytest.raises(InputError, match=r"texts .*strings.*row 2 is 3"):
        measured(["a", 3], ["a"])
    apart = tokenise(["a"], tokenizer="whitespace") + tokenise(["a"], tokenizer="whitespace")
    with pytest.raises(InputError, match="tokenised together"):
        novelty(*apart)
