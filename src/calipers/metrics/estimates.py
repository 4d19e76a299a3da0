"""The estimates of one pair by any estimator: each made once, when first asked for."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from calipers.errors import InputError
from calipers.estimate.estimators import estimate_ratios
from calipers.estimate.likelihood_ratios import Estimate, LikelihoodRatios
from calipers.estimate.quantise import Buckets, Quantisation, quantise
from calipers.metrics.keys import COUNTING, Options
from calipers.metrics.prd import BUCKETS, RUNS
from calipers.metrics.settings import Settings
from calipers.numeric.blocks import Blocks
from calipers.numeric.distances import Points
from calipers.score import signature

if TYPE_CHECKING:
    from calipers.estimate.classifier import Classification, Model
    from calipers.metrics.transport import EntropicTransport

Made = TypeVar("Made")
Quantise = Callable[[Buckets, int], Quantisation]
Pins = dict[str, object]

CLASSIFIERS: dict[str, Model] = {"classifier": "logistic", "boosted": "boosted"}
"""The estimators that are classifiers, by the model that they fit."""

MODELS = {"logistic": "linear", "boosted": "boosted"}


@dataclass(frozen=True, eq=False)
class Estimates:
    """How two sets of rows relate, by whichever estimator is asked for.

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
    """

    reference: Points
    generated: Points
    settings: Settings
    blocks: tuple[Blocks, Blocks] | None = None
    quantised: Quantise | None = None

    @cached_property
    def cells(self) -> Quantisation:
        """The cells behind MAUVE and its family, and behind quantised transport."""
        return self._quantise(self.settings.buckets, self.settings.restarts)

    @cached_property
    def prd_cells(self) -> Quantisation:
        """The few cells of the averaged precision-recall curve, in ten runs."""
        return self._quantise(min(BUCKETS, len(self.reference) + len(self.generated)), RUNS)

    def estimate(self, options: Options) -> Estimate:
        """What the options relate the two distributions by."""
        if options.estimator == COUNTING:
            return self.cells.best.smoothed(options.smoothing)
        return self.ratios(options.estimator)

    def ratios(self, estimator: str) -> LikelihoodRatios:
        """Likelihood ratios at the rows of both sets, by an estimator that gives them."""
        if estimator in CLASSIFIERS:
            return self.classification(CLASSIFIERS[estimator]).ratios
        return self._once(("ratios", estimator), lambda: self._ratios(estimator))

    def classification(self, model: Model) -> Classification:
        """What a cross-fitted classifier says of the rows."""
        return self._once(("classifier", model), lambda: self._classify(model))

    @cached_property
    def entropic(self) -> EntropicTransport:
        """Entropic transport between the histograms, as it is and debiased."""
        from calipers.metrics.transport import entropic_transport_scores

        return entropic_transport_scores(
            self.reference, self.generated, self.cells, pins=self.seed_pin
        )

    @property
    def row_pins(self) -> Pins:
        """Sizes of both sets, and the seed."""
        return {"n": len(self.reference), "m": len(self.generated), "seed": self.settings.seed}

    @property
    def seed_pin(self) -> str:
        """The seed as a line of a signature."""
        return signature({"seed": self.settings.seed})

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known of the estimates that were made so far."""
        return tuple(
            f"the {MODELS[model]} classifier tells it from the reference without one error on "
            "held-out samples: likelihood ratios read from it are finite, but their size means "
            "little"
            for (kind, model), made in self._made.items()
            if kind == "classifier" and made.separates
        )

    @cached_property
    def _made(self) -> dict[tuple[str, Any], Any]:
        """Estimates that are named by an option."""
        return {}

    def _once(self, name: tuple[str, Hashable], make: Callable[[], Made]) -> Made:
        if name not in self._made:
            self._made[name] = make()
        made: Made = self._made[name]
        return made

    def _classify(self, model: Model) -> Classification:
        from calipers.estimate.classifier import classify

        seed, threads = self.settings.seed, self.settings.threads
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="the classifier tells")  # said in `notes`
            return classify(self.reference, self.generated, model=model, seed=seed, threads=threads)

    def _ratios(self, estimator: str) -> LikelihoodRatios:
        seed, threads = self.settings.seed, self.settings.threads
        if estimator == "knn":
            _check_neighbours(len(self.reference) + len(self.generated))
        return estimate_ratios(
            estimator, self.reference, self.generated, seed=seed, threads=threads
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


def _check_neighbours(samples: int) -> None:
    """Refuse sets that have too few neighbours, whose number no option chooses."""
    from calipers.estimate.ratios import PAPER_K

    if samples <= PAPER_K:
        raise InputError(
            f"knn takes {PAPER_K} neighbours and needs at least {PAPER_K + 1} samples in both sets "
            f"together; found {samples} (--k does not change it)"
        )
