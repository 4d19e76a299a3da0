"""Random numbers of samples: one uniform number for each seed, sample and step.

The numbers come from a counter-based generator (Philox 4x64, Salmon et al., SC 2011) whose key is
the seed and the number of the sample, so that they depend neither on what else is written nor on
the order. A token is drawn by inverting the cumulative distribution in float64.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.numeric.arrays import Floats


def uniforms(seed: int, sample: int, steps: int) -> Floats:
    """Return the uniform numbers that determine the tokens of one sample.

    Parameters
    ----------
    seed, sample
        The seed of the run and the number of the sample, each at least 0.
    steps
        How many; a longer sequence begins with a shorter one.

    Returns
    -------
    ndarray
        In [0, 1), float64 of shape ``(steps,)``.

    Examples
    --------
    >>> bool((uniforms(0, 7, 5)[:3] == uniforms(0, 7, 3)).all())
    True
    """
    return stream(seed, sample).random(steps)


def stream(seed: int, sample: int) -> np.random.Generator:
    """Return the generator of these numbers, for callers that need a few at a time."""
    if not (0 <= seed < 2**64 and 0 <= sample < 2**64):
        raise InputError(
            "a seed and the number of a sample must be whole numbers from 0 to 2^64 - 1; found "
            f"{seed} and {sample}"
        )
    key = np.array([seed, sample], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=key))


def invert(weights: NDArray[np.floating], uniform: Floats) -> NDArray[np.int64]:
    """Draw one token for each row by inverting its cumulative distribution.

    Parameters
    ----------
    weights
        Probabilities up to a factor, at least one of each row above 0, shape ``(b, v)``.
    uniform
        In [0, 1), shape ``(b,)``.

    Returns
    -------
    ndarray
        Tokens, none of weight 0, int64 of shape ``(b,)``.

    Examples
    --------
    >>> invert(np.array([[0.0, 1.0, 1.0]]), np.array([0.5])).tolist()
    [2]
    """
    sums = np.cumsum(weights, axis=1, dtype=np.float64)
    targets = uniform * sums[:, -1]
    drawn = (sums <= targets[:, None]).sum(axis=1)
    last = weights.shape[1] - 1 - (weights[:, ::-1] > 0).argmax(axis=1)
    return np.asarray(np.minimum(drawn, last), dtype=np.int64)
