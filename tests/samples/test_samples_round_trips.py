"""What any format holds comes back as it was written; real files, where they are at hand."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.samples import SampleSet, read_samples, read_systems

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


CHECKOUT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("CALIPERS_DATA", CHECKOUT.parent / "shared" / "data"))


@pytest.mark.skipif(not (DATA / "writing_prompts").is_dir(), reason=f"no real data in {DATA}")
def test_writing_prompts() -> None:
    folder = DATA / "writing_prompts"
    human = read_samples(folder / "human.jsonl")
    models = read_systems([str(folder / "gpt2-xl.jsonl"), f"neox={folder}/gpt-neox*.jsonl"])
    assert [len(s) for s in (human, models[0].sets[0], models[1].sets[0])] == [500, 500, 500]
    assert [model.name for model in models] == ["gpt2-xl", "neox"]
    counts = human.word_counts()
    assert counts is not None
    assert counts.tolist() == [len(text.split()) for text in human]
    assert 100 < counts.mean() < 200
    # Line i of every file continues the same opening, and so do the rows of a subsample.
    pairs = zip(human.subsample(50, seed=3), models[0].sets[0].subsample(50, seed=3), strict=True)
    assert all(a[:30] == b[:30] for a, b in pairs)


@pytest.mark.skipif(not (DATA / "ag_news").is_dir(), reason=f"no real data in {DATA}")
def test_ag_news_has_no_header_row() -> None:
    with pytest.raises(InputError, match="the first row must name the columns"):
        read_samples(DATA / "ag_news" / "test.csv")


@pytest.mark.slow
def test_importing_calipers_does_not_import_pyarrow() -> None:
    program = "import calipers, sys; sys.exit('pyarrow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
