"""How much of a text an embedder reads: the number of words, and of unknown ones.

A tokenizer puts one token, the unknown one, in the place of whatever its vocabulary cannot spell.
Texts of such words have the same vector whatever they say, so that sets of them look alike. Each
embedder that can tell counts them here, text by text, beside what it cut.

A **word** is what Unicode's rules part by boundaries and holds a letter, a digit or a pictorial
sign. Where a script is written without spaces (Chinese, Japanese, Thai, Khmer, Lao, Burmese and a
few others) it is a character or a cluster of them (:mod:`calipers.unicode.words`). A word is
**unread** where the unknown token stands for any part of it, or no token at all. Signs that are no
words but unknown count as one each, so that what is lost of code or formulas is counted too. Of
lists of token ids every id is a word.

A tokenizer also leaves characters out before it looks for tokens: many drop accents and other marks
that combine with a letter, private characters, and the sign that stands for broken bytes. Where
more than `MOST_DROPPED` of them are dropped for each character that is read, the word is unread, or
the whole text; an accent here and there, and the vowels of Arabic and Hebrew, do not make a word
unread. Characters that nobody sees, such as joiners and zero-width spaces, do not count.

What this does not see: tokenizers that fall back to bytes spell every text, also in scripts that
their model has hardly met; and words that are cut into many pieces count as read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import regex
from numpy.typing import NDArray

from calipers.numeric.arrays import Ints
from calipers.unicode.words import word_count, word_spans

if TYPE_CHECKING:
    from calipers.numeric.tiles import Span

MOST_DROPPED = 3
"""Characters dropped for each one that is read; a vocalised Arabic word loses hardly more than one
for each letter."""

_MARK = r"[\p{M}--\p{Default_Ignorable_Code_Point}]"
_DROPPABLE = regex.compile(rf"(?V1)[{_MARK}\ufffd\p{{Co}}\p{{Cn}}]++")
"""What is seen and some tokenizers leave out: marks, broken bytes, private and unassigned ones."""
_MAY_BE_DROPPED = regex.compile(
    rf"(?V1){_MARK}{{{MOST_DROPPED}}}|(?<!\S){_MARK}|[\ufffd\p{{Co}}\p{{Cn}}]"
)
"""Where so much of a text may be left out that a word of it is unread."""


@dataclass(frozen=True, eq=False)
class ReadingCounts:
    """Counts of words, and of unread words, in each text.

    Attributes
    ----------
    words
        Words of each text, int32 of shape (n,).
    unread
        How many of them the embedder does not know, int32 of shape (n,).
    left_out
        Whether unread words leave no trace in a vector, as in a mean over words; else an unknown
        token stands for each.
    """

    words: Ints
    unread: Ints
    left_out: bool = False

    @classmethod
    def of(cls, counts: Iterable[Span]) -> ReadingCounts:
        """Take pairs of the numbers of words and of unread words, one pair for each text."""
        pairs = np.array(list(counts), dtype=np.int32).reshape(-1, 2)
        return cls(pairs[:, 0], pairs[:, 1])

    @classmethod
    def joined(cls, parts: Sequence[ReadingCounts | None]) -> ReadingCounts | None:
        """Concatenate the counts of several parts; None where one of them has none."""
        known = [part for part in parts if part is not None]
        if not known or len(known) < len(parts):
            return None
        return cls(
            np.concatenate([part.words for part in known]),
            np.concatenate([part.unread for part in known]),
            known[0].left_out,
        )

    def __len__(self) -> int:
        return len(self.words)

    def take(self, rows: NDArray[np.intp] | slice) -> ReadingCounts:
        """Keep the counts of some texts."""
        return replace(self, words=self.words[rows], unread=self.unread[rows])

    @property
    def little(self) -> NDArray[np.bool_]:
        """Which texts were less than half read, by words; bool of shape (n,)."""
        return 2 * self.unread > self.words

    @property
    def nothing(self) -> NDArray[np.bool_]:
        """Which texts have words but none that was read; bool of shape (n,)."""
        return (self.unread > 0) & (self.unread >= self.words)


def unread_note(name: str, reading: ReadingCounts) -> str:
    """Describe what an embedder could not read of some texts.

    Examples
    --------
    >>> unread_note("minilm", ReadingCounts.of([(3, 3), (5, 1)]))
    'minilm does not know 50 % of the words; 1 text has no known word'
    """
    lost = int(reading.nothing.sum())
    have = "text has" if lost == 1 else "texts have"
    none = f"; {lost:,} {have} no known word" if lost else ""
    return f"{name} does not know {unread_share(reading)} of the words{none}"


def unread_share(reading: ReadingCounts) -> str:
    """Write the share of unread words."""
    share = float(reading.unread.sum()) / max(1, int(reading.words.sum()))
    percent = f"{100 * share:.0f}" if share > 0.095 else f"{100 * share:.1g}"
    return f"{percent if share == 1 or percent != '100' else 'over 99'} %"


def may_drop(text: str) -> bool:
    """Whether a tokenizer that drops marks would leave a word of a text unread.

    Examples
    --------
    >>> may_drop("café"), may_drop("a" + 9 * "\u0301"), may_drop("\ufffd")
    (False, True, True)
    """
    return not text.isascii() and _MAY_BE_DROPPED.search(text) is not None


def with_dropped(words: int, unread: int, dropped: int, read: int) -> Span:
    """Count a text as unread where most of its characters were dropped.

    Parameters
    ----------
    words, unread
        Its words, and how many of them are unread by themselves.
    dropped, read
        Characters that no token stands for, and those that one does.

    Examples
    --------
    >>> with_dropped(1, 0, 9, 1), with_dropped(0, 0, 9, 0), with_dropped(5, 1, 9, 20)
    ((1, 1), (1, 1), (5, 1))
    """
    if dropped <= MOST_DROPPED * read:
        return words, unread
    return max(words, 1), max(words, 1)


def unread_words(text: str, ids: Sequence[int], spans: Sequence[Span], unknown: int | None) -> Span:
    """Count the words of a text, and those without a token of their own.

    A word is unread where the unknown token stands for a part of it, where none stands for any, or
    where far more of its characters are dropped than read.

    Parameters
    ----------
    text
        As it was given to the tokenizer.
    ids, spans
        Its tokens, and where each stands in it; marks that a model adds have empty spans.
    unknown
        The id of the unknown token; None for a vocabulary without one.
    """
    read, lost, dropped, inside = np.zeros((4, len(text) + 1), np.bool_)
    missing = []
    for token, (start, stop) in zip(ids, spans, strict=True):
        if stop > start:
            (lost if token == unknown else read)[start:stop] = True
            missing += [(start, stop)] if token == unknown else []
    covered = read | lost
    runs = [] if text.isascii() else [match.span() for match in _DROPPABLE.finditer(text)]
    for a, b in runs:
        dropped[a:b] = ~covered[a:b]

    def is_unread(a: int, b: int) -> bool:
        kept = np.count_nonzero(covered[a:b])
        gone = runs and np.count_nonzero(dropped[a:b]) > MOST_DROPPED * kept
        return bool(gone or lost[a:b].any() or not read[a:b].any())

    words = word_spans(text)
    unread = sum(is_unread(a, b) for a, b in words)
    for a, b in words:
        inside[a:b] = True
    signs = sum(not inside[a:b].any() for a, b in missing)
    # Marks that belong to no word
    outside = dropped & ~inside
    signs += sum(int(np.count_nonzero(outside[a:b])) > MOST_DROPPED for a, b in runs)
    gone, kept = int(np.count_nonzero(dropped)), int(np.count_nonzero(covered))
    return with_dropped(len(words) + signs, unread + signs, gone, kept)


@dataclass(frozen=True, eq=False)
class UnknownTokens:
    """Counts the words or tokens that a tokenizer does not know.

    Attributes
    ----------
    unknown
        The id of its unknown token; None without one.
    spell
        Gives for some texts the ids of their tokens and where each stands.
    drops
        Whether what it does not know is left out without a token.
    """

    unknown: int | None
    spell: Callable[[list[str]], list[tuple[Sequence[int], Sequence[Span]]]]
    drops: bool = False

    def read(self, texts: Sequence[str], ids: Sequence[Any], *, skip: int = 0) -> ReadingCounts:
        """Count all words, and the unread ones.

        Parameters
        ----------
        texts
            As they were given to the tokenizer.
        ids
            The tokens of each, a list or an array.
        skip
            Characters at the start of each text that are not the sample's own.
        """
        counts = [(word_count(text[skip:]), 0) for text in texts]
        looked = [
            row
            for row, tokens in enumerate(ids)
            if (self.drops and counts[row][0])
            or _holds(tokens, self.unknown)
            or may_drop(texts[row])
        ]
        spelt = self.spell([texts[row] for row in looked]) if looked else []
        for row, (tokens, spans) in zip(looked, spelt, strict=True):
            inner_spans = [(max(a - skip, 0), max(b - skip, 0)) for a, b in spans]
            counts[row] = unread_words(texts[row][skip:], tokens, inner_spans, self.unknown)
        return ReadingCounts.of(counts)

    def read_ids(self, ids: Sequence[NDArray[Any]]) -> ReadingCounts:
        """Count all tokens, and the unknown ones."""
        return ReadingCounts.of(
            (len(text), 0 if self.unknown is None else int(np.count_nonzero(text == self.unknown)))
            for text in ids
        )


def _holds(tokens: Any, unknown: int | None) -> bool:
    if unknown is None:
        return False
    return bool((tokens == unknown).any()) if isinstance(tokens, np.ndarray) else unknown in tokens


def of_tokenizers(tokenizer: Any, unknown: int | None) -> UnknownTokens:
    """Count what a tokenizer of the package ``tokenizers`` does not know."""

    def spell(texts: list[str]) -> list[tuple[Sequence[int], Sequence[Span]]]:
        return [(encoding.ids, encoding.offsets) for encoding in tokenizer.encode_batch(texts)]

    return UnknownTokens(unknown, spell)


_RARE = "\U00010380\U0001f6d8"
"""Signs that hardly a vocabulary holds; one that spells bytes spells them too."""


def of_transformers(tokenizer: Any) -> UnknownTokens:
    """Count what a tokenizer of transformers does not know.

    An unknown token that also opens or closes texts, as that of GPT-2, never stands for a word:
    such vocabularies spell every text.
    """
    unknown = _unknown_id(tokenizer)
    quiet = {"return_attention_mask": False, "verbose": False}

    def spell(texts: list[str]) -> list[tuple[Sequence[int], Sequence[Span]]]:
        if not getattr(tokenizer, "is_fast", False):
            return [_by_pieces(text, plain, unknown) for text in texts]
        encoded = tokenizer(texts, return_offsets_mapping=True, **quiet)
        return list(zip(encoded["input_ids"], encoded["offset_mapping"], strict=True))

    def plain(text: str) -> list[int]:
        ids: list[int] = tokenizer(text, add_special_tokens=False, **quiet)["input_ids"]
        return ids

    return UnknownTokens(unknown, spell, drops=unknown is None and _leaves_out(plain))


def _unknown_id(tokenizer: Any) -> int | None:
    """The id of the unknown token: that of the vocabulary, else that which transformers names."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    unknown_word = getattr(getattr(backend, "model", None), "unk_token", None)
    unknown_id = (
        None if unknown_word is None or backend is None else backend.token_to_id(unknown_word)
    )
    if unknown_id is None:
        unknown_id = getattr(tokenizer, "unk_token_id", None)
    marks = [getattr(tokenizer, f"{name}_token_id", None) for name in ("bos", "eos")]
    return None if unknown_id is None or unknown_id in marks else int(unknown_id)


def _leaves_out(encode: Callable[[str], list[int]]) -> bool:
    """Whether a tokenizer without an unknown token leaves out what it does not know."""
    try:
        return not encode(_RARE)
    except Exception:  # one that must refuse such a text does not leave it out
        return False


def of_library(tokenizer: Any) -> UnknownTokens:
    """Count what a word tokenizer of sentence-transformers leaves out.

    What it was told to leave out, its stop words, counts as read.
    """
    stop_words = set(getattr(tokenizer, "stop_words", None) or ())

    def plain(text: str) -> list[int]:
        if text.lower() in stop_words:
            return [0]
        ids: list[int] = list(tokenizer.tokenize(text))
        return ids

    def spell(texts: list[str]) -> list[tuple[Sequence[int], Sequence[Span]]]:
        return [_by_pieces(text, plain, None) for text in texts]

    return UnknownTokens(None, spell, drops=True)


def _by_pieces(
    text: str, encode: Callable[[str], list[int]], unknown: int | None
) -> tuple[Sequence[int], Sequence[Span]]:
    """Spell a text by a tokenizer that does not tell where its tokens stand.

    What stands between spaces is spelt by itself. Where something of it is unknown, so is each of
    its words that is unknown alone; all of them, where none is.
    """
    ids: list[int] = []
    spans: list[Span] = []

    def add(piece_ids: Sequence[int], span: Span) -> None:
        ids.extend(piece_ids)
        spans.extend([span] * len(piece_ids))

    for chunk in re.finditer(r"\S+", text):
        start, piece_ids = chunk.start(), encode(chunk[0])
        if piece_ids and unknown not in piece_ids:
            for span in _read_spans(chunk, piece_ids, encode):
                add(piece_ids, span)
            continue
        words = [(start + a, start + b) for a, b in word_spans(chunk[0])]
        alone = [encode(text[a:b]) for a, b in words]
        if unknown is not None and not any(unknown in word_ids for word_ids in alone):
            add([unknown], chunk.span())
            continue
        for word_ids, span in zip(alone, words, strict=True):
            add(word_ids, span)
    return ids, spans


def _read_spans(
    chunk: re.Match[str], ids: Sequence[int], encode: Callable[[str], list[int]]
) -> list[Span]:
    """Tell where a chunk's tokens stand: not on what may be dropped, where that changes none."""
    start, text = chunk.start(), chunk[0]
    rest = _DROPPABLE.sub("", text) if may_drop(text) else ""
    if not rest or encode(rest) != ids:
        return [chunk.span()]
    ends = [0, *(place for match in _DROPPABLE.finditer(text) for place in match.span()), len(text)]
    pairs = zip(ends[::2], ends[1::2], strict=True)
    return [(start + a, start + b) for a, b in pairs if b > a]
