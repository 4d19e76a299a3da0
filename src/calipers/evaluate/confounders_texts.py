"""What the checks for confounders need to know of a set, read once from its texts.

Texts are folded: letter case and the kind and amount of white space do not matter. Token ids are
read as texts whose words are the ids. Of a text stay its length, a hash of the whole, and its
beginning.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from calipers.evaluate.confounders_letters import letters
from calipers.samples import SampleSet

BEGINNING = 60
"""Words of a text that are kept as its beginning: more than the prompts of the papers have."""

LOOKED_AT = 1000
"""Texts of a set whose script and language are looked at, spread evenly: a share among so many is
known to within 3 percentage points, and a million texts cost no more."""

LOOKED_INTO = 1200
"""Characters of these texts that are looked at: about 200 words."""

WORD = re.compile(r"[^\W\d_]+")

LONG_WORDS = 15
"""Characters for each word from which on these are no words: the script has no spaces."""


@dataclass(frozen=True, eq=False)
class TextFacts:
    """One set of texts or of token ids, as the checks see it.

    Attributes
    ----------
    samples
        The set.
    words, characters
        Of every text, int64 of shape (n,); token ids count as words and have no characters.
    keys
        A 64-bit hash of every folded text, shape (n,); equal texts have equal ones.
    beginnings
        The first `BEGINNING` folded words of every text, one space between them.
    """

    samples: SampleSet
    words: NDArray[np.int64]
    characters: NDArray[np.int64] | None
    keys: NDArray[np.int64]
    beginnings: Sequence[str]

    @property
    def told(self) -> NDArray[np.bool_]:
        """Which texts are not empty, shape (n,)."""
        return self.words > 0

    @cached_property
    def looked_at(self) -> list[str]:
        """The beginnings of some of the texts, spread evenly; none of token ids."""
        column = self.samples.texts
        if column is None:
            return []
        return [text[:LOOKED_INTO] for text in column.take(self.looked_at_rows).to_pylist()]

    @cached_property
    def looked_at_rows(self) -> NDArray[np.intp]:
        """The rows of these texts, counted from 0."""
        return np.unique(np.linspace(0, len(self.words) - 1, LOOKED_AT).astype(np.intp))

    @cached_property
    def letters(self) -> dict[str, NDArray[np.int64]]:
        """Script to the number of its letters in each of these texts."""
        return letters(self.looked_at)

    @cached_property
    def spelt(self) -> list[list[str]]:
        """The words of each of these texts, letters only and in lower case."""
        return [WORD.findall(text.casefold()) for text in self.looked_at]

    @cached_property
    def prompts(self) -> list[str] | None:
        """The folded beginning of every text's own prompt; None where they are not known."""
        column = self.samples.prompts
        if column is None:
            return None
        return [fold(prompt, BEGINNING) for prompt in column.to_pylist()]

    @cached_property
    def different_in_order(self) -> list[str]:
        """The beginnings of all different texts that are not empty, sorted."""
        first = np.unique(self.keys, return_index=True)[1].tolist()
        return sorted(self.beginnings[row] for row in first if self.beginnings[row])

    @cached_property
    def common_among(self) -> NDArray[np.int64]:
        """For each of them, the most words that it shares with another one."""
        return longest_among(self.different_in_order)


def read_facts(samples: SampleSet) -> TextFacts | None:
    """Read a set through once; None for images and embeddings, which have no words."""
    if samples.kind not in ("texts", "tokens"):
        return None
    tokens = samples.kind == "tokens"
    texts: Iterable[str] = map(_as_words, samples) if tokens else samples
    words, characters, keys, beginnings = [], [], [], []
    for text in texts:
        folded = text.casefold().split()
        words.append(len(folded))
        characters.append(len(text))
        keys.append(hash(" ".join(folded)))
        beginnings.append(" ".join(folded[:BEGINNING]))
    return TextFacts(
        samples,
        np.array(words, np.int64),
        None if tokens else np.array(characters, np.int64),
        np.array(keys, np.int64),
        beginnings,
    )


def fold(text: str, words: int) -> str:
    """Return a text's first words in lower case, one space between them."""
    return " ".join(text.casefold().split()[:words])


def common_words(one: str, other: str) -> int:
    """Count the words that two folded texts have in common at their beginning."""
    if one == other:
        return len(one.split())
    places = (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    place = next(places, min(len(one), len(other)))
    whole = _ends_word(one, place) and _ends_word(other, place)
    return one.count(" ", 0, place) + (whole and place > 0)


def longest_common(beginnings: Iterable[str], in_order: Sequence[str]) -> NDArray[np.int64]:
    """Count for each text the most words that its beginning shares with one of a sorted list.

    In a sorted list, what shares the most stands right before or right behind the place where the
    text itself would stand.
    """
    found = []
    for text in beginnings:
        place = bisect_left(in_order, text)
        near = in_order[max(place - 1, 0) : place + 1]
        found.append(max((common_words(text, each) for each in near), default=0))
    return np.array(found, np.int64)


def longest_among(in_order: Sequence[str]) -> NDArray[np.int64]:
    """Count for each of a sorted list the most words that it shares with another of it."""
    steps = [common_words(*pair) for pair in pairwise(in_order)]
    return np.array([max(pair) for pair in zip([0, *steps], [*steps, 0], strict=True)], np.int64)


def _ends_word(text: str, place: int) -> bool:
    return place == len(text) or text[place] == " "


def _as_words(ids: NDArray[np.int32]) -> str:
    return " ".join(map(str, ids.tolist()))
