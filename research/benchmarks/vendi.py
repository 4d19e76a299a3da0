"""Vendi score of embeddings: Calipers against the vendi-score package, in time, memory, result.

    python research/benchmarks/vendi.py --n 20000 --d 384

Both go through the d x d matrix, on the same rows; the package multiplies in the precision of the
rows, Calipers in float64, so results are compared on float32 rows and on float64 rows. Then the
n-gram form on texts made at random, which the package cannot make with the SciPy of today.
"""

from __future__ import annotations

import argparse
import os
import time

import numpy as np

from children import largest_difference, report, show, side_by_side

ORDERS = (0.5, 1, 2, np.inf)


def samples(n: int, d: int, dtype: str) -> np.ndarray:
    """One cloud with the falling spectrum that text embeddings have."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((n, d), dtype=np.float32) / np.sqrt(1 + np.arange(d))
    return rows.astype(np.float32).astype(dtype)


def ours(rows: np.ndarray, orders: tuple[float, ...]) -> dict[str, float]:
    from calipers.metrics import vendi_score

    return {f"q={q:g}": vendi_score(rows, q=q).value for q in orders}


def theirs(rows: np.ndarray, orders: tuple[float, ...]) -> dict[str, float]:
    from vendi_score import vendi

    return {
        f"q={q:g}": float(vendi.score_dual(rows, q="inf" if np.isinf(q) else q)) for q in orders
    }


SIDES = {"calipers": ours, "vendi-score": theirs}


def child(side: str, n: int, d: int, dtype: str, all_orders: bool) -> None:
    rows, orders = samples(n, d, dtype), ORDERS if all_orders else (1,)
    SIDES[side](rows[:100], orders)  # imports and loads
    report(lambda: SIDES[side](rows, orders))


def texts(n: int, words: int) -> list[str]:
    """Texts over words whose frequencies fall as their ranks rise."""
    rng = np.random.default_rng(0)
    drawn = np.minimum(rng.zipf(1.3, (n, words)), 50_000)
    return [" ".join(f"w{word}" for word in row) for row in drawn]


def text_forms(sizes: list[int], words: int) -> None:
    from calipers.text import rke, tokenise, vendi_score

    print(f"\nn-gram form, texts of {words} words, seconds without tokenising")
    for n in sizes:
        (corpus,) = tokenise(texts(n, words), tokenizer="whitespace")
        calls = {"q=1": vendi_score, "rke": rke}
        for name, call in calls.items():
            start = time.perf_counter()
            value = call(corpus).value
            print(f"{n:7,} texts  {name}  {value:10.3f}  {time.perf_counter() - start:7.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=20_000)
    parser.add_argument("--d", type=int, default=384)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--texts", type=int, nargs="*", default=[1_000, 4_000])
    parser.add_argument("--words", type=int, default=40)
    parser.add_argument("--child", choices=SIDES)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--all-orders", action="store_true")
    options = parser.parse_args()
    if options.child:
        child(options.child, options.n, options.d, options.dtype, options.all_orders)
        return
    print(f"{options.n} x {options.d}, q = 1, {os.cpu_count()} cores")
    size = ["--n", str(options.n), "--d", str(options.d)]
    sides = {name: ["--child", name, *size] for name in SIDES}
    results = side_by_side(__file__, sides, options.repeats)
    show(results)
    values = [found["values"] for found in results.values()]
    print(f"q = 1: {values[0]['q=1']:.9g}; largest difference on float32 rows "
          f"{largest_difference(*values):.2e}")  # fmt: skip
    wide = {name: [*call, "--dtype", "float64", "--all-orders"] for name, call in sides.items()}
    exact = [found["values"] for found in side_by_side(__file__, wide, 1).values()]
    print(f"largest difference on float64 rows, q = 0.5, 1, 2, inf: "
          f"{largest_difference(*exact):.2e}")  # fmt: skip
    text_forms(options.texts, options.words)


if __name__ == "__main__":
    main()
