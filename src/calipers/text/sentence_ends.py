"""Whether a text stops at the end of a sentence, in any script that marks it."""

from __future__ import annotations

import unicodedata

# The marks that Unicode gives the property Sentence_Terminal (below U+10000), in hexadecimal; then
# the ellipses and the strokes that end a Tibetan clause
_MARKS = """
    21 2e 3f 589 61d-61f 6d4 700-702 7f9 837 839 83d-83e 964-965 104a-104b 1362 1367-1368 166e
    1735-1736 17d4-17d5 1803 1809 1944-1945 1aa8-1aab 1b4e-1b4f 1b5a-1b5b 1b5e-1b5f 1b7d-1b7f
    1c3b-1c3c 1c7e-1c7f 2024 203c-203d 2047-2049 2cf9-2cfb 2e2e 2e3c 2e53-2e54 2e60-2e61 3002 a4ff
    a60e-a60f a6f3 a6f7 a876-a877 a8ce-a8cf a92f a9c8-a9c9 aa5d-aa5f aaf0-aaf1 abeb fe12 fe15-fe16
    fe52 fe56-fe57 ff01 ff0e ff1f ff61
    2026 22ef fe19 f0d-f11
"""

_BEHIND = frozenset(["Pe", "Pf", "Pi", "Cf", "Zs", "Zl", "Zp", "Cc", "Mn"])
"""Categories of what may stand behind the mark: brackets, quotes, white space, selectors."""

_QUOTES = frozenset("\"'`´*_~＂＇")
"""Quotes that open and close alike, and the marks of emphasis in Markdown."""


def _spread(marks: str) -> frozenset[str]:
    ends = [span.partition("-")[::2] for span in marks.split()]
    return frozenset(
        chr(code) for low, high in ends for code in range(int(low, 16), int(high or low, 16) + 1)
    )


ENDS = _spread(_MARKS)


def ends_sentence(text: str) -> bool:
    """Whether the last character, quotes and brackets and white space aside, closes a sentence.

    Examples
    --------
    >>> [ends_sentence(text) for text in ("Yes.", "“Yes?”)", "はい。」", "and then the")]
    [True, True, True, False]
    """
    for place in range(len(text) - 1, -1, -1):
        character = text[place]
        if character in ENDS:
            return True
        if character not in _QUOTES and unicodedata.category(character) not in _BEHIND:
            return False
    return False
