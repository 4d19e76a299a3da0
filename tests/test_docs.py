"""The examples of the documentation print what the page says."""

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [page for page in sorted(DOCS.glob("*.md")) if ">>>" in page.read_text("utf-8")],
    ids=lambda page: page.name,
)
def test_examples_of_a_page(page):
    failed, attempted = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert attempted > 0
    assert failed == 0


def test_some_page_has_examples():
    assert (DOCS / "divergences.md").read_text("utf-8").count(">>>") >= 10
