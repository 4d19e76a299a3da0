"""The vectors of a sample set while they are being made."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from calipers.embed.protocol import EncodedBatch
from calipers.errors import CalipersError


class Rows:
    """The vectors of a whole set, filled part by part."""

    def __init__(self, size: int, views: Sequence[str]) -> None:
        self._names = views
        self.views: dict[str, NDArray[np.float32]] = {}
        self.truncated = np.zeros(size, dtype=np.bool_)

    def put(self, start: int, batch: EncodedBatch) -> None:
        """Fill the rows from `start` on; the first batch decides how wide each view is."""
        if not self.views:
            widths = {name: batch.views[name].shape[1] for name in self._names}
            shapes = {name: (len(self.truncated), width) for name, width in widths.items()}
            self.views = {name: np.empty(shape, np.float32) for name, shape in shapes.items()}
        rows = slice(start, start + len(batch.truncated))
        for name, view in self.views.items():
            part = batch.views[name]
            if part.shape[1] != view.shape[1]:
                raise CalipersError(
                    f"vectors of one view must be equally long; those of {name!r} have "
                    f"{view.shape[1]} numbers at first, and {part.shape[1]} from row {start + 1} on"
                )
            view[rows] = part
        self.truncated[rows] = batch.truncated

    def part(self, start: int, size: int) -> EncodedBatch:
        """Return some rows as they are now, without a copy."""
        rows = slice(start, start + size)
        views = {name: view[rows] for name, view in self.views.items()}
        return EncodedBatch(views, self.truncated[rows])
