"""Novelty: the share of generated n-grams that are absent from the references.

    Σ over generated n-grams g of [g stands nowhere in the references] / generated n-grams

with all occurrences pooled over the texts (``of="tokens"``), as McCoy et al., "How much do language
models copy from their training data? Evaluating linguistic novelty in text generation using RAVEN",
TACL 2023, and Merrill et al., "Evaluating n-gram novelty of language models using Rusty-DAWG",
EMNLP 2024, report it by n; RAVEN also takes an n-gram for copied that stands earlier in its own
text or prompt, here only the references count. With ``of="types"`` every different n-gram counts
once, however often it was generated.

It never falls from one n to the next, and it is 0 for texts out of the references themselves. It
falls as the references grow, and random words are newest of all: new text that people wrote is the
measure, not 1. Copies in other words, and copies of which every n-gram has a changed word, are new
to it; a prompt that both sides begin with is not: take it off first.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from calipers.errors import checks_keywords
from calipers.numeric.arrays import Flags, Ints, Longs
from calipers.numeric.validation import check_choice
from calipers.score import Score
from calipers.text.corpus import Corpus, join
from calipers.text.distinct_ngrams import too_short
from calipers.text.ngrams import check_order, count_within
from calipers.text.replicates import (
    MeasuredTexts,
    TextReplicates,
    by_block,
    held_alone,
    ratio,
    sole_blocks,
)
from calipers.text.scoring import Chosen, TextPair, text_score
from calipers.text.tokens import AnyTokenizer, Texts, as_corpora


@checks_keywords
def novelty(
    texts: Texts,
    references: Texts,
    *,
    order: int = 4,
    of: Literal["tokens", "types"] = "tokens",
    tokenizer: AnyTokenizer = "auto",
) -> Score:
    """Tell how much of the texts is new: the share of n-grams absent from the references.

    Parameters
    ----------
    texts
        Generated texts: strings, or a corpus that was tokenised together with the references.
    references
        Texts with known n-grams: the references, or the training set.
    order
        Tokens of an n-gram, 1 to 100.
    of
        ``"tokens"`` counts every occurrence of an n-gram, ``"types"`` every different one once.
    tokenizer
        The tokenizer; corpora keep their own tokens.

    Returns
    -------
    Score
        In [0, 1], higher is newer. ``per_sample`` has the share of every text; NaN where it has
        fewer than `order` tokens, and so has no n-gram to count.

    Raises
    ------
    InputError
        If `order` is not a whole number from 1 to 100, `of` is unknown, a set is empty, or corpora
        were not tokenised together.

    Examples
    --------
    The first text's "a b" and "b c" stand in the references, the second's "c d" does not.

    >>> score = novelty(["a b c", "b c d"], ["a b c"], order=2, tokenizer="whitespace")
    >>> score.value, score.per_sample.tolist()
    (0.25, [0.0, 0.5])
    """
    order = check_order(order)
    check_choice("of", of, ("tokens", "types"))
    corpus, known = as_corpora(texts, references, tokenizer)
    ids, starts, new = _new(corpus, known, order)
    if of == "types":
        ids, _, starts = count_within(ids, starts)
    totals = np.diff(starts)
    counts = np.diff(np.concatenate([[0], np.cumsum(new[ids])])[starts])
    shares = np.divide(counts, totals, out=np.full(len(corpus), np.nan), where=totals > 0)
    pooled = new[ids] if of == "tokens" else new[: ids.max(initial=-1) + 1]
    pins: dict[str, Any] = {"order": order, "of": of, "references": len(known)}
    if missing := int(np.count_nonzero(totals == 0)):
        pins["undefined"] = missing
    return text_score(
        "novelty",
        float(np.mean(pooled)) if len(pooled) else np.nan,
        corpus,
        reason=None if len(pooled) else too_short(order),
        per_sample=shares,
        **pins,
    )


def _new(corpus: Corpus, known: Corpus, order: int) -> tuple[Ints, Longs, Flags]:
    """The n-grams of the texts, where each text starts in them, and which of them are new."""
    ngrams = join(corpus, known).ngrams(order)
    starts = ngrams.starts[: len(corpus) + 1]
    new = np.ones(ngrams.size, bool)
    new[ngrams.ids[starts[-1] :]] = False
    return ngrams.ids[: starts[-1]], starts, new


def novelty_replicates(measured: MeasuredTexts) -> TextReplicates:
    """Compute the share of new n-grams without blocks of texts and of drawn references."""
    corpus, known = measured.texts, measured.references
    ngrams = join(corpus, known).ngrams(measured.options["n"])
    starts, behind = ngrams.starts[: len(corpus) + 1], ngrams.starts[len(corpus) :]
    mine = ngrams.ids[: starts[-1]]
    theirs = sole_blocks(ngrams.ids, behind, measured.reference_labels, ngrams.size)
    types = measured.options["of"] == "types"
    counts = np.unique(mine) if types else mine
    above, below = float(np.sum(theirs[counts] == -2)), len(counts)
    if types:
        ours = sole_blocks(ngrams.ids, starts, measured.labels, ngrams.size)[counts]
        gone, all_gone = held_alone(ours[theirs[counts] == -2]), held_alone(ours)
    else:
        owner = np.repeat(measured.labels, np.diff(starts))
        gone, all_gone = by_block(theirs[mine] == -2, owner), by_block(np.ones(len(mine)), owner)
    without = ratio(above - gone, below - all_gone)
    if not measured.drawn:
        return TextReplicates(texts=without)
    return TextReplicates(
        texts=without, references=(above + held_alone(theirs[counts])) / max(below, 1)
    )


def read_novelty(pair: TextPair, options: Chosen) -> Score:
    return novelty(pair.texts, pair.references, order=options["n"], of=options["of"])
