"""Accuracy and AUC of a classifier on held-out samples of the two sets.

Cross-fitted: every sample is judged by a model that has not seen it (Pillutla et al., JMLR 2023,
sections 4.3 and 6.3). Accuracy and area under the ROC curve are 0.5 for sets that it cannot tell
apart, so lower is better; below 0.5 is chance, or samples that occur in both sets. It sees only
what its kind of model can separate, and with few samples little of that.

The area is that of the linear discriminant of :mod:`calipers.estimate.discriminant`, whose test is
:func:`calipers.uncertainty.two_sample_classifier.classifier_test`: what a comparison shows beside
the p-value is this score. Accuracy is that of a logistic regression. All keep the answers to one
prompt in one fold.

The accuracy of the discriminator follows section 6.3 instead: a quarter of both sets is tested,
once, and the penalty is chosen by cross-validation on the rest. Of the same samples it tests a
quarter as many, so chance moves it twice as far.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from calipers.errors import checks_keywords
from calipers.estimate.discriminant import FOLDS, mean_area, parts_of, too_few
from calipers.estimate.prompt_strata import PromptStrata, check_prompts
from calipers.metrics.estimates import FEWEST_PROMPTS
from calipers.metrics.exchangeable import exchangeable
from calipers.metrics.reading import Pins, scored
from calipers.numeric.threads import workers
from calipers.numeric.validation import check_pair, check_whole
from calipers.score import Score

if TYPE_CHECKING:
    from calipers.catalogue.estimation import EstimationOptions
    from calipers.estimate.classifier import Classification, Discrimination
    from calipers.metrics.pair import Pair


def accuracy_score(classification: Classification, pins: Pins) -> Score:
    """Share of held-out samples classified correctly; 0.5 means no gap."""
    return _score("classifier_accuracy", classification.accuracy, classification, pins)


def discriminator_score(
    discrimination: Discrimination, pins: Pins, *, parts: int = 4, folds: int = 5
) -> Score:
    """Share of the test set classified correctly; 0.5 means no gap."""
    made = {"estimator": "discriminator", "test": f"1/{parts}", "penalty": f"cv{folds}"}
    return scored("discriminator_accuracy", discrimination.accuracy, {**made, **pins})


def _score(metric: str, value: float, classification: Classification, pins: Pins) -> Score:
    return scored(metric, float(value), {**classification.ratios.pins, **pins})


TOO_FEW_PROMPTS = (
    "both sets answer the same prompts, and folds of whole prompts need "
    f"{FEWEST_PROMPTS} on each side"
)


def too_few_prompts(pair: Pair) -> bool:
    """Whether sets share prompts, but too few to be divided into folds."""
    return pair.prompts is not None and pair.dealt_prompts is None


def read_classifier_accuracy(pair: Pair, _: EstimationOptions) -> Score:
    made = pair.estimates
    if too_few_prompts(pair):
        return scored("classifier_accuracy", float("nan"), made.row_pins, reason=TOO_FEW_PROMPTS)
    return accuracy_score(made.classification("logistic"), made.row_pins)


@checks_keywords
def classifier_auc(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    prompts: tuple[ArrayLike, ArrayLike] | None = None,
    folds: int = FOLDS,
    seed: int = 0,
    threads: int | None = None,
) -> Score:
    """Tell how often a classifier ranks a held-out reference sample above a generated one.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``; taken as given.
    prompts
        The number of the prompt that each row answers, shapes ``(n,)`` and ``(m,)``; rows of one
        number answer one prompt, whichever side they are on. None where no prompts are shared.
    folds
        Number of random parts of each set, from 2, with whole prompts where these are
        known.
    seed
        Seed of the folds.
    threads
        Number of threads (default: all cores); no effect on the result.

    Returns
    -------
    Score
        The area under the ROC curve of a linear discriminant on held-out rows, the mean over the
        folds: the chance that of a reference and a generated sample, answers to one prompt where
        prompts are shared, the reference's looks more like the reference. 0.5 means no gap; what is
        below is chance, or copies on both sides. NaN with a reason where there are fewer rows, or
        prompts, than folds.

    Raises
    ------
    InputError
        If the arrays do not fit together, are not finite, or an option is out of its range.

    Examples
    --------
    >>> import numpy as np
    >>> reference = np.arange(10.0)[:, None]
    >>> classifier_auc(reference, reference + 100).value
    1.0
    """
    check_whole("folds", folds, 2)
    check_whole("seed", seed, 0)
    left, right = check_pair(reference, generated)
    n, m = len(left), len(right)
    strata = None if prompts is None else PromptStrata.of(*check_prompts(prompts, n, m), seed)
    with workers(threads) as pool:
        parts = parts_of(left, right, pool, folds=folds, seed=seed, strata=strata)
    pins = {
        "model": "linear_discriminant",
        "shrinkage": "d/(d+n+m)" if strata is None else "d/(d+n+m-prompts)",
        **({} if strata is None else {"prompts": strata.signature}),
        "folds": folds,
        "seed": seed,
        "n": n,
        "m": m,
        "d": left.shape[1],
    }
    if not parts:
        reason = too_few(n, m, folds, strata)
        return scored("classifier_auc", float("nan"), pins, reason=reason)
    return scored("classifier_auc", mean_area(parts), pins)


def read_classifier_auc(pair: Pair, _: EstimationOptions) -> Score:
    tested, settings = exchangeable(pair), pair.settings
    auc = classifier_auc(
        *tested.sides, prompts=tested.prompts, seed=settings.seed, threads=settings.threads
    )
    return auc.signed(**tested.pins)


def read_discriminator_accuracy(pair: Pair, _: EstimationOptions) -> Score:
    from calipers.estimate.classifier import discriminate

    made, settings = pair.estimates, pair.settings
    if too_few_prompts(pair):
        return scored("discriminator_accuracy", float("nan"), made.row_pins, reason=TOO_FEW_PROMPTS)
    discrimination = discriminate(
        made.reference,
        made.generated,
        prompts=made.prompts,
        seed=settings.seed,
        threads=settings.threads,
    )
    pins = made.row_pins if made.prompts is None else {**made.row_pins, "folds_by": "prompt"}
    return discriminator_score(discrimination, pins)
