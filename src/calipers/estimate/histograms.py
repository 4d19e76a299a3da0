"""Two distributions over the same cells, as counts: one of the two estimates that carry scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError, unknown_name

Smoothing = Literal["none", "laplace", "krichevsky-trofimov"]
Probabilities = NDArray[np.float64]

PSEUDO_COUNTS: dict[str, float] = {"none": 0.0, "laplace": 1.0, "krichevsky-trofimov": 0.5}


@dataclass(frozen=True)
class Histograms:
    """Counts of the reference and the generated samples over the same k cells.

    Attributes
    ----------
    reference, generated
        Non-negative whole counts, shape ``(k,)``, each with at least one sample.
    smoothing
        What is added to every count before it becomes a probability: ``"none"``, ``"laplace"``
        (1) or ``"krichevsky-trofimov"`` (1/2); Pillutla et al., JMLR 2023, equation 9.
    reference_blocks, generated_blocks
        The same counts for every block of rows, shape ``(blocks, k)``, or None: the histogram of
        a replicate is the total less one block.

    Raises
    ------
    InputError
        If the counts are negative, not whole, all zero or of different length.
    """

    reference: NDArray[np.int64]
    generated: NDArray[np.int64]
    smoothing: Smoothing = "none"
    reference_blocks: NDArray[np.int64] | None = None
    generated_blocks: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        if self.smoothing not in get_args(Smoothing):
            raise unknown_name("smoothing", str(self.smoothing), get_args(Smoothing))
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
        add = PSEUDO_COUNTS[self.smoothing]
        return _shares(self.reference, add), _shares(self.generated, add)

    def smoothed(self, smoothing: Smoothing) -> Histograms:
        """Return the same counts with another smoothing."""
        return Histograms(
            self.reference,
            self.generated,
            smoothing=smoothing,
            reference_blocks=self.reference_blocks,
            generated_blocks=self.generated_blocks,
        )


def count_cells(
    labels: NDArray[np.integer], cells: int, blocks: NDArray[np.int64] | None, block_count: int
) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """Count the rows of every cell, and of every cell in every block."""
    totals = np.bincount(labels, minlength=cells)
    if blocks is None or block_count == 0:
        return totals, None
    flat = np.bincount(blocks * cells + labels, minlength=block_count * cells)
    return totals, flat.reshape(block_count, cells)


def _shares(counts: NDArray[np.int64], add: float) -> Probabilities:
    shares: Probabilities = (counts + add) / (counts.sum() + add * len(counts))
    return shares


def _check_counts(counts: NDArray[np.int64], name: str) -> NDArray[np.int64]:
    array = np.asarray(counts)
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
