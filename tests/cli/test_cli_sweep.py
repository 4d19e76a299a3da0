"""``calipers sweep`` from end to end, on small embeddings."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from calipers.cli.sweep_options import METRICS, read_values
from calipers.errors import InputError


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
    assert "Where the mean levels off" in result.stdout
    assert "b: mean ± standard deviation over 3 seed files" in result.stdout
    assert "\x1b" not in result.stdout
    assert result.stderr == ""


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


@pytest.mark.parametrize("text", ["", "4", "4,4", "0-3", "-1,2", "a", "1.5,2"])
def test_values_that_mean_nothing(text):
    with pytest.raises(InputError, match="--values must list"):
        read_values(text)


def test_ranges_that_cannot_be_meant():
    with pytest.raises(InputError, match="smaller end of a range first, as in 1-3; found '3-1'"):
        read_values("3-1")
    for text in ("1-99999999", "1-10000000000"):
        with pytest.raises(InputError, match="can list at most 10,000 values; name some"):
            read_values(text)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--over", "m"], "--over must be k or n; found 'm'"),
        (["--over", "k", "--k", "3"], "--k goes with --over n alone; --values says which k"),
        (["--over", "k", "--seeds", "3"], "--seeds goes with --over n alone; --over k draws no"),
        (["--over", "n", "--k", "0"], "--k must be a whole number of at least 1; found '0'"),
        (["--over", "n", "--seeds", "x"], "--seeds must be a whole number of at least 1"),
        (["--over", "k", "--values", "2"], "at least two different numbers; found '2'"),
        (["--over", "k", "--values", "1-60"], "k = 60 needs at least 61 samples in every set"),
        (["--over", "k", "--metrics", "mauve"], "metric 'mauve' is not read from balls of any k"),
        (["--over", "k", "--ties", "ajar"], "--ties must be closed or open"),
        (["--over", "k", "--plot", "-"], "--plot writes a figure; it cannot go to standard output"),
        (["--over", "k", "--plot", "x.gif"], "ending in .png, .pdf, .svg; found x.gif"),
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
    from calipers.report import plots

    def fail(figure, path):
        raise InputError(f"{path}: cannot be written: No space left on device")

    monkeypatch.setattr(plots, "save_figure", fail)
    result = sets("--over", "k", "a.npy", "--plot", "k.png", "--json", "k.json")
    assert result.exit_code == 2
    assert "Where the mean levels off" in result.stdout
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


def test_help_loads_nothing_heavy():
    code = (
        "import sys; sys.argv = ['calipers', 'sweep', '--help']\n"
        "from calipers.__main__ import main\n"
        "try: main()\n"
        "except SystemExit: print('loaded', *sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    loaded = set(result.stdout.rpartition("loaded ")[2].split())
    assert "calipers.cli.sweep" in loaded
    assert not loaded & {"matplotlib", "numpy", "numba", "torch", "pyarrow", "scipy", "sklearn"}
