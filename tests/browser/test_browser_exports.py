"""The tables for a README and a notebook, rendered and opened: names in them stay text."""

from __future__ import annotations

import pytest

from calipers.report.export_markdown import markdown_table
from calipers.report.notebook import notebook_html

PAGE = "<!doctype html><meta charset=utf-8><title>table</title><body>{}</body>"
FOUND = """() => {
  const all = (selector) => Array.from(document.querySelectorAll(selector));
  const names = all("*").flatMap((each) => Array.from(each.attributes, (a) => a.name));
  return {
    hacked: window.hacked ?? null,
    handlers: names.filter((name) => name.startsWith("on")),
    elements: all("script, img, iframe, svg, form, a[href^='javascript']").length,
    rows: all("tbody tr").length,
  };
}"""


def named(data, names):
    """The same comparison, its systems called otherwise."""
    systems = [each | {"name": name} for each, name in zip(data["systems"], names, strict=False)]
    told = [f"beware of {name}" for name in names]
    return data | {"systems": systems, "tests": [], "warnings": told}


def as_markdown(data):
    parser = pytest.importorskip("markdown_it").MarkdownIt("gfm-like", {"linkify": False})
    return parser.render(markdown_table(data))  # with raw HTML, as a lenient viewer renders it


@pytest.mark.parametrize("written", [as_markdown, notebook_html])
@pytest.mark.parametrize("which", ["INJECTED", "ODD"])
def test_names_stay_text(window, report, hostile, written, which):
    names, data = list(getattr(hostile, which).values()), report.made["comparison"]
    size = len(data["systems"])
    for start in range(0, len(names), size):
        several = named(data, (names[start:] + names)[:size])
        html = written(several).encode("utf-8", "strict").decode()
        page = window.open(PAGE.format(html), ready=False)
        found = page.evaluate(FOUND)
        assert found["rows"] >= size
        assert found | {"rows": 0} == {"hacked": None, "handlers": [], "elements": 0, "rows": 0}
