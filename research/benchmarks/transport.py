"""Plug-in optimal transport: Calipers against POT's own call, on the same rows.

    python research/benchmarks/transport.py --n 4000 --d 64

POT's ``emd2([], [], dist(x, y))`` stops after 100,000 pivots and then returns, with a warning, a
cost above the optimum; it is therefore also run to the end. The least cost is the right one.
"""

from __future__ import annotations

import argparse
import os
import warnings

import numpy as np

from children import largest_difference, report, show, side_by_side
from frontiers import samples, structureless

SIDES = ("calipers", "POT as called", "POT to the end")


def ours(x: np.ndarray, y: np.ndarray) -> dict[str, float]:
    from calipers.metrics.transport import optimal_transport

    return {"ot": optimal_transport(x, y).value}


def theirs(x: np.ndarray, y: np.ndarray, pivots: int) -> dict[str, float]:
    import ot

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {"ot": float(ot.emd2([], [], ot.dist(x, y), numItermax=pivots))}


def child(side: str, n: int, m: int, d: int, flat: bool) -> None:
    reference, generated = (structureless if flat else samples)(n, d)
    # Both get float64: the costs of float32 rows would differ by their rounding
    x, y = reference.astype(np.float64), generated[:m].astype(np.float64)
    pivots = 100_000 if side == "POT as called" else 1_000_000_000
    work = ours if side == "calipers" else lambda x, y: theirs(x, y, pivots)
    work(x[:50], y[:50])
    work(x[:51], y[:50])  # POT is loaded for unequal sizes only
    report(lambda: work(x, y))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=4_000)
    parser.add_argument("--m", type=int, help="generated rows, at most n (default: n)")
    parser.add_argument("--d", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--flat", action="store_true", help="vectors without any structure")
    parser.add_argument("--child", choices=SIDES)
    options = parser.parse_args()
    m = options.m or options.n
    if options.child:
        child(options.child, options.n, m, options.d, options.flat)
        return
    print(f"{options.n} and {m} rows of {options.d} dimensions, {os.cpu_count()} cores")
    size = ["--n", str(options.n), "--m", str(m), "--d", str(options.d)]
    size += ["--flat"] if options.flat else []
    sides = {name: ["--child", name, *size] for name in SIDES}
    results = side_by_side(__file__, sides, options.repeats)
    show(results)
    values = {name: found["values"] for name, found in results.items()}
    for name in SIDES:
        gap = largest_difference(values[name], values["calipers"])
        print(f"{name:28s} cost {values[name]['ot']:.12g}   from ours {gap:.2e}")


if __name__ == "__main__":
    main()
