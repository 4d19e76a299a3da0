"""Joint k-means, which turns samples of both sets into counts over the same cells.

The union of the sets is clustered several times from seeded starts; the run of least inertia, or
all of them, give the histograms that divergences and frontiers are read from.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.brief import Brief
from calipers.catalogue.settings import Buckets
from calipers.errors import InputError
from calipers.estimate.histograms import Histograms, count_cells
from calipers.estimate.kmeans.kernels import ClusterRows, lay_out
from calipers.estimate.kmeans.lloyd import MOST_BOUNDS, cell_means, k_means
from calipers.estimate.kmeans.rounds import Clustering, chosen_rounds
from calipers.numeric.blocks import Blocks
from calipers.numeric.distances import Points
from calipers.numeric.threads import Workers, available_threads, workers
from calipers.numeric.validation import check_pair, check_whole, is_whole

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
    """Cluster the union of checked sets; `weights` are the weights of rows by set."""
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
    table: ClusterRows, cells: int, seeds: list[int], max_iterations: int, pool: Workers
) -> list[Clustering]:
    """Run k-means from every seed: small runs a thread each, large ones with all threads inside.

    Where something else runs the rounds, it does so one run after the other.
    """
    small = table.n * cells <= SMALL and len(seeds) >= pool.threads
    inside = Workers.alone() if small else pool

    def fit(seed: int) -> Clustering:
        return k_means(table, cells, seed=seed, max_iterations=max_iterations, workers=inside)

    abreast = MOST_BOUNDS // (table.n * cells)
    if small:
        # With all cores ours, a fifth run on four of them need not wait until another ends
        abreast = pool.threads + (pool.threads >= available_threads())
    if chosen_rounds(table.n * cells) or pool.threads == 1 or abreast <= 1 or len(seeds) == 1:
        return [fit(seed) for seed in seeds]
    with ThreadPoolExecutor(min(abreast, len(seeds))) as runs:
        return list(runs.map(fit, seeds))


@dataclass(frozen=True)
class Quantisation(Brief):
    """Histograms from several runs of k-means on the union of two sets.

    Attributes
    ----------
    runs
        One pair of histograms for each start, in the order of the starts.
    inertias
        Sum of squared distances to the nearest centre in each run, shape ``(runs,)``.
    labels
        Cell of every reference row and of every generated row in the best run: its place in the
        histograms of that run.
    buckets
        Number of cells that were asked for; histograms leave out cells that hold no row.
    centres
        Mean of all rows in each cell of the best run, in the units of the rows, shape
        ``(cells, d)``, float64, in the order of its histograms.
    """

    runs: tuple[Histograms, ...]
    inertias: tuple[float, ...]
    labels: tuple[NDArray[np.int32], NDArray[np.int32]]
    buckets: int
    centres: NDArray[np.float64]

    @property
    def best(self) -> Histograms:
        """The run with the smallest inertia, the first among ties."""
        return self.runs[int(np.argmin(self.inertias))]


MOST_CELLS = 5000
"""Most cells that are chosen for a person.

The time of k-means grows with samples times cells, and with a tenth of the samples in cells the
histograms would become no surer however many samples there are.
"""


def bucket_count(buckets: Buckets, n: int, m: int) -> int:
    """Return the number of cells for n and m samples.

    A number as asked; for ``"auto"`` a tenth of the smaller set (mauve-text), at most
    :data:`MOST_CELLS`; for ``"cube-root"``
    the cube root of the smaller set, which balances the bounds of the errors that estimation and
    quantisation make (Pillutla et al., JMLR 2023, theorem 14).

    Raises
    ------
    InputError
        If it is below 2 or above the number of samples in both sets together.
    """
    if buckets == "auto":
        return min(max(2, round(min(n, m) / 10)), MOST_CELLS)
    if buckets == "cube-root":
        return max(2, round(float(np.cbrt(min(n, m)))))
    if not is_whole(buckets, 2):
        raise InputError(
            f"buckets must be 'auto', 'cube-root' or a whole number from 2; found {buckets!r}"
        )
    if buckets > n + m:
        raise InputError(
            f"buckets must be at most the {n + m} samples of both sets; found {buckets}"
        )
    return int(buckets)


def joined_cells(centres: NDArray[np.float64], count: int) -> NDArray[np.int32]:
    """Merge each cell with its nearest unmerged neighbour, until so many are left.

    Cells that lie closest to another go first. None are joined twice, so at least half remain.

    Parameters
    ----------
    centres
        Of the cells, shape ``(cells, d)``.
    count
        How many cells are to be left.

    Returns
    -------
    numpy.ndarray
        For every cell the number of the one that it becomes part of, shape ``(cells,)``, int32.
    """
    places = centres - centres.mean(axis=0)
    square = np.einsum("ij,ij->i", places, places)
    apart = square[:, None] + square - 2 * (places @ places.T)
    np.fill_diagonal(apart, np.inf)
    alone, partner = np.ones(len(centres), bool), np.arange(len(centres))
    surplus = len(centres) - max(count, 1)
    for cell in np.argsort(apart.min(axis=1, initial=np.inf), kind="stable"):
        if surplus <= 0 or alone.sum() < 2:
            break
        if alone[cell]:
            alone[cell] = False
            other = int(np.where(alone, apart[cell], np.inf).argmin())
            alone[other] = False
            partner[[cell, other]] = min(cell, other)
            surplus -= 1
    return np.unique(partner, return_inverse=True)[1].astype(np.int32)


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
    """Cluster the union of both sets by k-means, and count each set over the cells.

    Lloyd's algorithm in float32, started `restarts` times from random rows (Pillutla et al., JMLR
    2023, algorithm 1). The result depends on the order of the rows, through the random starts,
    and not on the number of threads.

    Parameters
    ----------
    reference, generated
        Rows, shapes ``(n, d)`` and ``(m, d)``.
    buckets
        Number of cells; ``"auto"`` for a tenth of the smaller set, at most 5,000; ``"cube-root"``
        for its cube root.
    restarts
        Number of runs; all are kept, so that their spread is known.
    seed
        Seed of the starts.
    max_iterations
        Most iterations of each run.
    blocks
        Block labels of both sets; with them, the counts of every block are kept.
    threads
        Number of threads (default: all cores).

    Examples
    --------
    >>> reference = [[0.0], [1.0], [2.0], [3.0]]
    >>> generated = [[0.5], [1.5], [9.0], [10.0]]
    >>> cells = quantise(reference, generated, buckets=2)
    >>> cells.best.reference.tolist(), cells.best.generated.tolist()
    ([4, 0], [2, 2])
    """
    sets = check_pair(reference, generated)
    n = len(sets[0])
    cells = bucket_count(buckets, n, len(sets[1]))
    joint = joint_cells(
        sets,
        (1.0, 1.0),
        cells=cells,
        restarts=restarts,
        seed=seed,
        max_iterations=max_iterations,
        threads=threads,
    )
    return count_pair(joint, slice(n), slice(n, None), blocks)


def count_pair(
    joint: JointCells, reference: slice, generated: slice, blocks: tuple[Blocks, Blocks] | None
) -> Quantisation:
    """Count two ranges of a union over all its cells."""
    runs = tuple(
        _histograms(labels[reference], labels[generated], int(labels.max()) + 1, blocks)
        for labels in joint.labels
    )
    best = joint.labels[int(np.argmin(joint.inertias))]
    return Quantisation(
        runs, joint.inertias, (best[reference], best[generated]), joint.buckets, joint.centres
    )


def _histograms(
    reference: NDArray[np.int32],
    generated: NDArray[np.int32],
    cells: int,
    blocks: tuple[Blocks, Blocks] | None,
) -> Histograms:
    left, right = blocks or (None, None)
    p, p_blocks = count_cells(reference, cells, *_labels(left))
    q, q_blocks = count_cells(generated, cells, *_labels(right))
    return Histograms(p, q, reference_blocks=p_blocks, generated_blocks=q_blocks)


def _labels(blocks: Blocks | None) -> tuple[NDArray[np.int64] | None, int]:
    return (None, 0) if blocks is None else (blocks.labels, blocks.count)
