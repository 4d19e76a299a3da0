"""A sample set: its rows, hashes, counts and subsamples; and its texts cut to one length."""

from __future__ import annotations

import hashlib
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.samples import SampleSet, as_sample_set, read_samples
from calipers.samples.sample_set import CHUNK
from calipers.samples.truncation import match_length, skip_words
from calipers.unicode.written_words import (
    first_words,
    is_spaced,
    is_unspaced,
    last_words,
    split_words,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
TEXTS = st.lists(TEXT, min_size=1, max_size=20).map(lambda texts: [*texts, "x"])


def texts_of(*texts: str) -> SampleSet:
    return SampleSet.from_texts(texts, name="a")


def numbered(count: int) -> SampleSet:
    return texts_of(*(f"text {i}" for i in range(count)))


def test_holds_what_it_was_given_in_order() -> None:
    samples = SampleSet.from_texts(
        ["one two", "", "drei"], name="a", groups=["g", 2, True], prompts=["p", "q", ""]
    )
    assert (len(samples), samples[0], samples[-1]) == (3, "one two", "drei")
    assert list(samples) == ["one two", "", "drei"]
    assert samples.kind == "texts"
    assert samples.vectors is None
    assert samples.groups.tolist() == ["g", "2", "True"]
    assert samples.prompts.tolist() == ["p", "q", ""]
    with pytest.raises(IndexError):
        samples[3]


def test_repr_names_size_and_source() -> None:
    assert repr(texts_of("a")) == "SampleSet('a', 1 text, '<list>')"


def test_empty_texts_stay_and_are_noted() -> None:
    samples = texts_of("a", "", "b", " \n", "c")
    assert list(samples) == ["a", "", "b", " \n", "c"]
    assert samples.notes == ("2 of 5 texts are empty and kept (samples 2 and 4)",)
    many = texts_of("a", *[""] * 9)
    assert many.notes == ("9 of 10 texts are empty and kept (samples 2, 3, 4, 5, 6 and 4 more)",)


def test_notes_follow_the_rows_that_are_taken() -> None:
    samples = SampleSet.from_texts(["a", "", "b"], name="a", notes=["2 rows left out"])
    assert samples.take(np.array([0, 2])).notes == ("2 rows left out",)
    assert samples.take(np.array([2, 0, 1])).notes[1].endswith("(sample 3)")


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([], "a: holds no samples"),
        (["", "  "], "a: all 2 texts are empty"),
        (["x", 3], "a: sample 2: must be a string, but it is the int 3"),
        (["x", None], "a: sample 2: must be a string, but it is null"),
        ([["x"]], "a: sample 1: must be a string, but it is a list of 1 item"),
        ([b"x"], "a: sample 1: must be a string, but it is a value of type bytes"),
        (["x", "\ud800"], "a: sample 2: holds half of a surrogate pair, which is not a character"),
        (pa.array(["x", None]), "a: sample 2: the text is null, not a string"),
        (pa.array([1]), "a: texts must be strings, but this Arrow array holds int64"),
        (
            pa.chunked_array([["x"], ["y", None]]),
            "a: sample 3: the text is null, not a string",
        ),
    ],
)
def test_refuses_what_is_no_text(texts: object, message: str) -> None:
    with pytest.raises(InputError) as caught:
        SampleSet.from_texts(texts, name="a")  # type: ignore[arg-type]
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (
            {"groups": ["g"]},
            "groups .*2 samples, .* 1",
        ),
        ({"prompts": "pqr"}, "prompts .*one value for each of the 2 samples"),
        ({"groups": ["g", []]}, "groups, value 2: "),
        ({"groups": ["g", "x" * 201]}, "groups, value 2: .*label of at most 200"),
        (
            {"groups": pa.array(["g", None])},
            r"x: groups .*1 of 2 samples \(value 2\)",
        ),
        ({"prompts": ["p", 3]}, "prompts, value 2: .*string, not the int 3"),
    ],
)
def test_labels_are_one_for_each_sample(extra: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        SampleSet.from_texts(["a", "b"], name="x", **extra)  # type: ignore[arg-type]


def test_message_names_the_file_where_there_is_one() -> None:
    with pytest.raises(InputError, match=r"^dir/a\.txt: holds no samples"):
        SampleSet.from_texts([], name="a", source="dir/a.txt")


def test_arrow_arrays_of_any_string_type_are_taken() -> None:
    plain = texts_of("a", "b", "a")
    for given_texts in (
        pa.array(["a", "b", "a"]),
        pa.array(["a", "b", "a"], pa.large_string()),
        pa.array(["a", "b", "a"]).dictionary_encode(),
        pa.chunked_array([["a"], [], ["b", "a"]]),
        np.array(["a", "b", "a"]),
    ):
        assert as_sample_set(given_texts, name="a").content_hash == plain.content_hash


def test_items_are_those_of_the_rows() -> None:
    samples = numbered(2 * CHUNK + 5)
    texts = list(samples)
    for rows in (range(len(texts)), range(1000, 1100), [0, 3, 4, 2 * CHUNK + 4]):
        assert samples.items(np.array(rows)) == [texts[row] for row in rows]


def test_row_hash_is_pinned() -> None:
    # The cache of embeddings depends on it: it changes with its format only.
    texts = ["a", "é", "", "a"]
    expected = [hashlib.sha256(text.encode()).digest()[:16] for text in texts]
    assert texts_of(*texts).row_hashes().tobytes() == b"".join(expected)


def test_row_hash_depends_on_its_text_only() -> None:
    samples = numbered(2 * CHUNK + 5)
    rows = np.array([2 * CHUNK + 1, 3, 3, 1500])
    np.testing.assert_array_equal(samples.take(rows).row_hashes(), samples.row_hashes()[rows])
    assert len(set(samples.row_hashes().tolist())) == len(samples)


def test_content_hash_is_pinned() -> None:
    # Caches and signatures depend on it: it changes with a new major version only.
    ends = np.array([0, 1, 3], "<i8").tobytes()
    chunk = hashlib.sha256(b"texts 2 " + ends + "aé".encode()).digest()
    assert texts_of("a", "é").content_hash == hashlib.sha256(b"chunks " + chunk).hexdigest()


def test_content_hash_sees_where_texts_end() -> None:
    assert texts_of("ab", "c").content_hash != texts_of("a", "bc").content_hash
    assert texts_of("a", "").content_hash != texts_of("", "a").content_hash
    assert texts_of("a", "").content_hash != texts_of("a").content_hash


@given(TEXTS, st.integers(0, 20))
def test_content_hash_ignores_storage_and_name(texts: list[str], cut: int) -> None:
    stored = pa.chunked_array([texts[:cut], texts[cut:]], type=pa.string())
    other = SampleSet.from_texts(stored, name="b", source="elsewhere", groups=range(len(texts)))
    assert other.content_hash == texts_of(*texts).content_hash


@given(TEXTS, TEXTS)
def test_content_hash_tells_texts_apart(first: list[str], second: list[str]) -> None:
    assert (texts_of(*first).content_hash == texts_of(*second).content_hash) == (first == second)


@given(TEXTS)
def test_word_counts_are_those_of_the_words_as_written(texts: list[str]) -> None:
    counts = texts_of(*texts).word_counts()
    assert counts is not None
    assert counts.dtype == np.int64
    assert counts.tolist() == [len(split_words(text)) for text in texts]


def test_word_counts_know_all_white_space() -> None:
    spaces = [chr(c) for c in range(sys.maxunicode + 1) if chr(c).isspace()]
    texts = [f"{s}a{s}{s}b{s}" for s in spaces]
    assert texts_of(*texts).word_counts().tolist() == [2] * len(spaces)  # type: ignore[union-attr]


@given(st.lists(st.integers(0, 99), min_size=1, max_size=50))
def test_take_keeps_rows_together(rows: list[int]) -> None:
    samples = SampleSet.from_texts(
        map(str, range(100)), name="a", groups=range(100), prompts=[f"p{i}" for i in range(100)]
    )
    taken = samples.take(np.array(rows))
    assert list(taken) == [str(row) for row in rows]
    assert taken.groups.tolist() == list(taken)
    assert taken.prompts.tolist() == [f"p{row}" for row in rows]


@pytest.mark.parametrize("rows", [[], [3], [-1], [True, False], [0.5], [[0]]])
def test_take_refuses_rows_that_are_not_there(rows: list[object]) -> None:
    with pytest.raises(InputError, match="row"):
        numbered(3).take(np.array(rows))


def test_subsample_depends_on_length_size_and_seed_only() -> None:
    first = numbered(3000).subsample(100, seed=1)
    second = SampleSet.from_texts([f"other {i}" for i in range(3000)], name="b")
    assert [t.split()[1] for t in first] == [t.split()[1] for t in second.subsample(100, seed=1)]
    rows = [int(text.split()[1]) for text in first]
    assert rows == sorted(set(rows))
    assert len(rows) == 100
    assert list(first) != list(numbered(3000).subsample(100, seed=2))
    assert set(first) < set(numbered(3000).subsample(200, seed=1))


def test_subsample_of_a_small_set_is_the_set() -> None:
    samples = numbered(5)
    assert samples.subsample(5, seed=0) is samples
    assert samples.subsample(50, seed=0) is samples
    assert samples.subsample(3, seed=0).name == "a"


@pytest.mark.parametrize(("size", "seed"), [(0, 0), (-1, 0), (1, -1)])
def test_subsample_refuses_impossible_numbers(size: int, seed: int) -> None:
    with pytest.raises(InputError, match="a: "):
        numbered(5).subsample(size, seed=seed)


def test_cannot_be_changed() -> None:
    samples = numbered(2)
    with pytest.raises(AttributeError):
        samples.name = "b"  # type: ignore[misc]
    assert samples.renamed("b").name == "b"
    assert samples.renamed("b").content_hash == samples.content_hash


def test_renaming_a_given_set_keeps_its_samples() -> None:
    samples = numbered(2)
    assert as_sample_set(samples) is samples
    assert list(as_sample_set(samples, name="b")) == list(samples)
    assert as_sample_set(samples, name="b").name == "b"


@pytest.mark.parametrize("value", [b"abc", 3, None])
def test_refuses_what_is_no_set(value: object) -> None:
    with pytest.raises(InputError, match=r"path, a list .*array"):
        as_sample_set(value)


def test_the_column_is_made_piece_by_piece() -> None:
    # So that few of its texts are Python strings at any time.
    samples = SampleSet.from_texts((f"{i}" for i in range(40_000)), name="a")
    assert len(list(samples.texts.utf8())) == 3
    assert samples.texts.tolist() == [f"{i}" for i in range(40_000)]


SPACES = [" ", "  ", "\n", "\t", "\r\n", "\u00a0", "\u2003", "\u3000", "\x1f", "\x85"]
words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(
    lambda word: word.split() == [word]
)
words = words.filter(lambda word: all(is_spaced(sign) or is_unspaced(sign) for sign in word))
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
    assert cut.groups.tolist() == ["x", "y", "z", "x"]
    assert cut.prompts.tolist() == ["p", "q", "r", "s"]
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
    column = samples.texts[500:2500]
    arrow = pa.chunked_array([column[:1500].tolist(), column[1500:].tolist()])
    for each in (
        samples,
        sample_set(column),
        sample_set(arrow.slice(100)),
        samples.take(np.arange(2999, -1, -1)),
    ):
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
        assert [split_words(each) for each in cut] == [split_words(text)[:most] for text in samples]
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
    with pytest.raises(InputError, match=r"`match_length`.*whole number") as e:
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
    with pytest.raises(InputError, match=f"set: `match_length`.*{held}$"):
        match_length(samples, 5)


@given(st.text(max_size=40), st.integers(1, 6))
def test_the_first_words_and_the_rest_are_the_whole(text, words):
    first, rest = first_words(text, words), last_words(text, words)
    assert split_words(first)[:words] + split_words(rest) == split_words(text)
    assert text.endswith(rest)


def test_first_words_are_left_out_of_every_text():
    left = skip_words(sample_set(["a b c", "a b", "a  b  c d ", ""]), 2)
    assert list(left) == ["c", "", "c d ", ""]
    assert "the first 2 words of every text were left out; 2 texts had no more and are empty" in (
        left.notes
    )


def test_what_is_cut_of_scripts_without_spaces_is_counted_in_characters():
    samples = sample_set(["吾輩は猫である。名前はまだ無い。", "春眠不覚暁、処処聞啼鳥。", "春"])
    left = skip_words(samples, 5)
    assert list(left) == ["ある。名前はまだ無い。", "処処聞啼鳥。", ""]
    assert (
        "the first 5 characters of every text were left out; 1 text had no more and is empty"
        in (left.notes)
    )
    cut = match_length(samples, 3)
    assert list(cut) == ["吾輩は", "春眠不", "春"]
    assert cut.notes == (
        "2 of 3 texts were cut to their first 3 characters; 1 has fewer, so that lengths still "
        "differ by it",
    )
    assert cut.word_counts().tolist() == [3, 3, 1]


def test_mixed_scripts_are_counted_in_words_and_characters():
    samples = sample_set(["Use apt 安装 it now", "one two three four"])
    assert list(match_length(samples, 3)) == ["Use apt 安", "one two three"]
    assert samples.word_unit == "words or characters"


def test_first_words_are_left_out_of_texts_alone():
    with pytest.raises(InputError, match=r"`skip_words`.* texts"):
        skip_words(SampleSet.from_vectors(np.ones((3, 2)), name="rows"), 1)


UNNAMED = [
    SampleSet.from_texts(["a", "b"]),
    SampleSet.from_tokens([[1, 2], [3]]),
    SampleSet.from_images(np.zeros((2, 4, 4), np.uint8)),
    SampleSet.from_vectors(np.eye(3)),
]


@pytest.mark.parametrize("samples", UNNAMED, ids=lambda samples: samples.kind)
def test_a_set_without_a_name_is_called_by_its_kind(samples: SampleSet) -> None:
    assert samples.name == samples.kind


def test_in_a_comparison_a_set_without_a_name_is_called_by_its_side() -> None:
    from calipers.evaluate.inputs import Reader

    reading = Reader()
    unnamed, named = SampleSet.from_texts(["a"]), SampleSet.from_texts(["b"], name="model")
    assert reading.one(unnamed, "reference").name == "reference"
    assert [system.name for system in reading.systems(unnamed)] == ["generated"]
    assert reading.one(named, "reference").name == "model"
    from_file = SampleSet.from_texts(["b"], name="texts", source="texts.txt")
    assert reading.one(from_file, "reference").name == "texts"
