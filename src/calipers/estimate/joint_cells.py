"""Several runs of k-means on the union of some sets, before anything is counted."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.distances import Points
from calipers.estimate.kmeans import MOST_BOUNDS, Clustering, cell_means, k_means
from calipers.estimate.kmeans_layout import Table, lay_out
from calipers.estimate.tiles import Workers, available_threads, workers
from calipers.estimate.validate import check_whole

SMALL = 2**23  # pairs of rows and centres of a run that is not worth dividing over threads


@dataclass(frozen=True)
class JointCells:
    """The cells of several runs of k-means on a union of sets.

    Attributes
    ----------
    labels
        For each run the cell of every row of the union; only cells that hold a row are numbered.
    inertias, centres, buckets
        As in :class:`calipers.estimate.quantise.Quantisation`.
    """

    labels: tuple[NDArray[np.int32], ...]
    inertias: tuple[float, ...]
    centres: NDArray[np.float64]
    buckets: int


def joint_cells(
    sets: Sequence[Points],
    weights: Sequence[float],
    *,
    cells: int,
    restarts: int,
    seed: int,
    max_iterations: int,
    threads: int | None,
) -> JointCells:
    """Cluster the union of checked sets; `weights` are what each row of each set counts."""
    check_whole("restarts", restarts, 1)
    check_whole("seed", seed, 0)
    seeds = np.random.SeedSequence(seed).generate_state(restarts)
    with workers(threads) as pool:
        table = lay_out(sets, pool, weights)
        fits = _fits(table, cells, seeds.tolist(), max_iterations, pool)
    # With fewer distinct rows than buckets some cells hold nothing; smoothing must not see them
    labels = tuple(_without_gaps(fit.labels, cells) for fit in fits)
    inertias = tuple(float(np.ldexp(fit.inertia, 2 * table.exponent)) for fit in fits)
    centres = cell_means(table, labels[int(np.argmin(inertias))])
    return JointCells(labels, inertias, centres, cells)


def _without_gaps(labels: NDArray[np.int32], cells: int) -> NDArray[np.int32]:
    """Number the cells that hold a row from 0, in their order."""
    used = np.bincount(labels, minlength=cells) > 0
    numbered: NDArray[np.int32] = (np.cumsum(used) - 1).astype(np.int32)[labels]
    return numbered


def _fits(
    table: Table, cells: int, seeds: list[int], max_iterations: int, pool: Workers
) -> list[Clustering]:
    """Run k-means from every seed: small runs a thread each, large ones with all threads inside."""
    small = table.n * cells <= SMALL and len(seeds) >= pool.threads
    inside = Workers.alone() if small else pool

    def fit(seed: int) -> Clustering:
        return k_means(table, cells, seed=seed, max_iterations=max_iterations, workers=inside)

    abreast = MOST_BOUNDS // (table.n * cells)
    if small:
        # With all cores ours, a fifth run on four of them need not wait until another ends
        abreast = pool.threads + (pool.threads >= available_threads())
    if pool.threads == 1 or abreast <= 1 or len(seeds) == 1:
        return [fit(seed) for seed in seeds]
    with ThreadPoolExecutor(min(abreast, len(seeds))) as runs:
        return list(runs.map(fit, seeds))
