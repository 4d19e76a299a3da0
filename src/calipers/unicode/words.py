"""Words and grapheme clusters of texts in any script.

Words are cut where Unicode's default rules set a boundary (UAX #29, "Unicode Text Segmentation"):
``don't``, ``l'homme`` and ``3.14`` are one word each, as is an emoji of several characters. Those
rules need spaces or marks between words. Where a script has none, the unit is what can be found
without a dictionary:

======================================  ========================================================
Chinese, kana, Bopomofo, Yi and others  each character; katakana, used for foreign words, in runs
Thai, Lao                               a consonant with its vowels, before, above, below and behind
Burmese                                 a syllable: a consonant with its marks and what closes it
Khmer, Javanese, Balinese, Tai Tham     a consonant with what is stacked below it, and the vowels
======================================  ========================================================

These units are smaller than words. A language of several scripts, as Japanese, has both kinds.

Nothing is normalised: give texts in one form (:func:`calipers.text.unicode_forms.as_seen`) where
words are compared. The classes of characters are those of the package ``regex``, whose version
:func:`regex_version` names; its own word boundaries are not used, as they differ between versions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from calipers.lazy import pattern
from calipers.unicode.scripts import BLOCKS, WITHOUT_SPACES

# The rules of UAX #29, by the names of its classes. "E" is what a rule looks past (WB4)
_E = r"[\p{WB=Extend}\p{WB=Format}\p{WB=ZWJ}]*+"
_LETTER, _HEBREW = rf"[\p{{WB=ALetter}}--[{BLOCKS}\u02ea\u02eb]]", r"\p{WB=Hebrew_Letter}"
_ANY_LETTER = f"[{_LETTER}{_HEBREW}]"
_IN_WORDS = r"[\p{WB=MidLetter}\p{WB=MidNumLet}\p{WB=Single_Quote}]"
_IN_NUMBERS = r"[\p{WB=MidNum}\p{WB=MidNumLet}\p{WB=Single_Quote}]"
_GERESH = rf"\p{{WB=Single_Quote}}{_E}(?!{_ANY_LETTER})"
_GERSHAYIM = rf"\p{{WB=Double_Quote}}{_E}(?={_HEBREW})"
_CONNECTORS = rf"(?:\p{{WB=ExtendNumLet}}{_E})"
_RUN = (
    "(?:(?:"
    rf"{_LETTER}++{_E}(?:{_IN_WORDS}{_E}(?={_ANY_LETTER}))?+"
    rf"|{_HEBREW}{_E}(?!{_GERESH})(?:{_IN_WORDS}{_E}(?={_ANY_LETTER})|{_GERSHAYIM})?+"
    rf"|\p{{WB=Numeric}}++{_E}(?:{_IN_NUMBERS}{_E}(?=\p{{WB=Numeric}}))?+"
    rf")++|(?:\p{{WB=Katakana}}++{_E})++)"
)
"""Letters and digits, or katakana."""
_WORDS = (
    rf"(?=[{_LETTER}{_HEBREW}\p{{WB=Numeric}}\p{{WB=Katakana}}\p{{WB=ExtendNumLet}}])"
    rf"{_CONNECTORS}*+(?:{_RUN}(?:{_CONNECTORS}++{_RUN}?+)*+)?+"
    rf"(?:(?<!\p{{WB=Katakana}}){_HEBREW}{_E}{_GERESH})?+"
)
_FLAG = "[\U0001f1e6-\U0001f1ff]"
_FLAGS = rf"{_FLAG}{_E}(?:{_FLAG}{_E})?+"
_JOINED_SIGNS = rf"(?:(?<=\u200d)\p{{Extended_Pictographic}}{_E})*+"
_SPACED = rf"(?:{_WORDS}|{_FLAGS}|.{_E}){_JOINED_SIGNS}"

# Scripts without spaces
_SPACE_FREE = rf"[[{WITHOUT_SPACES}]--[\p{{Nd}}\p{{M}}]]"
_THAI_LAO = (
    r"[\u0e40-\u0e44\u0ec0-\u0ec4]?[[\p{Thai}\p{Lao}]--[\p{Nd}\p{M}]]\p{M}*+"
    r"[\u0e30\u0e32\u0e33\u0e45\u0eb0\u0eb2\u0eb3]*+"
)
_STACKED = r"[\p{Khmer}\p{Myanmar}\p{Tai_Tham}\p{Balinese}\p{Javanese}]"
_BELOW = "\u1039\u17d2\u1a60\u1b44\ua9c0"
"""Signs that put the next consonant below the last."""
_STACKS = (
    rf"[{_STACKED}&&\p{{L}}](?:\p{{M}}|(?<=[{_BELOW}])[{_STACKED}&&\p{{L}}]"
    r"|[\p{Myanmar}&&\p{L}](?=\u1037?[\u1039\u103a]))*+"
)
_SINGLE = rf"{_SPACE_FREE}\p{{M}}*+\u30fc*+"
_UNSPACED = rf"(?:{_THAI_LAO}|{_STACKS}|{_SINGLE}){_E}"

SHORT = 32
"""Characters of what is remembered when it is cut."""
_PIECES = pattern(rf"(?V1s)(?={_SPACE_FREE}){_UNSPACED}|{_SPACED}", package="regex")
"""Without white space."""
_ASCII_PIECES = re.compile(
    r"\w+(?:(?:(?<=[A-Za-z])[.:'](?=[A-Za-z])|(?<=[0-9])[.,;'](?=[0-9]))\w+)*|[^\s\x1c-\x1f]",
    re.ASCII,
)
"""The same for ASCII, with white space."""
_ASCII_WORDS = re.compile(
    r"(?<!_)_*+[A-Za-z0-9]\w*"
    r"(?:(?:(?<=[A-Za-z])[.:'](?=[A-Za-z])|(?<=[0-9])[.,;'](?=[0-9]))\w+)*",
    re.ASCII,
)
_MAY_LACK_SPACES = pattern(f"[{BLOCKS}\u02ea\u02eb\U0001f1e6-\U0001f1ff]")
_HAN_KANA = "\u3041-\u3096\u4e00-\u9fff"
_CHARACTERS = pattern(
    f"([{_HAN_KANA}][{_HAN_KANA}\u3001-\u3003\u3008-\u3011\u201c\u201d\uff01\uff08\uff09\uff0c\uff1f]*"
    f"(?=[\\0-\xa0\u2010-\u2027\u3000-\u3020\u30a1-\u30fa{_HAN_KANA}\uff01-\uff60]|\\Z))"
)
"""Runs of characters that are a piece each, whatever stands around them."""
_WORD = pattern(r"[\p{L}\p{N}\p{So}\p{Co}\p{Cn}]", package="regex")
_GRAPHEMES = pattern(
    rf"(?V1s){_FLAG}{{1,2}}[\p{{GCB=Extend}}\p{{GCB=ZWJ}}\p{{GCB=SpacingMark}}]*+|\X",
    package="regex",
)
_ALONE = pattern(
    "[\n -~\u00a0-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u058a\u0620-\u064a\u0904-\u0939"
    "\u1e00-\u1fff\u2010-\u2027\u3000-\u3029\u3041-\u3096\u30a0-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60]*+"
)
"""Characters that join no other of them."""
_CLOSE = (
    rf"[[{WITHOUT_SPACES}\p{{Script=Katakana}}\p{{Script=Tibetan}}\u3000-\u303f\u30fb\u30fc"
    r"\uff01-\uff0f\uff1a-\uff20]--\p{Nd}]"
)
_CLOSE_LEFT = pattern(rf"(?V1){_CLOSE}\p{{M}}*+\Z", package="regex")
_CLOSE_RIGHT = pattern(rf"(?V1){_CLOSE}", package="regex")
"""Characters beside which no space is written: of such scripts, katakana, Tibetan, their marks."""


@cache
def regex_version() -> str:
    """Return the version of the package that defines the classes of characters."""
    from importlib.metadata import version

    return version("regex")


def words_and_marks(text: str) -> list[str]:
    """Split a text into words and marks, without white space.

    Examples
    --------
    >>> words_and_marks("Don't, l'homme: 3.14!")
    ["Don't", ',', "l'homme", ':', '3.14', '!']
    >>> words_and_marks("我喜欢咖啡。"), words_and_marks("コーヒーが好き")
    (['我', '喜', '欢', '咖', '啡', '。'], ['コーヒー', 'が', '好', 'き'])
    """
    if text.isascii():
        return _ASCII_PIECES.findall(text)
    pieces: list[str] = []
    for chunk in text.split():
        pieces += _cut(chunk) if len(chunk) <= SHORT else cut_chunk(chunk)
    return pieces


def cut_chunk(chunk: str) -> tuple[str, ...]:
    """Split a whitespace-separated chunk, beyond which no rule looks."""
    if chunk.isascii():
        return tuple(_ASCII_PIECES.findall(chunk))
    if not _MAY_LACK_SPACES.search(chunk):
        return tuple(_PIECES.findall(chunk))
    pieces: list[str] = []
    for place, part in enumerate(_CHARACTERS.split(chunk)):
        pieces += part if place % 2 else _PIECES.findall(part)
    return tuple(pieces)


_cut = lru_cache(maxsize=1 << 15)(cut_chunk)
"""Most chunks of a text stood in it before."""


def words(text: str) -> list[str]:
    """Split a text into words: pieces with a letter, a digit, or a pictorial sign.

    Examples
    --------
    >>> words("Don't! 你好 👍🏽 …")
    ["Don't", '你', '好', '👍🏽']
    """
    if text.isascii():
        return _ASCII_WORDS.findall(text)
    return [piece for piece in words_and_marks(text) if is_word(piece)]


def word_spans(text: str) -> list[tuple[int, int]]:
    """Return where each word of a text begins and ends.

    Examples
    --------
    >>> word_spans("Don't! 你好")
    [(0, 5), (7, 8), (8, 9)]
    """
    if text.isascii():
        return [match.span() for match in _ASCII_WORDS.finditer(text)]
    spans, stop = [], 0
    for piece in words_and_marks(text):
        start = text.index(piece, stop)
        stop = start + len(piece)
        if is_word(piece):
            spans.append((start, stop))
    return spans


def word_count(text: str) -> int:
    """Count the words of a text.

    Examples
    --------
    >>> word_count("Don't! 你好")
    3
    """
    if text.isascii():
        return len(_ASCII_WORDS.findall(text))
    return sum(map(is_word, words_and_marks(text)))


def is_word(piece: str) -> bool:
    """Whether a piece of a text is a word rather than a mark."""
    return piece[:1].isalnum() or _WORD.search(piece) is not None


def graphemes(text: str) -> list[str]:
    """Split a text into extended grapheme clusters, the characters that a reader sees.

    Examples
    --------
    >>> [len(graphemes(text)) for text in ("e\\u0301", "👩‍👩‍👧", "क्ष", "각", "\\r\\n")]
    [1, 1, 1, 1, 1]
    """
    return list(text) if stand_alone(text) else _GRAPHEMES.findall(text)


def stand_alone(text: str) -> bool:
    """Return which code points of a text are certainly characters of their own."""
    return _ALONE.fullmatch(text) is not None


def joined(pieces: Iterable[str]) -> str:
    """Join words with spaces, except in scripts without them.

    Examples
    --------
    >>> joined(["the", "cat"]), joined(["我", "喜", "欢"]), joined(["iPhone", "が", "好", "き"])
    ('the cat', '我喜欢', 'iPhoneが好き')
    """
    text, close = "", True
    for piece in pieces:
        spaced = piece.isascii()
        gap = "" if close or not (spaced or _CLOSE_RIGHT.match(piece) is None) else " "
        text += gap + piece
        close = not spaced and _CLOSE_LEFT.search(piece) is not None
    return text
