"""Files for results: refused early, all tried, told of; and never a text where none should be."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from calipers.assets import PLOTLY
from calipers.cli.options import complete
from calipers.cli.outputs import MAPS, size_words
from calipers.errors import InputError

JOB = ("compare", "--reference", "human.jsonl", "a.jsonl")
TEXTS = ("json", "markdown", "latex", "csv", "html")
SECRET = "secret text"


@pytest.fixture(autouse=True)
def plain_tables(monkeypatch, calls):
    """Stand in for what others make of the data, and show where it came from."""
    for name in ("markdown", "latex"):
        monkeypatch.setattr(
            f"calipers.report.render.{name}.{name}", lambda shown, n=name: f"{n}: {shown!r}\n"
        )
    monkeypatch.setattr(
        "calipers.report.render.csv.scores_csv", lambda result: f"csv: {result.to_dict()!r}\n"
    )


@pytest.mark.parametrize("command", [JOB, ("show", "run.zip"), ("demo",)])
def test_every_text_goes_to_a_file_beside_the_table(calipers, command):
    named = [part for name in TEXTS for part in (f"--{name}", f"out.{name}")]
    result = calipers(*command, *named)
    assert result.exit_code == 0, result.output
    assert ".750 ▲" in result.stdout
    assert json.loads(Path("out.json").read_text())["systems"][0]["name"] == "model_a"
    for name in ("markdown", "latex", "csv"):
        made_of = "{'calipers'" if name == "csv" else "Document("
        assert Path(f"out.{name}").read_text().startswith(f"{name}: {made_of}")
    assert Path("out.html").read_text().startswith("<html>")
    told = result.stderr.splitlines()
    assert [line.split(",")[0] for line in told] == [
        f"wrote out.{name}" for name in ("json", "csv", "markdown", "latex", "html")
    ]
    assert told[-1].endswith("kB: open it in a browser")
    assert calipers(*command, *named, "--force", "--quiet").stderr == ""


@pytest.mark.parametrize("name", TEXTS)
def test_one_text_may_take_standard_output_and_then_has_it_alone(calipers, name):
    result = calipers(*JOB, f"--{name}", "-", "--save", "run.zip")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith({"json": "{", "html": "<html>"}.get(name, f"{name}: "))
    assert ".750 ▲" not in result.stdout
    assert "warning: human: one text is empty" in result.stderr
    assert "wrote run.zip, 3 bytes" in result.stderr
    assert calipers(*JOB, f"--{name}", "-", "--quiet").stderr == ""


def test_two_texts_cannot_share_standard_output(calipers, calls):
    result = calipers(*JOB, "--json", "-", "--html", "-")
    assert result.exit_code == 2
    assert "only one output can go to standard output (-); found --json and --html" in result.stderr
    assert calls.read == []


@pytest.mark.parametrize("name", [*TEXTS, "save"])
def test_a_file_that_is_there_is_refused_before_the_work_and_stays(calipers, calls, name):
    Path("out").write_text("old")
    result = calipers(*JOB, f"--{name}", "out")
    assert result.exit_code == 2
    assert result.stderr == (
        f"calipers: --{name} out: the file already exists; --force replaces it\n"
    )
    assert result.stdout == ""
    assert calls.read == calls.compare == []
    assert Path("out").read_text() == "old"
    assert calipers(*JOB, f"--{name}", "out", "--force").exit_code == 0
    assert Path("out").read_text() != "old"


def test_force_spares_the_inputs(calipers, calls):
    Path("human.jsonl").write_text("{}")
    result = calipers(*JOB, "--json", "human.jsonl", "--force")
    assert "--json would overwrite an input: human.jsonl" in result.stderr
    assert calls.compare == []


def test_a_link_to_a_file_that_is_there_is_refused_and_to_none_is_followed(calipers):
    Path("real.json").write_text("old")
    Path("link").symlink_to("real.json")
    assert "--json link: the file already exists" in calipers(*JOB, "--json", "link").stderr
    Path("new").symlink_to("target.json")
    assert calipers(*JOB, "--json", "new").exit_code == 0
    assert Path("new").is_symlink()
    assert Path("target.json").is_file()


def test_a_link_into_no_folder_is_told_before_the_work(calipers, calls):
    Path("astray").symlink_to("no/where.json")
    assert "--json astray: there is no folder" in calipers(*JOB, "--json", "astray").stderr
    assert calls.compare == []


def test_devices_are_no_files_that_are_there(calipers):
    result = calipers(*JOB, "--json", "/dev/null", "--csv", "/dev/null")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    assert not Path("/dev/null").is_file()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device here")
def test_a_full_device_is_one_sentence(calipers):
    result = calipers(*JOB, "--json", "/dev/full", "--csv", "x.csv")
    assert result.exit_code == 2
    assert ".750 ▲" in result.stdout
    assert result.stderr.splitlines()[-1] == (
        "calipers: /dev/full: cannot be written: No space left on device"
    )
    assert Path("x.csv").is_file()


def test_a_disk_that_fills_up_leaves_the_old_file_and_all_failures_are_told(calipers, monkeypatch):
    for name in ("out.json", "out.csv"):
        Path(name).write_text("old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    result = calipers(*JOB, "--json", "out.json", "--csv", "out.csv", "--save", "x.zip", "--force")
    assert result.exit_code == 2
    assert ".750 ▲" in result.stdout
    assert result.stderr.splitlines() == [
        "wrote x.zip, 3 bytes",
        "calipers: out.json: cannot be written: No space left on device",
        "calipers: out.csv: cannot be written: No space left on device",
    ]
    assert [Path(name).read_text() for name in ("out.json", "out.csv")] == ["old", "old"]
    assert sorted(os.listdir()) == ["out.csv", "out.json", "x.zip"]


def test_a_fault_in_one_output_costs_no_other(calipers, monkeypatch):
    def fault(comparison, **_):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("calipers.report.html.html_page", fault)
    result = calipers(*JOB, "--html", "r.html", "--json", "s.json", "--save", "run.zip")
    assert result.exit_code == 70
    assert "ZeroDivisionError: a bug" in result.stderr
    assert ".750 ▲" in result.stdout
    assert Path("s.json").is_file()
    assert Path("run.zip").is_file()
    assert not Path("r.html").exists()


def test_a_missing_script_is_told_before_the_work(calipers, calls, monkeypatch):
    without = replace(PLOTLY, name="no_such_folder", package="no_such_package_as_this")
    monkeypatch.setattr("calipers.cli.outputs.PLOTLY", without)
    result = calipers(*JOB, "--html", "report.html")
    assert result.exit_code == 2
    assert "--html needs files of 'plotly==7.1.0'" in result.stderr
    assert "pip install --no-deps 'plotly==7.1.0'" in result.stderr
    assert calls.read == []
    assert calipers(*JOB, "--markdown", "t.md").exit_code == 0


def test_a_missing_umap_is_told_before_the_work(calipers, calls, monkeypatch):
    monkeypatch.setitem(sys.modules, "umap", None)
    result = calipers(*JOB, "--html", "report.html", "--map", "umap")
    assert result.exit_code == 2
    assert "'umap-learn', which is not installed" in result.stderr
    assert calls.read == []


def test_the_map_reaches_what_is_explained_before_the_page_is_written(calipers, calls, monkeypatch):
    monkeypatch.setattr("calipers.cli.outputs._installed", lambda module: True)
    assert calipers(*JOB, "--html", "b.html", "--save", "b.zip", "--map", "umap").exit_code == 0
    assert calipers(*JOB, "--json", "b.json").exit_code == 0
    assert calls.explained == ["umap"]


def test_the_map_reaches_the_report(calipers):
    pytest.importorskip("umap")
    calipers(*JOB, "--html", "a.html")
    calipers(*JOB, "--html", "b.html", "--map", "umap")
    assert "'method': None" in Path("a.html").read_text()
    assert "'method': 'umap'" in Path("b.html").read_text()


def test_redacted_outputs_hold_no_text(calipers):
    named = [part for name in TEXTS for part in (f"--{name}", f"out.{name}")]
    plain = calipers(*JOB, "--details", *named)
    assert SECRET in plain.stdout
    assert all(SECRET in Path(f"out.{name}").read_text() for name in TEXTS)
    result = calipers(*JOB, "--details", *named, "--force", "--redact")
    assert result.exit_code == 0, result.output
    assert SECRET not in result.output
    for name in TEXTS[:-1]:
        found = Path(f"out.{name}").read_text()
        assert SECRET not in found
        assert "model_b" in found
    assert "'redacted': True" in Path("out.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--redact"], "--redact needs an output file"),
        (
            ["--redact", "--html", "r.html", "--save", "run.zip"],
            "--redact cannot be combined with --save, which keeps all texts;",
        ),
        (["--map", "pca"], "--map needs --html FILE"),
        (["--map", "tsne", "--html", "x.html"], "--map must be pca or umap; found 'tsne'"),
        (["--html", "."], "--html must name a file; . is a folder"),
        (["--html", ""], "--html must name a file; . is a folder"),
        (["--html", "no/x.html"], "--html no/x.html: there is no folder 'no'"),
        (["--html", "x", "--csv", "./x"], "name the same file"),
        (["--latex", "n" * 300], "cannot be written: File name too long"),
    ],
)
def test_bad_input_is_told_before_anything_is_read(calipers, calls, arguments, message):
    result = calipers(*JOB, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.startswith("calipers: ")
    assert result.stdout == ""
    assert calls.read == []


def test_lone_surrogates_reach_a_file_and_standard_output(calipers, monkeypatch):
    monkeypatch.setattr("calipers.report.html.html_page", lambda *_, **__: "a\udc80b\ud83d\ude00\n")
    assert calipers(*JOB, "--html", "x.html").exit_code == 0
    assert Path("x.html").read_text("utf-8") == "a\ufffdb\U0001f600\n"
    assert calipers(*JOB, "--html", "-").stdout == "a\ufffdb\U0001f600\n"


def test_ctrl_c_while_writing_says_what_is_there(calipers, monkeypatch):
    def interrupt(comparison, **_):
        raise KeyboardInterrupt

    monkeypatch.setattr("calipers.report.html.html_page", interrupt)
    result = calipers(*JOB, "--no-cache", "--html", "r.html", "--json", "s.json")
    assert result.exit_code == 130
    assert result.stderr == "calipers: stopped while writing the output files; written: s.json\n"


@pytest.mark.parametrize(
    "command",
    [
        ("sweep", "--over", "k", "-r", "no.npy", "no-a.npy"),
        ("overlap", "no.npy", "no-a.npy"),
        ("agree", "-r", "no.npy", "no-a.npy", "--embedders", "minilm,tfidf"),
        ("probe", "no.txt"),
        ("check", "no.zip", "--fail-if", "recall < 1"),
        ("rank", "no.csv"),
        ("text", "no.txt"),
        ("embed", "no.txt", "-o", "new.npy"),
        ("report", "no.zip"),
        ("metrics",),
    ],
)
def test_every_command_refuses_a_file_that_is_there_before_it_reads(calipers, command):
    Path("old.json").write_text("old")
    result = calipers(*command, "--json", "old.json")
    assert result.exit_code == 2
    assert "--json old.json: the file already exists; --force replaces it" in result.stderr
    assert Path("old.json").read_text() == "old"


@pytest.mark.parametrize("option", ["--plot", "--output"])
def test_figures_and_vectors_are_refused_alike(calipers, option):
    Path("old.png").write_text("old")
    Path("old.npy").write_text("old")
    result = {
        "--plot": calipers("sweep", "--over", "k", "-r", "no.npy", "a.npy", option, "old.png"),
        "--output": calipers("embed", "no.txt", option, "old.npy"),
    }[option]
    assert "the file already exists; --force replaces it" in result.stderr


def test_the_shell_completes_map():
    assert complete(*MAPS)("") == ["pca", "umap"]
    assert complete(*MAPS)("u") == ["umap"]


def test_sizes_in_words():
    sizes = (0, 1, 312, 12_345, 999_499, 999_500, 9_123_456)
    assert [size_words(size) for size in sizes] == [
        "0 bytes", "1 byte", "312 bytes", "12 kB", "999 kB", "1.0 MB", "9.1 MB",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "command",
    ["compare", "demo", "show", "report", "sweep", "rank", "overlap", "agree", "probe", "text",
     "check", "embed", "metrics"],
)  # fmt: skip
def test_every_command_that_writes_has_force_in_its_output_panel(calipers, command):
    page = calipers(command, "--help-all").stdout
    panel = page[page.index("\nOutput\n") : page.index("\nHelp\n")]
    assert "--force" in panel
    assert "--quiet" in panel
    assert max(map(len, page.splitlines())) <= 80


def test_nothing_is_written_before_the_results_are_there(calipers, calls):
    def fail():
        raise InputError("a.jsonl: no texts")

    calls.act = fail
    calipers(*JOB, *(part for name in TEXTS for part in (f"--{name}", f"out.{name}")))
    assert os.listdir() == []
