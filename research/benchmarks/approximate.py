"""The approximate search for neighbours beside the exact one: time, memory, what is found, errors.

python research/benchmarks/approximate.py --n 20000 --d 384                # clouds of 60 topics
python research/benchmarks/approximate.py --n 20000 --data isotropic       # the hardest there is
python research/benchmarks/approximate.py --files human.npy model.npy      # vectors of your own
python research/benchmarks/approximate.py --settings 16:64:64 16:128:128   # connectivity:add:search
python research/benchmarks/approximate.py --n 1000000 --no-exact

Seconds are those of the clock and, in brackets, of all processors together: where other work runs
beside, only the second tell.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np

from _samples import samples
from calipers.engine.hnsw_passes import HnswPasses
from calipers.estimate import Neighbourhoods, neighbourhoods
from calipers.estimate.knn.passes import Passes, passes_on
from calipers.metrics.knn_support import (
    coverage_score,
    density_score,
    precision_score,
    recall_score,
)
from calipers.uncertainty.search_quality import measure_search

Sets = tuple[np.ndarray, np.ndarray]
READ = {"P": precision_score, "R": recall_score, "D": density_score, "C": coverage_score}


def isotropic(n: int, d: int) -> Sets:
    """Two clouds without any structure, the second a little narrower."""
    rng = np.random.default_rng(0)
    left, right = (rng.standard_normal((n, d), dtype=np.float32) for _ in range(2))
    return left, right * np.float32(0.97)


def collapsed(n: int, d: int) -> Sets:
    """The topics, and a generated set of which half are near copies of 50 samples."""
    left, right = samples(n, d)
    rng = np.random.default_rng(1)
    half = n // 2
    noise = rng.standard_normal((half, d), dtype=np.float32)
    right[:half] = right[rng.integers(0, 50, half)] + np.float32(0.02) * noise
    return left, right


DATA = {"topics": samples, "isotropic": isotropic, "collapsed": collapsed}


def timed(passes: Passes | None, sets: Sets) -> tuple[Neighbourhoods, str]:
    """What a call gives, and its seconds."""
    with passes_on(passes):
        neighbourhoods(*(rows[:500] for rows in sets), k=4)
        clock, processors = time.perf_counter(), time.process_time()
        found = neighbourhoods(*sets, k=4)
    clock, processors = time.perf_counter() - clock, time.process_time() - processors
    return found, f"{clock:8.1f} s ({processors:.1f} s)"


def scores(near: Neighbourhoods) -> dict[str, float]:
    """Precision, recall, density, coverage."""
    return {name: read(near, 4).value for name, read in READ.items()}


def main() -> None:
    """Measure both and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=20_000)
    parser.add_argument("--d", type=int, default=384)
    parser.add_argument("--data", choices=DATA, default="topics")
    parser.add_argument("--files", nargs=2, help="two .npy files of rows")
    parser.add_argument("--settings", nargs="+", default=[""], help="connectivity:add:search")
    parser.add_argument("--no-exact", action="store_true")
    chosen = parser.parse_args()
    if chosen.files:
        sets: Sets = tuple(np.load(file)[: chosen.n] for file in chosen.files)
    else:
        sets = DATA[chosen.data](chosen.n, chosen.d)
    n, d = sets[0].shape
    print(f"{chosen.files or chosen.data}: {n:,} x {d} a side, k = 4", flush=True)
    truth = None
    if not chosen.no_exact:
        exact, seconds = timed(None, sets)
        truth = scores(exact)
        told = "  ".join(f"{name} {value:.4f}" for name, value in truth.items())
        print(f"exact                 {seconds}  {told}", flush=True)
    for setting in chosen.settings:
        passes = HnswPasses(*map(int, setting.split(":"))) if setting else HnswPasses()
        near, seconds = timed(passes, sets)
        start = time.perf_counter()
        quality = measure_search(*sets, near, k=4)
        checked = time.perf_counter() - start
        found, precision, recall = (
            f"{each.value:.4f} [{each.low:.4f}, {each.high:.4f}]"
            for each in (quality.found, quality.precision_error, quality.recall_error)
        )
        print(f"{passes.search}")
        print(f"  approximate         {seconds}, check {checked:.1f} s")
        print(f"  found {found}  members {quality.members:.4f}")
        print(f"  measured error of P {precision}  of R {recall}")
        own = scores(near)
        if truth is None:
            print("  " + "  ".join(f"{name} {value:.4f}" for name, value in own.items()))
        else:
            told = "  ".join(f"{name} {own[name] - truth[name]:+.5f}" for name in truth)
            print(f"  true error          {told}", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"memory at most {peak:.1f} GiB")


if __name__ == "__main__":
    main()
