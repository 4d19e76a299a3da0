"""What any format holds comes back as it was written."""

from __future__ import annotations

import csv
import gzip
import io
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.samples import SampleSet, read_samples

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
TEXTS = st.lists(TEXT, min_size=1, max_size=12).map(lambda texts: [*texts, "end"])
HARD = [
    '"',
    "a\nb",
    "a\r\nb",
    "\r",
    "🦉\u2028\x85",
    "' ,\t;",
    "\\n",
    '{"text": "x"}',
    "\ufeff",
    "",
    " ",
]


def as_jsonl(texts: list[str]) -> bytes:
    lines = [json.dumps({"text": text, "n": 1}, ensure_ascii=len(text) % 2 == 0) for text in texts]
    return "\n".join(lines).encode()


def as_json(texts: list[str]) -> bytes:
    return json.dumps(texts, ensure_ascii=False, indent=1).encode()


def as_table(texts: list[str], delimiter: str) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerows([["n", "text"], *([str(i), text] for i, text in enumerate(texts))])
    return out.getvalue().encode()


def as_parquet(texts: list[str]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table({"text": texts, "n": range(len(texts))}), out, row_group_size=5)
    return out.getvalue()


WRITERS: dict[str, Callable[[list[str]], bytes]] = {
    ".jsonl": as_jsonl,
    ".json": as_json,
    ".csv": lambda texts: as_table(texts, ","),
    ".tsv": lambda texts: as_table(texts, "\t"),
    ".parquet": as_parquet,
}


@pytest.mark.parametrize("suffix", WRITERS)
@given(texts=TEXTS)
@example(texts=[*HARD, "end"])
@settings(max_examples=40, deadline=None)
def test_round_trip(suffix: str, texts: list[str]) -> None:
    data = WRITERS[suffix](texts)
    plain = SampleSet.from_texts(texts, name="a")
    with tempfile.TemporaryDirectory() as folder:
        for path, content in [
            (Path(folder) / f"a{suffix}", data),
            (Path(folder) / f"a{suffix}.gz", gzip.compress(data, 1)),
        ]:
            path.write_bytes(content)
            samples = read_samples(path)
            assert list(samples) == texts
            assert samples.content_hash == plain.content_hash
            assert samples.notes == plain.notes


@given(st.lists(st.text(st.characters(exclude_characters="\n\r\ufeff", exclude_categories=["Cs"]))))
@settings(max_examples=40, deadline=None)
def test_lines_round_trip(lines: list[str]) -> None:
    lines = [*lines, "end"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.txt"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")
        assert list(read_samples(path)) == lines


@given(st.binary(max_size=60), st.sampled_from([*WRITERS, ".txt", ".npy", ".npz", ".safetensors"]))
@settings(max_examples=150, deadline=None)
def test_any_bytes_are_read_or_refused_by_name(data: bytes, suffix: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a{suffix}"
        path.write_bytes(data)
        problem = ""
        try:
            assert len(read_samples(path)) > 0
        except InputError as error:
            problem = str(error)
        assert problem == "" or problem.startswith(f"{path}: ")
