"""For language models: ``llms.txt``, a line a page, and ``llms-full.txt``, the pages' text."""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

SUMMARY = (
    "# Calipers\n\n> Compares sets of samples of generative models with a reference set, as "
    "distributions: how good (precision), how diverse (recall, coverage) and how close (MAUVE*), "
    "with intervals and tests. "
    "Command line: `calipers compare --reference human.jsonl model.jsonl`. "
    'Python: `calipers.compare(human, {"model": texts})`.\n'
)
SECTIONS = {"gallery/": "Gallery", "metrics/": "Metrics", "api/": "API reference", "": "Pages"}
"""How the names of pages begin, and the section that they are listed in."""


def first_sentence(app: Sphinx, page: str) -> str:
    """Return the beginning of a page's first paragraph, on one line."""
    for paragraph in app.env.get_doctree(page).findall(nodes.paragraph):
        text = " ".join(paragraph.astext().split())
        if text and isinstance(paragraph.parent, nodes.section):
            return text if len(text) <= 160 else text[:157].rsplit(" ", 1)[0] + " ..."
    return ""


def ordered(app: Sphinx) -> list[str]:
    """List all pages, in the order of the tables of contents."""
    found: dict[str, None] = {}

    def follow(page: str) -> None:
        if page not in found:
            found[page] = None
            for child in app.env.toctree_includes.get(page, []):
                follow(child)

    follow(app.config.root_doc)
    return [*found, *sorted(app.env.found_docs - found.keys())]


def write(app: Sphinx, failure: Exception | None) -> None:
    """Write both files beside the front page."""
    if failure is not None or app.builder.format != "html":
        return
    pages = ordered(app)
    sections: dict[str, list[str]] = {name: [] for name in reversed(SECTIONS.values())}
    for page in pages:
        section = next(name for start, name in SECTIONS.items() if page.startswith(start))
        title = app.env.titles[page].astext()
        told = first_sentence(app, page)
        sections[section].append(f"- [{title}]({page}.html)" + (f": {told}" if told else ""))
    parts = [
        SUMMARY,
        *(f"## {name}\n\n" + "\n".join(lines) + "\n" for name, lines in sections.items()),
    ]
    out = Path(app.outdir)
    (out / "llms.txt").write_text("\n".join(parts), "utf-8")
    whole = [
        f"<!-- {page}.html -->\n\n{path.read_text('utf-8').strip()}\n"
        for page in pages
        if (path := Path(app.env.doc2path(page))).suffix == ".md"
    ]
    (out / "llms-full.txt").write_text("\n\n".join([SUMMARY, *whole]), "utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the files when the pages are built."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
