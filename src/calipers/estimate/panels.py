"""Products of panels, and which of their pairs pass the sieve."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.jit import inlined
from calipers.estimate.microkernel import (
    HEIGHT,
    PANEL,
    WIDTH,
    address,
    multiply_patch,
    multiply_rows,
    sift_row,
)

Floats = NDArray[np.float32]

STRIP = 2**17  # numbers of float32 that fill half a megabyte


class Gates(NamedTuple):
    """What decides for each row of a span whether a pair passes, filled up to whole panels.

    Attributes
    ----------
    low
        From :class:`calipers.estimate.distances.Sieve`.
    limit
        A pair passes when its bound lies below this, for either of its rows.
    gain, reach
        A pair also passes when the bound times the one row's gain lies below the other's reach.
    """

    low: Floats
    limit: Floats
    gain: Floats
    reach: Floats

    @classmethod
    def of(cls, low: Floats, limit: Floats) -> Gates:
        """Gates with limits alone."""
        zero = np.zeros_like(limit)
        return cls(low, limit, zero, zero - 1)

    @classmethod
    def shut(cls, low: Floats) -> Gates:
        """Gates that let nothing pass, where the limits of the other side alone count."""
        return cls.of(low, np.full_like(low, -np.inf))


def patches(n: int, m: int, panels: Floats) -> NDArray[np.int64]:
    """The first row and column of every pair of panels in a tile of n x m pairs, ``(count, 2)``.

    Strips of rows that stay in a core's own cache, past which all columns are led.
    """
    strip = max(1, STRIP // (panels.shape[1] * PANEL)) * PANEL
    rows, columns = (np.arange(0, size, PANEL) for size in (n, m))
    pairs = np.stack(np.meshgrid(rows, columns, indexing="ij"), axis=-1).reshape(-1, 2)
    return pairs[np.lexsort((pairs[:, 0], pairs[:, 1], pairs[:, 0] // strip))].astype(np.int64)


@inlined
def multiply_panels(left: Any, i: int, right: Any, j: int, products: Any) -> None:
    """Products of all rows of one panel with all rows of another, ``(48, 48)``, float32."""
    products[:] = 0
    depth = left.shape[1]
    one = address(left) + np.uintp(4 * PANEL * depth * i)
    other = address(right) + np.uintp(4 * PANEL * depth * j)
    sums = address(products)
    for c in range(0, PANEL, WIDTH):
        for r in range(0, PANEL, HEIGHT):
            multiply_patch(
                one + np.uintp(4 * r),
                other + np.uintp(4 * c),
                depth,
                sums + np.uintp(4 * (r * PANEL + c)),
            )


@inlined
def multiply_block(rows: Any, i: int, right: Any, j: int, products: Any) -> None:
    """Products of 48 rows from row i on, one after the other, with those of a panel."""
    products[:] = 0
    depth = rows.shape[1]
    one = address(rows) + np.uintp(4 * depth * i)
    other = address(right) + np.uintp(4 * PANEL * depth * j)
    sums = address(products)
    for c in range(0, PANEL, WIDTH):
        for r in range(0, PANEL, HEIGHT):
            multiply_rows(
                one + np.uintp(4 * depth * r),
                depth,
                other + np.uintp(4 * c),
                depth,
                sums + np.uintp(4 * (r * PANEL + c)),
            )


@inlined
def sift(products: Any, rows: Any, columns: Any, row0: int, column0: int, passing: Any) -> int:
    """Mark the pairs that pass, a bit for each column in the word of its row.

    `row0` and `column0` are the places of the panels in the gates. Returns how many rows of the
    panel have a pair that passes.
    """
    start, sums = np.uintp(4 * column0), address(products)
    addresses = (
        address(columns.low) + start,
        address(columns.limit) + start,
        address(columns.gain) + start,
        address(columns.reach) + start,
    )
    found = 0
    for r in range(PANEL):
        i = row0 + r
        row = (rows.low[i], rows.limit[i], rows.gain[i], rows.reach[i])
        passing[r] = sift_row(sums + np.uintp(4 * PANEL * r), row, addresses)
        found += passing[r] != 0
    return found
