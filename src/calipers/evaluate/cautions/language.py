"""Cautions on texts in different scripts or languages, found without a model.

**Languages.** `samples/languages.py` names the language of each text by its script and its words of
grammar: Chinese and Japanese, simplified and traditional characters, Thai, and some fifty of the
Latin, Cyrillic and Arabic scripts. A language of which one side has a larger share, by more than
chance and a twentieth of the texts, is said.

**Scripts.** The script of a letter is the first word of its Unicode name (LATIN, CYRILLIC,
HIRAGANA). The distance of two sides is half the sum of the differences of their shares, so that 0.1
means that a tenth of the letters would have to be of another script. It is held against the largest
distance between two halves of the reference over a few splits, since a reference of several
languages differs from itself.

**Words.** So that a language that is not among these is noticed too: the 50 most frequent words of
a set of prose are its language's grammar (the, of, and; der, und, nicht) and make up a third to a
half of any of its texts, whatever the topic. A text in
which the reference's hardly occur is in another language, or is no prose: code, lists of names,
noise. The same is asked the other way round, so that a language that only the reference has is
noticed too. Each share is held against that of the very set whose words they are. Not seen are
languages of one script without spaces, and close relatives that share their grammar words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calipers.evaluate.cautions.movements import movement
from calipers.evaluate.cautions.texts import LONG_WORDS, TextFacts, beyond_chance, percent
from calipers.results.caution import Caution, brief_share, fitting
from calipers.samples.languages import NO_LANGUAGE, UNDECIDED, TextLanguages, is_described
from calipers.samples.wording import NAME_LENGTH, shortened

MORE_LETTERS = 0.05
"""A twentieth of the letters: names and quotations in another script are less."""

SPLITS = 20
"""Splits of the reference. Two sets of one kind differ less than halves of one, and so hardly ever
more than 20 pairs of halves do."""

SHOWN = 0.005
"""Scripts with a smaller share on both sides are left out."""

FREQUENT = 50
"""Words that are taken for a language's grammar."""

HARDLY = 1 / 3
"""Of what is usual in the set whose words they are; related languages share fewer than that."""

LEAST = 0.1
"""Prose holds more of its 50 most frequent words than that: 0.26 in the barest of news, 0.5 in
stories."""

FEWEST_WORDS = 12
"""Words of a text that tell; a title of six may well hold none of the 50."""

FEWEST_TEXTS = 20
"""Different texts of a set whose most frequent words are its language's and not those of a few."""

MORE_TEXTS = 0.05
"""A twentieth of the texts: fewer are poems, tables and quotations."""


@dataclass(frozen=True)
class Languages:
    """The share of each language among the texts of both sides with a known language.

    Texts that are too short to tell, and those in no language, such as code, are left out: that a
    side has more of them says nothing of its languages.

    Attributes
    ----------
    reference, generated
        Language to share, 0 to 1, the largest first.
    n, m
        Texts that were looked at on the two sides and are in a language.
    """

    reference: Mapping[str, float]
    generated: Mapping[str, float]
    n: int
    m: int

    def caution(self) -> Caution | None:
        """Describe which languages are over-represented on one side, and advise."""
        more, less = self._beyond(ours=True), self._beyond(ours=False)
        if not more and not less:
            return None
        name = max(more or less, key=lambda name: abs(self._difference(name)))
        ours, theirs = self.generated.get(name, 0.0), self.reference.get(name, 0.0)
        of_ours, of_theirs = _named(self.generated), _named(self.reference)
        text = (
            f"{percent(ours)} of its texts are {_within(name)}, {percent(theirs)} of the "
            f"reference's (its texts are {of_ours}, those of the reference {of_theirs}); a "
            "difference in language alone separates the sides, yet a translation can lie close to "
            "its original: compare texts in one language"
        )
        shares = brief_share(ours), brief_share(theirs)
        brief = fitting(f"{shares[0]} {_within(name)}, reference {shares[1]}", "another language")
        moved = movement("language", abs(self._difference(name)))
        return Caution("language", brief, text, movement=moved)

    def _difference(self, name: str) -> float:
        return self.generated.get(name, 0.0) - self.reference.get(name, 0.0)

    def _beyond(self, *, ours: bool) -> list[str]:
        """The languages of which one side has more than chance would give it."""
        one, other, n, m = self.generated, self.reference, self.m, self.n
        if not ours:
            one, other, n, m = other, one, m, n
        return [
            name
            for name, share in one.items()
            if beyond_chance(share, other.get(name, 0.0), n, m, least=MORE_TEXTS)
        ]


def measure_languages(reference: TextFacts, generated: Sequence[TextFacts]) -> Languages | None:
    """Compare the languages of both sides; None where either has no texts to tell from."""
    theirs = reference.samples.languages
    files = [facts.samples.languages for facts in generated]
    ours = TextLanguages.joined([file for file in files if file is not None])
    if theirs is None:
        return None
    (first, n), (second, m) = map(_known, (theirs, ours))
    return Languages(first, second, n, m) if n and m else None


def _known(read: TextLanguages) -> tuple[dict[str, float], int]:
    """The share of each language among the texts whose language is known, and their number."""
    known = {
        name: share
        for name, share in read.languages.items()
        if name not in (*NO_LANGUAGE, UNDECIDED)
    }
    total = sum(known.values())
    return {name: share / total for name, share in known.items()}, round(total * read.n)


def _within(name: str) -> str:
    return f"in {name}" if is_described(name) else name


def _named(shares: Mapping[str, float], most: int = 3) -> str:
    """List the most common languages of a side with their shares."""
    shown = [
        f"{percent(share)} {_within(name)}"
        for name, share in list(shares.items())[:most]
        if share >= SHOWN
    ]
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


@dataclass(frozen=True)
class Scripts:
    """The share of each script among the letters of both sides.

    Attributes
    ----------
    reference, generated
        Script to share, 0 to 1, the largest first; shares under 0.005 on both sides are left out.
    distance
        Of the two sides, 0 to 1.
    halves
        The largest between halves of the reference.
    """

    reference: Mapping[str, float]
    generated: Mapping[str, float]
    distance: float
    halves: float

    def caution(self) -> Caution | None:
        """Describe the scripts of both sides, and advise."""
        if self.distance <= max(MORE_LETTERS, self.halves):
            return None
        text = (
            f"its letters are {_listed(self.generated)}, those of the reference "
            f"{_listed(self.reference)}; a difference in script alone separates the sides: compare "
            "texts in one script"
        )
        moved = movement("scripts", self.distance)
        return Caution("scripts", self._brief, text, movement=moved)

    @property
    def _brief(self) -> str:
        """Name the script whose shares lie farthest apart."""
        sides = (self.generated, self.reference)
        ours, theirs = ({**dict.fromkeys(self.reference, 0.0), **side} for side in sides)
        script = max(ours, key=lambda name: abs(ours[name] - theirs.get(name, 0.0)))
        shares = brief_share(ours[script]), brief_share(theirs.get(script, 0.0))
        return fitting(
            f"{shares[0]} {script} letters, reference {shares[1]}", "letters of another script"
        )


def measure_scripts(
    reference: TextFacts, generated: Sequence[TextFacts], *, seed: int = 0
) -> Scripts | None:
    """Compare the scripts of both sides; None where either has no letters."""
    names = sorted({name for facts in (reference, *generated) for name in facts.letters})
    theirs, ours = _letter_table([reference], names), _letter_table(generated, names)
    if not theirs.sum() or not ours.sum():
        return None
    sides = _shares(theirs), _shares(ours)
    return Scripts(
        *_largest(names, *sides),
        _distance(*sides),
        _distance_of_halves(theirs, min(len(theirs) // 2, len(ours)), seed),
    )


def _letter_table(sets: Sequence[TextFacts], names: Sequence[str]) -> NDArray[np.int64]:
    """Letters of each script in each text that is looked at, shape (texts, scripts)."""
    if not names:
        return np.zeros((0, 0), int)
    tables = [
        [facts.letters.get(name, np.zeros(len(facts.sampled), np.int64)) for name in names]
        for facts in sets
    ]
    return np.concatenate([np.array(table).T for table in tables])


def _shares(table: NDArray[np.int64]) -> NDArray[np.float64]:
    shares: NDArray[np.float64] = table.sum(axis=0) / max(1, table.sum())
    return shares


def _distance(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    return float(np.abs(one - other).sum() / 2)


def _distance_of_halves(table: NDArray[np.int64], size: int, seed: int) -> float:
    """The largest distance between two parts of `size` texts; 1 of a single text."""
    rng = np.random.default_rng(seed)
    if table.shape[1] == 1:
        return 0.0
    splits = [rng.permutation(len(table)) for _ in range(SPLITS if size else 0)]
    return max(
        (
            _distance(_shares(table[rows[:size]]), _shares(table[rows[size : 2 * size]]))
            for rows in splits
        ),
        default=1.0,
    )


def _largest(
    names: Sequence[str], *sides: NDArray[np.float64]
) -> tuple[dict[str, float], dict[str, float]]:
    shown = [place for place in range(len(names)) if max(side[place] for side in sides) >= SHOWN]
    reference, generated = (
        {names[place]: float(side[place]) for place in sorted(shown, key=lambda p: -side[p])}
        for side in sides
    )
    return reference, generated


def _listed(shares: Mapping[str, float], most: int = 3) -> str:
    shown = [f"{percent(share)} {name}" for name, share in list(shares.items())[:most] if share]
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


@dataclass(frozen=True)
class Language:
    """The share of each side's words that are frequent words of either side.

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

    def caution(self) -> Caution | None:
        """Describe on which side texts of another language are, and advise."""
        n, m = self.n, self.m
        if beyond_chance(self.generated_foreign, self.expected, m, n, least=MORE_TEXTS):
            text = (
                f"in {percent(self.generated_foreign)} of its texts of {FEWEST_WORDS} words or "
                "more the reference's most frequent words hardly occur "
                f"({percent(self.expected)} of the reference's), such as "
                f"{self.example!r}: they are in another language or are not prose; leave them out "
                "or compare them separately"
            )
            share = brief_share(self.generated_foreign)
            brief = f"{share} in another language, or not prose"
            moved = movement("language", self.generated_foreign - self.expected)
            return Caution("language", brief, text, movement=moved)
        if beyond_chance(self.reference_foreign, self.reference_expected, n, m, least=MORE_TEXTS):
            text = (
                f"in {percent(self.reference_foreign)} of the reference's texts of {FEWEST_WORDS} "
                "words or more its most frequent words hardly occur "
                f"({percent(self.reference_expected)} of its own): they are in another language or "
                "are not prose; leave them out or compare them separately"
            )
            share = brief_share(self.reference_foreign)
            moved = movement("language", self.reference_foreign - self.reference_expected)
            brief = f"reference: {share} in another language"
            return Caution("language", brief, text, movement=moved)
        return None


def measure_language(reference: TextFacts, generated: Sequence[TextFacts]) -> Language | None:
    """Compare the most frequent words of each side with the texts of both.

    None where most texts are too short to tell, their script has no spaces, a set has no words that
    stand in all its texts, or says nearly the same over and over: fewer than `FEWEST_TEXTS` of its
    texts differ, where it has as many.
    """
    theirs, ours = _texts([reference]), _texts(generated)
    if theirs is None or ours is None:
        return None
    by_theirs = _frequent_shares(theirs.words, ours.words)
    by_ours = _frequent_shares(ours.words, theirs.words)
    if by_theirs is None or by_ours is None:
        return None
    foreign = by_theirs.others < by_theirs.limit
    return Language(
        usual=float(np.median(by_theirs.within)),
        generated_usual=float(np.median(by_theirs.others)),
        generated_foreign=float(foreign.mean()),
        expected=float((by_theirs.within < by_theirs.limit).mean()),
        reference_foreign=float((by_ours.others < by_ours.limit).mean()),
        reference_expected=float((by_ours.within < by_ours.limit).mean()),
        n=len(theirs.words),
        m=len(ours.words),
        example=ours.texts[int(np.argmax(foreign))] if foreign.any() else None,
    )


class _Texts(NamedTuple):
    """Texts that are long enough: the words of each, and how it begins."""

    words: list[list[str]]
    texts: list[str]


def _texts(sets: Sequence[TextFacts]) -> _Texts | None:
    """Take the texts that tell; None where those are less than half of all, or nearly all alike."""
    long = [
        (words, shortened(" ".join(text[: 2 * NAME_LENGTH].split())))
        for facts in sets
        for words, text in zip(facts.spelt, facts.sampled, strict=True)
        if len(words) >= FEWEST_WORDS and len(text) <= LONG_WORDS * len(words)
    ]
    if not long or 2 * len(long) < sum(len(facts.sampled) for facts in sets):
        return None
    if len({tuple(words) for words, _ in long}) < min(FEWEST_TEXTS, len(long)):
        return None
    return _Texts([words for words, _ in long], [text for _, text in long])


class _FrequentShares(NamedTuple):
    """The share of a set's most frequent words in each of its own texts, and in others."""

    within: NDArray[np.float64]
    others: NDArray[np.float64]

    @property
    def limit(self) -> float:
        """The share under which they hardly occur."""
        return HARDLY * float(np.median(self.within))


def _frequent_shares(texts: list[list[str]], others: list[list[str]]) -> _FrequentShares | None:
    """Find these words in either half of the texts, and look for them in the other half.

    A text must not be judged by words that it made frequent itself: in few texts, any word is.
    None where even there they are rare.
    """
    frequent = [_frequent(texts[half::2]) for half in (0, 1)]
    ours, theirs = (
        np.array(
            [
                sum(map(frequent[row % 2].__contains__, words)) / len(words)
                for row, words in enumerate(side, 1)
            ]
        )
        for side in (texts, others)
    )
    return _FrequentShares(ours, theirs) if np.median(ours) >= LEAST else None


def _frequent(texts: list[list[str]]) -> frozenset[str]:
    counts = Counter(chain.from_iterable(texts))
    # Ties by the word itself, so that they do not depend on the order of the texts
    return frozenset(nsmallest(FREQUENT, counts, key=lambda word: (-counts[word], word)))
