"""Texts from outside made safe for one line, with controls shown and joiners kept.

A control character could move the cursor of a terminal, and an override of direction could show one
name as another; each is shown as U+FFFD. A joiner within a word of Persian, Sinhala or Hindi or
within an emoji is a part of its spelling, and so are marks of direction in a text with letters that
run from right to left.
"""

from __future__ import annotations

import unicodedata

from calipers.wording.cells import has_rtl

REPLACED = "\N{REPLACEMENT CHARACTER}"
JOINER, NON_JOINER = "\N{ZERO WIDTH JOINER}", "\N{ZERO WIDTH NON-JOINER}"
ZERO_SPACE = "\N{ZERO WIDTH SPACE}"
MARKS = "\N{LEFT-TO-RIGHT MARK}\N{RIGHT-TO-LEFT MARK}\N{ARABIC LETTER MARK}"
NUMBER_SIGNS = (
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)
"""Signs around numbers, which are seen though Unicode counts them among the format characters."""
FLAG, TAGS = "\N{WAVING BLACK FLAG}", range(0xE0020, 0xE0080)
"""A flag of a region is a black flag, and the name of the region in tags."""
MOST_TAGS = 7
"""Characters of such a name with its end."""


def printable(text: str, keep: str = "") -> str:
    """Make a text safe for a terminal: tabs and line breaks become spaces, controls U+FFFD.

    Those in `keep`, such as line breaks, stay.

    Examples
    --------
    >>> printable("a\\tb\\N{RIGHT-TO-LEFT OVERRIDE}c") == "a b\\N{REPLACEMENT CHARACTER}c"
    True
    >>> printable("می\\N{ZERO WIDTH NON-JOINER}خواهم") == "می\\N{ZERO WIDTH NON-JOINER}خواهم"
    True
    """
    if text.isprintable():
        return text
    rtl = has_rtl(text)
    return "".join(
        character
        if character.isprintable() or character in keep or _is_spelling(text, place, rtl)
        else (" " if character.isspace() else REPLACED)
        for place, character in enumerate(text)
    )


def _is_spelling(text: str, place: int, rtl: bool) -> bool:
    """Whether a format character is a part of how a text is spelt."""
    character = text[place]
    if character in (JOINER, NON_JOINER, ZERO_SPACE):
        before, after = text[place - 1 : place], text[place + 1 : place + 2]
        if character == JOINER and not _joins(after):
            return before != "" and unicodedata.category(before)[0] == "M"
        return _joins(before) and _joins(after)
    if character in MARKS:
        return rtl
    if ord(character) in TAGS:
        _, flag, tags = text[max(0, place - MOST_TAGS) : place].rpartition(FLAG)
        return flag == FLAG and all(ord(tag) in TAGS for tag in tags)
    return character in NUMBER_SIGNS


def _joins(character: str) -> bool:
    """Whether a character is one that joiners stand beside: a letter, mark or emoji, not ASCII."""
    return character > "\x7f" and unicodedata.category(character)[0] in "LMS"
