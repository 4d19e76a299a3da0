"""Vectors that a person has computed already, taken as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from calipers.embed.protocol import EncodedBatch
from calipers.errors import InputError


class Precomputed:
    """The embedder of sample sets that hold vectors; it has one view and computes nothing."""

    name = "precomputed"
    views = ("precomputed",)
    identity = "precomputed"

    def __init__(self, **options: Any) -> None:
        """Take the options of every embedder; none of them can change vectors that are given."""
        self.signature = {"embedder": self.name}
        self.view_signature = {"precomputed": "as_given"}

    def embed(self, texts: Sequence[str]) -> EncodedBatch:
        """Refuse, since texts are not vectors."""
        raise InputError(
            f"the embedder 'precomputed' takes vectors, not texts; found {len(texts)} texts. "
            "Choose an embedder that reads texts, such as 'minilm'"
        )
