"""The vectors of a sample set while they are being made."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from calipers.embed.protocol import Embedder, EncodedBatch
from calipers.errors import CalipersError


class Rows:
    """The vectors of a whole set, filled part by part."""

    def __init__(self, size: int, views: Sequence[str]) -> None:
        self._names = views
        self.views: dict[str, NDArray[np.float32]] = {}
        self.truncated = np.zeros(size, dtype=np.bool_)
        self._unknown: NDArray[np.float32] | None = None

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
        if batch.unknown is not None:
            if self._unknown is None:
                self._unknown = np.zeros(len(self.truncated), dtype=np.float32)
            self._unknown[rows] = batch.unknown

    def part(self, start: int, size: int) -> EncodedBatch:
        """Return some rows as they are now, without a copy."""
        rows = slice(start, start + size)
        views = {name: view[rows] for name, view in self.views.items()}
        return EncodedBatch(views, self.truncated[rows])

    def notes(self, embedder: Embedder) -> tuple[str, ...]:
        """Say what a person must be told: texts that were cut, words that are unknown."""
        return (*self._cut_notes(embedder), *self._unknown_notes(embedder))

    def _cut_notes(self, embedder: Embedder) -> tuple[str, ...]:
        cut = int(self.truncated.sum())
        if not cut:
            return ()
        where = embedder.signature.get("max_length", "the embedder's most")
        verb = "was" if cut == 1 else "were"
        return (f"{cut:,} of {len(self.truncated):,} texts {verb} cut at {where} tokens",)

    def _unknown_notes(self, embedder: Embedder) -> tuple[str, ...]:
        if self._unknown is None or not self._unknown.any():
            return ()
        share = float(self._unknown.mean())
        lost = int((self._unknown == 1).sum())
        have = "text has" if lost == 1 else "texts have"
        none = f"; {lost:,} {have} no word that it knows" if lost else ""
        return (f"{embedder.name} does not know {share:.1%} of the words{none}",)
