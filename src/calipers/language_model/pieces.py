"""Words and marks with the white space before them, so that generated texts are spaced correctly.

A piece is a word or a single other character, with all white space that stands before it; end to
end the pieces of a text are the text, but for white space at its end. A word goes on over an
apostrophe between letters (``don't``). Of scripts that put no space between words each unit of
:mod:`calipers.unicode.words` is a piece (a Chinese character, a Thai consonant with its vowels), so
that the order of a model counts these. An emoji is one mark, with its skin tone.

What a piece is made of decides what may stand next to it. Its *kind* says how it joins what is
before it (a word after a space, a word after none, a mark after none, …), and its *form* which
kinds follow it: a word, or one particular mark, as an opening bracket is followed by a word after
no space.
"""

from __future__ import annotations

import re

from calipers.unicode.written_words import PICTURE, UNIT, UNSPACED

_AROUND = (
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u102b-\u103e\u17b6-\u17d3"
)
_COMBINING = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0966-\u0dff\u1ab0-\u1aff"
    "\u1dc0-\u1dff\u200c\u200d\u20d0-\u20ff\ufe20-\ufe2f"
)
_LETTER = f"(?:(?![{UNSPACED}{_AROUND}])[\\w{_COMBINING}])"
_WORD = f"{_LETTER}+(?:['’]{_LETTER}+)*"
_SYLLABLE = UNIT
_MARK = f"(?:{PICTURE}|\\S)"
_PIECE = re.compile(rf"(?<!\s)\s*+(?:{_WORD}|{_SYLLABLE}|{_MARK})")
_BODY = re.compile(rf"(?P<word>{_WORD})|(?P<syllable>{_SYLLABLE})|(?P<mark>{_MARK})")

END, WORD, SPACED_WORD, SYLLABLE, SPACED_SYLLABLE, MARK, SPACED_MARK = range(7)
KINDS = 7
"""How a piece joins what stands before it; the first is the end of the text."""

BEGIN, AFTER_WORD, AFTER_SYLLABLE, AFTER_MARK = range(4)
"""What decides which kinds follow: the most frequent marks have forms of their own, after these."""


def split(text: str) -> list[str]:
    """Split a text into pieces.

    Examples
    --------
    >>> split("Don't (ever) go, please.  ")
    ["Don't", ' (', 'ever', ')', ' go', ',', ' please', '.']
    """
    return _PIECE.findall(text.rstrip())


def kind_of(piece: str) -> int:
    """Return how a piece joins the text before it."""
    body = piece.lstrip()
    match = _BODY.fullmatch(body)
    kinds = {"word": WORD, "syllable": SYLLABLE, "mark": MARK}
    kind = kinds[str(match.lastgroup)] if match else WORD
    return kind + (len(body) < len(piece))


def form_of(kind: int) -> int:
    """Return what a piece of some kind is to the next one; some marks have forms of their own."""
    if kind in (WORD, SPACED_WORD):
        return AFTER_WORD
    return AFTER_SYLLABLE if kind in (SYLLABLE, SPACED_SYLLABLE) else AFTER_MARK
