"""Likelihood ratios p/q at the samples from the probabilities of two models.

Without embeddings: log p'/q = log P'(x) - log Q(x) at the samples of both sets (Pillutla et al.,
JMLR 2023, section 7.3.3). Q is the model that generated; P' replaces the unknown distribution
of the reference, in the paper a larger model. The paper averages over the samples of the own side,
so read frontiers with ``points="own_side"`` to reproduce it.

What it does not detect: what P' does not know. The paper finds that the scores then favour what P'
finds likely and rank decoding algorithms wrongly. Probabilities of long texts differ by hundreds of
nats, so that a few texts decide every mean; and Q must be the distribution as it was sampled from,
cut and sharpened as the decoding did it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from calipers.errors import InputError
from calipers.estimate.likelihood_ratios import LikelihoodRatios
from calipers.numeric.arrays import Floats

Pair = tuple[ArrayLike, ArrayLike]

ROUNDING = 1e-5
"""By how much a logarithm may lie above 0: sums of float32 terms do."""


def probability_ratios(reference: Pair, generated: Pair) -> LikelihoodRatios:
    """Estimate p/q from the probabilities that two models assign to whole samples.

    Parameters
    ----------
    reference
        Log-probabilities of the reference samples under P' and under Q, natural logarithms, two
        lists of the same length. Under Q they may be −∞, which says that Q cannot write it.
    generated
        The same of the generated samples. Under P' they may be −∞.

    Returns
    -------
    LikelihoodRatios
        At the samples, in their order; ``positive`` where nothing infinite was found.

    Raises
    ------
    InputError
        If the lists of a side differ in length, are empty, hold NaN or numbers above 0, or a
        sample is impossible under the distribution that it stands for.

    Examples
    --------
    >>> import numpy as np
    >>> reference = np.log([0.4, 0.4]), np.log([0.1, 0.4])
    >>> generated = np.log([0.1, 0.4]), np.log([0.4, 0.4])
    >>> probability_ratios(reference, generated).at_generated.round(3).tolist()
    [0.25, 1.0]
    """
    logs = []
    for side, pair, source in (("reference", reference, 0), ("generated", generated, 1)):
        p, q = _check_pair(pair, side)
        _check_own((p, q)[source], side, "P'" if source == 0 else "Q")
        logs.append(p - q)
    positive = all(bool(np.isfinite(side).all()) for side in logs)
    return LikelihoodRatios(logs[0], logs[1], positive=positive, pins={"estimator": "model"})


def _check_pair(pair: Pair, side: str) -> tuple[Floats, Floats]:
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise InputError(
            f"{side} must be a pair of lists: log-probabilities under P' and under Q; "
            f"found a {type(pair).__name__} of {np.size(pair)}"
        )
    p, q = (_check_logs(given, side, model) for given, model in zip(pair, ("P'", "Q"), strict=True))
    if len(p) != len(q):
        raise InputError(
            f"{side} must have as many log-probabilities under P' as under Q; "
            f"found {len(p)} and {len(q)}"
        )
    return p, q


def _check_logs(given: ArrayLike, side: str, model: str) -> Floats:
    name = f"log-probabilities of the {side} samples under {model}"
    try:
        logs = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers: {error}") from error
    if logs.ndim != 1 or logs.size == 0:
        raise InputError(f"{name} must be a list, one for each sample; found shape {logs.shape}")
    wrong = np.flatnonzero(~(logs <= ROUNDING))
    if len(wrong):
        raise InputError(
            f"{name} must be natural logarithms of probabilities, at most 0; "
            f"{len(wrong)} row(s) are not, the first is row {wrong[0] + 1} with {logs[wrong[0]]:g}"
        )
    return logs


def _check_own(logs: Floats, side: str, model: str) -> None:
    impossible = np.flatnonzero(np.isneginf(logs))
    if len(impossible):
        raise InputError(
            f"{side} samples must be possible under {model}, the distribution that they stand for; "
            f"{len(impossible)} row(s) have log-probability -inf, the first is row "
            f"{impossible[0] + 1}"
        )
