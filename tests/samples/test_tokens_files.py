from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calipers.errors import InputError
from calipers.samples import SampleSet, read_samples

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
    assert samples.prompts.to_pylist() == ["p", "q"]
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
    assert read_samples(write_rows("a.jsonl", rows), group="label").groups.to_pylist() == ["0", "1"]


RULE = "token ids must be whole numbers from 0 to 2,147,483,647, but id"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"x": [1]}, {"x": [1, 2.0]}], f"line 2: {RULE} 2 is the float 2.0; embeddings must be"),
        ([{"x": [1]}, {"x": [True]}], f"line 2: {RULE} 1 is the bool True"),
        ([{"x": [1]}, {"x": [0, -1]}], f"line 2: {RULE} 2 is the int -1"),
        ([{"x": [1]}, {"x": [2**31]}], f"line 2: {RULE} 1 is the int 2147483648"),
        ([{"x": [1, None]}], f"line 1: {RULE} 2 is null"),
        ([{"x": [1]}, {"x": ["a"]}], f"line 2: {RULE} 1 is the string 'a'"),
        ([{"x": [1]}, {"x": "a"}], "line 2: the field 'x' must be a list of token ids, as before"),
        (
            [{"x": "a"}, {"x": [1]}],
            "line 2: the field 'x' must be a string, as before, but it is a",
        ),
        ([[1], "a"], "line 2: must be a list of token ids, as before, but it is the string 'a'"),
        (["a", [1]], "line 2: must be a string, as before, but it is a list of 1 token id"),
        ([{"x": []}, {"x": "a"}], "line 1: the field 'x' must be a string, but it is a list of 0"),
        ([{"x": []}, {"x": []}], "all 2 lists of token ids are empty"),
        ([{"x": [{"content": "a"}]}], "line 1: the field 'x' must be a string, but it is a list"),
        (
            [{"input_ids": [1], "tokens": [2]}],
            "several fields may be the token ids: 'input_ids' and 'tokens'; name it",
        ),
        ([{"tokens": ["a", "b"], "tags": [1, 2]}], "no field has a usual name for a text"),
    ],
)
def test_wrong_rows(write_rows: Write, rows: Any, message: str) -> None:
    assert refusal(write_rows("a.jsonl", rows)).startswith(message)


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
    assert refusal(path).startswith("holds several lists, 'a' and 'b'; name it")


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
    assert samples.prompts.to_pylist() == ["a", "b", "c"]
    grouped = read_samples(write_table({**columns, "g": [1, 2, 3]}), group="g")
    assert grouped.groups.to_pylist() == ["1", "2", "3"]
    assert grouped.content_hash == samples.content_hash


@pytest.mark.parametrize(
    ("columns", "field", "message"),
    [
        ({"tokens": [[1], None], "x": [1, 2]}, None, "row 2: the token ids are null, not a list"),
        ({"tokens": [[1], [2, -5]], "x": [1, 2]}, None, f"row 2: {RULE} 2 is the int -5"),
        ({"tokens": [[1], [2, None]], "x": [1, 2]}, None, f"row 2: {RULE} 2 is null"),
        ({"tokens": [[1.0]], "x": [1]}, "tokens", f"row 1: {RULE} 1 is the float 1.0"),
        ({"tokens": [[1.0]], "x": [1]}, None, "no field has a usual name"),
        ({"tokens": [["a"]], "x": [1]}, None, "no field has a usual name"),
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
