"""Words of texts as written: separated by white space, or units of scripts without spaces.

Wherever texts are cut, counted in words or compared by how they begin, a word is what stands
between white space, with the punctuation that touches it. In a script without spaces it is the unit
of :mod:`calipers.unicode.words` (of Chinese and kana a character, of Thai, Lao, Khmer and Burmese
a syllable or a part of one), with the punctuation that touches it: what closes belongs to the unit
before, what opens to the one behind. Scripts may be mixed: each stretch of a text goes by its own
rule. Emoji stand alone in texts that have such a script, and in those without a letter; else they
are signs like others, between spaces or touching a word.

Nothing is lost: the words of a text, end to end, are the text without its white space. Where a text
has no such unit, its words are those of ``str.split``. Patterns of the standard library are used,
which take a third of the time of those of ``regex``; a test holds that the units are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from calipers.lazy import pattern
from calipers.unicode.scripts import LETTERS
from calipers.unicode.words import joined

_THAI = LETTERS["Thai"] + LETTERS["Lao"]
_BURMESE = LETTERS["Burmese"]
_STACKED = _BURMESE + "".join(
    LETTERS[script] for script in ("Khmer", "Tai_Tham", "Balinese", "Javanese")
)
_STACKS = "\u1039\u17d2\u1a60\u1b44\ua9c0"
"""Signs that put the next consonant below the last one."""
_SINGLE = LETTERS["Han"] + LETTERS["Hiragana"] + LETTERS["others"]
_KATAKANA = LETTERS["Katakana"]
_AROUND = (
    "\u0300-\u036f\u0483-\u0489\u064b-\u0655\u0670\u0951-\u0954\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
    "\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059\u105e-\u1060\u1062-\u1064"
    "\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f\u109a-\u109d\u17b4-\u17d3\u17dd\u1a55-\u1a7f"
    "\u1ab0-\u1b04\u1b34-\u1b44\u1b6b-\u1b73\u1cd0-\u1cd2\u1cd4-\u1ce8\u1ced\u1cf4\u1cf7-\u1cf9"
    "\u1dc0-\u1dff\u20d0-\u20f0\u302a-\u302f\u3099\u309a\ua980-\ua983\ua9b3-\ua9c0\ua9e5"
    "\uaa7b-\uaa7d\uaab0\uaab2-\uaab4\uaab7\uaab8\uaabe\uaabf\uaac1\ufe00-\ufe0f\ufe20-\ufe2f"
    "\U00016ff0\U00016ff1\U000e0100-\U000e01ef"
)
"""Vowels, tones and other marks that are written around a letter of these scripts."""

UNSPACED = f"{_THAI}{_STACKED}{_SINGLE}{_KATAKANA}"
"""Letters of scripts that put no space between words, as the inside of a class of a pattern."""
UNIT = (
    f"(?:[\u0e40-\u0e44\u0ec0-\u0ec4]?[{_THAI}][{_AROUND}]*+"
    "[\u0e30\u0e32\u0e33\u0e45\u0eb0\u0eb2\u0eb3]*+"
    f"|[{_STACKED}](?:[{_AROUND}]|(?<=[{_STACKS}])[{_STACKED}]"
    f"|[{_BURMESE}](?=\u1037?[\u1039\u103a]))*+"
    f"|[{_KATAKANA}][{_KATAKANA}{_AROUND}\uff9e\uff9f]*+"
    f"|[{_SINGLE}][{_AROUND}]*+\u30fc*+)"
)
"""A pattern of one unit of such a script."""

_EMOJI = (
    "\u231a\u231b\u23e9-\u23ec\u23f0\u23f3\u25fd\u25fe\u2614\u2615\u2648-\u2653\u267f\u2693\u26a1"
    "\u26aa\u26ab\u26bd\u26be\u26c4\u26c5\u26ce\u26d4\u26ea\u26f2\u26f3\u26f5\u26fa\u26fd\u2705"
    "\u270a\u270b\u2728\u274c\u274e\u2753-\u2755\u2757\u2795-\u2797\u27b0\u27bf\u2b1b\u2b1c\u2b50"
    "\u2b55\U0001f004\U0001f0cf\U0001f18e\U0001f191-\U0001f19a\U0001f1e6-\U0001f265"
    "\U0001f300-\U0001f64f\U0001f680-\U0001f6ff\U0001f7e0-\U0001f7f0\U0001f90c-\U0001f9ff"
    "\U0001fa70-\U0001faff"
)
_SIGN = "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299"
"""Signs that are pictures where a variation selector says so."""
_FLAG = "[\U0001f1e6-\U0001f1ff]"
_AFTER = f"[\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f{_AROUND}]*+"
_PICTURE = f"(?:[{_EMOJI}]|[{_SIGN}](?=\ufe0f)){_AFTER}"
PICTURE = f"(?:{_FLAG}{_AFTER}{_FLAG}{_AFTER}|{_PICTURE}(?:\u200d{_PICTURE})*+)"
"""A pattern of one emoji with its skin tone and what joiners add, or of one flag."""

_OPENING = "(\\[{«‘“‹‚„「『（［｛｟｢〈《【〔〖〘〚⟨⟪"
_ALONE = pattern(f"{UNIT}|{PICTURE}")
_MAY_BE_PICTURE = pattern(f"[{_EMOJI}\ufe0f]")
_LETTER = re.compile(r"[^\W_]")
_UNSPACED = pattern(f"[{UNSPACED}]")
_FAR = pattern("[\u0e01-\u1fff\u2300-\U0010ffff]")
"""What is looked for first, since it takes a tenth of the time."""
_NEXT_ALONE = f"(?:[{UNSPACED}{_EMOJI}]|[{_SIGN}]\ufe0f)"
_MARK = f"(?!{_NEXT_ALONE})[^\\w\\s]"
_WORD = pattern(
    # What opens, a unit or a picture, and what closes behind it
    f"(?:{_MARK})*+(?:{UNIT}|{PICTURE})(?:(?![{_OPENING}]){_MARK})*+"
    # or all up to the next of these
    f"|(?:[^\\s{UNSPACED}{_EMOJI}{_SIGN}{_OPENING}]++|[{_SIGN}](?!\ufe0f)"
    f"|[{_OPENING}]++(?!{_NEXT_ALONE}))++"
    f"|[{_OPENING}]++|\\S"
)
_CHUNK = re.compile(r"\S+")
TOUCHED = 40
"""Characters at the ends of two words that tell what stands between them."""

WORDS, CHARACTERS, BOTH = "words", "characters", "words or characters"
FEW, MOST = 0.05, 0.8
"""Shares of characters among the words of some texts, up to and from which on they are called by
one name."""
LOOKED_AT, LOOKED_INTO = 200, 1000
"""Texts of a set, and characters of each, by which what was counted is named."""


def split_words(text: str) -> list[str]:
    """Split a text into words.

    Examples
    --------
    >>> split_words("Don't say “你好，世界”!"), split_words("ไปเดิน 👍🏽👍")
    (["Don't", 'say', '“你', '好，', '世', '界”!'], ['ไป', 'เดิ', 'น', '👍🏽', '👍'])
    """
    return text.split() if is_spaced(text) else _WORD.findall(text)


def word_count(text: str) -> int:
    """Count the words of a text.

    Examples
    --------
    >>> word_count("Two words."), word_count("吾輩は猫である。")
    (2, 7)
    """
    return len(split_words(text))


def word_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each word of a text begins and ends, reading no further than needed."""
    cut = _CHUNK if is_spaced(text) else _WORD
    return (match.span() for match in cut.finditer(text))


def first_words(text: str, words: int) -> str:
    """Return a text up to the end of its `words`-th word, or all of a shorter text.

    Examples
    --------
    >>> first_words(" The  cat\\n sat down. ", 3), first_words("春眠不覚暁、処処聞啼鳥。", 5)
    (' The  cat\\n sat', '春眠不覚暁、')
    """
    ends = [stop for _, stop in islice(word_spans(text), words)]
    return text[: ends[-1]] if len(ends) == words else text


def last_words(text: str, words: int) -> str:
    """Return a text from the word after its first `words` ones.

    Examples
    --------
    >>> last_words(" The  cat\\n sat  down. ", 2), last_words("春眠不覚暁、処処聞啼鳥。", 5)
    ('sat  down. ', '処処聞啼鳥。')
    """
    start = next((start for start, _ in islice(word_spans(text), words, None)), None)
    return "" if start is None else text[start:]


def gap(left: str, right: str) -> str:
    """Return what separates two words: a space, or nothing in a script without spaces.

    Examples
    --------
    >>> gap("a", "b"), gap("好", "世"), gap("ok", "世"), gap("好，", "「世")
    (' ', '', '', '')
    """
    ends = left[-TOUCHED:], right[:TOUCHED]
    return " " if len(joined(ends)) > sum(map(len, ends)) else ""


def is_unspaced(sign: str) -> bool:
    """Whether a character is a letter of a script without spaces between words."""
    return _UNSPACED.match(sign) is not None


def unit_of(texts: Sequence[str]) -> str:
    """Name the units of some texts: words, characters, or both.

    A few texts spread evenly over all tell.

    Examples
    --------
    >>> unit_of(["Two words."]), unit_of(["春眠不覚暁"]), unit_of(["Hello 春眠"])
    ('words', 'characters', 'words or characters')
    """
    step = max(1, -(-len(texts) // LOOKED_AT))
    looked = [texts[row][:LOOKED_INTO] for row in range(0, len(texts), step)]
    words = sum(map(word_count, looked))
    alone = sum(len(_ALONE.findall(text)) for text in looked if not is_spaced(text))
    if alone <= FEW * words:
        return WORDS
    return CHARACTERS if alone >= MOST * words else BOTH


def counted_words(number: int, unit: str) -> str:
    """Write a number with the unit from :func:`unit_of`.

    Examples
    --------
    >>> counted_words(1, "words"), counted_words(2000, "characters")
    ('1 word', '2,000 characters')
    """
    named = (
        unit if number != 1 else unit.replace("words", "word").replace("characters", "character")
    )
    return f"{number:,} {named}"


def is_spaced(text: str) -> bool:
    """Whether every word of a text is separated by white space."""
    if text.isascii() or _FAR.search(text) is None:
        return True
    if _UNSPACED.search(text):
        return False
    return _MAY_BE_PICTURE.search(text) is None or _LETTER.search(text) is not None
