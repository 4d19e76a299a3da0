"""Self-repetition: long n-grams that recur across a system's texts.

    value of a text = ln(1 + Σ_g (texts with the n-gram g - 1))

over the different n-grams g of the text, averaged over the texts: the n-grams "of length four or
longer that appear in multiple outputs of the same system" of Salkar et al., "Self-Repetition in
Abstractive Neural Summarizers", AACL 2022, with n = 4, since whatever is shared at greater length
shares its n-grams of length 4. It is what the package ``diversity`` of Shaib et al., 2024, gives
for tokens between white space, but that texts of fewer than n tokens count 0 there and have no
value here.

An n-gram that comes again within one text counts once; see :func:`calipers.text.rep_n` for those.
The sum grows with the number of texts and with their lengths: hold sets of equal size against each
other. Texts that say the same in other words share nothing.
"""

from __future__ import annotations

import numpy as np

from calipers.errors import checks_keywords
from calipers.numeric import native
from calipers.numeric.arrays import Ints, Longs
from calipers.numeric.blocks import DEFAULT_BLOCKS
from calipers.score import Score
from calipers.text.distinct_ngrams import too_short
from calipers.text.ngrams import NGrams, check_order, numbered
from calipers.text.replicates import MeasuredTexts, TextReplicates, ratio
from calipers.text.scoring import Chosen, TextPair, mean_score
from calipers.text.tokens import AnyTokenizer, Texts, as_corpus


@checks_keywords
def self_repetition(texts: Texts, *, order: int = 4, tokenizer: AnyTokenizer = "auto") -> Score:
    """Tell how much the texts repeat each other's phrases.

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
        From 0, where no two texts share an n-gram, up; closest to the reference's own value is
        best. ``per_sample`` holds the value of each text, shape ``(n,)``; NaN where a text has
        fewer than `order` tokens, and for a single text, which has no others.

    Raises
    ------
    InputError
        If `order` is not a whole number from 1 to 100.

    Examples
    --------
    The first text shares "a b" with two others and "b c" with one: ln(1 + 3).

    >>> texts = ["a b c", "a b", "b c a b", "d e"]
    >>> score = self_repetition(texts, order=2, tokenizer="whitespace")
    >>> score.per_sample.round(3).tolist()
    [1.386, 1.099, 1.386, 0.0]
    """
    order = check_order(order)
    corpus = as_corpus(texts, tokenizer)
    ngrams = corpus.ngrams(order)
    values = np.where(ngrams.totals > 0, np.log1p(shared(ngrams)), np.nan)
    reason = too_short(order)
    if len(corpus) == 1:
        values, reason = np.full(1, np.nan), "there is only one text, and no other to repeat"
    return mean_score("self_repetition", values, corpus, reason=reason, order=order)


def shared(ngrams: NGrams) -> Longs:
    """Sum, for each text, the numbers of other texts that hold its n-grams."""
    within = ngrams.within
    holders = np.bincount(within.ids, minlength=ngrams.size)
    running = np.concatenate([[0], np.cumsum(holders[within.ids] - 1)])
    return np.diff(running[within.starts])


def self_repetition_replicates(measured: MeasuredTexts) -> TextReplicates:
    """Compute the mean logarithm without each block, neither scored nor compared with."""
    ngrams, labels = measured.texts.ngrams(measured.options["n"]), measured.labels
    within = ngrams.within
    compact, size = numbered(np.bincount(within.ids, minlength=ngrams.size) > 1)
    table = holders_by_block(within.ids, within.starts, labels, compact, size, DEFAULT_BLOCKS)
    lost = shared_with_blocks(within.ids, within.starts, compact, table)
    keep = (labels[:, None] != np.arange(DEFAULT_BLOCKS)) & (ngrams.totals > 0)[:, None]
    left = np.log1p(np.where(keep, shared(ngrams)[:, None] - lost, 0))
    return TextReplicates(texts=ratio(left.sum(axis=0), keep.sum(axis=0)))


def holders_by_block(
    ids: Ints, starts: Longs, labels: Longs, compact: Ints, size: int, blocks: int
) -> Ints:
    """Count the texts of each block that hold an n-gram, shape (size, blocks)."""
    table = np.zeros((size, blocks), np.int32)
    _count_holders(ids, starts, labels, compact, table)
    return table


_count_holders = native.kernel(
    "count_holders_by_block",
    "ids i4[total]",
    "starts i8[bounds]",
    "labels i8[texts]",
    "row_of i4[grams]",
    "holders i4[rows, blocks] out",
)


def shared_with_blocks(ids: Ints, starts: Longs, compact: Ints, table: Ints) -> Longs:
    """Count for each text how many texts of each block hold its n-grams, shape (n, blocks)."""
    shared = np.zeros((len(starts) - 1, table.shape[1]), np.int64)
    _add_shared(ids, starts, compact, table, shared)
    return shared


_add_shared = native.kernel(
    "add_shared_with_blocks",
    "ids i4[total]",
    "starts i8[bounds]",
    "row_of i4[grams]",
    "holders i4[rows, blocks]",
    "shared i8[texts, blocks] out",
)


def read_self_repetition(pair: TextPair, options: Chosen) -> Score:
    return self_repetition(pair.texts, order=options["n"])
