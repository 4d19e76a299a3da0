"""``calipers compare``: how sure, as it is asked for on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

JOB = ("compare", "--reference", "human.jsonl", "a.jsonl")


@pytest.mark.parametrize(
    ("arguments", "name", "value"),
    [
        ([], "level", 0.95),
        (["--level", "0.9"], "level", 0.9),
        (["--level", "1e-3"], "level", 0.001),
        (["--no-intervals"], "level", None),
        (["--no-intervals", "--level", "0.9"], "level", None),
        ([], "floor", None),
        (["--floor"], "floor", True),
        (["--no-floor"], "floor", False),
        ([], "advice", False),
        (["--advice"], "advice", True),
        ([], "paired", None),
        (["--paired"], "paired", True),
        (["--no-paired"], "paired", False),
        ([], "margin", None),
        (["--margin", "0.05"], "margin", 0.05),
        (["--margin", "5e-2"], "margin", 0.05),
        ([], "match_length", None),
        (["--match-length", "50"], "match_length", 50),
    ],
)
def test_options_reach_compare(calipers, calls, arguments, name, value):
    assert calipers(*JOB, *arguments).exit_code == 0
    (call,) = calls.compare
    assert call[name] == value


@pytest.mark.parametrize("level", ["0", "1", "95", "-0.5", "95%", "nan", "inf", "", "0,95"])
def test_refuses_what_is_no_level(calipers, calls, level):
    result = calipers(*JOB, "--level", level)
    assert result.exit_code == 2
    wanted = f"--level must lie between 0 and 1, such as 0.95; found {level!r}"
    assert wanted in " ".join(result.stderr.split())
    assert calls.compare == []
    assert calls.read == []


@pytest.mark.parametrize("margin", ["0", "1", "5", "-0.1", "5%", "nan", "inf", "", "0,05"])
def test_refuses_what_is_no_margin(calipers, calls, margin):
    result = calipers(*JOB, "--margin", margin)
    assert result.exit_code == 2
    wanted = f"--margin must lie between 0 and 1, such as 0.05; found {margin!r}"
    assert wanted in " ".join(result.stderr.split())
    assert calls.compare == []
    assert calls.read == []


@pytest.mark.parametrize("words", ["0", "-3", "ten", "2.5"])
def test_refuses_what_is_no_number_of_words(calipers, calls, words):
    result = calipers(*JOB, "--match-length", words)
    assert result.exit_code == 2
    assert "--match-length" in result.stderr
    assert calls.compare == []


def test_help_names_every_option(calipers):
    shown = calipers("compare", "--help").stdout
    options = ("--level", "--no-intervals", "--no-floor", "--advice", "--paired", "--match-length")
    options += ("--margin",)
    for option in options:
        assert option in shown


@pytest.fixture
def vectors(tmp_path):
    rng = np.random.default_rng(3)
    for name, n, shift in (("human", 120, 0), ("a", 120, 0.1), ("b", 110, 0.9)):
        np.save(tmp_path / f"{name}.npy", np.float32(rng.standard_normal((n, 4)) + shift))
    return ("compare", "-r", "human.npy", "a.npy", "b.npy", "--no-floor", "--no-cache", "-q")


def written(calipers, tmp_path, *arguments):
    result = calipers(*arguments, "--json", "out.json")
    assert result.exit_code == 0, result.stderr
    return json.loads((tmp_path / "out.json").read_text())


def test_a_run_from_files(calipers, vectors, tmp_path):
    found = written(calipers, tmp_path, *vectors, "--level", "0.9", "--metrics", "recall density")
    recall = found["systems"][1]["scores"]["recall"]
    assert recall["level"] == found["settings"]["level"] == 0.9
    assert recall["interval"][0] <= recall["value"] <= recall["interval"][1]
    between = [test for test in found["tests"] if test["b"] == "b"]
    assert [test["score"] for test in between] == ["recall", "density"]


def test_a_run_with_a_margin(calipers, vectors, tmp_path):
    found = written(calipers, tmp_path, *vectors, "--margin", "0.9", "--metrics", "recall density")
    assert found["settings"]["margin"] == 0.9
    near = {test["score"]: test["equivalence"] for test in found["tests"] if test["b"] == "b"}
    assert near["recall"] < 0.05
    assert near["density"] is None


def test_a_margin_without_intervals_is_refused(calipers, vectors):
    result = calipers(*vectors, "--no-intervals", "--margin", "0.1")
    assert result.exit_code == 2
    assert "margin" in result.stderr


def test_a_run_without_intervals(calipers, vectors, tmp_path):
    found = written(calipers, tmp_path, *vectors, "--no-intervals", "--metrics", "recall")
    assert found["tests"] == []
    assert found["systems"][0]["scores"]["recall"]["interval"] is None
    assert found["settings"]["level"] is None


def test_pairs_of_unequal_sets_are_refused(calipers, vectors):
    result = calipers(*vectors, "--keep-sizes", "--paired")
    assert result.exit_code == 2
    assert "paired rows need generated sets of one size" in " ".join(result.stderr.split())
    assert "found 110 to 120 samples" in " ".join(result.stderr.split())
