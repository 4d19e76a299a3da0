"""Whether texts of one side are longer: length alone moves every score.

Two numbers tell: the medians, and the Kolmogorov-Smirnov distance of the lengths, the largest
difference between the shares of both sides that are at most so many words long. The medians do not
see that one side stops at a limit while the other goes on, the distance does. Both are taken in
words and in characters; of token ids, in tokens. How many tokens an embedder makes of a text is
not known here: embeddings keep only which texts were cut
(:mod:`calipers.evaluate.confounders_truncation`), and characters stand for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from calipers.evaluate.confounders_chance import ks_chance, ks_distance, percent
from calipers.evaluate.confounders_texts import LONG_WORDS, TextFacts

Unit = Literal["words", "characters", "tokens"]

LENGTH_RATIO = 1.25
"""Medians that differ by more are worth a word, however the lengths are spread."""

LENGTH_DISTANCE = 0.15
"""At this distance the scores by form leave their noise: two halves of AG News, one of them tilted
towards long texts to 0.16, have a recall of 0.84 in place of 0.88 (which varies by 0.01)."""

SAME_LENGTH = 1.05
"""Texts that all end at one limit differ in nothing but a word or two, at any distance."""

BOTH_REACH, FEWEST_WORDS = 0.95, 10
"""To cut at is what so many texts of each side have; under ten words, little is left of them."""


@dataclass(frozen=True)
class Lengths:
    """How long the texts of both sides are, in one unit.

    Attributes
    ----------
    unit
        ``"words"``, ``"characters"`` or, of token ids, ``"tokens"``.
    reference, generated
        Median lengths.
    distance, chance
        The Kolmogorov-Smirnov distance, 0 to 1, and what it would hardly reach by chance.
    place
        The length at which the two sides differ most: the shares of their texts that have at most
        so many stand in `reference_short` and `generated_short`.
    reference_short, generated_short
        These shares, 0 to 1.
    stretch
        How much longer the texts of one side are than those of the other that have the same place
        in the order of lengths, at that place: 1 or more.
    cut
        The words that 95 % of the texts on either side have; None for characters and tokens.
    """

    unit: Unit
    reference: float
    generated: float
    distance: float
    chance: float
    place: int
    reference_short: float
    generated_short: float
    stretch: float
    cut: int | None = None

    @property
    def differs(self) -> bool:
        """Whether the difference is more than chance, and large enough to move scores."""
        low, high = sorted((self.reference, self.generated))
        spread = self.distance > LENGTH_DISTANCE and self.stretch > SAME_LENGTH
        large = high > LENGTH_RATIO * low or spread
        return large and self.distance > self.chance

    def warning(self) -> str:
        """Say how far the lengths differ, and what to do."""
        low, high = sorted((self.reference, self.generated))
        if high > LENGTH_RATIO * low:
            found = (
                f"its texts have {self.generated:,g} {self.unit} in the median, those of the "
                f"reference {self.reference:,g}"
            )
        else:
            found = (
                f"{percent(self.generated_short)} of its texts have at most {self.place:,} "
                f"{self.unit}, {percent(self.reference_short)} of the reference's"
            )
        return f"{found}; a difference in length alone moves the scores: {self._advice}"

    @property
    def _advice(self) -> str:
        if self.unit != "words":
            return "compare texts of like length"
        if self.cut is None or self.cut < FEWEST_WORDS:
            return "compare texts of like length, or cut both sides with --match-length WORDS"
        return f"--match-length {self.cut} cuts both sides alike"


def measure_lengths(reference: TextFacts, generated: Sequence[TextFacts]) -> tuple[Lengths, ...]:
    """Compare the lengths of both sides in every unit that they have."""
    theirs, ours = reference.words, np.concatenate([each.words for each in generated])
    if reference.characters is None:
        return (_lengths("tokens", theirs, ours),)
    signs = [each.characters for each in generated if each.characters is not None]
    written = (reference.characters, np.concatenate(signs))
    characters = _lengths("characters", *written)
    if any(
        each.sum() > LONG_WORDS * words.sum()
        for each, words in zip(written, (theirs, ours), strict=True)
    ):
        return (characters,)
    return (_lengths("words", theirs, ours), characters)


def _lengths(unit: Unit, theirs: NDArray[np.int64], ours: NDArray[np.int64]) -> Lengths:
    distance, place = ks_distance(ours, theirs)
    shares = [float((each <= place).mean()) for each in (theirs, ours)]
    there = [float(np.quantile(ours, shares[0])), float(np.quantile(theirs, shares[1])), place]
    reached = min(float(np.quantile(each, 1 - BOTH_REACH)) for each in (theirs, ours))
    return Lengths(
        unit=unit,
        reference=float(np.median(theirs)),
        generated=float(np.median(ours)),
        distance=distance,
        chance=ks_chance(len(theirs), len(ours)),
        place=place,
        reference_short=shares[0],
        generated_short=shares[1],
        stretch=max(max(there) / max(1, place), place / max(1, min(there))),
        cut=int(reached) if unit == "words" else None,
    )
