"""What an embedder is, what it gives for a few texts, and what a whole sample set becomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class EncodedBatch:
    """The vectors of a few samples, in their order.

    Attributes
    ----------
    views
        View name to float32 array of shape (n, d); d may differ between views.
    truncated
        Which texts were longer than the model reads, bool of shape (n,).
    unknown
        Share of a text's words that the embedder does not know, 0 to 1, float32 of shape (n,);
        None from embedders that know all words.
    """

    views: Mapping[str, NDArray[np.float32]]
    truncated: NDArray[np.bool_]
    unknown: NDArray[np.float32] | None = None


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
    truncated
        Which samples were longer than the model reads, bool of shape (n,); None of vectors that
        were given.
    """

    views: Mapping[str, NDArray[Any]]
    signature: Mapping[str, str]
    notes: tuple[str, ...] = ()
    view_signature: Mapping[str, str] = field(default_factory=dict)
    truncated: NDArray[np.bool_] | None = None


class Embedder(Protocol):
    """Anything that turns samples into vectors.

    An embedder may also have

    - ``view_signature``: a mapping from view name to how the view is pooled;
    - ``reads``: the kinds of samples that it takes, of ``"texts"``, ``"tokens"`` (lists of token
      ids) and ``"images"`` (uint8 arrays of shape (height, width, 3)); ``{"texts"}`` without it;
    - ``prepare(samples)`` and ``encode(prepared)``, the two halves of ``embed``: what needs no
      model (tokenising) and what does, so that the one runs beside the other;
    - ``at_once``: how many samples one call should get, and ``kept``: False where embedding again
      is as cheap as reading back;
    - ``fitted(samples)``: the embedder made ready on the reference's samples, where it must be;
    - ``keep_in(folder)``: told where it may keep what was paid for, sample by sample, or None;
    - ``told()``: what a person should know of the samples embedded since it was last asked.
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

    def embed(self, samples: Sequence[Any]) -> EncodedBatch:
        """Embed samples; a sample's vectors must not depend on the others."""
        ...
