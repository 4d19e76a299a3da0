"""Where the actors of a cluster store vectors: a cache that all machines share, or object storage.

Under a path they lie as the cache of every run keeps them, sample by sample. In object storage a
block is one ``.npz`` file, named by the samples in it, and this machine takes it from there.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.embedders import Cache, EncodedBatch
from calipers.embedders.cache import CachedVectors, joined, taken
from calipers.embedders.reading import ReadingCounts
from calipers.embedders.segments import DamagedSegmentError, RowHashes
from calipers.engine.work_folder import WorkFolder
from calipers.numeric.arrays import NamedArrays

_VIEW = "view."
_TRUNCATED, _WORDS, _UNREAD = "truncated", "words", "unread"


@dataclass(frozen=True)
class VectorStore:
    """The vectors of one embedder in a work folder.

    Attributes
    ----------
    folder
        What all machines see.
    identity
        That of the embedder.
    kind
        Kind of the samples.
    views
        The embedder's.
    """

    folder: WorkFolder
    identity: str
    kind: str
    views: tuple[str, ...]

    def missing(self, hashes: RowHashes) -> NDArray[np.bool_]:
        """Tell which samples of a block have no stored vectors."""
        if not self.folder.remote:
            return self._cached.missing(hashes)
        return np.full(len(hashes), not self.folder.has(self._name(hashes)))

    def write(self, hashes: RowHashes, batch: EncodedBatch) -> None:
        """Write the vectors of a block atomically.

        Raises
        ------
        OSError, InputError
            If there is no room, or the folder cannot be written to.
        """
        if not self.folder.remote:
            self._cached.store(hashes, batch)
            return
        self.folder.write_arrays(self._name(hashes), arrays_of(batch))

    def read(self, hashes: RowHashes) -> EncodedBatch | None:
        """Read the vectors of a block; None where some are missing or damaged."""
        if not self.folder.remote:
            return self._read_cached(hashes)
        arrays = self.folder.read_arrays(self._name(hashes))
        try:
            batch = None if arrays is None else batch_of(arrays, self.folder.place)
        except DamagedSegmentError:
            return None
        if batch is None or batch.views.keys() != set(self.views):
            return None
        return batch if len(batch.truncated) == len(hashes) else None

    def discard(self, hashes: RowHashes) -> None:
        """Remove the vectors of a block, and folders that become empty."""
        if self.folder.remote:
            self.folder.discard(self._name(hashes))
        else:
            self._cached.forget(hashes)

    def _read_cached(self, hashes: RowHashes) -> EncodedBatch | None:
        parts = list(self._cached.find(hashes))
        places = np.concatenate([np.empty(0, np.intp), *(where for where, _ in parts)])
        if len(places) < len(hashes):
            return None
        return taken(joined([batch for _, batch in parts]), np.argsort(places))

    def __reduce__(self) -> tuple[Any, ...]:
        # What this process knows of the folder stays here
        return type(self), (self.folder, self.identity, self.kind, self.views)

    @cached_property
    def _cached(self) -> CachedVectors:
        return Cache(Path(self.folder.place)).of(self.identity, self.kind, self.views)

    def _name(self, hashes: RowHashes) -> str:
        block = hashlib.sha256(hashes.tobytes()).hexdigest()[:32]
        folder = hashlib.sha256(f"{self.identity}\n{self.kind}".encode()).hexdigest()[:32]
        return f"embeddings/{folder}/{block}.npz"


def arrays_of(batch: EncodedBatch) -> dict[str, NDArray[Any]]:
    """Return everything in a batch as arrays, by name."""
    arrays: dict[str, NDArray[Any]] = {_VIEW + name: view for name, view in batch.views.items()}
    arrays[_TRUNCATED] = batch.truncated
    if batch.reading is not None:
        arrays |= {_WORDS: batch.reading.words, _UNREAD: batch.reading.unread}
    return arrays


def batch_of(arrays: NamedArrays, where: str) -> EncodedBatch:
    """Rebuild a batch from its arrays.

    Raises
    ------
    DamagedSegmentError
        If one is missing, or of another shape or type than it must be.
    """
    views = {
        name.removeprefix(_VIEW): array for name, array in arrays.items() if name.startswith(_VIEW)
    }
    others = {name: array for name, array in arrays.items() if not name.startswith(_VIEW)}
    flags, words, unread = (others.pop(name, None) for name in (_TRUNCATED, _WORDS, _UNREAD))
    if others or flags is None or flags.dtype != np.bool_ or flags.ndim != 1:
        raise DamagedSegmentError(f"{where}: must hold one flag for each text")
    for array in views.values():
        if array.ndim != 2 or array.dtype != np.float32 or len(array) != len(flags):
            raise DamagedSegmentError(f"{where}: must hold float32 vectors, one row for each text")
    if words is None and unread is None:
        return EncodedBatch(views, flags)
    for counts in (words, unread):
        if counts is None or counts.shape != flags.shape or counts.dtype != np.int32:
            raise DamagedSegmentError(
                f"{where}: must hold its words and those unread for each text"
            )
    assert words is not None
    assert unread is not None
    return EncodedBatch(views, flags, ReadingCounts(words, unread))
