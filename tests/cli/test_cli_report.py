"""``calipers report``: from what was kept to files; and the whole way on small vectors."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

from calipers.cli.report import page_beside


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A zip of a comparison of texts, small enough to be made in a second."""
    from typer.testing import CliRunner

    from calipers.cli import app

    folder = tmp_path_factory.mktemp("kept")
    words = ["cat", "dog", "fox", "mill", "lake", "hill", "bird", "fish"]
    rng = np.random.default_rng(0)
    for name, much in (("human", 8), ("model_a", 5), ("model_b", 8)):
        texts = [" ".join(rng.choice(words[:much], 12)) for _ in range(60)]
        (folder / f"{name}.txt").write_text("\n".join(texts) + "\n")
    job = ["compare", "-r", *(str(folder / f"{n}.txt") for n in ("human", "model_a", "model_b"))]
    more = ["--embedder", "tfidf", "--no-cache", "--no-floor", "--save", str(folder / "run.zip")]
    result = CliRunner().invoke(app, [*job, *more], prog_name="calipers")
    assert result.exit_code == 0, result.output
    return folder / "run.zip"


def test_the_page_of_a_run_stands_beside_it():
    assert page_beside("runs/run.zip") == "runs/run.html"
    assert page_beside("RUN.ZIP") == "RUN.html"
    assert page_beside("v1.2") == "v1.2.html"
    assert page_beside("run") == "run.html"


def test_with_no_file_named_the_page_is_written_and_told(calipers, calls):
    Path("runs").mkdir()
    result = calipers("report", "runs/run.zip")
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("wrote runs/run.html, ")
    assert result.stderr.endswith("kB: open it in a browser\n")
    again = calipers("report", "runs/run.zip")
    assert again.exit_code == 2
    assert "--html runs/run.html: the file is already there; --force replaces it" in again.stderr
    assert calipers("report", "runs/run.zip", "--force", "--quiet").stderr == ""


def test_named_files_and_no_other_are_written(calipers, calls):
    result = calipers("report", "run.zip", "--json", "s.json")
    assert result.exit_code == 0, result.output
    assert [path.name for path in Path().iterdir()] == ["s.json"]
    alone = calipers("report", "run.zip", "--json", "-")
    assert json.loads(alone.stdout) == json.loads(Path("s.json").read_text())


def test_redact_and_map_go_with_the_page_that_is_written_by_default(calipers, calls):
    result = calipers("report", "run.zip", "--redact", "--map", "pca")
    assert result.exit_code == 0, result.output
    page = Path("run.html").read_text()
    assert "'redacted': True" in page
    assert "'method': 'pca'" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gone.zip"], "gone.zip: cannot be read: No such file or directory"),
        (["."], "cannot be read: Is a directory"),
        (["text.zip"], "text.zip: is no comparison saved by calipers, or is damaged"),
        (["text.zip", "--html", "text.zip"], "--html would overwrite an input: text.zip"),
        (["text.zip", "--map", "pca", "--csv", "x.csv"], "--map lays out the samples in --html"),
    ],
)
def test_bad_input_is_one_sentence(calipers, arguments, message):
    Path("text.zip").write_text("no zip")
    result = calipers("report", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.output
    assert [path.name for path in Path().iterdir()] == ["text.zip"]


def test_the_way_from_what_was_kept_to_every_file(calipers, kept):
    names = {"html": "r.html", "json": "s.json", "csv": "s.csv", "latex": "t.tex"}
    named = [part for name, path in names.items() for part in (f"--{name}", path)]
    result = calipers("report", str(kept), *named, "--markdown", "-")
    assert result.exit_code == 0, result.output
    assert "| model_a" in result.stdout
    data = json.loads(Path("s.json").read_text())
    assert data["settings"]["command"].startswith("calipers compare -r ")
    rows = list(csv.DictReader(Path("s.csv").read_text().splitlines()))
    assert {"model_a", "model_b"} <= {row["system"] for row in rows}
    assert "\\begin{tabular}" in Path("t.tex").read_text()
    page = Path("r.html").read_text()
    assert page[:15].lower() == "<!doctype html>"
    assert "calipers compare -r" in page
    assert (
        f"wrote r.html, {Path('r.html').stat().st_size / 1e6:.1f} MB: open it in a browser"
        in result.stderr
    )


def test_a_redacted_report_of_a_real_run_holds_none_of_its_texts(calipers, kept):
    texts = (kept.parent / "model_a.txt").read_text().splitlines()
    calipers("report", str(kept), "--html", "open.html", "--json", "open.json")
    calipers("report", str(kept), "--html", "r.html", "--json", "s.json", "--redact")
    whole = Path("open.html").read_text()
    assert any(text in whole for text in texts)
    for name in ("r.html", "s.json"):
        found = Path(name).read_text()
        assert not any(text in found or text[:40] in found for text in texts)
        assert str(kept.parent) not in found


def test_every_setting_is_documented_and_none_else(calipers, kept):
    page = (Path(__file__).parents[2] / "docs" / "json.md").read_text()
    section = page.partition("\n## Settings\n")[2].partition("\n## ")[0]
    cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    documented = {key for cell in cells for key in re.findall(r"`(\w+)`", cell)}
    assert documented == set(
        json.loads(calipers("show", str(kept), "--json", "-").stdout)["settings"]
    )


def test_nothing_is_measured_again(calipers, kept, monkeypatch):
    import calipers.metrics.pair as pair
    from calipers.embed import EmbedderChoice

    def measured(*_, **__):
        raise AssertionError("measured again")

    monkeypatch.setattr(EmbedderChoice, "load", measured)
    monkeypatch.setattr(pair.Pair, "__init__", measured)
    assert calipers("report", str(kept), "--html", "r.html").exit_code == 0
