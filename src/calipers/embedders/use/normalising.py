"""Texts normalised as SentencePiece does it, by a table of characters.

The table says for a character, or for a few in a row, what stands in their place: Unicode's NFKC as
it was when the vocabulary was learnt, white space as spaces, control characters left out. Where
several entries begin at a place, the longest is taken. The table is a double-array trie over the
bytes of UTF-8 (Aoe, 1989), with the replacements behind it, each ended by a zero byte.

Most texts need single characters alone, which :meth:`str.translate` replaces by what was looked up
once. Only entries of several characters (a letter with marks, syllables of Hangul in parts) need a
walk; all that can stand behind the first character of one is listed in :data:`_FOLLOW`.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

_FOLLOW = (
    "\u0300-\u0304\u0306-\u030c\u030f\u0311\u0313\u0314\u031b\u0323-\u0328\u032d\u032e\u0330"
    "\u0331\u0338\u0340-\u0343\u0345\u0653-\u0655\u093c\u09be\u09d7\u0b3e\u0b56\u0b57\u0bbe"
    "\u0bd7\u0c56\u0cc2\u0cd5\u0cd6\u0d3e\u0d57\u0dca\u0dcf\u0ddf\u102e\u1161-\u1175"
    "\u11a8-\u11c2\u1b35\u3099\u309a\u3133\u3135\u3136\u313a-\u313f\u314f-\u3163\uff9e\uff9f"
    "\uffa3\uffa5\uffa6\uffaa-\uffaf\uffc2-\uffc7\uffca-\uffcf\uffd2-\uffd7\uffda-\uffdc"
    "\U000110ba\U00011127\U0001133e\U00011357\U000114b0\U000114ba\U000114bd\U000115af"
)
"""All characters that entries of several characters have behind their first; they begin none."""
_SEVERAL = re.compile(f".[{_FOLLOW}]+", re.DOTALL)


class _Table:
    """The trie and the replacements."""

    def __init__(self, content: bytes) -> None:
        (size,) = struct.unpack_from("<I", content)
        self._units = struct.unpack_from(f"<{size // 4}I", content, 4)
        self._replacements = content[4 + size :]

    def longest(self, text: bytes, start: int) -> tuple[str | None, int]:
        """Find the longest entry at a place: what replaces it, and its length; None without one."""
        units, end = self._units, len(text)
        unit = units[0]
        node = _child(unit)
        found, length, place = None, 0, start
        while place < end:
            byte = text[place]
            node ^= byte
            unit = units[node]
            if unit & 0x800000FF != byte:
                break
            node ^= _child(unit)
            place += 1
            if unit & 0x100:
                found, length = units[node] & 0x7FFFFFFF, place - start
        if found is None:
            return None, 0
        stop = self._replacements.index(b"\0", found)
        return self._replacements[found:stop].decode(), length


class _Characters(dict[int, str]):
    """Characters to what stands in their place, looked up when first met."""

    def __init__(self, table: _Table) -> None:
        super().__init__()
        self._table = table

    def __missing__(self, code: int) -> str:
        character = chr(code)
        replaced, _ = self._table.longest(character.encode("utf-8", "surrogatepass"), 0)
        found = self[code] = character if replaced is None else replaced
        return found


def _child(unit: int) -> int:
    """How far the children of a node are, by exclusive or."""
    return (unit >> 10) << ((unit & 0x200) >> 6)


class Normaliser:
    """Normalises texts by a table.

    Parameters
    ----------
    content
        The table, as the vocabulary's file holds it.
    """

    def __init__(self, content: bytes) -> None:
        self._table = _Table(content)
        self._characters = _Characters(self._table)

    def __call__(self, text: str) -> str:
        """Replace characters, and leave single spaces, none at the ends."""
        several = not text.isascii() and _SEVERAL.search(text) is not None
        replaced = "".join(self._parts(text)) if several else text.translate(self._characters)
        return " ".join(filter(None, replaced.split(" ")))

    def _parts(self, text: str) -> Iterator[str]:
        """Give what stands between runs that may hold entries of several characters, and these."""
        place = 0
        for match in _SEVERAL.finditer(text):
            yield text[place : match.start()].translate(self._characters)
            yield from self._walk(match[0])
            place = match.end()
        yield text[place:].translate(self._characters)

    def _walk(self, run: str) -> Iterator[str]:
        """Replace the longest entry at the start of a run; no entry of several begins behind it."""
        content = run.encode("utf-8", "surrogatepass")
        replaced, length = self._table.longest(content, 0)
        rest = len(content[:length].decode()) if replaced is not None else 1
        yield run[:1] if replaced is None else replaced
        yield run[rest:].translate(self._characters)
