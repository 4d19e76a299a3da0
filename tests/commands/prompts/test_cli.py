"""``calipers prompts`` on small files."""

from __future__ import annotations

import base64
import json
import re

import pytest

VERBS = ("ran", "slept", "sang", "fell")


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, step in (("a", 1), ("b", 2)):
        rows = [
            {"text": f"the dog {p} {VERBS[(step * s + p) % 4]} away", "question": p, "prompt": "q"}
            for p in range(5)
            for s in range(3)
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return ("prompts", "a.jsonl", "b.jsonl", "--embedder", "tfidf", "--no-cache", "--quiet")


@pytest.mark.slow
def test_the_prompt_is_in_the_field_that_by_prompt_names(files, calipers):
    page = calipers(*files, "--by-prompt", "question", "--permutations", "99").stdout
    assert page.startswith("2 systems on 5 prompts · embedder tfidf · k 3 · seed 0")
    assert "How alike the same prompts are answered" in page
    assert "Distinguishable from each other, given the prompt?" in page
    assert calipers(*files, "--permutations", "99").stdout.startswith("2 systems on 1 prompt ·")


@pytest.mark.slow
def test_formats_are_written_and_the_figure_is_drawn(files, calipers, tmp_path):
    calipers(
        *files, "--by-prompt", "question", "--json", "p.json", "--markdown", "p.md",
        "--csv", "p.csv", "--latex", "p.tex", "--save", "p.zip", "--per-sample",
    )  # fmt: skip
    data = json.loads((tmp_path / "p.json").read_text())
    assert len(data["systems"][0]["scores"]["similarity"]["per_sample"]) == 5
    assert "| a" in (tmp_path / "p.md").read_text()
    for source in ("p.json", "p.zip"):
        calipers("plot", "homogeneity", source, "-o", "h.svg")
        assert "a" in (tmp_path / "h.svg").read_text()
    assert calipers("show", "p.zip").stdout.startswith("2 systems on 5 prompts")


def test_a_reference_is_what_systems_are_tested_against(files, calipers):
    page = calipers(*files, "--by-prompt", "question", "-r", "a.jsonl").stdout
    assert "and a reference on 5 prompts" in page
    assert "Distinguishable from the reference, given the prompt?" in page


def test_the_page_has_the_verdict_the_figure_and_the_matrix(files, calipers, tmp_path):
    result = calipers(
        *files, "--by-prompt", "question", "-r", "a.jsonl", "--permutations", "99",
        "--html", "p.html",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    page = (tmp_path / "p.html").read_text("utf-8")
    source = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
    figure = base64.b64decode(source[1]).decode()
    assert "<svg" in figure
    assert "Alike on the same prompt" in figure
    assert "How alike the same prompts are answered" in page
    assert page.index("distinguishable from the reference") < page.index("<img ")
    assert "most alike: " in result.stdout.splitlines()[2]
