"""Repetition: texts that end in a loop, and repeated n-grams within a text.

- repetition_frequency: the share of texts that end in at least two contiguous copies of the same
  phrase of any length, in tokens: Pillutla et al., JMLR 2023, section 6.3.
- rep_n: 1 - different n-grams / all n-grams of a text, averaged over the texts, which is 1 less
  Distinct-n per sample: "seq-rep-n" of Welleck et al., "Neural Text Generation With Unlikelihood
  Training", ICLR 2020. Su et al., NeurIPS 2022, give 100 times it, pool the n-grams of all texts
  before they divide, and their script leaves out the last n-gram of each text.

The script of Holtzman et al., ICLR 2020, counts fewer texts as repetitive: it takes the phrase of
at most 90 tokens with the most copies (the shortest of equals), and asks for two copies if the
phrase has three tokens or more, and for more than 50 if it is shorter. With
``found = repeated_endings(texts, longest=90)`` that is
``(found.copies > 1) & ((found.lengths > 2) | (found.copies > 50))``.

NLTK's tokenizer takes only the last full stop of a text off its word, so that a sentence that
comes again and again ends otherwise the last time, ``dog. … dog. … dog`` and ``.``. So a text is
searched twice: as it is, and with that stop put back where the text has the same word with its
stop before (closing quotes and brackets stay behind it). The search that finds more copies counts.
So "It was a dog. It was a dog." is a loop, of four tokens.

By the rule of the paper, "…!!" ends in a repeated phrase where the tokenizer takes the marks
apart, so compare the share with that of people's texts. A loop that is broken off in the middle
of a phrase is still seen (the phrase then begins elsewhere); one that varies, or that the text got
out of, is not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calipers.errors import checks_keywords
from calipers.numeric import native
from calipers.numeric.arrays import Ints, Longs
from calipers.numeric.validation import check_whole
from calipers.score import Score
from calipers.text.corpus import Corpus
from calipers.text.distinct_ngrams import own_shares, too_short
from calipers.text.ngrams import check_order
from calipers.text.scoring import Chosen, TextPair, mean_score, text_score
from calipers.text.tokens import AnyTokenizer, Texts, as_corpus

CLOSING = ("''", "'", '"', "”", "’", "»", ")", "]", "}", ">")
"""Tokens that may stand behind a final full stop."""


def with_final_stops(corpus: Corpus) -> tuple[Ints, Longs]:
    """Attach the final full stop to its word where the text also has that word with a stop.

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
        ending = _with_stop(corpus, text, start, stop, numbers)
        if ending is not None:
            first, whole = ending
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


def _last(tokens: Ints, start: int, end: int, closing: set[int]) -> int:
    """The last token of a text that closes nothing; before its start where there is none."""
    while end > start and tokens[end - 1] in closing:
        end -= 1
    return end - 1


def repeated_ends(tokens: Ints, starts: Longs, longest: int) -> tuple[Longs, Longs]:
    """Find the phrase with the most copies at each text's end: its length and number."""
    lengths, copies = (np.empty(len(starts) - 1, np.int64) for _ in range(2))
    half = int(np.diff(starts).max(initial=0)) // 2
    agrees = np.empty(min(half, longest) + 1, np.int64)
    _find_repeated(tokens, starts, longest, agrees, lengths, copies)
    return lengths, copies


_find_repeated = native.kernel(
    "find_repeated_ends",
    "tokens i4[total]",
    "starts i8[bounds]",
    "longest int",
    "agrees i8[room] out",
    "lengths i8[texts] out",
    "copies i8[texts] out",
)


@dataclass(frozen=True, eq=False)
class RepeatedEndings:
    """The phrase that is repeated at the end of each text.

    Attributes
    ----------
    lengths
        Tokens of the phrase that has the most copies, of equals the shortest, int64 of shape
        ``(n,)``, a final full stop being part of its word where that has more copies; 0 where a
        text does not end in a repetition.
    copies
        How often it stands there without a break, int64 of shape ``(n,)``; 1 where nothing is
        repeated.
    """

    lengths: Longs
    copies: Longs


@checks_keywords
def repeated_endings(
    texts: Texts, *, longest: int | None = None, tokenizer: AnyTokenizer = "auto"
) -> RepeatedEndings:
    """Find the phrase that each text repeats at its end, in linear time.

    Parameters
    ----------
    texts
        The texts, or a corpus.
    longest
        Most tokens of a phrase; None for any length.
    tokenizer
        The tokenizer; a corpus keeps its own tokens.

    Returns
    -------
    RepeatedEndings

    Raises
    ------
    InputError
        If `longest` is not a whole number of at least 1.

    Examples
    --------
    >>> texts = ["it is so and so on and so on and so on", "that is all"]
    >>> found = repeated_endings(texts, tokenizer="whitespace")
    >>> found.lengths.tolist(), found.copies.tolist()
    ([3, 0], [3, 1])
    """
    reach = None if longest is None else check_whole("longest", longest, 1)
    corpus = as_corpus(texts, tokenizer)
    return _endings(corpus, len(corpus.tokens) if reach is None else min(reach, len(corpus.tokens)))


def _endings(corpus: Corpus, reach: int) -> RepeatedEndings:

    lengths, copies = repeated_ends(corpus.tokens, corpus.starts, reach)
    tokens, starts = with_final_stops(corpus)
    if tokens is not corpus.tokens:
        joined_lengths, joined_copies = repeated_ends(tokens, starts, reach)
        more = joined_copies > copies
        lengths, copies = np.where(more, joined_lengths, lengths), np.maximum(joined_copies, copies)
    return RepeatedEndings(lengths, copies)


@checks_keywords
def repetition_frequency(
    texts: Texts, *, copies: int = 2, longest: int | None = None, tokenizer: AnyTokenizer = "auto"
) -> Score:
    """Tell how many texts end in a loop.

    Parameters
    ----------
    texts
        The texts, or a corpus.
    copies
        How many contiguous copies of a phrase make a repetition, at least 2.
    longest
        Most tokens of a phrase; None for any length.
    tokenizer
        The tokenizer; a corpus keeps its own tokens.

    Returns
    -------
    Score
        In [0, 1], closest to the reference's own value is best. ``per_sample`` tells of each text
        whether it ends so, shape ``(n,)``; :func:`repeated_endings` tells in what.

    Raises
    ------
    InputError
        If `copies` or `longest` is not a whole number, or too small.

    Examples
    --------
    >>> texts = ["it was a dog a dog", "it was a dog a cat"]
    >>> repetition_frequency(texts, tokenizer="whitespace").per_sample.tolist()
    [True, False]
    """
    copies = check_whole("copies", copies, 2)
    corpus = as_corpus(texts, tokenizer)
    looped = repeated_endings(corpus, longest=longest).copies >= copies
    return text_score(
        "repetition_frequency",
        np.count_nonzero(looped) / len(looped),
        corpus,
        per_sample=looped,
        copies=copies,
        longest="any" if longest is None else longest,
    )


@checks_keywords
def rep_n(texts: Texts, *, order: int = 4, tokenizer: AnyTokenizer = "auto") -> Score:
    """Tell how repetitive each text is: the share of n-grams that repeat an earlier one.

    Parameters
    ----------
    texts
        The texts, or a corpus.
    order
        Tokens of an n-gram, 1 to 100.
    tokenizer
        The tokenizer; a corpus keeps its own tokens.

    Returns
    -------
    Score
        In [0, 1], closest to the reference's own value is best. ``per_sample`` holds the share of
        each text, shape ``(n,)``; NaN where a text has fewer than `order` tokens.

    Raises
    ------
    InputError
        If `order` is not a whole number from 1 to 100.

    Examples
    --------
    Of "a b", "b a" and "a b" one is a repeat.

    >>> round(rep_n(["a b a b"], order=2, tokenizer="whitespace").value, 6)
    0.333333
    """
    order = check_order(order)
    corpus = as_corpus(texts, tokenizer)
    values = 1 - own_shares(corpus.ngrams(order))
    return mean_score("rep_n", values, corpus, reason=too_short(order), order=order)


def read_repetition_frequency(pair: TextPair, _: Chosen) -> Score:
    return repetition_frequency(pair.texts)


def read_rep_n(pair: TextPair, options: Chosen) -> Score:
    return rep_n(pair.texts, order=options["n"])
