"""Lengths of texts, and the size of the vocabulary.

Lengths are counted in tokens, in words (what stands between white space, and in scripts without
spaces their characters or clusters) or in characters (those that a reader sees: an accent belongs
to its letter, however it is written). Length confounds most other statistics, so these stand beside
them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from calipers.errors import checks_keywords
from calipers.numeric.arrays import Longs
from calipers.numeric.validation import check_choice
from calipers.score import Score
from calipers.text.corpus import Corpus
from calipers.text.replicates import BLOCKS, MeasuredTexts, TextReplicates, different_without
from calipers.text.scoring import Chosen, TextPair, raw_texts, text_score
from calipers.text.tokens import AnyTokenizer, Texts, as_corpus
from calipers.text.unicode_forms import as_seen
from calipers.unicode.words import graphemes, regex_version
from calipers.unicode.written_words import split_words

Unit = Literal["tokens", "words", "characters"]


@checks_keywords
def mean_length(texts: Texts, *, unit: Unit = "tokens", tokenizer: AnyTokenizer = "auto") -> Score:
    """Tell how long the texts are on average.

    Parameters
    ----------
    texts
        The texts, or a corpus; empty ones count with length 0.
    unit
        ``"tokens"``, ``"words"`` (between white space; where a script has none, its
        characters or clusters) or ``"characters"`` (grapheme clusters).
    tokenizer
        The tokenizer; a corpus keeps its own tokens.

    Returns
    -------
    Score
        At least 0, closest to the reference's own value is best. ``per_sample`` holds the length of
        each text, shape ``(n,)``.

    Raises
    ------
    InputError
        If `unit` is unknown.

    Examples
    --------
    >>> mean_length(["one two", "three"], unit="words").value
    1.5
    """
    return _length_score("mean_length", np.mean, texts, unit, tokenizer)


@checks_keywords
def median_length(
    texts: Texts, *, unit: Unit = "tokens", tokenizer: AnyTokenizer = "auto"
) -> Score:
    """Tell the median length of the texts; with an even number, the mean of the middle two.

    Parameters, the score and errors are as for :func:`mean_length`.

    Examples
    --------
    >>> median_length(["one", "one two", "a much longer one"], unit="words").value
    2.0
    """
    return _length_score("median_length", np.median, texts, unit, tokenizer)


@checks_keywords
def length_spread(
    texts: Texts, *, unit: Unit = "tokens", tokenizer: AnyTokenizer = "auto"
) -> Score:
    """Tell how much the lengths vary: their standard deviation, with divisor n - 1.

    Parameters, the score and errors are as for :func:`mean_length`. NaN for a single text.

    Examples
    --------
    >>> length_spread(["one", "one two", "one two three"], unit="words").value
    1.0
    """
    return _length_score("length_spread", _spread, texts, unit, tokenizer)


@checks_keywords
def vocabulary_size(texts: Texts, *, tokenizer: AnyTokenizer = "auto") -> Score:
    """Tell how many distinct tokens the set has.

    It grows with the amount of text: compare sets of equal size and length.

    Parameters
    ----------
    texts
        The texts, or a corpus.
    tokenizer
        The tokenizer; a corpus keeps its own tokens.

    Returns
    -------
    Score
        At least 0, closest to the reference's own value is best. ``per_sample`` holds the number of
        different tokens of each text, shape ``(n,)``.

    Examples
    --------
    >>> vocabulary_size(["a rose is a rose", "is it"], tokenizer="whitespace").value
    4.0
    """
    corpus = as_corpus(texts, tokenizer)
    single = corpus.ngrams(1)
    different = single.within.different
    return text_score("vocabulary_size", single.size, corpus, per_sample=different)


def _length_score(
    metric: str, summary: Any, texts: Texts, unit: Unit, tokenizer: AnyTokenizer
) -> Score:
    check_choice("unit", unit, ("tokens", "words", "characters"))
    measured: Corpus | Sequence[str]
    if unit == "tokens":
        measured = corpus = as_corpus(texts, tokenizer)
        lengths = corpus.lengths
    else:
        measured = raw_texts(texts)
        cut = split_words if unit == "words" else graphemes
        lengths = np.array([len(cut(as_seen(text))) for text in measured])
    value = float(summary(lengths))
    reason = "a single text has no spread" if np.isnan(value) else None
    pins = {"unit": unit} if unit == "tokens" else {"unit": unit, "cut": f"regex-{regex_version()}"}
    return text_score(metric, value, measured, reason=reason, per_sample=lengths, **pins)


def _spread(lengths: Longs) -> float:
    return float(np.std(lengths, ddof=1)) if len(lengths) > 1 else np.nan


def median_length_replicates(measured: MeasuredTexts) -> TextReplicates:
    """Compute the median length without each block of texts."""
    return _length_replicates(measured, np.median)


def length_spread_replicates(measured: MeasuredTexts) -> TextReplicates:
    """Compute the standard deviation of lengths without each block of texts."""
    return _length_replicates(measured, lambda lengths: np.std(lengths, ddof=1))


def vocabulary_size_replicates(measured: MeasuredTexts) -> TextReplicates:
    """Compute the number of distinct tokens without each block of texts."""
    return TextReplicates(texts=different_without(measured.texts.ngrams(1), measured.labels))


def _length_replicates(
    measured: MeasuredTexts, summary: Callable[[NDArray[Any]], Any]
) -> TextReplicates:
    remaining = (measured.by_text[measured.labels != block] for block in BLOCKS)
    return TextReplicates(texts=np.array([summary(lengths) for lengths in remaining], float))


def read_mean_length(pair: TextPair, options: Chosen) -> Score:
    return mean_length(pair.texts, unit=options["unit"])


def read_median_length(pair: TextPair, options: Chosen) -> Score:
    return median_length(pair.texts, unit=options["unit"])


def read_length_spread(pair: TextPair, options: Chosen) -> Score:
    return length_spread(pair.texts, unit=options["unit"])


def read_vocabulary_size(pair: TextPair, _: Chosen) -> Score:
    return vocabulary_size(pair.texts)
