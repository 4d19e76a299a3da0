"""Display width of texts in a terminal, and cuts between grapheme clusters.

A letter of Chinese, Japanese or Korean and an emoji take two cells; combining marks, joiners and
variation selectors take none. What a reader takes for one character, such as a flag, a family or a
consonant with its vowel signs, is a grapheme cluster (Unicode Standard Annex 29), and no cut goes
through one. A line may end at a space, between ideographs or kana, and, where a word of a script
without spaces has no room, between any two of its clusters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

MOST_MARKS = 4
"""Characters to a cell that a shortened text may have, since some take no room."""
LARGEST_CLUSTER = 16
"""Characters that a cluster may have and stay whole; more are marks piled upon marks."""

ISOLATE = "\N{FIRST STRONG ISOLATE}"
ISOLATED = "\N{POP DIRECTIONAL ISOLATE}\N{LEFT-TO-RIGHT MARK}"
"""What ends it, and where a terminal has dropped its begin keeps numbers on their side."""
FIRST_RTL = "\u0590"
"""No character before it is written from right to left."""

OPENING = "([{<‘“‚„«‹「『【〔〈《（［｛｟〘〖〝"
CLOSING = (
    ")]}>’”»›」』】〕〉》）］｝｠〙〗〟、。，．：；！？!?,.:;…‥・ーｰ々〻ゝゞヽヾ〜～％%"
    "ぁぃぅぇぉっゃゅょゎゕゖァィゥェォッャュョヮヵヶ"
)
"""What no line begins with."""

_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff]")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\ua9e0-\ua9ff\uaa60-\uaadf]"
)
"""Thai, Lao, Burmese, Khmer and their neighbours, written without spaces."""
_BREAKING = "\u200b\u0f0b"
"""Behind these, a zero width space and the Tibetan tsheg, a line may end too."""
_WORD_OR_SPACE = re.compile(r"[ \t\n\r\f\v]+|[^ \t\n\r\f\v]+")


def cell_len(text: str) -> int:
    """Return the number of terminal cells of a text on one line.

    Examples
    --------
    >>> cell_len("model"), cell_len("模型"), cell_len("e\\u0301"), cell_len("👩\\u200d💻")
    (5, 4, 1, 2)
    """
    if text.isascii() and text.isprintable():
        return len(text)
    from wcwidth import width

    return width(text, control_codes="ignore")


def clusters(text: str) -> Iterator[str]:
    """Yield the grapheme clusters of a text.

    Examples
    --------
    >>> [len(cluster) for cluster in clusters("e\\u0301🇯🇵क्षि")]
    [2, 2, 4]
    """
    if text.isascii() and "\r" not in text:
        return iter(text)
    return _with_vowels(text)


def fits(text: str, width: int) -> bool:
    """Whether a text fits into so many cells, without too many combining marks."""
    return len(text) <= _most(width) and cell_len(text) <= width


def head_of(text: str, width: int) -> str:
    """Return the clusters from the start that fit into `width` cells.

    Examples
    --------
    >>> head_of("模型一号", 5)
    '模型'
    """
    return text[: sum(map(len, _fitting(clusters(text), width)))]


def tail_of(text: str, width: int) -> str:
    """Return the clusters from the end that fit into `width` cells."""
    taken = sum(map(len, _fitting(reversed(list(clusters(text))), width)))
    return text[len(text) - taken :]


def cut(text: str, most: int) -> str:
    """Return the first characters, without splitting a cluster.

    Examples
    --------
    >>> cut("a🇯🇵", 2)
    'a'
    """
    if len(text) <= most or (text.isascii() and "\r" not in text):
        return text[:most]
    end = 0
    for cluster in clusters(text[: most + LARGEST_CLUSTER]):
        if end + len(cluster) > most:
            return text[:most] if len(cluster) > LARGEST_CLUSTER else text[:end]
        end += len(cluster)
    return text[:end]


def padded(text: str, width: int, *, right: bool = False) -> str:
    """Pad a text to a width, on the left or right.

    Examples
    --------
    >>> padded("模", 4) + "|", padded("模", 4, right=True) + "|"
    ('模  |', '  模|')
    """
    space = " " * (width - cell_len(text))
    return space + text if right else text + space


def filled(text: str, width: int, *, first: str = "", rest: str = "") -> list[str]:
    """Wrap a text into lines of at most `width` cells, as its script allows.

    A word that is wider than a line stays whole on one of its own, unless its script has no spaces.

    Parameters
    ----------
    text
        Its spaces are kept within lines, and left out at their ends.
    width
        Cells of a line.
    first, rest
        What the first line begins with, and all others.

    Examples
    --------
    >>> filled("統計的に有意な差。", 8)
    ['統計的に', '有意な', '差。']
    >>> filled("a word and a_very_long_one", 6)
    ['a word', 'and', 'a_very_long_one']
    """
    lines: list[str] = []
    line: list[str] = []
    taken = 0

    def end_line() -> None:
        if line and line[-1].isspace():
            line.pop()
        if line:
            lines.append((rest if lines else first) + "".join(line))
        line.clear()

    for piece in _units(text, max(1, width - cell_len(rest))):
        size = cell_len(piece)
        room = width - cell_len(rest if lines else first)
        if line and taken + size > room:
            end_line()
            taken = 0
        if piece.isspace() and not line and lines:
            continue
        line.append(piece)
        taken += size
    end_line()
    return lines


def has_rtl(text: str) -> bool:
    """Whether a text has letters of a right-to-left script."""
    return bool(text) and max(text) >= FIRST_RTL and any(map(_is_rtl, text))


def isolated(text: str) -> str:
    """Isolate a right-to-left text from the rest of its line.

    A terminal that reorders such texts would else take the numbers behind a name for a part of it
    and show them on the other side. The marks take no room.

    Examples
    --------
    >>> isolated("model") == "model", isolated("نظام") == f"{ISOLATE}نظام{ISOLATED}"
    (True, True)
    """
    return f"{ISOLATE}{text}{ISOLATED}" if has_rtl(text) else text


def runs_isolated(text: str, names: Iterable[str] = ()) -> str:
    """Isolate names and other right-to-left text from the rest of a line.

    Examples
    --------
    >>> runs_isolated("1 נ, 2") == f"1 {ISOLATE}נ{ISOLATED}, 2"
    True
    """
    if not has_rtl(text):
        return text
    return "".join(isolated(piece) if apart else piece for piece, apart in pieces(text, names))


def pieces(text: str, names: Iterable[str] = ()) -> Iterator[tuple[str, bool]]:
    """Split a text where its direction changes, and tell which pieces to isolate.

    These are the `names` in it that have letters written from right to left, whole, and elsewhere
    what lies from such a letter to the last one before a letter that is written to the right.
    """
    known = sorted((n for n in names if n in text and has_rtl(n)), key=len, reverse=True)
    if not known:
        yield from _runs(text)
        return
    parts = text.split(known[0])
    for place, part in enumerate(parts):
        if place:
            yield known[0], True
        yield from pieces(part, known[1:])


def _runs(text: str) -> Iterator[tuple[str, bool]]:
    begin, end, written = -1, -1, 0
    for place, character in enumerate(f"{text}x"):  # what closes the last run
        way = unicodedata.bidirectional(character)
        if _is_rtl(character):
            begin, end = (place if begin < 0 else begin), place + 1
        elif way == "NSM" and place == end:
            end += 1
        elif (way == "L" or character in ISOLATE + ISOLATED) and begin >= 0:
            if written < begin:
                yield text[written:begin], False
            yield text[begin:end], True
            written, begin = end, -1
    if written < len(text):
        yield text[written:], False


def _with_vowels(text: str) -> Iterator[str]:
    """Yield clusters, and with a letter of Burmese the vowel signs that the annex sets apart."""
    from calipers.unicode.words import graphemes

    whole = ""
    for cluster in graphemes(text):
        if whole and unicodedata.category(cluster[0]) not in ("Mc", "Mn", "Me"):
            yield whole
            whole = ""
        whole += cluster
    if whole:
        yield whole


def _is_rtl(character: str) -> bool:
    """Whether it is a letter that is written from right to left, and no mark of direction."""
    way = unicodedata.bidirectional(character)
    return way in ("R", "AL") and unicodedata.category(character) != "Cf"


def _most(width: int) -> int:
    """How many characters a text of so many cells may have."""
    return max(LARGEST_CLUSTER, MOST_MARKS * width)


def _fitting(parts: Iterator[str], width: int) -> Iterator[str]:
    """Yield clusters while they fit; of one that is a pile of marks, what there is room for."""
    room, letters = width, _most(width)
    for part in parts:
        room -= cell_len(part)
        if room < 0:
            return
        if len(part) > letters:
            if len(part) > LARGEST_CLUSTER:
                yield part[:letters]
            return
        yield part
        letters -= len(part)


def _units(text: str, width: int) -> Iterator[str]:
    """Yield spaces, and what stands between two places where a line may end."""
    for match in _WORD_OR_SPACE.finditer(text):
        word = match[0]
        if word.isascii():
            yield " " * len(word) if word.isspace() else word
            continue
        for piece in _broken(word):
            if cell_len(piece) > width and _UNSPACED.search(piece):
                yield from _apart(piece)
            else:
                yield piece


def _broken(word: str) -> Iterator[str]:
    """Break a word between ideographs, but not before what closes nor behind what opens."""
    piece = ""
    for cluster in clusters(word):
        if piece and _may_break(piece[-1], piece, cluster):
            yield piece
            piece = ""
        piece += cluster
    yield piece


def _apart(piece: str) -> Iterator[str]:
    """Break a piece between any two clusters, but not before what closes nor behind what opens."""
    whole = ""
    for cluster in clusters(piece):
        if whole and cluster[0] not in CLOSING and whole[-1] not in OPENING:
            yield whole
            whole = ""
        whole += cluster
    yield whole


def _may_break(last: str, piece: str, cluster: str) -> bool:
    if last in _BREAKING:
        return True
    if last in OPENING or cluster[0] in CLOSING:
        return False
    return _is_ideographic(_base(piece)) or _is_ideographic(cluster[0])


def _base(piece: str) -> str:
    """The last character of a piece that is no mark."""
    return next((c for c in reversed(piece) if unicodedata.category(c)[0] not in "MC"), piece[-1])


def _is_ideographic(character: str) -> bool:
    wide = unicodedata.east_asian_width(character) in "WF"
    return wide and not _HANGUL.match(character)
