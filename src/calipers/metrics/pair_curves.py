"""The curves of one pair, each made once, and what signs the scores that are read from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from calipers.curves.frontier import DivergenceFrontier, divergence_frontier
from calipers.curves.precision_recall import PrecisionRecallCurve, precision_recall_curve
from calipers.estimate.estimators import PAIRED_C
from calipers.metrics.estimates import Estimates, Pins
from calipers.metrics.frontiers import quantisation_pins, starred_key
from calipers.metrics.keys import COUNTING, Options
from calipers.metrics.prd import averaged, cell_pins


@dataclass(frozen=True, eq=False)
class Curves:
    """Trade-off curves of a pair, from whichever of its estimates a key names."""

    estimates: Estimates

    @cached_property
    def frontiers(self) -> dict[Options, DivergenceFrontier]:
        """The divergence frontiers that were made so far."""
        return {}

    @cached_property
    def trade_offs(self) -> dict[str, PrecisionRecallCurve]:
        """The precision-recall curves that were made so far, by estimator."""
        return {}

    def frontier(self, options: Options) -> DivergenceFrontier:
        """The divergence frontier that the options choose."""
        if options not in self.frontiers:
            estimate = self.estimates.estimate(options)
            made = divergence_frontier(estimate, divergence=options.divergence)
            self.frontiers[options] = made
        return self.frontiers[options]

    def trade_off(self, estimator: str) -> PrecisionRecallCurve:
        """The precision-recall curve: over cells the mean of ten runs."""
        if estimator not in self.trade_offs:
            counted = estimator == COUNTING
            self.trade_offs[estimator] = (
                averaged(self.estimates.prd_cells)
                if counted
                else precision_recall_curve(self.estimates.ratios(estimator))
            )
        return self.trade_offs[estimator]

    def scaling(self, estimator: str) -> float:
        """The scaling constant c: as given, or the one that goes with the estimator."""
        return (
            PAIRED_C[estimator] if self.estimates.settings.c is None else self.estimates.settings.c
        )

    def pins(self, options: Options) -> Pins:
        """What made an estimate, for the signatures of what is read from it."""
        if options.estimator == COUNTING:
            return quantisation_pins(self.estimates.cells) | {"seed": self.estimates.settings.seed}
        return {**self.estimates.ratios(options.estimator).pins, **self.estimates.row_pins}

    def trade_off_pins(self, estimator: str) -> Pins:
        """What made a precision-recall curve."""
        if estimator == COUNTING:
            return cell_pins(self.estimates.prd_cells) | {"seed": self.estimates.settings.seed}
        return {**self.estimates.ratios(estimator).pins, **self.estimates.row_pins}

    @property
    def by_key(self) -> dict[str, DivergenceFrontier | PrecisionRecallCurve]:
        """All curves that were made so far: ``frontier_star``, ``frontier:chi2``, ``prd:knn``."""
        frontiers = {starred_key("frontier", each): made for each, made in self.frontiers.items()}
        trade_offs = {
            Options(estimator=each).key("prd"): made for each, made in self.trade_offs.items()
        }
        return {**frontiers, **trade_offs}
