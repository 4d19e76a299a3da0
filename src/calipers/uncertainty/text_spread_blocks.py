"""What every way of leaving out blocks of texts shares: the blocks, and means without each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.numeric.blocks import DEFAULT_BLOCKS, Blocks
from calipers.text.corpus import Corpus
from calipers.text.measuring import Held
from calipers.uncertainty.spread import Component, Doubles, Source

Longs = NDArray[np.int64]

BLOCKS = range(DEFAULT_BLOCKS)


@dataclass(frozen=True, eq=False)
class Measured:
    """A statistic that was measured, and what it was measured on.

    Attributes
    ----------
    held
        The texts, and what they are held against.
    options
        Of the metric.
    value, per_sample
        What it gave; shape ``(n,)``, NaN for texts without a value.
    source
        What draws the texts: ``"generated"``, or ``"reference"`` for T(P).
    drawn
        Whether what they are held against was drawn too, and is not a given training set.
    """

    held: Held
    options: Mapping[str, Any]
    value: float
    per_sample: NDArray[Any] | None
    source: Source = "generated"
    drawn: bool = False

    @property
    def texts(self) -> Corpus:
        """The texts."""
        return self.held.texts

    @cached_property
    def labels(self) -> Longs:
        """The block of every text, the same for all sets of one size."""
        return labels_of(self.texts, self.held.seed)

    @cached_property
    def known_labels(self) -> Longs:
        """The block of every text that they are held against."""
        return labels_of(self.held.references, self.held.seed)

    def own(self, replicates: Doubles) -> Component:
        """The source of the texts, from the values without each block of them."""
        return Component.jackknife(self.source, replicates)

    def others(self, replicates: Doubles) -> Component:
        """The source of what they are held against."""
        return Component.jackknife("reference", replicates)


def labels_of(texts: Corpus, seed: int, count: int = DEFAULT_BLOCKS) -> Longs:
    """The block of every text: by the size of the set and the seed alone, or by whole clusters."""
    return Blocks.of(len(texts), texts.clusters, seed=seed, count=count).labels


def by_block(values: NDArray[Any], labels: Longs) -> Doubles:
    """Sum values over each block, shape ``(blocks,)``."""
    sums: Doubles = np.bincount(labels, values, DEFAULT_BLOCKS).astype(np.float64)
    return sums


def means_without(values: NDArray[Any], labels: Longs) -> Doubles:
    """The mean of the values that are there without each block, shape ``(blocks,)``."""
    there = ~np.isnan(values.astype(np.float64))
    sums, counts = by_block(np.where(there, values, 0.0), labels), by_block(there, labels)
    return ratio(sums.sum() - sums, counts.sum() - counts)


def ratio(above: Doubles, below: Doubles) -> Doubles:
    """Divide; NaN where there is nothing to divide by."""
    quotients: Doubles = np.full(len(above), np.nan)
    np.divide(above, below, out=quotients, where=below > 0)
    return quotients
