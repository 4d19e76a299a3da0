"""Precision, recall, density and coverage: Calipers against three peers, in time, memory, result.

    python research/benchmarks/support.py --n 20000 --d 384

Calipers measures every k up to 10 in its one pass, the peers one k; `calipers.metrics.support`, in
a row of its own, is one call for the four scores of one k, as prdc's. prdc is timed on float32
arrays, where it is fastest and smallest; equality is checked on float64 arrays, because on float32
input its distances are rounded to float32 and are no exact reference. scikit-learn and torch have
no such metrics: the few lines below are what a person writes with them.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import time

import numpy as np

from children import largest_difference, report, show, side_by_side

K = 5
K_MAX = 10
ROWS = 2048  # rows of a distance matrix that scikit-learn and torch hold at once


def samples(n: int, d: int, dtype: str = "float32") -> tuple[np.ndarray, np.ndarray]:
    """Two clouds with the falling spectrum that text embeddings have."""
    rng = np.random.default_rng(0)
    scales = 1 / np.sqrt(1 + np.arange(d))
    reference = rng.standard_normal((n, d), dtype=np.float32) * scales
    generated = rng.standard_normal((n, d), dtype=np.float32) * scales * 0.95 + 0.01
    # Rounded through float32, so that both precisions hold the same numbers
    return tuple(x.astype(np.float32).astype(dtype) for x in (reference, generated))


def ours(reference: np.ndarray, generated: np.ndarray) -> dict[str, float]:
    from calipers.estimate import neighbourhoods
    from calipers.metrics import knn_support as support

    near = neighbourhoods(reference, generated, k=K, k_max=K_MAX, ties="open")
    every = [
        {
            "precision": support.precision_score(near, k).value,
            "recall": support.recall_score(near, k).value,
            "density": support.density_score(near, k).value,
            "coverage": support.coverage_score(near, k).value,
        }
        for k in range(1, K_MAX + 1)
    ]
    return every[K - 1]


def one_call(reference: np.ndarray, generated: np.ndarray) -> dict[str, float]:
    from calipers.metrics import support

    found = support(reference, generated, k=K, ties="open")
    return {name: score.value for name, score in vars(found).items()}


def prdc(reference: np.ndarray, generated: np.ndarray) -> dict[str, float]:
    from prdc import compute_prdc

    with contextlib.redirect_stdout(io.StringIO()):
        found = compute_prdc(reference, generated, nearest_k=K)
    return {name: float(value) for name, value in found.items()}


def scikit_learn(reference: np.ndarray, generated: np.ndarray) -> dict[str, float]:
    from sklearn.metrics import pairwise_distances_chunked
    from sklearn.neighbors import NearestNeighbors

    radii = []
    for rows in (reference, generated):
        nearest = NearestNeighbors(n_neighbors=K, algorithm="brute").fit(rows)
        radii.append(nearest.kneighbors()[0][:, -1])
    blocks = pairwise_distances_chunked(reference, generated, working_memory=256)
    return _counted(blocks, *radii)


def torch(reference: np.ndarray, generated: np.ndarray) -> dict[str, float]:
    import torch

    left, right = torch.from_numpy(reference), torch.from_numpy(generated)
    radii = [
        torch.cat([torch.cdist(part, rows).topk(K + 1, largest=False)[0][:, -1]
                   for part in rows.split(ROWS)]).numpy()
        for rows in (left, right)
    ]  # fmt: skip
    return _counted((torch.cdist(part, right).numpy() for part in left.split(ROWS)), *radii)


def _counted(blocks, reference_radii, generated_radii) -> dict[str, float]:
    start, covered, recalled = 0, [], []
    inside = np.zeros(len(generated_radii), np.int64)
    for block in blocks:
        held = block < reference_radii[start : start + len(block), None]
        inside += held.sum(axis=0)
        covered.append(held.any(axis=1))
        recalled.append((block < generated_radii).any(axis=1))
        start += len(block)
    return {
        "precision": float((inside > 0).mean()),
        "recall": float(np.concatenate(recalled).mean()),
        "density": float(inside.mean() / K),
        "coverage": float(np.concatenate(covered).mean()),
    }


SIDES = {
    "calipers": ours,
    "support()": one_call,
    "prdc": prdc,
    "scikit-learn": scikit_learn,
    "torch": torch,
}


def product_rate(n: int = 8192) -> float:
    """Float operations a second of NumPy's own float32 product on all cores."""
    left, right = np.ones((2, n, n), np.float32)
    left @ right
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        left @ right
        seconds.append(time.perf_counter() - start)
    return 2 * n**3 / float(np.median(seconds))


def child(side: str, n: int, d: int, dtype: str) -> None:
    work = SIDES[side]
    reference, generated = samples(n, d, dtype)
    work(reference[:200], generated[:200])  # imports and loads
    report(lambda: work(reference, generated))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=20_000)
    parser.add_argument("--d", type=int, default=384)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--child", choices=SIDES)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--skip-float64", action="store_true")
    options = parser.parse_args()
    if options.child:
        child(options.child, options.n, options.d, options.dtype)
        return
    size = ["--n", str(options.n), "--d", str(options.d)]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    print(f"{options.n} x {options.d} a side, k = {K} (ours: all k to {K_MAX}), {cores} cores")
    sides = {name: ["--child", name, *size] for name in SIDES}
    results = side_by_side(__file__, sides, options.repeats)
    show(results)
    rate, operations = product_rate(), 4 * options.n**2 * options.d
    ours_rate = operations / results["calipers"]["seconds"]
    print(
        f"4 n^2 d operations: {ours_rate / 1e9:.0f} GFLOP/s, {100 * ours_rate / rate:.0f} % of "
        f"NumPy's float32 product on the same cores ({rate / 1e9:.0f} GFLOP/s)"
    )
    mine = results["calipers"]["values"]
    for name in ("support()", "prdc", "scikit-learn", "torch"):
        found = largest_difference(mine, results[name]["values"])
        print(f"largest difference to {name} on float32 input: {found:.2e}")
    if not options.skip_float64:
        wide = {name: [*sides[name], "--dtype", "float64"] for name in ("calipers", "prdc")}
        exact = {name: run["values"] for name, run in side_by_side(__file__, wide, 1).items()}
        found = largest_difference(*exact.values())
        print(f"largest difference to prdc on float64 input: {found:.2e}")


if __name__ == "__main__":
    main()
