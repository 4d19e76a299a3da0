"""Simulated judgements in examples/judgements: whose they are, and how they are made."""

from __future__ import annotations

import json
import random
import re
import runpy
import shlex
from collections import Counter
from http.server import ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from calipers.cli import app
from calipers.demo.systems import systems
from calipers.judgements.judgement import STEPS, PairJudgement
from calipers.judgements.tables import read_judgements, write_judgements
from services import running

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / "examples" / "judgements"
PAGE = (ROOT / "docs" / "judgements.md").read_text()


def read(name: str) -> list[PairJudgement]:
    rows = read_judgements(FOLDER / name)
    assert all(isinstance(row, PairJudgement) for row in rows)
    return [row for row in rows if isinstance(row, PairJudgement)]


def test_every_rater_is_called_simulated_and_answers_everything():
    people, judge = read("simulated_people.csv"), read("simulated_judge.csv")
    assert all(row.rater.startswith("simulated-") for row in (*people, *judge))
    assert {row.rater_kind for row in people} == {"person"}
    assert {row.rater_kind for row in judge} == {"model"}
    assert all(len(row.answers) == 3 for row in (*people, *judge))
    assert len({frozenset((row.a, row.b)) for row in people}) == 36


def test_people_and_judge_meet_on_the_same_items():
    people, judge = read("simulated_people.csv"), read("simulated_judge.csv")
    assert set(Counter(row.item for row in people).values()) == {3}
    assert max(Counter((row.item, row.rater) for row in people).values()) == 1
    assert set(Counter(row.rater for row in people).values()) == {60}
    asked = Counter((row.item, row.first) for row in judge if row.repeat == 0)
    assert set(asked.values()) == {1}
    assert len(asked) == 2 * 360
    assert {item for item, _ in asked} < {row.item for row in people}
    assert sum(row.repeat for row in judge) == 72


def test_the_script_makes_these_files(tmp_path):
    module = runpy.run_path(str(FOLDER / "simulate.py"))
    study = module["Study"](np.random.default_rng(module["SEED"]))
    questions = tuple(module["HUMAN"])
    for name in ("crowd", "judge"):
        write_judgements(tmp_path / f"{name}.csv", module[name](study), questions=questions)
    files = {"crowd": "simulated_people.csv", "judge": "simulated_judge.csv"}
    for name, file in files.items():
        assert (tmp_path / f"{name}.csv").read_bytes() == (FOLDER / file).read_bytes()


@pytest.mark.parametrize("question", ["human_like", "interesting", "sensible"])
def test_wins_go_with_the_published_scores(question):
    names, table = runpy.run_path(str(FOLDER / "simulate.py"))["scores"]()
    column = ["human_like", "interesting", "sensible"].index(question)
    wins = Counter()
    for row in read("simulated_people.csv"):
        wins[row.a] += row.answers[question] < 3
        wins[row.b] += row.answers[question] > 3
    assert np.corrcoef(table[:, column], [wins[name] for name in names])[0, 1] > 0.8


def test_the_stand_in_for_a_judge_leans_to_long_texts_and_to_the_first():
    module = runpy.run_path(str(FOLDER / "simulated_server.py"))

    steps = {"type": "string", "enum": [step.upper() for step in STEPS]}

    def first_wins(a, b):
        words = [len(a.split()), len(b.split())]
        draws = (module["judged"](words, steps, random.Random(seed)).lower() for seed in range(400))
        answers = Counter(answer.split()[-1] for answer in draws)
        return answers["a"] / (answers["a"] + answers["b"])

    assert 0.65 < first_wins("one two", "three four") < 0.85
    assert first_wins("one two three four five six", "seven") > 0.85
    assert first_wins("seven", "one two three four five six") < 0.55


@pytest.mark.slow
def test_the_page_shows_what_rank_prints(monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")
    shown = re.findall(
        r"```sh\n(calipers rank examples.*?)\n```\n\n```text\n(.*?)\n```", PAGE, re.DOTALL
    )
    command, block = shown[0]
    printed = CliRunner().invoke(app, shlex.split(command.replace("\\\n", ""))[1:]).stdout
    left_out = re.compile(r"\[the other .*\]|")
    lines = [line for line in block.split("\n") if not left_out.fullmatch(line)]
    assert [line for line in lines if line not in printed.split("\n")] == []


@pytest.mark.slow
def test_the_page_shows_what_judge_prints(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    human, generated = systems(seed=0)
    for name, texts in {"human": human, **generated}.items():
        rows = (json.dumps({"text": text}) + "\n" for text in texts)
        Path(f"{name}.jsonl").write_text("".join(rows))
    judge = runpy.run_path(str(FOLDER / "simulated_server.py"))["Handler"]
    command, block = re.findall(
        r"8766 &\n(calipers judge .*?)\n```\n\n```text\n(.*?)\n```", PAGE, re.DOTALL
    )[0]
    with running(ThreadingHTTPServer(("127.0.0.1", 0), judge)) as server:
        command = command.replace("8766", str(server.server_port)).replace("\\\n", "")
        printed = CliRunner().invoke(app, shlex.split(command)[1:]).stdout
    parts = [part for part in block.split("\n\n") if "127.0.0.1" not in part and part != "..."]
    assert len(parts) >= 4
    assert [part for part in parts if part not in printed.strip().split("\n\n")] == []
