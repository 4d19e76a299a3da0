"""Entries of the scores of a classifier that tells the two sets apart."""

from __future__ import annotations

from calipers.metrics.classifier import accuracy_score, auc_score, discriminator_score
from calipers.metrics.entries.metric import Metric
from calipers.metrics.keys import Options
from calipers.metrics.pair import Pair
from calipers.score import Score

JMLR = "Pillutla et al., JMLR 2023"
SOURCE = f"{JMLR}, section 4.3"
LINEAR = "what no plane between the embeddings can separate; 0.5 may mean that it learnt nothing"


def _accuracy(pair: Pair, _: Options) -> Score:
    made = pair.estimates
    return accuracy_score(made.classification("logistic"), made.row_pins)


def _auc(pair: Pair, _: Options) -> Score:
    made = pair.estimates
    return auc_score(made.classification("logistic"), made.row_pins)


def _discriminator(pair: Pair, _: Options) -> Score:
    from calipers.estimate.classifier import discriminate

    made, settings = pair.estimates, pair.settings
    found = discriminate(
        made.reference, made.generated, seed=settings.seed, threads=settings.threads
    )
    return discriminator_score(found, made.row_pins)


ENTRIES = (
    Metric(
        name="classifier_accuracy",
        family="classifier",
        tells="how often held-out samples are told apart; 0.5 is no gap",
        read=_accuracy,
        source=SOURCE,
        blind=LINEAR,
        on_request=True,
        better="lower",
    ),
    Metric(
        name="classifier_auc",
        family="classifier",
        tells="how well held-out samples are ordered by their side; 0.5 is no gap",
        read=_auc,
        source=SOURCE,
        blind=LINEAR,
        on_request=True,
        better="lower",
    ),
    Metric(
        name="discriminator_accuracy",
        family="classifier",
        tells="how often a held-out quarter is told apart, the penalty chosen by cross-validation",
        read=_discriminator,
        source=f"{JMLR}, section 6.3",
        blind=f"{LINEAR}; small gaps, since a quarter of the samples is tested",
        on_request=True,
        better="lower",
    ),
)
