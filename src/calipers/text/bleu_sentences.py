"""The BLEU of texts against many references at once, in time linear in the number of tokens.

An n-gram of a text counts at most as often as any one reference holds it. So its largest count
over all references, the next largest, and which text holds the largest tell how far it counts,
also for a text that is itself among the references and left out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.tiles import Span, Workers, spans, workers
from calipers.text.bleu_kernels import add_matches, clip, leaders, pair_means, post, sentence_scores
from calipers.text.corpus import Corpus
from calipers.text.ngrams import NGrams

Rows = NDArray[np.int64]

BLOCK = 8192
ROOM = 2**22
"""Matches that a block of pairs holds, four bytes each."""


def against_all(
    corpus: Corpus, rows: Rows, pool: Rows, *, order: int, threads: int | None
) -> NDArray[np.float64]:
    """Score rows of a corpus, each with the whole pool as its references, itself left out.

    Parameters
    ----------
    corpus
        What holds both.
    rows
        The texts to score, shape (m,).
    pool
        The references; either all of `rows` are among them or none is.
    order, threads
        As for :func:`calipers.text.self_bleu`.

    Returns
    -------
    ndarray
        As NLTK's ``sentence_bleu`` with ``method1``, shape (m,), in [0, 1].
    """
    lengths = corpus.lengths
    own = int(np.isin(rows[0], pool))
    with workers(threads) as team:
        found = [_matches(corpus.ngrams(n), rows, pool, team) for n in range(1, order + 1)]
    closest = closest_lengths(lengths[rows], lengths[pool], own=own)
    return sentence_scores(np.stack(found, axis=1), lengths[rows], closest)


def against_each(
    corpus: Corpus, rows: Rows, pool: Rows, *, order: int, threads: int | None
) -> NDArray[np.float64]:
    """Average, for each row, its scores with each other text of the pool as its one reference.

    Takes what :func:`against_all` does, where all rows are in the pool; the time is proportional
    to rows times pool.
    """
    grams = [corpus.ngrams(n) for n in range(1, order + 1)]
    lists = [post(*_within(gram), gram.size, pool) for gram in grams]
    lengths, places = corpus.lengths, np.searchsorted(pool, rows)

    def score(span: Span) -> NDArray[np.float64]:
        mine = slice(*span)
        matches = np.zeros((span[1] - span[0], len(pool), order), np.int32)
        for n, (gram, posted) in enumerate(zip(grams, lists, strict=True)):
            add_matches(*_within(gram), rows[mine], *posted, matches[:, :, n])
        return pair_means(matches, lengths[rows[mine]], places[mine], lengths[pool])

    with workers(threads) as team:
        blocks = spans(len(rows), max(1, ROOM // (len(pool) * order)))
        return np.concatenate(list(team.map(score, blocks)))


def closest_lengths(lengths: Rows, pool: Rows, *, own: int) -> Rows:
    """Find the reference length that is closest to each text's; of two, the shorter.

    `own` is 1 where each text is itself in the pool and does not count, and 0 elsewhere.
    """
    pool = np.sort(pool)
    low, high = np.searchsorted(pool, lengths), np.searchsorted(pool, lengths, side="right")
    far = np.iinfo(np.int64).max // 4
    below = np.where(low > 0, pool[low - 1], -far)
    above = np.where(high < len(pool), pool[np.minimum(high, len(pool) - 1)], far)
    nearest = np.where(lengths - below <= above - lengths, below, above)
    return np.where(high - low > own, lengths, nearest)


def _matches(gram: NGrams, rows: Rows, pool: Rows, team: Workers) -> Rows:
    within = _within(gram)
    found = leaders(*within, gram.size, pool)
    parts = team.map(
        lambda span: clip(*within, rows[slice(*span)], *found), spans(len(rows), BLOCK)
    )
    return np.concatenate(list(parts))


def _within(gram: NGrams) -> tuple[NDArray[np.int32], NDArray[np.int32], Rows]:
    return gram.within.ids, gram.within.counts, gram.within.starts
