"""The estimates of one pair by all estimators, and its curves, computed on first access."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from calipers.catalogue.estimation import (
    COUNTING,
    HELD_OUT,
    JUDGES,
    PAIRED_C,
    EstimationOptions,
)
from calipers.catalogue.settings import Buckets, Settings
from calipers.curves.frontier import (
    BOTH_SIDES,
    OWN_SIDE,
    DivergenceFrontier,
    divergence_frontier,
)
from calipers.curves.precision_recall import (
    PrecisionRecallCurve,
    mean_curve,
    precision_recall_curve,
)
from calipers.curves.renyi import RenyiFrontier, renyi_frontier
from calipers.errors import InputError
from calipers.estimate.estimators import LEADING_AXES, estimate_ratios
from calipers.estimate.likelihood_ratios import Estimate, LikelihoodRatios
from calipers.estimate.quantise import Quantisation, quantise
from calipers.estimate.sample_odds import SampleOdds
from calipers.lazy import lazily
from calipers.numeric.blocks import Blocks
from calipers.numeric.distances import Points, Sides

if TYPE_CHECKING:
    from calipers.estimate.classifier import Classification, Model
    from calipers.estimate.prompt_strata import Prompts

Made = TypeVar("Made")
Quantise = Callable[[Buckets, int], Quantisation]
Pins = dict[str, object]

FEWEST_SHARED = 10.0
"""Samples in what two sets have in common, below which the size of the gap is extrapolated."""


@dataclass(frozen=True)
class Remark:
    """A remark on an estimate: a few words, and a sentence."""

    brief: str
    text: str

    def by(self, view: str) -> Remark:
        """Return the same remark, naming a view."""
        return replace(self, text=f"by {view}, {self.text}")


def _too_far(estimator: str, shared: float, samples: int) -> Remark | None:
    """Say that two sets are too far apart for an estimator of ratios to tell how far.

    Parameters
    ----------
    estimator
        Its name.
    shared
        The mass that both distributions have in common, by that estimator.
    samples
        Of the smaller set.
    """
    if shared * samples >= FEWEST_SHARED:
        return None
    return Remark(
        f"too far apart for {estimator}",
        f"it and the reference share {shared:.1%} of their distributions by the estimator "
        f"{estimator}, {shared * samples:.1f} of {samples:,} samples: they certainly differ, but "
        "how far, and which of several such systems is closer, follows from the assumptions of "
        "the estimator, not from the samples, so its scores have no intervals",
    )


FEWEST_PROMPTS = 10
"""Prompts on a side for folds of whole ones."""

BUCKETS, RUNS = 20, 10
"""Cells and runs of k-means of the averaged precision-recall curve."""


@dataclass(frozen=True, eq=False)
class Estimates:
    """The estimates of one pair of sets, by every estimator.

    Attributes
    ----------
    reference, generated
        Preprocessed rows, shapes ``(n, q)`` and ``(m, q)``.
    settings
        The choices that all metrics share.
    blocks
        Labels for replicates, or None.
    quantised
        Gives the quantisation by a number of cells and of runs, where it is not of this pair alone.
    prompts
        The number of the prompt that each row answers, for the folds of classifiers; None where the
        sets share none, or fewer than :data:`FEWEST_PROMPTS` are on a side.
    near
        Both sets where neighbours are looked for; None where that is among the rows.
    strata
        A number for every row of either set, of which equal ones are no neighbours; None where all
        may be.
    """

    reference: Points
    generated: Points
    settings: Settings
    blocks: tuple[Blocks, Blocks] | None = None
    quantised: Quantise | None = None
    prompts: Prompts | None = None
    near: Sides | None = None
    strata: Prompts | None = None

    @lazily
    def cells(self) -> Quantisation:
        """The cells behind MAUVE and its family, and behind quantised transport."""
        return self._quantise(self.settings.buckets, self.settings.restarts)

    @lazily
    def prd_cells(self) -> Quantisation:
        """The few cells of the averaged precision-recall curve, in ten runs of k-means."""
        return self._quantise(min(BUCKETS, len(self.reference) + len(self.generated)), RUNS)

    def estimate(self, options: EstimationOptions) -> Estimate:
        """Return the estimate of the two distributions that the options choose."""
        if options.estimator == COUNTING:
            return self.cells.best.smoothed(options.smoothing)
        return self.ratios(options.estimator)

    def ratios(self, estimator: str) -> LikelihoodRatios:
        """Return likelihood ratios at the rows of both sets, by the chosen estimator."""
        return self._once(("ratios", estimator), lambda: self._ratios(estimator))

    def odds(self, options: EstimationOptions) -> SampleOdds:
        """Return the odds of every sample by the chosen classifiers."""
        name = options.estimator, options.points
        return self._once(("odds", name), lambda: self._odds(options))

    def classification(self, model: Model) -> Classification:
        """The result of a cross-fitted classifier on all axes."""
        return self._once(("classifier", model), lambda: self._classify(model))

    @property
    def row_pins(self) -> Pins:
        """Sizes of both sets, and the seed."""
        return {"n": len(self.reference), "m": len(self.generated), "seed": self.settings.seed}

    @property
    def seed_pin(self) -> Pins:
        """The seed, as signatures state it."""
        return {"seed": self.settings.seed}

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """Remarks on the likelihood ratios that were estimated so far."""
        made = [estimator for kind, estimator in self._made if kind == "ratios"]
        return tuple(filter(None, map(self.too_far, made)))

    def too_far(self, estimator: str) -> Remark | None:
        """Explain that the sets are too far apart for an estimator that was used; None if not."""
        made = self._made.get(("ratios", estimator))
        if made is None:
            return None
        return _too_far(estimator, made.shared, min(len(self.reference), len(self.generated)))

    @lazily
    def _made(self) -> dict[tuple[str, Any], Any]:
        """Estimates that are named by an option."""
        return {}

    def _once(self, name: tuple[str, Hashable], make: Callable[[], Made]) -> Made:
        if name not in self._made:
            self._made[name] = make()
        made: Made = self._made[name]
        return made

    def _classify(self, model: Model) -> Classification:
        from calipers.estimate.classifier import SeparationWarning, classify

        seed, threads = self.settings.seed, self.settings.threads
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SeparationWarning)  # by its AUC
            return classify(
                self.reference,
                self.generated,
                model=model,
                prompts=self.prompts,
                seed=seed,
                threads=threads,
            )

    def _ratios(self, estimator: str) -> LikelihoodRatios:
        from calipers.estimate.classifier import SeparationWarning

        seed, threads = self.settings.seed, self.settings.threads
        if estimator == "knn":
            _check_neighbours(len(self.reference) + len(self.generated))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SeparationWarning)  # see `remarks`
            return estimate_ratios(
                estimator,
                self.reference,
                self.generated,
                prompts=self.prompts,
                dimensions=self.settings.dimensions or LEADING_AXES,
                seed=seed,
                threads=threads,
            )

    def _odds(self, options: EstimationOptions) -> SampleOdds:
        from calipers.estimate.classifier_odds import sample_odds

        family: Any = options.estimator
        by_balls, held_out = family in JUDGES, options.points == HELD_OUT
        rows = self.near if by_balls and self.near is not None else (self.reference, self.generated)
        return sample_odds(
            *rows,
            family,
            k=self.settings.k if by_balls and not held_out else None,
            held_out=held_out,
            ties=self.settings.ties,
            distance=self.settings.distance,
            prompts=self.prompts if held_out else self.strata,
            seed=self.settings.seed,
            threads=self.settings.threads,
        )

    def _quantise(self, buckets: Buckets, restarts: int) -> Quantisation:
        if self.quantised is not None:
            return self.quantised(buckets, restarts)
        return quantise(
            self.reference,
            self.generated,
            buckets=buckets,
            restarts=restarts,
            seed=self.settings.seed,
            blocks=self.blocks,
            threads=self.settings.threads,
        )


@dataclass(frozen=True, eq=False)
class Curves:
    """Trade-off curves of a pair, from any of its estimates."""

    estimates: Estimates

    @lazily
    def frontiers(self) -> dict[EstimationOptions, DivergenceFrontier]:
        """The divergence frontiers that were computed so far."""
        return {}

    @lazily
    def trade_offs(self) -> dict[EstimationOptions, PrecisionRecallCurve]:
        """The precision-recall curves that were computed so far."""
        return {}

    def frontier(self, options: EstimationOptions) -> DivergenceFrontier:
        """Return the divergence frontier that the options choose."""
        if options not in self.frontiers:
            estimate = self.estimates.estimate(options)
            made = divergence_frontier(
                estimate, divergence=options.divergence, points=options.averaged_over
            )
            self.frontiers[options] = made
        return self.frontiers[options]

    def trade_off(self, options: EstimationOptions) -> PrecisionRecallCurve:
        """Return the precision-recall curve that the options choose; over cells, a mean of runs."""
        if options not in self.trade_offs:
            self.trade_offs[options] = self._trade_off(options)
        return self.trade_offs[options]

    @lazily
    def renyis(self) -> dict[EstimationOptions, RenyiFrontier]:
        """The Rényi frontiers that were computed so far."""
        return {}

    def renyi(self, options: EstimationOptions) -> RenyiFrontier:
        """Return the Rényi frontier that the options choose."""
        if options not in self.renyis:
            estimate = self.estimates.estimate(options)
            self.renyis[options] = renyi_frontier(
                estimate, order=options.order, kind=options.common
            )
        return self.renyis[options]

    def _trade_off(self, options: EstimationOptions) -> PrecisionRecallCurve:
        if options.estimator == COUNTING:
            return averaged(self.estimates.prd_cells)
        if options.judged:
            return precision_recall_curve(self.estimates.odds(options))
        return precision_recall_curve(
            self.estimates.ratios(options.estimator),
            points=OWN_SIDE if options.points == OWN_SIDE else BOTH_SIDES,
        )

    def scaling(self, estimator: str) -> float:
        """Return the scaling constant c: as given, or the default of the estimator."""
        return (
            PAIRED_C[estimator] if self.estimates.settings.c is None else self.estimates.settings.c
        )

    def pins(self, options: EstimationOptions) -> Pins:
        """Describe how an estimate was made, for signatures."""
        if options.estimator == COUNTING:
            return cell_pins(self.estimates.cells) | self.estimates.seed_pin
        return {**self.estimates.ratios(options.estimator).pins, **self.estimates.row_pins}

    def trade_off_pins(self, options: EstimationOptions) -> Pins:
        """Describe how a precision-recall curve was made, for signatures."""
        if options.estimator == COUNTING:
            return cell_pins(self.estimates.prd_cells, runs="runs") | self.estimates.seed_pin
        if options.judged:
            return {**self.estimates.row_pins, **self.estimates.odds(options).pins}
        pins = self.estimates.ratios(options.estimator).pins
        return {**pins, "points": options.points, **self.estimates.row_pins}

    @property
    def by_key(self) -> dict[str, DivergenceFrontier | PrecisionRecallCurve | RenyiFrontier]:
        """All curves computed so far: ``frontier_star``, ``frontier:chi2``, ``prd:knn``."""
        frontiers = {
            options.starred_key("frontier"): made for options, made in self.frontiers.items()
        }
        trade_offs = {options.key("prd"): made for options, made in self.trade_offs.items()}
        by_order = {options.key("renyi"): made for options, made in self.renyis.items()}
        return {**frontiers, **trade_offs, **by_order}


def averaged(cells: Quantisation) -> PrecisionRecallCurve:
    """Average the curves of all runs at each angle."""
    return mean_curve([precision_recall_curve(run) for run in cells.runs])


def cell_pins(cells: Quantisation, *, runs: str = "restarts") -> Pins:
    """Describe how the cells were made, with the sizes of both sets, for signatures.

    `runs` is what the runs of k-means are: restarts, of which the best counts, or all of them.
    """
    return {
        "buckets": cells.buckets,
        "kmeans": "lloyd_random",
        runs: len(cells.runs),
        "n": int(np.sum(cells.best.reference)),
        "m": int(np.sum(cells.best.generated)),
    }


def _check_neighbours(samples: int) -> None:
    """Refuse sets that have too few neighbours, whose number no option chooses."""
    from calipers.estimate.balanced_neighbours import PAPER_K

    if samples <= PAPER_K:
        raise InputError(
            f"knn takes {PAPER_K} neighbours and needs at least {PAPER_K + 1} samples in both sets "
            f"together; found {samples} (`k` does not change it)"
        )
