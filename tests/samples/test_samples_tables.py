"""Tables, and what any format holds comes back as it was written."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.samples import SampleSet, read_samples, read_systems, source
from extras import need

# CSV, TSV, parquet and saved datasets.


Write = Callable[..., Path]


def refusal(path: Path, **options: str) -> str:
    """Read a file that is refused, and return the message without the path before it."""
    with pytest.raises(InputError) as caught:
        read_samples(path, **options)  # type: ignore[arg-type]
    message = str(caught.value)
    assert message.startswith(f"{path}: "), message
    return message.removeprefix(f"{path}: ")


def test_csv(write: Write) -> None:
    content = 'id,text,prompt\r\n1,"a ""quoted""\nline, with comma",p\r\n2,,q\r\n'
    samples = read_samples(write("a.csv.gz", content), group="id")
    assert list(samples) == ['a "quoted"\nline, with comma', ""]
    assert samples.groups.tolist() == ["1", "2"]
    assert samples.prompts.tolist() == ["p", "q"]
    assert samples.notes == ("1 of 2 texts is empty and kept (sample 2)",)


def test_tsv(write: Write) -> None:
    assert list(read_samples(write("a.tsv", 'n\ttext\n1\ta, b\n2\t"c\td"\n'))) == ["a, b", "c\td"]


def test_a_single_column_is_taken_whatever_its_name(write: Write) -> None:
    assert list(read_samples(write("a.csv", 'whatever\na\n""\n"b, c"\n'))) == ["a", "", "b, c"]


def test_columns_by_name(write: Write) -> None:
    path = write("a.csv", "text,my.col[0]\na,b\n")
    assert list(read_samples(path)) == ["a"]
    assert list(read_samples(path, field="my.col[0]")) == ["b"]
    assert refusal(path, field="txt") == (
        "line 2: there is no field 'txt' (did you mean 'text'?); "
        "the fields are 'text' and 'my.col[0]'"
    )


def test_long_values(write: Write) -> None:
    assert len(read_samples(write("a.csv", f"text\n{'x' * 300_000}\n"))[0]) == 300_000


@pytest.fixture
def parquet(tmp_path: Path) -> Write:
    def write_parquet(table: pa.Table | dict[str, Any], name: str = "a.parquet") -> Path:
        path = tmp_path / name
        pq.write_table(pa.table(table) if isinstance(table, dict) else table, path)
        return path

    return write_parquet


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]
)
def test_parquet(parquet: Write, kind: pa.DataType) -> None:
    texts = [f"text {i % 7}" for i in range(10_000)]
    path = parquet({"n": range(10_000), "text": pa.array(texts, pa.string()).cast(kind)})
    samples = read_samples(path)
    assert list(samples) == texts
    assert samples.texts.tolist() == texts
    assert samples.name == "a"


def test_gzipped_parquet(parquet: Write, tmp_path: Path) -> None:
    data = parquet({"text": ["a", "b"]}).read_bytes()
    (tmp_path / "b.parquet.gz").write_bytes(gzip.compress(data))
    assert list(read_samples(tmp_path / "b.parquet.gz")) == ["a", "b"]


def test_parquet_prompts_and_groups(parquet: Write) -> None:
    table = {"text": ["a", "b"], "prompt": ["p", "q"], "kind": [1, 2], "f": [0.5, 1.5]}
    path = parquet(table)
    assert read_samples(path).prompts.tolist() == ["p", "q"]
    grouped = read_samples(path, group="kind")
    assert grouped.groups.tolist() == ["1", "2"]
    assert grouped.prompts.tolist() == ["p", "q"]
    assert list(grouped) == ["a", "b"]
    assert list(read_samples(path, field="prompt")) == ["p", "q"]
    assert read_samples(path, field="prompt").prompts is None
    assert read_samples(path, group="f").groups.tolist() == ["0.5", "1.5"]
    some = read_samples(parquet({"text": ["a", "b"], "prompt": ["p", None]}))
    assert some.prompts is None
    assert some.notes == ("prompts were left out: 1 of 2 samples have none",)
    none = parquet({"text": ["a"], "prompt": pa.array([None], pa.string())})
    assert read_samples(none).notes == ()


def test_nested_parquet(parquet: Write) -> None:
    path = parquet({"a": [{"b": ["x", "y"]}, {"b": ["z"]}], "g": [1, 2], "a.b": ["p", "q"]})
    samples = read_samples(path, field="a.b[*]", group="g")
    assert list(samples) == ["x", "y", "z"]
    assert samples.groups.tolist() == ["1", "1", "2"]
    assert list(read_samples(path, field="a.b")) == ["p", "q"]
    assert refusal(path, field="a.c").startswith(
        "row 1: the field 'a.c' breaks at 'a': there is no"
    )
    message = refusal(path, field="z.c")
    assert message == "row 1: there is no field 'z'; the fields are 'a', 'g' and 'a.b'"


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ({"text": ["a", "b", None], "n": [1, 2, 3]}, {}, "row 3: the text is null, not a string"),
        ({"n": [1, 2]}, {}, "row 1: the field 'n' must be a string, but it is the int 1"),
        ({"text": [["a"]], "n": [1]}, {}, r"row 1: the field 'text' must .* `field='text\[\*\]'`"),
        ({"text": ["a"], "output": ["b"]}, {}, "several fields may be the text"),
        ({"a": ["a"], "b": ["b"]}, {}, "no field has a common name"),
        ({"text": pa.array([], pa.string())}, {}, "holds no samples"),
        (pa.table([["a"], ["b"]], names=["text", "text"]), {}, "has the column 'text' twice"),
    ],
)
def test_wrong_parquet(parquet: Write, table: Any, options: dict[str, str], message: str) -> None:
    assert re.match(message, refusal(parquet(table), **options))


@pytest.mark.parametrize("name", ["Text (EN).", "a[", "a..b"])
def test_any_name_of_a_column(parquet: Write, write: Write, name: str) -> None:
    assert list(read_samples(parquet({name: ["x"], "n": [1]}), field=name, group="n")) == ["x"]
    assert list(read_samples(write("a.csv", f"{name},n\nx,1\n"), field=name)) == ["x"]


def test_column_names_that_are_not_utf8(parquet: Write) -> None:
    path = parquet({"text": ["a"], "nämen": ["b"]})
    path.write_bytes(path.read_bytes().replace("nämen".encode(), b"n\xff\xffmen"))
    assert refusal(path).startswith("cannot be read as a parquet file")


def test_invalid_utf8_in_parquet(parquet: Write) -> None:
    values = [b"a"] * 5000 + [b"\xff"] + [b"b"]
    broken = pa.array(values, pa.binary()).view(pa.string())
    path = parquet({"text": broken, "g": ["a"] * 5002})
    assert refusal(path) == "row 5001: the text is not valid UTF-8"
    assert refusal(path, group="g") == "row 5001: holds text that is not valid UTF-8"


def test_no_parquet(write: Write) -> None:
    assert refusal(write("a.parquet", b"PAR1 and more")).startswith(
        "cannot be read as a parquet file"
    )
    assert refusal(write("b.parquet.gz", b"text")).startswith("cannot be read as a parquet file")


def test_damaged_parquet(parquet: Write) -> None:
    path = parquet({"text": [f"text {i}" for i in range(10_000)]})
    data = bytearray(path.read_bytes())
    data[100:2000] = bytes(1900)
    path.write_bytes(data)
    assert refusal(path)


def test_parquet_bomb(parquet: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MAX_DECOMPRESSED", 100_000)
    path = parquet({"text": ["x" * 1000] * 1000})
    assert path.stat().st_size < 10_000
    assert refusal(path).startswith("holds more than 100,000 bytes when decompressed")


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A folder as Dataset.save_to_disk writes it, of two data files."""
    folder = tmp_path / "saved"
    folder.mkdir()
    names = []
    for i, texts in enumerate([["a", "b"], ["c"]]):
        table = pa.table({"text": texts, "prompt": [f"p{t}" for t in texts], "n": [1] * len(texts)})
        names.append(f"data-{i:05d}-of-00002.arrow")
        with pa.ipc.new_stream(str(folder / names[-1]), table.schema) as writer:
            writer.write_table(table, max_chunksize=1)
    state = {"_data_files": [{"filename": name} for name in names], "_split": "train"}
    (folder / "state.json").write_text(json.dumps(state))
    (folder / "dataset_info.json").write_text("{}")
    return folder


def test_saved_dataset(saved: Path) -> None:
    samples = read_samples(saved)
    assert list(samples) == ["a", "b", "c"]
    assert samples.prompts.tolist() == ["pa", "pb", "pc"]
    assert (samples.name, samples.source) == ("saved", str(saved))
    grouped = read_samples(saved, field="prompt", group="n")
    assert list(grouped) == ["pa", "pb", "pc"]
    assert grouped.groups.tolist() == ["1", "1", "1"]


def test_datasets_package_writes_what_is_read(tmp_path: Path) -> None:
    datasets = need("datasets")
    rows = {"text": [f"text {i}" for i in range(3000)], "n": list(range(3000))}
    dataset = datasets.Dataset.from_dict(rows)
    dataset.select(range(10, 2000)).save_to_disk(tmp_path / "one", num_shards=3)
    assert list(read_samples(tmp_path / "one")) == rows["text"][10:2000]
    datasets.DatasetDict({"train": dataset, "test": dataset}).save_to_disk(tmp_path / "two")
    message = refusal(tmp_path / "two")
    assert message.startswith("holds a dataset with the splits 'train' and 'test'; give the folder")
    assert message.endswith(str(tmp_path / "two" / "train"))
    assert list(read_samples(tmp_path / "two" / "test")) == rows["text"]


def test_wrong_folders(saved: Path, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    assert refusal(tmp_path / "plain").startswith("is a folder, but not one saved by Hugging Face")
    (saved / "data-00001-of-00002.arrow").unlink()
    assert refusal(saved).startswith("cannot read its file data-00001-of-00002.arrow")
    (saved / "data-00000-of-00002.arrow").write_bytes(b"nothing")
    assert refusal(saved).startswith("cannot read its file data-00000-of-00002.arrow")
    (saved / "state.json").write_text('{"_data_files": []}')
    assert refusal(saved) == "holds no samples"
    for broken in ("{", "[1]", '{"_data_files": 3}'):
        (saved / "state.json").write_text(broken)
        with pytest.raises(InputError, match=r"state\.json: "):
            read_samples(saved)


# What any format holds comes back as it was written; real files, where they are at hand.


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
@settings(max_examples=40)
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
@settings(max_examples=40)
def test_lines_round_trip(lines: list[str]) -> None:
    lines = [*lines, "end"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.txt"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")
        assert list(read_samples(path)) == lines


@given(st.binary(max_size=60), st.sampled_from([*WRITERS, ".txt", ".npy", ".npz", ".safetensors"]))
@settings(max_examples=150)
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
