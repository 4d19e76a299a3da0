"""Copies of texts and of passages, without each block of either set."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calipers.numeric.blocks import DEFAULT_BLOCKS
from calipers.text.copied import common_lengths, sort_suffixes, tokens_left
from calipers.text.corpus import join
from calipers.text.near_texts import NearDuplicate, near_duplicate_pairs
from calipers.uncertainty.spread import Component, Doubles
from calipers.uncertainty.text_spread_blocks import Longs, Measured, means_without, ratio
from calipers.uncertainty.text_spread_span_kernels import (
    common_with_further,
    longest_without,
    nearest_of_others,
)

Numbers = NDArray[np.int32]


def of_spans(found: Measured) -> tuple[Component, ...]:
    """The mean length of the longest passage that the other set holds too."""
    assert found.per_sample is not None
    mine = found.own(means_without(found.per_sample, found.labels))
    return (mine, found.others(_spans_without(found))) if found.drawn else (mine,)


def of_near_duplicates(found: Measured) -> tuple[Component, ...]:
    """The share of near copies; texts that were found near by way of others count as near."""
    assert found.per_sample is not None
    pairs = near_duplicate_pairs(
        found.texts,
        found.held.against,
        order=found.options["n"],
        threshold=found.options["threshold"],
    )
    defined = ~np.isnan(found.per_sample)
    if found.held.against is None:
        return (found.own(_clusters_without(pairs, defined, found.labels)),)
    mine = found.own(means_without(found.per_sample, found.labels))
    if not found.drawn:
        return (mine,)
    holders = found.known_labels[[pair.source for pair in pairs]]
    lost = np.bincount(holders, minlength=DEFAULT_BLOCKS)
    return mine, found.others((len(pairs) - lost) / max(int(defined.sum()), 1))


def _spans_without(found: Measured) -> Doubles:
    """The mean longest span without each block of references, from one order of suffixes."""
    own, known = found.texts, found.held.references
    both, size = join(own, known), len(own.tokens)
    left = tokens_left(both.starts)
    order = sort_suffixes(both.tokens, left, size, len(both.words))
    blocks = np.repeat(found.known_labels, known.lengths)
    sides = [_side(both.tokens, left, each, size, blocks) for each in (order, order[::-1])]
    lengths, further, passed = (np.stack(each, axis=1) for each in zip(*sides, strict=True))
    longest = longest_without(own.starts, lengths, further, passed, DEFAULT_BLOCKS)
    means: Doubles = longest[own.lengths > 0].mean(axis=0)
    return means


def _side(
    tokens: Numbers, left: Numbers, order: Numbers, size: int, blocks: Longs
) -> tuple[Numbers, Numbers, Numbers]:
    """What each token's suffix shares with the nearest, and with the next of another block."""
    nearest, further = nearest_of_others(order, size, blocks)
    passed = np.full(size, -1, np.int32)
    passed[nearest >= 0] = blocks[nearest[nearest >= 0] - size]
    lengths = common_lengths(tokens, left, nearest)
    return lengths, common_with_further(tokens, left, nearest, further, blocks), passed


def _clusters_without(
    pairs: list[NearDuplicate], defined: NDArray[np.bool_], labels: Longs
) -> Doubles:
    """The share of texts that have another of their cluster left, without each block."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = len(labels)
    rows, sources = ([getattr(pair, side) for pair in pairs] for side in ("row", "source"))
    links = coo_array((np.ones(len(pairs)), (rows, sources)), shape=(n, n))
    cluster = connected_components(links, directed=False)[1]
    table = np.zeros((cluster.max() + 1, DEFAULT_BLOCKS))
    np.add.at(table, (cluster[defined], labels[defined]), 1)
    left = table.sum(axis=1, keepdims=True) - table
    return ratio(np.where(left > 1, left, 0.0).sum(axis=0), left.sum(axis=0))
