"""The page of every metric: complete, with an example that comes out and links that lead on."""

from __future__ import annotations

import doctest
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import calipers
from calipers.catalogue.embeddings import METRICS
from calipers.catalogue.likelihoods import LIKELIHOODS
from calipers.catalogue.texts import TEXT_METRICS
from extras import lack_of

DOCS = Path(__file__).parents[1] / "docs"
KINDS = {"embeddings": METRICS, "texts": TEXT_METRICS, "likelihoods": LIKELIHOODS}
ALL = [(kind, name) for kind, metrics in KINDS.items() for name in metrics]


@pytest.fixture(scope="module")
def extension() -> SimpleNamespace:
    """The modules that write the pages, which Sphinx finds beside each other."""
    folders = [str(DOCS / "_ext"), str(DOCS)]
    sys.path[:0] = folders
    try:
        import failures
        import metric_pages
        import worked_examples
    finally:
        for folder in folders:
            sys.path.remove(folder)
    return SimpleNamespace(pages=metric_pages, failures=failures, worked=worked_examples)


@pytest.fixture(scope="module")
def written(extension) -> dict[tuple[str, str], str]:
    """Every page, with a stand-in for the fault that is measured when the pages are built."""
    fault = extension.failures.Fault("A fault", "What is wrong.")
    spot = extension.failures.BlindSpot(fault, 1.0, 1.0)
    return {
        (kind, name): extension.pages.page(kind, metric, spot)
        for kind, metrics in KINDS.items()
        for name, metric in metrics.items()
    }


@pytest.mark.parametrize(("kind", "name"), ALL, ids=[f"{kind}-{name}" for kind, name in ALL])
def test_a_page_has_every_part(extension, written, kind, name):
    page = written[kind, name]
    title, told, *_ = page.split("\n\n")
    assert title.startswith("# ")
    assert len(told) > 20
    parts = dict(zip(*[iter(re.split(r"\n## (.+)\n", page)[1:])] * 2, strict=True))
    assert tuple(parts) == extension.pages.SECTIONS
    assert re.search(r"\n\$\$\n.{3,}\n\$\$\n", parts["Formula"])
    assert ">>> " in parts["Worked example"]
    assert len(parts["Worked example"].partition("\n```\n")[2].split()) >= 2
    assert parts["Parameters"].count("\n| ") >= 2
    assert "calipers " in parts["How to run it"]
    assert "### For example: a fault" in parts["What it does not see"]
    assert "](" in parts["Related"]


@pytest.mark.parametrize(("kind", "name"), ALL, ids=[f"{kind}-{name}" for kind, name in ALL])
def test_an_example_comes_out(extension, kind, name):
    example = extension.worked.WORKED[kind][name]
    test = doctest.DocTestParser().get_doctest(example.doctest, {}, name, None, None)
    assert test.examples[-1].want == example.printed + "\n"
    try:
        doctest.DebugRunner(verbose=False).run(test)
    except doctest.UnexpectedException as failure:
        lack_of(failure.exc_info[1])
        raise


def test_links_lead_to_pages_that_are_there(written):
    names = {f"{'' if kind == 'embeddings' else kind[:-1] + '.'}{name}.md" for kind, name in ALL}
    for place, page in written.items():
        for target in re.findall(r"\]\(([^)#]+)\)", page):
            there = (DOCS / target[3:]).exists() if target.startswith("../") else target in names
            assert there, (place, target)
        for module, name in re.findall(r"\{doc\}`(calipers[\w.]*)\.(\w+) <", page):
            owner = calipers
            for part in module.split(".")[1:]:
                owner = getattr(owner, part)
            assert name in (getattr(owner, "__all__", None) or dir(owner)), (place, name)


def test_examples_are_of_metrics_that_exist(extension):
    for kind, examples in extension.worked.WORKED.items():
        assert set(examples) == set(KINDS[kind])
