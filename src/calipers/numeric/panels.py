"""Panels: the layout of rows for fast products, and the thresholds that select pairs.

Rows stand in panels, 48 rows side by side, one coordinate after the other. ``native/panels.h``
multiplies two panels in registers; the pairs whose bound passes a limit of either row are looked at
one by one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calipers.numeric import native
from calipers.numeric.arrays import Floats32

PANEL = 48
"""Rows of a panel: a multiple of every patch of ``native/panels.h``."""

STRIP = 2**17  # numbers of float32 that fill half a megabyte


class Thresholds(NamedTuple):
    """Thresholds that select pairs for each row of a span, padded to whole panels.

    Attributes
    ----------
    low
        From :class:`calipers.numeric.distances.Sieve`.
    limit
        A pair passes when its bound lies below this, for either of its rows.
    gain, reach
        A pair also passes when the bound times the one row's gain lies below the other's reach.
    """

    low: Floats32
    limit: Floats32
    gain: Floats32
    reach: Floats32

    @classmethod
    def of(cls, low: Floats32, limit: Floats32) -> Thresholds:
        """Make thresholds with limits alone."""
        zero = np.zeros_like(limit)
        return cls(low, limit, zero, zero - 1)

    @classmethod
    def shut(cls, low: Floats32) -> Thresholds:
        """Make thresholds that select nothing, where only the other side's limits count."""
        return cls.of(low, np.full_like(low, -np.inf))


def patches(n: int, m: int, panels: Floats32) -> NDArray[np.int64]:
    """Return the first row and column of every pair of panels in an n x m tile, ``(count, 2)``.

    Strips of rows that stay in a core's own cache, past which all columns are led.
    """
    strip = max(1, STRIP // (panels.shape[1] * PANEL)) * PANEL
    rows, columns = (np.arange(0, size, PANEL) for size in (n, m))
    pairs = np.stack(np.meshgrid(rows, columns, indexing="ij"), axis=-1).reshape(-1, 2)
    return pairs[np.lexsort((pairs[:, 0], pairs[:, 1], pairs[:, 0] // strip))].astype(np.int64)


native.record("thresholds", "low f4[n]", "limit f4[n] out", "gain f4[n] out", "reach f4[n]")
