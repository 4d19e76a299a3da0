"""Pages that stand at the root of the repository, shown on the site too, and links to them."""

from __future__ import annotations

import re
from pathlib import Path

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]

SHOWN = {"contributing": "CONTRIBUTING.md", "changelog": "CHANGELOG.md"}
"""Page of the site to the file that it shows."""

PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
"""File at the root to the page that stands for it."""

LINK = re.compile(r"\]\((?P<up>\.\./)?(?P<file>README\.md|CONTRIBUTING\.md|CHANGELOG\.md)(?=[)#])")


def read(app: Sphinx, page: str, source: list[str]) -> None:
    """Show a file of the root in the place of a page, and turn links to such files to it."""
    if name := SHOWN.get(page):
        app.env.note_dependency(str(ROOT / name))
        source[0] = (ROOT / name).read_text("utf-8").replace("](docs/", "](")
    source[0] = LINK.sub(lambda found: f"]({PAGES[found['file']]}", source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the reader, and name the languages of code blocks that Pygments does not know."""
    app.connect("source-read", read)
    app.add_lexer("csv", TextLexer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
