"""``calipers text`` from files to the screen, what it refuses, and the pages of its metrics."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.cells import cell_len

from calipers.catalogue.texts import TEXT_FAMILIES, TEXT_METRICS
from calipers.cli.options import complete_text_metrics
from calipers.commands.metrics.cli import _completed
from calipers.commands.text.options import TextOptions
from calipers.options.option import options_of
from calipers.text.tokenizers import NAMES
from extras import need

HUMAN = [f"the {a} saw a {b} near the {c}" for a in ("cat", "dog", "fox", "old man")
         for b in ("bird", "fish") for c in ("mill", "lake", "hill")]  # fmt: skip
MODEL = ["it was a good day and then it was a good day", "it was so"] * 12


@pytest.fixture
def files(calipers):
    """Files in the working folder, one of them the seeds of a system."""
    for name, texts in (("human", HUMAN), ("a", MODEL), ("b-0", HUMAN[:20]), ("b-1", MODEL[:20])):
        Path(f"{name}.jsonl").write_text(
            "".join(json.dumps({"text": text}) + "\n" for text in texts), "utf-8"
        )
    return ("--tokenizer", "whitespace", "--threads", "1")


def data_of(result):
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_the_table(calipers, files):
    result = calipers("text", "a.jsonl", "b=b-*.jsonl", "--reference", "human.jsonl", *files)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Reference: human, n = 20/24 · tokenizer whitespace · seed 0")
    for words in ("Self-BLEU-4", "Distinct-2", "Novelty-4 ", "gap", "b: mean over 2 seed files"):
        assert words in result.stdout
    assert "\x1b" not in result.stdout


def test_the_field_that_was_found_is_named_unless_it_is_plainly_the_text(calipers, files):
    for name in ("one", "two"):
        rows = [{"id": str(i), "completion": text} for i, text in enumerate(HUMAN)]
        Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    job = ("text", "one.jsonl", "two.jsonl", "a.jsonl", "--metrics", "distinct:n=2", *files)
    said = "read from the field 'completion'; other fields: 'id' (--field names another)"
    told = calipers(*job)
    assert told.stderr.startswith(f"one.jsonl, two.jsonl: {said}\n")
    assert "a.jsonl" not in told.stderr
    assert "read from" not in calipers(*job, "--quiet").stderr
    assert "read from" not in calipers(*job[:1], "one.jsonl", "--field", "id", *files).stderr
    found = data_of(calipers(*job, "--json", "-"))
    assert [each["field"] for each in found["systems"]] == ["completion", "completion", "text"]


def test_json_to_a_file_and_alone_on_standard_output(calipers, files):
    job = ("text", "a.jsonl", "-r", "human.jsonl", "--metrics", "distinct:n=2,rep_n", *files)
    assert "Distinct-2" in calipers(*job, "--json", "out.json").stdout
    alone = calipers(*job, "--json", "-")
    data = data_of(alone)
    assert data == json.loads(Path("out.json").read_text())
    score = data["systems"][0]["scores"]["distinct:n=2"]
    assert score["gap"] == abs(score["value"] - score["reference"])
    assert "per_sample" not in score
    assert "warning: a: 24 texts are few" in alone.stderr
    assert calipers(*job, "--json", "-", "--quiet").stderr == ""
    rows = data_of(calipers(*job, "--json", "-", "--per-sample"))["systems"][0]["scores"]["rep_n"]
    assert len(rows["per_sample"]) == 24
    assert rows["per_sample"][1] is None


def test_options_reach_the_library(calipers, files):
    options = ("--seed", "3", "--max-samples", "10", "--metrics", "distinct", "--json", "-")
    chosen = data_of(calipers("text", "a.jsonl", *files, *options))["settings"]
    expected = {"tokenizer": "whitespace", "seed": 3, "max_samples": 10, "metrics": ["distinct"]}
    assert expected.items() <= chosen.items()
    kept = calipers("text", "a.jsonl", "b-0.jsonl", "--keep-sizes", "--json", "-", *files)
    assert [system["n"] for system in data_of(kept)["systems"]] == [24, 20]


@pytest.mark.slow
def test_the_training_set(calipers, files):
    job = ("text", "a.jsonl", "-r", "human.jsonl", "--train", "b-1.jsonl", *files)
    data = data_of(calipers(*job, "--metrics", "copies", "--json", "-"))
    assert data["systems"][0]["scores"]["novelty:train"]["value"] == 0
    assert data["systems"][0]["scores"]["novelty:train"]["reference"] == 1
    assert data["train"]["n"] == 20
    assert "Novelty-4 to training" in calipers(*job).stdout


def test_rows_beside_their_references(calipers, files):
    need("sacrebleu")
    job = ("text", "a.jsonl", "-r", "a.jsonl", "--aligned", "--metrics", "bleu", *files)
    assert data_of(calipers(*job, "--json", "-"))["systems"][0]["scores"]["bleu"][
        "value"
    ] == pytest.approx(100)


def test_a_missing_package_of_one_among_many_is_a_note(calipers, files, monkeypatch):
    monkeypatch.setitem(sys.modules, "datasketch", None)
    table = calipers("text", "a.jsonl", "--metrics", "copies", *files)
    assert table.exit_code == 0, table.output
    assert "a, Near duplicates-5: " in table.stdout.replace("\n      ", " ")
    assert "pip install 'calipers[duplicates]'" in table.stdout.replace("\n      ", " ")
    named = calipers("text", "a.jsonl", "--metrics", "near_duplicates", *files)
    assert named.exit_code == 2
    assert "pip install 'calipers[duplicates]'" in named.stderr


def test_the_numbers_are_the_same_with_and_without_nltk(calipers, files, monkeypatch):
    tables = [calipers("text", "a.jsonl", "--json", "-")]
    for module in ("nltk", "nltk.tokenize", "regex"):
        monkeypatch.setitem(sys.modules, module, None)
    tables.append(calipers("text", "a.jsonl", "--json", "-"))
    assert [table.exit_code for table in tables] == [0, 0]
    assert tables[0].stdout == tables[1].stdout


def test_a_tokenizer_that_is_missing_is_named_with_the_way_around(calipers, files, monkeypatch):
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    result = calipers("text", "a.jsonl", "--tokenizer", "intl")
    assert result.exit_code == 2
    assert "pip install 'calipers[bleu]'" in result.stderr
    assert "the default tokenizer, auto, needs no further package" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no.jsonl"], "no.jsonl: there is no such file"),
        (["a.jsonl", "-r", "no.jsonl"], "no.jsonl: there is no such file"),
        (["a.jsonl", "--metrics", "slef_bleu"], "unknown text metric 'slef_bleu'; did you mean"),
        (["a.jsonl", "--metrics", ","], "--metrics must name at least one metric; found ','"),
        (["a.jsonl", "--metrics", "novelty"], "'novelty' needs a reference (--reference"),
        (["a.jsonl", "--metrics", "precision"], "unknown text metric 'precision'"),
        (["a.jsonl", "--metrics", "self_bleu:sample=25"], "sample must be at most 24, since the"),
        (["a.jsonl", "--tokenizer", "whitspace"], "did you mean 'whitespace'"),
        (["a.jsonl", "--tokenizer", "NLTK"], "unknown tokenizer 'NLTK'; did you mean 'nltk'?"),
        (["a.jsonl", "--tokenizer", "hf:"], "give a name or folder after hf:"),
        (["a.jsonl", "--aligned"], "--aligned compares text i with row i of the reference"),
        (["a.jsonl", "-r", "b-0.jsonl", "--aligned"], "a.jsonl: has 24 texts and the reference"),
        (["a.jsonl", "-r", "human.jsonl", "--metrics", "bleu"], "a reference for each row"),
        (["a.jsonl", "--per-sample"], "--per-sample needs --json FILE or --table FILE"),
        (["a.jsonl", "--json", "a.jsonl"], "--json would overwrite an input"),
        (["a.jsonl", "--seed", "x"], "--seed must be a whole number of at least 0; found 'x'"),
        (["a.jsonl", "--max-samples", "1"], "--max-samples must be a whole number of at least 2"),
        (["-", "-r", "-"], "standard input (-) can be read only once"),
        (["rows.npy"], "rows.npy: text metrics need texts, but it holds embeddings"),
        (["blank.txt"], "blank.txt: all 3 texts are empty"),
        (["a.jsonl", "a=b-0.jsonl"], "have the name 'a'"),
    ],
)
def test_bad_input_is_one_sentence(calipers, files, arguments, message):
    np.save("rows.npy", np.ones((4, 2)))
    Path("blank.txt").write_text(" \n\t\n \n")
    result = calipers("text", *(files if "--tokenizer" not in arguments else ()), *arguments)
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_the_help_names_every_family_and_gives_examples(calipers):
    page = calipers("text", "--help-all").stdout
    for family in TEXT_FAMILIES:
        assert f"\n  {family} " in page
    assert "calipers text model.jsonl --reference human.jsonl" in page
    assert max(map(len, page.splitlines())) <= 80


def test_completion():
    assert complete_text_metrics("self_") == ["self_bleu", "self_repetition"]
    assert complete_text_metrics("distinct,nov") == ["distinct,novelty"]
    assert {"mauve", "novelty", "copies"} <= {*_completed("")}
    known = {*TEXT_METRICS, *TEXT_FAMILIES}
    assert {*complete_text_metrics("")} == known | {"all"}
    tokenizer = next(about for each, about in options_of(TextOptions) if each.name == "tokenizer")
    assert {*tokenizer.complete} - {"hf:"} <= {*NAMES}


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_metrics_lists_those_of_texts(calipers, monkeypatch, columns):
    size = os.terminal_size((columns, 24))
    monkeypatch.setattr("shutil.get_terminal_size", lambda *_, **__: size)
    for arguments in (("metrics", "text"), ("metrics",)):
        lines = calipers(*arguments).stdout.splitlines()
        assert max(map(cell_len, lines)) <= columns
        for name in TEXT_METRICS:
            found = [line for line in lines if line[2:].split(" ")[0] in (name, f"text.{name}")]
            assert found, name
    assert "\n• precision" not in calipers("metrics", "text").stdout


def test_the_page_of_a_text_metric(calipers):
    written = calipers("metrics", "self_bleu").stdout
    page = " ".join(written.split())
    for words in (
        "in tables: Self-BLEU-4",
        "0 to 1; closest to the reference's own value is best",
        "calipers text --metrics self_bleu",
        "n=NUMBER (default 4)",
        "all (default), pairwise",
        "Zhu et al. (Texygen), SIGIR 2018",
        "Not detected",
    ):
        assert words in page, words
    assert calipers("metrics", "text.self_bleu").stdout == written
    bleu = " ".join(calipers("metrics", "bleu").stdout.split())
    assert "pip install 'calipers[bleu]'" in bleu
    assert (
        "Options n=NUMBER (default 4) - tokens of an n-gram auto (default), 13a, intl, zh" in bleu
    )
    assert calipers("metrics", "vendi").stdout.rstrip().endswith("  Of texts      text.vendi")
    assert "Of texts" not in calipers("metrics", "text.vendi").stdout
    assert "only by its own name, because it is slow" in calipers("metrics", "ter").stdout
    assert "neither end is good" in calipers("metrics", "novelty").stdout


def test_the_text_catalogue_as_json(calipers):
    both = json.loads(calipers("metrics", "--json", "-").stdout)
    assert [each["key"] for each in both["text"]] == list(TEXT_METRICS)
    one = json.loads(calipers("metrics", "recall,distinct:n=2", "--json", "-").stdout)
    assert [each["key"] for each in one["metrics"]] == ["recall"]
    assert [each["key"] for each in one["text"]] == ["distinct:n=2"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("slef_bleu", "unknown metric 'slef_bleu'; did you mean 'self_bleu'"),
        ("distinct:m=2", "unknown option 'm=2'"),
        ("text.mauve", "unknown text metric 'mauve': it measures embeddings"),
        ("zipf", "did you mean 'zipf_coefficient'?"),
        ("vendi_score", "did you mean 'vendi' or 'text.vendi'?"),
        ("mauv", "unknown metric 'mauv'; did you mean 'mauve'"),
    ],
)
def test_names_that_are_none(calipers, name, message):
    result = calipers("metrics", name)
    assert result.exit_code == 2
    assert message in result.stderr


PAGE = (Path(__file__).parents[3] / "docs" / "text.md").read_text("utf-8")


def without_zlib(text):
    """Leave out the row that belongs to the version of zlib, and the marks of lines left out."""
    return [line for line in text.splitlines() if not line.startswith(("  Compression", "..."))]


def test_the_commands_of_the_page(calipers, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    (code,) = re.findall(r"```python\n(import random\n.*?)```", PAGE, flags=re.DOTALL)
    exec(compile(code, "docs/text.md", "exec"), {})
    shown = re.findall(r"```sh\n(calipers text .*?)\n```\n\n```text\n(.*?)\n```", PAGE, re.DOTALL)
    assert len(shown) == 2
    for command, expected in shown:
        printed = iter(calipers(*shlex.split(command)[1:]).stdout.splitlines())
        # The page leaves lines out and says so; what it has was printed, in this order
        assert [line for line in without_zlib(expected) if line not in printed] == []


def test_every_key_of_the_page_is_known():
    from calipers.catalogue.choosing import find_text
    from calipers.catalogue.texts import TEXT_FAMILIES, TEXT_METRICS

    keys = set(re.findall(r"`([a-z_0-9]+(?::[\w=.]+)*)`", PAGE))
    metrics = {key for key in keys if key.partition(":")[0] in TEXT_METRICS}
    assert len(metrics) > 20
    for key in metrics:
        find_text(key)
    assert {*TEXT_FAMILIES} <= keys
