"""Logs of inspect on the command line: compared, and values of their samples written."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from calipers.cli import app
from extras import need

need("pyarrow")  # the log is packed by zstd

LOGS = Path(__file__).parents[2] / "data" / "inspect"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.eval", "b.eval"):
        shutil.copy(LOGS / "stories.eval", name)
    words = ("island", "harbour", "wave", "salt", "storm")
    tales = [f"A tale of {n}. The {words[n % 5]} met the {words[n % 3]}." for n in range(25)]
    Path("human.jsonl").write_text("".join(f'{{"text": "{tale}"}}\n' for tale in tales))

    def invoke(*arguments):
        return CliRunner().invoke(app, [*arguments])

    return invoke


FAST = ("--embedder", "tfidf", "--metrics", "precision,realism", "--no-cache")


def test_each_log_gets_its_file_and_is_told_of(run):
    job = ("compare", "-r", "human.jsonl", "a.eval", "two=b.eval", *FAST)
    done = run(*job, "--inspect", "{system}.jsonl", "--inspect-value", "in_support")
    assert done.exit_code == 0, done.output
    records = [json.loads(line) for line in Path("a.jsonl").read_text().splitlines()]
    assert len(records) == 25
    assert {each["value"] for each in records} <= {0, 1}
    assert Path("two.jsonl").read_text() == Path("a.jsonl").read_text()
    assert "wrote a.jsonl, " in done.stderr
    assert "wrote two.jsonl, " in done.stderr
    assert "1 sample with an error left out (sample 16: Runtime" in run(*job, "--details").stdout
    again = run(*job, "--inspect", "{system}.jsonl")
    assert again.exit_code == 2
    assert "--inspect a.jsonl: the file already exists; --force replaces it" in again.stderr


def test_a_saved_run_writes_them_too(run):
    job = ("compare", "-r", "human.jsonl", "a.eval", *FAST, "--save", "run.zip")
    done = run(*job, "--inspect", "a.json", "--redact")
    assert "--redact cannot be combined with --save" in done.stderr
    done = run(*job, "--inspect", "a.json")
    assert done.exit_code == 0, done.output
    assert run("show", "run.zip", "--inspect", "b.json").exit_code == 0
    assert Path("a.json").read_text() == Path("b.json").read_text()
    assert "A tale of" in Path("a.json").read_text()
    done = run("show", "run.zip", "--inspect", "c.json", "--redact")
    assert done.exit_code == 0, done.output
    assert "A tale of" not in Path("c.json").read_text()


@pytest.mark.parametrize(
    ("job", "message"),
    [
        (
            ("a.eval", "two=b.eval", "--inspect", "a.json"),
            "--inspect must have {system} in its name where several sets are compared (2): inspect "
            "reads one file for each log; found a.json",
        ),
        (
            ("human.jsonl", "--inspect", "a.json"),
            "human.jsonl: values of samples go back to inspect by id and epoch, which only its "
            "logs have (.eval or .json); compare such a log",
        ),
        (("a.eval", "--inspect", "a.csv"), "--inspect must name a file ending in .json or .jsonl"),
        (
            ("a.eval", "--inspect", "-"),
            "--inspect writes records that inspect reads from a file, w",
        ),
        (
            ("a.eval", "--inspect-value", "realism"),
            "--inspect-value needs --inspect FILE; found 're",
        ),
        (
            ("a.eval", "--inspect", "a.json", "--inspect-value", "realisme"),
            "unknown value of samples 'realisme'; did you mean 'realism'?",
        ),
        (("s=*.eval", "--inspect", "s.json"), "--inspect must have {system} in its name where sev"),
        (
            ("x/y=a.eval", "x_y=b.eval", "--inspect", "{system}.json"),
            "--inspect and --inspect name the same file: x_y.json",
        ),
    ],
)
def test_what_could_not_be_written_is_refused_before_the_work(run, job, message):
    done = run("compare", "-r", "human.jsonl", *job)
    assert done.exit_code == 2
    assert f"calipers: {message}" in done.stderr
    assert len(done.stderr.splitlines()) <= 3
    assert not list(Path().glob("*.json"))
