"""``calipers overlap`` from files to the screen, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from calipers import report
from calipers.errors import InputError


@pytest.fixture
def files(calipers, rng):
    """Two systems in the working folder, b with two seed files."""
    for name, width in (("a", 1.0), ("b-0", 0.3), ("b-1", 0.3)):
        np.save(f"{name}.npy", rng.normal(3.0, width, (60, 3)))
    return ("overlap", "a.npy", "b=b-*.npy", "--threads", "1")


def test_matrices_sentences_and_notes(calipers, files):
    result = calipers(*files)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Overlap of 2 systems, n = 60 each")
    assert "b lies within a" in result.stdout
    assert "warning: 60 samples are few" in result.stdout
    assert "note: – on the diagonal: a single file" in result.stdout
    assert "\x1b" not in result.stdout


def test_json_to_a_file_and_alone_on_standard_output(calipers, files):
    assert "Overlap of" in calipers(*files, "--json", "overlap.json").stdout
    alone = calipers(*files, "--json", "-")
    data = json.loads(alone.stdout)
    assert data == json.loads(Path("overlap.json").read_text())
    assert [system["name"] for system in data["systems"]] == ["a", "b"]
    assert data["views"]["precomputed"]["file_pairs"] == [[0, 2], [2, 1]]
    assert "warning: 60 samples are few" in alone.stderr
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
    )
    result = calipers(*files, *options, "--max-samples", "40", "--json", "-")
    chosen = json.loads(result.stdout)["settings"]
    expected = {"k": 2, "ties": "open", "distance": "cosine", "seed": 3, "max_samples": 40}
    expected["projection"] = "union"
    assert expected.items() <= chosen.items()
    kept = json.loads(calipers(*files, "--keep-sizes", "--json", "-").stdout)
    assert kept["settings"]["sizes"] == "kept"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.npy"], "needs at least two; found a.npy. Several files that match one NAME=GLOB"),
        (["b=b-*.npy"], "needs at least two; found b=b-*.npy"),
        (["a.npy", "a=b-0.npy"], "have the name 'a': a.npy and a=b-0.npy; name them with"),
        (["a.npy", "words.txt"], "'a' holds vectors and 'words' holds texts"),
        (["a.npy", "few.npy"], "few.npy: k = 4 needs at least 5 samples in every set; it has 3"),
        (["a.npy", "flat.npy"], "flat: embeddings must have as many columns as those of a, 3"),
        (["a.npy", "broken.npy"], "broken.npy: is no NumPy file"),
        (["a.npy", "gone.npy"], "gone.npy: there is no such file"),
        (["a.npy", "c=none-*.npy"], "no file matches"),
        (["-", "-"], "standard input (-) can be read once only"),
        (["a.npy", "b-0.npy", "--k", "0"], "--k must be a whole number of at least 1; found '0'"),
        (["a.npy", "b-0.npy", "--distance", "city"], "--distance must be euclidean or cosine"),
        (["a.npy", "b-0.npy", "--json", "a.npy"], "--json would overwrite an input: a.npy"),
        (["a.npy", "b-0.npy", "--json", "no/x"], "--json no/x: there is no folder 'no'"),
        (["a.npy", "b-0.npy", "--cache-dir", "x", "--no-cache"], "exclude each other"),
    ],
)
def test_bad_input(calipers, files, arguments, message):
    np.save("few.npy", np.eye(3))
    np.save("flat.npy", np.ones((60, 2)))
    Path("broken.npy").write_bytes(b"not an array")
    Path("words.txt").write_text("one\ntwo\n" * 30)
    result = calipers("overlap", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.startswith("calipers: ")
    assert result.stdout == ""


def test_a_file_that_cannot_be_written_does_not_cost_the_table(calipers, files, monkeypatch):
    def full(path, text):
        raise InputError(f"{path}: cannot be written: No space left on device")

    monkeypatch.setattr(report, "write_text_atomically", full)
    result = calipers(*files, "--json", "x.json")
    assert result.exit_code == 2
    assert "Overlap of 2 systems" in result.stdout
    assert "calipers: x.json: cannot be written: No space left" in result.stderr


def test_the_page_has_examples_and_fits(calipers):
    page = calipers("overlap", "--help").stdout
    headings = ["Input", "Measurement", "Embedding", "Output", "Help", "Examples"]
    places = [page.index(f"\n{heading}\n") for heading in headings]
    assert places == sorted(places)
    assert "SYSTEM... [OPTIONS]" in page
    assert max(map(len, page.splitlines())) <= 80
    assert calipers("overlap").exit_code == 2
