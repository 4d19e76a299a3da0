"""Whether texts are in another language, told by their most frequent words; no model is needed.

The 50 most frequent words of a set of prose are its language's grammar (the, of, and; der, und,
nicht) and make up a third to a half of any of its texts, whatever the topic. A text in which the
reference's hardly occur is in another language, or is no prose: code, lists of names, noise. The
same is asked the other way round, so that a language that only the reference has is noticed too.
Each share is held against that of the very set whose words they are. Not seen are languages of one
script without spaces, and close relatives that share their grammar words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calipers.evaluate.confounders_chance import beyond_chance, percent
from calipers.evaluate.confounders_texts import LONG_WORDS, TextFacts
from calipers.samples.wording import NAME_LENGTH, shortened

FREQUENT = 50
"""Words that are taken for a language's grammar."""

HARDLY = 1 / 3
"""Of what is usual in the set whose words they are; related languages share fewer than that."""

LEAST = 0.1
"""Prose holds more of its 50 most frequent words than that: 0.26 in the barest of news, 0.5 in
stories."""

FEWEST_WORDS = 12
"""Words of a text that tell; a title of six may well hold none of the 50."""

MORE_TEXTS = 0.05
"""A twentieth of the texts: fewer are poems, tables and quotations."""


@dataclass(frozen=True)
class Language:
    """How much of each side the most frequent words of either side make up.

    Attributes
    ----------
    usual, generated_usual
        The share of the reference's 50 most frequent words among the words of a reference text,
        and among those of a generated text, medians, 0 to 1.
    generated_foreign, expected
        The share of generated texts, and of reference texts, in which these hardly occur.
    reference_foreign, reference_expected
        The share of reference texts in which the generated set's 50 hardly occur, and of generated
        texts.
    n, m
        Texts that were looked at on the two sides.
    example
        How the first such generated text begins; None where there is none.
    """

    usual: float
    generated_usual: float
    generated_foreign: float
    expected: float
    reference_foreign: float
    reference_expected: float
    n: int
    m: int
    example: str | None

    def warning(self) -> str | None:
        """Say on which side such texts are, and what to do."""
        n, m = self.n, self.m
        if _more(self.generated_foreign, self.expected, m, n):
            return (
                f"in {percent(self.generated_foreign)} of its texts the reference's most frequent "
                f"words hardly occur ({percent(self.expected)} of the reference's), such as "
                f"{self.example!r}: they are in another language, or no prose; leave them out or "
                "compare them apart"
            )
        if _more(self.reference_foreign, self.reference_expected, n, m):
            return (
                f"in {percent(self.reference_foreign)} of the reference's texts its most frequent "
                f"words hardly occur ({percent(self.reference_expected)} of its own): they are in "
                "another language, or no prose; leave them out or compare them apart"
            )
        return None


def measure_language(reference: TextFacts, generated: Sequence[TextFacts]) -> Language | None:
    """Hold the most frequent words of each side against the texts of both.

    None where most texts are too short to tell, their script has no spaces, or a set has no words
    that stand in all its texts.
    """
    theirs, ours = _texts([reference]), _texts(generated)
    if theirs is None or ours is None:
        return None
    known, found = _held(theirs.words, ours.words), _held(ours.words, theirs.words)
    if known is None or found is None:
        return None
    foreign = known.others < known.limit
    return Language(
        usual=float(np.median(known.own)),
        generated_usual=float(np.median(known.others)),
        generated_foreign=float(foreign.mean()),
        expected=float((known.own < known.limit).mean()),
        reference_foreign=float((found.others < found.limit).mean()),
        reference_expected=float((found.own < found.limit).mean()),
        n=len(theirs.words),
        m=len(ours.words),
        example=ours.texts[int(np.argmax(foreign))] if foreign.any() else None,
    )


class _Texts(NamedTuple):
    """Texts that are long enough: the words of each, and how it begins."""

    words: list[list[str]]
    texts: list[str]


def _texts(sets: Sequence[TextFacts]) -> _Texts | None:
    """Take the texts that tell; None where those are less than half of all."""
    found = [
        (words, shortened(" ".join(text[: 2 * NAME_LENGTH].split())))
        for each in sets
        for words, text in zip(each.spelt, each.looked_at, strict=True)
        if len(words) >= FEWEST_WORDS and len(text) <= LONG_WORDS * len(words)
    ]
    if not found or 2 * len(found) < sum(len(each.looked_at) for each in sets):
        return None
    return _Texts([words for words, _ in found], [text for _, text in found])


class _Held(NamedTuple):
    """The share of a set's most frequent words in each of its own texts, and in others."""

    own: NDArray[np.float64]
    others: NDArray[np.float64]

    @property
    def limit(self) -> float:
        """The share under which they hardly occur."""
        return HARDLY * float(np.median(self.own))


def _held(texts: list[list[str]], others: list[list[str]]) -> _Held | None:
    """Find these words in either half of the texts, and look for them in the other half.

    A text must not be judged by words that it made frequent itself: in few texts, any word is.
    None where even there they are rare.
    """
    frequent = [_frequent(texts[half::2]) for half in (0, 1)]
    own, theirs = (
        np.array(
            [
                sum(map(frequent[row % 2].__contains__, words)) / len(words)
                for row, words in enumerate(side, 1)
            ]
        )
        for side in (texts, others)
    )
    return _Held(own, theirs) if np.median(own) >= LEAST else None


def _frequent(texts: list[list[str]]) -> frozenset[str]:
    counts = Counter(chain.from_iterable(texts))
    # Ties by the word itself, so that they do not depend on the order of the texts
    return frozenset(nsmallest(FREQUENT, counts, key=lambda word: (-counts[word], word)))


def _more(share: float, expected: float, n: int, m: int) -> bool:
    return share - expected > MORE_TEXTS and beyond_chance(share, expected, n, m)
