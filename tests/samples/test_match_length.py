"""Texts cut to one length in words."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.samples import SampleSet, read_samples
from calipers.samples.cutting import first_words, match_length

SPACES = [" ", "  ", "\n", "\t", "\r\n", "\u00a0", "\u2003", "\u3000", "\x1f", "\x85"]
words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(
    lambda word: word.split() == [word]
)
texts = st.lists(st.tuples(words, st.sampled_from(SPACES)), max_size=12).map(
    lambda pairs: "".join(word + space for word, space in pairs)
)


def sample_set(texts, **options):
    return SampleSet.from_texts(texts, name="set", **options)


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("one two three four", "one two three"),
        ("  one\n\ntwo\t three  four five ", "  one\n\ntwo\t three"),
        ("one two three", "one two three"),
        ("one two three \n", "one two three"),
        ("one two \n", "one two \n"),
        ("一\u3000二\u3000三\u3000四", "一\u3000二\u3000三"),
        ("", ""),
        (" \n", " \n"),
    ],
)
def test_a_text_ends_behind_its_third_word_with_its_own_spacing(text, cut):
    assert first_words(text, 3) == cut


def test_every_row_stays_with_its_group_prompt_and_notes():
    samples = sample_set(
        ["a b c d", "", "a", "a b c"],
        groups=["x", "y", "z", "x"],
        prompts=["p", "q", "r", "s"],
        notes=["read by a test"],
    )
    cut = match_length(samples, 2)
    assert list(cut) == ["a b", "", "a", "a b"]
    assert cut.groups.to_pylist() == ["x", "y", "z", "x"]
    assert cut.prompts.to_pylist() == ["p", "q", "r", "s"]
    assert (cut.name, cut.source) == ("set", "<list>")
    assert cut.notes == (
        "read by a test",
        "2 of 4 texts were cut to their first 2 words; 2 have fewer, so that lengths still differ "
        "by them",
        "1 of 4 texts is empty and kept (sample 2)",
    )


@pytest.mark.parametrize(
    ("given_texts", "note"),
    [
        (["a b c", "d e f"], "every text was cut to its first 2 words"),
        (["a b c", "d e"], "1 of 2 texts was cut to their first 2 words; the others have as many"),
        (["a b", "d e"], "0 of 2 texts were cut to their first 2 words; the others have as many"),
        (
            ["a b c", "d"],
            "1 of 2 texts was cut to their first 2 words; 1 has fewer, so that lengths still "
            "differ by it",
        ),
    ],
)
def test_the_note_says_what_was_cut_and_what_is_shorter(given_texts, note):
    assert match_length(sample_set(given_texts), 2).notes == (note,)


def test_the_content_hash_is_that_of_the_cut_texts():
    samples = sample_set(["a b c", "d e f"])
    cut = match_length(samples, 2)
    assert cut.content_hash == sample_set(["a b", "d e"]).content_hash != samples.content_hash
    assert match_length(samples, 3).content_hash == samples.content_hash
    assert list(samples) == ["a b c", "d e f"]


def test_texts_in_many_parts_and_in_slices_are_all_cut(write_rows):
    rows = [{"text": f"row {row} of many", "prompt": f"p{row}"} for row in range(3000)]
    samples = read_samples(write_rows("many.jsonl", rows))
    column = pa.chunked_array([samples.texts.slice(0, 1500), samples.texts.slice(1500, 1500)])
    for each in (samples, sample_set(column), samples.take(np.arange(2999, -1, -1))):
        cut = match_length(each, 2)
        assert list(cut) == [" ".join(text.split()[:2]) for text in each]
        assert set(cut.word_counts().tolist()) == {2}


@given(st.lists(texts, min_size=1, max_size=6).filter(lambda t: any(map(str.split, t))))
def test_no_text_has_more_words_and_all_are_beginnings(given_texts):
    samples = sample_set(given_texts)
    for most in (1, 3, 20):
        cut = match_length(samples, most)
        assert cut.word_counts().tolist() == np.minimum(samples.word_counts(), most).tolist()
        assert all(text.startswith(each) for text, each in zip(samples, cut, strict=True))
        assert [each.split() for each in cut] == [text.split()[:most] for text in samples]
        assert list(match_length(cut, most)) == list(cut)


@pytest.mark.parametrize(
    ("wrong", "found"),
    [
        (0, "found 0"),
        (-5, "found -5"),
        (2.5, "found the float 2.5"),
        (True, "found the bool True"),
        ("ten", "found the string 'ten'"),
        (None, "found null"),
        (float("nan"), "found the float nan"),
    ],
)
def test_what_is_no_number_of_words_is_refused(wrong, found):
    with pytest.raises(InputError, match=r"--match-length.*whole number of words, at least 1") as e:
        match_length(sample_set(["a"]), wrong)
    assert str(e.value).endswith(found)


def test_numpy_whole_numbers_are_numbers():
    assert list(match_length(sample_set(["a b c"]), np.int64(2))) == ["a b"]


@pytest.mark.parametrize(
    ("samples", "held"),
    [
        (SampleSet.from_vectors(np.eye(3), name="set"), "embeddings"),
        (SampleSet.from_tokens([[1, 2], [3]], name="set"), "token ids"),
        (SampleSet.from_images(np.zeros((2, 4, 4), np.uint8), name="set"), "images"),
    ],
)
def test_only_texts_are_cut(samples, held):
    with pytest.raises(InputError, match=f"set: match_length.*cuts texts.*holds {held}$"):
        match_length(samples, 5)
