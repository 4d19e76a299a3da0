"""``calipers overlap`` and ``calipers sweep`` from files to the screen, and what they refuse."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from calipers.cli.options import build
from calipers.commands.sweep.options import SweepOptions, read_values
from calipers.errors import InputError

METRICS = SweepOptions().metrics


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
    assert "note: – on the diagonal: the system has a single file" in result.stdout
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
        (["a.npy"], "needs at least two; found only a.npy. Several files that match one NAME=GLOB"),
        (["b=b-*.npy"], "needs at least two; found only b=b-*.npy"),
        (["a.npy", "a=b-0.npy"], "have the name 'a': a.npy and a=b-0.npy; name them with"),
        (["a.npy", "words.txt"], "'a' holds vectors and 'words' holds texts"),
        (["a.npy", "few.npy"], "few.npy: k = 4 needs at least 5 samples in every set; it has 3"),
        (["a.npy", "flat.npy"], "flat: embeddings must have as many columns as those of a, 3"),
        (["a.npy", "broken.npy"], "broken.npy: is not a NumPy file"),
        (["a.npy", "gone.npy"], "gone.npy: there is no such file"),
        (["a.npy", "c=none-*.npy"], "no file matches"),
        (["-", "-"], "standard input (-) can be read only once"),
        (["a.npy", "b-0.npy", "--k", "0"], "--k must be a whole number of at least 1; found '0'"),
        (["a.npy", "b-0.npy", "--distance", "city"], "--distance must be euclidean or cosine"),
        (["a.npy", "b-0.npy", "--json", "a.npy"], "--json would overwrite an input: a.npy"),
        (["a.npy", "b-0.npy", "--json", "no/x"], "--json no/x: there is no folder 'no'"),
        (["a.npy", "b-0.npy", "--cache-dir", "x", "--no-cache"], "cannot be combined"),
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

    monkeypatch.setattr("calipers.cli.outputs.write_text_atomically", full)
    result = calipers(*files, "--json", "x.json")
    assert result.exit_code == 2
    assert "Overlap of 2 systems" in result.stdout
    assert "calipers: x.json: cannot be written: No space left" in result.stderr


def test_the_page_has_examples_and_fits(calipers):
    page = calipers("overlap", "--help-all").stdout
    headings = ["Input", "Measurement", "Embedding", "Output", "Help", "Examples"]
    places = [page.index(f"\n{heading}\n") for heading in headings]
    assert places == sorted(places)
    assert "SYSTEM... [OPTIONS]" in page
    assert max(map(len, page.splitlines())) <= 80
    assert calipers("overlap").exit_code == 2


@pytest.fixture
def sets(calipers, rng):
    """Put a reference and two systems, one of three files, into the folder."""
    np.save("human.npy", rng.standard_normal((60, 4)))
    np.save("a.npy", rng.standard_normal((60, 4)) * 0.8)
    for seed in range(3):
        np.save(f"b-{seed}.npy", rng.standard_normal((60, 4)))

    def run(*arguments: str):
        return calipers("sweep", "-r", "human.npy", *arguments)

    return run


def test_over_k_shows_a_table_and_where_curves_level_off(sets):
    result = sets("--over", "k", "a.npy", "b=b-*.npy")
    assert result.exit_code == 0
    assert result.stdout.startswith("Sweep over k from 1 to 30 · Reference: human, n = 60")
    assert "a -----" in result.stdout
    assert "Where the mean becomes constant" in result.stdout
    assert "b: mean ± standard deviation over 3 seed files" in result.stdout
    assert "\x1b" not in result.stdout
    assert result.stderr == ""


@pytest.mark.slow
def test_over_n_writes_json_and_a_figure_beside_the_table(sets):
    options = ("--values", "20,40,60", "--seeds", "2", "--k", "3", "--metrics", "recall,mauve")
    result = sets("--over", "n", "a.npy", *options, "--json", "n.json", "--plot", "n.png")
    assert result.exit_code == 0
    assert "Sweep over n from 20 to 60, k = 3" in result.stdout
    data = json.loads(Path("n.json").read_text())
    assert data["settings"]["metrics"] == ["recall", "mauve"]
    assert data["settings"]["k"] == 3
    curve = data["systems"][0]["curves"]["recall"]
    assert curve["values"] == [20, 40, 60]
    assert np.shape(curve["replicates"]) == (2, 3)
    assert Path("n.png").read_bytes().startswith(b"\x89PNG")


def test_json_alone_on_standard_output_and_warnings_beside_it(sets):
    result = sets("--over", "k", "a.npy", "--json", "-")
    data = json.loads(result.stdout)
    assert data["systems"][0]["curves"]["precision"]["values"] == list(range(1, 31))
    assert "warning: a: 60 samples are few" in result.stderr
    assert sets("--over", "k", "a.npy", "--json", "-", "--quiet").stderr == ""


def test_the_options_reach_the_scores(sets):
    def curve(*options):
        text = sets("--over", "k", "a.npy", "--json", "-", "--values", "1-3,7", *options).stdout
        return json.loads(text)["systems"][0]["curves"]["density"]

    assert curve()["values"] == [1, 2, 3, 7]
    assert "|pca:none|" in curve()["signature"]
    assert "|pca:0.9|scope:pair|" in curve("--projection", "union")["signature"]
    assert (
        "|ties:open|distance:cosine|n:50|m:50|"
        in (curve("--ties", "open", "--distance", "cosine", "--max-samples", "50")["signature"])
    )


@pytest.mark.parametrize(
    ("text", "values"),
    [("1-3", (1, 2, 3)), ("5,1", (1, 5)), ("1-2 2-3", (1, 2, 3)), ("100, 200", (100, 200))],
)
def test_values(text, values):
    assert read_values(text) == values


@pytest.mark.parametrize("text", ["", "4", "4,4"])
def test_fewer_than_two_values_mean_nothing(text):
    with pytest.raises(InputError, match=r"^--values must list at least two different numbers"):
        build(SweepOptions, {"over": "n", "values": text})


@pytest.mark.parametrize("text", ["0-3", "-1,2", "a", "1.5,2"])
def test_values_that_mean_nothing(text):
    with pytest.raises(InputError, match=r"^`values` must list whole numbers of at least 1"):
        build(SweepOptions, {"over": "n", "values": text})


def test_ranges_that_cannot_be_meant():
    with pytest.raises(InputError, match=r"1-3.*'3-1'"):
        read_values("3-1")
    for text in ("1-99999999", "1-10000000000"):
        with pytest.raises(InputError, match="10,000 values"):
            read_values(text)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--over", "m"], "--over must be k or n or length or buckets or axes; found 'm'"),
        (
            ["--over", "k", "--k", "3"],
            "--k applies to --over n and --over length only; with --over k",
        ),
        (
            ["--over", "axes", "--k", "3"],
            "--k applies to --over n and --over length only; no score",
        ),
        (["--over", "length", "--seeds", "3"], "--seeds applies to --over n and --over buckets"),
        (
            ["--over", "k", "--seeds", "3"],
            "--seeds applies to --over n and --over buckets only; --over k uses",
        ),
        (["--over", "n", "--k", "0"], "--k must be a whole number of at least 1; found '0'"),
        (["--over", "n", "--seeds", "x"], "--seeds must be a whole number of at least 1"),
        (["--over", "k", "--values", "2"], "at least two different numbers; found '2'"),
        (["--over", "k", "--values", "1-60"], "k = 60 needs at least 61 samples in every set"),
        (
            ["--over", "k", "--metrics", "mauve"],
            "metric 'mauve' cannot be computed in a sweep over k",
        ),
        (["--over", "k", "--ties", "ajar"], "--ties must be closed or open"),
        (
            ["--over", "k", "--plot", "-"],
            "--plot writes a figure, which cannot go to standard output",
        ),
        (["--over", "k", "--plot", "x.gif"], "ending in .png, .pdf or .svg; found x.gif"),
        (["--over", "k", "--plot", "no/x.png"], "--plot no/x.png: there is no folder 'no'"),
        (["--over", "k", "--plot", "x.png", "--json", "x.png"], "name the same file"),
        (["--over", "k", "--json", "a.npy"], "--json would overwrite an input: a.npy"),
    ],
)
def test_bad_input_is_one_sentence(sets, arguments, message):
    result = sets("a.npy", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.startswith("calipers: ")
    assert result.stdout == ""


def test_what_is_missing_is_named(calipers):
    result = calipers("sweep", "-r", "human.npy", "a.npy")
    assert result.exit_code == 2
    assert "--over" in result.stderr


def test_a_table_is_shown_even_if_the_figure_cannot_be_written(sets, monkeypatch):
    def fail(figure, path):
        raise InputError(f"{path}: cannot be written: No space left on device")

    monkeypatch.setattr("calipers.report.plots.panels.save_figure", fail)
    result = sets("--over", "k", "a.npy", "--plot", "k.png", "--json", "k.json")
    assert result.exit_code == 2
    assert "Where the mean becomes constant" in result.stdout
    assert Path("k.json").exists()
    assert "No space left" in result.stderr


def test_the_page_lists_sweep_after_compare(calipers):
    page = calipers("--help").stdout
    assert page.index("\n  compare ") < page.index("\n  sweep ")
    own = calipers("sweep", "--help").stdout
    assert "Examples" in own
    assert max(map(len, own.splitlines())) <= 80


def test_the_default_metrics_are_those_of_the_library():
    import inspect

    import calipers

    assert inspect.signature(calipers.sweep).parameters["metrics"].default == METRICS


@pytest.mark.slow
def test_help_loads_nothing_heavy():
    code = (
        "import sys; sys.argv = ['calipers', 'sweep', '--help']\n"
        "from calipers.__main__ import main\n"
        "try: main()\n"
        "except SystemExit: print('loaded', *sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    loaded = set(result.stdout.rpartition("loaded ")[2].split())
    assert "calipers.commands.sweep.cli" in loaded
    assert not loaded & {"matplotlib", "numpy", "torch", "pyarrow", "scipy", "sklearn"}
