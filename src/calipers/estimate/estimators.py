"""The estimators of paper 004 by name, with the c of each.

Every one leads to the same curves and divergences. Section 7.3.1 of the paper (Pillutla et al.,
JMLR 2023) compares them and pairs each with a scaling constant c of MAUVE, so that their values lie
in one range; c changes no ranking.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from calipers.errors import unknown_name
from calipers.estimate.likelihood_ratios import LikelihoodRatios

if TYPE_CHECKING:
    from calipers.estimate.classifier import Model
    from calipers.estimate.prompt_strata import Prompts

Estimator = Callable[
    [ArrayLike, ArrayLike, "Prompts | None", int, int, int | None], LikelihoodRatios
]
"""(reference, generated, prompts, axes, seed, threads) → ratios, with the paper's settings."""

CLASSIFIERS: dict[str, Model] = {"classifier": "logistic", "boosted": "boosted"}
"""The estimators that are classifiers, by the model that they fit."""


LEADING_AXES = 10
"""Leading principal axes of the union on which ratios are estimated, as in the paper's figure 9.

Also of the classifiers, which the paper gives all axes: on these a classifier of 1,000 samples
separates sets that are far apart all alike, and no longer ranks them (docs/estimators.md).
"""


def _knn(
    reference: ArrayLike,
    generated: ArrayLike,
    prompts: Prompts | None,
    dimensions: int,
    seed: int,
    threads: int | None,
) -> LikelihoodRatios:
    from calipers.estimate.knn.ratios import knn_ratios

    return knn_ratios(reference, generated, dimensions=dimensions, threads=threads)


def _kde(
    reference: ArrayLike,
    generated: ArrayLike,
    prompts: Prompts | None,
    dimensions: int,
    seed: int,
    threads: int | None,
) -> LikelihoodRatios:
    from calipers.estimate.kernel_ratios import kde_ratios

    return kde_ratios(reference, generated, dimensions=dimensions, threads=threads)


def _gaussian(
    reference: ArrayLike,
    generated: ArrayLike,
    prompts: Prompts | None,
    dimensions: int,
    seed: int,
    threads: int | None,
) -> LikelihoodRatios:
    from calipers.estimate.gaussians import gaussian_ratios

    return gaussian_ratios(reference, generated, dimensions=dimensions, seed=seed)


def _classifier(model: Model) -> Estimator:
    def estimate(
        reference: ArrayLike,
        generated: ArrayLike,
        prompts: Prompts | None,
        dimensions: int,
        seed: int,
        threads: int | None,
    ) -> LikelihoodRatios:
        from calipers.estimate.classifier import classify

        return classify(
            reference,
            generated,
            model=model,
            dimensions=dimensions,
            prompts=prompts,
            seed=seed,
            threads=threads,
        ).ratios

    return estimate


ESTIMATORS: dict[str, Estimator] = {
    "knn": _knn,
    "kde": _kde,
    **{name: _classifier(model) for name, model in CLASSIFIERS.items()},
    "gaussian": _gaussian,
}
"""What gives ratios from rows alone, in the order of the paper.

Cells are counted elsewhere (:mod:`calipers.estimate.quantise`), and probabilities need models
(:func:`calipers.estimate.model_probabilities.probability_ratios`).
"""


def estimate_ratios(
    name: str,
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    prompts: Prompts | None = None,
    dimensions: int = LEADING_AXES,
    seed: int = 0,
    threads: int | None = None,
) -> LikelihoodRatios:
    """Estimate the likelihood ratios of two sets by a named estimator.

    Parameters
    ----------
    name
        ``"knn"``, ``"kde"``, ``"classifier"``, ``"boosted"`` or ``"gaussian"``, each with its
        defaults.
    reference, generated
        Rows, shapes ``(n, d)`` and ``(m, d)``.
    prompts
        The number of the prompt that each row answers; classifiers keep one in one fold.
    dimensions
        Leading principal axes of the union that the rows are projected on, from 1.
    seed
        Seed of folds and draws; no effect on knn and kde.
    threads
        Number of threads (default: all cores); no effect on the result.

    Raises
    ------
    InputError
        If the name is unknown, or rows alone do not make that estimate, or the rows do not fit it.

    Examples
    --------
    >>> equal = [[float(row)] for row in range(60)]
    >>> float(estimate_ratios("knn", equal, equal).log_reference.max())
    0.0
    """
    if name not in ESTIMATORS:
        raise unknown_name("estimator of likelihood ratios", str(name), ESTIMATORS)
    return ESTIMATORS[name](reference, generated, prompts, dimensions, seed, threads)
