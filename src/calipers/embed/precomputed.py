"""Vectors that a person has computed already, taken as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from calipers.embed.options import Options
from calipers.embed.protocol import EncodedBatch
from calipers.errors import InputError

TAKES: frozenset[str] = frozenset()


def load(name: str, options: Options) -> Precomputed:
    """Make the embedder of given vectors; none of the options can change them."""
    return Precomputed()


class Precomputed:
    """The embedder of sample sets that hold vectors; it has one view and computes nothing."""

    name = "precomputed"
    views = ("precomputed",)
    identity = "precomputed"
    reads = frozenset({"vectors"})

    def __init__(self) -> None:
        self.signature = {"embedder": self.name}
        self.view_signature = {"precomputed": "as_given"}

    def embed(self, samples: Sequence[Any]) -> EncodedBatch:
        """Refuse, since texts are not vectors."""
        raise InputError(
            f"the embedder 'precomputed' takes vectors, not texts; found {len(samples)} samples. "
            "Choose an embedder that reads texts, such as 'minilm'"
        )
