"""K-means of few rows: by the products of all rows with each other, and by bounds; equal results.

    python research/benchmarks/kmeans_products.py --d 384 --starts 5

Rows of two sets round twelve topics, a cell for 20 rows as `compare` has them, on one thread.
Processor time of all starts together, the products with them; the median of some rounds, in which
both ways take turns.
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np

from calipers.estimate.kmeans import lloyd
from calipers.estimate.kmeans.kernels import lay_out
from calipers.estimate.kmeans.rounds import Clustering
from calipers.numeric.threads import Workers

ALONE = Workers.alone()


def clustered(rows: np.ndarray, starts: int, few: int) -> tuple[list[Clustering], float]:
    """Cluster rows from some starts; by products up to `few` rows."""
    lloyd.FEW, half = few, len(rows) // 2
    table = lay_out([rows[:half], rows[half:]], ALONE)
    begin = time.thread_time()
    options = {"max_iterations": 500, "workers": ALONE}
    found = [lloyd.k_means(table, len(rows) // 20, seed=seed, **options) for seed in range(starts)]
    return found, time.thread_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--d", type=int, default=384)
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--n", type=int, nargs="+", default=[250, 500, 1000, 2000])
    options = parser.parse_args()
    for n in options.n:
        rng = np.random.default_rng(n)
        topics = rng.standard_normal((12, options.d))
        rows = topics[rng.integers(0, 12, n)] + 1.5 * rng.standard_normal((n, options.d))
        rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        times: dict[int, list[float]] = {0: [], n: []}
        results = {}
        for _ in range(options.rounds):
            for few, taken in times.items():
                results[few], seconds = clustered(rows, options.starts, few)
                taken.append(seconds)
        same = all(
            (one.labels == other.labels).all() and one.inertia == other.inertia
            for one, other in zip(results[0], results[n], strict=True)
        )
        bounds, products = (1000 * statistics.median(taken) for taken in times.values())
        print(
            f"{n:5} rows, {options.starts} starts: bounds {bounds:6.1f} ms, products "
            f"{products:6.1f} ms, {bounds / products:.1f}x; {'equal' if same else 'NOT EQUAL'}"
        )


if __name__ == "__main__":
    main()
