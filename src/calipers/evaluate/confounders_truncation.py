"""Which texts the embedder read only the beginning of.

Embeddings note for each set how many texts were cut. What that note cannot say is said here: that
one side was cut much more than the other, so that beginnings stand against whole texts, and that
most texts were cut, so that the scores speak of beginnings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.embed import Embeddings
from calipers.evaluate.confounders_chance import beyond_chance, percent
from calipers.evaluate.confounders_texts import TextFacts

UNLIKE = 0.1
"""A tenth of the texts read to the end on one side and not on the other."""

MOST = 0.5
"""From here on the typical text was cut."""

HARDLY_ANY = 0.05
"""Texts of rare words have more tokens, and are cut at fewer words than all others."""


@dataclass(frozen=True)
class Truncation:
    """The share of texts that were longer than the embedder reads, 0 to 1.

    Attributes
    ----------
    reference, generated
        The shares.
    n, m
        Texts on the two sides.
    words
        A length at which hardly a text would be cut: 95 % of the texts that were cut have more
        words, and 95 % of the others at most so many. None where all were cut, or none.
    """

    reference: float
    generated: float
    n: int
    m: int
    words: int | None

    def warning(self) -> str | None:
        """Say on which side texts were cut, where the notes of the sets do not tell enough."""
        shares = f"{percent(self.generated)} of its texts and {percent(self.reference)} of the "
        low, high = sorted((self.reference, self.generated))
        sizes = (self.n, self.m)
        if high - low > UNLIKE and beyond_chance(high, low, *sizes):
            return (
                f"{shares}reference's are longer than the embedder reads, so that beginnings stand "
                f"against whole texts: {self._advice}"
            )
        if low >= MOST:
            return (
                f"{shares}reference's are longer than the embedder reads, so that the scores speak "
                f"of their beginnings: take an embedder that reads more, or {self._advice}"
            )
        return None

    @property
    def _advice(self) -> str:
        words = "WORDS" if self.words is None else str(self.words)
        return f"--match-length {words} cuts both sides alike"


def measure_truncation(
    reference: TextFacts,
    generated: Sequence[TextFacts],
    embeddings: tuple[Embeddings, Sequence[Embeddings]] | None,
) -> Truncation | None:
    """Count the texts that were cut on both sides; None where the embeddings do not tell."""
    if embeddings is None:
        return None
    marks = [each.truncated for each in (embeddings[0], *embeddings[1])]
    known = [each for each in marks if each is not None]
    if not known or len(known) < len(marks):
        return None
    theirs, ours = known[0], np.concatenate(known[1:])
    words = [each.words for each in (reference, *generated)]
    length = _read(np.concatenate(known), np.concatenate(words))
    return Truncation(float(theirs.mean()), float(ours.mean()), len(theirs), len(ours), length)


def _read(cut: NDArray[np.bool_], words: NDArray[np.int64]) -> int | None:
    """The words that nearly all texts that were cut have more of, and those read whole do not."""
    if cut.all() or not cut.any():
        return None
    ends = np.quantile(words[cut], HARDLY_ANY), np.quantile(words[~cut], 1 - HARDLY_ANY)
    return max(1, int(min(ends)))
