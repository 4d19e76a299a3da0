"""``calipers agree`` from files to the screen, and what it refuses."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from calipers import report
from calipers.embed import Embedder, EncodedBatch, catalogue
from calipers.errors import InputError


class Numbers(Embedder):
    """Reads the numbers of a text, from the place that its name tells."""

    views = ("numbers",)

    def __init__(self, name, options):
        self.name = name
        self.identity = f"{name} {options.max_length}"
        self.signature = {"embedder": name}
        self.start = int(name[-1])

    def encode(self, texts):
        rows = np.array([[float(x) for x in text.split()] for text in texts], np.float32)
        return EncodedBatch({"numbers": rows[:, self.start :]}, np.zeros(len(texts), bool))


@pytest.fixture
def files(calipers, rng, monkeypatch):
    """Two embedders, a reference, and three systems in the working folder."""
    module = ModuleType("stub_numbers")
    module.TAKES = frozenset({"max_length"})
    module.load = Numbers
    monkeypatch.setitem(sys.modules, "stub_numbers", module)
    for name in ("from0", "from1"):
        monkeypatch.setitem(catalogue.NAMED, name, "stub_numbers")
    for name, scale in {"human": 1.0, "a": 0.3, "b": 1.0, "c": 3.0}.items():
        rows = rng.normal(1, (1, scale, 1), (60, 3))
        Path(f"{name}.txt").write_text("\n".join(" ".join(f"{x:.4f}" for x in r) for r in rows))
    systems = ("a.txt", "b.txt", "c.txt", "--embedders", "from0,from1", "--threads", "1")
    return ("agree", "-r", "human.txt", *systems, "--no-cache")


def test_scores_correlations_sentences_and_notes(calipers, files):
    result = calipers(*files)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Agreement of 2 embedders (2 columns) on 3 systems")
    assert "Rank correlation with from0 numbers" in result.stdout
    assert "- Precision: " in result.stdout
    assert "The verdict " in result.stdout
    assert "warning: a, b, c: 60 samples are few" in result.stdout
    assert "\x1b" not in result.stdout


def test_json_to_a_file_and_alone_on_standard_output(calipers, files):
    assert "Agreement of" in calipers(*files, "--json", "agreement.json").stdout
    alone = calipers(*files, "--json", "-")
    data = json.loads(alone.stdout)
    assert data == json.loads(Path("agreement.json").read_text())
    assert [column["label"] for column in data["columns"]] == ["from0 numbers", "from1 numbers"]
    assert data["metrics"]["recall"]["spearman"][0][0] == 1.0
    assert "warning: a, b, c: 60 samples are few" in alone.stderr
    assert calipers(*files, "--json", "-", "--quiet").stderr == ""


def test_options_reach_the_library(calipers, files):
    options = (
        "--k",
        "2",
        "--ties",
        "open",
        "--distance",
        "cosine",
        "--seed",
        "3",
        "--projection",
        "union",
        "--c",
        "2",
    )
    more = ("--buckets", "7", "--max-samples", "40", "--metrics", "recall,mauve:chi2", "--shared")
    result = calipers(*files, *options, *more, "--max-length", "9", "--json", "-")
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    expected = {"k": 2, "ties": "open", "distance": "cosine", "seed": 3, "max_samples": 40}
    expected["projection"] = "union"
    assert expected.items() <= data["settings"].items()
    assert {"c": 2.0, "buckets": 7, "shared": True}.items() <= data["settings"].items()
    assert list(data["metrics"]) == ["recall", "mauve:chi2"]


def test_lists_may_be_repeated_and_options_follow_a_name(calipers, files):
    lists = ("--embedders", "from0", "--embedders", "from1, from1:max-length=3")
    result = calipers(*files[:6], *lists, "--no-cache", "--threads", "1", "--json", "-")
    assert result.exit_code == 0, result.output
    labels = [column["label"] for column in json.loads(result.stdout)["columns"]]
    assert labels == ["from0 numbers", "from1 numbers", "from1:max-length=3 numbers"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.txt", "--embedders", "from0,from1"], "needs at least two; found 'a' alone"),
        (["a.txt", "b.txt", "--embedders", "from0"], "at least two; found 1: from0"),
        (["a.txt", "b.txt", "--embedders", "from0,from0"], "the embedder 'from0' stands twice"),
        (["a.txt", "b.txt", "--embedders", "from0,,from1"], "names with commas between them"),
        (["a.txt", "b.txt", "--embedders", "from0:layr=1"], "did you mean 'layer'?"),
        (
            ["a.txt", "b.txt", "--embedders", "from0:layer=1"],
            "'from0' does not take the option 'layer'",
        ),
        (["a.txt", "b.txt"], "Missing option '--embedders'"),
        (["a.txt", "gone.txt", "--embedders", "from0,from1"], "gone.txt: there is no such file"),
        (
            ["a.txt", "b.txt", "--embedders", "from0,from1", "--metrics", "form.recall"],
            "'form.recall' asks for the view 'form'",
        ),
        (
            ["a.txt", "b.txt", "--embedders", "from0,from1", "--k", "0"],
            "--k must be a whole number of at least 1; found '0'",
        ),
        (
            ["a.txt", "b.txt", "--embedders", "from0,from1", "--json", "a.txt"],
            "--json would overwrite an input: a.txt",
        ),
    ],
)
def test_bad_input(calipers, files, arguments, message):
    result = calipers("agree", "-r", "human.txt", *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.output


def test_a_file_that_cannot_be_written_does_not_cost_the_table(calipers, files, monkeypatch):
    def fail(*_):
        raise InputError("agreement.json: the disk is full")

    monkeypatch.setattr(report, "write_text_atomically", fail)
    result = calipers(*files, "--json", "agreement.json")
    assert result.exit_code == 2
    assert "Agreement of" in result.stdout
    assert "the disk is full" in result.stderr
