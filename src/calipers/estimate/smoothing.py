"""From counts to probabilities: what is added so that a cell unseen is not a cell impossible.

Counts of a sample understate how many cells a distribution reaches (the missing mass). Adding a
constant to every count, or moving mass from cells seen once to cells not seen, makes up for it
(Pillutla et al., JMLR 2023, section 4.1.1 and table 2; Orlitsky and Suresh, NeurIPS 2015). Every
estimator but ``none`` gives each of the k cells some probability, so what one side lacks
altogether is then no longer seen.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from calipers.errors import unknown_name

Smoothing = Literal["none", "laplace", "krichevsky-trofimov", "braess-sauer", "good-turing"]
Probabilities = NDArray[np.float64]
SMOOTHINGS: tuple[Smoothing, ...] = get_args(Smoothing)

PSEUDO_COUNTS: dict[str, float] = {"none": 0.0, "laplace": 1.0, "krichevsky-trofimov": 0.5}


def check_smoothing(smoothing: str) -> None:
    """Refuse a name that is no smoothing."""
    if smoothing not in SMOOTHINGS:
        raise unknown_name("smoothing", str(smoothing), SMOOTHINGS)


def probabilities(counts: NDArray[np.integer], smoothing: Smoothing) -> Probabilities:
    """Estimate the probability of every cell from its count.

    Parameters
    ----------
    counts
        Non-negative whole numbers, shape ``(k,)``, at least one above 0.
    smoothing
        ``"none"``: n_l / n. ``"laplace"`` and ``"krichevsky-trofimov"``: (n_l + b) / (n + kb) with
        b = 1 and b = 1/2 (equation 9). ``"braess-sauer"``: the same with b = 1/2 for a cell not
        seen, 1 for one seen once, 3/4 for the others. ``"good-turing"``: the modified estimator,
        n_l where n_l exceeds the number φ of cells seen n_l + 1 times, else
        (φ_{n_l+1} + 1)(n_l + 1) / φ_{n_l}, scaled to sum to 1.

    Returns
    -------
    ndarray
        Shape ``(k,)``, summing to 1.

    Examples
    --------
    >>> probabilities(np.array([0, 1, 3]), "braess-sauer").tolist()
    [0.08, 0.32, 0.6]
    """
    weights = (
        _good_turing(counts) if smoothing == "good-turing" else counts + _add(counts, smoothing)
    )
    shares: Probabilities = weights / weights.sum()
    return shares


def _add(counts: NDArray[np.integer], smoothing: Smoothing) -> float | Probabilities:
    if smoothing == "braess-sauer":
        return np.select([counts == 0, counts == 1], [0.5, 1.0], 0.75)
    return PSEUDO_COUNTS[smoothing]


def _good_turing(counts: NDArray[np.integer]) -> Probabilities:
    """Weights of the modified Good–Turing estimator; section 4.1.1, `Simulations of Smoothing`."""
    _, place, times = np.unique(counts, return_inverse=True, return_counts=True)
    values = np.unique(counts)
    following = np.searchsorted(values, values + 1)
    present = following < len(values)
    more = np.zeros(len(values))  # φ_{t+1} for every count t that occurs
    hits = present & (values[np.minimum(following, len(values) - 1)] == values + 1)
    more[hits] = times[following[hits]]
    moved = (more + 1) * (values + 1) / times
    weights: Probabilities = np.where(values > more, values, moved)[place]
    return weights
