"""Two populations whose divergence is known, cut into k cells: real news, or synthetic vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ag_news import BUSINESS, SCIENCE, SPORTS, WORLD, news
from calipers.embedders import Cache, embed, load_embedder
from calipers.estimate import preprocess, quantise
from calipers.samples import as_sample_set

SIDE = 3_800
FEWER = 650
Cells = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Population:
    """All rows of both sides; a distribution here is the shares of its rows in the cells."""

    name: str
    tells: str
    reference: np.ndarray
    generated: np.ndarray

    def cells(self, k: int, *, seed: int, threads: int | None) -> Cells:
        """Shares of both sides over the k cells of one joint k-means run."""
        found = quantise(
            self.reference, self.generated, buckets=k, restarts=1, seed=seed, threads=threads
        )
        counts = found.best
        return counts.reference / counts.reference.sum(), counts.generated / counts.generated.sum()


def news_population(folder: Path, *, seed: int) -> Population:
    """AG News, every item once: the sides hold the four topics in opposite proportions."""
    rng, topics = np.random.default_rng(seed), news(folder)
    sides: tuple[list[str], list[str]] = ([], [])
    for first, pair in enumerate(((WORLD, SPORTS), (BUSINESS, SCIENCE))):
        for topic in pair:
            texts = [topics[topic][i] for i in rng.permutation(len(topics[topic]))]
            sides[1 - first].extend(texts[:FEWER])
            sides[first].extend(texts[FEWER:])
    return _prepared(
        "AG News",
        f"{len(sides[0]):,} items a side, topics about 2 : 1 against 1 : 2, embedder minilm",
        *map(_embedded, sides),
    )


def synthetic_population(*, seed: int) -> Population:
    """Gaussian clusters in 16 dimensions with Zipf(1) weights, in opposite order on the sides."""
    rng = np.random.default_rng(seed)
    centres = 3 * rng.normal(size=(40, 16))
    weights = 1 / np.arange(1, 41)
    weights /= weights.sum()
    sides = (_clustered(centres, w, rng) for w in (weights, weights[::-1]))
    return _prepared(
        "Synthetic", f"{SIDE:,} rows a side, 40 clusters, Zipf(1) in opposite order", *sides
    )


def populations(folder: Path, *, seed: int) -> list[Callable[[], Population]]:
    """What can be had: the news where they are, and always the synthetic one."""
    found: list[Callable[[], Population]] = []
    if (folder / "ag_news" / "test.csv").is_file():
        found.append(lambda: news_population(folder, seed=seed))
    return [*found, lambda: synthetic_population(seed=seed)]


def _embedded(texts: list[str]) -> np.ndarray:
    samples = as_sample_set(texts, name="AG News")
    return embed(samples, load_embedder("minilm"), cache=Cache()).views["meaning"]


def _clustered(centres: np.ndarray, weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    which = rng.choice(len(centres), SIDE, p=weights)
    return centres[which] + rng.normal(size=(SIDE, centres.shape[1]))


def _prepared(name: str, tells: str, reference: np.ndarray, generated: np.ndarray) -> Population:
    rows = preprocess(reference, generated)
    return Population(name, tells, rows.reference, rows.generated)
