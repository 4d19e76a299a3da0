"""A real browser for the HTML report; nothing that it says or asks for goes unseen.

Without a browser or without playwright these tests skip, unless ``CALIPERS_REQUIRE_ALL`` is 1: then
they fail. ``CALIPERS_BROWSER`` names the browser where it is not found by itself.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from extras import lack, need

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
LOCAL = ("data:", "blob:")


def _beside(name: str) -> ModuleType:
    """Import a helper that stands beside this file."""
    path = Path(__file__).parent / f"{name}.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _annotation_helpers() -> None:
    """Let tests import what the tests of studies use."""
    if "annotation_helpers" not in sys.modules:
        _beside("../annotation/annotation_helpers")


def _executable() -> str:
    named = os.environ.get("CALIPERS_BROWSER")
    found = shutil.which(named) if named else next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        lack("a browser", named or " or ".join(BROWSERS))
    return found


_annotation_helpers()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One browser for all tests."""
    api = need("playwright.sync_api")
    executable = _executable()
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=executable, args=QUIET)
        yield started
        started.close()


@dataclass
class Heard:
    """What a page said, asked for or tried, in the order that it happened."""

    console: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    windows: list[str] = field(default_factory=list)

    def everything(self) -> list[str]:
        return self.console + self.errors + self.requests + self.windows

    def listen(self, context: Any, allowed: str) -> None:
        """Write down what happens in a browser context that may open one file alone."""

        def answer(route: Any) -> None:
            url = route.request.url
            if url.partition("#")[0] == allowed or url.startswith(LOCAL):
                route.continue_()
            else:
                route.abort()

        def asked(request: Any) -> None:
            url = request.url
            if url.partition("#")[0] != allowed and not url.startswith(LOCAL):
                self.requests.append(url)

        def said(message: Any) -> None:
            if message.type in ("error", "warning"):
                self.console.append(f"{message.type}: {message.text}")

        def dialog(opened: Any) -> None:
            self.windows.append(f"dialog: {opened.message}")
            opened.dismiss()

        context.route("**/*", answer)
        context.on("request", asked)
        context.on("console", said)
        context.on("weberror", lambda error: self.errors.append(str(error.error)))
        context.on("dialog", dialog)


@dataclass
class Window:
    """Opens pages from files, each in a context of its own, and keeps what was heard of them."""

    browser: Any
    folder: Path
    contexts: list[Any] = field(default_factory=list)
    hearing: list[Heard] = field(default_factory=list)

    def open(self, html: str, *, fragment: str = "", ready: bool = True, **settings: Any) -> Any:
        """Open the HTML in a page with these settings of Playwright's ``new_context``."""
        path = self.folder / f"report-{len(self.contexts)}.html"
        path.write_text(html, encoding="utf-8", newline="")
        context, heard = self.browser.new_context(**settings), Heard()
        self.contexts.append(context)
        self.hearing.append(heard)
        context.set_default_timeout(10_000)
        heard.listen(context, path.as_uri())
        page = context.new_page()
        context.on("page", lambda popup: heard.windows.append(f"window: {popup.url}"))
        page.goto(path.as_uri() + fragment)
        if ready:
            wait_until_ready(page)
        return page

    @property
    def heard(self) -> Heard:
        """What was heard of the page opened last."""
        return self.hearing[-1]


@pytest.fixture
def window(browser: Any, tmp_path: Path) -> Iterator[Window]:
    """A window for one test; at its end nothing may have been heard of any page."""
    opened = Window(browser, tmp_path)
    yield opened
    for context in opened.contexts:
        context.close()
    assert [heard.everything() for heard in opened.hearing] == [[] for _ in opened.hearing]


@pytest.fixture(scope="session")
def samples() -> ModuleType:
    """The module that makes report data."""
    return _beside("report_samples")


@pytest.fixture(scope="session")
def hostile() -> ModuleType:
    """The module that holds words which try to do harm."""
    return _beside("hostile")


@dataclass
class Renderer:
    """Renders reports on small data that were compared once."""

    samples: ModuleType
    made: dict[str, Any]

    def __call__(self, **changed: Any) -> str:
        """Render with other words in it; see ``report_data`` beside this file."""
        return self.render(self.samples.report_data(self.made, **changed))

    def render(self, data: dict[str, Any]) -> str:
        """Render this data as it comes back from a file."""
        from calipers.report.html import html_page
        from hand_made import comparison_of

        return html_page(comparison_of(self.samples.as_if_read(data)), redact=data["redacted"])


@pytest.fixture(scope="session")
def report(samples: ModuleType) -> Renderer:
    return Renderer(samples, samples.compared())


@pytest.fixture(scope="session")
def plain(report: Renderer) -> str:
    """The report on friendly texts."""
    return report()


@pytest.fixture(scope="session")
def light(plain: str) -> str:
    """The same without plotly, for tests that need no chart: most of the time goes to its start."""
    return without_plotly(plain)


def without_plotly(html: str) -> str:
    """Take out the source of plotly, most of the file."""
    bare, taken = re.subn(r'(?s)<script[^>]*id="plotly-source".*?</script>', "", html)
    assert taken == 1
    assert len(html) - len(bare) > 4e5
    return bare


def wait_until_ready(page: Any) -> None:
    """Wait until the page's own script has run and its map, if it has one, is painted.

    The map is made when it comes near, so the page goes there and back.
    """
    page.wait_for_function('() => document.documentElement.classList.contains("scripted")')
    before = page.evaluate(
        """() => {
          const before = window.scrollY;
          document.querySelector('[data-picture="map"]')?.scrollIntoView({ behavior: "instant" });
          return before;
        }"""
    )
    page.wait_for_function(
        """() => Array.from(document.querySelectorAll('[data-picture="map"]')).every((host) =>
            host.querySelector(".picture-missing, canvas[data-ready='true']"))"""
    )
    page.evaluate("(before) => window.scrollTo({ top: before, behavior: 'instant' })", before)


@pytest.fixture(scope="session")
def trimmed() -> Callable[[str], str]:
    """Take plotly out of a page, for tests that need no chart."""
    return without_plotly
