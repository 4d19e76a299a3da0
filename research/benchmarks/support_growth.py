"""How the pass behind the support metrics grows: with n, with cores, with what is asked of it.

    python research/benchmarks/support_growth.py            # minutes
    python research/benchmarks/support_growth.py --memory   # 100,000 a side: peak beyond the inputs

Every figure is a median of runs in this process, on vectors with a falling spectrum.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from calipers.estimate import Supports, neighbourhoods
from calipers.estimate.knn.kernels import scan_nearest
from calipers.estimate.knn.nearest import Candidates
from calipers.numeric.panels import PANEL, Thresholds
from children import report, side_by_side
from support import samples

K_MAX = 10
FURTHER = {
    "clipped density (capped balls)": Supports(capped=5),
    "realism (smaller balls)": Supports(smaller=4),
    "probabilistic precision and recall": Supports(spread=(4, 1.2)),
}


def seconds(pair: tuple[np.ndarray, np.ndarray], repeats: int, **options) -> float:
    """Time of one pass, the median of some."""
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        neighbourhoods(*pair, k=5, k_max=K_MAX, **options)
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def growth(d: int, repeats: int) -> None:
    small, large = (seconds(samples(n, d), repeats) for n in (10_000, 40_000))
    print(
        f"n = 10,000: {small:.2f} s; n = 40,000: {large:.2f} s, {large / small:.1f} times as long"
    )


def _multiply(panels, repeats):
    """Multiply a panel with seven others in turn; no pair passes the sieve."""
    pairs = np.zeros((repeats, 2), np.int64)
    pairs[:, 0], pairs[:, 1] = np.arange(repeats) % 7 * PANEL, 7 * PANEL
    shut, none = Thresholds.shut(np.zeros(8 * PANEL, np.float32)), Candidates.empty(0, 1)
    scan_nearest(panels, panels, pairs, shut, shut, 0, 0, False, none, none)


def machine(count: int, repeats: int = 50_000) -> float:
    """Products a second of that many threads, each on numbers that stay in its own cache."""
    panels = np.ones((8, 384, PANEL), np.float32)
    _multiply(panels, 1)
    start = time.perf_counter()
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(lambda _: _multiply(panels, repeats), range(count)))
    return count * repeats / (time.perf_counter() - start)


def threads(n: int, d: int, repeats: int, cores: int) -> None:
    pair = samples(n, d)
    taken: dict[int, list[float]] = {count: [] for count in range(1, cores + 1)}
    rates: dict[int, list[float]] = {count: [] for count in taken}
    for _ in range(repeats):  # in turn, so that a change of the machine falls on all alike
        for count in taken:
            taken[count].append(seconds(pair, 1, threads=count))
            rates[count].append(machine(count))
    for count in taken:
        each = statistics.median(taken[count])
        faster = statistics.median(taken[1]) / each
        most = statistics.median(rates[count]) / statistics.median(rates[1])
        print(
            f"n = {n:,}, {count} threads: {each:.2f} s, {faster:.2f} times as fast as one; "
            f"products alone, without memory: {most:.2f} times"
        )


def further(n: int, d: int, repeats: int) -> None:
    pair = samples(n, d)
    ratios: dict[str, list[float]] = {name: [] for name in FURTHER}
    for _ in range(repeats):  # in turn, so that a change of the machine falls on all alike
        plain = seconds(pair, 1)
        for name, supports in FURTHER.items():
            ratios[name].append(seconds(pair, 1, supports=supports) / plain)
    for name, found in ratios.items():
        print(f"with {name}: {100 * (statistics.median(found) - 1):+.1f} % of the pass")


def memory(n: int, d: int) -> None:
    pair = samples(n, d)
    neighbourhoods(pair[0][:200], pair[1][:200], k=5, k_max=K_MAX)
    report(lambda: {"held": float(neighbourhoods(*pair, k=5, k_max=K_MAX).reference.held.sum())})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=20_000)
    parser.add_argument("--d", type=int, default=384)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--child", type=int)
    options = parser.parse_args()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if options.child:
        memory(options.child, options.d)
        return
    print(f"d = {options.d}, all k to {K_MAX}, {cores} cores")
    if options.memory:
        for n in (25_000, 50_000, 100_000):
            one = side_by_side(__file__, {"n": ["--child", str(n), "--d", str(options.d)]}, 1)["n"]
            inputs = 2 * n * options.d * 4 / 2**20
            print(
                f"n = {n:,}: {one['memory']:.0f} MiB beyond the inputs' {inputs:.0f} MiB, "
                f"{one['seconds']:.1f} s"
            )
        return
    seconds(samples(2_000, options.d), 1)  # compiles
    growth(options.d, max(1, options.repeats - 2))
    threads(options.n, options.d, options.repeats, cores)
    further(options.n, options.d, options.repeats)


if __name__ == "__main__":
    main()
