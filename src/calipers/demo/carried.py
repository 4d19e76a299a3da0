"""The paragraphs that the demo takes, and precomputed vectors of its texts.

Embedding a thousand texts takes longer than all that the demo does with them, and they are the same
for everybody who leaves the seed as it is. So their vectors come with Calipers, as float16: within
0.001 of those that the embedder computes (``tests/commands/demo/test_carried.py``). Versions of
Python differ in a tenth of their documentation; listed are paragraphs that those known when the
file was made have in common. ``research/experiments/demo_vectors.py`` makes the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.embedders.embedder import Embedder, EncodedBatch, identity_line
from calipers.embedders.minilm import REVISION, MiniLM
from calipers.embedders.reading import ReadingCounts
from calipers.numeric.arrays import Ints
from calipers.samples.kinds import hash_each

FILE = Path(__file__).with_name("vectors.npz")

FEWEST = 0.5
"""Share of the listed paragraphs below which a Python's own list is taken."""


@dataclass(frozen=True, eq=False)
class CarriedVectors:
    """Precomputed vectors of the demo's texts.

    Attributes
    ----------
    hashes
        Of each text, 16 bytes of its SHA-256, shape ``(n,)``; those of the paragraphs first.
    paragraphs
        How many are paragraphs.
    views
        View name to float16 of shape ``(n, d)``.
    words, unread
        As in :class:`~calipers.embedders.reading.ReadingCounts`.
    revision
        Of the model that they are from.
    """

    hashes: NDArray[np.bytes_]
    paragraphs: int
    views: Mapping[str, NDArray[np.float16]]
    words: Ints
    unread: Ints
    revision: str

    @classmethod
    def load(cls, path: Path = FILE) -> CarriedVectors:
        """Read the file."""
        with np.load(path, allow_pickle=False) as file:
            return cls(
                file["hashes"],
                int(file["paragraphs"]),
                {view: file[view] for view in MiniLM.views},
                file["words"],
                file["unread"],
                str(file["revision"]),
            )

    def save(self, path: Path = FILE) -> None:
        """Write the file."""
        arrays: dict[str, Any] = {
            "hashes": self.hashes,
            "paragraphs": self.paragraphs,
            "words": self.words,
            "unread": self.unread,
            "revision": self.revision,
            **self.views,
        }
        np.savez(path, **arrays)

    def rows(self, texts: Iterable[str]) -> NDArray[np.intp]:
        """Find the row of each text; -1 for an unknown text."""
        place = {name: row for row, name in enumerate(self.hashes.tolist())}
        return np.array([place.get(name, -1) for name in hashed(texts).tolist()], np.intp)

    def take(self, rows: NDArray[np.intp]) -> EncodedBatch:
        """Return some rows as an embedder would."""
        return EncodedBatch(
            {view: vectors[rows].astype(np.float32) for view, vectors in self.views.items()},
            np.zeros(len(rows), np.bool_),
            ReadingCounts(self.words[rows], self.unread[rows]),
        )


carried = cache(CarriedVectors.load)


def hashed(texts: Iterable[str]) -> NDArray[np.bytes_]:
    """Hash each text."""
    return hash_each(text.encode() for text in texts)


def listed(paragraphs: Sequence[str]) -> list[str]:
    """Select the listed paragraphs, in the order of the list.

    All are taken, as they are, where less than half of the list is among them.
    """
    known = dict(zip(hashed(paragraphs).tolist(), paragraphs, strict=True))
    wanted = carried().hashes[: carried().paragraphs].tolist()
    chosen = [known[name] for name in wanted if name in known]
    return chosen if len(chosen) >= FEWEST * len(wanted) else list(paragraphs)


class DemoEmbedder(MiniLM):
    """``minilm`` with precomputed vectors of the demo's texts; it computes all others.

    Parameters
    ----------
    texts
        All that will be embedded; where each has its vectors, none are kept in the cache.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        super().__init__(device="cpu")
        pins = {"vectors": "carried-float16"}
        self.signature = {**self.signature, **pins}
        self.identity = f"{self.identity}|{identity_line(pins)}"
        self.kept = bool((carried().rows(texts) < 0).any())

    def encode(self, prepared: Sequence[str]) -> EncodedBatch:
        """Look up the vectors of known texts, and compute those of others."""
        rows = carried().rows(prepared)
        found = carried().take(rows)
        other = np.flatnonzero(rows < 0).tolist()
        if not other:
            return found
        computed = super().encode([prepared[place] for place in other])
        assert found.reading is not None
        assert computed.reading is not None
        for view, vectors in found.views.items():
            vectors[other] = computed.views[view]
        found.truncated[other] = computed.truncated
        found.reading.words[other] = computed.reading.words
        found.reading.unread[other] = computed.reading.unread
        return found


def embedder_of(texts: Sequence[str], *, device: str, dtype: str) -> Embedder | None:
    """Return the embedder of the demo's texts; None where the default one computes all.

    So it is on a GPU, in another precision, and where the model is another than the vectors' own.
    """
    if device not in ("auto", "cpu") or dtype != "float32" or carried().revision != REVISION:
        return None
    embedder = DemoEmbedder(texts)
    return embedder if (carried().rows(texts) >= 0).any() else None


def is_carried(settings: Mapping[str, object]) -> bool:
    """Tell from the settings of a comparison whether its vectors were precomputed."""
    pins = settings.get("embedding")
    return isinstance(pins, Mapping) and "vectors" in pins
