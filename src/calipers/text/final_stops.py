"""The full stop at the end of a text, put back onto its word.

NLTK's word tokenizer splits only the last full stop of a text from its word, so that a sentence
that stands there again and again ends otherwise the last time: ``dog. … dog. … dog`` and ``.``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calipers.text.corpus import Corpus

CLOSING = ("''", "'", '"', "”", "’", "»", ")", "]", "}", ">")
"""Tokens that may stand behind a final full stop."""


def with_final_stops(corpus: Corpus) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Join the final full stop to its word where the same text has that word with its stop.

    Returns
    -------
    tokens, starts
        As those of a corpus; the very same arrays where no text has such an end.
    """
    numbers = {word: number for number, word in enumerate(corpus.words)}
    if "." not in numbers:
        return corpus.tokens, corpus.starts
    closing = {numbers[word] for word in CLOSING if word in numbers}
    tokens, keep = corpus.tokens.copy(), np.ones(len(corpus.tokens), bool)
    spans = zip(corpus.starts[:-1].tolist(), corpus.starts[1:].tolist(), strict=True)
    for text, (start, end) in zip(corpus.texts, spans, strict=True):
        stop = _last(tokens, start, end, closing)
        if stop <= start or tokens[stop] != numbers["."]:
            continue
        found = _with_stop(corpus, text, start, stop, numbers)
        if found is not None:
            first, whole = found
            tokens[first], keep[first + 1 : stop + 1] = whole, False
    if keep.all():
        return corpus.tokens, corpus.starts
    return tokens[keep], np.concatenate([[0], np.cumsum(keep)])[corpus.starts]


def _with_stop(
    corpus: Corpus, text: str, start: int, stop: int, numbers: dict[str, int]
) -> tuple[int, int] | None:
    """Where the last word starts, and the number that it has with its stop earlier in the text.

    A contraction is two tokens at the end of a text and one before it: ``ca``, ``n't``, ``.``.
    """
    words = [corpus.words[token] for token in corpus.tokens[max(start, stop - 2) : stop]]
    bare = text.rstrip("".join(CLOSING) + " \t\r\n")
    for size in (1, 2):
        whole = "".join(words[-size:]) + "."
        joined = size == 1 or (len(words) == size and bare.endswith(whole))
        earlier = corpus.tokens[start : stop - size]
        if joined and (earlier == numbers.get(whole, -1)).any():
            return stop - size, numbers[whole]
    return None


def _last(tokens: NDArray[np.int32], start: int, end: int, closing: set[int]) -> int:
    """The last token of a text that closes nothing; before its start where there is none."""
    while end > start and tokens[end - 1] in closing:
        end -= 1
    return end - 1
