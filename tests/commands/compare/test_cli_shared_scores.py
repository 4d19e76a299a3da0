"""Scores for Every Eval Ever and the Hub, written on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from calipers.cli import app

FAST = ("--embedder", "tfidf", "--metrics", "precision", "--no-cache")
BOTH = ("--every-eval-ever", "{system}.json", "--eval-results", "{system}.yaml")


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("human", "a", "b"):
        lines = (f'{{"text": "A tale of {n} {name}."}}\n' for n in range(25))
        Path(f"{name}.jsonl").write_text("".join(lines))

    def invoke(*arguments):
        return CliRunner().invoke(app, [*arguments])

    return invoke


@pytest.mark.slow
def test_each_system_gets_its_files_and_a_saved_run_gives_them_again(run):
    job = ("compare", "-r", "human.jsonl", "a.jsonl", "two=b.jsonl", *FAST)
    done = run(*job, *BOTH, "--benchmark", "me/stories", "--save", "run.zip")
    assert done.exit_code == 0, done.output
    for name in ("a.json", "two.json", "a.yaml", "two.yaml"):
        assert f"wrote {name}, " in done.stderr
    record = json.loads(Path("two.json").read_text())
    assert record["model_info"]["id"] == "two"
    assert 'task_id: "precision"' in Path("a.yaml").read_text()
    first = json.loads(Path("a.json").read_text())
    done = run("show", "run.zip", *BOTH, "--benchmark", "me/stories", "--force")
    assert done.exit_code == 0, done.output
    again = json.loads(Path("a.json").read_text())
    assert again["evaluation_results"] == first["evaluation_results"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--every-eval-ever", "a.txt"), "--every-eval-ever must name a file ending in .json; fo"),
        (("--every-eval-ever", "-"), "--every-eval-ever writes a file for each system, which ca"),
        (("--eval-results", "a.yaml"), "--eval-results FILE and --benchmark ORG/NAME go together"),
        (("--benchmark", "me/b"), "--eval-results FILE and --benchmark ORG/NAME go together"),
        (
            ("--eval-results", "a.txt", "--benchmark", "me/b"),
            "--eval-results must name a file ending in .yaml or .yml; found a.txt",
        ),
        (
            ("--eval-results", "a.yml", "--benchmark", "stories"),
            "benchmark must name a data set of the Hub as org/name; found 'stories'",
        ),
        (
            ("two=b.jsonl", "--every-eval-ever", "a.json"),
            "--every-eval-ever must have {system} in its name where several sets are compared (2)",
        ),
    ],
)
def test_what_cannot_be_written_is_refused_before_the_work(run, arguments, message):
    done = run("compare", "-r", "human.jsonl", "a.jsonl", *FAST, *arguments)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())
    assert not Path("a.json").exists()


@pytest.mark.slow
def test_results_of_other_kinds_are_refused(run):
    done = run("text", "a.jsonl", "--save", "text.zip")
    assert done.exit_code == 0, done.output
    done = run("show", "text.zip", "--every-eval-ever", "a.json")
    assert done.exit_code == 2
    assert "--every-eval-ever writes scores of a comparison; this is a texts" in done.stderr
