"""The estimators of paper 004 by name: what makes an estimate of two sets, and with which c.

Every one leads to the same curves and divergences. Section 7.3.1 of the paper (Pillutla et al.,
JMLR 2023) compares them and pairs each with a scaling constant c of MAUVE, so that their values lie
in one range; c changes no ranking.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from numpy.typing import ArrayLike

from calipers.catalogue.estimation import PAIRED_C
from calipers.errors import unknown_name
from calipers.estimate.likelihood_ratios import LikelihoodRatios

__all__ = ["ESTIMATORS", "PAIRED_C", "Estimator", "estimate_ratios"]

Estimating = Callable[[ArrayLike, ArrayLike, int, int | None], LikelihoodRatios]


@dataclass(frozen=True)
class Estimator:
    """One way from two sets of rows to an estimate.

    Attributes
    ----------
    name
        As in score keys.
    tells
        What it is, in a line.
    estimate
        (reference, generated, seed, threads) → ratios, with the paper's settings; None where rows
        alone do not make them: cells are counted elsewhere, and probabilities need models.
    """

    name: str
    tells: str
    estimate: Estimating | None = None


def _knn(
    reference: ArrayLike, generated: ArrayLike, seed: int, threads: int | None
) -> LikelihoodRatios:
    from calipers.estimate.ratios import knn_ratios

    return knn_ratios(reference, generated, threads=threads)


def _kde(
    reference: ArrayLike, generated: ArrayLike, seed: int, threads: int | None
) -> LikelihoodRatios:
    from calipers.estimate.ratios import kde_ratios

    return kde_ratios(reference, generated, threads=threads)


def _classifier(
    reference: ArrayLike, generated: ArrayLike, seed: int, threads: int | None
) -> LikelihoodRatios:
    from calipers.estimate.classifier import classify

    return classify(reference, generated, seed=seed, threads=threads).ratios


def _boosted(
    reference: ArrayLike, generated: ArrayLike, seed: int, threads: int | None
) -> LikelihoodRatios:
    from calipers.estimate.classifier import classify

    return classify(reference, generated, model="boosted", seed=seed, threads=threads).ratios


def _gaussian(
    reference: ArrayLike, generated: ArrayLike, seed: int, threads: int | None
) -> LikelihoodRatios:
    from calipers.estimate.ratios import gaussian_ratios

    return gaussian_ratios(reference, generated, seed=seed)


_ALL = (
    Estimator("quantisation", "counts over joint k-means cells"),
    Estimator("knn", "how the 50 nearest of both sets divide, in 10 dimensions", _knn),
    Estimator("kde", "Gaussian kernels, own sample left out, in 10 dimensions", _kde),
    Estimator("classifier", "cross-fitted, calibrated logistic regression", _classifier),
    Estimator("boosted", "cross-fitted, calibrated gradient-boosted trees", _boosted),
    Estimator("gaussian", "a Gaussian fitted to each set, in 10 dimensions", _gaussian),
    Estimator("model", "probabilities that two language models give to the samples"),
)

ESTIMATORS: dict[str, Estimator] = {estimator.name: estimator for estimator in _ALL}
"""All estimators by name, in the order of the paper; quantisation is the default everywhere."""


def estimate_ratios(
    name: str,
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    seed: int = 0,
    threads: int | None = None,
) -> LikelihoodRatios:
    """Estimate how likely samples are in the reference and in the generated set, by name.

    Parameters
    ----------
    name
        ``"knn"``, ``"kde"``, ``"classifier"``, ``"boosted"`` or ``"gaussian"``, each with its
        defaults.
    reference, generated
        Rows, shapes ``(n, d)`` and ``(m, d)``.
    seed
        Of folds and draws; no effect on knn and kde.
    threads
        Number of threads (default: all cores); no effect on the result.

    Raises
    ------
    InputError
        If the name is unknown, or rows alone do not make that estimate, or the rows do not fit it.

    Examples
    --------
    >>> from calipers.estimate.estimators import ESTIMATORS, PAIRED_C
    >>> [name for name, found in ESTIMATORS.items() if found.estimate]
    ['knn', 'kde', 'classifier', 'boosted', 'gaussian']
    >>> PAIRED_C["gaussian"]
    1.0
    """
    known = {key: found.estimate for key, found in ESTIMATORS.items() if found.estimate}
    if name not in known:
        raise unknown_name("estimator of likelihood ratios", str(name), known)
    return known[name](reference, generated, seed, threads)
