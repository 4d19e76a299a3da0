"""Samples that are there twice: within a generated set, and on both sides.

Texts are compared as a whole, letter case and white space aside; a copy with one changed word is
none (:func:`calipers.text.near_texts` finds those). Empty texts are left out: they have a
note of their own. The share of repeats rises with the number of texts, so the reference's is given
as it would be in a random part of it of the generated set's size, which needs no drawing: a text
that stands c times among n is missing in such a part of h with the chance C(n - c, h) / C(n, h).

Rows of embeddings that are given repeat an earlier one where all their numbers do.

A copied text is in the reference as well. People write the same short texts too, so the share is
held against that of reference texts which stand in the reference a second time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.evaluate.confounders_chance import beyond_chance, percent
from calipers.evaluate.confounders_texts import TextFacts
from calipers.numeric.distances import Points

MORE_REPEATS = 0.01
"""One text in a hundred; `calipers text` warns of as many."""

MORE_COPIES = 0.01
"""One text in a hundred; a copy lies at distance 0 from the reference, however poor the others."""


@dataclass(frozen=True)
class Duplicates:
    """The share of samples that repeat an earlier one of their set, 0 to 1.

    Attributes
    ----------
    generated
        In the generated set, over its files where there are several.
    reference
        In a part of the reference of `size` samples.
    size
        The samples of a generated file, or of the reference where it has fewer.
    unit
        What they are: ``"texts"`` or ``"rows"``.
    """

    generated: float
    reference: float
    size: int
    unit: str = "texts"

    def warning(self) -> str | None:
        """Say how many there are beyond the reference's, and what to do."""
        more = self.generated - self.reference > MORE_REPEATS
        if not more or not beyond_chance(self.generated, self.reference, self.size, self.size):
            return None
        return (
            f"{percent(self.generated)} of its {self.unit} repeat an earlier one of the set, "
            f"{percent(self.reference)} of as many reference {self.unit} do; repeats lower "
            "coverage, recall, MAUVE and every measure of variety, and with --projection union "
            "precision and density too: where they come from sampling the same prompt, keep one "
            "of each"
        )


@dataclass(frozen=True)
class Copies:
    """The share of generated texts that stand in the reference too, 0 to 1.

    Attributes
    ----------
    generated
        Of the generated texts.
    expected
        Of the reference texts, those that stand in the reference a second time.
    n, m
        Texts on the two sides.
    """

    generated: float
    expected: float
    n: int
    m: int

    def warning(self) -> str | None:
        """Say how many there are beyond what people repeat, and what to do."""
        more = self.generated - self.expected > MORE_COPIES
        if not more or not beyond_chance(self.generated, self.expected, self.m, self.n):
            return None
        return (
            f"{percent(self.generated)} of its texts stand in the reference word for word "
            f"({percent(self.expected)} of the reference's texts stand there twice); copies raise "
            "every score: compare with texts that the model cannot have seen"
        )


def measure_duplicates(reference: TextFacts, generated: Sequence[TextFacts]) -> Duplicates | None:
    """Hold the repeats within each file against the reference's at the same size."""
    counts = [np.unique(each.keys[each.told], return_counts=True)[1] for each in generated]
    known = np.unique(reference.keys[reference.told], return_counts=True)[1]
    return _beside(known, counts, "texts")


def measure_repeated_rows(reference: Points, generated: Sequence[Points]) -> Duplicates | None:
    """The same for embeddings: rows that equal an earlier one in every number."""
    return _beside(_row_counts(reference), [_row_counts(each) for each in generated], "rows")


def _row_counts(rows: Points) -> NDArray[np.intp]:
    """How often each different row stands in a set."""
    same = np.ascontiguousarray(rows + 0.0)  # so that no zero has a sign
    each = same.view(np.dtype((np.void, same.dtype.itemsize * same.shape[1]))).ravel()
    return np.unique(each, return_counts=True)[1]


def _beside(
    known: NDArray[np.intp], counts: Sequence[NDArray[np.intp]], unit: str
) -> Duplicates | None:
    size = min(int(known.sum()), *(int(each.sum()) for each in counts))
    if size < 2:
        return None
    shares = [repeats(each, size) for each in counts]
    return Duplicates(float(np.mean(shares)), repeats(known, size), size, unit)


def repeats(counts: NDArray[np.intp], size: int) -> float:
    """Give the share of repeats that is expected among `size` texts drawn from a set.

    Parameters
    ----------
    counts
        How often each different text stands in the set; they sum to n, at least `size`.
    size
        Texts drawn, none of them twice.
    """
    n = int(counts.sum())
    times, texts = np.unique(counts, return_counts=True)
    missing = np.array([_missing(int(each), size, n) for each in times])
    different = float((texts * (1 - missing)).sum())
    # Where all differ, rounding may leave a little
    return max(0.0, round(1 - different / size, 12))


def measure_copies(reference: TextFacts, generated: Sequence[TextFacts]) -> Copies | None:
    """Count the generated texts that are in the reference."""
    ours = np.concatenate([each.keys[each.told] for each in generated])
    theirs = reference.keys[reference.told]
    if not len(ours) or len(theirs) < 2:
        return None
    _, inverse, counts = np.unique(theirs, return_inverse=True, return_counts=True)
    expected = float((counts[inverse] > 1).mean())
    return Copies(float(np.isin(ours, theirs).mean()), expected, len(theirs), len(ours))


def _missing(times: int, size: int, n: int) -> float:
    """The chance that none of `times` equal texts is among `size` drawn of n."""
    if times > n - size:
        return 0.0
    steps = np.arange(min(times, size))
    # Whichever of C(n - c, h) / C(n, h) = C(n - h, c) / C(n, c) has fewer factors
    other = size if times <= size else times
    return float(np.prod((n - other - steps) / (n - steps)))
