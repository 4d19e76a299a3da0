"""MMD permutation test: Calipers against plain NumPy, on the same rows in one run.

    python research/benchmarks/two_sample.py --n 4000 --d 130

The plain side keeps the whole matrix of the kernel, in float64, and multiplies it with the labels
of all permutations at once, which is the fastest plain way; it permutes every row on its own. Both
take the kernel of median width and that of a third of it, and the larger of the two standardised
MMD². MMD² by the median width is the same number; the p-values differ by chance. The classifier
test and the MMD² alone are timed beside them, and the replicates of MMD² without each of twenty
blocks.
"""

from __future__ import annotations

import argparse
import os

import numpy as np

from children import report, show, side_by_side

SIDES = ("calipers", "plain NumPy", "calipers, classifier", "calipers, MMD² alone", "replicates")


def samples(n: int, m: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    spread = np.arange(1, d + 1) ** -0.5
    x, y = rng.standard_normal((n, d)) * spread, rng.standard_normal((m, d)) * spread
    return x.astype(np.float32), (y + 0.06 * spread[0] * (np.arange(d) == 0)).astype(np.float32)


def ours(x: np.ndarray, y: np.ndarray, permutations: int, threads: int) -> dict[str, float]:
    from calipers.uncertainty.two_sample_mmd import mmd_test

    found = mmd_test(x, y, permutations=permutations, threads=threads)
    return {"mmd2": found.estimate, "p": found.p_value, "null sd": float(found.null.std())}


def plain(x: np.ndarray, y: np.ndarray, permutations: int, _: int) -> dict[str, float]:
    rows = np.concatenate([x, y]).astype(np.float64)
    rows -= rows.mean(axis=0)
    n, total = len(x), len(rows)
    m = total - n
    squares = np.einsum("ij,ij->i", rows, rows)
    kernel = np.maximum(squares[:, None] + squares - 2 * rows @ rows.T, 0)
    drawn = np.arange(total)
    if total > 2_000:
        drawn = np.sort(np.random.default_rng(0).choice(total, 2_000, replace=False))
    part = kernel[np.ix_(drawn, drawn)]
    width = np.median(np.sqrt(part[np.triu_indices(len(drawn), 1)]))
    kernel /= -2 * width**2
    np.exp(kernel, out=kernel)
    np.fill_diagonal(kernel, 0)
    labels = np.tile(np.arange(total) < n, (1 + permutations, 1))
    np.random.default_rng(0).permuted(labels[1:], axis=1, out=labels[1:])
    signs = labels.astype(np.float64)
    values = []
    for power in (1, 9):
        narrow = kernel if power == 1 else kernel * np.square(np.square(np.square(kernel)))
        within = np.einsum("rt,rt->r", signs @ narrow, signs)
        touched = signs @ narrow.sum(axis=1)
        squared = within / (n * (n - 1)) + (narrow.sum() - 2 * touched + within) / (m * (m - 1))
        values.append(squared - 2 * (touched - within) / (n * m))
    larger = np.max([(each - each.mean()) / each.std() for each in values], axis=0)
    p = (1 + np.sum(larger[1:] >= larger[0] - 1e-9)) / (1 + permutations)
    return {"mmd2": float(values[0][0]), "p": float(p), "null sd": float(larger[1:].std())}


def classifier(x: np.ndarray, y: np.ndarray, permutations: int, threads: int) -> dict[str, float]:
    from calipers.uncertainty.two_sample_classifier import classifier_test

    found = classifier_test(x, y, permutations=permutations, threads=threads)
    return {"auc": found.statistic, "p": found.p_value}


def alone(x: np.ndarray, y: np.ndarray, _: int, threads: int) -> dict[str, float]:
    from calipers.metrics.mmd import mmd

    return {"mmd2": mmd(x, y, threads=threads).value}


def replicates(x: np.ndarray, y: np.ndarray, _: int, threads: int) -> dict[str, float]:
    from calipers.metrics.mmd import mmd_replicates
    from calipers.numeric.blocks import Blocks

    blocks = Blocks.balanced(len(x), seed=0), Blocks.balanced(len(y), seed=0)
    return {"mmd2": mmd_replicates(x, y, blocks, threads=threads).value}


WORK = dict(zip(SIDES, (ours, plain, classifier, alone, replicates), strict=True))


def child(options: argparse.Namespace) -> None:
    work, m = WORK[options.child], options.m or options.n
    x, y = samples(options.n, m, options.d)
    work(x[:60], y[:60], 9, options.threads)  # loads what is loaded late
    report(lambda: work(x, y, options.permutations, options.threads))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=4_000)
    parser.add_argument("--m", type=int, help="generated rows (default: n)")
    parser.add_argument("--d", type=int, default=130)
    parser.add_argument("--permutations", type=int, default=999)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--child", choices=SIDES)
    options = parser.parse_args()
    if options.child:
        child(options)
        return
    size = [f"--{name}={getattr(options, name)}" for name in ("n", "d", "permutations", "threads")]
    size += [f"--m={options.m}"] if options.m else []
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = str(options.threads)  # the plain side's
    print(f"{options.n} and {options.m or options.n} rows of {options.d} dimensions, ", end="")
    print(f"{options.permutations} permutations, {options.threads} threads")
    results = side_by_side(__file__, {s: ["--child", s, *size] for s in SIDES}, options.repeats)
    show({name: results[name] for name in SIDES[:2]})
    for name in SIDES[2:]:
        print(f"{name:28s} {results[name]['seconds']:8.2f} s")
    for name, found in results.items():
        print(f"{name:28s} " + "   ".join(f"{k} {v:.6g}" for k, v in found["values"].items()))
    values = {name: found["values"] for name, found in results.items()}
    gaps = [abs(v["mmd2"] - values["plain NumPy"]["mmd2"]) for v in values.values() if "mmd2" in v]
    print(f"largest difference of MMD² from the plain one: {max(gaps):.2e}")


if __name__ == "__main__":
    main()
