"""How long an explanation and a map take: one system in one view, and five sets on one plane.

    python research/benchmarks/explanations.py --n 4000 --threads 2

Texts and vectors are made up. Everything is done twice and the second time is told, since the
first one imports and loads.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from calipers.estimate import neighbourhoods, preprocess, quantise
from calipers.explain import Evidence, WordCounts, explain_pair, sample_map
from calipers.numeric.threads import limit_threads

DIMENSIONS, LENGTH, VOCABULARY, CENTRES, SETS = 384, 300, 20_000, 30, 5


def texts_of(n: int, rng: np.random.Generator) -> list[str]:
    """Texts with few common words and many rare ones, spelt with letters alone."""
    digits = str.maketrans("0123456789", "abcdefghij")
    words = np.array([f"w{number}".translate(digits) for number in range(VOCABULARY)])
    ranks = np.minimum(rng.zipf(1.2, (n, LENGTH)), VOCABULARY) - 1
    return [" ".join(row) for row in words[ranks]]


def vectors_of(n: int, centres: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Rows about some centres."""
    rows = centres[rng.integers(0, CENTRES, n)] + 0.8 * rng.standard_normal((n, DIMENSIONS))
    return rows.astype(np.float32)


def timed(name: str, make: Callable[[], Any]) -> Any:
    """Do something twice, and print how long the second time took."""
    make()
    start = time.perf_counter()
    found = make()
    print(f"{name:36} {time.perf_counter() - start:5.2f} s")
    return found


def evidence_of(
    vectors: list[np.ndarray], words: list[WordCounts], texts: list[list[str]]
) -> Evidence:
    """All that `compare` measures of one pair and one view."""
    rows = preprocess(vectors[0], vectors[1])
    near = neighbourhoods(rows.reference, rows.generated, k_max=9)
    cells = quantise(rows.reference, rows.generated, restarts=1)
    return Evidence(
        vectors[0],
        vectors[1],
        reference_texts=texts[0],
        generated_texts=texts[1],
        neighbours={
            "nearest_reference": near.reference.nearest,
            "reference_distance": near.reference.distance,
            "reference_first_k": near.reference.first,
            "covered": near.reference.held[:, 3] > 0,
        },
        reference_cells=cells.labels[0],
        generated_cells=cells.labels[1],
        reference_words=words[0],
        generated_words=words[1],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=4000, help="samples of every set")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((CENTRES, DIMENSIONS))
    texts = [texts_of(options.n, rng) for _ in range(2)]
    vectors = [vectors_of(options.n, centres, rng) for _ in range(SETS)]
    with limit_threads(options.threads):
        words = [
            timed("count the words of a set", lambda: WordCounts.of(texts[0])),
            WordCounts.of(texts[1]),
        ]
        evidence = evidence_of(vectors, words, texts)
        found = timed("explain", lambda: explain_pair(evidence, view="meaning"))
        print(f"  ({len(found.topics)} topics, {found.outside_count} samples outside)")
        timed(f"map of {SETS} sets", lambda: sample_map(vectors))


if __name__ == "__main__":
    main()
