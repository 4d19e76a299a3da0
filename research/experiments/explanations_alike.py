"""How often two random halves of one set have a significant topic, though nothing differs.

    python research/experiments/explanations_alike.py

Both sets are drawn from the same news (AG News, without replacement), divided into cells and topics
as in a comparison, and tested: the share of runs with any significant topic, which may be 5 % at
most, and the share of all topics whose p-value before the correction is below 0.05.

Reads ``ag_news/test.csv`` as `explanations.py` does.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ag_news import DATA, news
from calipers.commands.embed.run import embed
from calipers.estimate import quantise
from calipers.estimate.axes import unit_rows
from calipers.explain import Evidence, Topic, explain_pair

SIZES = ((200, 12), (500, 12), (1500, 12), (1500, 30))
"""Samples of each set, and topics."""


def drawn(
    rows: NDArray[np.float32], size: int, topics: int, runs: int
) -> Iterator[tuple[Topic, ...]]:
    """Test the topics of two random sets in every run."""
    for run in range(runs):
        chosen = rows[np.random.default_rng(run).permutation(len(rows))[: 2 * size]]
        sets = chosen[:size], chosen[size:]
        cells = quantise(*sets, restarts=1, seed=run).labels
        evidence = Evidence(*sets, reference_cells=cells[0], generated_cells=cells[1], rows=sets)
        yield explain_pair(evidence, view="news", topics=topics, limit=1).topics


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200)
    runs = parser.parse_args().runs
    texts = [text for part in news(DATA).values() for text in part]
    views = embed(texts).embeddings.views
    print("| view | n = m | topics | runs with a significant topic | topics with p < 0.05 |")
    print("| --- | --- | --- | --- | --- |")
    for view, vectors in views.items():
        rows = unit_rows(vectors)
        for size, topics in SIZES:
            found = list(drawn(rows, size, topics, runs))
            any_of = np.mean([any(topic.significant for topic in run) for run in found])
            below = np.mean([topic.p_value < 0.05 for run in found for topic in run])
            print(f"| {view} | {size:,} | {topics} | {any_of:.1%} | {below:.1%} |", flush=True)


if __name__ == "__main__":
    main()
