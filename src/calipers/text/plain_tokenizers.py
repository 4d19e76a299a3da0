"""Tokenizers without dependencies: whitespace, and single characters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from calipers.text.word_numbers import Numbers, Vocabulary, number_splits
from calipers.unicode.words import graphemes, regex_version, stand_alone

CODE_POINTS = 0x110000


class WhitespaceTokenizer:
    """Splits texts at white space, as ``str.split`` does."""

    name = "whitespace"

    def split(self, texts: Sequence[str]) -> Iterable[Sequence[str]]:
        """Split each text at white space."""
        return map(str.split, texts)

    def number(self, texts: Sequence[str], vocabulary: Vocabulary) -> Numbers:
        """Number the words of each text."""
        return number_splits(self.split(texts), vocabulary)


class CharacterTokenizer:
    """Splits texts into visible characters (extended grapheme clusters, UAX #29) and white space.

    An accent belongs to its letter, a vowel sign to its consonant, and an emoji of several code
    points is one character. White space is kept since without it "now here" and "nowhere" would be
    the same tokens; sacrebleu's ``char`` drops it, and takes code points.
    """

    name = f"characters-regex-{regex_version()}"

    def split(self, texts: Sequence[str]) -> Iterable[Sequence[str]]:
        """Split each text into its characters."""
        return map(graphemes, texts)

    def number(self, texts: Sequence[str], vocabulary: Vocabulary) -> Numbers:
        """Number the characters of each text, by a table for single code points."""
        table = np.full(CODE_POINTS, -1, np.int32)
        parts = []
        for text in texts:
            if not stand_alone(text):
                parts.append(np.array([vocabulary[c] for c in graphemes(text)], np.int32))
                continue
            codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
            for code in np.unique(codes[table[codes] < 0]).tolist():
                table[code] = vocabulary[chr(code)]
            parts.append(table[codes])
        starts = np.cumsum([0, *map(len, parts)], dtype=np.int64)
        return Numbers(np.concatenate(parts), starts)
