"""Sums of products over rows or pairs of rows, on any engine.

The threads of this process take them unless :func:`products_on` names something else for a stretch
of a program, such as a GPU. Principal axes, moments, and sums of kernels and distances ask here
first. Sums are in float64 wherever they are taken, so scores agree within 1e-6.

A decomposition of a d x d matrix stays on the processor: it is small beside the pass over the rows,
and its last digits then do not depend on the device.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.measures import CentredRows, Measure
from calipers.numeric.arrays import Floats
from calipers.numeric.distances import Points


class Products(Protocol):
    """Protocol of the engines that compute sums of products."""

    @property
    def fewest(self) -> int:
        """Number of multiplications from which on the engine pays."""
        ...

    def scatter(self, points: Points, centre: Floats) -> Floats:
        """Sum the outer products of all rows about a centre, shape ``(d, d)``, in float64."""
        ...

    def coordinates(self, points: Points, centre: Floats, axes: Floats) -> NDArray[np.float32]:
        """Compute coordinates along axes of shape ``(d, q)`` about a centre, shape ``(n, q)``."""
        ...

    def measures(self, measure: Measure) -> bool:
        """Whether it can sum a measure."""
        ...

    def total(self, left: CentredRows, right: CentredRows | None, measure: Measure) -> float:
        """Sum a measure over all pairs of two sets; NaN where the sum overflows.

        Without a second set over all ordered pairs of two different rows of the first.
        """
        ...

    def power_sums(
        self,
        rows: CentredRows,
        measure: Measure,
        labels: NDArray[np.int64],
        count: int,
        powers: Sequence[int],
    ) -> Floats:
        """Sum powers of a measure over the ordered pairs of different rows of every two groups.

        Labels ascend, from 0 to ``count - 1``; the sums have the shape ``(powers, count, count)``.
        """
        ...


_chosen: ContextVar[Products | None] = ContextVar("products", default=None)


def products_for(multiplications: float, measure: Measure | None = None) -> Products | None:
    """Return the engine that :func:`products_on` set, where it pays; None for this process.

    Parameters
    ----------
    multiplications
        How many there are to do.
    measure
        What is summed over pairs, if anything is.
    """
    chosen = _chosen.get()
    if chosen is None or multiplications < chosen.fewest:
        return None
    return chosen if measure is None or chosen.measures(measure) else None


@contextmanager
def products_on(products: Products | None) -> Iterator[None]:
    """Compute products on an engine within a context; None for the threads of this process."""
    before = _chosen.set(products)
    try:
        yield
    finally:
        _chosen.reset(before)
