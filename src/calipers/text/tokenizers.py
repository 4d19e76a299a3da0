"""The tokenizers by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from calipers.errors import require, unknown_name


class NltkTokenizer:
    """NLTK's word tokenizer, which needs no download."""

    name = "nltk"

    def __init__(self) -> None:
        nltk = require("nltk.tokenize", extra="nltk", purpose="the tokenizer 'nltk'")
        self._split = nltk.NLTKWordTokenizer().tokenize

    def split(self, texts: Sequence[str]) -> Iterable[Sequence[str]]:
        """Split each text into its words and marks."""
        return map(self._split, texts)


class WhitespaceTokenizer:
    """What stands between white space."""

    name = "whitespace"

    def split(self, texts: Sequence[str]) -> Iterable[Sequence[str]]:
        """Split each text at white space."""
        return map(str.split, texts)


_KNOWN = {"nltk": NltkTokenizer, "whitespace": WhitespaceTokenizer}


def find_tokenizer(name: str) -> NltkTokenizer | WhitespaceTokenizer:
    """Find a tokenizer by its name."""
    if name not in _KNOWN:
        raise unknown_name("tokenizer", name, _KNOWN)
    return _KNOWN[name]()
