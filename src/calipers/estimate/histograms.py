"""Histograms of two distributions over the same cells: one of the two estimates behind scores.

Counts of a sample understate how many cells a distribution reaches (the missing mass). Smoothing
makes up for it: a constant is added to every count, or mass is moved from cells seen once to cells
not seen (Pillutla et al., JMLR 2023, section 4.1.1 and table 2; Orlitsky and Suresh, NeurIPS 2015).

Every smoothing but ``none`` gives each of the k cells some probability, so what one side lacks
altogether is then no longer seen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from calipers.brief import Brief
from calipers.catalogue.estimation import SMOOTHING, Smoothing
from calipers.errors import InputError, unknown_name
from calipers.estimate.likelihood_ratios import LikelihoodRatios
from calipers.lazy import lazily
from calipers.numeric.blocks import SideName
from calipers.numeric.validation import as_array

Probabilities = NDArray[np.float64]

PSEUDO_COUNTS: dict[str, float] = {"none": 0.0, "laplace": 1.0, "krichevsky-trofimov": 0.5}


def check_smoothing(smoothing: str) -> None:
    """Refuse an unknown name of a smoothing."""
    if smoothing not in SMOOTHING.words:
        raise unknown_name("smoothing", str(smoothing), SMOOTHING.words)


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


@dataclass(frozen=True, eq=False)
class Histograms(Brief):
    """Counts of the reference and the generated samples over the same k cells.

    Attributes
    ----------
    reference, generated
        Non-negative whole counts, shape ``(k,)``, each with at least one sample.
    smoothing
        How counts become probabilities: ``"none"``, ``"laplace"``, ``"krichevsky-trofimov"``,
        ``"braess-sauer"`` or ``"good-turing"``; see :mod:`calipers.estimate.histograms`.
    reference_blocks, generated_blocks
        The same counts for every block of rows, shape ``(blocks, k)``, or None: the histogram of
        a replicate is the total minus one block.

    Raises
    ------
    InputError
        If the counts are negative, not whole, all zero or of different length.

    Examples
    --------
    >>> cells = Histograms([3, 1], [1, 3])
    >>> cells.smoothed("laplace").smoothing
    'laplace'
    """

    reference: NDArray[np.int64]
    generated: NDArray[np.int64]
    smoothing: Smoothing = "none"
    reference_blocks: NDArray[np.int64] | None = None
    generated_blocks: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        check_smoothing(self.smoothing)
        for name in ("reference", "generated"):
            object.__setattr__(self, name, _check_counts(getattr(self, name), name))
        if len(self.reference) != len(self.generated):
            raise InputError(
                "reference and generated must count the same cells; "
                f"found {len(self.reference)} and {len(self.generated)}"
            )

    @property
    def probabilities(self) -> tuple[Probabilities, Probabilities]:
        """Smoothed shares p of the reference and q of the generated samples, each summing to 1."""
        return (
            probabilities(self.reference, self.smoothing),
            probabilities(self.generated, self.smoothing),
        )

    @lazily
    def ratios(self) -> LikelihoodRatios:
        """The cells as weighted samples: log p/q where p > 0 with weight p, and where q > 0."""
        p, q = self.probabilities
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(p) - np.log(q)
        return LikelihoodRatios.trusted(
            logs[p > 0],
            logs[q > 0],
            p[p > 0],
            q[q > 0],
            positive=self.smoothing != "none",
            pins=self.pins,
        )

    @property
    def raw(self) -> Histograms:
        """The same counts without smoothing."""
        return self.smoothed("none")

    @property
    def pins(self) -> Mapping[str, object]:
        """How the estimate was made, for signatures."""
        return {"smoothing": self.smoothing, "cells": len(self.reference)}

    def smoothed(self, smoothing: Smoothing) -> Histograms:
        """Return the same counts with another smoothing."""
        check_smoothing(smoothing)
        return self if smoothing == self.smoothing else self._with(smoothing=smoothing)

    def without(self, side: SideName, block: int) -> Histograms:
        """Return the counts with one block of rows of one of the sets left out.

        Raises
        ------
        InputError
            If no counts of blocks were kept.
        """
        blocks = self.reference_blocks if side == "reference" else self.generated_blocks
        if blocks is None:
            raise InputError(f"the counts of the {side} set were not kept by block")
        if side == "reference":
            return self._with(reference=self.reference - blocks[block])
        return self._with(generated=self.generated - blocks[block])

    def _with(self, **changed: Any) -> Self:
        """The same with other fields, which are known to be right: replicates make thousands."""
        made = object.__new__(type(self))
        made.__dict__.update({field.name: getattr(self, field.name) for field in fields(self)})
        made.__dict__.update(changed)
        return made


def count_cells(
    labels: NDArray[np.integer], cells: int, blocks: NDArray[np.int64] | None, block_count: int
) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """Count the rows of every cell, and of every cell in every block."""
    totals = np.bincount(labels, minlength=cells)
    if blocks is None or block_count == 0:
        return totals, None
    flat = np.bincount(blocks * cells + labels, minlength=block_count * cells)
    return totals, flat.reshape(block_count, cells)


def _check_counts(counts: NDArray[np.int64], name: str) -> NDArray[np.int64]:
    array = as_array(counts, f"counts of the {name} set")
    rules: tuple[tuple[str, Callable[[], bool]], ...] = (
        ("be a list of counts, one for each cell", lambda: array.ndim == 1 and array.size > 0),
        ("be numbers", lambda: array.dtype.kind in "iuf"),
        ("be finite", lambda: bool(np.isfinite(array).all())),
        ("not be negative", lambda: bool((array >= 0).all())),
        ("be whole numbers", lambda: bool((array == np.floor(array)).all())),
        ("be at most 2^53", lambda: bool((array <= 2**53).all())),
        ("hold at least one sample", lambda: bool((array > 0).any())),
    )
    for rule, holds in rules:
        if not holds():
            raise InputError(f"counts of the {name} set must {rule}; found {array!r:.200}")
    return array.astype(np.int64)
