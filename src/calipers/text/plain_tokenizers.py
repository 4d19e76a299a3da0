"""Tokenizers that need no package: what stands between white space, and single characters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from calipers.text.word_numbers import Numbers, Vocabulary, number_splits

CODE_POINTS = 0x110000


class WhitespaceTokenizer:
    """What stands between white space, as ``str.split`` finds it."""

    name = "whitespace"

    def split(self, texts: Sequence[str]) -> Iterable[Sequence[str]]:
        """Split each text at white space."""
        return map(str.split, texts)

    def number(self, texts: Sequence[str], vocabulary: Vocabulary) -> Numbers:
        """Number the words of each text."""
        return number_splits(self.split(texts), vocabulary)


class CharacterTokenizer:
    """Every Unicode code point, white space too.

    White space is kept since without it "now here" and "nowhere" would be the same tokens;
    sacrebleu's ``char`` drops it. An emoji or a Thai syllable of several code points is several
    tokens, and nothing is normalised.
    """

    name = "characters"

    def split(self, texts: Sequence[str]) -> Iterable[Sequence[str]]:
        """Split each text into its code points."""
        return map(list, texts)

    def number(self, texts: Sequence[str], vocabulary: Vocabulary) -> Numbers:
        """Number the code points of each text by way of a table of all there are."""
        table = np.full(CODE_POINTS, -1, np.int32)
        parts = []
        for text in texts:
            codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
            for code in np.unique(codes[table[codes] < 0]).tolist():
                table[code] = vocabulary[chr(code)]
            parts.append(table[codes])
        starts = np.cumsum([0, *map(len, parts)], dtype=np.int64)
        return Numbers(np.concatenate(parts), starts)
