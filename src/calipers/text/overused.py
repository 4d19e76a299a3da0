"""Over-used phrases: phrases in more of a system's texts than of the reference's.

A phrase is an n-gram anywhere in a text, or the first n tokens of it (``where="opening"``). With a
of m generated and b of n reference texts that hold a phrase, Fisher's exact one-sided test gives

    p = P(X ≥ a),  X the generated ones among a + b texts drawn out of all m + n (hypergeometric)

Texts are counted and not occurrences, so a text that repeats itself counts once, and nothing is
assumed but that the texts are independent of each other. The p-values are corrected by K, the
number of phrases that could reach a small p-value at all, so that with a chance of 1 - `level` no
phrase is listed that people use as much. A phrase of t texts has no p-value below that of t
generated ones, so rare phrases cannot be listed and need no correction (Tarone, "A modified
Bonferroni method for discrete data", Biometrics 1990).

The score is the share of the texts that hold an over-used phrase. It rises with the number of
texts, since more texts show more phrases; compare sets of one size. It does not see phrases of
which a word varies, nor phrases that people use more (swap the sets for those). Names and topics
that the references lack are over-used too, and so is every part of a longer phrase that is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from calipers.errors import checks_keywords
from calipers.numeric.arrays import Floats, Longs
from calipers.numeric.validation import check_choice, check_inner_share
from calipers.score import Score
from calipers.text.corpus import Corpus, join
from calipers.text.distinct_ngrams import too_short
from calipers.text.ngrams import check_order
from calipers.text.scoring import Chosen, TextPair, text_score
from calipers.text.tokens import AnyTokenizer, Texts, as_corpora
from calipers.unicode.words import joined as phrase_of

Where = Literal["anywhere", "opening"]

LISTED = 100
"""Phrases that a score lists at most."""

ROUNDING = 1e-12
"""What a p-value that equals a limit may be above it in floating point."""


@checks_keywords
def overused_phrases(
    texts: Texts,
    references: Texts,
    *,
    order: int = 3,
    where: Where = "anywhere",
    level: float = 0.05,
    tokenizer: AnyTokenizer = "auto",
) -> Score:
    """Tell which phrases the texts use more often than the references do.

    Parameters
    ----------
    texts
        Generated texts: strings, or a corpus that was tokenised together with the references.
    references
        Human texts.
    order
        Tokens of a phrase, 1 to 100.
    where
        ``"anywhere"`` for every n-gram of a text, ``"opening"`` for its first `order` tokens alone.
    level
        Chance of listing any phrase that is not over-used, in (0, 1).
    tokenizer
        The tokenizer; corpora keep their own tokens.

    Returns
    -------
    Score
        The share of texts that hold an over-used phrase, in [0, 1], lower is better.
        ``per_sample`` is 1 for each of these texts, 0 for the others and NaN for texts of fewer
        than `order` tokens. ``details`` lists the phrases, the surest first, at most 100 of them:
        ``phrase``, ``texts`` and ``references`` (how many hold it), ``ratio`` of the two shares
        (infinite where no reference holds it) and ``p_value``, corrected.

    Raises
    ------
    InputError
        If `order` is not a whole number from 1 to 100, `where` is unknown, `level` does not lie
        between 0 and 1, a set is empty, or corpora were not tokenised together.

    Examples
    --------
    >>> generated, human = ["in the end it was"] * 9, ["it was"] * 9
    >>> score = overused_phrases(generated, human, order=2, tokenizer="whitespace")
    >>> score.value, [row["phrase"] for row in score.details]
    (1.0, ['in the', 'the end', 'end it'])
    """
    order = check_order(order)
    check_choice("where", where, ("anywhere", "opening"))
    check_inner_share("level", level)
    corpus, known = as_corpora(texts, references, tokenizer)
    joined = join(corpus, known)
    ids, holders, words = _phrases(joined, order, where)
    ours = np.bincount(ids[holders < len(corpus)], minlength=len(words))
    theirs = np.bincount(ids[holders >= len(corpus)], minlength=len(words))
    p_values = overuse(ours, theirs, len(corpus), len(known), level=level)
    flagged = np.full(len(corpus), np.nan)
    flagged[holders[holders < len(corpus)]] = 0.0
    flagged[holders[(p_values <= level)[ids] & (holders < len(corpus))]] = 1.0
    surest = np.lexsort((-ours, p_values))
    ratios = (ours / len(corpus)) / np.where(theirs, theirs / len(known), np.nan)
    defined = ~np.isnan(flagged)
    details = tuple(
        {
            "phrase": phrase_of(joined.words[joined.tokens[words[row] + i]] for i in range(order)),
            "texts": int(ours[row]),
            "references": int(theirs[row]),
            "ratio": float(ratios[row]) if theirs[row] else np.inf,
            "p_value": float(p_values[row]),
        }
        for row in surest[: np.count_nonzero(p_values <= level)][:LISTED].tolist()
    )
    score = text_score(
        "overused_phrases",
        flagged[defined].mean() if defined.any() else np.nan,
        corpus,
        reason=None if defined.any() else too_short(order),
        per_sample=flagged,
        order=order,
        where=where,
        level=level,
        references=len(known),
    )
    return replace(score, details=details)


def read_overused_phrases(pair: TextPair, options: Chosen) -> Score:
    """Read the score from a pair of texts, for the catalogue."""
    return overused_phrases(pair.texts, pair.references, order=options["n"], where=options["where"])


def overuse(ours: Longs, theirs: Longs, m: int, n: int, *, level: float) -> Floats:
    """Return corrected p-values for phrases in so many of m texts, and so many of n.

    Parameters
    ----------
    ours, theirs
        Texts of either set that hold each phrase, shape ``(phrases,)``.
    m, n
        Texts of either set.
    level
        The family-wise level that the correction is for.

    Returns
    -------
    array
        Fisher's one-sided p-values times Tarone's K, at most 1, shape ``(phrases,)``.

    Examples
    --------
    Of the three phrases only the first can have a p-value below 0.05, so K is 1: 1/70.

    >>> overuse(np.array([4, 1, 1]), np.array([0, 1, 0]), 4, 4, level=0.05).round(4).tolist()
    [0.0143, 0.7857, 0.5]
    """
    from scipy.stats import hypergeom

    if len(ours) == 0:
        return np.empty(0)
    together = ours + theirs
    totals, of_total = np.unique(together, return_inverse=True)
    smallest = np.sort(hypergeom.sf(np.minimum(totals, m) - 1, m + n, totals, m)[of_total])
    # The least K for which no more than K phrases can reach level / K
    reachable = np.arange(1, len(smallest) + 1)
    limits = level / reachable * (1 + ROUNDING)
    tests = int(np.argmax(np.searchsorted(smallest, limits, side="right") <= reachable))
    pairs, of_pair = np.unique(np.stack([ours, together]), axis=1, return_inverse=True)
    p_values: Floats = hypergeom.sf(pairs[0] - 1, m + n, pairs[1], m)[of_pair.ravel()]
    return np.minimum(1.0, (tests + 1) * p_values)


def _phrases(joined: Corpus, order: int, where: Where) -> tuple[Any, Any, Any]:
    """Which phrase is held by which text, each pair once, and a token where each phrase begins."""
    ngrams = joined.ngrams(order)
    rows = np.repeat(np.arange(len(joined)), ngrams.totals)
    begins = np.arange(len(ngrams.ids)) - ngrams.starts[rows] + joined.starts[rows]
    words = np.zeros(ngrams.size, np.int64)
    words[ngrams.ids[::-1]] = begins[::-1]
    if where == "opening":
        first = ngrams.starts[:-1][ngrams.totals > 0]
        return ngrams.ids[first], rows[first], words
    within = ngrams.within
    return within.ids, np.repeat(np.arange(len(joined)), within.different), words
