"""Texts that look alike: one Unicode form, without invisible characters.

Unicode writes ``é`` as one character (composed, NFC) or as ``e`` and an accent (decomposed, NFD, as
files from macOS and some PDF readers have it), and has characters without any width: zero-width
spaces, soft hyphens, byte order marks, marks of direction. Two texts that are the same to the eye
then share no word that holds one of them. Everything here that asks whether texts or words are
*equal* (tokens, copies, duplicates, shared openings, prompts) asks it of :func:`as_seen`: composed,
and without such characters. What is *other* to the eye stays so: full-width letters, ligatures,
Cyrillic letters that resemble Latin ones.

Joiners (U+200C, U+200D) are left where they change what is seen, as in Persian, the scripts of
India and emoji; behind a Latin letter, a digit or a space they are taken out.

Metrics that reproduce another package (BLEU, chrF, TER) read the characters as they stand,
as that package does; so do embedders. Where two sides are written in different forms,
:func:`altered` lets a caution say so.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left

from calipers.unicode.composition import composed
from calipers.unicode.written_words import split_words

# Soft hyphen; zero-width space; marks and embeddings of direction; word joiner and invisible
# operators; isolates and deprecated format characters; byte order mark; annotations; tags
_INVISIBLE = re.compile(
    "[\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
    "|(?:(?<=[\\s\u0021-\u024f])|^)[\u200c\u200d]"
)


MOST_MARKS = 30
"""Marks on one character that are looked through; text in use has hardly four."""


def as_seen(text: str) -> str:
    """Return the text as it appears: composed (NFC), without invisible characters.

    Examples
    --------
    >>> as_seen("cafe\u0301") == "café", as_seen("in\u200bvisible")
    (True, 'invisible')
    """
    if text.isascii():
        return text
    return composed(_INVISIBLE.sub("", text))


def behind(text: str, opening: str) -> int | None:
    """Find where a text continues after an opening, whatever its Unicode form.

    Examples
    --------
    >>> behind("cafe\u0301 noir", "café"), behind("tea", "café")
    (5, None)
    """
    if text.startswith(opening):
        return len(opening)
    seen = as_seen(opening)
    if text.isascii() or not as_seen(text).startswith(seen):
        return None
    # The form of a beginning hardly ever shrinks as it grows; the shortest that is long enough
    reach = bisect_left(range(len(text) + 1), len(seen), key=lambda n: len(as_seen(text[:n])))
    ends = range(reach, min(len(text), reach + MOST_MARKS) + 1)
    found = [end for end in ends if as_seen(text[:end]) == seen]
    return found[-1] if found else None


def altered(text: str) -> bool:
    """Tell whether the text is decomposed or has invisible characters.

    Examples
    --------
    >>> altered("café"), altered("cafe\u0301"), altered("in\u200bvisible")
    (False, True, True)
    """
    if text.isascii():
        return False
    return _INVISIBLE.search(text) is not None or not unicodedata.is_normalized("NFC", text)


def folded_words(text: str) -> list[str]:
    """Split a text into words, as they appear and in lower case, for comparison.

    Examples
    --------
    >>> folded_words("A\\u200b  cafe\\u0301\\n") == ["a", "café"]
    True
    >>> folded_words("春眠不覚暁 処処")
    ['春', '眠', '不', '覚', '暁', '処', '処']
    """
    return split_words(as_seen(text).casefold())
