"""The default text embedder against `SentenceTransformer.encode` as it comes, on the same texts.

    python research/benchmarks/embedder.py --n 2000 --threads 2

Ours gives two views, theirs one. All sides run in one process, in turn in every round, so that a
busy moment hits all of them. The texts are those of AG News (title and description of each item
in ``ag_news/test.csv``, in the folder that CALIPERS_DATA names, by default ``../shared/data``
beside the checkout), or the lines of any file given with ``--texts``.
"""

from __future__ import annotations

import argparse
import csv
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from calipers.embedders import Embedder, embed, load_embedder
from calipers.embedders.minilm import find_model
from calipers.samples import SampleSet

THEIRS = "SentenceTransformer.encode"
Views = dict[str, np.ndarray]


def news(n: int) -> list[str]:
    root = Path(__file__).resolve().parents[2]
    path = Path(os.environ.get("CALIPERS_DATA", root.parent / "shared" / "data"))
    path = path / "ag_news" / "test.csv"
    if not path.is_file():
        sys.exit(
            f"{path} is missing: set CALIPERS_DATA to a folder that holds ag_news/test.csv, "
            "or name a file with one text a line with --texts FILE"
        )
    with path.open(encoding="utf-8", newline="") as file:
        return [f"{title}. {about}" for _, title, about in csv.reader(file)][:n]


def lines(path: Path, n: int) -> list[str]:
    if not path.is_file():
        sys.exit(f"{path} is missing: --texts needs a file with one text a line")
    return path.read_text(encoding="utf-8").splitlines()[:n]


def theirs(texts: list[str], device: str) -> Callable[[], Views]:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(find_model()), device=device)
    return lambda: {"meaning": model.encode(texts)}


def ours(texts: list[str], embedder: Embedder) -> Callable[[], Views]:
    samples = SampleSet.from_texts(texts, name="texts")
    return lambda: dict(embed(samples, embedder, cache=None).views)


def side_by_side(
    sides: dict[str, Callable[[], Views]],
    repeats: int,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[dict[str, list[float]], dict[str, Views]]:
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    views: dict[str, Views] = {}
    for round_ in range(repeats + 1):
        for name, work in sides.items():
            start = clock()
            views[name] = work()
            if round_:  # the first round warms up
                seconds[name].append(clock() - start)
    return seconds, views


def cosine(one: np.ndarray, two: np.ndarray) -> float:
    norms = np.linalg.norm(one, axis=1) * np.linalg.norm(two, axis=1)
    return float(((one * two).sum(axis=1) / norms).mean())


def show(seconds: dict[str, list[float]], views: dict[str, Views]) -> None:
    base = statistics.median(seconds[THEIRS])
    for name, runs in seconds.items():
        median = statistics.median(runs)
        line = f"{name:28} {median:7.2f} s  ({min(runs):.2f} to {max(runs):.2f})"
        if name != THEIRS:
            found, expected = views[name]["meaning"], views[THEIRS]["meaning"]
            line += f"  {base / median:.2f}x faster"
            line += f"  meaning: largest difference {np.abs(found - expected).max():.1e}"
            line += f", mean cosine {cosine(found, expected):.6f}"
        print(line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=2000)
    parser.add_argument("--texts", type=Path, help="a file with one text a line")
    parser.add_argument("--threads", type=int, help="threads of torch (default: its own choice)")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    texts = lines(options.texts, options.n) if options.texts else news(options.n)
    import torch

    if options.threads:
        torch.set_num_threads(options.threads)
        os.environ["RAYON_NUM_THREADS"] = str(options.threads)  # those of the tokenizers
    sides = {THEIRS: theirs(texts, options.device)}
    for dtype in ("float32", "auto"):
        embedder = load_embedder("minilm", device=options.device, dtype=dtype)
        sides[f"calipers {dtype} ({embedder.signature['dtype']})"] = ours(texts, embedder)
    where = f"{options.device}, {torch.get_num_threads()} threads, torch {torch.__version__}"
    print(f"{len(texts)} texts, {where}, medians of {options.repeats} interleaved runs")
    seconds, views = side_by_side(sides, options.repeats)
    show(seconds, views)
    exact, fast = (views[name]["form"] for name in list(sides)[1:])
    print(f"form, float32 against auto: mean cosine {cosine(exact, fast):.6f}")


if __name__ == "__main__":
    main()
