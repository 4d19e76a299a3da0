"""The pages for people who come from other packages: their programs print what the pages say."""

import importlib.util
import sys
from pathlib import Path

import pytest

from extras import need

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("coming_from", DOCS / "coming_from.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["coming_from"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["coming_from"]


def test_every_page_has_two_programs_and_what_they_printed(script):
    pages = script.pages([])
    assert {page.stem.removeprefix("coming_from_") for page in pages} == {
        *("mauve", "prdc", "torch_fidelity", "evaluate", "sacrebleu", "bert_score")
    }
    for page in pages:
        text = page.read_text("utf-8")
        names = {found["name"] for found in script.PROGRAM.finditer(text)}
        assert "Calipers" in names
        assert len(names) == 2
        for part in text.split(script.START)[1:]:
            printed = part.split(script.END)[0]
            assert printed.startswith("```text\n")
            assert len(printed.splitlines()) > 2
        assert len(text.splitlines()) <= 150


def test_outputs_stand_beside_each_other(script):
    assert script.beside(["a", "other"], ["1\n22", "3"]) == (
        "```text\na    other\n-    -----\n1    3\n22\n```\n"
    )
    assert script.beside(["a"], ["1\n2"]) == "```text\n1\n2\n```\n"


def test_an_error_is_what_a_program_printed(script):
    failing = script.Program("a", "print(1)\nraise ValueError('no such thing')\n")
    assert script.run(failing, sys.executable) == "1\nValueError: no such thing"


def test_a_page_is_rewritten_where_outputs_are(script, tmp_path):
    page = tmp_path / "page.md"
    program = "**{}**\n\n```python\nprint({})\n```\n\n"
    start, end = script.START, script.END
    page.write_text(
        f"# Title\n\n{program.format('a', 1)}{program.format('b', 2)}{start}old\n{end}\n\n"
        f"{program.format('b', 3)}{start}{end}\n"
    )
    text = script.current(page, {})
    assert f"{start}```text\na   b\n-   -\n1   2\n```\n{end}" in text
    assert text.endswith(f"{start}```text\n3\n```\n{end}\n")
    assert "old" not in text


def test_what_cannot_be_run_here_is_kept(script, tmp_path, capsys):
    page = tmp_path / "page.md"
    program = "**torch-fidelity**\n\n```python\nprint(1)\n```\n\n"
    page.write_text(f"{program}{script.START}kept\n{script.END}\n")
    assert "kept" in script.current(page, {})
    assert "kept what torch-fidelity printed" in capsys.readouterr().err
    assert "kept" not in script.current(page, {"torch-fidelity": sys.executable})


@pytest.mark.slow
def test_a_page_is_current(script):
    need("bert_score")
    (page,) = script.pages(["bert-score"])
    assert script.current(page, {}) == page.read_text("utf-8")
