"""AG News mixtures: do all estimators put systems in the order of what they invent?"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

from ag_news import BUSINESS, SCIENCE, SPORTS, WORLD, news
from calipers import LikelihoodRatios, SampleSet, divergence_frontier
from calipers.catalogue.estimation import PAIRED_C
from calipers.curves.frontier import Estimate
from calipers.embedders.cache import Cache
from calipers.embedders.catalogue import load_embedder
from calipers.embedders.pipeline import embed
from calipers.estimate.axes import preprocess
from calipers.estimate.estimators import estimate_ratios
from calipers.estimate.quantise import quantise

Rows = np.ndarray
SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
NAMES = ("quantisation", "knn", "kde", "classifier", "boosted", "gaussian")


def embedded(folder: Path) -> tuple[dict[str, Rows], Rows]:
    """Vectors of all items in every view, and the topic of each."""
    topics = news(folder)
    texts = [text for items in topics.values() for text in items]
    labels = np.repeat(list(topics), [len(items) for items in topics.values()])
    samples = SampleSet.from_texts(texts, name="AG News")
    return dict(embed(samples, load_embedder("minilm"), cache=Cache()).views), labels


def systems(labels: Rows, rng: np.random.Generator) -> tuple[Rows, dict[float, Rows]]:
    """Rows of the reference, half of World and Sports, and of the systems, all of its size."""
    known = rng.permutation(np.flatnonzero(np.isin(labels, (WORLD, SPORTS))))
    others = rng.permutation(np.flatnonzero(np.isin(labels, (BUSINESS, SCIENCE))))
    half = len(known) // 2
    unseen = known[half:]
    return known[:half], {
        share: np.concatenate([unseen[round(share * half) : half], others[: round(share * half)]])
        for share in SHARES
    }


def estimate(name: str, x: Rows, y: Rows, seed: int, threads: int | None) -> Estimate:
    """What is read from, by the name of the estimator."""
    if name == "quantisation":
        cells = quantise(x, y, seed=seed, threads=threads)
        return cells.best.smoothed("krichevsky-trofimov")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # separated at 100 %
        found: LikelihoodRatios = estimate_ratios(name, x, y, seed=seed, threads=threads)
    return found


def mauve(vectors: Rows, labels: Rows, *, seed: int, threads: int | None) -> Rows:
    """MAUVE of every system by every estimator, ``(systems, estimators)``, from one split."""
    reference, generated = systems(labels, np.random.default_rng(seed))
    values = np.zeros((len(SHARES), len(NAMES)))
    for row, rows in enumerate(generated.values()):
        sets = preprocess(vectors[reference], vectors[rows])
        for column, name in enumerate(NAMES):
            found = estimate(name, sets.reference, sets.generated, seed, threads)
            values[row, column] = divergence_frontier(found).area(PAIRED_C[name])
    return values


def table(view: str, values: Rows) -> list[str]:
    """Means over the splits, and how many splits are in the right order, as Markdown."""
    heads = [f"{name}, c = {PAIRED_C[name]:g}" for name in NAMES]
    lines = [f"| {view} | " + " | ".join(heads) + " |", "| --- " * (len(heads) + 1) + "|"]
    for row, share in enumerate(SHARES):
        cells = (f"{v.mean():.3f} ± {v.std():.3f}" for v in values[:, row].T)
        lines.append(f"| {share:.0%} other topics | " + " | ".join(cells) + " |")
    right = (np.diff(values, axis=1) < 0).all(axis=1).sum(axis=0)
    lines.append("| splits in order | " + " | ".join(f"{r} of {len(values)}" for r in right) + " |")
    return [*lines, ""]
