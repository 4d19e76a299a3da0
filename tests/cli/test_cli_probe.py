"""``calipers probe`` from a file to the screen, and what it refuses."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from calipers.cli.probe_options import CHANGES as OFFERED
from calipers.embed import EncodedBatch, catalogue
from calipers.road.probe_changes import CHANGES


class Letters:
    """Counts some letters, small and large ones alike."""

    name = identity = "letters"
    views = ("counts",)
    signature = {"embedder": "letters"}  # noqa: RUF012

    def __init__(self, name, options):
        pass

    def embed(self, texts):
        rows = [[text.lower().count(letter) for letter in "aeiost"] + [1] for text in texts]
        return EncodedBatch({"counts": np.array(rows, np.float32)}, np.zeros(len(texts), bool))


@pytest.fixture
def files(calipers, rng, monkeypatch):
    module = ModuleType("stub_letters")
    module.TAKES = frozenset()
    module.load = Letters
    monkeypatch.setitem(sys.modules, "stub_letters", module)
    monkeypatch.setitem(catalogue.NAMED, "letters", "stub_letters")
    words = [
        "Stones",
        "rattle",
        "along",
        "Iron",
        "shores.",
        "Tides",
        "Eat",
        "sand.",
        "Oaks",
        "stir",
    ]
    lines = [" ".join(rng.choice(words, rng.integers(6, 30))) for _ in range(80)]
    Path("texts.txt").write_text("\n".join(lines))
    return ("probe", "texts.txt", "--embedder", "letters", "--threads", "1", "--no-cache")


def test_the_table(calipers, files):
    result = calipers(*files)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("What letters sees in texts · 3 random halvings into 40 + 40")
    scored = [line for line in result.stdout.splitlines() if " % " in line]
    rows = {line[:18].strip(): line for line in scored}
    assert rows["words shuffled"].endswith("blind")
    assert rows["lower case"].endswith("blind")
    assert "note: by counts, no vector moves for: words shuffled" in result.stdout
    assert "warning: halves of 40 texts are few" in result.stdout
    assert "\x1b" not in result.stdout


def test_json_to_a_file_and_alone_on_standard_output(calipers, files):
    fast = (*files, "--changes", "typos", "--seeds", "2")
    assert "What letters sees" in calipers(*fast, "--json", "probe.json").stdout
    alone = calipers(*fast, "--json", "-")
    data = json.loads(alone.stdout)
    assert data == json.loads(Path("probe.json").read_text())
    assert list(data["views"]["counts"]) == ["typos"]
    assert "warning: halves of 40 texts are few" in alone.stderr
    assert calipers(*fast, "--json", "-", "--quiet").stderr == ""


def test_options_reach_the_library(calipers, files):
    options = ("--k", "2", "--seeds", "4", "--seed", "3", "--max-samples", "60")
    lists = ("--changes", "typos, word_swaps", "--changes", "truncation", "--metrics", "coverage")
    result = calipers(*files, *options, *lists, "--json", "-")
    assert result.exit_code == 0, result.output
    chosen = json.loads(result.stdout)["settings"]
    expected = {"k": 2, "seeds": 4, "seed": 3, "max_samples": 60, "half": 30}
    assert expected.items() <= chosen.items()
    assert chosen["changes"] == ["typos", "word_swaps", "truncation"]
    assert chosen["metrics"] == ["coverage"]


def test_the_help_offers_what_there_is(calipers):
    assert tuple(CHANGES) == OFFERED


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gone.txt"], "gone.txt: there is no such file"),
        (["texts.txt", "--changes", "typo"], "unknown change 'typo'; did you mean 'typos'?"),
        (["texts.txt", "--changes", "typos,"], "--changes must name changes; found 'typos,'"),
        (["texts.txt", "--seeds", "1"], "--seeds must be a whole number of at least 2; found '1'"),
        (["texts.txt", "--k", "40"], "k = 40 needs at least 41 texts in each half"),
        (["texts.txt", "--max-samples", "3"], "--max-samples must be a whole number of at least 4"),
        (["texts.txt", "--metrics", "mmd:"], "'mmd' has no scale from 0 to 1"),
        (["vectors.npy"], "vectors: a probe changes texts, but this set holds vectors"),
        (["texts.txt", "--json", "texts.txt"], "--json would overwrite an input: texts.txt"),
        ([], "Missing argument 'TEXTS'"),
    ],
)
def test_bad_input(calipers, files, arguments, message):
    np.save("vectors.npy", np.ones((60, 3)))
    result = calipers("probe", *arguments, "--embedder", "letters")
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.output


@pytest.mark.parametrize("command", ["agree", "probe"])
def test_the_page_fits_a_terminal(calipers, command):
    assert max(map(len, calipers(command, "--help").stdout.splitlines())) <= 80
