"""What a second comparison with one reference costs, beside the first and beside a fresh one.

``python research/benchmarks/reference.py`` prints seconds for texts that the default embedder reads
(of 12 words, a generated set that was not seen before each time) and for vectors that are given.
`fresh` is ``calipers.compare``, `first` and `later` are ``Reference.compare``, the later ones as
the median of three. All numbers are checked to be equal to those of the fresh comparison.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import calipers
from calipers.demo.corpora import paragraphs

SUPPORT = {"metrics": ["precision", "recall"], "floor": False}
USUAL: dict[str, Any] = {}


def texts(n: int, seed: int) -> list[str]:
    """Texts of 12 words, drawn from those of the demo's prose."""
    words = sorted({word for text in paragraphs() for word in text.split() if word.isalpha()})
    drawn = np.random.default_rng(seed).choice(words, (n, 12))
    return [" ".join(row) for row in drawn]


def vectors(n: int, seed: int) -> np.ndarray:
    """Vectors of 384 numbers."""
    return np.random.default_rng(seed).standard_normal((n, 384), np.float32)


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """How long a piece of work takes, and what it gives."""
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def scores(comparison: calipers.Comparison) -> dict[str, Any]:
    """All numbers of the scores, but their signatures."""
    (system,) = comparison.to_dict()["systems"]
    return system["scores"]


def measure(name: str, draw: Callable[[int, int], Any], n: int, options: dict[str, Any]) -> None:
    """Print one line."""
    options = {**options, "threads": 2}
    if draw is texts:
        options["cache"] = False
    calipers.compare(draw(110, 7), draw(110, 8), **options)  # imports and loads
    given, sets = draw(n, 0), [draw(n, seed) for seed in (1, 2, 3, 4)]
    fresh, plain = seconds(lambda: calipers.compare(given, sets[3], **options))
    reference = calipers.Reference(given)
    times = [seconds(lambda own=own: reference.compare(own, **options)) for own in sets]
    equal = scores(times[3][1]) == scores(plain)
    later = statistics.median(taken for taken, _ in times[1:])
    first = times[0][0]
    print(
        f"{name:28} {n:7,} {fresh:7.2f} {first:7.2f} {later:7.2f} {later / first:7.2f}  "
        f"{'equal' if equal else 'DIFFERENT'}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=500, help="texts of each set")
    n = parser.parse_args().n
    print(f"{'':28} {'n':>7} {'fresh':>7} {'first':>7} {'later':>7} {'ratio':>7}")
    measure("texts, precision and recall", texts, n, SUPPORT)
    measure("texts, as compare does", texts, n, USUAL)
    measure("vectors, precision, recall", vectors, 20 * n, SUPPORT)
    measure("vectors, as compare does", vectors, 4 * n, USUAL)


if __name__ == "__main__":
    main()
