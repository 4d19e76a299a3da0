"""Rows as benchmarks of large sets need them: many, and spread as embeddings are."""

from __future__ import annotations

import numpy as np

Sets = tuple[np.ndarray, np.ndarray]

BLOCK = 50_000


def samples(n: int, d: int) -> Sets:
    """Two clouds of 60 topics with the falling spectrum that embeddings have."""
    rng = np.random.default_rng(0)
    topics = rng.standard_normal((60, d), dtype=np.float32)
    scales = (1 / np.sqrt(1 + np.arange(d))).astype(np.float32)

    def draw(count: int) -> np.ndarray:
        rows = np.empty((n, d), np.float32)
        for start in range(0, n, BLOCK):
            part = rows[start : start + BLOCK]
            rng.standard_normal(out=part, dtype=np.float32)
            part += topics[rng.integers(0, count, len(part))]
            part *= scales
        return rows

    return draw(60), draw(54)
