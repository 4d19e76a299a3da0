"""What is wrong with a file, in one sentence: its content, and the exact message.

Below the table: binary formats whose inside cannot be, and what names the place and not all of it.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from calipers.errors import InputError
from calipers.samples import read_samples

NAME_IT = "choose one with `field`, or FILE@FIELD for one file alone"
POSSIBLE = (
    "possible are .txt, .jsonl, .ndjson, .json, .csv, .tsv, .parquet, .arrow, .feather, .eval, "
    ".npy, .npz, .safetensors, each also with .gz, .bz2, .xz or .zst; images are read from a folder"
)
UNQUOTED = "read quotation marks as part of the texts with `quotes=False`"
NO_TEXT = "no field has a common name for a text, such as 'text' or 'generation'; the fields are"
IDS = "token ids must be whole numbers from 0 to 2,147,483,647, but id"

REFUSED: list[tuple[str, str, dict[str, str], str]] = [
    (
        "a.jsonl",
        '{"text": "a"}\n{"text": "b"\n',
        {},
        "line 2: broken JSON at column 13: Expecting ',' delimiter",
    ),
    ("a.jsonl", '{"text": "a"} x', {}, "line 1: broken JSON at column 15: Extra data"),
    ("a.jsonl", '\n\n{"text": "a"}\nnull\n', {}, "line 4: null has no field 'text'"),
    (
        "a.jsonl",
        '{"text": "a"}\n{"txt": 1}',
        {},
        "line 2: there is no field 'text' (did you mean 'txt'?); the fields are 'txt'",
    ),
    (
        "a.jsonl",
        '{"text": "a"}\n{"text": null}',
        {},
        "line 2: the field 'text' must be a string, but it is null",
    ),
    (
        "a.jsonl",
        '{"text": 1.5, "n": 2}',
        {},
        "line 1: the field 'text' must be a string, but it is the float 1.5",
    ),
    (
        "a.jsonl",
        '{"text": ["a"]}',
        {},
        "line 1: the field 'text' must be a string, but it is a list of 1 item; take "
        "its items with `field='text[*]'`, or the first with `field='text[0]'`",
    ),
    (
        "a.jsonl",
        '{"text": "a", "n": {"x": 1, "x": 2}}',
        {},
        "line 1: the field 'x' is given twice in one object",
    ),
    (
        "a.jsonl",
        '{"text": "a"}\n{"text": "b", "text": "c"}',
        {},
        "line 2: the field 'text' is given twice in one object",
    ),
    (
        "a.jsonl",
        '{"text": "a", "output": "b"}',
        {},
        f"several fields may be the text: 'text' and 'output'; {NAME_IT}",
    ),
    (
        "a.jsonl",
        '{"Text": "a", "text": "b"}',
        {},
        f"several fields may be the text: 'Text' and 'text'; {NAME_IT}",
    ),
    ("a.jsonl", '{"foo": "a", "bar": "b"}', {}, f"{NO_TEXT} 'foo' and 'bar'; {NAME_IT}"),
    (
        "a.jsonl",
        '"a"\n{"text": "b"}',
        {},
        "line 2: must be a string, as the rows before it are, but it is an object with "
        "the fields 'text'",
    ),
    (
        "a.jsonl",
        '["a", 2]',
        {},
        "line 1: must be a string or an object, but it is a list of 2 items",
    ),
    ("a.jsonl", "3", {}, "line 1: must be a string or an object, but it is the int 3"),
    (
        "a.jsonl",
        '{"text": "a"}\n{"text": "\\udc00"}',
        {},
        "line 2: holds half of a surrogate pair, which is not a character",
    ),
    ("a.jsonl", '{"text": " "}\n{"text": ""}', {}, "all 2 texts are empty"),
    ("a.jsonl", "\n \n", {}, "holds no samples"),
    ("a.jsonl", "", {}, "is empty"),
    ("a.json", "3", {}, "must hold a list of samples, but it holds the int 3"),
    ("a.json", "[]", {}, "holds no samples"),
    (
        "a.json",
        '{"n": 1, "l": []}',
        {},
        "must hold a list of strings or objects; its fields are 'n' and 'l'",
    ),
    ("a.json", '{"h": ["a"], "m": ["b"]}', {}, f"holds several lists, 'h' and 'm'; {NAME_IT}"),
    (
        "a.json",
        '["a", 3]',
        {},
        "row 2: must be a string, as the rows before it are, but it is the int 3",
    ),
    (
        "a.json",
        '[{"text": "a"}, {"x": 3}]',
        {},
        "row 2: there is no field 'text'; the fields are 'x'",
    ),
    ("a.json", '[{"text": "a",\n"x": }]', {}, "broken JSON at line 2, column 6: Expecting value"),
    (
        "a.json",
        '{"text": "a"}\n{"text": "b"}',
        {},
        "broken JSON at line 2, column 1: Extra data; if it holds one value per line, "
        "its name must end in .jsonl",
    ),
    ("a.json", '[{"a": 1, "a": 2}]', {}, "the field 'a' is given twice in one object"),
    (
        "a.json",
        '{"h": [{"t": "a"}], "m": ["b"]}',
        {"field": "q"},
        "holds several lists, 'h' and 'm', and 'q' begins with none of them",
    ),
    (
        "a.json",
        '{"h": [{"t": "a"}], "m": ["b"]}',
        {"field": "h[*].u"},
        "the field 'h[*].u' breaks at 'h[*]': there is no field 'u'; the fields are 't'",
    ),
    (
        "a.csv",
        'text,n\n"a\nb",1\nc\n',
        {},
        "line 4: has 1 value, but the header row names 2 columns",
    ),
    ("a.csv", "text,n\na,1,2\n", {}, "line 2: has 3 values, but the header row names 2 columns"),
    ("a.csv", "text,n,text \na,1,b\n", {}, "the header row names the column 'text' twice"),
    (
        "a.csv",
        'text,n\na,1\n"b,2\nc,3\n',
        {},
        "line 3: a quoted value that begins in this row has no closing quote; if it is not meant "
        f"to be quoted, {UNQUOTED}",
    ),
    (
        "a.csv",
        'text,n\n"a"b,1\n',
        {},
        f"line 2: broken table: ',' expected after '\"'; if no value is quoted, {UNQUOTED}",
    ),
    (
        "a.tsv",
        "text;n\na;1\n",
        {},
        "the header row is one column, 'text;n'; columns must be separated by '\\t', not ';'",
    ),
    ("a.csv", "text;n\na;1\nb\n", {}, "line 3: has 1 value, but the header row names 2 columns"),
    (
        "a.csv",
        "foo;n\na;1\n",
        {},
        f"{NO_TEXT} 'foo' and 'n' (the first row must name the columns); {NAME_IT}",
    ),
    (
        "a.csv",
        "text;n\na;1\n",
        {"field": "foo"},
        "line 2: there is no field 'foo'; the fields are 'text' and 'n'",
    ),
    (
        "a.csv",
        "Response;n\na;1\n",
        {"field": "respnse"},
        "line 2: there is no field 'respnse' (did you mean 'Response'?); "
        "the fields are 'Response' and 'n'",
    ),
    (
        "a.jsonl",
        '{"id": "a", "response": "b", "m": "c"}\n',
        {"field": "output"},
        "line 1: there is no field 'output' (did you mean 'response'?); "
        "the fields are 'id', 'response' and 'm'",
    ),
    (
        "a.jsonl",
        '{"id": "a", "story": "b", "content": "c"}\n',
        {"field": "output"},
        "line 1: there is no field 'output'; the fields are 'id', 'story' and 'content'",
    ),
    (
        "a.csv",
        "1,2\nx,y\n",
        {},
        f"{NO_TEXT} '1' and '2' (the first row must name the columns); {NAME_IT}",
    ),
    ("a.csv", "text,n\n", {}, "holds no samples"),
    ("a.csv", "\n\n", {}, "holds no samples"),
    (
        "tokens.jsonl",
        '{"x": [1]}\n{"x": [1, 2.0]}\n',
        {},
        f"line 2: {IDS} 2 is the float 2.0; embeddings must be an array, or a .npy file",
    ),
    ("tokens.jsonl", '{"x": [1]}\n{"x": [true]}\n', {}, f"line 2: {IDS} 1 is the bool True"),
    ("tokens.jsonl", '{"x": [1]}\n{"x": [0, -1]}\n', {}, f"line 2: {IDS} 2 is the int -1"),
    (
        "tokens.jsonl",
        '{"x": [1]}\n{"x": [2147483648]}\n',
        {},
        f"line 2: {IDS} 1 is the int 2147483648",
    ),
    ("tokens.jsonl", '{"x": [1, null]}\n', {}, f"line 1: {IDS} 2 is null"),
    ("tokens.jsonl", '{"x": [1]}\n{"x": ["a"]}\n', {}, f"line 2: {IDS} 1 is the string 'a'"),
    (
        "tokens.jsonl",
        '{"x": [1]}\n{"x": "a"}\n',
        {},
        "line 2: the field 'x' must be a list of token ids, as before, but it is the string 'a'",
    ),
    (
        "tokens.jsonl",
        '{"x": "a"}\n{"x": [1]}\n',
        {},
        "line 2: the field 'x' must be a string, as before, but it is a list of 1 token id",
    ),
    (
        "tokens.jsonl",
        '[1]\n"a"\n',
        {},
        "line 2: must be a list of token ids, as before, but it is the string 'a'",
    ),
    (
        "tokens.jsonl",
        '"a"\n[1]\n',
        {},
        "line 2: must be a string, as before, but it is a list of 1 token id",
    ),
    (
        "tokens.jsonl",
        '{"x": []}\n{"x": "a"}\n',
        {},
        "line 1: the field 'x' must be a string, but it is a list of 0 items; take its "
        "items with `field='x[*]'`, or the first with `field='x[0]'`",
    ),
    ("tokens.jsonl", '{"x": []}\n{"x": []}\n', {}, "all 2 lists of token ids are empty"),
    (
        "tokens.jsonl",
        '{"x": [{"content": "a"}]}\n',
        {},
        "line 1: the field 'x' must be a string, but it is a list of 1 item; for the "
        "text of its last item write `field='x[-1].content'`",
    ),
    (
        "tokens.jsonl",
        '{"input_ids": [1], "tokens": [2]}\n',
        {},
        f"several fields may be the token ids: 'input_ids' and 'tokens'; {NAME_IT}",
    ),
    (
        "tokens.jsonl",
        '{"tokens": ["a", "b"], "tags": [1, 2]}\n',
        {},
        f"{NO_TEXT} 'tokens' and 'tags'; {NAME_IT}",
    ),
    (
        "docs.docx",
        "x",
        {},
        f"a file with suffix '.docx' cannot be read; {POSSIBLE}",
    ),
    (
        "data",
        "x",
        {},
        f"a file with no suffix cannot be read; {POSSIBLE}",
    ),
    (
        "data.gz",
        "x",
        {},
        f"a file with no suffix before .gz cannot be read; {POSSIBLE}",
    ),
    ("empty.txt", "", {}, "is empty"),
]


@pytest.mark.parametrize(("name", "content", "options", "message"), REFUSED)
def test_refusals(tmp_path: Path, name: str, content: str, options: Any, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content.encode())
    with pytest.raises(InputError) as caught:
        read_samples(path, **options)
    assert str(caught.value) == f"{path}: {message}"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", "[" * 100_000, "line 1: (JSON is nested too deeply|broken JSON)"),
        ("a.json", "[" * 100_000, "JSON is nested too deeply|broken JSON"),
        (
            "a.jsonl",
            '{"text": "a", "n": ' + "9" * 9999 + "}",
            "line 1: a number has more digits than can be read",
        ),
    ],
)
def test_what_no_parser_gets_through(tmp_path: Path, name: str, content: str, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content.encode())
    assert re.match(message, refusal(path).removeprefix(": "))


DEEP = b"[" * 200_000


def refusal(path: Path, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read_samples(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 1000
    return message.removeprefix(f"{path}")


def tensor(**changes: Any) -> bytes:
    entry = {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24], **changes}
    return json.dumps({"a": entry}).encode()


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (tensor(shape=[float("inf"), 1]), "'shape' .*whole numbers .* the float inf"),
        (tensor(shape=[10**400, 1]), "'shape' .*whole numbers from 0 to below 2.*63"),
        (tensor(shape=[2**62, 4, 0]), "does not fit into the file|holds no values"),
        (tensor(shape=[1] * 70), "'shape' .*at most 64 axes.* 70"),
        (tensor(shape=[True, 6]), "'shape' .*whole numbers .* the bool True"),
        (tensor(shape=6), "'shape' .*list.*int 6"),
        (tensor(data_offsets=[0.5, 24.9]), "'data_offsets' .*whole .* the float 0.5"),
        (tensor(data_offsets=[float("nan"), 24]), "'data_offsets' .* the float nan"),
        (tensor(data_offsets=[0, 12, 24]), "where the bytes begin and end.* list of 3"),
        (tensor(dtype=["F32"]), "'dtype' .*string.*list of 1 item"),
        (b'{"a":' * 100_000, "its header is nested too deeply"),
        (b'{"a":{"dtype":"F32","shape":[' + b"9" * 5000 + b"]}}", "its header is not valid JSON"),
        (b"[]", "its header must be an object"),
    ],
)
def test_headers_of_safetensors(tmp_path: Path, header: bytes, message: str) -> None:
    content = struct.pack("<Q", len(header)) + header + bytes(24)
    for name in ("a.safetensors", "a.safetensors.gz"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
        with pytest.raises(InputError, match=f"{name}: .*({message})"):
            read_samples(path)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (
            "(1000000000, 7)",
            r"shape \(1000000000, 7\) .*float32, but 9",
        ),
        ("(10000000000000000000, 1000)", "promises an array of shape"),
        ("(-1, 3)", r"promises an array of shape \(-1, 3\)"),
        ("(True, 4)", "promises an array of shape"),
        (f"({'9' * 5000},)", "its header is damaged"),
        ("(10**5,)", "its header is damaged"),
        (f"({'1,' * 70})", "dimension"),
    ],
)
def test_headers_of_numpy_are_held_against_the_file(
    tmp_path: Path, shape: str, message: str, recwarn: pytest.WarningsRecorder
) -> None:
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(96)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.npy", content)
    for name, data in (
        ("a.npy", content),
        ("a.npy.gz", gzip.compress(content)),
        ("a.npz", packed.getvalue()),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(InputError, match=f"{name}: .*NumPy file: .*{message}"):
            read_samples(tmp_path / name)
    assert not recwarn.list


def test_groups_of_an_archive_must_have_one_axis(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", a=np.eye(3), g=np.array(3))
    assert "of groups must have one axis" in refusal(tmp_path / "a.npz", group="g")


@pytest.mark.parametrize("splits", [None, 3, "train", {"train": 1}, [None], [["train"]]])
def test_splits_that_are_no_list_of_names(tmp_path: Path, splits: object) -> None:
    (tmp_path / "dataset_dict.json").write_text(json.dumps({"splits": splits}))
    message = refusal(tmp_path)
    assert message.startswith(
        "/dataset_dict.json: must list names of folders under 'splits'; found"
    )


def test_deep_or_odd_descriptions_of_a_dataset(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    state.write_bytes(DEEP)
    assert refusal(tmp_path) == "/state.json: cannot be read: JSON is nested too deeply"
    for files in (None, [3], [{"filename": None}], {"filename": "a"}):
        state.write_text(json.dumps({"_data_files": files}))
        assert "must list the data files under '_data_files', each with its" in refusal(tmp_path)
    state.write_text(json.dumps({"_data_files": [{"filename": "a" * 5000}]}))
    assert "cannot read its file aaa" in refusal(tmp_path)


def dataset(folder: Path, *tables: pa.Table) -> None:
    """Write a dataset with a file for each table."""
    names = [f"{number}.arrow" for number in range(len(tables))]
    for name, table in zip(names, tables, strict=True):
        with pa.ipc.new_stream(str(folder / name), table.schema) as writer:
            writer.write_table(table)
    state = {"_data_files": [{"filename": name} for name in names]}
    (folder / "state.json").write_text(json.dumps(state))


@pytest.mark.parametrize("options", [{}, {"group": "g"}, {"field": "ids"}])
def test_offsets_beyond_a_saved_column_are_refused(tmp_path: Path, options: dict[str, str]) -> None:
    ids = pa.array([[1, 2]] * 3)
    dataset(tmp_path, pa.table({"text": ["one", "two", "six"], "g": ["a"] * 3, "ids": ids}))
    path = tmp_path / "0.arrow"
    good = path.read_bytes()
    damaged = good.replace(np.array([0, 3, 6, 9], "<i4").tobytes(), bytes([0, 0, 0, 64] * 4))
    damaged = damaged.replace(np.array([0, 2, 4, 6], "<i4").tobytes(), bytes([0, 0, 0, 64] * 4))
    assert damaged != good
    path.write_bytes(damaged)
    assert "cannot read its file 0.arrow: the column '" in refusal(tmp_path, **options)


def test_files_of_a_dataset_must_have_the_same_columns(tmp_path: Path) -> None:
    dataset(tmp_path, pa.table({"text": ["a"]}), pa.table({"other": ["a"]}))
    assert "its files must have the same columns; 0.arrow has 'text'" in refusal(tmp_path)


def test_times_that_are_too_far_away_are_named_by_their_row(tmp_path: Path) -> None:
    times = pa.array([0, 10**14], pa.timestamp("s"))
    dataset(tmp_path, pa.table({"text": ["a", "b"], "when": times}))
    assert "row 2: cannot be read" in refusal(tmp_path, group="when")


def test_rows_of_a_log_without_a_document(write_rows: Any) -> None:
    row = {"doc_id": 1, "resps": [["a text"]], "filter": "none"}
    path = write_rows("a.jsonl", [row, {"resps": [["b text"]], "filter": "none"}])
    assert refusal(path).startswith(
        ": line 2: has no 'doc_id', as the rows before it; found 'resps'"
    )


def test_odd_answers_of_a_batch(write_rows: Any) -> None:
    def answer(content: object, **changes: object) -> dict[str, Any]:
        body = {"output": [{"type": "message", "content": content}]}
        return {"custom_id": "1", "response": {"body": body}, **changes}

    whole = answer([{"type": "output_text", "text": "a"}])
    for content in (3, True, "text", [["a"]], [None]):
        path = write_rows("a.jsonl", [whole, answer(content)])
        assert ": line 2: the content of a message must list objects" in refusal(path)
    path = write_rows("b.jsonl", [whole, {"custom_id": "2", "response": 1.5, "error": ""}])
    assert "1 row with an error left out" in read_samples(path).notes[0]


@pytest.mark.parametrize("index", ["9" * 5000, "-" + "9" * 5000, "1" * 19])
@pytest.mark.parametrize("option", ["field", "group"])
def test_an_index_of_thousands_of_digits(write_rows: Any, option: str, index: str) -> None:
    path = write_rows("a.jsonl", [{"text": "a", "many": ["b"]}])
    with pytest.raises(InputError, match=r"^field 'many.*index .*18"):
        read_samples(path, **{option: f"many[{index}]"})
