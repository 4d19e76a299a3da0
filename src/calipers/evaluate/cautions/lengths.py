"""Cautions on lengths: texts of one side are longer, or truncated by the embedder.

Two numbers tell of lengths: the medians, and the Kolmogorov-Smirnov distance of the lengths, the
largest difference between the shares of both sides that are at most so many words long. The medians
do not see that one side stops at a limit while the other goes on, the distance does. Both are taken
in words and in characters, of scripts without spaces in characters alone; of token ids, in
tokens. How many tokens an embedder makes of a text is
not known here: embeddings keep only which texts were cut, and characters stand for them.

How many texts of a set were cut, embeddings note for each. What that note cannot say is said here:
that one side was cut much more than the other, so beginnings are compared with whole texts, and
that many texts of both were cut, so that of these the scores see beginnings only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from calipers.embedders import Embeddings
from calipers.evaluate.cautions.movements import movement
from calipers.evaluate.cautions.texts import (
    LONG_WORDS,
    TextFacts,
    beyond_chance,
    brief_lengths,
    percent,
)
from calipers.results.caution import Caution, brief_share, fitting
from calipers.unicode.written_words import BOTH, CHARACTERS, WORDS

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

LEAST_LEFT = 0.25
"""Of the shorter side's median: a cut that leaves less compares how texts begin and no more."""

KS_FACTOR = 2.25
"""Of the chance of a Kolmogorov-Smirnov distance: 2·exp(-2·2.25²) is a chance of 1 in 12,000."""

UNLIKE = 0.1
"""A tenth of the texts read to the end on one side and not on the other."""

MANY = 0.25
"""Of both sides: from here on a score may move by 0.07 (docs/confounders.md)."""

HARDLY_ANY = 0.05
"""Texts of rare words have more tokens, and are cut at fewer words than all others."""


@dataclass(frozen=True)
class Lengths:
    """The lengths of the texts of both sides, in one unit.

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
        The words, or the characters of scripts without spaces, that 95 % of the texts on either
        side have; None for tokens, and for characters where words are counted too.
    shift
        How far the lengths lie apart, in doublings: the mean distance of the binary logarithms of
        lengths that have the same place in the order of their side, empty texts aside. 1 where one
        side is twice as long throughout.
    called
        What is counted where that is no plain unit: ``"words or characters"`` of mixed scripts.
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
    shift: float = 0.0
    called: str = ""

    @property
    def differs(self) -> bool:
        """Whether the difference is significant, and large enough to move scores."""
        low, high = sorted((self.reference, self.generated))
        spread = self.distance > LENGTH_DISTANCE and self.stretch > SAME_LENGTH
        large = high > LENGTH_RATIO * low or spread
        return large and self.distance > self.chance

    def caution(self) -> Caution:
        """Describe how far the lengths differ, and advise."""
        low, high = sorted((self.reference, self.generated))
        brief = "a different spread of lengths"
        if high > LENGTH_RATIO * low:
            brief = brief_lengths(self.reference, self.generated, self._called)
            difference = (
                f"its texts have a median of {self.generated:,g} {self._called}, those of the "
                f"reference {self.reference:,g}"
            )
        else:
            difference = (
                f"{percent(self.generated_short)} of its texts have at most {self.place:,} "
                f"{self._called}, {percent(self.reference_short)} of the reference's"
            )
        text = f"{difference}; a difference in length alone changes the scores: {self._advice}"
        return Caution("lengths", brief, text, self._remedy, movement("lengths", self.shift))

    @property
    def _called(self) -> str:
        return self.called or self.unit

    @property
    def _remedy(self) -> str:
        least = max(FEWEST_WORDS, LEAST_LEFT * min(self.reference, self.generated))
        far_enough = (self.cut or 0) >= least
        return f"`match_length={self.cut}`" if far_enough else ""

    @property
    def _advice(self) -> str:
        if self.cut is None:
            return "compare texts of similar length"
        if not self._remedy:
            return "compare texts of similar length, or cut both sides with `match_length`"
        return f"{self._remedy} cuts both sides equally"


@dataclass(frozen=True)
class Truncation:
    """The share of texts longer than the embedder reads, 0 to 1.

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

    def caution(self) -> Caution | None:
        """Describe on which side texts were truncated, beyond the notes of the sets."""
        shares = f"{percent(self.generated)} of its texts and {percent(self.reference)} of the "
        low, high = sorted((self.reference, self.generated))
        if beyond_chance(high, low, self.n, self.m, least=UNLIKE):
            text = (
                f"{shares}reference's are longer than the embedder reads, so beginnings are "
                f"compared with whole texts: {self._advice}"
            )
            return self._caution(text)
        if low >= MANY:
            text = (
                f"{shares}reference's are longer than the embedder reads, so the scores see only "
                f"their beginnings: use an embedder that reads more, or {self._advice}"
            )
            return self._caution(text)
        return None

    def _caution(self, text: str) -> Caution:
        ours, theirs = brief_share(self.generated), brief_share(self.reference)
        brief = f"{ours} cut by the embedder, reference {theirs}"
        low, high = sorted((self.reference, self.generated))
        moved = max(movement("truncation", high - low), movement("truncation_both", low))
        short = fitting(brief, f"{ours} cut, reference {theirs}")
        return Caution("truncation", short, text, self._remedy, moved)

    @property
    def _remedy(self) -> str:
        return f"`match_length={self.words}`" if (self.words or 0) >= FEWEST_WORDS else ""

    @property
    def _advice(self) -> str:
        return f"{self._remedy or '`match_length`'} cuts both sides equally"


def measure_lengths(reference: TextFacts, generated: Sequence[TextFacts]) -> tuple[Lengths, ...]:
    """Compare the lengths of both sides in every available unit."""
    theirs, ours = reference.words, np.concatenate([facts.words for facts in generated])
    if reference.characters is None:
        return (_lengths("tokens", theirs, ours),)
    units = {facts.unit for facts in (reference, *generated)}
    if units == {CHARACTERS}:
        return (_lengths("characters", theirs, ours, cut=True),)
    counts = [facts.characters for facts in generated if facts.characters is not None]
    written = (reference.characters, np.concatenate(counts))
    characters = _lengths("characters", *written)
    pairs = zip(written, (theirs, ours), strict=True)
    unspaced = any(signs.sum() > LONG_WORDS * words.sum() for signs, words in pairs)
    if unspaced or {WORDS, CHARACTERS} <= units:
        return (characters,)
    called = "" if units == {WORDS} else BOTH
    return (replace(_lengths("words", theirs, ours, cut=True), called=called), characters)


def _lengths(
    unit: Unit, theirs: NDArray[np.int64], ours: NDArray[np.int64], *, cut: bool = False
) -> Lengths:
    distance, place = ks_distance(ours, theirs)
    shares = [float((side <= place).mean()) for side in (theirs, ours)]
    there = [float(np.quantile(ours, shares[0])), float(np.quantile(theirs, shares[1])), place]
    reached = min(float(np.quantile(side, 1 - BOTH_REACH)) for side in (theirs, ours))
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
        cut=int(reached) if cut else None,
        shift=length_shift(ours[ours > 0], theirs[theirs > 0]),
    )


def ks_distance(ours: NDArray[np.int64], theirs: NDArray[np.int64]) -> tuple[float, int]:
    """Find the length at which the two distribution functions differ most.

    Returns
    -------
    distance, place
        The share of `ours` that is at most `place` long differs by `distance` (0 to 1) from the
        share of `theirs`; at no length by more (the two-sample Kolmogorov-Smirnov statistic).
    """
    places = np.unique(np.concatenate([ours, theirs]))
    gap = np.abs(_at_most(ours, places) - _at_most(theirs, places))
    where = int(np.argmax(gap))
    return float(gap[where]), int(places[where])


def length_shift(ours: NDArray[np.int64], theirs: NDArray[np.int64]) -> float:
    """Measure the shift between lengths, in doublings.

    Parameters
    ----------
    ours, theirs
        Lengths of 1 and more.

    Returns
    -------
    float
        The Wasserstein distance of the binary logarithms of both sides' lengths; 0 where a side has
        none.
    """
    if not len(ours) or not len(theirs):
        return 0.0
    logs = [np.log2(side) for side in (ours, theirs)]
    places = np.sort(np.concatenate(logs))
    shares = [
        np.searchsorted(np.sort(side), places[:-1], side="right") / len(side) for side in logs
    ]
    return float((np.abs(shares[0] - shares[1]) * np.diff(places)).sum())


def _at_most(lengths: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the share of lengths up to each place."""
    return np.searchsorted(np.sort(lengths), places, side="right") / len(lengths)


def ks_chance(n: int, m: int) -> float:
    """Return the Kolmogorov-Smirnov distance that chance exceeds once in 12,000 times.

    Among ten texts a side no distance is beyond chance: it is 1, the largest there is.
    """
    return min(1.0, KS_FACTOR * math.sqrt(1 / n + 1 / m))


def measure_truncation(
    reference: TextFacts,
    generated: Sequence[TextFacts],
    embeddings: tuple[Embeddings, Sequence[Embeddings]] | None,
) -> Truncation | None:
    """Count the truncated texts on both sides; None where the embeddings do not tell."""
    if embeddings is None:
        return None
    marks = [side.truncated for side in (embeddings[0], *embeddings[1])]
    cut = [mark for mark in marks if mark is not None]
    if not cut or len(cut) < len(marks):
        return None
    theirs, ours = cut[0], np.concatenate(cut[1:])
    words = [facts.words for facts in (reference, *generated)]
    length = _words_read(np.concatenate(cut), np.concatenate(words))
    return Truncation(float(theirs.mean()), float(ours.mean()), len(theirs), len(ours), length)


def _words_read(cut: NDArray[np.bool_], words: NDArray[np.int64]) -> int | None:
    """The words that nearly all texts that were cut have more of, and those read whole do not."""
    if cut.all() or not cut.any():
        return None
    ends = np.quantile(words[cut], HARDLY_ANY), np.quantile(words[~cut], 1 - HARDLY_ANY)
    return max(1, int(min(ends)))
