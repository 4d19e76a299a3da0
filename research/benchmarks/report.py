"""What the HTML report costs: seconds to render, its size, seconds until a browser has it ready.

    python research/benchmarks/report.py --n 4000 --systems 4

Texts of some 300 words are drawn by a seed, from the AG News descriptions in the folder that
CALIPERS_DATA names, or from made-up words; every system prefers other topics. They are embedded as
sums of one random vector for each word, compared and saved, and the report is rendered from the
saved file as `calipers report` does it, with the explanations and the map that were kept; how long
they take anew is told apart. Then headless Chromium opens it
from the disk, each time in a new context, and goes to a picture as soon as the table sorts: to the
first chart, or to the map. A long task is one that holds up the page for more than 50 ms.

Exits with 1 if rendering takes 5 s or more, the file 12 MB or more, or the page 2 s or more.
"""

from __future__ import annotations

import argparse
import csv
import os
import shutil
import statistics
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

import calipers
from calipers.embedders import EncodedBatch
from calipers.report.html import html_page
from calipers.results import Comparison
from calipers.samples import SampleSet

SECONDS, BYTES, INTERACTIVE = 5.0, 12e6, 2.0
TOPICS, DIMENSIONS = 12, 384
# As soon as the table sorts, the window goes to a picture: they are drawn as they come near.
WATCH = """
window.started = { tasks: [], table: null, picture: null };
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.started.tasks.push(entry.duration / 1000);
}).observe({ type: "longtask", buffered: true });
(function look() {
  const page = document.documentElement;
  const sorts = page?.classList.contains("scripted") && document.readyState !== "loading";
  if (sorts && window.started.table === null) {
    window.started.table = performance.now() / 1000;
    document.querySelector("HOST").scrollIntoView({ behavior: "instant" });
  }
  if (!document.querySelector("DRAWN")) requestAnimationFrame(look);
  else window.started.picture = performance.now() / 1000;
})();
"""
PICTURES = {
    "map": ("[data-picture=map]", "[data-picture=map] canvas[data-ready=true]"),
    "first chart": ("[data-picture=plane]", "[data-picture=plane][data-drawn]"),
}
READY = "() => window.started.picture !== null"
MEASURE = "() => window.started"
T = TypeVar("T")


class Sums:
    """Embeds a text as the sum of one random vector for each of its words."""

    name = "sums"
    views = ("meaning", "form")
    identity = "sums of random vectors"
    signature = {"embedder": "sums"}  # noqa: RUF012 - the protocol asks for a plain mapping

    def __init__(self) -> None:
        self.of_words: dict[str, np.ndarray] = {}

    def embed(self, samples: Sequence[str]) -> EncodedBatch:
        meaning = np.stack([self._sum(text.lower().split()) for text in samples])
        form = np.stack([self._sum([word[-2:] for word in text.split()]) for text in samples])
        return EncodedBatch({"meaning": meaning, "form": form}, np.zeros(len(samples), dtype=bool))

    def _sum(self, words: list[str]) -> np.ndarray:
        total: np.ndarray = np.sum([self._vector(word) for word in words], axis=0)
        return total.astype(np.float32)

    def _vector(self, word: str) -> np.ndarray:
        if word not in self.of_words:
            rng = np.random.default_rng(zlib.crc32(word.encode()))
            self.of_words[word] = rng.standard_normal(DIMENSIONS).astype(np.float32)
        return self.of_words[word]


def sentences() -> list[str]:
    """Real sentences where CALIPERS_DATA is set, else sentences of made-up words."""
    folder = os.environ.get("CALIPERS_DATA")
    if folder:
        with (Path(folder) / "ag_news" / "test.csv").open(encoding="utf-8", newline="") as lines:
            return sorted(
                (row[2] for row in csv.reader(lines)), key=lambda text: zlib.crc32(text.encode())
            )
    rng = np.random.default_rng(1)
    syllables = [start + vowel for start in "bdfghjklmnprstvwz" for vowel in "aeiou"]
    words = ["".join(rng.choice(syllables, rng.integers(1, 4))) for _ in range(8000)]
    shares = 1 / np.arange(1, len(words) + 1)
    drawn = rng.choice(len(words), (7600, 30), p=shares / shares.sum())
    return [" ".join(words[place] for place in row) + "." for row in drawn]


def texts(pool: Sequence[str], n: int, words: int, topics: np.ndarray, seed: int) -> list[str]:
    """Texts of this many words; a topic is a stretch of the pool, drawn by its share."""
    rng = np.random.default_rng(seed)
    stretch = len(pool) // len(topics)
    made = []
    for topic in rng.choice(len(topics), n, p=topics / topics.sum()):
        rows = topic * stretch + rng.integers(0, stretch, 2 + words // 20)
        made.append(" ".join(" ".join(pool[row] for row in rows).split()[:words]))
    return made


def compared(n: int, systems: int, words: int) -> Comparison:
    """Compare systems of which each neglects and prefers other topics."""
    pool, rng = sentences(), np.random.default_rng(0)
    even = np.ones(TOPICS)
    sets = [texts(pool, n, words, even, 1)]
    sets += [texts(pool, n, words, rng.gamma(0.8, size=TOPICS), 2 + at) for at in range(systems)]
    reference, *generated = (
        SampleSet.from_texts(rows, name=f"system {at}" if at else "human")
        for at, rows in enumerate(sets)
    )
    by_name = {each.name: each for each in generated}
    return calipers.compare(reference, by_name, embedder=Sums(), cache=False)


def timed(run: Callable[[], T]) -> tuple[float, T]:
    start = time.perf_counter()
    made = run()
    return time.perf_counter() - start, made


def rendered(saved: Path, repeats: int) -> tuple[dict[str, list[float]], str]:
    """Seconds of each stage from the saved file to HTML, and the HTML."""
    seconds: dict[str, list[float]] = {"read": [], "explanations and map": [], "render": []}
    for _ in range(repeats):
        read, comparison = timed(lambda: Comparison.load(saved))
        explain, data = timed(comparison.report_data)
        render, html = timed(partial(html_page, data))
        for stage, spent in zip(seconds, (read, explain, render), strict=True):
            seconds[stage].append(spent)
    return seconds, html


@contextmanager
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    named = os.environ.get("CALIPERS_BROWSER", "")
    names = (named, "chromium", "chromium-browser", "google-chrome")
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        raise SystemExit("no browser found; CALIPERS_BROWSER may name one")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


def opened(page: Path, repeats: int) -> dict[str, list[dict[str, Any]]]:
    """What the page says of its own start, by the picture that is gone to at once."""
    found: dict[str, list[dict[str, Any]]] = {picture: [] for picture in PICTURES}
    with chromium() as browser:
        for _ in range(repeats):
            for picture, (host, drawn) in PICTURES.items():
                context = browser.new_context(viewport={"width": 1280, "height": 800})
                context.add_init_script(WATCH.replace("HOST", host).replace("DRAWN", drawn))
                tab = context.new_page()
                tab.goto(page.as_uri(), wait_until="commit")
                tab.wait_for_function(READY)
                found[picture].append(tab.evaluate(MEASURE))
                context.close()
    return found


def spread(values: Sequence[float]) -> str:
    return f"{statistics.median(values):6.2f} s  ({min(values):.2f} to {max(values):.2f})"


def told(
    stages: dict[str, list[float]], size: int, starts: dict[str, list[dict[str, Any]]]
) -> bool:
    """Print what was measured; give whether every bound holds."""
    totals = [sum(each) for each in zip(*stages.values(), strict=True)]
    every = [start for each in starts.values() for start in each]
    answers = {"table sorts": [start["table"] for start in every]} | {
        f"{picture} drawn": [start["picture"] for start in each] for picture, each in starts.items()
    }
    for stage, seconds in stages.items():
        print(f"{stage:28} {spread(seconds)}")
    held = [
        bounded("all of it, in Python", statistics.median(totals), SECONDS, spread(totals)),
        bounded("size of the file", size, BYTES, f"{size / 1e6:6.2f} MB"),
        *(
            bounded(what, statistics.median(seconds), INTERACTIVE, spread(seconds))
            for what, seconds in answers.items()
        ),
    ]
    longest = [max(start["tasks"], default=0.0) for start in every]
    print(f"{'longest task of the page':28} {spread(longest)}")
    return all(held)


def bounded(what: str, value: float, bound: float, shown: str) -> bool:
    within = value < bound
    limit = f"{bound / 1e6:g} MB" if bound > 1e5 else f"{bound:g} s"
    print(f"{what:28} {shown}  {'within' if within else 'over'} {limit}")
    return within


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, default=4000, help="texts in every set (4000)")
    parser.add_argument("--systems", type=int, default=4, help="generated sets (4)")
    parser.add_argument("--words", type=int, default=300, help="words in every text (300)")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each (5)")
    parser.add_argument(
        "--saved", type=Path, help="a comparison saved before, instead of a new one"
    )
    parser.add_argument("--keep", type=Path, help="folder to keep run.zip and report.html in")
    asked = parser.parse_args()
    print(f"{asked.systems} systems of {asked.n} texts of {asked.words} words")
    with tempfile.TemporaryDirectory() as folder:
        place = asked.keep or Path(folder)
        saved = asked.saved or place / "run.zip"
        if asked.saved is None:
            result = compared(asked.n, asked.systems, asked.words)
            made, _ = timed(result.report_data)
            print(f"{'explanations and map anew':28} {made:6.2f} s")
            result.save(saved)
        stages, html = rendered(saved, asked.repeats)
        page = place / "report.html"
        page.write_text(html, encoding="utf-8")
        size = page.stat().st_size
        starts = opened(page, asked.repeats)
    return int(not told(stages, size, starts))


if __name__ == "__main__":
    sys.exit(main())
