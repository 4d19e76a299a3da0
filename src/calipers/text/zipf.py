"""Zipf coefficient: how steeply the frequency of words falls with their rank.

Minus the slope of the least-squares line through (ln rank, ln frequency) of the 5,000 most frequent
tokens of the whole set, ranks from 1: Holtzman et al., "The Curious Case of Neural Text
Degeneration", ICLR 2020, and Pillutla et al., JMLR 2023, section 6.3. It is the value
that their published script ``metrics/zipf.py`` gives for the same tokens; they count GPT-2's word
pieces, so their tables need that tokenizer. Which of two equally frequent words comes first makes
no difference.

A natural set has about 1; higher values mean that few words do most of the work. It counts words
only: any shuffling of all words over all texts leaves it as it is, and it depends on how much text
there is as long as there are fewer than `top` different words.
"""

from __future__ import annotations

import numpy as np

from calipers.errors import checks_keywords
from calipers.numeric.arrays import Longs
from calipers.numeric.blocks import DEFAULT_BLOCKS
from calipers.numeric.validation import check_whole
from calipers.score import Score
from calipers.text.replicates import BLOCKS, MeasuredTexts, TextReplicates
from calipers.text.scoring import Chosen, TextPair, text_score
from calipers.text.tokens import AnyTokenizer, Texts, as_corpus


@checks_keywords
def zipf_coefficient(texts: Texts, *, top: int = 5000, tokenizer: AnyTokenizer = "auto") -> Score:
    """Tell how much a few frequent words dominate the set.

    Parameters
    ----------
    texts
        The texts, or a corpus.
    top
        How many of the most frequent words the line is laid through, at least 2.
    tokenizer
        The tokenizer; a corpus keeps its own tokens.

    Returns
    -------
    Score
        From 0, where all words are equally frequent, up; closest to the reference's own value is
        best. NaN where there are fewer than two different words.

    Raises
    ------
    InputError
        If `top` is not a whole number of at least 2.

    Examples
    --------
    Frequencies 4 and 2 at the ranks 1 and 2: ln 2 / ln 2.

    >>> round(zipf_coefficient(["a a b", "b a a"], tokenizer="whitespace").value, 6)
    1.0
    """
    top = check_whole("top", top, 2)
    corpus = as_corpus(texts, tokenizer)
    counts = np.sort(corpus.ngrams(1).counts)[::-1][:top]
    value, reason = (steepness(counts), None) if len(counts) > 1 else (np.nan, _few(len(counts)))
    return text_score("zipf_coefficient", value, corpus, reason=reason, top=top)


def steepness(counts: Longs) -> float:
    """Return minus the slope of ln counts on ln rank."""
    x = np.log(np.arange(1, len(counts) + 1))
    y = np.log(counts / counts[0])  # exactly 0 where all are equal
    x -= x.mean()
    return float(max(0.0, -(x @ y) / (x @ x)))


def _few(words: int) -> str:
    return f"a line needs two different words; the texts have {'one' if words else 'none'}"


def zipf_coefficient_replicates(measured: MeasuredTexts) -> TextReplicates:
    """Compute the Zipf coefficient without each block of texts."""
    single, top = measured.texts.ngrams(1), measured.options["top"]
    owner = np.repeat(measured.labels, single.totals)
    slopes = np.full(DEFAULT_BLOCKS, np.nan)
    for block in BLOCKS:
        gone = np.bincount(single.ids[owner == block], minlength=single.size)
        counts = np.sort(single.counts - gone)[::-1][:top]
        counts = counts[counts > 0]
        slopes[block] = steepness(counts) if len(counts) > 1 else np.nan
    return TextReplicates(texts=slopes)


def read_zipf_coefficient(pair: TextPair, options: Chosen) -> Score:
    return zipf_coefficient(pair.texts, top=options["top"])
