"""Statistics of one set from counts: what each becomes without each block of texts.

Different n-grams, their ranks and their holders are counted once, with the block that holds an
n-gram alone; a replicate is then a difference of counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.numeric.blocks import DEFAULT_BLOCKS
from calipers.text.corpus import join
from calipers.text.distinct_ngrams import expected
from calipers.text.ngrams import NGrams
from calipers.text.shared_ngrams import shared
from calipers.text.zipf import steepness
from calipers.uncertainty.spread import Component, Doubles
from calipers.uncertainty.text_spread_blocks import (
    BLOCKS,
    Longs,
    Measured,
    by_block,
    means_without,
    ratio,
)
from calipers.uncertainty.text_spread_kernels import (
    holders_by_block,
    shared_with_blocks,
    sole_blocks,
)

Parts = tuple[Component, ...]


def of_means(found: Measured) -> Parts:
    """Means of a value that each text has by itself."""
    assert found.per_sample is not None
    return (found.own(means_without(found.per_sample, found.labels)),)


def of_median(found: Measured) -> Parts:
    """The length of the text in the middle."""
    return _of_lengths(found, np.median)


def of_deviation(found: Measured) -> Parts:
    """The standard deviation of the lengths."""
    return _of_lengths(found, lambda lengths: np.std(lengths, ddof=1))


def of_vocabulary(found: Measured) -> Parts:
    """How many different tokens there are."""
    return (found.own(_different(found.texts.ngrams(1), found.labels)),)


def of_distinct(found: Measured) -> Parts:
    """Different n-grams over all n-grams."""
    grams = found.texts.ngrams(found.options["n"])
    return (found.own(ratio(_different(grams, found.labels), _totals(grams, found.labels))),)


def of_adjusted_distinct(found: Measured) -> Parts:
    """Different n-grams over those to be expected of so many."""
    grams, size = found.texts.ngrams(found.options["n"]), found.options["vocabulary"]
    draws = [expected(int(total), size) for total in _totals(grams, found.labels)]
    return (found.own(ratio(_different(grams, found.labels), np.array(draws))),)


def of_zipf(found: Measured) -> Parts:
    """The slope through the most frequent tokens."""
    single, top = found.texts.ngrams(1), found.options["top"]
    owner = np.repeat(found.labels, single.totals)
    slopes = np.full(DEFAULT_BLOCKS, np.nan)
    for block in BLOCKS:
        gone = np.bincount(single.ids[owner == block], minlength=single.size)
        counts = np.sort(single.counts - gone)[::-1][:top]
        counts = counts[counts > 0]
        slopes[block] = steepness(counts) if len(counts) > 1 else np.nan
    return (found.own(slopes),)


def of_duplicates(found: Measured) -> Parts:
    """The share of texts that stand in the set already."""
    fold = found.options["compare"] == "folded"
    seen: dict[str, int] = {}
    keys = (" ".join(text.casefold().split()) if fold else text for text in found.texts.texts)
    ids = np.array([seen.setdefault(key, len(seen)) for key in keys], np.int32)
    starts = np.arange(len(ids) + 1)
    sole = sole_blocks(ids, starts, found.labels, len(seen))
    sizes = np.bincount(found.labels, minlength=DEFAULT_BLOCKS)
    return (found.own(1 - (len(seen) - _alone(sole)) / (len(ids) - sizes)),)


def of_self_repetition(found: Measured) -> Parts:
    """The mean logarithm of how often the n-grams of a text stand in others."""
    grams, labels = found.texts.ngrams(found.options["n"]), found.labels
    within = grams.within
    compact, size = kept_grams(np.bincount(within.ids, minlength=grams.size) > 1)
    table = holders_by_block(within.ids, within.starts, labels, compact, size, DEFAULT_BLOCKS)
    lost = shared_with_blocks(within.ids, within.starts, compact, table)
    keep = (labels[:, None] != np.arange(DEFAULT_BLOCKS)) & (grams.totals > 0)[:, None]
    left = np.log1p(np.where(keep, shared(grams)[:, None] - lost, 0))
    return (found.own(ratio(left.sum(axis=0), keep.sum(axis=0))),)


def of_novelty(found: Measured) -> Parts:
    """The share of n-grams that the other set does not hold, without blocks of either set."""
    own, known = found.texts, found.held.references
    grams = join(own, known).ngrams(found.options["n"])
    starts, behind = grams.starts[: len(own) + 1], grams.starts[len(own) :]
    mine = grams.ids[: starts[-1]]
    theirs = sole_blocks(grams.ids, behind, found.known_labels, grams.size)
    types = found.options["of"] == "types"
    counts = np.unique(mine) if types else mine
    above, below = float(np.sum(theirs[counts] == -2)), len(counts)
    if types:
        ours = sole_blocks(grams.ids, starts, found.labels, grams.size)[counts]
        gone, all_gone = _alone(ours[theirs[counts] == -2]), _alone(ours)
    else:
        owner = np.repeat(found.labels, np.diff(starts))
        gone, all_gone = by_block(theirs[mine] == -2, owner), by_block(np.ones(len(mine)), owner)
    parts = (found.own(ratio(above - gone, below - all_gone)),)
    if not found.drawn:
        return parts
    return (*parts, found.others((above + _alone(theirs[counts])) / max(below, 1)))


def _of_lengths(found: Measured, summary: Callable[[NDArray[Any]], Any]) -> Parts:
    """Any summary of one number for each text."""
    assert found.per_sample is not None
    kept = (found.per_sample[found.labels != block] for block in BLOCKS)
    return (found.own(np.array([summary(values) for values in kept], float)),)


def kept_grams(keep: NDArray[np.bool_]) -> tuple[NDArray[np.int32], int]:
    """Number the n-grams that are kept, densely; -1 for the others."""
    compact = np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int32)
    return compact, int(keep.sum())


def _different(grams: NGrams, labels: Longs) -> Doubles:
    """Different n-grams without each block."""
    return grams.size - _alone(sole_blocks(grams.ids, grams.starts, labels, grams.size))


def _totals(grams: NGrams, labels: Longs) -> Doubles:
    """All n-grams without each block."""
    return len(grams.ids) - by_block(grams.totals, labels)


def _alone(sole: NDArray[np.int32]) -> Doubles:
    """How many are held by each block alone, shape ``(blocks,)``."""
    return np.bincount(sole[sole >= 0], minlength=DEFAULT_BLOCKS).astype(np.float64)
