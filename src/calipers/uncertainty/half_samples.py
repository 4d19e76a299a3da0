"""Half-sampling of both sets: differences of scores between complementary halves.

A half has half of the reference and half of the generated rows, and nothing in common with the
other. Neighbourhoods keep what they would be within each half. The cells of MAUVE are as many as a
half would have had, neighbouring ones joined, so that a cell holds as many rows as before; k-means
on the halves themselves gives about the same variance, and takes as long as all else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from calipers.catalogue.choosing import Choice
from calipers.estimate.histograms import Histograms
from calipers.estimate.knn.neighbourhoods import Neighbourhoods
from calipers.estimate.quantise import Quantisation, bucket_count, joined_cells
from calipers.lazy import lazily
from calipers.metrics.estimates import Estimates
from calipers.metrics.pair import Pair
from calipers.numeric.arrays import Floats
from calipers.numeric.blocks import Blocks
from calipers.uncertainty.delete_block import best_run, unread_rows

FAMILIES = ("support", "frontier")
"""Families whose scores, where they are read from kept counts, are read from halves too."""


def half_differences(pair: Pair, choices: Sequence[Choice]) -> dict[str, Floats]:
    """Compute the difference of scores between the halves, for every halving.

    Parameters
    ----------
    pair
        A pair with blocks.
    choices
        Metrics that are read from counts by block.

    Returns
    -------
    dict
        By name of the choice, as :attr:`calipers.uncertainty.spread.Spread.halves`; metrics that
        halves tell nothing of are left out, and so are scores that are infinite in a half, or the
        same in all of them, as a share of 1 may be: that nothing moved does not say that nothing
        can.
    """
    wanted = [choice for choice in choices if choice.metric.family in FAMILIES]
    if pair.blocks is None or not pair.blocks[0].halvings or not wanted:
        return {}
    count = pair.blocks[0].halvings
    cells = HalfSampleCells(pair)
    table = np.empty((len(wanted), count, 2))
    for halving in range(count):
        for which in (0, 1):
            half = HalfSample.of(pair, halving, which, cells)
            table[:, halving, which] = [choice.score(half).value for choice in wanted]
    with np.errstate(invalid="ignore"):  # a score may be infinite in a half
        gaps = (table[:, :, 0] - table[:, :, 1]) / 2 / np.sqrt(count)
    gaps_by_name = {choice.name: gap for choice, gap in zip(wanted, gaps, strict=True)}
    return {name: gap for name, gap in gaps_by_name.items() if gap.any() and np.isfinite(gap).all()}


@dataclass(frozen=True, eq=False)
class HalfSampleCells:
    """The cells of a pair, merged to as many as half of the rows would have."""

    pair: Pair

    @lazily
    def cells(self) -> Quantisation:
        """The best run, with fewer cells."""
        whole = best_run(self.pair.estimates.cells)
        n, m = len(self.pair.reference) // 2, len(self.pair.generated) // 2
        buckets = self.pair.settings.buckets
        count = min(bucket_count(buckets, n, m), whole.buckets) if n + m > whole.buckets else 2
        groups = joined_cells(whole.centres, round(len(whole.centres) * count / whole.buckets))
        reference, generated = whole.labels
        return replace(whole, labels=(groups[reference], groups[generated]))

    def half(self, rows: tuple[NDArray[np.bool_], NDArray[np.bool_]]) -> Quantisation:
        """Count some of the rows of both sets."""
        reference, generated = self.cells.labels
        size = max(int(reference.max()), int(generated.max())) + 1
        p = np.bincount(reference[rows[0]], minlength=size)
        q = np.bincount(generated[rows[1]], minlength=size)
        filled = p + q > 0
        return replace(self.cells, runs=(Histograms(p[filled], q[filled]),))


@dataclass(frozen=True, eq=False)
class HalfSample(Pair):
    """Half of the rows of both sets, with estimates taken from those of the whole.

    Of the rows only their number is known, as in
    :class:`calipers.uncertainty.delete_block.DeleteBlock`.

    Attributes
    ----------
    whole
        The pair itself.
    halving, which
        Which half it is.
    halved
        The cells of halves.
    """

    whole: Pair = field(kw_only=True)
    halving: int = field(kw_only=True)
    which: int = field(kw_only=True)
    halved: HalfSampleCells = field(kw_only=True)

    @classmethod
    def of(cls, whole: Pair, halving: int, which: int, halved: HalfSampleCells) -> HalfSample:
        """Take one half of a pair."""
        reference, generated = (
            unread_rows(rows, int(blocks.half(halving, which).sum()))
            for rows, blocks in zip((whole.reference, whole.generated), whole.labels, strict=True)
        )
        return cls(
            reference,
            generated,
            whole.settings,
            whole=whole,
            halving=halving,
            which=which,
            halved=halved,
        )

    @lazily
    def blocks(self) -> tuple[Blocks, Blocks] | None:
        """None, since a half is not divided further."""
        return None

    @lazily
    def neighbourhoods(self) -> Neighbourhoods:
        """The counts for the chosen k only."""
        return self.whole.neighbourhoods.half(self.halving, self.which, k=self.settings.k)

    @lazily
    def estimates(self) -> Estimates:
        """The merged cells, counted in this half."""
        left, right = (blocks.half(self.halving, self.which) for blocks in self.whole.labels)
        return HalfSampleEstimates(
            self.reference, self.generated, self.settings, halved=self.halved, rows=(left, right)
        )


@dataclass(frozen=True, eq=False)
class HalfSampleEstimates(Estimates):
    """The estimates of a half."""

    halved: HalfSampleCells = field(kw_only=True)
    rows: tuple[NDArray[np.bool_], NDArray[np.bool_]] = field(kw_only=True)

    @lazily
    def cells(self) -> Quantisation:
        """The merged cells, counted in this half."""
        return self.halved.half(self.rows)
