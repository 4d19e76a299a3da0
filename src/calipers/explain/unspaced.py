"""Names of topics in scripts without spaces: runs of characters, found without a dictionary.

Candidates are the n-grams of units (:mod:`calipers.unicode.words`) within a stretch of one script:
two to four Chinese characters, two to six units of Thai, Lao, Khmer, Burmese and the like. Katakana
spell foreign words and names and are taken in whole runs. Hiragana spell the endings and particles
of Japanese and are left out, and so are the words that are written in them alone.

Most n-grams are no words. One that begins or ends with a unit that is common in most topics (of
Chinese 的 or 在) is left out where the rest stands often without that unit. Of those that hold or
overlap each other the one stays that weighs most, unless a longer one is used nearly as often: then
the shorter is a part of it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from unicodedata import category

from calipers.lazy import pattern
from calipers.numeric.arrays import Floats
from calipers.unicode.composition import composed
from calipers.unicode.scripts import LETTERS
from calipers.unicode.written_words import UNIT, UNSPACED, is_spaced, is_unspaced

LONGEST_HAN, LONGEST_OTHER = 4, 6
"""Units of an n-gram at most: of Chinese characters, and of other scripts."""

EDGE = 2.5e-3
"""The share of a topic's words and n-grams from which on a unit is common there."""

PART = 0.7
"""From this share of the uses of an n-gram on in a longer one it is a part of that one."""

_HAN, _HIRAGANA = LETTERS["Han"], LETTERS["Hiragana"]
_KATAKANA = LETTERS["Katakana"] + "\uff9e\uff9f\u3099\u309a"
"""With their voiced marks, which stand apart in half width."""
_UNIT = pattern(UNIT)
_STRETCH = pattern(
    f"(?P<han>[{_HAN}]+)|(?P<katakana>[{_KATAKANA}]+)|[{_HIRAGANA}]+"
    f"|(?P<other>(?:(?![{_HAN}{_KATAKANA}{_HIRAGANA}]){UNIT})+)|(?P<spaced>[^{UNSPACED}]+)"
)


def name_candidates(run: str) -> Iterator[str]:
    """Return the words and n-grams of a run of letters, including single characters.

    Examples
    --------
    >>> list(name_candidates("apt命令を使う"))
    ['apt', '命', '令', '命令', '使']
    >>> list(name_candidates("データベース管理"))
    ['データベース', '管', '理', '管理']
    """
    for stretch in _STRETCH.finditer(run):
        text = stretch[0]
        if stretch.lastgroup in ("katakana", "spaced"):
            yield text
        elif stretch.lastgroup == "han":
            yield from _ngrams(text, LONGEST_HAN)
        elif stretch.lastgroup == "other":
            yield from _ngrams(_UNIT.findall(text), LONGEST_OTHER)


def _ngrams(units: Sequence[str], longest: int) -> Iterator[str]:
    for order in range(1, min(longest, len(units)) + 1):
        for start in range(len(units) - order + 1):
            yield "".join(units[start : start + order])


def is_ngram(word: str) -> bool:
    """Whether a word belongs to a script without spaces."""
    return is_unspaced(word[:1])


def is_fragment(word: str, common: Collection[str], uses: Mapping[str, float]) -> bool:
    """Whether an n-gram names nothing: a single unit, or common units adjacent by chance.

    Parameters
    ----------
    word
        The n-gram.
    common
        Units that are common in most topics.
    uses
        How often each n-gram is used.

    Examples
    --------
    >>> uses = {"软件": 9.0, "软件的": 2.0, "件的": 2.0, "邮": 5.0, "邮件": 5.0}
    >>> [is_fragment(word, {"件", "的"}, uses) for word in ("软件的", "邮件", "邮")]
    [True, False, True]
    """
    units = _UNIT.findall(word)
    if len(units) == 1:
        return re.match(f"[{_KATAKANA}]{{2}}", word) is None
    rests = [("".join(units[1:]), units[0]), ("".join(units[:-1]), units[-1])]
    return any(unit in common and uses[word] < PART * uses.get(rest, 0.0) for rest, unit in rests)


def repeated_candidates(texts: Iterable[str]) -> set[str]:
    """Return the n-grams that at least two of several texts contain."""
    seen: set[str] = set()
    repeated: set[str] = set()
    for text in texts:
        if not is_spaced(text):
            runs = "".join(
                c if c.isalpha() or category(c)[0] == "M" else " "
                for c in composed(text).casefold()
            )
            held = {word for run in runs.split() for word in name_candidates(run)}
            repeated |= held & seen
            seen |= held
    return repeated


def best_ngrams(words: Sequence[str], weights: Floats, counts: Floats, most: int) -> list[int]:
    """Choose the words that name a topic, without n-grams that contain or overlap each other.

    Parameters
    ----------
    words
        The words of a topic, those with the largest weight first.
    weights, counts
        How telling each is, and how often it is used, shape ``(n,)``.
    most
        Words to choose.

    Returns
    -------
    list of int
        The places of the chosen words, those with the largest weight first.

    Examples
    --------
    >>> import numpy as np
    >>> words = ["数据", "数据库", "据库", "安装"]
    >>> best_ngrams(words, np.array([4.0, 3, 2, 1]), np.array([9.0, 8, 8, 5]), 10)
    [1, 3]
    """
    chosen: list[int] = []
    for place, word in enumerate(words):
        if len(chosen) == most or weights[place] <= 0:
            break
        if not is_ngram(word):
            chosen.append(place)
            continue
        longer = [
            other
            for other, text in enumerate(words)
            if len(text) > len(word)
            and word in text
            and weights[other] > 0
            and counts[other] >= PART * counts[place]
        ]
        if longer or any(_overlap(word, words[other]) for other in chosen):
            continue
        chosen.append(place)
    return chosen


def _overlap(one: str, other: str) -> bool:
    """Whether two n-grams may be of one place: one holds the other, or ends as it begins."""
    if not is_ngram(other):
        return False
    short, long = sorted((one, other), key=len)
    if short in long:
        return True
    sizes = range(2, len(short))
    return any(one[-n:] == other[:n] or other[-n:] == one[:n] for n in sizes)
