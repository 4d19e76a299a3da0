"""Large sets: from embeddings to MAUVE, and what all that is read from the cells costs beside them.

    python research/benchmarks/quantisation.py --n 50000 --d 384 --buckets 500

The vectors are those of frontiers.py. A quantisation is k-means with the default restarts; read
from its best run, raw and smoothed, is every divergence, every frontier with its summaries, and the
precision-recall curve.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from calipers.curves import (
    DIVERGENCES,
    divergence_frontier,
    f_divergence,
    precision_recall_curve,
)
from calipers.errors import InputError
from calipers.estimate import Histograms, Quantisation, preprocess, quantise
from frontiers import samples, structureless

WEIGHTED = ("interpolated_kl=0.3", "interpolated_chi2=0.3", "skew_jensen_shannon=0.3")


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    found = work()
    return found, time.perf_counter() - start


def read_everything(cells: Histograms) -> int:
    """Compute all there is; return how many numbers that made."""
    count = 0
    for name in (*DIVERGENCES, *WEIGHTED):
        f_divergence(cells, name)
        count += 1
        try:
            frontier = divergence_frontier(cells, divergence=name)
        except InputError:  # reverse KL, where a cell holds generated rows alone
            continue
        frontier.area(), frontier.integral(), frontier.midpoint()
        frontier.f_beta(8), frontier.f_beta(1 / 8)
        count += 5
    curve = precision_recall_curve(cells)
    return count + len([curve.f_beta(8), curve.f_beta(1 / 8), curve.max_precision])


def measure(reference: np.ndarray, generated: np.ndarray, buckets: int) -> dict[str, float]:
    rows, projecting = timed(lambda: preprocess(reference, generated))
    cells, clustering = timed(lambda: quantise(rows.reference, rows.generated, buckets=buckets))
    _, scoring = timed(lambda: [divergence_frontier(each).area() for each in both(cells)])
    count, reading = timed(lambda: sum(read_everything(each) for each in both(cells)))
    return {
        "normalise and project": projecting,
        "quantise": clustering,
        "MAUVE and MAUVE*": scoring,
        "in all, from embeddings to MAUVE": projecting + clustering + scoring,
        "everything from the cells": reading,
        "numbers": count,
        "axes": rows.reference.shape[1],
    }


def both(cells: Quantisation) -> tuple[Histograms, Histograms]:
    return cells.best, cells.best.smoothed("krichevsky-trofimov")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=50_000)
    parser.add_argument("--d", type=int, default=384)
    parser.add_argument("--buckets", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--flat", action="store_true", help="vectors without any structure")
    options = parser.parse_args()
    sets = (structureless if options.flat else samples)(options.n, options.d)
    measure(*(rows[:500] for rows in sets), buckets=20)  # imports and loads
    runs = [measure(*sets, buckets=options.buckets) for _ in range(options.repeats)]
    print(
        f"{options.n} x {options.d} a side, {options.buckets} buckets, 5 restarts, "
        f"{os.cpu_count()} cores, {runs[0]['axes']} axes, median of {len(runs)} runs"
    )
    for name in list(runs[0])[:5]:
        seconds = [run[name] for run in runs]
        low, high = min(seconds), max(seconds)
        print(f"{name:34s} {statistics.median(seconds):7.3f} s  ({low:.3f} to {high:.3f})")
    share = statistics.median(run["everything from the cells"] / run["quantise"] for run in runs)
    print(
        f"{runs[0]['numbers']} numbers from the cells cost {100 * share:.1f} % of the quantisation"
    )


if __name__ == "__main__":
    main()
