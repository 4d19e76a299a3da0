"""The tests that are compared, ours and the plain ones: from two sets of rows to p-values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.discriminant import Measure, area, cross_fit, held_out
from calipers.numeric.threads import workers
from calipers.uncertainty.two_sample import permuted
from calipers.uncertainty.two_sample_classifier import classifier_test
from calipers.uncertainty.two_sample_mmd import mmd_test

Rows = np.ndarray
Test = Callable[[Rows, Rows, int, int, int], float]


def plain_kernel(x: Rows, y: Rows) -> Rows:
    """Gaussian kernel of median width of all pairs of the union, 0 on the diagonal."""
    rows = np.concatenate([x, y]).astype(np.float64)
    rows -= rows.mean(axis=0)
    squares = np.einsum("ij,ij->i", rows, rows)
    apart = np.maximum(squares[:, None] + squares - 2 * rows @ rows.T, 0)
    width = np.median(np.sqrt(apart[np.triu_indices(len(rows), 1)]))
    kernel = np.exp(-apart / (2 * width**2))
    np.fill_diagonal(kernel, 0)
    return kernel


def plain_values(
    kernel: Rows, n: int, permutations: int, seed: int, *, rows: int = 1
) -> NDArray[np.float64]:
    """Unbiased MMD² of the sets, and of each relabelling of groups of so many rows."""
    total, m = len(kernel), len(kernel) - n
    if n % rows or m % rows:
        raise ValueError(f"sets of {n} and {m} rows do not fall into groups of {rows}")
    groups = total // rows
    sums = kernel.reshape(groups, rows, groups, rows).sum(axis=(1, 3))
    ours = np.arange(groups) < n // rows
    drawn = np.random.default_rng(seed).permuted(np.tile(ours, (permutations, 1)), axis=1)
    labels = np.vstack([ours, drawn]).astype(np.float64)
    within = np.einsum("rg,rg->r", labels @ sums, labels)
    touched = labels @ sums.sum(axis=1)
    values: NDArray[np.float64] = (
        within / (n * (n - 1))
        + (sums.sum() - 2 * touched + within) / (m * (m - 1))
        - 2 * (touched - within) / (n * m)
    )
    return values


def plain_p_value(
    kernel: Rows, n: int, permutations: int, seed: int, *, rows: int = 1
) -> tuple[float, float]:
    """Unbiased MMD², and its p-value when groups of so many rows are permuted."""
    values = plain_values(kernel, n, permutations, seed, rows=rows)
    return values[0], (1 + np.sum(values[1:] >= values[0] - 1e-12)) / (1 + permutations)


def accuracy(scores: Rows, labels: Rows) -> Rows:
    """Share of held-out rows on their own side of the plane; the mean over the two sets."""
    right = np.where(labels, scores > 0, scores < 0) + 0.5 * (scores == 0)
    ones = labels.sum(axis=1)
    of_ones = (right * labels).sum(axis=1)
    others = labels.shape[1] - ones
    return 0.5 * (of_ones / ones + (right.sum(axis=1) - of_ones) / others)


def by_accuracy(x: Rows, y: Rows, permutations: int, seed: int, threads: int) -> float:
    """Our classifier, with held-out accuracy in the place of the area under the ROC curve."""
    return varied(x, y, permutations, seed, threads, measure=accuracy)


def ledoit_wolf(x: Rows, y: Rows) -> float:
    """What Ledoit and Wolf (2004) would shrink the covariance of all rows by."""
    from sklearn.covariance import ledoit_wolf_shrinkage

    return float(ledoit_wolf_shrinkage(np.concatenate([x, y]).astype(np.float64)))


RIDGES: dict[str, Callable[[Rows, Rows], float]] = {
    "d/(d + n + m)": lambda x, y: x.shape[1] / (x.shape[1] + len(x) + len(y)),
    "Ledoit–Wolf": ledoit_wolf,
    "0.001": lambda x, y: 0.001,
    "0.1": lambda x, y: 0.1,
}


def varied(
    x: Rows,
    y: Rows,
    permutations: int,
    seed: int,
    threads: int,
    *,
    measure: Measure = area,
    share: float | None = None,
) -> float:
    """Our classifier test with another statistic, or another shrinkage."""
    with workers(threads) as pool:
        parts = cross_fit(x, y, pool, folds=5, seed=seed, share=share)
        value, null = permuted(
            lambda chosen: held_out(chosen, parts, measure),
            [part.sizes for part in parts],
            permutations,
            pool,
            seed=seed,
        )
    return (1 + np.sum(null >= value - 1e-12)) / (1 + permutations)


def by_mmd(x: Rows, y: Rows, permutations: int, seed: int, threads: int) -> float:
    return mmd_test(x, y, permutations=permutations, seed=seed, threads=threads).p_value


def by_classifier(x: Rows, y: Rows, permutations: int, seed: int, threads: int) -> float:
    return classifier_test(x, y, permutations=permutations, seed=seed, threads=threads).p_value


def by_every_row(x: Rows, y: Rows, permutations: int, seed: int, threads: int) -> float:
    """MMD of the median width alone, every row permuted on its own, from the whole matrix."""
    return plain_p_value(plain_kernel(x, y), len(x), permutations, seed)[1]


EVERY_ROW = "MMD of median width, every row"
TESTS: dict[str, Test] = {
    "MMD": by_mmd,
    EVERY_ROW: by_every_row,
    "classifier": by_classifier,
    "by accuracy": by_accuracy,
}
