"""How cells are best merged into topics: Ward's method, settled, against k-means.

    python research/experiments/explanations_merging.py

The news of `explanations.py` at n = 1,000: for both ways the cost (squared distances of cells from
the mean of their topic, weighted by samples), the share of all items that belong to the commonest
class of their topic, and the three largest shares of the gap. K-means starts ten times.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from ag_news import DATA, news
from calipers.commands.embed.run import embed
from calipers.curves import contributions
from calipers.estimate import Quantisation, preprocess, quantise
from calipers.explain.topics import merged
from explanations import sets

TOPICS = 12
Merge = Callable[[NDArray[np.float64], NDArray[np.int64]], NDArray[np.intp]]


def by_k_means(points: NDArray[np.float64], weights: NDArray[np.int64]) -> NDArray[np.intp]:
    """The best of ten random starts."""
    made = KMeans(TOPICS, n_init=10, random_state=0).fit(points, sample_weight=weights)
    return np.asarray(made.labels_, np.intp)


WAYS: dict[str, Merge] = {
    "Ward, settled": lambda points, weights: merged(points, weights, TOPICS),
    "k-means": by_k_means,
}


def cells_of(reference: Sequence[str], generated: Sequence[str]) -> Quantisation:
    """The cells of two sets by the view of meaning."""
    vectors = (embed(texts).embeddings.views["meaning"] for texts in (reference, generated))
    rows = preprocess(*vectors)
    return quantise(rows.reference, rows.generated)


def measures(cells: Quantisation, classes: NDArray[np.int64], merge: Merge) -> list[float]:
    """Cost, purity and the largest shares of the gap of one way."""
    histograms = cells.best.smoothed("krichevsky-trofimov")
    weights = histograms.reference + histograms.generated
    topic = merge(cells.centres, weights)
    means = [
        np.average(cells.centres[topic == each], axis=0, weights=weights[topic == each])
        for each in range(TOPICS)
    ]
    cost = weights @ ((cells.centres - np.array(means)[topic]) ** 2).sum(axis=1)
    of_rows = topic[np.concatenate(cells.labels)]
    commonest = sum(np.bincount(classes[of_rows == each]).max() for each in range(TOPICS))
    gap = np.sort(np.bincount(topic, contributions(histograms)))[::-1]
    return [cost, commonest / len(classes), *(gap / gap.sum())[:3]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    topics = news(DATA)
    class_of = {text: topic for topic, texts in topics.items() for text in texts}
    found: dict[tuple[str, str], list[list[float]]] = {}
    for seed in range(options.seeds):
        reference, systems = sets(topics, 1000, np.random.default_rng(seed))
        for name, generated in systems.items():
            cells = cells_of(reference, generated)
            classes = np.array([class_of[text] for text in [*reference, *generated]])
            for way, merge in WAYS.items():
                found.setdefault((name, way), []).append(measures(cells, classes, merge))
    print("| set | way | cost | purity | largest shares of the gap |")
    print("| --- | --- | --- | --- | --- |")
    for (name, way), each in sorted(found.items()):
        cost, purity, *shares = np.mean(each, axis=0)
        listed = ", ".join(f"{share:.0%}" for share in shares)
        print(f"| {name} | {way} | {cost:.1f} | {purity:.3f} | {listed} |")


if __name__ == "__main__":
    main()
