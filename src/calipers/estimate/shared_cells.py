"""One space and one set of cells shared by a reference and several generated sets.

By default each pair of sets has its own projection and its own cells, so that adding a system
never changes another's score. Shared ones make the systems of a run strictly comparable with one
another instead. The reference has weight ½ in both, and the systems divide the other half equally,
whatever their sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calipers.catalogue.settings import Buckets, Norm
from calipers.errors import InputError
from calipers.estimate.axes import joint_space
from calipers.estimate.quantise import Quantisation, bucket_count, count_pair, joint_cells
from calipers.numeric.blocks import Blocks
from calipers.numeric.distances import Points
from calipers.numeric.validation import check_points


@dataclass(frozen=True)
class SharedSpace:
    """A reference and several generated sets in one space.

    Attributes
    ----------
    reference
        Shape ``(n, q)``, float32.
    systems
        Of each system its rows, shapes ``(m_s, q)``, float32.
    explained_variance
        Share of the weighted variance that the q axes keep, in [0, 1].
    """

    reference: Points
    systems: tuple[Points, ...]
    explained_variance: float


def shared_space(
    reference: ArrayLike,
    systems: Sequence[ArrayLike],
    *,
    norm: Norm = "l2",
    pca: float | None = 0.9,
    threads: int | None = None,
) -> SharedSpace:
    """Project a reference and all systems of a run into one space.

    As :func:`calipers.estimate.axes.preprocess` does for a pair, but the principal axes are
    those of a distribution that is one half the reference and one half the systems in equal
    parts. With one system of the reference's size the two are the same.

    Parameters
    ----------
    reference
        Embeddings, shape ``(n, d)``.
    systems
        Of each system its embeddings, shapes ``(m_s, d)``.
    norm
        ``"l2"`` scales every row to length one (zero rows stay); ``"none"`` leaves them.
    pca
        Share of the variance to keep, in (0, 1]; None skips the projection.
    threads
        Number of threads (default: all cores); no effect on the result.

    Raises
    ------
    InputError
        If there is no system, the arrays do not fit together or `pca` lies outside (0, 1].
    """
    sets = _check_sets(reference, systems)
    space = joint_space(sets, _weights(sets), norm=norm, pca=pca, threads=threads)
    return SharedSpace(space.sets[0], space.sets[1:], space.explained_variance)


def shared_quantise(
    reference: ArrayLike,
    systems: Sequence[ArrayLike],
    *,
    buckets: Buckets = "auto",
    restarts: int = 5,
    seed: int = 0,
    max_iterations: int = 500,
    blocks: tuple[Blocks, Sequence[Blocks]] | None = None,
    threads: int | None = None,
) -> tuple[Quantisation, ...]:
    """Cluster a reference and all systems of a run once, and count each pair over the same cells.

    k-means as in :func:`calipers.estimate.quantise.quantise`, in which every row counts what its
    set's weight divided by its set's size makes: in the means, in the inertia and in the chance of
    becoming a first centre. Cells stay for all pairs if any set has a row in them, so that
    smoothing adds the same to every system; a cell may be empty on both sides of a pair. With
    one system of the reference's size the result equals that of ``quantise``.

    Parameters
    ----------
    reference
        Rows, shape ``(n, d)``.
    systems
        Of each system its rows, shapes ``(m_s, d)``.
    buckets
        Number of cells; ``"auto"`` for a tenth of the smallest set; ``"cube-root"`` for its cube
        root.
    restarts, seed, max_iterations
        As for ``quantise``.
    blocks
        Block labels of the reference and of each system.
    threads
        Number of threads (default: all cores); no effect on the result.

    Returns
    -------
    tuple of Quantisation
        One for each system; inertias and centres are those of the whole run.

    Raises
    ------
    InputError
        If there is no system, the arrays do not fit together or an option is out of its range.
    """
    sets = _check_sets(reference, systems)
    _check_blocks(blocks, len(systems))
    starts = np.cumsum([0, *(len(rows) for rows in sets)]).tolist()
    joint = joint_cells(
        sets,
        _weights(sets),
        cells=bucket_count(buckets, len(sets[0]), min(len(rows) for rows in sets[1:])),
        restarts=restarts,
        seed=seed,
        max_iterations=max_iterations,
        threads=threads,
    )
    return tuple(
        count_pair(
            joint,
            slice(starts[1]),
            slice(starts[system], starts[system + 1]),
            None if blocks is None else (blocks[0], blocks[1][system - 1]),
        )
        for system in range(1, len(sets))
    )


def _weights(sets: Sequence[Points]) -> list[float]:
    """What each row of each set counts, 1 on average; exactly 1 for two sets of one size."""
    total = sum(len(rows) for rows in sets)
    parts = [2, *[2 * (len(sets) - 1)] * (len(sets) - 1)]
    return [total / (part * len(rows)) for part, rows in zip(parts, sets, strict=True)]


def _check_sets(reference: ArrayLike, systems: Sequence[ArrayLike]) -> list[Points]:
    if len(systems) == 0:
        raise InputError("systems must hold at least one generated set; found none")
    names = ["reference", *(f"system {place}" for place in range(1, len(systems) + 1))]
    sets = [
        check_points(points, name)
        for points, name in zip((reference, *systems), names, strict=True)
    ]
    for points, name in zip(sets, names, strict=True):
        if points.shape[1] != sets[0].shape[1]:
            raise InputError(
                f"reference and {name} must have the same number of columns; "
                f"found {sets[0].shape[1]} and {points.shape[1]}"
            )
    if len({points.dtype for points in sets}) > 1:
        return [points.astype(np.float64) for points in sets]
    return sets


def _check_blocks(blocks: tuple[Blocks, Sequence[Blocks]] | None, systems: int) -> None:
    if blocks is not None and len(blocks[1]) != systems:
        raise InputError(
            f"blocks must be given for each of the {systems} systems; found {len(blocks[1])}"
        )
