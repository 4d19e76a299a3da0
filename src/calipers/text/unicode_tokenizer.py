"""Words by the rules of Unicode, and the default tokenizer, which uses them outside English.

NLTK's rules are made for English. They know no mark of another script (``。``, ``؟``, ``।``), and a
text in a script without spaces is one token to them. `AutoTokenizer` therefore takes them only
where at most `FEW` of the characters of every set are letters that English does not have, as in
names (or at most `NAMES` are, all with accents); else :class:`UnicodeTokenizer`. That is decided
once, over all sets that are tokenised together, so that sets which are compared are never cut by
different rules. Of the languages that are written with Latin letters, Indonesian, Swahili and often
Dutch pass for English; what the two tokenizers make of them differs little.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from calipers.text.chunk_memo import ChunkMemo
from calipers.text.nltk_tokenizer import NltkTokenizer
from calipers.text.word_numbers import Numbers, Vocabulary
from calipers.unicode.scripts import letters
from calipers.unicode.words import cut_chunk, regex_version, words_and_marks

FEW = 0.005
"""Of the characters; German has 0.015, Italian 0.008, English with foreign names below 0.001."""

NAMES = 4
"""Letters with accents that a set of any size may have."""

_ACCENTED = re.compile("[\u00aa-\u024f\u1e00-\u1eff]+")
_OTHERS = re.compile("[^\\0-\u024f\u1e00-\u1eff]+")


class UnicodeTokenizer:
    """Words and marks of any script, split as by :mod:`calipers.unicode.words`.

    White space ends every token, so the chunks of a text between it can be cut by themselves.
    """

    name = f"unicode-regex-{regex_version()}"

    def split(self, texts: Sequence[str]) -> Iterable[Sequence[str]]:
        """Split each text into its words and marks."""
        return map(words_and_marks, texts)

    def number(self, texts: Sequence[str], vocabulary: Vocabulary) -> Numbers:
        """Number the words and marks of each text, tokenising each distinct chunk once."""
        return ChunkMemo(self, vocabulary).number(texts)

    def keys(self, text: str) -> list[str]:
        """Split a text at its white space."""
        return text.split()

    def split_chunks(self, chunks: list[str]) -> Iterable[Sequence[str]]:
        """Tokenise chunks independently."""
        return map(cut_chunk, chunks)

    def split_edge(self, key: str) -> Sequence[str]:
        """Tokenise a chunk at the end of a text; no such chunk differs from others."""
        return cut_chunk(key)


class AutoTokenizer:
    """Chooses the tokenizer by the texts: NLTK's rules for English, Unicode's for all others."""

    name = "auto"

    def choose(self, sets: Iterable[Sequence[str]]) -> NltkTokenizer | UnicodeTokenizer:
        """Choose one tokenizer for all sets of a comparison."""
        return UnicodeTokenizer() if any(map(has_foreign_letters, sets)) else NltkTokenizer()

    def split(self, texts: Sequence[str]) -> Iterable[Sequence[str]]:
        """Split each text by the tokenizer for these texts."""
        return self.choose([texts]).split(texts)


def has_foreign_letters(texts: Sequence[str]) -> bool:
    """Whether non-English letters are more frequent in a set than names account for.

    Emoji and other pictures count where they are most of the characters.

    Examples
    --------
    >>> [has_foreign_letters([text]) for text in ("The café was open.", "Кафе открыто.")]
    [False, True]
    """
    characters = accented = others = signs = 0
    for text in texts:
        characters += len(text)
        if not text.isascii():
            accented += letters("".join(_ACCENTED.findall(text)))
            found = "".join(_OTHERS.findall(text))
            signs += len(found)
            others += letters(found)
    most = FEW * characters
    return (
        others > most or accented + others > max(most, NAMES) or 2 * (signs - others) > characters
    )
