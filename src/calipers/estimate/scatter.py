"""Sums of outer products of rows, and the coordinates of rows along axes, over all threads.

For float32 rows both are made by :mod:`calipers.estimate.microkernel`, which is faster than many a
BLAS. No result depends on the number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.distances import Points
from calipers.estimate.jit import inlined, kernel
from calipers.estimate.microkernel import (
    HEIGHT,
    PANEL,
    WIDTH,
    address,
    multiply_patch,
)
from calipers.estimate.panels import multiply_block
from calipers.estimate.tiles import Span, Workers, spans

Floats = NDArray[np.float32]
Matrix = NDArray[np.float64]

STEP = 4096  # rows that are laid out at a time
DEPTH = 256  # rows whose products are added in float32 before they go to float64
SPAN = 480  # rows of a piece of work, whole panels


def scatter_about(
    sets: Sequence[Points], centre: Matrix, factors: Sequence[float], workers: Workers
) -> Matrix:
    """Add up the outer products of all rows about a centre.

    Parameters
    ----------
    sets
        Rows, shapes ``(n_s, d)``, all float32 or all float64. Of float32 rows the products are
        added in float32, 512 at a time.
    centre
        Shape ``(d,)``.
    factors
        What every row of each set counts.
    workers
        The threads; no effect on the result.

    Returns
    -------
    array
        Shape ``(d, d)``, float64.
    """
    scatter = np.zeros((len(centre), len(centre)))
    add: Any = _add_panels if sets[0].dtype == np.float32 else _add_blocks
    for points, factor in zip(sets, factors, strict=True):
        for start, stop in spans(len(points), STEP):
            add(points[start:stop], centre, factor, workers, scatter)
    return scatter


def _add_blocks(
    rows: Matrix, centre: Matrix, factor: float, workers: Workers, scatter: Matrix
) -> None:
    def work(span: Span) -> Matrix:
        deviations = rows[slice(*span)] - centre
        product: Matrix = deviations.T @ deviations
        return product

    for part in workers.map(work, spans(len(rows), STEP // 4)):
        scatter += factor * part


def _add_panels(
    rows: Floats, centre: Matrix, factor: float, workers: Workers, scatter: Matrix
) -> None:
    count = -(-rows.shape[1] // PANEL)
    panels = np.zeros((count, len(rows), PANEL), np.float32)
    middle = centre.astype(np.float32)
    list(
        workers.map(lambda part: _lay_columns(rows, middle, *part, panels), spans(len(rows), SPAN))
    )
    list(workers.map(lambda one: _add_products(panels, one, factor, scatter), range(count)))
    list(workers.map(lambda one: _mirror(scatter, one * PANEL), range(count)))


def coordinates(points: Points, centre: Matrix, axes: Matrix, workers: Workers) -> Floats:
    """Coordinates of rows along some axes about a centre, shape ``(n, q)``, float32.

    Products are taken in the precision of the rows.

    Parameters
    ----------
    points
        Rows, shape ``(n, d)``.
    centre, axes
        Shapes ``(d,)`` and ``(d, q)``.
    workers
        The threads; no effect on the result.
    """
    out = np.empty((len(points), axes.shape[1]), np.float32)
    if points.dtype == np.float32:
        middle, panels = centre.astype(np.float32), _axis_panels(axes)

        def work(span: Span) -> None:
            _project(points, middle, span[0], span[1], panels, out)
    else:

        def work(span: Span) -> None:
            out[slice(*span)] = (points[slice(*span)] - centre) @ axes

    list(workers.map(work, spans(len(points), SPAN)))
    return out


def _axis_panels(axes: Matrix) -> Floats:
    d, q = axes.shape
    panels = np.zeros((-(-q // PANEL), d, PANEL), np.float32)
    for panel, part in enumerate(panels):
        columns = axes[:, panel * PANEL : (panel + 1) * PANEL]
        part[:, : columns.shape[1]] = columns
    return panels


@kernel
def _lay_columns(points: Any, centre: Any, first: int, last: int, panels: Any) -> None:
    d = points.shape[1]
    for i in range(first, last):
        for panel in range(panels.shape[0]):
            start = panel * PANEL
            for t in range(min(PANEL, d - start)):
                panels[panel, i, t] = points[i, start + t] - centre[start + t]


@kernel
def _add_products(panels: Any, one: int, factor: float, scatter: Any) -> None:
    """Products of all columns of one panel with those of itself and the later ones."""
    products = np.empty((PANEL, PANEL), np.float32)
    for start in range(0, panels.shape[1], DEPTH):
        depth = min(DEPTH, panels.shape[1] - start)
        for other in range(one, panels.shape[0]):
            _multiply(panels, one, other, start, depth, products)
            _add_tile(products, one * PANEL, other * PANEL, factor, scatter)


@inlined
def _multiply(panels: Any, one: int, other: int, start: int, depth: int, products: Any) -> None:
    products[:] = 0
    places = panels.shape[1]
    left = address(panels) + np.uintp(4 * PANEL * (one * places + start))
    right = address(panels) + np.uintp(4 * PANEL * (other * places + start))
    for c in range(0, PANEL, WIDTH):
        for r in range(0, PANEL, HEIGHT):
            multiply_patch(
                left + np.uintp(4 * r),
                right + np.uintp(4 * c),
                depth,
                address(products) + np.uintp(4 * (r * PANEL + c)),
            )


@inlined
def _add_tile(products: Any, row0: int, column0: int, factor: float, scatter: Any) -> None:
    d = scatter.shape[0]
    for r in range(min(PANEL, d - row0)):
        for c in range(min(PANEL, d - column0)):
            scatter[row0 + r, column0 + c] += factor * np.float64(products[r, c])


@kernel
def _mirror(scatter: Any, first: int) -> None:
    """Copy what lies above the diagonal below it, in some of the rows."""
    for r in range(first, min(first + PANEL, scatter.shape[0])):
        for c in range(r):
            scatter[r, c] = scatter[c, r]


@kernel
def _project(points: Any, centre: Any, first: int, last: int, panels: Any, out: Any) -> None:
    d, q = points.shape[1], out.shape[1]
    rows = np.zeros((PANEL, d), np.float32)
    products = np.empty((PANEL, PANEL), np.float32)
    for i0 in range(first, last, PANEL):
        count = min(PANEL, last - i0)
        for r in range(count):
            for t in range(d):
                rows[r, t] = points[i0 + r, t] - centre[t]
        for panel in range(panels.shape[0]):
            multiply_block(rows, 0, panels, panel, products)
            for r in range(count):
                for c in range(min(PANEL, q - panel * PANEL)):
                    out[i0 + r, panel * PANEL + c] = products[r, c]
