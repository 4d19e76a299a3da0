"""Precision, recall, density and coverage: Calipers against prdc, in time, memory and result.

    python benchmarks/support.py --n 20000 --d 384

prdc is timed on float32 arrays, where it is fastest and smallest; equality is checked on float64
arrays, because on float32 input its distances are rounded to float32 and are no exact reference.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os

import numpy as np

from children import largest_difference, report, show, side_by_side

K = 5


def samples(n: int, d: int, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Two clouds with the falling spectrum that text embeddings have."""
    rng = np.random.default_rng(0)
    scales = 1 / np.sqrt(1 + np.arange(d))
    reference = rng.standard_normal((n, d), dtype=np.float32) * scales
    generated = rng.standard_normal((n, d), dtype=np.float32) * scales * 0.95 + 0.01
    # Rounded through float32, so that both precisions hold the same numbers
    return tuple(x.astype(np.float32).astype(dtype) for x in (reference, generated))


def ours(reference: np.ndarray, generated: np.ndarray) -> dict[str, float]:
    from calipers.estimate import neighbourhoods
    from calipers.metrics import support

    near = neighbourhoods(reference, generated, k=K, ties="open")
    return {
        "precision": support.precision_score(near, K).value,
        "recall": support.recall_score(near, K).value,
        "density": support.density_score(near, K).value,
        "coverage": support.coverage_score(near, K).value,
    }


def theirs(reference: np.ndarray, generated: np.ndarray) -> dict[str, float]:
    from prdc import compute_prdc

    with contextlib.redirect_stdout(io.StringIO()):
        found = compute_prdc(reference, generated, nearest_k=K)
    return {name: float(value) for name, value in found.items()}


def child(side: str, n: int, d: int, dtype: str) -> None:
    work = {"calipers": ours, "prdc": theirs}[side]
    reference, generated = samples(n, d, dtype)
    work(reference[:200], generated[:200])  # imports and compiles
    report(lambda: work(reference, generated))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=20_000)
    parser.add_argument("--d", type=int, default=384)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--child", choices=["calipers", "prdc"])
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--skip-float64", action="store_true")
    options = parser.parse_args()
    if options.child:
        child(options.child, options.n, options.d, options.dtype)
        return
    size = ["--n", str(options.n), "--d", str(options.d)]
    print(f"{options.n} x {options.d} a side, k = {K}, {os.cpu_count()} cores")
    sides = {name: ["--child", name, *size] for name in ("calipers", "prdc")}
    results = side_by_side(__file__, sides, options.repeats)
    show(results)
    difference = largest_difference(results["calipers"]["values"], results["prdc"]["values"])
    print(f"largest difference on float32 input, where prdc rounds: {difference:.2e}")
    if not options.skip_float64:
        wide = {name: [*sides[name], "--dtype", "float64"] for name in sides}
        exact = {name: run["values"] for name, run in side_by_side(__file__, wide, 1).items()}
        print(f"largest difference on float64 input: {largest_difference(*exact.values()):.2e}")


if __name__ == "__main__":
    main()
