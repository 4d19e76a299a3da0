"""Token ids from files and lists."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.samples import SampleSet, as_sample_set, read_samples
from extras import need

Write = Callable[..., Path]


def as_lists(samples: SampleSet) -> list[list[int]]:
    assert samples.kind == "tokens"
    return [each.tolist() for each in samples]


def refusal(path: Path, **options: Any) -> str:
    """Read a file that is refused, and return the message without the path before it."""
    with pytest.raises(InputError) as caught:
        read_samples(path, **options)
    return str(caught.value).removeprefix(f"{path}: ")


@pytest.mark.parametrize("field", ["input_ids", "token_ids", "tokens", "Input_IDs"])
def test_ids_are_found_by_their_usual_names(write_rows: Write, field: str) -> None:
    rows = [{field: [1, 2], "mask": [1, 1], "prompt": "p"}, {field: [], "mask": [], "prompt": "q"}]
    samples = read_samples(write_rows("a.jsonl", rows))
    assert as_lists(samples) == [[1, 2], []]
    assert samples.prompts.tolist() == ["p", "q"]
    assert samples.notes == ("1 of 2 token lists is empty and kept (sample 2)",)


@pytest.mark.parametrize(
    ("rows", "field", "expected"),
    [
        ([{"text": "a", "ids": [1, 2]}], "ids", [[1, 2]]),
        ([{"only": [1, 2]}, {"only": [3]}], None, [[1, 2], [3]]),
        ([{"output": {"a": 1}, "tokens": [4]}], None, [[4]]),
        ([{"a": {"ids": [1, 2]}}], "a.ids", [[1, 2]]),
        ([{"a": [{"ids": [1]}, {"ids": [2]}]}], "a[*].ids", [[1], [2]]),
        ([[1, 2], [3]], None, [[1, 2], [3]]),
        ([{"ids": []}, {"ids": [3]}], None, [[], [3]]),
    ],
)
def test_rows_of_ids(write_rows: Write, rows: Any, field: str, expected: list[list[int]]) -> None:
    assert as_lists(read_samples(write_rows("a.jsonl", rows), field=field)) == expected


def test_a_text_goes_before_ids(write_rows: Write) -> None:
    samples = read_samples(write_rows("a.jsonl", [{"input_ids": [1], "text": "a"}]))
    assert (samples.kind, list(samples)) == ("texts", ["a"])


def test_groups_of_ids(write_rows: Write) -> None:
    rows = [{"input_ids": [1], "label": 0}, {"input_ids": [2], "label": 1}]
    assert read_samples(write_rows("a.jsonl", rows), group="label").groups.tolist() == ["0", "1"]


RULE = "token ids must be whole numbers from 0 to 2,147,483,647, but id"


@pytest.mark.parametrize(
    ("content", "field", "expected"),
    [
        ("[[1, 2], [3]]", None, [[1, 2], [3]]),
        ('{"input_ids": [[1, 2], [3]], "model": "m"}', None, [[1, 2], [3]]),
        ('{"a": [[1]], "b": [[2]]}', "b", [[2]]),
        ('[{"input_ids": [1], "n": 1}]', None, [[1]]),
    ],
)
def test_json(write: Write, content: str, field: str, expected: list[list[int]]) -> None:
    assert as_lists(read_samples(write("a.json", content), field=field)) == expected


def test_json_with_several_lists_of_ids(write: Write) -> None:
    path = write("a.json", '{"a": [[1]], "b": [[2]]}')
    assert refusal(path).startswith("holds several lists, 'a' and 'b'; choose one")


@pytest.mark.parametrize(
    "content", ["[1, 2]\n[3]\n", "[[1, 2], [3]]", '{"ids": [1, 2]}\n{"ids": [3]}\n']
)
def test_standard_input(content: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content.encode())))
    assert as_lists(read_samples("-")) == [[1, 2], [3]]


@pytest.fixture
def write_table(tmp_path: Path) -> Callable[[dict[str, Any]], Path]:
    def write_parquet(columns: dict[str, Any]) -> Path:
        pq.write_table(pa.table(columns), tmp_path / "a.parquet")
        return tmp_path / "a.parquet"

    return write_parquet


@pytest.mark.parametrize("kind", [pa.list_(pa.int32()), pa.large_list(pa.int64()), None])
def test_parquet(write_table: Any, kind: pa.DataType) -> None:
    lists = [[1, 2], [], [3]]
    columns = {"input_ids": pa.array(lists, kind), "mask": lists, "prompt": ["a", "b", "c"]}
    samples = read_samples(write_table(columns))
    assert as_lists(samples) == lists
    assert samples.prompts.tolist() == ["a", "b", "c"]
    grouped = read_samples(write_table({**columns, "g": [1, 2, 3]}), group="g")
    assert grouped.groups.tolist() == ["1", "2", "3"]
    assert grouped.content_hash == samples.content_hash


@pytest.mark.parametrize(
    ("columns", "field", "message"),
    [
        ({"tokens": [[1], None], "x": [1, 2]}, None, "row 2: the token ids are null, not a list"),
        ({"tokens": [[1], [2, -5]], "x": [1, 2]}, None, f"row 2: {RULE} 2 is the int -5"),
        ({"tokens": [[1], [2, None]], "x": [1, 2]}, None, f"row 2: {RULE} 2 is null"),
        ({"tokens": [[1.0]], "x": [1]}, "tokens", f"row 1: {RULE} 1 is the float 1.0"),
        ({"tokens": [[1.0]], "x": [1]}, None, "no field has a common name"),
        ({"tokens": [["a"]], "x": [1]}, None, "no field has a common name"),
    ],
)
def test_wrong_parquet(write_table: Any, columns: dict[str, Any], field: str, message: str) -> None:
    assert refusal(write_table(columns), field=field).startswith(message)


def test_the_row_is_counted_through_the_batches(write_table: Any) -> None:
    lists = [[1]] * 9000
    lists[8765] = [1, -1]
    assert refusal(write_table({"input_ids": lists})).startswith(f"row 8766: {RULE} 2 is the int")


def test_saved_dataset(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    table = pa.table({"input_ids": [[1, 2], [3]], "label": [0, 1]})
    with pa.ipc.new_stream(tmp_path / "d" / "data.arrow", table.schema) as stream:
        stream.write_table(table)
    (tmp_path / "d" / "state.json").write_text('{"_data_files": [{"filename": "data.arrow"}]}')
    assert as_lists(read_samples(tmp_path / "d")) == [[1, 2], [3]]


IDS = st.lists(st.integers(0, 2**31 - 1), max_size=8)
LISTS = st.lists(IDS, min_size=1, max_size=20).map(lambda lists: [*lists, [7]])


def tokens_of(lists: Any, **options: Any) -> SampleSet:
    return SampleSet.from_tokens(lists, name="a", **options)


def test_holds_what_it_was_given_in_order() -> None:
    samples = tokens_of([[3, 1], [2**31 - 1]], groups=["g", 2], prompts=["p", "q"])
    assert (len(samples), samples.kind) == (2, "tokens")
    assert as_lists(samples) == [[3, 1], [2**31 - 1]]
    assert samples[-1].tolist() == [2**31 - 1]
    assert samples[0].dtype == np.int32
    assert samples.texts is samples.vectors is samples.images is samples.word_counts() is None
    assert samples.token_counts().tolist() == [2, 1]
    assert samples.groups.tolist() == ["g", "2"]
    assert samples.prompts.tolist() == ["p", "q"]
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
    torch = need("torch")
    assert as_lists(as_sample_set([torch.tensor([1, 2]), torch.tensor([3])])) == [[1, 2], [3]]
    assert as_lists(as_sample_set(iter([[1], [2]]))) == [[1], [2]]


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
    with pytest.raises(InputError, match=r"texts: sample 2: .*list"):
        as_sample_set(["a", [1]])
    with pytest.raises(InputError, match=r"tokens: sample 2: .*token ids"):
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
    assert taken.groups.tolist() == [str(row) for row in rows]


def test_items_are_those_of_the_rows() -> None:
    lists = [[i] * (i % 3) for i in range(50)]
    samples = tokens_of(lists)
    for rows in (range(50), range(7, 20), [0, 4, 5, 49]):
        assert [ids.tolist() for ids in samples.items(np.array(rows))] == [lists[i] for i in rows]


def test_each_list_has_a_hash_of_its_own() -> None:
    lists = [[1, 2], [2, 1], [1], [], [258], [1, 2]]
    hashes = tokens_of(lists).row_hashes()
    assert hashes[0] == hashes[5]
    assert len(set(hashes.tolist())) == 5
    rows = np.array([4, 3, 1])
    np.testing.assert_array_equal(tokens_of(lists).take(rows).row_hashes(), hashes[rows])


def test_subsample_takes_the_rows_that_texts_would_lose_too() -> None:
    texts = SampleSet.from_texts(map(str, range(50)), name="t").subsample(7, seed=3)
    ids = tokens_of([[i] for i in range(50)]).subsample(7, seed=3)
    assert [int(text) for text in texts] == [each[0] for each in ids]
