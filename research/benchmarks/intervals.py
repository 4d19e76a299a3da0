"""What it costs to know how sure a comparison is: with and without intervals and tests.

    python research/benchmarks/intervals.py --n 4000 --d 384 --systems 4

Both ways compare the same vectors in one process, one after the other in turn; the noise floor is
left out, since it has its own switch. Prints the medians, their ratio (at most 2 is the aim), the
same in processor time, which another process on the machine disturbs less, and whether the scores
themselves stay the same to the last digit.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np

import calipers
from calipers.results import Comparison


def samples(n: int, d: int, systems: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Clouds with the falling spectrum that text embeddings have, each system a bit further off."""
    rng = np.random.default_rng(0)
    scales = 1 / np.sqrt(1 + np.arange(d))
    clouds = [rng.standard_normal((n, d)) * scales + 0.02 * place for place in range(systems + 1)]
    reference, *generated = (cloud.astype(np.float32) for cloud in clouds)
    return reference, {f"system {place}": cloud for place, cloud in enumerate(generated, start=1)}


def timed(run: Callable[[], Comparison]) -> tuple[float, float, Comparison]:
    """Run once; give seconds on the wall, seconds of processors, and the result."""
    wall, processor = time.perf_counter(), time.process_time()
    made = run()
    return time.perf_counter() - wall, time.process_time() - processor, made


def largest_difference(first: Comparison, second: Comparison) -> float:
    """The largest difference of a score of one comparison from that of the other."""
    return max(
        abs(score.value - second[system.name].scores[name].value)
        for system in first
        for name, score in system.scores.items()
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, default=4000, help="samples in every set (4000)")
    parser.add_argument("--d", type=int, default=384, help="dimensions (384)")
    parser.add_argument("--systems", type=int, default=4, help="generated sets (4)")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each (5)")
    parser.add_argument("--threads", type=int, default=None, help="threads (all cores)")
    asked = parser.parse_args()
    reference, generated = samples(asked.n, asked.d, asked.systems)

    def compare(level: float | None) -> Comparison:
        return calipers.compare(
            reference, generated, level=level, floor=False, cache=False, threads=asked.threads
        )

    compare(0.95)  # kernels are compiled, once
    without, certain = [], []
    for _ in range(asked.repeats):
        without.append(timed(lambda: compare(None)))
        certain.append(timed(lambda: compare(0.95)))
    print(f"{asked.systems} systems, {asked.n} x {asked.d}; medians of {asked.repeats}")
    for place, what in ((0, "wall"), (1, "processor")):
        plain, sure = (
            statistics.median(each[place] for each in runs) for runs in (without, certain)
        )
        print(
            f"{what:>10}: without {plain:6.2f} s, with intervals and tests {sure:6.2f} s, "
            f"ratio {sure / plain:.2f}"
        )
    print(f"largest difference of a score: {largest_difference(without[0][2], certain[0][2]):.1e}")


if __name__ == "__main__":
    main()
