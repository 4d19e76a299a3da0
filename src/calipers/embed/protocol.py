"""What an embedder is, what it gives for a few texts, and what a whole sample set becomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class EncodedBatch:
    """The vectors of a few texts, in their order.

    Attributes
    ----------
    views
        View name to float32 array of shape (n, d); d may differ between views.
    truncated
        Which texts were longer than the model reads, bool of shape (n,).
    """

    views: Mapping[str, NDArray[np.float32]]
    truncated: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Embeddings:
    """The vectors of a sample set, view by view.

    Attributes
    ----------
    views
        View name to array of shape (n, d); the first view is the main one. float32 from text
        embedders, as given (float32 or float64) for precomputed vectors.
    signature
        Choices that can change a vector and hold for every view, such as revision and dtype.
    notes
        What a person must be told: texts that were cut, trouble with the cache.
    view_signature
        For each view, how it was pooled.
    """

    views: Mapping[str, NDArray[Any]]
    signature: Mapping[str, str]
    notes: tuple[str, ...] = ()
    view_signature: Mapping[str, str] = field(default_factory=dict)


class Embedder(Protocol):
    """Anything that turns texts into vectors.

    An embedder may also have a mapping `view_signature`, from view name to how it is pooled.
    """

    @property
    def name(self) -> str:
        """What a person calls it."""
        ...

    @property
    def views(self) -> tuple[str, ...]:
        """Names of the views it gives, the main one first."""
        ...

    @property
    def identity(self) -> str:
        """Everything that can change a vector, as one stable line: the key of cached vectors."""
        ...

    @property
    def signature(self) -> Mapping[str, str]:
        """The same for people: pins that go into the signature of every score."""
        ...

    def embed(self, texts: Sequence[str]) -> EncodedBatch:
        """Embed texts; a text's vectors must not depend on the others."""
        ...
