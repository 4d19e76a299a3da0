"""Vectors of one run without a disk cache: equal samples of several sets are embedded once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from calipers.embedders.cache import Rows, SegmentIndex, taken
from calipers.embedders.embedder import EncodedBatch
from calipers.embedders.segments import RowHashes


class RunVectors:
    """The vectors made in one run, in place of a cache on disk."""

    directory = None

    def __init__(self) -> None:
        self._made = dict[tuple[str, str, tuple[str, ...]], MadeVectors]()

    def of(self, identity: str, kind: str, views: Sequence[str]) -> MadeVectors:
        """Return the vectors of one embedder, like :meth:`calipers.embedders.cache.Cache.of`."""
        return self._made.setdefault((identity, kind, tuple(views)), MadeVectors())


class MadeVectors:
    """The vectors of one embedder in one run, by the hashes of their samples.

    They are the rows of the sets themselves wherever a set has them in turn, so that they take no
    memory of their own.
    """

    damaged: Sequence[str] = ()

    def __init__(self) -> None:
        self._index = SegmentIndex()
        self._batches = dict[str, EncodedBatch]()

    def find(self, hashes: RowHashes) -> Iterator[tuple[Rows, EncodedBatch]]:
        """Yield the available vectors, with their positions among the given hashes."""
        names, segments, rows = self._index.locate(hashes)
        for number in np.unique(segments[segments >= 0]).tolist():
            places = np.flatnonzero(segments == number)
            yield places, taken(self._batches[names[number]], rows[places].astype(np.intp))

    def store(self, hashes: RowHashes, batch: EncodedBatch) -> None:
        """Keep the vectors of samples for the rest of the run."""
        name = str(len(self._batches))
        self._batches[name] = batch
        self._index.add({name: hashes})
