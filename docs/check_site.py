"""Check a built site: every link within it leads somewhere, and no page takes anything from
elsewhere.

``python docs/check_site.py build/docs`` tells of each page

- links to files or to places in pages that are not there;
- styles, scripts, fonts and pictures that a browser would fetch from another host;
- addresses of other hosts that no browser could open.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FETCHED = {"link", "script", "img", "source", "iframe", "video", "audio", "object", "embed", "use"}
"""Elements whose address a browser opens by itself."""

NAMES = {"canonical", "license", "next", "prev", "search", "index", "author"}
"""Relations of ``link`` elements that are only names."""

STYLE_ADDRESS = re.compile(
    r"""(?:url\(\s*['"]?|@import\s+['"])(?P<address>(?:https?:)?//[^'")\s]+)"""
)
ADDRESS = re.compile(
    r"https?://[\w.-]+\.\w+(?::\d+)?(?:[/?#]\S*)?|https?://(?:localhost|[\d.]+)(?:[:/]\S*)?"
)
PLAIN = ("http", "https")


@dataclass
class Page(HTMLParser):
    """The places and the links of one page.

    Attributes
    ----------
    places
        The ids that a link may lead to.
    links
        The element, and the address, of everything that it names.
    """

    places: set[str] = field(default_factory=set)
    links: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the place that an element is, and where it leads."""
        known = {name: value or "" for name, value in attrs}
        self.places.update(known[name] for name in ("id", "name") if name in known)
        if tag == "link" and NAMES & set(known.get("rel", "").split()):
            return
        self.links += [(tag, known[name]) for name in ("href", "src", "data") if known.get(name)]


def read(path: Path) -> Page:
    """Read a page of the site."""
    page = Page()
    page.feed(path.read_text("utf-8"))
    return page


def faults(site: Path) -> Iterator[str]:
    """Tell what is wrong with the pages and the styles of a site."""
    found = (path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts)
    pages = {path.resolve(): read(path) for path in found}
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        for tag, address in page.links:
            if fault := _of_link(path, tag, address, pages):
                yield f"{name}: {fault}"
    for path in sorted(site.rglob("*.css")):
        for found in STYLE_ADDRESS.finditer(path.read_text("utf-8")):
            yield f"{path.relative_to(site)}: fetches {found['address']}"


def _of_link(path: Path, tag: str, address: str, pages: dict[Path, Page]) -> str | None:
    parts = urlsplit(address)
    if parts.scheme in PLAIN or address.startswith("//"):
        if tag in FETCHED:
            return f"<{tag}> fetches {address}"
        return None if ADDRESS.fullmatch(address) else f"no browser can open {address}"
    if parts.scheme:
        return None  # mailto: and data:
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.exists():
        return f"there is no {address}"
    place = unquote(parts.fragment)
    if place and target in pages and place not in pages[target].places:
        return f"{address}: the page has no such place"
    return None


def main() -> int:
    """Check the site that is named; tell what is wrong."""
    if len(sys.argv) != 2 or not (site := Path(sys.argv[1])).is_dir():
        sys.stderr.write("usage: python docs/check_site.py FOLDER\n")
        return 2
    found = sorted({*faults(site)})
    for each in found:
        sys.stderr.write(f"{each}\n")
    if not any(site.rglob("*.html")):
        sys.stderr.write(f"{site}: no page\n")
        return 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
