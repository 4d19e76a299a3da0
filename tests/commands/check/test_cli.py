"""``calipers check`` from saved runs to exit codes and files."""

import json
import math
from pathlib import Path
from xml.etree import ElementTree

import pytest

from calipers.results.comparison import Comparison
from calipers.results.result import Result
from calipers.results.sets import SetSummary
from calipers.results.system import SystemResult
from calipers.score import Score

HALF = 2.093024
"""Standard errors from a score to an end of its 95 % interval, with 19 degrees of freedom."""


def about(name):
    return SetSummary(name, f"{name}.npy", 300, 300, None, f"hash of {name}")


def comparison(systems, *, k=4):
    """A run as it would be saved, by the recall of its systems."""

    def score(key, value, error, bounds):
        ends = (value - HALF * error, value + HALF * error)
        signature = f"metric:{key}|k:{k}|n:300|m:300"
        return Score(value, ends, 0.95, bounds, "higher", signature, standard_error=error)

    results = [
        SystemResult(
            about(name),
            {
                "recall": score("recall", recall, 0.02, (0.0, 1.0)),
                "frechet_distance": score("frechet_distance", 0.7, 0.08, (0.0, math.inf)),
            },
            {},
        )
        for name, recall in systems.items()
    ]
    return Comparison(about("human"), tuple(results), {"views": ["meaning"], "k": k, "level": 0.95})


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A run of two systems, and one of an earlier time, as files."""
    folder = tmp_path_factory.mktemp("saved")
    run = comparison({"small": 0.65, "large": 0.68})
    run.save(folder / "run.zip")
    (folder / "run.json").write_text(json.dumps(run.to_dict()))
    comparison({"old": 0.66}).save(folder / "old.zip")
    comparison({"old": 0.66}, k=5).save(folder / "k5.zip")
    return folder, run


@pytest.fixture
def runs(saved, calipers):
    folder, run = saved
    for each in folder.iterdir():
        Path(each.name).write_bytes(each.read_bytes())
    return run


def undecided(run):
    """A condition whose limit is the score itself."""
    return f"small: recall < {run['small']['recall'].value:.6g}"


def test_the_exit_code_is_the_outcome(calipers, runs):
    codes = {
        ("recall < 0.3",): 0,
        ("recall < 0.95",): 1,
        (undecided(runs),): 3,
        (undecided(runs), "recall < 0.95"): 1,
        ("recall < much",): 2,
    }
    for conditions, code in codes.items():
        given = [word for text in conditions for word in ("--fail-if", text)]
        assert calipers("check", "run.zip", *given).exit_code == code
    for name, code in {"report": 3, "pass": 0, "fail": 1}.items():
        asked = ("check", "run.zip", "--fail-if", undecided(runs), "--inconclusive", name)
        assert calipers(*asked).exit_code == code


def test_the_screen_says_how_it_ended_first(calipers, runs):
    text = calipers("check", "run.zip", "--fail-if", "recall < 0.95").stdout
    lines = text.splitlines()
    assert lines[0] == "Check of run.zip · level 0.95"
    assert lines[2].startswith("Fails: recall of small is 0.")
    table = [line.split() for line in lines if line.startswith("recall < 0.95")]
    assert [(row[3], row[-1]) for row in table] == [("small", "fails"), ("large", "fails")]


def test_a_baseline_is_read_from_zip_or_json(calipers, runs):
    condition = ("--fail-if", "frechet_distance > 3 * baseline")
    found = calipers("check", "run.json", "--against", "old.zip", *condition)
    assert found.exit_code == 0, found.output
    assert "Check of run.json against old.zip" in found.stdout
    assert "errors of both runs are treated as independent" in " ".join(found.stdout.split())


def test_another_k_is_refused(calipers, runs):
    given = ("--against", "k5.zip", "--fail-if", "recall < baseline")
    found = calipers("check", "run.zip", *given)
    assert found.exit_code == 2
    assert "k: 4 in run.zip, 5 in k5.zip" in " ".join(found.stderr.split())


def test_every_format_is_written(calipers, runs):
    names = {
        "--json": "c.json",
        "--junit": "c.xml",
        "--markdown": "c.md",
        "--latex": "c.tex",
        "--csv": "c.csv",
        "--html": "c.html",
        "--save": "c.zip",
    }
    asked = [word for pair in names.items() for word in pair]
    found = calipers("check", "run.zip", "--fail-if", "recall < 0.95", *asked)
    assert found.exit_code == 1, found.output
    data = json.loads(Path("c.json").read_text())
    assert (data["outcome"], data["exit_code"]) == ("fails", 1)
    assert [row["outcome"] for row in data["checked"]] == ["fails", "fails"]
    root = ElementTree.fromstring(Path("c.xml").read_text())
    assert (root.get("tests"), root.get("failures")) == ("2", "2")
    assert "| recall &#60; 0.95 | small" in Path("c.md").read_text()
    assert "\\begin{table}" in Path("c.tex").read_text()
    assert len(Path("c.csv").read_text().splitlines()) > 2
    assert Path("c.html").read_text().lower().startswith("<!doctype html>")
    assert Result.load("c.zip").to_dict() == data
    again = calipers("show", "c.zip")
    assert again.exit_code == 0
    assert again.stdout == calipers("check", "run.zip", "--fail-if", "recall < 0.95").stdout
    for name, option in (("md", "--markdown"), ("tex", "--latex"), ("csv", "--csv")):
        assert calipers("show", "c.zip", option, "-").stdout == Path(f"c.{name}").read_text()


def test_junit_goes_to_standard_output(calipers, runs):
    found = calipers("check", "run.zip", "--fail-if", undecided(runs), "--junit", "-")
    assert found.exit_code == 3
    assert ElementTree.fromstring(found.stdout).get("skipped") == "1"


def test_the_summary_of_a_step_is_appended_where_that_is_asked_for(calipers, runs, monkeypatch):
    Path("summary.md").write_text("# Before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    calipers("check", "run.zip", "--fail-if", "recall < 0.3")
    assert Path("summary.md").read_text() == "# Before\n"
    calipers("check", "run.zip", "--fail-if", "recall < 0.3", "--github-summary")
    text = Path("summary.md").read_text()
    assert text.startswith("# Before\nCheck of run.zip")
    assert "| passes" in text
    monkeypatch.delenv("GITHUB_STEP_SUMMARY")
    found = calipers("check", "run.zip", "--fail-if", "recall < 0.3", "--github-summary")
    assert found.exit_code == 2
    assert "GITHUB_STEP_SUMMARY" in found.stderr


def test_conditions_come_from_a_file_too(calipers, runs):
    Path("gate.toml").write_text("fail_if = ['recall < 0.95']")
    assert calipers("check", "run.zip", "--conditions", "gate.toml").exit_code == 1
    both = calipers("check", "run.zip", "--conditions", "gate.toml", "--fail-if", "recall < 0.3")
    assert both.exit_code == 1
    rows = [line.split() for line in both.stdout.splitlines() if line.startswith("recall <")]
    assert [(row[2], row[-1]) for row in rows] == [
        *[("0.3", "passes")] * 2,
        *[("0.95", "fails")] * 2,
    ]


def test_a_condition_may_hold_commas(calipers, runs):
    found = calipers("check", "run.zip", "--fail-if", "a, b: recall < 0.3")
    assert found.exit_code == 2
    assert "unknown system of run.zip 'a, b'" in " ".join(found.stderr.split())


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ((), "check needs a condition to fail on, such as --fail-if 'recall < 0.8'"),
        (("--fail-if", "recall < 0.3", "--level", "0.4"), "--level must lie between 0.5 and 1"),
        (("--fail-if", "recall < 0.3", "--inconclusive", "no"), "--inconclusive must be report or"),
        (("--fail-if", "recall < 0.3", "--json", "run.zip"), "--json would overwrite an input"),
        (
            ("--fail-if", "recall < baseline", "--against", "old.zip", "--json", "old.zip"),
            "--json would overwrite an input: old.zip",
        ),
        (("--fail-if", "recall < baseline", "--against", "no.zip"), "no.zip"),
    ],
)
def test_what_is_wrong_is_a_usage_error(calipers, runs, asked, message):
    found = calipers("check", "run.zip", *asked)
    assert found.exit_code == 2
    assert message in " ".join(found.stderr.split())
