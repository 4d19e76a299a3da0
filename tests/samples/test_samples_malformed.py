"""Files whose inside cannot be: one sentence that names the file, the rule and what was found."""

from __future__ import annotations

import gzip
import io
import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from calipers.errors import InputError
from calipers.samples import read_samples

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
        (tensor(shape=[float("inf"), 1]), "'shape' must hold whole numbers .* the float inf"),
        (tensor(shape=[10**400, 1]), "'shape' must hold whole numbers from 0 to below 2.*63"),
        (tensor(shape=[2**62, 4, 0]), "does not fit into the file|holds no values"),
        (tensor(shape=[1] * 70), "'shape' must have at most 64 axes; found 70"),
        (tensor(shape=[True, 6]), "'shape' must hold whole numbers .* the bool True"),
        (tensor(shape=6), "'shape' must be a list, but it is the int 6"),
        (tensor(data_offsets=[0.5, 24.9]), "'data_offsets' must hold whole .* the float 0.5"),
        (tensor(data_offsets=[float("nan"), 24]), "'data_offsets' must hold .* the float nan"),
        (tensor(data_offsets=[0, 12, 24]), "where the bytes begin and end; found a list of 3"),
        (tensor(dtype=["F32"]), "'dtype' must be a string, but it is a list of 1 item"),
        (b'{"a":' * 100_000, "its header is nested too deeply"),
        (b'{"a":{"dtype":"F32","shape":[' + b"9" * 5000 + b"]}}", "its header is no JSON"),
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
            r"promises an array of shape \(1000000000, 7\) and type float32, but 9",
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
        with pytest.raises(InputError, match=f"{name}: is no readable NumPy file: .*{message}"):
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
    with pytest.raises(InputError, match=r"^field 'many.*has an index of .* digits; .* at most 18"):
        read_samples(path, **{option: f"many[{index}]"})
