"""The matrix of word vectors while its rows are read: made once, and seldom moved."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_MARGIN = 1.03  # words grow longer towards the end of a file sorted by frequency


class Matrix:
    """Rows of float32 that grow in number.

    Parameters
    ----------
    width
        Numbers of a row.
    most
        How many rows are promised; None if nothing is.
    """

    def __init__(self, width: int, *, most: int | None) -> None:
        self._most = most
        self._array = np.empty((0, width), np.float32)
        self._filled = 0

    def expect(self, rows: int) -> None:
        """Take room for about so many rows, before the first are read."""
        if not len(self._array):
            rows = int(rows * _MARGIN) if self._most is None else min(self._most, 2 * rows)
            # Room that no row is written to takes no memory
            self._array = np.empty((rows, self._array.shape[1]), np.float32)

    def grow(self, rows: int) -> int:
        """Add rows, and tell where the first of them is. No rows may be in use."""
        start = self._filled
        self._filled += rows
        if self._filled > len(self._array):
            self._resize(self._filled + self._filled // 8)
        return start

    def rows(self, start: int, count: int) -> NDArray[np.float32]:
        """Give rows to fill in, without a copy."""
        return self._array[start : start + count]

    def finished(self, rows: int | None = None) -> NDArray[np.float32]:
        """Give all rows, or the first of them, and the rest of the room back."""
        self._resize(self._filled if rows is None else rows)
        return self._array

    def _resize(self, rows: int) -> None:
        # In place: a copy would need the memory twice
        self._array.resize((rows, self._array.shape[1]), refcheck=False)
