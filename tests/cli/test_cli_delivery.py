"""Every command that gives a result writes it in every format, keeps it, and shows it again."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow.feather
import pyarrow.parquet
import pytest

SETS = ("-r", "r.npy", "a.npy", "b.npy")
VECTORS = ("--embedder", "precomputed", "--no-cache")
COMMANDS = {
    "comparison": ("compare", *SETS, *VECTORS, "--metrics", "recall", "--no-floor"),
    "sweep": ("sweep", *SETS, *VECTORS, "--over", "k", "--values", "1-4"),
    "overlap": ("overlap", "a.npy", "b.npy", *VECTORS),
    "agreement": (
        *("agree", "-r", "human.txt", "a.txt", "b.txt", "--embedders", "tfidf,tfidf:size=8"),
        *("--metrics", "recall", "--no-cache"),
    ),
    "probe": (
        *("probe", "human.txt", "--embedder", "tfidf", "--no-cache", "--seeds", "2"),
        *("--changes", "truncation", "--metrics", "recall"),
    ),
    "ranking": ("rank", "scores.csv"),
    "texts": ("text", "a.txt", "-r", "human.txt", "--metrics", "distinct", "--no-intervals"),
}
"""What each command computes a small result with, by the kind of result."""

SCORES = """system,metric,mean
a,good,1
b,good,2
c,good,3
a,close,2
b,close,1
c,close,3
"""


@pytest.fixture
def inputs(tmp_path, monkeypatch, rng):
    monkeypatch.chdir(tmp_path)
    words = [
        "the",
        "cat",
        "sat",
        "on",
        "a",
        "mat",
        "while",
        "dogs",
        "run",
        "fast",
        "over",
        "hills",
        "and",
        "rivers",
    ]
    for name in ("r", "a", "b"):
        np.save(f"{name}.npy", rng.normal(size=(40, 4)))
    for name in ("human", "a", "b"):
        texts = [" ".join(rng.choice(words, 9)) for _ in range(40)]
        Path(f"{name}.txt").write_text("\n".join(texts))
    Path("scores.csv").write_text(SCORES)


@pytest.mark.parametrize("kind", COMMANDS)
def test_a_result_is_written_in_every_format_and_shown_again(calipers, inputs, kind):
    asked = ["--json", "x.json", "--markdown", "x.md", "--latex", "x.tex", "--csv", "x.csv"]
    made = calipers(*COMMANDS[kind], *asked, "--save", "x.zip", "--html", "x.html", "--quiet")
    assert made.exit_code == 0, made.output
    assert "\\begin{table}" in Path("x.tex").read_text()
    assert "|" in Path("x.md").read_text()
    assert len(Path("x.csv").read_text().splitlines()) > 1
    assert Path("x.html").read_text().lower().startswith("<!doctype html>")
    again = calipers("show", "x.zip", "--json", "again.json")
    assert again.stdout == made.stdout
    assert json.loads(Path("again.json").read_text()) == json.loads(Path("x.json").read_text())
    for name, option in (("md", "--markdown"), ("tex", "--latex"), ("csv", "--csv")):
        assert calipers("show", "x.zip", option, "-").stdout == Path(f"x.{name}").read_text()
    assert calipers("report", "x.zip", "--html", "y.html").exit_code == 0
    if kind != "comparison":
        assert Path("y.html").read_text() == Path("x.html").read_text()


def test_texts_can_be_left_out_of_comparisons_alone(calipers, inputs):
    calipers(*COMMANDS["overlap"], "--save", "o.zip")
    refused = calipers("show", "o.zip", "--redact", "--json", "o.json")
    assert refused.exit_code == 2
    assert (
        "applies to the report of calipers compare; this is a result of another kind, overlap"
        in refused.stderr
    )


def test_topics_are_shown_of_comparisons_alone(calipers, inputs):
    calipers(*COMMANDS["overlap"], "--save", "o.zip")
    refused = calipers("show", "o.zip", "--explain")
    assert refused.exit_code == 2
    assert "--explain applies to the report of calipers compare; this is" in refused.stderr


def test_samples_are_laid_out_of_comparisons_alone(calipers, inputs):
    calipers(*COMMANDS["overlap"], "--save", "o.zip")
    refused = calipers("report", "o.zip", "--map", "pca", "--html", "o.html")
    assert refused.exit_code == 2
    assert "--map applies to the report of calipers compare; this is" in refused.stderr
    assert not Path("o.html").exists()


def test_a_kept_sweep_is_drawn(calipers, inputs):
    calipers(*COMMANDS["sweep"], "--save", "s.zip")
    assert calipers("plot", "sweep", "s.zip", "-o", "s.png").exit_code == 0
    assert Path("s.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
@pytest.mark.parametrize("kind", ["comparison", "texts"])
def test_scores_are_written_as_a_table_for_data_frames(calipers, inputs, kind, ending):
    made = calipers(*COMMANDS[kind], "--table", f"t.{ending}", "--json", "x.json", "--quiet")
    assert made.exit_code == 0, made.output
    rows = read_table(f"t.{ending}")
    scores = json.loads(Path("x.json").read_text())["systems"][0]["scores"]
    values = {row["key"]: row["value"] for row in rows if row["system"] == "a"}
    assert values == {key: score["value"] for key, score in scores.items()}
    assert calipers(*COMMANDS[kind], "--table", f"s.{ending}", "--per-sample").exit_code == 0
    assert {row["sample"] for row in read_table(f"s.{ending}")} >= set(range(40))


def test_samples_of_flags_and_of_numbers_are_one_column(calipers, inputs):
    metrics = "precision,realism,density"  # whether a sample lies in the support, and how deep
    made = calipers(
        *COMMANDS["comparison"], "--metrics", metrics, "--table", "s.parquet", "--per-sample"
    )
    assert made.exit_code == 0, made.output
    values = defaultdict(set)
    for row in read_table("s.parquet"):
        values[row["key"]].add(row["value"])
    assert values["precision"] <= {0.0, 1.0}
    assert not values["density"] <= {0.0, 1.0}


def read_table(path):
    read = pyarrow.parquet.read_table if path.endswith("parquet") else pyarrow.feather.read_table
    return read(path).to_pylist()


def test_a_table_has_one_of_two_endings(calipers, inputs):
    refused = calipers(*COMMANDS["texts"], "--table", "t.csv")
    assert refused.exit_code == 2
    assert "--table must name a file ending in .parquet or .arrow; found t.csv" in refused.stderr
    assert "cannot go to standard output" in calipers(*COMMANDS["texts"], "--table", "-").stderr


@pytest.fixture
def saved(inputs, calipers):
    """A comparison by two scores, kept."""
    job = ("compare", *SETS, *VECTORS, "--metrics", "recall,frechet_distance", "--no-floor")
    assert calipers(*job, "--save", "run.zip").exit_code == 0
    return json.loads(calipers("show", "run.zip", "--json", "-").stdout)


def order_of(text):
    """The systems by the rows of the first table."""
    return re.findall(r"^([ab]) +[.\d]", text, re.MULTILINE)[:2]


def test_the_systems_are_sorted_as_asked_in_every_format(saved, calipers):
    by_name = {system["name"]: system for system in saved["systems"]}
    best = sorted(by_name, key=lambda name: by_name[name]["scores"]["frechet_distance"]["value"])
    order = ("--sort", "frechet_distance")
    assert order_of(calipers("show", "run.zip", *order, "-q").stdout) == best
    assert order_of(calipers("show", "run.zip", "--sort", "name", "-q").stdout) == ["a", "b"]
    text = calipers("show", "run.zip", *order, "--markdown", "-", "-q").stdout
    assert re.findall(r"^\| ([ab]) ", text, re.MULTILINE)[:2] == best
    assert calipers("report", "run.zip", *order, "--html", "r.html").exit_code == 0
    page = Path("r.html").read_text("utf-8")
    assert re.findall(r'data-name="([ab])"', page) == best


def test_an_order_that_cannot_be_is_refused_before_anything_is_written(saved, calipers):
    result = calipers("show", "run.zip", "--sort", "recal", "--csv", "s.csv")
    assert result.exit_code == 2
    assert "did you mean 'recall'" in result.stderr
    assert not Path("s.csv").exists()
    result = calipers(*COMMANDS["comparison"], "--sort", "recal", "--csv", "s.csv")
    assert result.exit_code == 2
    assert not Path("s.csv").exists()


def test_a_score_that_was_not_measured_leaves_the_usual_order(inputs, calipers):
    result = calipers(*COMMANDS["comparison"], "--sort", "coverage", "--csv", "s.csv")
    assert result.exit_code == 0
    assert "sorted as usual" in result.stderr
    assert Path("s.csv").exists()


def test_other_results_have_no_order_of_systems(inputs, calipers):
    assert calipers(*COMMANDS["overlap"], "--save", "o.zip").exit_code == 0
    result = calipers("show", "o.zip", "--sort", "name")
    assert result.exit_code == 2
    assert "--sort applies to the report of calipers compare" in result.stderr
