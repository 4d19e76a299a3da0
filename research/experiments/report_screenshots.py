"""Pictures of the HTML report for the docs: on a desk and on a phone, in light and in dark.

    python research/experiments/report_screenshots.py                 # AG News, compared now
    python research/experiments/report_screenshots.py run.zip         # a comparison that was saved
    python research/experiments/report_screenshots.py --folder here   # instead of docs/images

Each picture is one window of the page, 1,280 or 400 pixels wide, scrolled to a part of it. Needs
playwright and a Chromium; CALIPERS_BROWSER may name it.
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import calipers
from ag_news import DATA, news, systems
from calipers.report.html import html_page
from calipers.results import Comparison

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
DESK, PHONE = (1280, 860), (400, 800)
COLOURS = 256
LARGEST = 300_000


@dataclass(frozen=True)
class Shot:
    """One picture: its name, the part of the page, the window and the colours."""

    name: str
    part: str
    window: tuple[int, int] = DESK
    scheme: str = "light"


SHOTS = (
    Shot("scores", "main"),
    Shot("plane", "plane"),
    Shot("map", "map"),
    Shot("samples", "samples"),
    Shot("topics", "topics"),
    Shot("dark-scores", "main", scheme="dark"),
    Shot("dark-map", "map", scheme="dark"),
    Shot("phone-scores", "main", PHONE),
    Shot("phone-map", "map", PHONE),
    Shot("phone-dark-samples", "samples", PHONE, "dark"),
)


def compared() -> Comparison:
    """Compare the sets of the topic experiment, once."""
    reference, generated = systems(news(DATA), np.random.default_rng(0))
    return calipers.compare(reference, generated)


def taken(browser: Any, page: Path, shot: Shot) -> bytes:
    """Open the page for one picture, and take it as PNG."""
    width, height = shot.window
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=shot.scheme,
        reduced_motion="reduce",
        has_touch=shot.window == PHONE,
    )
    tab = context.new_page()
    tab.goto(page.as_uri() + f"#{shot.part}")
    tab.wait_for_function("() => document.documentElement.classList.contains('scripted')")
    picture = tab.locator(f"[data-picture={shot.part}]:not([data-picture=map])")
    if picture.count():
        picture.locator(".main-svg").first.wait_for()
    if shot.part == "map":
        tab.wait_for_selector("canvas[data-ready='true']", state="attached")
        point_at_middle(tab)
    tab.wait_for_timeout(1500)  # the pictures above are drawn as they come near, and move the rest
    go_to(tab, shot.part)
    tab.wait_for_timeout(300)
    made: bytes = tab.screenshot()
    context.close()
    return made


def go_to(tab: Any, part: str) -> None:
    """Scroll to a part of the page; to its head for the whole."""
    if part == "main":
        tab.evaluate("() => window.scrollTo({ top: 0, behavior: 'instant' })")
    else:
        tab.locator(f"#{part}").evaluate("(each) => each.scrollIntoView({ behavior: 'instant' })")


def point_at_middle(tab: Any) -> None:
    """Choose the sample in the middle of the map, so that its text is shown."""
    canvas = tab.locator("canvas[data-points]")
    canvas.press("ArrowRight")
    tab.wait_for_function("() => document.querySelector('canvas').dataset.hover !== ''")
    canvas.blur()


def small(png: bytes) -> bytes:
    """The same picture packed tightly; in few colours where it is still too large."""
    image = Image.open(io.BytesIO(png)).convert("RGB")
    made = packed(image)
    return (
        made if len(made) < LARGEST else packed(image.quantize(COLOURS, Image.Quantize.FASTOCTREE))
    )


def packed(image: Image.Image) -> bytes:
    kept = io.BytesIO()
    image.save(kept, "PNG", optimize=True)
    return kept.getvalue()


def browser_path() -> str:
    """Find a browser."""
    names = (
        os.environ.get("CALIPERS_BROWSER", ""),
        "chromium",
        "chromium-browser",
        "google-chrome",
    )
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        sys.exit("no browser found; CALIPERS_BROWSER may name one")
    return found


def take_all(page: Path, folder: Path) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=browser_path(), args=["--no-sandbox", "--disable-gpu"]
        )
        for shot in SHOTS:
            picture = small(taken(browser, page, shot))
            (folder / f"report-{shot.name}.png").write_bytes(picture)
            note = "" if len(picture) < LARGEST else "  too large"
            print(f"report-{shot.name}.png  {len(picture) / 1000:.0f} kB{note}")
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("saved", nargs="?", type=Path, help="a saved comparison, or report.html")
    parser.add_argument("--folder", type=Path, default=IMAGES, help="where the pictures go")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        if asked.saved is not None and asked.saved.suffix == ".html":
            page = asked.saved.resolve()
        else:
            comparison = compared() if asked.saved is None else Comparison.load(asked.saved)
            page.write_text(html_page(comparison.report_data()), encoding="utf-8")
        take_all(page, asked.folder)


if __name__ == "__main__":
    main()
