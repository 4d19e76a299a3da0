"""NLTK's word tokenizer, exactly, and several times faster on many texts.

``NLTKWordTokenizer`` applies one regular expression after the other to a whole text, splits at
white space in the end, and takes microseconds for each word. Of a text cut at its spaces (U+0020
alone; other white space stays inside its chunk), each chunk can be tokenised by itself, because
no substitution carries anything over a space of the text:

- None removes or changes such a space, so that it stays where it is until the last split.
- A match that holds the space holds nothing beyond it: the space is only ever the first
  (``([ (\\[{<])("|'{2})``, ``([^'])' ``, `` ('t)(is)\\b``) or the last (``([:,])([^\\d])``,
  ``([^' ])('[sS]|…) ``) character of a match, and look-arounds see one character, to which a
  space is what any other end of a word is.
- A space that one match has used up is missing to the next only in ``([^'])' ``, where it would
  have become two spaces instead of one.

What looks further depends on the ends of the text: an opening quote at the start (``^"``, and no
space before ``''``), and at the end the final full stop with all the closing brackets, quotes and
white space behind it, and a final colon or comma. Both ends are tokenised as ends, from the last
chunk that holds anything but closing marks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from calipers.errors import require
from calipers.text.chunk_memo import MARK, ChunkMemo, split_between
from calipers.text.word_numbers import Numbers, Vocabulary, number_splits

OPENING = ('"', "'")
CLOSING = "])}>\"'»”’" + "".join(filter(str.isspace, map(chr, range(0x3001))))
"""What may stand behind a final full stop."""
CONTRACTED = frozenset(["cannot", "gimme", "gonna", "gotta", "lemme", "wanna"])
HEAD, TAIL, WHOLE = " h", " t", " w"
"""How the keys of chunks begin that stand at an end of their text; no chunk holds a space."""
PROVEN = frozenset(["649a4b926711b5d5", "9539067f031859ca", "86458928b6eebb86", "c8c2f87690c0d57d"])
"""Fingerprints of the rules for which the above was read and tested: NLTK 3.9 to 3.10."""


class NltkTokenizer:
    """NLTK's word tokenizer for whole texts, which needs no download."""

    def __init__(self) -> None:
        nltk = require("nltk", extra="nltk", purpose="the tokenizer 'nltk'")
        words = require("nltk.tokenize", extra="nltk", purpose="the tokenizer 'nltk'")
        rules = _without_limit(words.NLTKWordTokenizer(), getattr(nltk, "redos", None))
        self.name = f"nltk-{nltk.__version__}"
        self._tokenize: Callable[[str], list[str]] = rules.tokenize
        self._local = fingerprint(rules) in PROVEN

    def split(self, texts: Sequence[str]) -> Iterable[Sequence[str]]:
        """Split each text into its words and marks, by NLTK alone."""
        return map(self._tokenize, texts)

    def number(self, texts: Sequence[str], vocabulary: Vocabulary) -> Numbers:
        """Number the tokens of each text, looking at each different chunk once."""
        if self._local:
            return ChunkMemo(self, vocabulary).number(texts)
        return number_splits(self.split(texts), vocabulary)

    def keys(self, text: str) -> list[str]:
        """Cut a text at its spaces, and mark what must be tokenised as its start or its end."""
        if not text:
            return []
        if text[-1].isalnum():  # ends like any other chunk
            chunks = text.split(" ")
        else:
            cut = text.rfind(" ", 0, len(text.rstrip(CLOSING)))
            if cut < 0:
                return [WHOLE + text]
            chunks = [*text[:cut].split(" "), *_last(text[cut + 1 :])]
        if chunks[0].startswith(OPENING):
            chunks[0] = HEAD + chunks[0]
        return chunks

    def split_chunks(self, chunks: list[str]) -> Iterable[Sequence[str]]:
        """Tokenise chunks together, each as if between two others."""
        marked = [chunk for chunk in chunks if not _is_plain(chunk)]
        if any(MARK in chunk for chunk in marked):
            splits = [self._tokenize(f"x {chunk} x")[1:-1] for chunk in marked]
        else:
            joined = f" {MARK} ".join(["", *marked, ""])
            splits = list(split_between(self._tokenize(joined), MARK))
        found = dict(zip(marked, splits, strict=True))
        return [found.get(chunk, (chunk,)) for chunk in chunks]

    def split_edge(self, key: str) -> Sequence[str]:
        """Tokenise what stands at the start or end of a text."""
        kind, chunk = key[:2], key[2:]
        if kind == HEAD:
            return self._tokenize(f"{chunk} x")[:-1]
        return self._tokenize(f"x {chunk}")[1:] if kind == TAIL else self._tokenize(chunk)


def _without_limit(rules: Any, redos: Any) -> Any:
    """Let the rules take their time: from 3.10 on NLTK ends a match after some seconds.

    Whether a text has tokens would depend on the machine; the rules take time linear in its length.
    """
    if redos is None:
        return rules
    for name in ("STARTING_QUOTES", "PUNCTUATION", "ENDING_QUOTES"):
        pairs = [(redos.compile(rule, timeout=None), into) for rule, into in getattr(rules, name)]
        setattr(rules, name, pairs)
    for name in ("PARENS_BRACKETS", "DOUBLE_DASHES"):
        rule, into = getattr(rules, name)
        setattr(rules, name, (redos.compile(rule, timeout=None), into))
    return rules


def _last(tail: str) -> list[str]:
    """Cut off a plain full stop, so that fewer different ends are to be tokenised."""
    if tail[-1] == "." and tail[:-1].isalnum():
        return [tail[:-1], f"{TAIL}."]
    return [TAIL + tail]


def _is_plain(chunk: str) -> bool:
    """Whether no rule can match: letters and digits that are not two words in one."""
    return chunk.isascii() and chunk.isalnum() and chunk.lower() not in CONTRACTED


def fingerprint(rules: Any) -> str:
    """Tell sets of rules apart by their expressions and what these are replaced with."""
    pairs = [
        *rules.STARTING_QUOTES,
        *rules.PUNCTUATION,
        rules.PARENS_BRACKETS,
        rules.DOUBLE_DASHES,
        *rules.ENDING_QUOTES,
        *[(rule, "") for rule in (*rules.CONTRACTIONS2, *rules.CONTRACTIONS3)],
    ]
    lines = "\n".join(f"{pattern.pattern}\t{into}" for pattern, into in pairs)
    return hashlib.sha256(lines.encode()).hexdigest()[:16]
