"""Interpolated Kneser-Ney smoothing with three discounts per order, from counts to tables.

Chen and Goodman (1999), section 3, as Heafield et al. (ACL 2013) arrange it. With a(·) the count of
an n-gram at the highest order and of those that begin a text, and the number of different tokens
before it at lower orders, D the discount of its order for counts of 1, 2, and 3 or more::

    P(w | h) = (a(hw) − D(a(hw))) / Σ a(h·) + γ(h) · P(w | h'),   γ(h) = Σ D(a(h·)) / Σ a(h·)

where h' is h without its first token. Below the single words stands no plain unigram: what joins a
text is decided by the token before. The *kind* of the next token (a word after a space, a mark
after none, the end …) depends on the *form* f of the last one, and the token on its kind κ, as in
the class models of Brown et al. (1992)::

    P(w | f) = P(κ | f) · [(a(w) − D(a(w))) / Σ a(κ) + γ(κ) / (V(κ) + 1)]

summed over the tokens of the kind, of which V(κ) are known; an unknown one has the share of a token
that was never seen, γ(κ) / (V(κ) + 1). P(κ | f) is counted, and smoothed by
:data:`SMOOTHING` observations spread as kinds are over all texts, with one more of each. A word
never follows a word without anything between them, since both would be one.

Where the counts of counts give no discount between 0 and the count itself (texts are too few), the
discounts are 0.5, 1 and 1.5, as KenLM's ``--discount_fallback``.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from calipers.language_model.ngram_tables import Tables
from calipers.language_model.ngram_walks import hashed
from calipers.language_model.pieces import AFTER_WORD, KINDS, WORD
from calipers.numeric import native
from calipers.numeric.arrays import Floats, Ints, Longs
from calipers.text.ngrams import NGrams, extend

Parts = tuple[Longs, Longs, Longs]

END_TOKEN = 0
"""The token that ends texts."""

FALLBACK = (0.5, 1.0, 1.5)

SMOOTHING = 0.1
"""Observations that kinds are smoothed by: few, since forms nearly determine them."""


def fit_tables(
    tokens: Ints, starts: Longs, *, order: int, known: int, kind: Ints, form: Ints
) -> Tables:
    """Count n-grams and estimate all probabilities.

    Parameters
    ----------
    tokens
        The texts end to end, each with the token that begins it and the token 0 that ends it.
    starts
        Where each text begins, shape ``(n + 1,)``.
    order
        Tokens of the longest n-gram, at least 1.
    known
        Number of known tokens, the end not counted.
    kind
        Of all tokens but the beginning.
    form
        Of all tokens.
    """
    vocabulary, begin = len(form), len(form) - 1
    numbered = [NGrams(1, tokens, starts, vocabulary)]
    for _ in range(order - 1):
        numbered.append(extend(numbered[-1], tokens, starts))
    parts: list[Parts] = [
        _parts(shorter, longer, tokens, starts) for shorter, longer in pairwise(numbered)
    ]
    counts = _adjusted(numbered, parts, begin)
    unigram = _unigram(counts[0][: known + 1], kind, known)
    kinds = _kinds(tokens, starts, kind, form)

    bases = np.cumsum([0, *(grams.size for grams in numbered[: max(order - 1, 1)])])
    contexts = int(bases[-1])
    back, shorter_context = np.ones(contexts), np.full(contexts, -1, np.int32)
    columns: list[tuple[Longs, Longs, Floats, Floats, Longs]] = []
    probability = np.zeros(0)
    for level, ((heads, words, tails), count) in enumerate(zip(parts, counts[1:], strict=True)):
        discount = _discounts(count)[np.minimum(count, 3)]
        totals = np.bincount(heads, count, numbered[level].size)
        gamma = np.bincount(heads, discount, numbered[level].size) / np.maximum(totals, 1)
        gamma[totals == 0] = 1  # nothing is known to follow
        if level == 0:
            lower = kinds[form[heads], kind[words]] * unigram[words]
        else:
            lower = probability[tails]
            level_rows = slice(bases[level], bases[level + 1])
            shorter_context[level_rows] = bases[level - 1] + parts[level - 1][2]
        back[bases[level] : bases[level + 1]] = gamma
        probability = (count - discount) / totals[heads] + gamma[heads] * lower
        longest = level + 2 == order
        follow = bases[level] + tails if longest else bases[level + 1] + np.arange(len(words))
        follow = np.where(words == END_TOKEN, -1, follow)
        columns.append((words, bases[level] + heads, probability, lower, follow))
    empty = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0))
    words, context, probabilities, low, follows = (
        np.concatenate(column) for column in zip(*(columns or [(*empty, empty[0])]), strict=True)
    )
    rows, entry_starts = _ordered(context, words, probabilities, contexts)
    token, before = words[rows].astype(np.int32), context[rows].astype(np.int32)
    return Tables(
        starts=entry_starts,
        back=back,
        shorter=shorter_context,
        form=form.astype(np.int32),
        token=token,
        context=before,
        probability=probabilities[rows],
        lower=low[rows],
        follow=follows[rows].astype(np.int32),
        slots=hashed(before, token),
        kind=kind.astype(np.int32),
        unigram=unigram,
        kinds=kinds,
    )


def _adjusted(numbered: list[NGrams], parts: list[Parts], begin: int) -> list[Longs]:
    """Count each n-gram, or the tokens before it, order by order."""
    counts = []
    opens = np.arange(numbered[0].size) == begin
    for place, grams in enumerate(numbered):
        if place:
            opens = opens[parts[place - 1][0]]
        if place + 1 == len(numbered):
            counts.append(grams.counts)
        else:
            before = np.bincount(parts[place][2], minlength=grams.size)
            counts.append(np.where(opens, grams.counts, before))
    return counts


def _discounts(counts: Longs) -> Floats:
    """What is taken off counts of 0, 1, 2, and 3 or more (Chen and Goodman, equation 26)."""
    n1, n2, n3, n4 = (float((counts == count).sum()) for count in range(1, 5))
    if min(n1, n2, n3) > 0:
        y = n1 / (n1 + 2 * n2)
        discounts = (1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3)
        if all(0 < value < count for value, count in zip(discounts, (1, 2, 3), strict=True)):
            return np.array([0.0, *discounts])
    return np.array([0.0, *FALLBACK])


def _unigram(counts: Longs, kind: Ints, known: int) -> Floats:
    """P(w | κ) of the end, the known tokens and the unknown one of each kind."""
    discount = _discounts(counts[1:])[np.minimum(counts, 3)]
    word_kind = kind[: known + 1]
    totals = np.bincount(word_kind, counts, KINDS)
    tokens = np.bincount(word_kind, minlength=KINDS)
    gamma = np.where(totals > 0, np.bincount(word_kind, discount, KINDS) / np.maximum(totals, 1), 1)
    share = gamma / (tokens + 1)
    probability = np.concatenate(
        [(counts - discount) / np.maximum(totals, 1)[word_kind] + share[word_kind], share[1:]]
    )
    probability[END_TOKEN] = 1
    return probability


def _kinds(tokens: Ints, starts: Longs, kind: Ints, form: Ints) -> Floats:
    """P(κ | f), of shape (forms, kinds)."""
    follows = np.ones(len(tokens), np.bool_)
    follows[starts[:-1]] = False
    places = np.flatnonzero(follows)
    forms = int(form.max()) + 1
    pairs = form[tokens[places - 1]].astype(np.int64) * KINDS + kind[tokens[places]]
    counts = np.bincount(pairs, minlength=forms * KINDS).reshape(forms, KINDS)
    prior = np.tile((counts.sum(axis=0) + 1) / (counts.sum() + KINDS), (forms, 1))
    prior[AFTER_WORD, WORD] = 0
    prior /= prior.sum(axis=1, keepdims=True)
    seen = counts.sum(axis=1, keepdims=True)
    return np.asarray((counts + SMOOTHING * prior) / (seen + SMOOTHING))


def _parts(shorter: NGrams, longer: NGrams, tokens: Ints, starts: Longs) -> Parts:
    """Of each n-gram: what stands before its last token, that token, what follows its first."""
    highest = np.maximum.accumulate(longer.ids)
    first = np.flatnonzero(np.diff(highest, prepend=-1))  # numbers are given by first appearance
    text = np.repeat(np.arange(len(starts) - 1), longer.totals)[first]
    step = first - longer.starts[text]
    heads = shorter.starts[text] + step
    words = tokens[starts[text] + step + longer.order - 1]
    return (
        shorter.ids[heads].astype(np.int64),
        words.astype(np.int64),
        shorter.ids[heads + 1].astype(np.int64),
    )


def _ordered(
    context: Longs, words: Longs, probability: Floats, contexts: int
) -> tuple[Longs, Longs]:
    """Order entries by context, then from the most to the least probable, then by token."""
    starts = np.zeros(contexts + 1, np.int64)
    np.cumsum(np.bincount(context, minlength=contexts), out=starts[1:])
    rows, room = np.empty_like(context), np.empty_like(context)
    _order(context, words, probability, starts[:-1].copy(), rows, room)
    return rows, starts


_order = native.kernel(
    "ngram_model_order",
    "context i8[entries]",
    "words i8[entries]",
    "probability f8[entries]",
    "ends i8[contexts] out",
    "rows i8[entries] out",
    "room i8[entries] out",
)
