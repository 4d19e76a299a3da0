"""A pair as one start of k-means shows it: how much the starts alone move a score."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

from calipers.estimate.quantise import Quantisation
from calipers.metrics.estimates import Estimates
from calipers.metrics.pair import Pair


@dataclass(frozen=True, eq=False)
class OneRun(Pair):
    """A pair as a single start of k-means shows it, to tell how much the starts matter.

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
        """Look at one of the starts."""
        return cls(whole.reference, whole.generated, whole.settings, whole=whole, run=run)

    @cached_property
    def estimates(self) -> Estimates:
        """The cells of that start."""
        return RunEstimates(
            self.reference,
            self.generated,
            self.settings,
            whole=self.whole.estimates,
            run=self.run,
        )


@dataclass(frozen=True, eq=False)
class RunEstimates(Estimates):
    """The estimates of a pair from one start of k-means."""

    whole: Estimates = field(kw_only=True)
    run: int = field(kw_only=True)

    @cached_property
    def cells(self) -> Quantisation:
        """The cells behind MAUVE, by this start."""
        return one_run(self.whole.cells, self.run)

    @cached_property
    def prd_cells(self) -> Quantisation:
        """The few cells of the precision-recall curve, by this start."""
        return one_run(self.whole.prd_cells, self.run)


def one_run(cells: Quantisation, run: int) -> Quantisation:
    """A quantisation with one of its runs."""
    return replace(cells, runs=(cells.runs[run],), inertias=(cells.inertias[run],))


def best_run(cells: Quantisation) -> Quantisation:
    """A quantisation with the best of its runs, the first among equals."""
    return one_run(cells, min(range(len(cells.runs)), key=cells.inertias.__getitem__))
