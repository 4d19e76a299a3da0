"""Pairs without one block of rows, computed from counts that the estimates keep.

Nothing is measured again: neighbourhoods, histograms and moments know what they would be without
each block of rows, so a replicate of a score costs a sum, and the metric that reads it is the one
that read the score. The cells of the quantisation and the space of comparison stay those of the
full sets. How much the starts of k-means move a score is read likewise, from a pair as one of its
starts shows it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from calipers.catalogue.estimation import EstimationOptions
from calipers.estimate.knn.neighbourhoods import Neighbourhoods
from calipers.estimate.moments import Moments
from calipers.estimate.quantise import Quantisation
from calipers.estimate.sample_odds import SampleOdds
from calipers.lazy import lazily
from calipers.metrics.estimates import Estimates
from calipers.metrics.pair import Pair
from calipers.numeric.blocks import Blocks, SideName
from calipers.numeric.distances import Points


@dataclass(frozen=True, eq=False)
class OneRun(Pair):
    """A pair with a single start of k-means, to measure the effect of the start.

    Attributes
    ----------
    whole
        The pair itself.
    run
        Which of the starts, from 0.
    """

    whole: Pair = field(kw_only=True)
    run: int = field(kw_only=True)

    @classmethod
    def of(cls, whole: Pair, run: int) -> OneRun:
        """Select one of the starts."""
        return cls(whole.reference, whole.generated, whole.settings, whole=whole, run=run)

    @lazily
    def estimates(self) -> Estimates:
        """The cells of that start."""
        return OneRunEstimates(
            self.reference,
            self.generated,
            self.settings,
            whole=self.whole.estimates,
            run=self.run,
        )


@dataclass(frozen=True, eq=False)
class OneRunEstimates(Estimates):
    """The estimates of a pair from one start of k-means."""

    whole: Estimates = field(kw_only=True)
    run: int = field(kw_only=True)

    @lazily
    def cells(self) -> Quantisation:
        """The cells behind MAUVE, from this start."""
        return one_run(self.whole.cells, self.run)

    @lazily
    def prd_cells(self) -> Quantisation:
        """The few cells of the precision-recall curve, from this start."""
        return one_run(self.whole.prd_cells, self.run)


def one_run(cells: Quantisation, run: int) -> Quantisation:
    """Return a quantisation with one of its runs."""
    return replace(cells, runs=(cells.runs[run],), inertias=(cells.inertias[run],))


def best_run(cells: Quantisation) -> Quantisation:
    """Return a quantisation with the best of its runs, the first among ties."""
    return one_run(cells, min(range(len(cells.runs)), key=cells.inertias.__getitem__))


SIDES: tuple[SideName, SideName] = ("reference", "generated")


@dataclass(frozen=True, eq=False)
class DeleteBlock(Pair):
    """A pair without one block of rows of one of its sets.

    Of that set only the number of rows is known; the rows themselves are NaN, so that a metric
    which reads them cannot give a number that looks right.

    Attributes
    ----------
    whole
        The pair itself.
    side, block
        Which block of which set is left out.
    """

    whole: Pair = field(kw_only=True)
    side: SideName = field(kw_only=True)
    block: int = field(kw_only=True)

    @classmethod
    def of(cls, whole: Pair, side: SideName, block: int) -> DeleteBlock:
        """Leave a block of rows out of one of the two sets."""
        count = int(np.count_nonzero(labels_of(whole, side).labels != block))
        ours, theirs = whole.reference, whole.generated
        if side == "reference":
            ours = unread_rows(ours, count)
        else:
            theirs = unread_rows(theirs, count)
        return cls(ours, theirs, whole.settings, whole=whole, side=side, block=block)

    @lazily
    def blocks(self) -> tuple[Blocks, Blocks] | None:
        """The labels of the remaining rows, so that a second block can be left out too."""
        labels = {side: labels_of(self.whole, side) for side in SIDES}
        whole = labels[self.side]
        labels[self.side] = Blocks(whole.labels[self.kept], whole.count)
        return labels["reference"], labels["generated"]

    @property
    def kept(self) -> NDArray[np.bool_]:
        """Which rows of its side remain."""
        keep: NDArray[np.bool_] = labels_of(self.whole, self.side).labels != self.block
        return keep

    @lazily
    def neighbourhoods(self) -> Neighbourhoods:
        """The counts for the chosen k only."""
        return self.whole.neighbourhoods.without(self.side, self.block, k=self.settings.k)

    @lazily
    def estimates(self) -> Estimates:
        """The cells of the full pair, counted without the block."""
        return DeleteBlockEstimates(
            self.reference,
            self.generated,
            self.settings,
            whole=self.whole.estimates,
            side=self.side,
            block=self.block,
            left_out=~self.kept,
        )

    @lazily
    def moments(self) -> tuple[Moments, Moments]:
        """Mean and covariance of both sets, one of them without the block."""
        left, right = self.whole.moments
        if self.side == "reference":
            return left.without(self._block(self.whole.projected[0])), right
        return left, right.without(self._block(self.whole.projected[1]))

    def _block(self, rows: Points) -> Moments:
        in_block = labels_of(self.whole, self.side).labels == self.block
        return Moments.of(rows[in_block], precise=True)


@dataclass(frozen=True, eq=False)
class DeleteBlockEstimates(Estimates):
    """The estimates of a pair over its own cells, counted without one block of rows."""

    whole: Estimates = field(kw_only=True)
    side: SideName = field(kw_only=True)
    block: int = field(kw_only=True)
    left_out: NDArray[np.bool_] = field(kw_only=True)

    @lazily
    def cells(self) -> Quantisation:
        """The best run only, since no metric reads the others."""
        return self._recounted(best_run(self.whole.cells))

    @lazily
    def prd_cells(self) -> Quantisation:
        """Every run, since their curves are averaged."""
        return self._recounted(self.whole.prd_cells)

    def odds(self, options: EstimationOptions) -> SampleOdds:
        """Return the odds of the remaining samples, by the same classifiers."""
        return self.whole.odds(options).without(self.side, self.left_out)

    def _recounted(self, cells: Quantisation) -> Quantisation:
        runs = tuple(run.without(self.side, self.block) for run in cells.runs)
        return replace(cells, runs=runs)


def unread_rows(rows: Points, count: int) -> Points:
    """Return rows of NaN that take no memory, where only their number matters."""
    unread: Points = np.broadcast_to(np.asarray(np.nan, rows.dtype), (count, rows.shape[1]))
    return unread


def labels_of(pair: Pair, side: SideName) -> Blocks:
    """Return the block of every row of one of the sets.

    Raises
    ------
    ValueError
        If the sets are too small to have blocks.
    """
    if pair.blocks is None:
        raise ValueError("sets this small have no blocks")
    return pair.blocks[side == "generated"]
