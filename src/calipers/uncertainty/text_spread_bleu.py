"""BLEU against a whole set, without each block of texts.

A text without a block of its references matches fewer n-grams: those that one block held most
often count only as often as the other blocks hold them. So one pass over the n-grams gives the
matches of every text without every block, and with them every replicate exactly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calipers.numeric.blocks import DEFAULT_BLOCKS
from calipers.numeric.threads import Workers, workers
from calipers.numeric.tiles import Span, spans
from calipers.text.bleu_sentences import BLOCK, closest_lengths, draw, sentence_scores
from calipers.text.corpus import Corpus, join
from calipers.uncertainty.spread import Component, Doubles
from calipers.uncertainty.text_spread_blocks import BLOCKS, Longs, Measured, means_without
from calipers.uncertainty.text_spread_counts import kept_grams
from calipers.uncertainty.text_spread_kernels import clip_without, leading_blocks


def of_self_bleu(found: Measured) -> tuple[Component, ...]:
    """Without a block, its texts are neither scored nor references of others."""
    corpus, options, held = found.texts, found.options, found.held
    drawn = draw(
        len(corpus),
        sample=options["sample"] or None,
        others=options["others"] or None,
        seed=held.seed,
    )
    labels, own = found.labels, found.labels[drawn.rows]
    scores = _without(corpus, drawn.rows, drawn.pool, labels, own, found)
    return (found.own(scores),)


def of_corpus_match(found: Measured) -> tuple[Component, ...]:
    """Blocks of the texts leave the mean; blocks of the reference leave what is matched."""
    assert found.per_sample is not None
    mine = found.own(means_without(found.per_sample, found.labels))
    both = join(found.texts, found.held.references)
    rows, pool = np.split(np.arange(len(both)), [len(found.texts)])
    labels = np.concatenate([np.full(len(rows), -1), found.known_labels])
    theirs = _without(both, rows, pool, labels, labels[rows], found)
    return mine, found.others(theirs)


def _without(
    corpus: Corpus, rows: Longs, pool: Longs, labels: Longs, own: Longs, found: Measured
) -> Doubles:
    """The mean BLEU of the rows without each block of the pool, shape ``(blocks,)``."""
    orders, inside = range(1, found.options["n"] + 1), bool(own[0] >= 0)
    with workers(found.held.threads) as team:
        every = [_matches(corpus, order, rows, pool, labels, own, team) for order in orders]
    lengths, means = corpus.lengths, np.full(DEFAULT_BLOCKS, np.nan)
    for block in BLOCKS:
        keep, rest = own != block, pool[labels[pool] != block]
        if not (keep.any() and len(rest) > inside):
            continue
        matches = np.stack([(all_ - fewer[:, block])[keep] for all_, fewer in every], axis=1)
        mine = lengths[rows[keep]]
        closest = closest_lengths(mine, lengths[rest], own=int(inside))
        means[block] = sentence_scores(matches, mine, closest).mean()
    return means


def _matches(
    corpus: Corpus,
    order: int,
    rows: Longs,
    pool: Longs,
    labels: Longs,
    own: Longs,
    team: Workers,
) -> tuple[Longs, NDArray[np.int32]]:
    """Matches of each row with all blocks, and how many fewer without each."""
    grams = corpus.ngrams(order)
    within = grams.within
    listed = (within.ids, within.counts, within.starts)
    asked = np.zeros(len(corpus), bool)
    asked[pool] = True
    holders = np.bincount(within.ids[np.repeat(asked, within.different)], minlength=grams.size)
    compact, size = kept_grams(holders > int(own[0] >= 0))  # held by no other text, none matches
    blocked = pool[np.argsort(labels[pool], kind="stable")]
    slots = leading_blocks(*listed, compact, size, blocked, labels)

    def work(span: Span) -> tuple[Longs, NDArray[np.int32]]:
        part = slice(*span)
        return clip_without(*listed, compact, rows[part], own[part], slots, DEFAULT_BLOCKS)

    found = list(team.map(work, spans(len(rows), BLOCK)))
    return np.concatenate([each[0] for each in found]), np.concatenate([each[1] for each in found])
