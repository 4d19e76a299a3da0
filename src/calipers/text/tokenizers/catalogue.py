"""Which tokenizers there are, and how a name or a path is understood.

========================  ==========================================================================
``nltk``                  NLTK's ``NLTKWordTokenizer`` on the whole text, so that only the last full
                          stop is split from its word (``13a`` splits all); the default
``whitespace``            what stands between white space
``characters``            every Unicode code point, white space too
``13a``, ``intl``, …      sacrebleu's tokenizers
``minilm``                the word pieces of the packaged all-MiniLM-L6-v2
``hf:NAME_OR_PATH``       any Hugging Face tokenizer on this machine: by its name in the cache, a
                          folder, or a ``tokenizer.json``; a path may also stand by itself
========================  ==========================================================================
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from calipers.errors import InputError, unknown_name
from calipers.files import at_home
from calipers.text.tokenizers import sacrebleu_names
from calipers.text.tokenizers.hugging_face import (
    HUB_NAME,
    PREFIX,
    load_minilm,
    load_named,
    load_path,
)
from calipers.text.tokenizers.nltk_words import NltkTokenizer
from calipers.text.tokenizers.plain import CharacterTokenizer, WhitespaceTokenizer
from calipers.text.tokenizers.protocol import FunctionTokenizer, Tokenizer
from calipers.text.tokenizers.sacrebleu_names import Sacrebleu13a, SacrebleuTokenizer

_OWN: dict[str, Callable[[], Tokenizer]] = {
    "nltk": NltkTokenizer,
    "whitespace": WhitespaceTokenizer,
    "characters": CharacterTokenizer,
    "13a": Sacrebleu13a,
    "minilm": load_minilm,
}
NAMES = (*_OWN, *(name for name in sacrebleu_names.NAMES if name not in _OWN))
"""The tokenizers that have a name of their own."""


def find_tokenizer(tokenizer: Any) -> Tokenizer:
    """Find a tokenizer by its name or path; one of a person's own is returned as it is.

    Parameters
    ----------
    tokenizer
        One of `NAMES`, ``"hf:"`` and the name or path of a Hugging Face tokenizer, a path, an
        object with a `name` and a method ``split(texts)``, or a function from a text to tokens.

    Raises
    ------
    InputError
        If there is no such tokenizer, or it is not on this machine.
    MissingExtraError
        If it needs a package that is not installed.
    """
    if isinstance(tokenizer, str):
        return _by_name(tokenizer) if tokenizer in NAMES else _by_path(tokenizer)
    if isinstance(tokenizer, os.PathLike):
        return _by_path(os.fspath(tokenizer))
    if isinstance(tokenizer, Tokenizer) and not isinstance(tokenizer, type):
        return tokenizer
    if callable(tokenizer):
        return FunctionTokenizer(tokenizer)
    raise InputError(
        "tokenizer must be a name, an object with a name and a method split(texts), or a function "
        f"from a text to its tokens; found {tokenizer!r}"
    )


def _by_name(name: str) -> Tokenizer:
    return _OWN[name]() if name in _OWN else SacrebleuTokenizer(name)


def _by_path(given: str) -> Tokenizer:
    place = given.removeprefix(PREFIX)
    path = at_home(place)
    if place and os.path.exists(path):
        return load_path(path)
    if place and given.startswith(PREFIX):
        return load_named(place)
    if given.startswith(PREFIX):
        raise InputError(f"tokenizer {given!r}: give a name or folder after {PREFIX}")
    if given.lower() in NAMES:
        raise InputError(f"unknown tokenizer {given!r}; did you mean {given.lower()!r}?")
    if _looks_like_path(given):
        cached = f"; one in the Hugging Face cache is written {PREFIX}{given}"
        raise InputError(
            f"no tokenizer {given!r}: there is no folder or file {path.absolute()}"
            f"{cached if HUB_NAME.fullmatch(given) else ''}"
        )
    raise unknown_name("tokenizer", given, [*NAMES, f"{PREFIX}NAME_OR_FOLDER"])


def _looks_like_path(given: str) -> bool:
    return "/" in given or os.sep in given or given.startswith((".", "~"))
