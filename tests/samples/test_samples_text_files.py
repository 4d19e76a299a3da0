"""Text formats: lines, JSON, gzip, standard input, and known logs."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.samples import SampleSet, read_samples, source
from calipers.samples.fields import PathError, extractor, parse_path, root
from extras import need

# Text files, JSON lines, JSON, gzip and standard input, and the paths of fields in them.


Write = Callable[..., Path]


def refusal(path: Path | str, **options: str) -> str:
    """Read a file that is refused, and return the message without the path before it."""
    with pytest.raises(InputError) as caught:
        read_samples(path, **options)  # type: ignore[arg-type]
    message = str(caught.value)
    assert message.startswith(f"{path}: "), message
    return message.removeprefix(f"{path}: ")


def test_text_lines(write: Write) -> None:
    samples = read_samples(write("stories.txt", "one\n\n two \r\nthree\n"))
    assert list(samples) == ["one", "", " two ", "three"]
    assert samples.name == "stories"
    assert samples.notes == ("1 of 4 texts is empty and kept (sample 2)",)


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\n\n", ["a", ""]),
        ("a\r", ["a\r"]),
        ("a\u2028b\x0cc\x85d\n", ["a\u2028b\x0cc\x85d"]),
        ("\ufeffa\n", ["a"]),
        ('{"text": "a"}\n', ['{"text": "a"}']),
    ],
)
def test_what_ends_a_line(write: Write, content: str, texts: list[str]) -> None:
    assert list(read_samples(write("a.txt", content), field="text")) == texts


def test_a_folder_of_text_files_has_a_text_for_each(write: Write) -> None:
    for name, content in {
        "set/b.txt": "two\nlines\n\n",
        "set/a.txt": "\ufeffone\r\n",
        "set/c.TXT.gz": "three",
        "set/10.txt": "",
        "set/.hidden.txt": "no",
        "set/about.md": "no",
        "set/sub/d.txt": "no",
    }.items():
        path = write(name, content).parent
    samples = read_samples(path.parent, field="text")
    assert (samples.name, list(samples)) == ("set", ["", "one", "two\nlines\n", "three"])
    assert samples.notes == (
        "1 sub-folder of the folder left out ('sub')",
        "1 file of other suffixes than .txt left out ('about.md')",
        "1 of 4 texts is empty and kept (sample 1)",
    )


def test_folders_of_texts_that_are_no_set(write: Write) -> None:
    one = write("one/a.txt", "a\nb\n")
    assert refusal(one.parent) == (
        "holds a single text file, and a folder gives one text for each of its .txt files; for a "
        f"text for each line of it give {one}"
    )
    bad = write("bad/a.txt", "a")
    write("bad/b.txt", b"x\n\xff")
    with pytest.raises(InputError, match=r"^\S*b\.txt: line 2: not valid UTF-8"):
        read_samples(bad.parent)
    write("void/a.txt", "")
    assert refusal(write("void/b.txt", " ").parent) == "all 2 texts are empty"
    assert refusal(bad.parent.parent / "one", group="topic").startswith("holds a single")


def test_a_folder_of_images_and_texts(write: Write) -> None:
    image = need("PIL.Image").new("RGB", (4, 4))
    folder = write("mixed/readme.txt", "about").parent
    for name in ("a.png", "b.png"):
        image.save(folder / name)
    assert read_samples(folder).kind == "images"  # one text is about the images
    write("mixed/a.txt", "a picture")
    assert refusal(folder) == (
        "holds 2 image files and 2 text files ('a.txt' and 'readme.txt'), but a set holds one kind "
        "of samples; give each kind a folder of its own, or the images as a generated system by "
        f"the pattern NAME='{folder}/*.png'"
    )


def test_suffixes_in_capitals_and_dots_in_names(write: Write) -> None:
    assert read_samples(write("gpt-4.1.TXT.GZ", gzip.compress(b"a\n"))).name == "gpt-4.1"
    assert read_samples(write("a.txt", "a\n"), name="mine").name == "mine"


def test_jsonl(write: Write) -> None:
    path = write("a.jsonl.gz", '{"id": 1, "text": "a"}\n\n  \n{"text": "b\\n", "x": {}}')
    samples = read_samples(path)
    assert list(samples) == ["a", "b\n"]
    assert (samples.name, samples.source, samples.notes) == ("a", str(path), ())
    assert samples.prompts is None
    assert samples.groups is None


def test_jsonl_of_strings(write: Write) -> None:
    assert list(read_samples(write("a.jsonl", '"a"\n"b\\u00e9"\n'))) == ["a", "bé"]


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.json", "a.csv", "a.txt.gz"])
def test_invalid_utf8_names_the_line(write: Write, name: str) -> None:
    path = write(name, b'"text"\n"a\xc3\xa9\xff"\n')
    assert refusal(path) == "line 2: not valid UTF-8 (byte 5 of the line is 0xff)"


def test_foreign_encodings_are_guessed(write: Write) -> None:
    assert "looks like UTF-16" in refusal(write("a.txt", "héllo".encode("utf-16")))
    assert "looks like gzip data" in refusal(write("b.txt", gzip.compress(b"a\n")))


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.csv"])
def test_byte_order_mark_is_accepted(write: Write, name: str) -> None:
    content = {"a.jsonl": '{"text": "x"}', "a.json": '["x"]', "a.csv": "text\nx\n"}[name]
    assert list(read_samples(write(name, "\ufeff" + content))) == ["x"]


@pytest.mark.parametrize(
    ("header", "row", "options"),
    [
        ("id,text,score", '1,"a, b; c|d",0.5', {}),
        ("id;text;score", '1;"a, b; c|d";0,5', {}),
        ("id\ttext\tscore", "1\ta, b; c|d\t0,5", {}),
        ("id|text|score", '1|"a, b; c|d"|0,5', {}),
        ("id; Text ;score", '1;"a, b; c|d";0,5', {}),
        ('"id, or number";text', '1;"a, b; c|d"', {}),
        ('id,"text; or not|b",output', '1,x,"a, b; c|d"', {}),
        ("id;what it says, in short", '1;"a, b; c|d"', {"field": "what it says, in short"}),
        ("foo,b;bar,c", '1,"a, b; c|d",2', {"field": "b;bar"}),
        ("text", '"a, b; c|d"', {}),
        ("a;b", '"a, b; c|d"', {"field": "a;b"}),
        ("\ufeff\n\nid;text", '1;"a, b; c|d"', {}),
        ("sep=;\nid;text", '1;"a, b; c|d"', {}),
        ("sep=\t\nid\ttext", "1\ta, b; c|d", {}),
    ],
)
def test_the_header_tells_what_separates_columns(
    write: Write, header: str, row: str, options: dict[str, str]
) -> None:
    for end in ("\n", "\r\n"):
        path = write("a.csv", f"{header}\n{row}\n{row}\n".replace("\n", end))
        assert list(read_samples(path, **options)) == ["a, b; c|d"] * 2  # type: ignore[arg-type]


def test_rows_of_a_csv_are_numbered_from_its_first_line(write: Write) -> None:
    content = "sep=;\n\ntext;n\na;1\nb\n"
    assert refusal(write("a.csv", content)).startswith("line 5: has 1 value, but the header row na")
    assert refusal(write("b.csv", "\ntext;n\nb\n")).startswith("line 3: has 1 value")


@pytest.mark.parametrize(
    "key", ["generation", "generated_text", "Completion", "RESPONSE", "sentence"]
)
def test_usual_names(write_rows: Write, key: str) -> None:
    rows = [{"id": 1, "meta": {"text": "no"}, key: "a"}]
    assert list(read_samples(write_rows("a.jsonl", rows))) == ["a"]


def test_usual_names_that_hold_no_string_do_not_compete(write_rows: Write) -> None:
    path = write_rows("a.jsonl", [{"content": [1], "output": "a"}, {"content": "b", "output": "c"}])
    assert list(read_samples(path)) == ["a", "c"]
    path = write_rows("b.jsonl", [{"text": None, "output": "a"}, {"text": "b", "output": "c"}])
    assert "several fields may be the text" in refusal(path)


def test_the_field_that_was_found_is_known(write: Write, write_rows: Write) -> None:
    rows = [{"id": "1", "story": "x", "n": 1}, {"id": "2", "story": "y", "n": 2}]
    tables = [write_rows("a.jsonl", rows), write("a.csv", "id,story,prompt\n1,x,p\n2,y,q\n")]
    for path in tables:
        found = read_samples(path)
        assert (found.field, found.other_fields) == ("story", ("id",))
        named = read_samples(path, field="story")
        assert (named.field, named.other_fields) == ("story", None)
    assert read_samples(write("a.txt", "x\ny\n"), field="story").field is None


def test_fields_by_path(write_rows: Write) -> None:
    rows = [{"a": {"b": ["x", "y"]}, "n": 1}, {"a": {"b": []}, "n": 2}, {"a": {"b": ["z"]}, "n": 3}]
    path = write_rows("a.jsonl", rows)
    samples = read_samples(path, field="a.b[*]", group="n")
    assert list(samples) == ["x", "y", "z"]
    assert samples.groups.tolist() == ["1", "1", "3"]
    assert samples.notes == ("1 row had no item at 'a.b[*]' and gave no sample (line 2)",)
    assert refusal(path, field="a.b[0]").startswith("line 2: the field 'a.b[0]' breaks at 'a.b'")
    assert refusal(path, field="a").startswith("line 1: the field 'a' must be a string")
    assert refusal(path, field="a.b[*]", group="m") == (
        "no line has a group 'm' (line 1: there is no field 'm'; the fields are 'a' and 'n'); "
        "name a field that every row has"
    )
    assert "the group 'a' must be one string" in refusal(path, field="a.b[*]", group="a")


@pytest.mark.parametrize("key", ["", "a.", "[x", "Text (EN)...", "a..b"])
def test_any_name_of_a_field_is_found(write_rows: Write, key: str) -> None:
    assert list(read_samples(write_rows("a.jsonl", [{key: "x"}]))) == ["x"]
    path = write_rows("b.jsonl", [{key: "x", "n": 1}])
    assert list(read_samples(path, field=key)) == ["x"]
    with pytest.raises(InputError, match="is not valid from character"):
        read_samples(path, field=key + "..")


def test_rows_that_are_lists_need_a_path(write_rows: Write) -> None:
    path = write_rows("a.jsonl", [["p", "a"], ["q", "b"]])
    assert list(read_samples(path, field="[1]")) == ["a", "b"]


def test_prompts_are_kept_when_every_row_has_one(write_rows: Write) -> None:
    rows: list[dict[str, Any]] = [{"prompt": "p", "text": "a"}, {"prompt": "", "text": "b"}]
    samples = read_samples(write_rows("a.jsonl", rows))
    assert samples.prompts.tolist() == ["p", ""]
    assert list(read_samples(write_rows("a.jsonl", rows[:1]), field="prompt")) == ["p"]
    some = read_samples(write_rows("b.jsonl", [*rows, {"text": "c"}]))
    assert some.prompts is None
    assert some.notes == ("prompts were left out: 1 of 3 samples have none",)
    objects = [{"prompt": [{"role": "user"}], "text": "a"}]
    assert read_samples(write_rows("c.jsonl", objects)).notes == ()


@pytest.mark.parametrize(
    ("value", "field", "texts"),
    [
        (["a", "b"], None, ["a", "b"]),
        ([{"text": "a", "n": 1}], None, ["a"]),
        ([{"x": {"y": "a"}}], "x.y", ["a"]),
        ({"model": "m", "data": ["a"], "scores": [1, 2]}, None, ["a"]),
        ({"rows": [{"output": "a", "n": 0}]}, None, ["a"]),
        ({"rows": [{"x": {"y": "a"}}]}, "x.y", ["a"]),
        ({"rows": [{"x": {"y": "a"}}]}, "rows[*].x.y", ["a"]),
        ({"human": ["a"], "model": ["b", "c"]}, "model", ["b", "c"]),
        ({"h": [{"text": "a"}], "m": [{"text": "b"}]}, "m", ["b"]),
        ({"h": [{"t": "a"}], "m": [{"t": "b", "u": "c"}]}, "m[*].u", ["c"]),
        ({"a.b": ["x"], "c": ["y"]}, "a.b", ["x"]),
    ],
)
def test_json(write: Write, value: Any, field: str | None, texts: list[str]) -> None:
    assert list(read_samples(write("a.json", json.dumps(value)), field=field)) == texts


def test_a_gzip_bomb_is_not_read_to_its_end(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MAX_DECOMPRESSED", 10_000)
    content = '{"text": "a"}\n' * 500
    assert len(read_samples(write("a.jsonl.gz", content))) == 500
    for name in ("b.jsonl.gz", "b.txt.gz", "b.json.gz", "b.csv.gz", "b.parquet.gz", "b.npy.gz"):
        message = refusal(write(name, content * 100))
        assert message.startswith("holds more than 10,000 bytes when decompressed")


def test_damaged_gzip(write: Write, tmp_path: Path) -> None:
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"line\n" * 1000)[:-9])
    assert refusal(tmp_path / "a.txt.gz").startswith("damaged gzip data: Compressed file ended")
    (tmp_path / "b.txt.gz").write_bytes(b"plain")
    assert refusal(tmp_path / "b.txt.gz").startswith("damaged gzip data: Not a gzipped file")
    assert refusal(write("c.txt.gz", b"")) == "holds no samples"


def test_files_that_cannot_be_opened(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    path = write("a.txt", "a")
    monkeypatch.setattr(Path, "open", refuse)
    assert refusal(path) == "cannot be read: Permission denied"


def test_missing_and_unknown_files(write: Write, tmp_path: Path) -> None:
    assert refusal(tmp_path / "no.jsonl") == "there is no such file"
    assert refusal(write("a.docx", "x")).startswith(
        "a file with suffix '.docx' cannot be read; possible"
    )
    assert ".safetensors, each also with .gz" in refusal(write("a.docx", "x"))
    assert refusal(write("data", "x")).startswith("a file with no suffix cannot be read")
    assert refusal(write("data.gz", "x")).startswith("a file with no suffix before .gz")
    with pytest.raises(InputError, match="…: there is no such file"):
        read_samples("a text that was taken for a path " * 200)


def from_stdin(content: str | bytes, monkeypatch: pytest.MonkeyPatch, **options: str) -> SampleSet:
    data = content.encode() if isinstance(content, str) else content
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    return read_samples("-", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        ('{"text": "a"}\n{"text": "b"}\n', ["a", "b"]),
        ('\n{"text": "a"}\n', ["a"]),
        ('\ufeff{"text": "a"}\n', ["a"]),
        ('"a"\n"b"\n', ["a", "b"]),
        ('"He said.\n"b"\n', ['"He said.', '"b"']),
        ('"a"\nplain\n', ['"a"', "plain"]),
        ("a\n\nb\n", ["a", "", "b"]),
        ('["a",\n "b"]\n', ["a", "b"]),
        ("[laughs] hello\n", ["[laughs] hello"]),
        ("{curly} start\n", ["{curly} start"]),
        ('{"data": [\n{"text": "a"}]}\n', ["a"]),
        ("3\n4\n", ["3", "4"]),
    ],
)
def test_standard_input(content: str, texts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    samples = from_stdin(content, monkeypatch)
    assert list(samples) == texts
    assert (samples.name, samples.source) == ("stdin", "standard input")


def test_standard_input_options_and_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(from_stdin('{"a": {"b": "x"}, "n": 1}', monkeypatch, field="a.b")) == ["x"]
    for content, message in [
        ("", "standard input: is empty"),
        ('{"text": "a"\n', "standard input: line 1: broken JSON"),
        ('{"text": "a"}\n{"text"\n', "standard input: line 2: broken JSON"),
        (b"a\n\xff\n", "standard input: line 2: not valid UTF-8"),
    ]:
        with pytest.raises(InputError, match=message):
            from_stdin(content, monkeypatch)


ROW: dict[str, Any] = {
    "text": "t",
    "a": {"b": ["x", "y"], "c": {"d": "z"}},
    "choices": [{"message": {"content": "one"}}, {"message": {"content": "two"}}],
    "dotted.name": "kept",
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("text", ["t"]),
        ("a.b[0]", ["x"]),
        ("a.b[-1]", ["y"]),
        ("a.c.d", ["z"]),
        ("a.b", [["x", "y"]]),
        ("a.b[*]", ["x", "y"]),
        ("choices[*].message.content", ["one", "two"]),
        ("choices[1].message.content", ["two"]),
        ("dotted.name", ["kept"]),
    ],
)
def test_finds(path: str, found: list[Any]) -> None:
    assert extractor(path)(ROW) == found


def test_paths_may_start_in_a_list() -> None:
    assert extractor("[0]")(["a", "b"]) == ["a"]
    assert extractor("[*][0]")([["a"], ["b"]]) == ["a", "b"]
    assert extractor("[*]")([]) == []
    assert root("[0].a") is None
    assert root("a.b[0]") == "a"


@pytest.mark.parametrize("path", ["", ".", "a.", "a..b", ".a", "a[", "a[x]", "a[1", "a]b", "a[0]b"])
def test_refuses_what_is_no_path(path: str) -> None:
    with pytest.raises(InputError, match="is not valid from character"):
        parse_path(path)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("txt", r"'txt' \(did you mean 'text'\?\); .*'text', 'a', 'choices' and 'dotted.name'"),
        ("a.x", "'a.x' breaks at 'a': .*'x'; .*'b' and 'c'"),
        ("a.b[2]", r"'a\.b': .*\[2\] .*2 items"),
        ("a.c[0]", r"'a\.c': .*list.*'d'"),
        ("a.c.d.e", r"'a\.c\.d': .*'z' .*'e'"),
        ("choices[*].text", r"'choices\[\*\]': .*'text'; .*'message'"),
        ("text[*]", "'text': .*list.* 't'"),
    ],
)
def test_says_where_a_path_breaks(path: str, message: str) -> None:
    with pytest.raises(PathError, match=message):
        extractor(path)(ROW)


def test_long_lists_of_fields_are_cut() -> None:
    row = {f"{'long' * 30}{i}": 1 for i in range(40)}
    with pytest.raises(PathError) as caught:
        extractor("x")(row)
    assert "and 28 more" in str(caught.value)
    assert len(str(caught.value)) < 700


KEY = st.text(st.characters(exclude_characters=".[]", exclude_categories=["Cs"]), min_size=1)


@given(st.lists(KEY | st.integers(0, 3), min_size=1, max_size=5))
def test_reads_back_any_path(steps: list[str | int]) -> None:
    value: Any = "here"
    for step in reversed(steps):
        value = {step: value} if isinstance(step, str) else [None] * step + [value]
    path = "".join(f".{s}" if isinstance(s, str) else f"[{s}]" for s in steps).removeprefix(".")
    assert parse_path(path) == tuple(steps)
    assert extractor(path)(value) == ["here"]


# Known logs: lm-evaluation-harness and OpenAI's batch output.


def logged(doc: int, resps: Any, name: str | None = "none", **more: Any) -> dict[str, Any]:
    """One row as the harness logs it (0.4 and later)."""
    row = {
        "doc_id": doc,
        "doc": {"question": f"q{doc}"},
        "target": "42",
        "arguments": {"gen_args_0": {"arg_0": f"Q: q{doc}", "arg_1": {"until": ["\n"]}}},
        "resps": resps,
        "filtered_resps": ["42"],
        "filter": name,
        "doc_hash": f"h{doc}",
        "exact_match": 1.0,
    }
    row.update(more)
    return {key: value for key, value in row.items() if value is not None}


def test_harness_keeps_each_document_once(write_rows: Write) -> None:
    rows = [
        logged(doc, [[f"answer {doc}"]], name)
        for name in ("strict-match", "flexible-extract")
        for doc in range(3)
    ]
    samples = read_samples(write_rows("samples_gsm8k_2026.jsonl", rows), group="doc_id")
    assert list(samples) == ["answer 0", "answer 1", "answer 2"]
    assert samples.prompts.tolist() == ["Q: q0", "Q: q1", "Q: q2"]
    assert samples.groups.tolist() == ["0", "1", "2"]
    assert samples.notes == ("3 rows left out: the same responses under another filter",)


def test_harness_filters_may_follow_each_document(write_rows: Write) -> None:
    rows = [logged(doc, [["same"]], name) for doc in range(2) for name in "ab"]
    assert list(read_samples(write_rows("a.jsonl", rows))) == ["same", "same"]


def test_harness_repeats_and_requests_are_samples(write_rows: Write) -> None:
    rows = [logged(0, [["a", "b"], ["c"]]), logged(1, [["d", "d"]])]
    samples = read_samples(write_rows("a.jsonl.gz", rows))
    assert list(samples) == ["a", "b", "c", "d", "d"]
    assert samples.notes == ("prompts were left out: 1 of 5 samples have none",)


def test_harness_logs_that_name_no_filter(write_rows: Write) -> None:
    rows = [logged(doc, [["a"]], None, arguments=[["Q", {}]]) for _ in range(2) for doc in range(2)]
    samples = read_samples(write_rows("a.jsonl", rows))
    assert list(samples) == ["a", "a"]
    assert samples.prompts.tolist() == ["Q", "Q"]


def test_harness_runs_that_were_joined_stay_apart(write_rows: Write) -> None:
    run = [logged(doc, [["greedy"]], name) for name in ("x", "y") for doc in range(2)]
    assert len(read_samples(write_rows("a.jsonl", run + run))) == 4
    other = [logged(doc, [["sampled"]], name) for name in ("x", "y") for doc in range(2)]
    samples = read_samples(write_rows("b.jsonl", run + other))
    assert list(samples) == ["greedy"] * 2 + ["sampled"] * 2


def test_harness_chat_prompts(write_rows: Write) -> None:
    chat = {"gen_args_0": {"arg_0": ['[{"role": "user"}]'], "arg_1": {}}}
    samples = read_samples(write_rows("a.jsonl", [logged(0, [["a"]], arguments=chat)]))
    assert samples.prompts.tolist() == ['[{"role": "user"}]']


def test_harness_rows_without_responses_are_noted(write_rows: Write) -> None:
    samples = read_samples(write_rows("a.jsonl", [logged(0, [["a"]]), logged(1, [[]])]))
    assert samples.notes == ("1 row had no response and gave no sample (line 2)",)


@pytest.mark.parametrize(
    ("resps", "arguments"),
    [
        ([[["-25.625", "False"]], [["-23.5", "True"]]], {"arg_0": "Q", "arg_1": " A"}),
        ([[[-25.625, False]], [[-23.5, True]]], {"arg_0": "Q", "arg_1": " A"}),
        ([["-1234.5"]], {"arg_0": "a whole text"}),
        ([[-1234.5]], {"arg_0": "a whole text"}),
    ],
)
def test_harness_log_probabilities_are_no_texts(
    write_rows: Write, resps: Any, arguments: dict[str, str]
) -> None:
    path = write_rows("a.jsonl", [logged(0, resps, arguments={"gen_args_0": arguments})])
    with pytest.raises(InputError, match=r"line 1: 'resps' .*log-probabilities"):
        read_samples(path)


def test_harness_answers_may_be_numbers(write_rows: Write) -> None:
    assert list(read_samples(write_rows("a.jsonl", [logged(0, [["-42"]])]))) == ["-42"]
    short = [logged(0, [[text]], arguments={"gen_args_0": {"arg_0": "Q"}}) for text in ("- a", "4")]
    assert list(read_samples(write_rows("b.jsonl", short))) == ["- a", "4"]
    none = [logged(0, [["-42"]], arguments=None)]
    assert list(read_samples(write_rows("c.jsonl", none))) == ["-42"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"doc_id": 1, "text": "x"}, "line 2: .*'resps'.*'doc_id' and 'text'"),
        ("x", "line 2: has no list 'resps'"),
        (logged(1, [[None]]), "line 2: 'resps' .*one is a list"),
        (logged(1, [3]), "line 2: 'resps' .*one is the int 3"),
    ],
)
def test_wrong_harness_rows(write_rows: Write, row: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_samples(write_rows("a.jsonl", [logged(0, [["a"]]), row]))


def test_a_field_goes_before_the_log(write_rows: Write) -> None:
    rows = [logged(0, [["a"]], name) for name in "xy"]
    samples = read_samples(write_rows("a.jsonl", rows), field="filtered_resps[0]")
    assert list(samples) == ["42", "42"]


def test_harness_logs_in_parquet(tmp_path: Path) -> None:
    rows = [logged(doc, [["a", "b"]], name) for name in "xy" for doc in range(2)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    samples = read_samples(tmp_path / "a.parquet")
    assert list(samples) == ["a", "b"] * 2
    assert samples.notes[0].startswith("2 rows left out")


def answered(number: int, *texts: str | None, **more: Any) -> dict[str, Any]:
    """One row of a batch output file."""
    choices = [
        {"index": i, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        for i, text in enumerate(texts)
    ]
    row = {
        "id": f"batch_req_{number}",
        "custom_id": f"request-{number}",
        "response": {"status_code": 200, "request_id": "r", "body": {"choices": choices}},
        "error": None,
    }
    return {**row, **more}


EXPIRED = {
    "response": None,
    "error": {"code": "batch_expired", "message": "This request could not be executed."},
}
BUSY = {"response": {"status_code": 429, "body": {"error": {"message": "Rate limit"}}}}


def test_batch_choices_are_samples(write_rows: Write) -> None:
    path = write_rows("out.jsonl", [answered(1, "a", "b"), answered(2, "c")])
    samples = read_samples(path, group="custom_id")
    assert list(samples) == ["a", "b", "c"]
    assert samples.groups.tolist() == ["request-1", "request-1", "request-2"]
    assert samples.notes == ()


def test_batch_errors_are_left_out_and_noted(write_rows: Write) -> None:
    rows = [answered(1, **EXPIRED), answered(2, "a"), answered(3, **BUSY), answered(4, "b", None)]
    samples = read_samples(write_rows("out.jsonl", rows))
    assert list(samples) == ["a", "b"]
    assert samples.notes == (
        "2 rows with an error left out (lines 1 and 3: This request could not be executed.); "
        "1 answer without text left out (line 4)",
    )


def test_batch_of_errors_only(write_rows: Write) -> None:
    with pytest.raises(InputError, match="line 1: status 429, Rate limit"):
        read_samples(write_rows("out.jsonl", [answered(1, **BUSY)]))
    with pytest.raises(InputError, match=r"no row .*1 answer"):
        read_samples(write_rows("out.jsonl", [answered(1, None)]))
    with pytest.raises(InputError, match=r"\(line 1: no response\)"):
        read_samples(write_rows("out.jsonl", [answered(1, response=None)]))
    with pytest.raises(InputError, match="their answers are empty lists"):
        read_samples(write_rows("out.jsonl", [answered(1)]))


def test_batch_of_other_endpoints(write_rows: Write) -> None:
    plain = answered(1, response={"status_code": 200, "body": {"choices": [{"text": "a"}]}})
    output = [
        {"type": "reasoning", "summary": []},
        {"type": "message", "content": [{"type": "output_text", "text": "b"}, {"type": "refusal"}]},
    ]
    later = answered(2, response={"status_code": 200, "body": {"output": output}})
    assert list(read_samples(write_rows("out.jsonl", [plain, later]))) == ["a", "b"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"text": "a"}, "line 2: .*'response'.* 'text'"),
        (
            answered(2, response={"status_code": 200, "body": {"data": [], "model": "e"}}),
            "line 2: .*choices; .*'data' and 'model'",
        ),
        (answered(2, [{"type": "text"}]), "line 2: an answer .*string.*list"),  # type: ignore[arg-type]
    ],
)
def test_wrong_batch_rows(write_rows: Write, row: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_samples(write_rows("out.jsonl", [answered(1, "a"), row]))


def test_a_response_that_is_a_string_is_a_field(write_rows: Write) -> None:
    path = write_rows("a.jsonl", [{"custom_id": "x", "response": "a"}])
    assert list(read_samples(path)) == ["a"]
