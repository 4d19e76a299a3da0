"""A unigram vocabulary of SentencePiece: reading its file, and tokenising texts.

The file is a protocol buffer with the pieces (field 1: text, score, kind) and what normalises a
text (field 3, in which field 2 is the table of characters). A text is normalised
(:mod:`~calipers.embedders.use.normalising`) and cut into the pieces whose scores have the largest
sum, by the package tokenizers, which does what SentencePiece does. A character that no piece has
is the unknown piece; each one counts, as in the package that publishes the weights, while
SentencePiece and tokenizers put one unknown piece in the place of several in a row.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from calipers.embedders.reading import ReadingCounts, may_drop, unread_words, with_dropped
from calipers.embedders.use.normalising import Normaliser
from calipers.unicode.words import word_count

UNKNOWN, BEGIN, END = 0, 1, 2
"""Ids of the pieces that stand for what is unknown, and before and behind every text."""


class Vocabulary(NamedTuple):
    """The contents of a vocabulary file.

    Attributes
    ----------
    pieces
        Each piece with its score, in the order of their ids.
    table
        The table that characters are normalised by.
    """

    pieces: list[tuple[str, float]]
    table: bytes


def read_vocabulary(content: bytes) -> Vocabulary:
    """Read a vocabulary file.

    Raises
    ------
    ValueError
        If it is not such a file.
    """
    pieces: list[tuple[str, float]] = []
    table = b""
    for number, value in _fields(content):
        if number == 1:
            pieces.append(_usual_piece(value) or _piece(value))
        elif number == 3:
            table = next((part for inner, part in _fields(value) if inner == 2), b"")
    return Vocabulary(pieces, table)


_USUAL = re.compile(rb"\n([\0-\x7f])(.*)\x15(....)(?:\x18[\0-\x7f])?", re.DOTALL)
"""A short text, its score and maybe its kind, in this order: so are all pieces written."""


def _usual_piece(message: bytes) -> tuple[str, float] | None:
    """Read a piece of the usual form at once; None where it has another."""
    read = _USUAL.fullmatch(message)
    if read is None or read[1][0] != len(read[2]):
        return None
    return read[2].decode(), _SCORE.unpack(read[3])[0]


def _piece(message: bytes) -> tuple[str, float]:
    text, score = b"", 0.0
    for number, value in _fields(message):
        if number == 1:
            text = value
        elif number == 2:
            score = _SCORE.unpack(value)[0]
    return text.decode(), score


_SCORE = struct.Struct("<f")


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Return the number of each field and its bytes; of a whole number none."""
    place, end = 0, len(message)
    while place < end:
        key, place = _whole(message, place)
        kind, length = key & 7, 0
        if kind == 0:
            _, place = _whole(message, place)
        elif kind == 1:
            length = 8
        elif kind == 2:
            length, place = _whole(message, place)
        elif kind == 5:
            length = 4
        else:
            raise ValueError(f"a field of kind {kind}")
        if place + length > end:
            raise ValueError("a field ends behind its message")
        yield key >> 3, message[place : place + length]
        place += length


def _whole(message: bytes, place: int) -> tuple[int, int]:
    """Read a whole number, seven bits a byte; give what follows, too."""
    if place < len(message) and message[place] < 128:
        return message[place], place + 1
    value = shift = 0
    while True:
        if place >= len(message):
            raise ValueError("a number ends behind its message")
        byte = message[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
        shift += 7


SPACE = "\u2581"
"""Stands in the place of a space, and before every text."""


WRITTEN_AS_SPACES = (SPACE, "\ufffd")
"""Signs that are seen, and of which the table of characters makes spaces."""


class Tokenizer:
    """Splits texts into pieces, and counts unknown words.

    Parameters
    ----------
    content
        The bytes of the vocabulary's file.
    """

    def __init__(self, content: bytes) -> None:
        from tokenizers import Tokenizer as Unigram
        from tokenizers.models import Unigram as Model

        vocabulary = read_vocabulary(content)
        self._normalise = Normaliser(vocabulary.table)
        self._unknown_piece = vocabulary.pieces[UNKNOWN][0]
        self._model = Unigram(Model(vocabulary.pieces, unk_id=UNKNOWN))

    def encode(self, texts: Sequence[str]) -> tuple[list[list[int]], ReadingCounts]:
        """Return the ids of the pieces of each text, and its unknown words.

        A text without anything is one unknown piece, as in the package that publishes the weights.
        Words are counted in the text as it is cut, after it was normalised; the signs that are
        written as spaces, and are seen, count as unread ones.

        Raises
        ------
        UnicodeEncodeError
            If a text cannot be written as UTF-8.
        """
        plain = [self._normalise(text) for text in texts]
        ids = [cut.ids or [UNKNOWN] for cut in self._model.encode_batch_fast(_with_spaces(plain))]
        reading = [(word_count(text), 0) for text in plain]
        looked = [
            row
            for row, text in enumerate(plain)
            if text and (UNKNOWN in ids[row] or may_drop(text))
        ]
        cuts = self._model.encode_batch(_with_spaces([plain[row] for row in looked]))
        for row, cut in zip(looked, cuts, strict=True):
            spans = [(max(start - 1, 0), stop - 1) for start, stop in cut.offsets]
            reading[row] = unread_words(plain[row], cut.ids, spans, UNKNOWN)
            ids[row] = self._each_unknown(cut)
        for row, text in enumerate(texts):
            if not text.isascii() and (gone := sum(map(text.count, WRITTEN_AS_SPACES))):
                words, unread = reading[row]
                reading[row] = with_dropped(words + gone, unread + gone, gone, len(plain[row]))
        return [[BEGIN, *text, END] for text in ids], ReadingCounts.of(reading)

    def _each_unknown(self, cut: Any) -> list[int]:
        """Return the ids of a text, one for each unknown character in a row."""
        ids: list[int] = []
        for piece, text in zip(cut.ids, cut.tokens, strict=True):
            times = len(text.replace(self._unknown_piece, "?")) if piece == UNKNOWN else 1
            ids += [piece] * times
        return ids


def _with_spaces(texts: list[str]) -> list[str]:
    """Write spaces as the pieces have them, one before every text and none behind it."""
    return [(SPACE + text.replace(" ", SPACE)).rstrip(SPACE) for text in texts]
