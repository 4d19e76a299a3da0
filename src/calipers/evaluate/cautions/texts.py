"""Facts of a set's texts that the checks share, and chance variation of shares.

A set is read once. Texts are folded: letter case, the kind and amount of white space, Unicode form
and invisible characters do not matter. Token ids are read as texts whose words are the ids. Of a
text stay its length, a hash of the whole, and its beginning.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from calipers.results.caution import fitting
from calipers.samples import SampleSet, languages
from calipers.text.unicode_forms import as_seen, folded_words
from calipers.unicode.written_words import split_words

BEGINNING = 60
"""Words of a text that are kept as its beginning: more than the prompts of the papers have."""

SAMPLED = 1000
"""Texts of a set whose script and language are looked at, spread evenly: a share among so many is
known to within 3 percentage points, and a million texts cost no more."""

SAMPLED_CHARACTERS = 1200
"""Characters of these texts that are looked at: about 200 words."""

WORD = re.compile(r"[^\W\d_]+")

LONG_WORDS = 15
"""Characters for each word from which on these are no words: the script has no spaces."""

MUCH = 1.5
"""From this ratio of the medians on, texts are called much longer or shorter."""

Z = 4.0
"""Standard errors beyond which a difference of shares is no chance: two sets of one kind cross it
once in 30,000 times, and half a dozen checks of ten systems stay quiet together. Texts come in
clusters (one author, one day's news), for which this leaves room."""


@dataclass(frozen=True, eq=False)
class TextFacts:
    """Facts of one set of texts or token ids, as the checks need them.

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
    altered
        Which texts are decomposed or hold invisible characters, shape (n,); no token ids are.
    """

    samples: SampleSet
    words: NDArray[np.int64]
    characters: NDArray[np.int64] | None
    keys: NDArray[np.int64]
    beginnings: Sequence[str]
    altered: NDArray[np.bool_]

    @cached_property
    def unit(self) -> str:
        """The unit of `words`: words, characters of scripts without spaces, or both."""
        return self.samples.word_unit

    @property
    def nonempty(self) -> NDArray[np.bool_]:
        """Which texts are not empty, shape (n,)."""
        return self.words > 0

    @cached_property
    def sampled(self) -> list[str]:
        """The beginnings of some of the texts, evenly spaced; none for token ids."""
        column = self.samples.texts
        if column is None:
            return []
        return [as_seen(text[:SAMPLED_CHARACTERS]) for text in column.take(self.sampled_rows)]

    @cached_property
    def sampled_rows(self) -> NDArray[np.intp]:
        """The rows of these texts, counted from 0."""
        return np.unique(np.linspace(0, len(self.words) - 1, SAMPLED).astype(np.intp))

    @cached_property
    def letters(self) -> dict[str, NDArray[np.int64]]:
        """Number of letters of each script in each of these texts."""
        return letters(self.sampled)

    @cached_property
    def spelt(self) -> list[list[str]]:
        """The words of each of these texts, letters only and in lower case."""
        return [WORD.findall(text.casefold()) for text in self.sampled]

    @cached_property
    def prompts(self) -> list[str] | None:
        """The folded beginning of every text's own prompt; None where unknown."""
        column = self.samples.prompts
        if column is None:
            return None
        return [fold(prompt, BEGINNING) for prompt in column]

    @cached_property
    def different_in_order(self) -> list[str]:
        """The distinct beginnings of texts that are not empty, sorted."""
        first = np.unique(self.keys, return_index=True)[1].tolist()
        return sorted(self.beginnings[row] for row in first if self.beginnings[row])

    @cached_property
    def common_among(self) -> NDArray[np.int64]:
        """For each of them, the most words shared with another one."""
        return longest_among(self.different_in_order)


def read_facts(samples: SampleSet) -> TextFacts | None:
    """Read a set once; None for images and embeddings, which have no words."""
    if samples.kind not in ("texts", "tokens"):
        return None
    tokens = samples.kind == "tokens"
    texts: Iterable[str] = map(_as_words, samples) if tokens else samples
    words, characters, keys, beginnings, forms = [], [], [], [], []
    for text in texts:
        seen = as_seen(text)
        folded = split_words(seen.casefold())
        words.append(len(folded))
        characters.append(len(text))
        keys.append(hash(" ".join(folded)))
        beginnings.append(" ".join(folded[:BEGINNING]))
        forms.append(seen != text)
    return TextFacts(
        samples,
        np.array(words, np.int64),
        None if tokens else np.array(characters, np.int64),
        np.array(keys, np.int64),
        beginnings,
        np.array(forms, np.bool_),
    )


def fold(text: str, words: int) -> str:
    """Return a text's first words in lower case, one space between them.

    Also between characters of scripts without spaces: texts are compared in this form, and
    :func:`calipers.unicode.words.joined` makes of its words what can be shown.
    """
    return " ".join(folded_words(text)[:words])


def common_words(one: str, other: str) -> int:
    """Count the words at the beginning that two folded texts have in common."""
    if one == other:
        return len(one.split())
    places = (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    place = next(places, min(len(one), len(other)))
    whole = _ends_word(one, place) and _ends_word(other, place)
    return one.count(" ", 0, place) + (whole and place > 0)


def longest_common(beginnings: Iterable[str], in_order: Sequence[str]) -> NDArray[np.int64]:
    """Count for each text the most words that its beginning shares with any of a sorted list.

    In a sorted list, what shares the most stands right before or right behind the place where the
    text itself would stand.
    """
    longest = []
    for text in beginnings:
        place = bisect_left(in_order, text)
        near = in_order[max(place - 1, 0) : place + 1]
        longest.append(max((common_words(text, other) for other in near), default=0))
    return np.array(longest, np.int64)


def longest_among(in_order: Sequence[str]) -> NDArray[np.int64]:
    """Count for each text of a sorted list the most words shared with another of the list."""
    steps = [common_words(*pair) for pair in pairwise(in_order)]
    return np.array([max(pair) for pair in zip([0, *steps], [*steps, 0], strict=True)], np.int64)


def _ends_word(text: str, place: int) -> bool:
    return place == len(text) or text[place] == " "


def _as_words(ids: NDArray[np.int32]) -> str:
    return " ".join(map(str, ids.tolist()))


def letters(texts: Sequence[str]) -> dict[str, NDArray[np.int64]]:
    """Count the letters of each script in each text: a map from script to counts of shape (n,)."""
    points = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32)
    used = np.flatnonzero(np.bincount(points)).tolist()
    names = [script_of(chr(point)) for point in used]
    scripts = sorted(set(names) - {""})
    columns = np.zeros(max(used, default=0) + 1, np.int64)
    columns[used] = [scripts.index(name) if name else len(scripts) for name in names]
    rows = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    shape = (len(texts), len(scripts) + 1)
    cells = np.bincount(rows * shape[1] + columns[points], minlength=shape[0] * shape[1])
    return dict(zip(scripts, cells.reshape(shape).T, strict=False))


@lru_cache(maxsize=4096)
def script_of(sign: str) -> str:
    """Return the script of a letter; the empty string for signs, digits and marks.

    Examples
    --------
    >>> script_of("ж"), script_of("é"), script_of("7")
    ('Cyrillic', 'Latin', '')
    """
    return languages.script_of(sign) if sign.isalpha() else ""


def beyond_chance(share: float, other: float, n: int, m: int, *, least: float = 0.0) -> bool:
    """Tell whether a share of `n` exceeds one of `m` significantly, and by at least `least`."""
    pooled = (n * share + m * other) / (n + m)
    error = math.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
    return share - other > max(least, Z * error)


def percent(share: float) -> str:
    """Write a share as a percentage; 0 % and 100 % only where they are exact."""
    if share in (0.0, 1.0):
        return f"{share:.0%}".replace("%", " %")
    digits = 1 if share < 0.0995 or share > 0.995 else 0
    text = f"{100 * share:.{digits}f}"
    if text == "0.0":
        return "under 0.1 %"
    return "over 99.9 %" if text == "100.0" else f"{text} %"


def brief_lengths(reference: float, generated: float, unit: str) -> str:
    """Describe how median lengths differ.

    Examples
    --------
    >>> brief_lengths(10, 6, "words"), brief_lengths(10, 14, "words")
    ('much shorter (6 vs 10 words)', 'longer (14 vs 10 words)')
    """
    low, high = sorted((reference, generated))
    much = "much " if high >= MUCH * low else ""
    change = "longer" if generated > reference else "shorter"
    lengths = f"{generated:.0f} vs {reference:.0f} {unit}"
    return fitting(f"{much}{change} ({lengths})", f"{change} ({lengths})", f"{much}{change} texts")
