from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.samples import SampleSet, as_sample_set
from calipers.samples.sample_set import CHUNK

IDS = st.lists(st.integers(0, 2**31 - 1), max_size=8)
LISTS = st.lists(IDS, min_size=1, max_size=20).map(lambda lists: [*lists, [7]])


def tokens_of(lists: Any, **options: Any) -> SampleSet:
    return SampleSet.from_tokens(lists, name="a", **options)


def as_lists(samples: SampleSet) -> list[list[int]]:
    return [each.tolist() for each in samples]


def test_holds_what_it_was_given_in_order() -> None:
    samples = tokens_of([[3, 1], [2**31 - 1]], groups=["g", 2], prompts=["p", "q"])
    assert (len(samples), samples.kind) == (2, "tokens")
    assert as_lists(samples) == [[3, 1], [2**31 - 1]]
    assert samples[-1].tolist() == [2**31 - 1]
    assert samples[0].dtype == np.int32
    assert samples.texts is samples.vectors is samples.images is samples.word_counts() is None
    assert samples.token_counts().tolist() == [2, 1]
    assert samples.groups.to_pylist() == ["g", "2"]
    assert samples.prompts.to_pylist() == ["p", "q"]
    assert repr(samples) == "SampleSet('a', 2 token lists, '<list>')"
    with pytest.raises(IndexError):
        samples[2]


def test_ids_cannot_be_changed() -> None:
    for samples in (tokens_of([[1, 2]]), tokens_of([[1, 2]]).take(np.array([0]))):
        with pytest.raises(ValueError, match="read-only"):
            samples[0][0] = 5


def test_empty_lists_stay_and_are_noted() -> None:
    samples = tokens_of([[], [1], []])
    assert as_lists(samples) == [[], [1], []]
    assert samples.notes == ("2 of 3 token lists are empty and kept (samples 1 and 3)",)
    assert samples.take(np.array([1, 0])).notes[0].endswith("is empty and kept (sample 2)")


@pytest.mark.parametrize(
    "lists",
    [
        [(1, 2), (3,)],
        [np.array([1, 2]), np.array([3], np.uint64)],
        pa.array([[1, 2], [3]]),
        pa.chunked_array([[[1, 2]], [[3]]], type=pa.large_list(pa.uint8())),
        np.array([[1, 2], [3]], object),
        ([1, 2], [3]),
    ],
    ids=["tuples", "arrays", "arrow", "arrow chunks", "objects", "tuple"],
)
def test_any_holder_of_lists_will_do(lists: Any) -> None:
    samples = as_sample_set(lists)
    assert (samples.kind, samples.name) == ("tokens", "tokens")
    assert as_lists(samples) == [[1, 2], [3]]
    assert samples.content_hash == tokens_of([[1, 2], [3]]).content_hash


def test_rows_of_arrays_and_of_tensors() -> None:
    assert as_lists(tokens_of(np.arange(6).reshape(2, 3))) == [[0, 1, 2], [3, 4, 5]]
    fixed = pa.array([[1, 255]], pa.list_(pa.uint8(), 2))
    assert as_lists(tokens_of(fixed)) == [[1, 255]]
    torch = pytest.importorskip("torch")
    assert as_lists(as_sample_set([torch.tensor([1, 2]), torch.tensor([3])])) == [[1, 2], [3]]
    assert as_lists(as_sample_set(iter([[1], [2]]))) == [[1], [2]]


RULE = "token ids must be whole numbers from 0 to 2,147,483,647, but id"


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ([], "a: holds no samples"),
        ([[], []], "a: all 2 lists of token ids are empty"),
        ([[1], [2.0]], f"a: sample 2: {RULE} 1 is the float 2.0; embeddings must be an array"),
        ([[1], [2, -1]], f"a: sample 2: {RULE} 2 is the int -1"),
        ([[1, True]], f"a: sample 1: {RULE} 2 is the bool True"),
        ([[1], [2**31]], f"a: sample 2: {RULE} 1 is the int 2147483648"),
        ([[1], ["a"]], f"a: sample 2: {RULE} 1 is the string 'a'"),
        ([[1], [None]], f"a: sample 2: {RULE} 1 is null"),
        ([np.array([1.0])], f"a: sample 1: {RULE} 1 is the float 1.0"),
        ([np.array([True])], f"a: sample 1: {RULE} 1 is the bool True"),
        (
            [np.array([0, 2**63], np.uint64)],
            f"a: sample 1: {RULE} 2 is the int 9223372036854775808",
        ),
        ([[1], "ab"], "a: sample 2: must be a list of token ids, but it is the string 'ab'"),
        ([[1], 5], "a: sample 2: must be a list of token ids, but it is the int 5"),
        (pa.array([[1], None]), "a: sample 2: the token ids are null, not a list"),
        (pa.array([[1], [2, None]]), f"a: sample 2: {RULE} 2 is null"),
        (pa.array([[1], [], [2, -3]]), f"a: sample 3: {RULE} 2 is the int -3"),
        (
            pa.array([[2**63]], pa.list_(pa.uint64())),
            f"a: sample 1: {RULE} 1 is the int 92233720368",
        ),
        (
            pa.chunked_array([[[1]], [[2], [2**40]]]),
            f"a: sample 3: {RULE} 1 is the int 1099511627776",
        ),
        (pa.array([[1.5]]), "a: token ids must be lists of whole numbers, but this Arrow array"),
    ],
)
def test_refuses_what_is_no_token_id(lists: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        tokens_of(lists)
    assert str(caught.value).startswith(message)


def test_texts_and_ids_do_not_mix() -> None:
    with pytest.raises(
        InputError, match="texts: sample 2: must be a string, but it is a list of 1"
    ):
        as_sample_set(["a", [1]])
    with pytest.raises(InputError, match="tokens: sample 2: must be a list of token ids"):
        as_sample_set([[1], "a"])


def test_content_hash_is_pinned() -> None:
    # Caches and signatures depend on it: it changes with a new major version only.
    ends, ids = np.array([0, 2, 3], "<i8").tobytes(), np.array([5, 1, 9], "<i4").tobytes()
    chunk = hashlib.sha256(b"tokens 2 " + ends + ids).digest()
    expected = hashlib.sha256(b"chunks " + chunk).hexdigest()
    assert tokens_of([[5, 1], [9]]).content_hash == expected


@given(LISTS, LISTS)
def test_content_hash_tells_lists_apart(first: list[list[int]], second: list[list[int]]) -> None:
    same = tokens_of(first).content_hash == tokens_of(second).content_hash
    assert same == (first == second)


@given(LISTS, st.data())
def test_take_is_that_of_a_list(lists: list[list[int]], data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(0, len(lists) - 1), min_size=1))
    taken = tokens_of(lists, groups=range(len(lists))).take(np.array(rows))
    assert as_lists(taken) == [lists[row] for row in rows]
    assert taken.groups.to_pylist() == [str(row) for row in rows]


def test_chunks_cover_the_set() -> None:
    lists = [[i] * (i % 3) for i in range(2 * CHUNK + 5)]
    samples = tokens_of(lists)
    chunks = list(samples.chunks())
    assert [chunk.start for chunk in chunks] == [0, CHUNK, 2 * CHUNK]
    assert [ids.tolist() for chunk in chunks for ids in chunk.items] == lists
    second = samples.take(np.arange(CHUNK, 2 * CHUNK))
    assert next(second.chunks()).content_hash == chunks[1].content_hash


def test_subsample_takes_the_rows_that_texts_would_lose_too() -> None:
    texts = SampleSet.from_texts(map(str, range(50)), name="t").subsample(7, seed=3)
    ids = tokens_of([[i] for i in range(50)]).subsample(7, seed=3)
    assert [int(text) for text in texts] == [each[0] for each in ids]
