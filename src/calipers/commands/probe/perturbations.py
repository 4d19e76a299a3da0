"""Known changes of texts, by name: each a pure function of a text and a random generator.

Word shuffles are those of Pillutla et al., JMLR 2023, figure 16. Words are what stands between
white space, which stays where it is, and characters of scripts without spaces
(:mod:`calipers.unicode.written_words`); sentences end where a sentence mark is followed by white
space, or at a full-width mark, so that *Dr. Who* is taken for two.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from calipers.lazy import pattern
from calipers.samples import SampleSet
from calipers.text.termination import ENDS
from calipers.unicode.written_words import UNIT, UNSPACED, gap, word_spans

SHARE = 0.1
"""Share of the words that get a typo, or change places with the next."""

REPEATS = 3
_LETTERS = pattern(f"(?P<units>{UNIT}{{2}})|[^\\W\\d_{UNSPACED}]{{3,}}")
_UNIT = pattern(UNIT)
_MARKS = re.escape("".join(sorted(ENDS)))
_WIDE = "。！？｡．"
_SENTENCE = re.compile(
    # From the first of some marks on, and all of them: linear in their number
    rf"""(?:(?<![{_MARKS}])[{_MARKS}]++["'”’»)\]]*+(?=\s|$)|[{_WIDE}]+["'”’」』）]*)""",
)


def shuffle_words(text: str, rng: random.Random) -> str:
    """Shuffle the words of a text.

    Examples
    --------
    >>> sorted(shuffle_words("a b\\nc d", random.Random(0)).split())
    ['a', 'b', 'c', 'd']
    """
    words, gaps = _parts(text)
    return _together(_reordered(words, rng), gaps)


def swap_words(text: str, rng: random.Random) -> str:
    """Exchange a tenth of the words, at least one, with the word that follows."""
    words, gaps = _parts(text)
    firsts = list(range(len(words) - 1))
    rng.shuffle(firsts)
    swaps, used = _share_of(len(words)), set[int]()
    for a in firsts:
        b = a + 1
        if swaps and not used & {a, b} and words[a] != words[b]:
            words[a], words[b] = words[b], words[a]
            used |= {a, b}
            swaps -= 1
    return _together(words, gaps)


def shuffle_sentences(text: str, rng: random.Random) -> str:
    """Shuffle the sentences of a text, each kept whole.

    Examples
    --------
    >>> shuffle_sentences("One. Two.", random.Random(0))
    'Two. One.'
    """
    spans = sentences(text)
    order = _reordered([text[start:stop] for start, stop in spans], rng)
    pieces, end = [], 0
    for (start, stop), new in zip(spans, order, strict=True):
        pieces += [text[end:start], new]
        end = stop
    return "".join([*pieces, text[end:]])


def cut_in_half(text: str, rng: random.Random) -> str:
    """Keep the first half of the words, or of the letters of a single word.

    Examples
    --------
    >>> cut_in_half("one two three", random.Random(0)), cut_in_half("春眠不觉晓", random.Random(0))
    ('one two', '春眠不')
    """
    words = list(word_spans(text))
    if not words:
        return text
    if len(words) == 1:
        return text[: (sum(words[0]) + 1) // 2]
    return text[: words[(len(words) + 1) // 2 - 1][1]]


def lower_case(text: str, rng: random.Random) -> str:
    """Convert every letter to lower case."""
    return text.lower()


def misspell(text: str, rng: random.Random) -> str:
    """Misspell a tenth of the words of three letters or more, at least one, by one letter each.

    Of scripts without spaces, every two characters are such a word.
    """
    words = list(_LETTERS.finditer(text))
    chosen = sorted(rng.sample(range(len(words)), min(len(words), _share_of(len(words)))))
    letters = [letter for letter in text if letter.isalpha()]
    pieces, end = [], 0
    for word in (words[place] for place in chosen):
        spelt = _UNIT.findall(word[0]) if word["units"] else list(word[0])
        pieces += [text[end : word.start()], _misspelt(spelt, letters, rng)]
        end = word.end()
    return "".join([*pieces, text[end:]])


def repeat_end(text: str, rng: random.Random) -> str:
    """Append three copies of the last sentence.

    Examples
    --------
    >>> repeat_end("Go on. Stop.", random.Random(0))
    'Go on. Stop. Stop. Stop. Stop.'
    """
    spans = sentences(text)
    if not spans:
        return text
    last = text[slice(*spans[-1])]
    return text.rstrip() + f"{gap(text.rstrip(), last)}{last}" * REPEATS


def sentences(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each sentence of a text, without surrounding white space."""
    ends = [mark.end() for mark in _SENTENCE.finditer(text)]
    bounds = [0, *ends, *([len(text)] if not ends or ends[-1] < len(text) else [])]
    spans = []
    for start, stop in pairwise(bounds):
        inner = text[start:stop]
        first = start + len(inner) - len(inner.lstrip())
        if inner.strip():
            spans.append((first, start + len(inner.rstrip())))
    return spans


def _reordered(items: list[str], rng: random.Random) -> list[str]:
    """Shuffle until the order is another one, where there is another."""
    new = items.copy()
    while new == items and len(set(items)) > 1:
        rng.shuffle(new)
    return new


def _misspelt(word: list[str], letters: list[str], rng: random.Random) -> str:
    """Swap two letters, drop one, or put another in its place."""
    place, kind = rng.randrange(len(word) - 1), rng.randrange(3)
    before, after = word[:place], word[place + 1 :]
    dropped = before + after
    swapped = [*before, after[0], word[place], *after[1:]]
    replaced = [*before, rng.choice(letters), *after]
    new = (dropped, swapped, replaced)[kind]
    return "".join(dropped if new == word else new)


def _parts(text: str) -> tuple[list[str], list[str]]:
    """Cut a text into its words, and what stands before each and behind the last."""
    spans = list(word_spans(text))
    bounds = [0, *(place for span in spans for place in span), len(text)]
    gaps = [text[start:stop] for start, stop in zip(bounds[::2], bounds[1::2], strict=True)]
    return [text[start:stop] for start, stop in spans], gaps


def _together(words: list[str], gaps: list[str]) -> str:
    pairs = zip(gaps, [*words, ""], strict=True)
    return "".join(part for pair in pairs for part in pair)


def _share_of(words: int) -> int:
    return max(1, round(SHARE * words)) if words else 0


@dataclass(frozen=True)
class Change:
    """A named change of texts.

    Attributes
    ----------
    name
        Its key, such as ``"word_shuffle"``.
    label
        What a table calls it.
    does
        What it does to a text, in a few words.
    function
        From a text and a source of randomness to the changed text.
    """

    name: str
    label: str
    does: str
    function: Callable[[str, random.Random], str]

    def apply(self, text: str, *, seed: str) -> str:
        """Change one text; the same seed gives the same text on every machine."""
        return self.function(text, random.Random(f"{self.name}/{seed}"))


def change_set(samples: SampleSet, change: Change, *, seed: int) -> tuple[SampleSet, list[bool]]:
    """Change every text of a set, and tell which texts were altered.

    A text's change depends on the text's row and the seed alone.
    """
    changed = [change.apply(text, seed=f"{seed}/{row}") for row, text in enumerate(samples)]
    altered = [new != old for new, old in zip(changed, samples, strict=True)]
    return SampleSet.from_texts(changed, name=change.label), altered


CHANGES: dict[str, Change] = {
    change.name: change
    for change in (
        Change(
            "word_shuffle",
            "words shuffled",
            "all words in another random order",
            shuffle_words,
        ),
        Change(
            "word_swaps",
            "words swapped",
            "a tenth of the words swapped with the next",
            swap_words,
        ),
        Change(
            "sentence_shuffle",
            "sentences shuffled",
            "the sentences in another random order",
            shuffle_sentences,
        ),
        Change(
            "truncation",
            "truncated to half of the words",
            "only the first half of the words",
            cut_in_half,
        ),
        Change("lower_case", "lower case", "all letters in lower case", lower_case),
        Change("typos", "typos", "one wrong letter in a tenth of the words", misspell),
        Change(
            "repetition", "end repeated", "the last sentence repeated three more times", repeat_end
        ),
    )
}
"""The changes by name, in the order in which tables show them."""
