"""The human texts of the demo: prose within every Python installation, so nothing is fetched.

``pydoc_data.topics`` holds the language reference as plain text, wrapped at 70 columns, with
headings, grammar, examples and tables between the paragraphs. A block of lines counts as prose
when it is evenly indented, consists of words, and begins and ends as a sentence does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

from calipers.errors import CalipersError

SHORTEST, LONGEST = 20, 100
"""Smallest and largest number of words in a paragraph."""

WORD_SHARE = 0.8
"""Smallest share of a paragraph's words that look like words, and not like code."""

_EMPHASIS = re.compile(r"(?<![\w*\"'])\*{1,2}(\w(?:[^*\"]*\w)?)\*{1,2}(?![\w*\"'])")
_FOOTNOTE_MARK = re.compile(r" ?\[\d+\](?=[\s.,;:)]|$)")
_BULLET = re.compile(r" *(?:[*-]|\d+\.|\(?\d+\)) +")
_CHANGE_NOTE = re.compile(r"(?:New|Added|Changed) in version|Deprecated since|Source code:")
_NOT_PROSE = re.compile(r"::=|>>>|\.\.\. |[=*~^-]{4}|^\[\d+\]|^\+-|^\||\|$", re.MULTILINE)
_WORD = re.compile(r"[(“‘]*[A-Za-z]+(?:[-’'/][A-Za-z]+)*[”’]?[.,;:!?)”’]*")
_SENTENCE = re.compile(r"[(“‘]*(?:[A-Z]|[\"'].).*[.:!?][)”’\"]*", re.DOTALL)


def paragraphs() -> list[str]:
    """List the paragraphs of human prose in this Python installation, without repeats.

    Raises
    ------
    CalipersError
        If this Python was installed without its documentation.
    """
    try:
        from pydoc_data.topics import topics
    except ImportError as error:
        raise CalipersError(
            "the demo reads the documentation inside Python (the module pydoc_data.topics), "
            "which this Python was installed without"
        ) from error
    return prose(topics.values())


def prose(documents: Iterable[str]) -> list[str]:
    """Extract the prose paragraphs of plain-text documents, in order, without repeats."""
    blocks = (block for document in documents for block in re.split(r"\n\s*\n", document))
    texts = (_flow(_aligned(block.splitlines())) for block in blocks)
    return list(dict.fromkeys(text for text in texts if _is_prose(text)))


def _aligned(lines: list[str]) -> list[str]:
    """Return the evenly indented lines of a block, or none where it is laid out in some way."""
    if bullet := _BULLET.match(lines[0]) if lines else None:
        lines = [" " * bullet.end() + lines[0][bullet.end() :], *lines[1:]]
    indents = [len(line) - len(line.lstrip()) for line in lines]
    if len(lines) > 2 and indents[0] < indents[1]:  # a term, then its definition
        lines, indents = lines[1:], indents[1:]
    return lines if all(a == b for a, b in pairwise(indents)) else []


def _flow(lines: list[str]) -> str:
    """Join wrapped lines, also where a compound was broken at its hyphen, and drop the markup."""
    text = "\n".join(line.strip() for line in lines)
    if _NOT_PROSE.search(text):
        return ""
    text = " ".join(re.sub(r"(?<=\w-)\n(?=\w)", "", text).split())
    return _FOOTNOTE_MARK.sub("", _EMPHASIS.sub(r"\1", text))


def _is_prose(text: str) -> bool:
    words = text.split()
    return (
        SHORTEST <= len(words) <= LONGEST
        and _SENTENCE.fullmatch(text) is not None
        and _CHANGE_NOTE.match(text) is None
        and sum(_WORD.fullmatch(word) is not None for word in words) >= WORD_SHARE * len(words)
    )
