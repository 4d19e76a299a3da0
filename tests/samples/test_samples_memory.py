"""What is read is bounded by the memory that may be taken, and refused with the sizes named."""

from __future__ import annotations

import gc
import gzip
import io
import json
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import calipers
from calipers import memory
from calipers.errors import InputError
from calipers.memory import Budget, budget, memory_limit, parse_size, reading, uncollected
from calipers.samples import SampleSet, as_sample_set, read_samples

LINE = "a line of some text that stands here many times over\n"


def refused(path: object, limit: int | str, **options: object) -> str:
    with memory_limit(limit), pytest.raises(InputError) as caught:
        read_samples(str(path), **options)  # type: ignore[arg-type]
    return str(caught.value)


# ---------------------------------------------------------------- sizes and budgets


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("8GB", 8 * 10**9),
        (" 8 gb ", 8 * 10**9),
        ("8G", 8 * 10**9),
        ("8GiB", 8 * 2**30),
        ("1.5MB", 1_500_000),
        ("500kB", 500_000),
        ("2TB", 2 * 10**12),
        ("77", 77),
        ("77B", 77),
    ],
)
def test_sizes_are_read_as_people_write_them(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text", ["", "0", "0GB", "-1GB", "GB", "8 XB", "1e9", "nan", "inf", "8Gi b", "9" * 40]
)
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"`calipers\.memory_limit` must be a size above 0"):
        parse_size(text)


@pytest.mark.parametrize("size", [True, 1.5, [1], 0, -3, "x"])
def test_a_limit_that_is_none_is_refused(size: object) -> None:
    with pytest.raises(InputError, match="a memory limit"), memory_limit(size):  # type: ignore[arg-type]
        pass


def test_without_a_limit_half_of_what_is_free_may_be_taken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda: 40_000)
    assert budget().limit == 20_000
    (tmp_path / "a.txt").write_text(LINE * 500)
    with pytest.raises(InputError, match=r"20\.0 kB .*half"):
        read_samples(tmp_path / "a.txt")
    monkeypatch.setattr(memory, "free_memory", lambda: None)
    assert budget().limit == 8 * 2**30


def test_the_limit_is_one_for_all_that_is_read_within(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(LINE * 100)
    for _ in range(20):  # each with a limit of its own
        with memory_limit("20kB"):
            read_samples(tmp_path / "a.txt")
    with memory_limit("20kB"):
        read_samples(tmp_path / "a.txt")
        with pytest.raises(InputError, match=r"a\.txt: "):
            read_samples(tmp_path / "a.txt")


def test_what_is_borrowed_is_given_back_after_each_file(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(["some text"] * 100))
    with memory_limit("30kB"), reading() as current:
        for _ in range(3):
            before = current.left
            read_samples(tmp_path / "a.json")
            assert 100 * (9 + 8) <= before - current.left <= 100 * (9 + 8 + memory.ROW) + 8


def test_a_budget_counts_to_the_byte() -> None:
    current = Budget(100, asked=True)
    current.take(60, InputError)
    with current.borrowing():
        current.borrow(40, InputError)
        with pytest.raises(InputError, match=r"as `calipers\.memory_limit` says"):
            current.borrow(1, InputError)
    assert current.left == 40


# ---------------------------------------------------------------- every format


def test_lines_are_refused_before_any_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress((LINE * 200_000).encode()))
    tracemalloc.start()
    message = refused(path, "8MB")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert message.startswith(f"{path}: holds lines (")
    assert "gzipped), which take at least 8." in message
    assert "but 8.0 MB may be taken as `calipers.memory_limit` says" in message
    assert "allow more with `calipers.memory_limit`" in message
    assert peak < 6e6  # two parts of 1 MiB and what unpacks them
    with memory_limit("30MB"):
        assert len(read_samples(path)) == 200_000


@pytest.mark.slow
def test_many_short_rows_are_refused_before_any_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"text": "a"}\n' * 200_000))
    assert "which take at least 11.2 MB of memory" in refused(path, "10MB")
    path.write_bytes(gzip.compress(b'{"text": ["a"]}\n' * 200_000))
    assert "what has been read" in refused(path, "10MB", field="text[*]")
    blank = tmp_path / "b.jsonl.gz"
    blank.write_bytes(gzip.compress(b'"a"\n' + b"\n" * 2_000_000))
    with memory_limit("1MB"):
        assert len(read_samples(blank)) == 1
    rows = '{"custom_id": "a", "response": null, "error": "late"}\n' * 50_000
    body = '{"custom_id": "b", "response": {"body": {"choices": [{"text": "c"}]}}}\n'
    (tmp_path / "c.jsonl").write_text(rows + body)
    with memory_limit("1MB"):
        assert len(read_samples(tmp_path / "c.jsonl")) == 1


def test_empty_lines_count_too(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"a\n" + b"\n" * 100_000)
    assert "which take at least" in refused(tmp_path / "a.txt", "4MB")


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.json", "a.jsonl.gz", "a.json.gz"])
def test_rows_are_counted_as_they_come(name: str, tmp_path: Path) -> None:
    rows = [{"text": f"text {i}" * 200} for i in range(4000)]
    if ".json" in name and "l" not in name:
        content = json.dumps(rows)
    elif "jsonl" in name:
        content = "".join(json.dumps(row) + "\n" for row in rows)
    else:
        content = "text\n" + "".join(row["text"] + "\n" for row in rows)
    data = content.encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    message = refused(tmp_path / name, "2MB")
    assert message.startswith(f"{tmp_path / name}: ")
    assert "what has been read takes more than 2.0 MB of memory" in message


def test_other_fields_are_not_counted(tmp_path: Path) -> None:
    rows = [{"text": f"text {i}", "other": "x" * 5000} for i in range(2000)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with memory_limit("1MB"):
        assert len(read_samples(tmp_path / "a.jsonl", field="text")) == 2000


def test_prompts_and_groups_are_counted(tmp_path: Path) -> None:
    rows = [{"text": f"text {i}", "prompt": "p" * 5000, "g": "a"} for i in range(2000)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert "takes more than 1.0 MB" in refused(tmp_path / "a.jsonl", "1MB", field="text")


def test_json_is_judged_before_it_is_parsed(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('["a",' + "[]," * 100_000 + "[]]")
    tracemalloc.start()
    assert "takes more than 5.0 MB" in refused(tmp_path / "a.json", "5MB")
    assert tracemalloc.get_traced_memory()[1] < 3e6
    tracemalloc.stop()


@pytest.mark.parametrize(
    "content",
    [json.dumps(["a"] * 1000), '[{"a": "b", "c": 1}]', '{"a": ["é"]}', "[[1, 2], [3]]"],
)
def test_the_estimate_for_json_is_enough(content: str) -> None:
    def size(value: object) -> int:
        own = sys.getsizeof(value)
        if isinstance(value, dict):
            return own + sum(map(size, value)) + sum(map(size, value.values()))
        return own + (sum(map(size, value)) if isinstance(value, list) else 0)

    parsed = json.loads(content)
    assert memory.json_size(content) >= 0.9 * size(parsed) - 250
    assert memory.json_size(content) == memory.json_size(content.encode()) or "é" in content


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.csv"])
def test_a_line_without_an_end_is_not_read_to_it(name: str, tmp_path: Path) -> None:
    start = {"a.txt": "", "a.jsonl": '"', "a.csv": "text\n"}[name]
    (tmp_path / name).write_text(start + "x" * 1_000_000)
    message = refused(tmp_path / name, "3MB")
    assert "is longer than 93.8 kB, the longest line that" in message
    with memory_limit("99MB"):
        assert len(read_samples(tmp_path / name)) == 1 if name != "a.jsonl" else True


def test_a_quoted_value_that_never_ends_is_not_read_to_the_end(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('text\na\n"' + "more\n" * 300_000)
    message = refused(tmp_path / "a.csv", "3MB")
    assert "line 3: the row that begins here is longer than 93.8 kB" in message


def test_standard_input_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    def given(content: str) -> None:
        stream = SimpleNamespace(buffer=io.BytesIO(content.encode()))
        monkeypatch.setattr(sys, "stdin", stream)

    given(LINE * 100_000)
    assert "standard input: what has been read takes more than 2.0 MB" in refused("-", "2MB")
    given("[" + "[]," * 100_000 + "[]]")
    assert "standard input: what has been read takes more than 2.0 MB" in refused("-", "2MB")
    for content, kind in (
        ('{"text": "a"}\n{"text": "b"}\n', ["a", "b"]),
        ('{\n "x": ["a", "b"]}', ["a", "b"]),
        ('["a", "b"]', ["a", "b"]),
        ('"a"\n\n"b"\n', ["a", "b"]),
        ("[a\nb]\n", ["[a", "b]"]),
        ("{\nb\n", ["{", "b"]),
    ):
        given(content)
        assert texts_of(read_samples("-")) == kind


def texts_of(samples: SampleSet) -> list[str]:
    assert samples.texts is not None
    found: list[str] = samples.texts.tolist()
    return found


@pytest.fixture
def parquet(tmp_path: Path) -> Callable[[pa.Array], Path]:
    def write(array: pa.Array) -> Path:
        pq.write_table(pa.table({"text": array}), tmp_path / "a.parquet")
        return tmp_path / "a.parquet"

    return write


def test_parquet_rows_are_held_against_the_limit_first(parquet: Callable[[pa.Array], Path]) -> None:
    words = pa.DictionaryArray.from_arrays(pa.array(np.zeros(300_000, np.int32)), ["a text"])
    path = parquet(words)
    assert path.stat().st_size < 20_000
    message = refused(path, "10MB")
    assert "claims to hold 300,000 rows, which take at least 16.8 MB of memory" in message
    with memory_limit("30MB"):
        assert len(read_samples(path)) == 300_000


def test_a_long_value_of_a_dictionary_is_not_unpacked(
    parquet: Callable[[pa.Array], Path],
) -> None:
    words = pa.DictionaryArray.from_arrays(pa.array(np.zeros(4000, np.int32)), ["x" * 100_000])
    path = parquet(words)
    before = pa.default_memory_pool().max_memory()
    assert "takes more than 20.0 MB" in refused(path, "20MB")
    assert pa.default_memory_pool().max_memory() < max(before, 100e6)


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["PLAIN", "DELTA_BYTE_ARRAY"])
def test_a_long_value_that_stands_in_every_row_is_unpacked_a_few_at_a_time(
    tmp_path: Path, encoding: str
) -> None:
    words: list[str] | pa.Array = ["x" * 100_000] * 3000
    options = {"use_dictionary": False, "column_encoding": {"text": encoding}}
    if encoding == "PLAIN":  # of the dictionary; the texts are to be plain strings
        words = pa.DictionaryArray.from_arrays(pa.array(np.zeros(3000, np.int32)), ["x" * 100_000])
        options = {"store_schema": False}
    pq.write_table(pa.table({"text": words}), tmp_path / "a.parquet", **options)
    del words
    assert (tmp_path / "a.parquet").stat().st_size < 100_000
    code = (
        "import sys, pyarrow, calipers\n"
        "try:\n"
        "    with calipers.memory_limit('20MB'):\n"
        "        calipers.read_samples(sys.argv[1])\n"
        "except calipers.InputError as error:\n"
        "    print(pyarrow.default_memory_pool().max_memory(), error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "a.parquet")],
        capture_output=True,
        text=True,
        check=True,
    )
    peak, message = done.stdout.split(" ", 1)
    assert "takes more than 20.0 MB" in message
    assert int(peak) < 100_000_000


def test_parquet_texts_and_tokens_are_counted_as_they_come(
    parquet: Callable[[pa.Array], Path],
) -> None:
    texts = pa.array([f"{i} " * 100 for i in range(9000)])
    assert "takes more than 1.0 MB" in refused(parquet(texts), "1MB")
    ids = pa.array([list(range(100)) for _ in range(9000)])
    assert "takes more than 1.0 MB" in refused(parquet(ids), "1MB")


def test_texts_that_stay_on_disk_are_not_counted(tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text(json.dumps({"_data_files": [{"filename": "a.arrow"}]}))
    table = pa.table({"text": [f"{i} " * 1000 for i in range(1000)]})
    with pa.ipc.new_stream(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table)
    with memory_limit("100kB"):
        assert len(read_samples(tmp_path)) == 1000


def test_a_dictionary_on_disk_is_not_unpacked_for_its_long_values(tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text(json.dumps({"_data_files": [{"filename": "a.arrow"}]}))
    words = pa.DictionaryArray.from_arrays(pa.array(np.zeros(4000, np.int32)), ["x" * 100_000])
    table = pa.table({"text": words, "label": ["a"] * 4000})
    with pa.ipc.new_stream(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table)
    for options in ({}, {"group": "label"}):
        assert "takes more than 20.0 MB" in refused(tmp_path, "20MB", **options)


def test_token_ids_are_counted(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text((json.dumps(list(range(50))) + "\n") * 2000)
    assert "takes more than 300.0 kB" in refused(tmp_path / "a.jsonl", "300kB")


def test_arrays_are_counted_where_they_are_not_mapped(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.ones((1000, 100), np.float32))
    np.savez_compressed(tmp_path / "a.npz", a=np.ones((1000, 100), np.float32))
    np.save(tmp_path / "half.npy", np.ones((1000, 100), np.float16))
    data = (tmp_path / "a.npy").read_bytes()
    (tmp_path / "b.npy.gz").write_bytes(gzip.compress(data))
    with memory_limit("100kB"):
        assert len(read_samples(tmp_path / "a.npy")) == 1000
    assert "claims to hold numbers in 'a', which take at least 400.1 kB" in refused(
        tmp_path / "a.npz", "100kB"
    )
    for name in ("half.npy", "b.npy.gz"):
        assert "takes more than 100.0 kB" in refused(tmp_path / name, "100kB")


def test_a_limit_above_the_usual_one_allows_more_of_a_compressed_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("calipers.samples.source.MAX_DECOMPRESSED", 10_000)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(b'{"text": "a"}\n' * 5000))
    with pytest.raises(InputError, match=r"10,000 bytes .*`calipers.memory_limit`"):
        read_samples(tmp_path / "a.jsonl.gz")
    with memory_limit("1MB"):
        assert len(read_samples(tmp_path / "a.jsonl.gz")) == 5000


def test_lists_that_a_person_holds_count_as_well() -> None:
    with memory_limit("100kB"), pytest.raises(InputError, match=r"takes more than 100\.0 kB"):
        as_sample_set(["some text"] * 10_000, name="a")


@pytest.mark.slow
def test_the_limit_holds_for_comparisons(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(LINE * 5000)
    with (
        calipers.memory_limit("100kB"),
        pytest.raises(InputError, match=r"100\.0 kB .*`calipers.memory_limit`"),
    ):
        calipers.measure_texts(str(tmp_path / "a.txt"))


def test_the_search_for_cycles_rests_and_goes_on_whatever_happens() -> None:
    assert gc.isenabled()
    with uncollected(), uncollected():
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(KeyError), uncollected():
        raise KeyError
    assert gc.isenabled()
    gc.disable()
    try:
        with uncollected():
            pass
        assert not gc.isenabled()  # as it was
    finally:
        gc.enable()
