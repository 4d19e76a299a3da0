"""How well a classifier tells held-out samples of the two sets apart.

Cross-fitted: every sample is judged by a model that has not seen it (Pillutla et al., JMLR 2023,
sections 4.3 and 6.3). Accuracy and area under the ROC curve are 0.5 for sets that it cannot tell
apart, so lower is better; below 0.5 is chance, or samples that stand in both sets. It sees only
what its kind of model can separate, and with few samples little of that.

The accuracy of the discriminator follows section 6.3 instead: a quarter of both sets is tested,
once, and the penalty is chosen by cross-validation on the rest. Of the same samples it tests a
quarter as many, so chance moves it twice as far.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from calipers.metrics.reading import Pins, scored
from calipers.score import Score

if TYPE_CHECKING:
    from calipers.catalogue.estimation import Options
    from calipers.estimate.classifier import Classification, Discrimination
    from calipers.metrics.pair import Pair


def accuracy_score(found: Classification, pins: Pins) -> Score:
    """Share of held-out samples on the right side; 0.5 is no gap."""
    return _score("classifier_accuracy", found.accuracy, found, pins)


def auc_score(found: Classification, pins: Pins) -> Score:
    """Chance that a reference sample looks more like one than a generated sample does."""
    return _score("classifier_auc", found.auc, found, pins)


def discriminator_score(
    found: Discrimination, pins: Pins, *, parts: int = 4, folds: int = 5
) -> Score:
    """Share of the test set on the right side; 0.5 is no gap."""
    made = {"estimator": "discriminator", "test": f"1/{parts}", "penalty": f"cv{folds}"}
    return scored("discriminator_accuracy", found.accuracy, {**made, **pins})


def _score(metric: str, value: float, found: Classification, pins: Pins) -> Score:
    return scored(metric, float(value), {**found.ratios.pins, **pins})


def read_classifier_accuracy(pair: Pair, _: Options) -> Score:
    made = pair.estimates
    return accuracy_score(made.classification("logistic"), made.row_pins)


def read_classifier_auc(pair: Pair, _: Options) -> Score:
    made = pair.estimates
    return auc_score(made.classification("logistic"), made.row_pins)


def read_discriminator_accuracy(pair: Pair, _: Options) -> Score:
    from calipers.estimate.classifier import discriminate

    made, settings = pair.estimates, pair.settings
    found = discriminate(
        made.reference, made.generated, seed=settings.seed, threads=settings.threads
    )
    return discriminator_score(found, made.row_pins)
