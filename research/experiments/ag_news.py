"""Missing topics against invented topics, on AG News: the topic experiment of paper 000.

    python research/experiments/ag_news.py
    python research/experiments/ag_news.py --projection union   # as in the paper

The reference is half of the World and Sports items. Q1 has only World, Q2 the other half of both,
Q3 all four topics alike. Q1 lacks half of the reference's topics and Q3 invents as many, which
MAUVE alone cannot tell apart; precision and recall can (Le Bronnec et al., ACL 2024, section 5.2).

Reads ``ag_news/test.csv`` (class, title, description; no header) in the folder that the
environment variable CALIPERS_DATA names, by default ``../shared/data`` beside the checkout.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np

import calipers
from calipers.embedders.cache import Cache
from calipers.embedders.catalogue import load_embedder
from calipers.embedders.pipeline import embed

Item = TypeVar("Item")

DATA = Path(os.environ.get("CALIPERS_DATA", Path(__file__).resolve().parents[3] / "shared/data"))
WORLD, SPORTS, BUSINESS, SCIENCE = 1, 2, 3, 4
SHOWN = ("precision", "recall", "coverage", "mauve", "mauve_star", "prd_f1_8", "prd_f8")
SHOWN += ("frontier_f1_8", "frontier_f8")


def news(folder: Path) -> dict[int, list[str]]:
    """Titles and descriptions of the items, by topic."""
    topics: dict[int, list[str]] = {topic: [] for topic in (WORLD, SPORTS, BUSINESS, SCIENCE)}
    with (folder / "ag_news" / "test.csv").open(encoding="utf-8", newline="") as file:
        for topic, title, description in csv.reader(file):
            topics[int(topic)].append(f"{title}. {description}".replace("\\", " "))
    return topics


def embedded(topics: dict[int, list[str]]) -> tuple[dict[str, np.ndarray], dict[int, list[int]]]:
    """Vectors of all items by view, embedded once, and which rows are of each topic."""
    texts = [text for items in topics.values() for text in items]
    samples = calipers.SampleSet.from_texts(texts, name="AG News")
    views = embed(samples, load_embedder("minilm"), cache=Cache()).views
    ends = np.cumsum([0, *map(len, topics.values())]).tolist()
    spans = zip(topics, pairwise(ends), strict=True)
    return dict(views), {topic: list(range(*span)) for topic, span in spans}


def systems(
    topics: dict[int, list[Item]], rng: np.random.Generator
) -> tuple[list[Item], dict[str, list[Item]]]:
    """The reference and the three sets; World and Sports are split into disjoint halves."""
    shuffled = {
        topic: [texts[i] for i in rng.permutation(len(texts))] for topic, texts in topics.items()
    }
    half = len(shuffled[WORLD]) // 2
    seen = {topic: texts[:half] for topic, texts in shuffled.items()}
    unseen = {topic: texts[half:] for topic, texts in shuffled.items()}

    def mixed(*names: int) -> list[Item]:
        return [text for name in names for text in unseen[name][: half // len(names)]]

    return seen[WORLD] + seen[SPORTS], {
        "Q1 only World": mixed(WORLD),
        "Q2 World, Sports": mixed(WORLD, SPORTS),
        "Q3 all four topics": mixed(WORLD, SPORTS, BUSINESS, SCIENCE),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5, help="random splits to average over")
    parser.add_argument("--projection", choices=("none", "union"), default="none")
    options = parser.parse_args()
    if not (DATA / "ag_news" / "test.csv").is_file():
        sys.exit(f"there is no ag_news/test.csv in {DATA}; set CALIPERS_DATA to its folder")
    topics = news(DATA)
    vectors, rows = embedded(topics)
    found: dict[tuple[str, str, str], list[float]] = {}
    for seed in range(options.seeds):
        reference, generated = systems(rows, np.random.default_rng(seed))
        for view, every in vectors.items():
            comparison = calipers.compare(
                every[reference],
                {name: every[chosen] for name, chosen in generated.items()},
                metrics=SHOWN,
                projection=options.projection,
                normalise="l2",
                level=None,
                floor=False,
                seed=seed,
            )
            for system in comparison:
                for metric in SHOWN:
                    value = system[metric].value
                    found.setdefault((view, system.name, metric), []).append(value)
    sizes = comparison.reference.n, comparison.systems[0].summary.n
    print(f"reference n = {sizes[0]}, each set m = {sizes[1]};", end=" ")
    print(f"mean ± sd over {options.seeds} splits\n")
    for view in ("meaning", "form"):
        print(f"| {view} | " + " | ".join(SHOWN) + " |")
        print("| --- |" + " --- |" * len(SHOWN))
        for name in generated:
            cells = (found[view, name, metric] for metric in SHOWN)
            print(
                f"| {name} | "
                + " | ".join(f"{np.mean(c):.3f} ± {np.std(c):.3f}" for c in cells)
                + " |"
            )
        print()


if __name__ == "__main__":
    main()
