"""K-means as faiss computes it: its random starts, iterations and treatment of empty cells.

MAUVE depends on the cells, and these on where k-means starts, so that two correct programs differ
by as much as two seeds. This module starts where faiss 1.15 starts: at rows drawn by a Mersenne
Twister of the same seed. From there Lloyd's rounds lead to the same cells, up to rows that lie
between two centres to within the rounding of float32. The rounds themselves are those of
:mod:`calipers.estimate.kmeans`; faiss is not needed.

Three rules besides are those of faiss: more than 256 rows for each cell are not looked at while
the centres are sought; of the starts the first with the smallest sum of distances counts; a cell
without rows takes half of another, drawn in proportion to their sizes, and both centres are moved
apart by a 1,024th.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.kmeans.kernels import ClusterRows, lay_out
from calipers.estimate.kmeans.lloyd import MOST_BOUNDS, LocalSteps
from calipers.estimate.kmeans.rounds import Round
from calipers.numeric.arrays import Floats32
from calipers.numeric.distances import Points
from calipers.numeric.threads import Workers, workers
from calipers.numeric.validation import check_whole

__all__ = ["faiss_cells"]

Labels = NDArray[np.int32]

ROWS_PER_CELL = 256
RESTART_STEP = 15_486_557
SPLIT_SEED = 1234
APART = np.float32(1 / 1024)


def faiss_cells(
    rows: Points, cells: int, *, restarts: int = 5, max_iterations: int = 500, seed: int
) -> Labels:
    """Cluster rows into the same cells as ``faiss.Kmeans``.

    Parameters
    ----------
    rows
        Shape ``(n, d)``, float32.
    cells
        Number of cells, from 1 to n.
    restarts
        Number of starts, the best of which counts (``nredo``).
    max_iterations
        Iterations of each start (``niter``).
    seed
        Seed, as for ``faiss.Kmeans``, from 0.

    Returns
    -------
    labels
        Cell of every row, shape ``(n,)``, int32; some cell may hold none where rows are equal.

    Examples
    --------
    >>> line = np.array([[0], [1], [10], [11]], np.float32)
    >>> labels = faiss_cells(line, 2, seed=0)
    >>> (labels == labels[0]).tolist()
    [True, True, False, False]
    """
    check_whole("cells", cells, 1)
    n, most = len(rows), ROWS_PER_CELL * cells
    chosen = rows if n <= most else rows[_drawn(n, most, seed)]
    with workers(None) as pool:
        table = lay_out([chosen], pool, (1.0,))
        runs = (
            _run(table, cells, start, max_iterations, pool)
            for start in _starts(len(chosen), cells, restarts, seed)
        )
        _, centres = min(runs, key=lambda run: run[0])
        if chosen is rows:
            return _nearest(table, centres, pool)
        given, table = _given(table, centres), lay_out([rows], pool, (1.0,))
        return _nearest(table, _laid(table, given), pool)


def _starts(n: int, cells: int, restarts: int, seed: int) -> Iterator[NDArray[np.intp]]:
    """The rows that each run begins at; all of them where there are no more than cells."""
    for restart in range(restarts):
        if n == cells:
            yield np.arange(n)
        else:
            yield _drawn(n, cells, seed + 1 + restart * RESTART_STEP)


def _drawn(n: int, count: int, seed: int) -> NDArray[np.intp]:
    """The first rows of a random order: each changes places with one that comes no earlier."""
    numbers = _twister(seed, min(count, n - 1))
    order = np.arange(n)
    for place, number in enumerate(numbers):
        other = place + int(number) % (n - place)
        order[place], order[other] = order[other], order[place]
    return order[:count]


def _twister(seed: int, count: int) -> NDArray[np.uint32]:
    """The first numbers of a Mersenne Twister, 32 bits each."""
    return np.random.RandomState(seed % 2**32).randint(0, 2**32, size=count, dtype=np.uint32)


def _run(
    table: ClusterRows, cells: int, start: NDArray[np.intp], max_iterations: int, pool: Workers
) -> tuple[float, Floats32]:
    """Go from round to round; return the last sum of squared distances, and the centres then."""
    steps = _steps(table, cells, pool)
    at = Round.first(table.rows[start])
    for _ in range(max_iterations):
        steps.assign(at)
        sums = steps.sum_up()
        if sums.changed == 0:
            break  # centres follow from labels alone, so both stay in all rounds to come
        filled = sums.mass[:cells] > 0
        moved = at.centres.values[:cells].copy()
        moved[filled] = sums.means(np.flatnonzero(filled))
        if not filled.all():
            sizes = np.bincount(steps.labels, minlength=cells)
            moved = _laid(table, _split(_given(table, moved), sizes))
        at = at.following(moved)
    return float(steps.own.sum()), at.centres.values[:cells]


def _split(centres: Floats32, sizes: NDArray[np.integer]) -> Floats32:
    """Give each cell without rows half of another, and move the two centres apart."""
    cells, spare = len(centres), np.float32(int(sizes.sum()) - len(centres))
    counts, numbers = sizes.astype(np.float32), _shares(SPLIT_SEED)
    apart = np.where(np.arange(centres.shape[1]) % 2 == 0, APART, -APART)
    for empty in np.flatnonzero(sizes == 0):
        other = 0
        while next(numbers) >= np.float32((counts[other] - 1) / spare):
            other = (other + 1) % cells
        centres[empty] = centres[other] * (1 + apart)
        centres[other] *= 1 - apart
        counts[empty] = counts[other] / 2
        counts[other] -= counts[empty]
    return centres


def _shares(seed: int) -> Iterator[np.float32]:
    """Numbers from 0 to 1 of a Mersenne Twister."""
    draws = np.random.RandomState(seed)
    while True:
        numbers = draws.randint(0, 2**32, size=1024, dtype=np.uint32)
        yield from numbers.astype(np.float32) / np.float32(2**32)


def _nearest(table: ClusterRows, centres: Floats32, pool: Workers) -> Labels:
    """The nearest centre of every row."""
    steps = _steps(table, len(centres), pool)
    steps.assign(Round.first(centres))
    return steps.labels


def _steps(table: ClusterRows, cells: int, pool: Workers) -> LocalSteps:
    places = len(Round.first(table.rows[:cells]).centres.low)
    return LocalSteps(table, places, pool, bounded=table.n * places <= MOST_BOUNDS)


def _given(table: ClusterRows, centres: Floats32) -> Floats32:
    """Centres in the units of the rows as they were given."""
    d = len(table.centre)
    given = np.ldexp(centres[:, :d].astype(np.float64), table.exponent) + table.centre
    return given.astype(np.float32)


def _laid(table: ClusterRows, centres: Floats32) -> Floats32:
    """Centres as the rows of a table are laid out."""
    laid = np.zeros((len(centres), table.rows.shape[1]), np.float32)
    laid[:, : len(table.centre)] = np.ldexp(centres - table.centre, -table.exponent)
    return laid
