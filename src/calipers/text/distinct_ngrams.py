"""Distinct-n: the share of distinct n-grams.

    distinct = different n-grams / all n-grams

- per ``"system"`` (inter-distinct) over the whole set as if it were one text, where no n-gram
  reaches over the end of a text: Li et al., NAACL 2016, and Pillutla et al., JMLR 2023, section
  6.3, with n = 4.
- per ``"sample"`` (intra-distinct) of each text alone, averaged over the texts.

Li et al. themselves scale by the number of generated tokens, as paper 002 quotes them, where here,
as in Pillutla et al., the number of n-grams stands; for n > 1 their values are a little lower. The
names intra- and inter-distinct are those of Gu et al., "DialogWAE", ICLR 2019.

Both fall as texts grow longer, and the first also as there are more of them: hold sets of equal
size and length against each other, or see :func:`calipers.text.expectation_adjusted_distinct` and
:func:`calipers.text.moving_average_ttr`. Random letters score 1: it tells variety of wording, not
sense.

Expectation-adjusted distinct is Distinct-n without its fall with length:

    EAD = N / (V (1 - ((V - 1) / V)^C))

with N different n-grams among C in the whole set, over the number of different ones to be expected
of C draws from V equally likely ones: Liu et al., "Rethinking and Refining the Distinct Metric",
ACL 2022. It tends to N / C, which is Distinct-n, as V grows, and to N / V as C grows.

V is a choice of whoever measures, and the same V must serve all sets that are compared with each
other. The authors take the size of the vocabulary of the model that wrote the texts, the largest
one where there are several models, or that of the data set. It is not counted in the measured texts
here, for then a poor text would be compared with its own poverty. The default is that of GPT-2,
50,257, as in Kirk et al., ICLR 2024, who use it for n-grams of every order; the paper itself has
n = 1. Natural words are not equally likely: values below 1 are usual for long texts, and values
above 1 occur where V is smaller than the number of n-grams that can appear, so give a larger V for
n > 1 and large sets.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from calipers.errors import InputError, checks_keywords
from calipers.numeric.arrays import Floats
from calipers.numeric.validation import check_choice, check_whole
from calipers.score import Score
from calipers.text.ngrams import NGrams, check_order
from calipers.text.replicates import (
    MeasuredTexts,
    TextReplicates,
    different_without,
    mean_replicates,
    ratio,
    totals_without,
)
from calipers.text.scoring import Chosen, TextPair, mean_score, text_score
from calipers.text.tokens import AnyTokenizer, Texts, as_corpus

Per = Literal["system", "sample"]


@checks_keywords
def distinct(
    texts: Texts, *, order: int = 1, per: Per = "system", tokenizer: AnyTokenizer = "auto"
) -> Score:
    """Tell how varied the wording is: the share of distinct n-grams among all n-grams.

    Parameters
    ----------
    texts
        The texts, or a corpus.
    order
        Tokens of an n-gram, 1 to 100.
    per
        ``"system"`` counts over the whole set, ``"sample"`` within each text and averages.
    tokenizer
        The tokenizer; a corpus keeps its own tokens.

    Returns
    -------
    Score
        In [0, 1], closest to the reference's own value is best. ``per_sample`` holds, either way,
        the share within each text, shape ``(n,)``; NaN where a text has fewer than `order` tokens.

    Raises
    ------
    InputError
        If `order` is not a whole number from 1 to 100, or `per` is unknown.

    Examples
    --------
    >>> texts = ["a a b", "a c"]
    >>> distinct(texts, tokenizer="whitespace").value  # a, b, c of 5 tokens
    0.6
    >>> distinct(texts, per="sample", tokenizer="whitespace").per_sample.round(3).tolist()
    [0.667, 1.0]
    """
    order = check_order(order)
    check_choice("per", per, ("system", "sample"))
    corpus = as_corpus(texts, tokenizer)
    ngrams = corpus.ngrams(order)
    shares, reason = own_shares(ngrams), too_short(order)
    if per == "sample":
        return mean_score("distinct", shares, corpus, reason=reason, order=order, per=per)
    total = len(ngrams.ids)
    value, why = (ngrams.size / total, None) if total else (np.nan, reason)
    return text_score(
        "distinct", value, corpus, reason=why, per_sample=shares, order=order, per=per
    )


def distinct_replicates(measured: MeasuredTexts) -> TextReplicates:
    """Compute distinct-n of the set, or its mean over texts, without each block of texts."""
    if measured.options["per"] == "sample":
        return mean_replicates(measured)
    ngrams, labels = measured.texts.ngrams(measured.options["n"]), measured.labels
    return TextReplicates(
        texts=ratio(different_without(ngrams, labels), totals_without(ngrams, labels))
    )


def own_shares(ngrams: NGrams) -> Floats:
    """Return the share of distinct n-grams of each text; NaN for a text without n-grams."""
    totals = ngrams.totals
    shares = np.full(len(totals), np.nan)
    np.divide(ngrams.within.different, totals, out=shares, where=totals > 0)
    return shares


def too_short(order: int) -> str:
    """Explain that no text has an n-gram."""
    return f"no text has {order} tokens" if order > 1 else "no text has a token"


VOCABULARY = 50_257
"""Entries of GPT-2's vocabulary."""

LARGEST = 10**300


@checks_keywords
def expectation_adjusted_distinct(
    texts: Texts, *, order: int = 1, vocabulary: int | None = None, tokenizer: AnyTokenizer = "auto"
) -> Score:
    """Tell how varied the wording is, adjusted for the amount of text.

    Parameters
    ----------
    texts
        The texts, or a corpus.
    order
        Tokens of an n-gram, 1 to 100.
    vocabulary
        V, how many n-grams there are to draw from, 2 to 10³⁰⁰; 50,257 by default. The same for
        all sets that are compared.
    tokenizer
        The tokenizer; a corpus keeps its own tokens.

    Returns
    -------
    Score
        At least 0, closest to the reference's own value is best; 1 where as many different n-grams
        occur as among equally likely ones.

    Raises
    ------
    InputError
        If `order` or `vocabulary` is not a whole number, or out of its range.

    Examples
    --------
    Three different words of four, from a vocabulary of ten: 3 / (10 (1 - 0.9⁴)).

    >>> score = expectation_adjusted_distinct(
    ...     ["a b", "a c"], vocabulary=10, tokenizer="whitespace"
    ... )
    >>> round(score.value, 6)
    0.872347
    """
    order = check_order(order)
    size = _checked(VOCABULARY if vocabulary is None else vocabulary)
    corpus = as_corpus(texts, tokenizer)
    ngrams = corpus.ngrams(order)
    total = len(ngrams.ids)
    value = ngrams.size / expected(total, size) if total else np.nan
    return text_score(
        "expectation_adjusted_distinct",
        value,
        corpus,
        reason=None if total else too_short(order),
        order=order,
        vocabulary=size,
    )


def _checked(vocabulary: int) -> int:
    size = check_whole("vocabulary", vocabulary, 2)
    if size > LARGEST:
        raise InputError("vocabulary must be at most 10³⁰⁰; found a larger number")
    return size


def expected(draws: int, size: int) -> float:
    """Return the expected number of distinct values among draws from `size` equally likely ones."""
    return float(-size * np.expm1(draws * np.log1p(-1 / size)))


def expectation_adjusted_distinct_replicates(measured: MeasuredTexts) -> TextReplicates:
    """Compute distinct n-grams over expected ones without each block."""
    ngrams, labels = measured.texts.ngrams(measured.options["n"]), measured.labels
    size = measured.options["vocabulary"]
    draws = [expected(int(total), size) for total in totals_without(ngrams, labels)]
    return TextReplicates(texts=ratio(different_without(ngrams, labels), np.array(draws)))


def read_distinct(pair: TextPair, options: Chosen) -> Score:
    return distinct(pair.texts, order=options["n"], per=options["per"])


def read_expectation_adjusted_distinct(pair: TextPair, options: Chosen) -> Score:
    return expectation_adjusted_distinct(
        pair.texts, order=options["n"], vocabulary=options["vocabulary"]
    )
