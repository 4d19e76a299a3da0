"""Files as tools write them: tables in JSON, chats, shards, quotation marks, encodings, pipes."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import calipers
from calipers.cli import app
from calipers.errors import InputError, MissingExtraError
from calipers.samples import SampleSet, as_sample_set, read_samples, read_systems
from calipers.samples.row_tables import read_table
from extras import need

Write = Callable[..., Path]

TEXTS = ["one river", "two, rivers", "three"]
ROWS = [{"id": n, "prompt": "say", "output": text} for n, text in enumerate(TEXTS)]
CELLS = [list(row.values()) for row in ROWS]
COLUMNS = {name: [row[name] for row in ROWS] for name in ROWS[0]}
SPLIT = {"columns": list(ROWS[0]), "data": CELLS}


def refusal(path: Any, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read_samples(path, **options)
    return str(caught.value).removeprefix(f"{path}: ")


def run(*arguments: str) -> str:
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code == 0, done.output
    return " ".join(done.output.split())


# Tables in JSON

TABLES = {
    "pandas split": {**SPLIT, "index": [0, 1, 2]},
    "mlflow": SPLIT,
    "mlflow request": {"dataframe_split": SPLIT},
    "mlflow records": {"dataframe_records": ROWS},
    "weights & biases": {**SPLIT, "ncols": 3, "nrows": 3},
    "datasette": {"columns": list(ROWS[0]), "rows": CELLS, "truncated": False},
    "columns as objects": {"columns": [{"name": name} for name in ROWS[0]], "data": CELLS},
    "pandas table": {"schema": {"fields": [{"name": "id"}]}, "data": ROWS},
    "pandas by default": {
        name: {str(n): cell for n, cell in enumerate(cells)} for name, cells in COLUMNS.items()
    },
    "pandas index": {str(n): row for n, row in enumerate(ROWS)},
    "rows by name": {f"item-{n}": row for n, row in enumerate(ROWS)},
    "columns as lists": COLUMNS,
}


@pytest.mark.parametrize("form", TABLES)
@pytest.mark.parametrize("field", [None, "output"])
def test_tables_in_json(write: Write, form: str, field: str | None) -> None:
    samples = read_samples(write("a.json", json.dumps(TABLES[form])), field=field)
    assert list(samples) == TEXTS
    assert list(samples.prompts or ()) == ["say"] * 3
    assert samples.field == "output"


def test_a_table_of_pandas_in_all_its_forms(tmp_path: Path) -> None:
    frame = need("pandas").DataFrame(ROWS)
    for form in ("split", "records", "index", "columns", "table"):
        frame.to_json(tmp_path / "a.json", orient=form)
        assert list(read_samples(tmp_path / "a.json")) == TEXTS
    frame.to_json(tmp_path / "a.json", orient="values")
    assert "must be a string or an object" in refusal(tmp_path / "a.json")


def test_a_table_of_scores_in_split_form(write: Write) -> None:
    path = write("a.json", json.dumps({"columns": ["system", "x"], "data": [["a", 1], ["b", 2]]}))
    table = read_table(path, "scores")
    assert table.columns == ("system", "x")
    assert [row for _, row in table.rows] == [{"system": "a", "x": 1}, {"system": "b", "x": 2}]


def test_a_broken_row_of_a_table_is_named(write: Write) -> None:
    wrong = write("a.json", json.dumps({**SPLIT, "data": [*CELLS, ["x"]]}))
    assert refusal(wrong) == "row 4: has 1 value, but the table has 3 columns"
    wrong = write("a.json", json.dumps({**SPLIT, "data": [*CELLS, "x"]}))
    assert refusal(wrong) == "row 4: has the string 'x', but the table has 3 columns"


@pytest.mark.parametrize("key", ["stop", "tags", "columns", "stop_sequences", "metrics"])
def test_settings_are_no_samples(write: Write, key: str) -> None:
    by_id = {f"id{n}": text for n, text in enumerate(TEXTS)}
    path = write("a.json", json.dumps({"model": "m", key: ["\n", "</s>"], "answers_by_id": by_id}))
    assert refusal(path) == (
        f"does not say which of its fields holds the samples: {key!r} lists 2 strings; "
        "'answers_by_id' holds 3 strings by name; choose one with `field`, or "
        "FILE@FIELD for one file alone"
    )
    assert list(read_samples(path, field="answers_by_id")) == TEXTS
    assert list(read_samples(path, field=key)) == ["\n", "</s>"]
    alone = write("b.json", json.dumps({"model": "m", key: ["a", "b"]}))
    assert f"{key!r} lists 2 strings; choose one with `field`" in refusal(alone)
    objects = write("c.json", json.dumps({"model": "m", key: [{"name": "x"}]}))
    assert f"{key!r} lists 1 object; choose one with `field`" in refusal(objects)


@pytest.mark.parametrize("key", ["texts", "stories", "outputs", "data", "generations", "Answers"])
def test_a_list_whose_name_says_that_it_holds_samples(write: Write, key: str) -> None:
    path = write("a.json", json.dumps({"model": "m", key: TEXTS, "n": 3}))
    assert list(read_samples(path)) == TEXTS
    assert list(read_samples(write("b.json", json.dumps({"anything": TEXTS})))) == TEXTS


# Chats

PARTS = [{"type": "text", "text": "hello there"}]
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
SHAREGPT = [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "hello there"}]
IMAGE = {"type": "image_url", "id": "i"}
CHATS: list[tuple[str, Any, str]] = [
    ("conversations", SHAREGPT, "conversations[-1].value"),
    ("messages", [{"role": "user", "content": "hello there"}], "messages[-1].content"),
    ("messages", [{"role": "user", "content": PARTS}], "messages[-1].content[-1].text"),
    ("messages", [{"role": "user", "content": [*PARTS, IMAGE]}], "messages[-1].content[-2].text"),
    ("message", {"role": "assistant", "content": "hello there"}, "message.content"),
    ("contents", [{"role": "model", "parts": PARTS}], "contents[-1].parts[-1].text"),
    (
        "chat",
        [{"speaker": "b", "utterance": "hello there", "lang": "longer than it"}],
        "chat[-1].utterance",
    ),
    (
        "mapping",
        {"author": {"role": "assistant"}, "content": {"parts": ["hello there"]}},
        "mapping.content.parts[-1]",
    ),
]


@pytest.mark.parametrize(("field", "value", "hint"), CHATS)
def test_hints_lead_to_the_text_of_the_last_message(
    write_rows: Write, field: str, value: Any, hint: str
) -> None:
    path = write_rows("a.jsonl", [{field: value}])
    assert refusal(path, field=field).endswith(f"write `field='{hint}'`")
    assert list(read_samples(path, field=hint)) == ["hello there"]


def test_a_path_into_the_parts_of_a_content_goes_on_from_it(write_rows: Write) -> None:
    path = write_rows("a.jsonl", [{"messages": [{"role": "user", "content": PARTS}]}])
    message = refusal(path, field="messages[-1].content")
    assert message.endswith("write `field='messages[-1].content[-1].text'`")


def test_a_call_of_a_tool_has_its_arguments(write_rows: Write) -> None:
    for content in (None, "", []):
        row = {"messages": [{"role": "assistant", "content": content, "tool_calls": [CALL]}]}
        hint = "messages[-1].tool_calls[-1].function.arguments"
        path = write_rows("a.jsonl", [row])
        assert refusal(path).endswith(f"for the text of its last item write `field='{hint}'`")
        assert list(read_samples(path, field=hint)) == ['{"x": 1}']
    silent = [{"role": "assistant", "content": "hello there"}, {"role": "tool", "content": None}]
    path = write_rows("a.jsonl", [{"messages": silent}])
    assert refusal(path).endswith("for the last text in it write `field='messages[-2].content'`")


def test_rows_without_a_usual_field_say_how_messages_are_named(write_rows: Write) -> None:
    row = {"id": "x", "source": "s", "conversations": SHAREGPT}
    path = write_rows("a.jsonl", [row])
    end = "for one file alone, such as 'conversations[-1].value' for the last message"
    assert refusal(path).endswith(end)
    pa = need("pyarrow")
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist([row]), path.with_suffix(".parquet"))
    assert refusal(path.with_suffix(".parquet")).endswith(end)
    frame = need("pandas").DataFrame([row])
    with pytest.raises(InputError, match=r"'conversations\[-1\].value' for the last message$"):
        as_sample_set(frame)


def test_lists_of_texts_have_the_hint_that_they_had(write_rows: Write) -> None:
    path = write_rows("a.jsonl", [{"a": ["x", "y"]}])
    assert refusal(path).endswith(
        "take its items with `field='a[*]'`, or the first with `field='a[0]'`"
    )


# Shards

SHARDS = {
    "train-0000{}-of-00003.jsonl": lambda texts: _lines({"text": text} for text in texts),
    "train-0000{}-of-00003.jsonl.gz": lambda texts: _lines({"text": text} for text in texts),
    "train-0000{}-of-00003.txt": lambda texts: "\n".join(texts) + "\n",
    "x-0000{}-of-00003.json": lambda texts: json.dumps([{"text": text} for text in texts]),
    "part-0000{}.csv": lambda texts: "text\n" + "".join(f'"{text}"\n' for text in texts),
    "part-0000{}-1f2e-c000.ndjson": lambda texts: _lines({"text": text} for text in texts),
    "shard_{}.tsv.gz": lambda texts: "n\ttext\n" + "".join(f"0\t{text}\n" for text in texts),
    "0000{}.jsonl": lambda texts: _lines({"text": text} for text in texts),
}


def _lines(rows: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture(params=SHARDS)
def shards(request: pytest.FixtureRequest, write: Write) -> Path:
    """A folder of three shards of two texts each, with files beside them."""
    name = request.param
    for number in range(3):
        texts = [f"text {number}.{place}" for place in range(2)]
        write(f"set/{name.format(number)}", SHARDS[name](texts))
    return write("set/_SUCCESS", "").parent


ALL = [f"text {number}.{place}" for number in range(3) for place in range(2)]


def test_shards_of_texts_are_one_set(shards: Path) -> None:
    samples = read_samples(shards)
    assert list(samples) == ALL
    assert (samples.name, samples.source, samples.notes) == ("set", str(shards), ())
    assert list(read_samples(f"{shards}/*.*")) == ALL
    files = sorted(path for path in shards.iterdir() if path.name != "_SUCCESS")
    assert list(as_sample_set(files)) == ALL
    assert samples.content_hash == as_sample_set(ALL).content_hash
    (system,) = read_systems([f"m={shards}"])
    assert [list(one) for one in system.sets] == [ALL]
    (system,) = read_systems([f"m={shards}/*.*"])
    assert [list(one) for one in system.sets] == [ALL]
    assert system.sets[0].notes == ("3 files read as one set, by their names",)


def test_shards_that_are_given_one_by_one_are_no_systems(write: Write) -> None:
    paths = [write(f"set/a-{n}-of-2.jsonl", _lines([{"text": "a"}])) for n in range(2)]
    with pytest.raises(InputError, match=r"and 1 more are shards of one set by their names, not"):
        read_systems([str(path) for path in paths])


def test_commands_take_a_folder_of_shards(write: Write) -> None:
    for number in range(3):
        path = write(
            f"set/part-{number}.jsonl",
            _lines({"text": f"tale{number} {word}"} for word in ("ab", "cd")),
        )
    folder = str(path.parent)
    found = run("text", folder, "--metrics", "vocabulary_size", "--tokenizer", "whitespace")
    assert "set 6 2" in found
    arguments = ["--metrics", "precision", "--embedder", "tfidf", "--no-intervals", "--no-floor"]
    assert "signature n:6|" in run("compare", "-r", folder, f"m={folder}", *arguments)


def test_a_missing_shard_of_texts_is_named(write: Write) -> None:
    folder = write("set/a-00000-of-00002.jsonl", _lines([{"text": "a"}])).parent
    assert refusal(folder) == (
        "lacks shard 1 of 2, by the names of its files (a-00000-of-00002.jsonl, …)"
    )


def test_files_that_may_be_systems_are_not_joined(write: Write) -> None:
    for name in ("gpt.jsonl", "llama.jsonl", "seed1.jsonl"):
        write(f"set/{name}", _lines([{"text": name}]))
    folder = write("set/seed2.jsonl", _lines([{"text": "b"}])).parent
    message = refusal(folder)
    assert f"give one of its files, such as {folder}/gpt.jsonl, or as a reference the" in message
    assert list(read_samples(f"{folder}/seed*.jsonl")) == ["seed1.jsonl", "b"]
    (system,) = read_systems([f"m={folder}/seed*.jsonl"])
    assert [list(one) for one in system.sets] == [["seed1.jsonl"], ["b"]]


def test_a_bad_line_of_a_shard_is_named_with_its_file(write: Write) -> None:
    write("set/part-0.jsonl", _lines([{"text": "a"}, {"text": "b"}]))
    path = write("set/part-1.jsonl", '{"text": "c"}\n{"text": 1}\n')
    with pytest.raises(InputError) as caught:
        read_samples(path.parent)
    assert str(caught.value).startswith(f"{path}: line 2: the field 'text' must be a string")
    path.write_text('{"text": "a", "output": "x"}\n')
    (path.parent / "part-0.jsonl").write_text('{"output": "a"}\n')
    assert "several fields may be the text" in refusal(path.parent).partition(": ")[2]
    path.write_text('{"story": "x"}\n')
    assert refusal(path.parent) == (
        "the texts of part-0.jsonl stand in the field 'output', those of part-1.jsonl in 'story'; "
        "all files of a set must have the same fields"
    )
    path.write_text('{"tokens": [1]}\n')
    assert "holds texts, and part-1.jsonl token ids" in refusal(path.parent)


def test_groups_prompts_and_token_ids_of_shards_are_joined(write: Write) -> None:
    for number in range(2):
        row = {"ids": [number, 7], "prompt": f"p{number}", "g": f"g{number}"}
        write(f"set/part-{number}.jsonl", _lines([row]))
    samples = read_samples(write("set/part-2.jsonl", _lines([row])).parent, field="ids", group="g")
    assert [list(ids) for ids in samples] == [[0, 7], [1, 7], [1, 7]]
    assert list(samples.groups or ()) == ["g0", "g1", "g1"]
    assert list(samples.prompts or ()) == ["p0", "p1", "p1"]


# Quotation marks

SWALLOWING = 'id\ttext\n0\tbefore\n1\t"Once upon\n2\tbetween\n3\tand said: stop"\n4\tafter\n'


def test_a_value_that_swallows_rows_is_noted_and_quotes_can_be_switched_off(write: Write) -> None:
    path = write("a.tsv", SWALLOWING)
    samples = read_samples(path)
    assert len(samples) == 3
    assert samples.notes == (
        "the value that begins with a quotation mark in line 3 spans 3 lines, each with as many "
        "columns as the header row: if these are rows, read quotation marks as part of the texts "
        "with `quotes=False`",
    )
    plain = ["before", '"Once upon', "between", 'and said: stop"', "after"]
    assert list(read_samples(path, quotes=False)) == plain
    table = ["--metrics", "mean_length", "--tokenizer", "whitespace", "--no-intervals"]
    assert "spans 3 lines, each with as many columns" in run("text", str(path), *table)
    assert "a 5 " in run("text", str(path), "--no-quotes", *table)
    options = {"metrics": "mean_length", "tokenizer": "whitespace", "level": None}
    assert calipers.measure_texts(str(path), **options)["a"].summary.n == 3
    assert calipers.measure_texts(str(path), quotes=False, **options)["a"].summary.n == 5
    assert len(read_samples(path)) == 3  # what one function was told holds for it alone
    with pytest.raises(InputError, match=r"no closing quote; .* `quotes=False`"):
        read_samples(write("b.tsv", 'id\ttext\n0\t"Once upon\n1\tb\n'))
    lone = read_samples(tmp := write("b.tsv", 'id\ttext\n0\t"Once" upon\n1\tb\n'), quotes=False)
    assert list(lone) == ['"Once" upon', "b"]
    assert "if no value is quoted, read quotation marks as part" in refusal(tmp)


@pytest.mark.parametrize("swallowing", ["reference", "generated"])
def test_the_first_screen_of_a_comparison_says_that_a_value_swallows_rows(
    write: Write, swallowing: str
) -> None:
    sides = {
        side: [f"{side} text number {i} of many" for i in range(20)]
        for side in ("reference", "generated")
    }
    sides[swallowing][3] = '"Once upon'
    sides[swallowing][6] = 'and so said: stop"'
    paths = {
        side: str(
            write(f"{side}.tsv", "id\ttext\n" + "".join(f"{i}\t{t}\n" for i, t in enumerate(ts)))
        )
        for side, ts in sides.items()
    }
    options = {"embedder": "tfidf", "metrics": ["recall"], "floor": False, "level": None}
    given = paths["reference"], paths["generated"]
    found = calipers.compare(*given, **options)
    (caution,) = [each for each in found.verdict.cautions if each.kind == "quotes"]
    assert caution.system == ("generated" if swallowing == "generated" else "")
    assert "(`quotes=False`)" in str(found)
    plain = calipers.compare(*given, quotes=False, **options)
    assert not [each for each in plain.verdict.cautions if each.kind == "quotes"]


def test_several_swallowing_values_are_noted_together(write: Write) -> None:
    twice = SWALLOWING + SWALLOWING.partition("\n")[2]
    (note,) = read_samples(write("a.tsv", twice)).notes
    assert note.startswith("2 values that begin with a quotation mark span 6 lines (lines 3 and 8)")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.tsv", 'id\ttext\n0\t"one\nline"\n'),
        ("a.csv", 'id,text\n0,"Dear all,\n\nthanks, and\nbye"\n'),
        ("a.csv", 'id,text\n0,"Dear all,\nthanks, and bye"\n'),
        ("a.csv", 'text\n"one\ntwo\nthree\nfour\nfive"\n'),
    ],
)
def test_values_of_several_lines_are_read_without_a_note(
    write: Write, name: str, content: str
) -> None:
    samples = read_samples(write(name, content))
    assert len(samples) == 1
    assert samples.notes == ()


# Encodings, line ends and compression

CYRILLIC = "река и кошки\n"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", "sample about a river\n" * 3),
        ("a.txt", CYRILLIC * 3),
        ("a.txt", "a river"),
        ("a.csv", "text,n\na river,1\n"),
        ("a.tsv", "text\tn\na river\t1\n"),
        ("a.jsonl", '{"text": "a river"}\n'),
        ("a.jsonl", '{"text": "река"}\n' * 3),
        ("a.json", '["a river"]\n'),
        ("a.txt.gz", "a river\n"),
    ],
)
def test_utf16_without_a_byte_order_mark(
    write: Write, name: str, content: str, encoding: str
) -> None:
    width = encoding[4:6]
    message = refusal(write(name, content.encode(encoding)))
    assert message == f"it looks like UTF-{width}: save it as UTF-8"


def test_texts_with_a_nul_are_no_utf16(write: Write) -> None:
    assert list(read_samples(write("a.txt", "a\0b\nc\n"))) == ["a\0b", "c"]
    folder = write("set/a.txt", "river".encode("utf-16-le")).parent
    write("set/b.txt", "river")
    assert "it looks like UTF-16" in refusal(folder)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", "one river\rtwo, rivers\rthree\r"),
        ("a.txt", "one river\rtwo, rivers\rthree"),
        ("a.csv", 'text,n\rone river,1\r"two, rivers",2\rthree,3\r'),
        ("a.tsv", "text\tn\rone river\t1\rtwo, rivers\t2\rthree\t3\r"),
        ("a.jsonl", '"one river"\r"two, rivers"\r"three"\r'),
        ("a.txt.gz", "one river\rtwo, rivers\rthree\r"),
    ],
)
def test_lines_that_end_with_carriage_returns_alone(write: Write, name: str, content: str) -> None:
    assert list(read_samples(write(name, content))) == TEXTS


def test_carriage_returns_at_the_ends_of_what_is_read_at_once(write: Write) -> None:
    texts = ["a", "x" * (2**16 - 3), "y", "z" * (2**17 - 4), "end"]
    assert list(read_samples(write("a.txt", "\r".join(texts)))) == texts
    assert list(read_samples(write("b.txt", "\r".join(texts) + "\r\n"))) == texts
    assert refusal(write("c.csv", "text,n\na\rb,1\n")) == (
        "line 2: has a carriage return outside of quotation marks; lines must end with line feeds"
    )


def zstd(data: bytes) -> bytes:
    pa = need("pyarrow")
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


PACKED = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstd}
CONTENT = {
    ".jsonl": _lines({"text": text} for text in TEXTS),
    ".ndjson": _lines({"text": text} for text in TEXTS),
    ".csv": "text\n" + "".join(f'"{text}"\n' for text in TEXTS),
    ".json": json.dumps(TEXTS),
    ".txt": "\n".join(TEXTS),
}


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("suffix", CONTENT)
def test_compressed_files(tmp_path: Path, suffix: str, packed: str) -> None:
    path = tmp_path / f"a{suffix}{packed}"
    path.write_bytes(PACKED[packed](CONTENT[suffix].encode()))
    samples = read_samples(path)
    assert list(samples) == TEXTS
    assert samples.name == "a"
    twice = PACKED[packed](CONTENT[".txt"].encode()) + PACKED[packed](b"\nmore")
    (tmp_path / f"b.txt{packed}").write_bytes(twice)
    assert list(read_samples(tmp_path / f"b.txt{packed}")) == [*TEXTS, "more"]


@pytest.mark.parametrize("packed", PACKED)
def test_compressed_vectors_and_tables(tmp_path: Path, packed: str) -> None:
    stream = io.BytesIO()
    np.save(stream, np.eye(3, 2))
    (tmp_path / f"a.npy{packed}").write_bytes(PACKED[packed](stream.getvalue()))
    assert np.array_equal(read_samples(tmp_path / f"a.npy{packed}").vectors, np.eye(3, 2))
    (tmp_path / f"a.csv{packed}").write_bytes(PACKED[packed](b"system,x\na,1\n"))
    assert read_table(tmp_path / f"a.csv{packed}", "scores").columns == ("system", "x")


@pytest.mark.parametrize("packed", PACKED)
def test_damaged_compressed_files(
    tmp_path: Path, packed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}[packed]
    path = tmp_path / f"a.txt{packed}"
    whole = PACKED[packed](np.random.default_rng(0).bytes(9000).hex().encode())
    for data in (whole[:-9], whole[:200], b"plain text that was never compressed"):
        path.write_bytes(data)
        assert refusal(path).startswith(f"damaged {name} data: ")
    path.write_bytes(PACKED[packed](b"line\n" * 9000))
    monkeypatch.setattr("calipers.samples.source.MAX_DECOMPRESSED", 10_000)
    assert refusal(path).startswith("holds more than 10,000 bytes when decompressed")
    (tmp_path / "b.txt").write_bytes(whole)
    assert f"it looks like {name} data, whose file name must end in {packed}" in refusal(
        tmp_path / "b.txt"
    )


def test_what_a_compression_needs_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for packed, module in ((".zst", "pyarrow"), (".xz", "lzma"), (".bz2", "bz2")):
        path = tmp_path / f"a.txt{packed}"
        path.write_bytes(PACKED[packed](b"a\n"))
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, module, None)
            with pytest.raises(MissingExtraError, match=rf"a\.txt\{packed}.*"):
                read_samples(path)


# Pipes


def piped(content: str, monkeypatch: pytest.MonkeyPatch, **options: Any) -> SampleSet:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content.encode())))
    return read_samples("-", **options)


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ('id,text\n0,one river\n1,"two, rivers"\n2,three\n', None),
        ('text;n\none river;1\n"two, rivers";2\nthree;3\n', None),
        ("n\toutput\n1\tone river\n2\ttwo, rivers\n3\tthree\n", None),
        ('a,b\n0,one river\n1,"two, rivers"\n2,three\n', "b"),
        ('text\none river\n"two, rivers"\nthree\n', None),
        ('id,text\r0,one river\r1,"two, rivers"\r2,three\r', None),
    ],
)
def test_a_table_that_is_piped(
    content: str, field: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = piped(content, monkeypatch, field=field)
    assert list(samples) == TEXTS
    assert samples.notes[-1].startswith("read as a table, whose columns '")


def test_values_of_several_lines_that_are_piped(monkeypatch: pytest.MonkeyPatch) -> None:
    content = "text,prompt\n" + "".join(f'"sample {n}\nover lines, and commas",p\n' for n in "abc")
    assert len(piped(content, monkeypatch)) == 3
    with pytest.raises(InputError, match=r"'a' and 'b' .*choose one with `field`"):
        piped("a,b\n1,2\n3,4\n", monkeypatch)


@pytest.mark.parametrize(
    "content",
    [
        "Hello, world\nGoodbye, world\n",
        "text\nof a story\n",
        "one,two\nthree\n",
        "Yes, text\nNo, text\nMaybe\n",
        "The river.\n",
        "a, b and c\nd, e and f\n",
    ],
)
def test_lines_with_commas_that_are_piped_are_texts(
    content: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert list(piped(content, monkeypatch)) == content.splitlines()


# Texts and statistics that are none of what they look like

LONG = [f"{n} " + "word " * 53 for n in range(20)]
SLASHES = [f"word{n}" + "/" * 300 for n in range(20)]
NULS = [f"a{n}\0word{n}" for n in range(20)]
CHINESE = ["今天天气很好我们去公园散步" * 7 + str(n) for n in range(20)]
LIGHT: dict[str, Any] = {"metrics": "precision", "embedder": "tfidf", "floor": False, "level": None}
OF_TEXTS: dict[str, Callable[[list[str]], Any]] = {
    "measure_texts": lambda texts: calipers.measure_texts({"m": texts}, metrics="mean_length"),
    "reference of texts": lambda texts: calipers.measure_texts(
        {"m": texts}, reference=texts, metrics="mean_length"
    ),
    "train": lambda texts: calipers.measure_texts(
        {"m": ["a b c d"] * 20}, train=texts, metrics="novelty:train"
    ),
    "compare": lambda texts: calipers.compare(texts, texts, **LIGHT),
    "compare with train": lambda texts: calipers.compare(texts, {"m": texts}, train=texts, **LIGHT),
    "overlap": lambda texts: calipers.overlap({"a": texts, "b": texts}, embedder="tfidf"),
    "as_sample_set": as_sample_set,
}


@pytest.mark.parametrize("texts", [LONG, CHINESE, SLASHES, NULS])
@pytest.mark.parametrize("entrance", OF_TEXTS)
def test_a_list_of_texts_is_never_a_path(entrance: str, texts: list[str]) -> None:
    assert OF_TEXTS[entrance](texts) is not None


def test_statistics_of_a_frechet_distance_are_no_samples(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).standard_normal((20, 3))
    mu, sigma = rows.mean(axis=0), np.cov(rows, rowvar=False)
    np.savez(tmp_path / "a.npz", mu=mu, sigma=sigma)
    for field in (None, "mu", "sigma"):
        message = refusal(tmp_path / "a.npz", field=field)
        assert message.startswith("holds statistics of a Fréchet distance (FID), a mean and a cov")
    np.savez(tmp_path / "b.npz", arr_0=rows, mu=mu, sigma=sigma, mu_s=mu, sigma_s=sigma)
    assert np.array_equal(read_samples(tmp_path / "b.npz").vectors, rows)
    np.savez(tmp_path / "c.npz", mu=rows, sigma=rows)
    assert np.array_equal(read_samples(tmp_path / "c.npz", field="mu").vectors, rows)


def test_what_is_empty_holds_no_samples() -> None:
    pd, pl, pa = need("pandas"), need("polars"), need("pyarrow")
    for empty in (
        pd.DataFrame(),
        pd.DataFrame({"text": []}),
        pd.DataFrame({"x": np.zeros(0)}),
        pd.Series([], dtype=object),
        pl.DataFrame(),
        pl.DataFrame({"x": np.zeros(0)}),
        pl.LazyFrame(),
        pa.table({}),
        [],
        iter([]),
    ):
        with pytest.raises(InputError, match=r"^reference: holds no samples"):
            calipers.compare(empty, {"m": TEXTS})
