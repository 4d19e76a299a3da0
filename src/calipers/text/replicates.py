"""Replicates of a statistic of texts: its values without each of twenty blocks of texts.

How a statistic is read without blocks stands beside it, as a function of what was measured; here is
what these functions share. Where one gives None, it knows no blocks for these options, and disjoint
parts of the texts must tell how much the statistic moves. None measures anew where counts tell what
a block contributes: different n-grams are counted once, with the block that alone holds each, so
that a replicate is a difference of counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.numeric import native
from calipers.numeric.arrays import Floats, Ints, Longs
from calipers.numeric.blocks import DEFAULT_BLOCKS, Blocks
from calipers.text.corpus import Corpus
from calipers.text.ngrams import NGrams
from calipers.text.scoring import Chosen, TextPair

BLOCKS = range(DEFAULT_BLOCKS)


@dataclass(frozen=True, eq=False, kw_only=True)
class TextReplicates:
    """The values of a statistic without each block; empty where unknown.

    Attributes
    ----------
    texts, references, rows
        By what the blocks were cut from, each of shape ``(blocks,)`` or None; rows are texts with
        their own references.
    approximate
        Whether they leave something out.
    """

    texts: Floats | None = None
    references: Floats | None = None
    rows: Floats | None = None
    approximate: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class MeasuredTexts(TextPair):
    """A measured statistic, with the texts that it was measured on.

    Attributes
    ----------
    options
        Of the metric.
    value, per_sample
        What it gave; shape ``(n,)``, NaN for texts without a value.
    drawn
        Whether what the texts are compared with was drawn too, and is not a given training set.
    """

    options: Chosen
    value: float
    per_sample: NDArray[Any] | None = None
    drawn: bool = False

    @cached_property
    def labels(self) -> Longs:
        """The block of every text, the same for all sets of one size."""
        return block_labels(self.texts, self.seed)

    @cached_property
    def reference_labels(self) -> Longs:
        """The block of every reference text."""
        return block_labels(self.references, self.seed)

    @property
    def by_text(self) -> NDArray[Any]:
        """The per-text values, where the statistic has them."""
        assert self.per_sample is not None
        return self.per_sample


def block_labels(texts: Corpus, seed: int, count: int = DEFAULT_BLOCKS) -> Longs:
    """Return the block of every text, by set size and seed alone or by whole clusters."""
    return Blocks.of(len(texts), texts.clusters, seed=seed, count=count).labels


def mean_replicates(measured: MeasuredTexts) -> TextReplicates:
    """Compute replicates of a mean of per-text values."""
    return TextReplicates(texts=means_without(measured))


def row_mean_replicates(measured: MeasuredTexts) -> TextReplicates:
    """Compute replicates of a mean over rows, each a text with its own reference."""
    return TextReplicates(rows=means_without(measured))


def means_without(measured: MeasuredTexts) -> Floats:
    """Compute the mean of the texts that have a value, without each block of texts."""
    values, labels = measured.by_text, measured.labels
    there = ~np.isnan(values.astype(np.float64))
    sums, counts = by_block(np.where(there, values, 0.0), labels), by_block(there, labels)
    return ratio(sums.sum() - sums, counts.sum() - counts)


def by_block(values: NDArray[Any], labels: Longs) -> Floats:
    """Sum values over each block, shape ``(blocks,)``."""
    sums: Floats = np.bincount(labels, values, DEFAULT_BLOCKS).astype(np.float64)
    return sums


def ratio(above: Floats, below: Floats) -> Floats:
    """Divide; NaN for a denominator of zero."""
    quotients: Floats = np.full(len(above), np.nan)
    np.divide(above, below, out=quotients, where=below > 0)
    return quotients


def different_without(ngrams: NGrams, labels: Longs) -> Floats:
    """Count distinct n-grams without each block."""
    return ngrams.size - held_alone(sole_blocks(ngrams.ids, ngrams.starts, labels, ngrams.size))


def totals_without(ngrams: NGrams, labels: Longs) -> Floats:
    """Count all n-grams without each block."""
    return len(ngrams.ids) - by_block(ngrams.totals, labels)


def held_alone(sole: Ints) -> Floats:
    """Count the n-grams that each block alone holds, from :func:`sole_blocks`; ``(blocks,)``."""
    return np.bincount(sole[sole >= 0], minlength=DEFAULT_BLOCKS).astype(np.float64)


def sole_blocks(ids: Ints, starts: Longs, labels: Longs, size: int) -> Ints:
    """Find the only block with each n-gram; -1 for several, -2 for none."""
    sole = np.empty(size, np.int32)
    _find_sole(ids, starts, labels, sole)
    return sole


_find_sole = native.kernel(
    "find_sole_blocks",
    "ids i4[total]",
    "starts i8[bounds]",
    "labels i8[texts]",
    "sole i4[size] out",
)
