"""The passes over all pairs on a device of torch, beside the processor's own: time and result.

python benchmarks/engines.py --n 100000 --d 1024 --device cuda
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np

from calipers.engine.torch_passes import TorchPasses
from calipers.estimate import Neighbourhoods, neighbourhoods
from calipers.estimate.knn.passes import Passes, passes_on

COUNTS = ("held", "inside", "own_nearest", "nearest")


def samples(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Two clouds of 60 topics with the falling spectrum that embeddings have."""
    rng = np.random.default_rng(0)
    topics = rng.standard_normal((60, d), dtype=np.float32)
    scales = (1 / np.sqrt(1 + np.arange(d))).astype(np.float32)

    def draw(count: int) -> np.ndarray:
        rows = topics[rng.integers(0, count, n)] + rng.standard_normal((n, d), dtype=np.float32)
        return rows * scales

    return draw(60), draw(54)


def timed(
    passes: Passes | None, sets: tuple[np.ndarray, np.ndarray], repeats: int
) -> tuple[float, Neighbourhoods]:
    """Median seconds of a call, after one on few rows, and what it gave."""
    seconds = []
    with passes_on(passes):
        neighbourhoods(*(rows[:500] for rows in sets), k=4)
        for _ in range(repeats):
            start = time.perf_counter()
            found = neighbourhoods(*sets, k=4)
            seconds.append(time.perf_counter() - start)
    return statistics.median(seconds), found


def main() -> None:
    """Measure both and print the ratio and what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=20_000)
    parser.add_argument("--d", type=int, default=384)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--slice", type=int, help="rows on which both are compared; default all")
    chosen = parser.parse_args()
    sets = samples(chosen.n, chosen.d)
    seconds, found = timed(TorchPasses(chosen.device), sets, chosen.repeats)
    operations = 4 * chosen.n**2 * chosen.d
    print(f"{chosen.n:,} x {chosen.d} a side, k = 4, medians of {chosen.repeats}")
    print(
        f"torch on {chosen.device:10s} {seconds:9.2f} s  {operations / seconds / 1e9:,.0f} GFLOP/s"
    )
    if chosen.slice:
        sets = tuple(rows[: chosen.slice] for rows in sets)
        seconds, found = timed(TorchPasses(chosen.device), sets, 1)
    own, expected = timed(None, sets, chosen.repeats)
    rows = len(sets[0])
    print(f"processor, {rows:,} rows a side {own:.2f} s; torch is {own / seconds:.2f}x as fast")
    different = sum(
        int((getattr(getattr(found, side), name) != getattr(getattr(expected, side), name)).sum())
        for side in ("reference", "generated")
        for name in COUNTS
    )
    print(f"counts and neighbours that differ: {different}")


if __name__ == "__main__":
    main()
