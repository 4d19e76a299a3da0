"""Joint k-means: samples of both sets become counts over the same cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.errors import InputError
from calipers.estimate.blocks import Blocks
from calipers.estimate.histograms import Histograms, count_cells
from calipers.estimate.kmeans import MOST_BOUNDS, Clustering, k_means
from calipers.estimate.tiles import Workers, workers
from calipers.estimate.validate import check_pair, check_whole, is_whole

Buckets = int | Literal["auto"]


@dataclass(frozen=True)
class Quantisation:
    """Histograms from several runs of k-means on the union of two sets.

    Attributes
    ----------
    runs
        One pair of histograms for each start, in the order of the starts.
    inertias
        Sum of squared distances to the nearest centre in each run, shape ``(runs,)``.
    labels
        Cell of every reference row and of every generated row in the best run.
    buckets
        Number of cells that were asked for; histograms leave out cells that hold no row.
    """

    runs: tuple[Histograms, ...]
    inertias: tuple[float, ...]
    labels: tuple[NDArray[np.int32], NDArray[np.int32]]
    buckets: int

    @property
    def best(self) -> Histograms:
        """The run with the smallest inertia, the first among equals."""
        return self.runs[int(np.argmin(self.inertias))]


def bucket_count(buckets: Buckets, n: int, m: int) -> int:
    """Return how many cells to use: as asked, or a tenth of the smaller set (mauve-text).

    Raises
    ------
    InputError
        If it is below 2 or above the number of samples in both sets together.
    """
    if buckets == "auto":
        return max(2, round(min(n, m) / 10))
    if not is_whole(buckets, 2):
        raise InputError(f"buckets must be 'auto' or a whole number from 2; found {buckets!r}")
    if buckets > n + m:
        raise InputError(
            f"buckets must be at most the {n + m} samples of both sets; found {buckets}"
        )
    return int(buckets)


def quantise(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    buckets: Buckets = "auto",
    restarts: int = 5,
    seed: int = 0,
    max_iterations: int = 500,
    blocks: tuple[Blocks, Blocks] | None = None,
    threads: int | None = None,
) -> Quantisation:
    """Cluster the union of both sets by k-means and count both over the cells.

    Lloyd's algorithm in float32, started `restarts` times from random rows. The result depends on
    the order of the rows, through the random starts, and not on the number of threads.

    Parameters
    ----------
    reference, generated
        Rows, shapes ``(n, d)`` and ``(m, d)``.
    buckets
        Number of cells, or ``"auto"`` for a tenth of the smaller set.
    restarts
        How many runs; all are kept, so that the spread between them is known.
    seed
        Of the starts.
    max_iterations
        Of each run.
    blocks
        Block labels of both sets; with them, the counts of every block are kept.
    threads
        Number of threads (default: all cores).
    """
    check_whole("restarts", restarts, 1)
    check_whole("seed", seed, 0)
    left, right = check_pair(reference, generated)
    n = len(left)
    cells = bucket_count(buckets, n, len(right))
    union = np.concatenate([left, right])
    centred = union - union.mean(axis=0, dtype=np.float64)
    # A power of two brings the rows to about 1: nothing is rounded, and no float32 square overflows
    exponent = int(np.clip(np.frexp(np.abs(centred).max())[1], -500, 500))
    union = np.ldexp(centred, -exponent).astype(np.float32)
    seeds = np.random.SeedSequence(seed).generate_state(restarts)
    fits = _fits(union, cells, seeds.tolist(), max_iterations, threads)
    inertias = tuple(float(np.ldexp(fit.inertia, 2 * exponent)) for fit in fits)
    runs = tuple(_histograms(fit.labels[:n], fit.labels[n:], cells, blocks) for fit in fits)
    best = fits[int(np.argmin(inertias))].labels
    return Quantisation(runs, inertias, (best[:n], best[n:]), cells)


def _fits(
    union: NDArray[np.float32],
    cells: int,
    seeds: list[int],
    max_iterations: int,
    threads: int | None,
) -> list[Clustering]:
    """Run k-means from every seed: side by side, or one by one where memory asks for it."""

    def fit(seed: int, pool: Workers) -> Clustering:
        return k_means(union, cells, seed=seed, max_iterations=max_iterations, workers=pool)

    with workers(threads) as pool:
        if len(union) * cells * pool.threads > MOST_BOUNDS:
            return [fit(seed, pool) for seed in seeds]
        return list(pool.map(lambda seed: fit(seed, Workers.alone()), seeds))


def _histograms(
    reference: NDArray[np.int32],
    generated: NDArray[np.int32],
    cells: int,
    blocks: tuple[Blocks, Blocks] | None,
) -> Histograms:
    left, right = blocks or (None, None)
    p, p_blocks = count_cells(reference, cells, *_labels(left))
    q, q_blocks = count_cells(generated, cells, *_labels(right))
    # With fewer distinct rows than buckets some cells hold nothing; smoothing must not see them
    used = p + q > 0
    p_blocks, q_blocks = (b if b is None else b[:, used] for b in (p_blocks, q_blocks))
    return Histograms(p[used], q[used], reference_blocks=p_blocks, generated_blocks=q_blocks)


def _labels(blocks: Blocks | None) -> tuple[NDArray[np.int64] | None, int]:
    return (None, 0) if blocks is None else (blocks.labels, blocks.count)
