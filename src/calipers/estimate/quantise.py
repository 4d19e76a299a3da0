"""Joint k-means: samples of both sets become counts over the same cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.errors import InputError
from calipers.estimate.blocks import Blocks
from calipers.estimate.histograms import Histograms, count_cells
from calipers.estimate.joint_cells import JointCells, joint_cells
from calipers.estimate.validate import check_pair, is_whole

Buckets = int | Literal["auto", "cube-root"]


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
        """The run with the smallest inertia, the first among equals."""
        return self.runs[int(np.argmin(self.inertias))]


def bucket_count(buckets: Buckets, n: int, m: int) -> int:
    """Return how many cells to use for n and m samples.

    A number as asked; for ``"auto"`` a tenth of the smaller set (mauve-text); for ``"cube-root"``
    the cube root of the smaller set, which balances the bounds of the errors that estimation and
    quantisation make (Pillutla et al., JMLR 2023, theorem 14).

    Raises
    ------
    InputError
        If it is below 2 or above the number of samples in both sets together.
    """
    if buckets == "auto":
        return max(2, round(min(n, m) / 10))
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
    """Join each cell with its nearest neighbour that is still alone, until so many are left.

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
    """Cluster the union of both sets by k-means and count both over the cells.

    Lloyd's algorithm in float32, started `restarts` times from random rows (Pillutla et al., JMLR
    2023, algorithm 1). The result depends on the order of the rows, through the random starts,
    and not on the number of threads.

    Parameters
    ----------
    reference, generated
        Rows, shapes ``(n, d)`` and ``(m, d)``.
    buckets
        Number of cells; ``"auto"`` for a tenth of the smaller set; ``"cube-root"`` for its cube
        root.
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
    """Count two stretches of a union over all its cells."""
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
