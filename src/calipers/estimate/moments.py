"""Mean and covariance of a set, in a form that merges sets and blocks by sums."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.brief import Brief
from calipers.estimate.products import products_for
from calipers.numeric.blocks import Blocks
from calipers.numeric.distances import Points

STEP = 4096


@dataclass(frozen=True)
class Moments(Brief):
    """Number of rows of a set, their mean, and their scatter about it.

    Attributes
    ----------
    count
        Number of rows.
    mean
        Shape ``(d,)``, float64.
    scatter
        Sum of outer products of the deviations from the mean, shape ``(d, d)``, float64.
    """

    count: int
    mean: NDArray[np.float64]
    scatter: NDArray[np.float64]

    @classmethod
    def of(cls, points: Points, *, precise: bool = False) -> Moments:
        """Compute the moments of rows of shape ``(n, d)``, in blocks of rows.

        The mean is taken in float64, products in the precision of the rows: enough for principal
        axes. With `precise` products are taken in float64 too, for where the last digits matter.
        """
        mean = points.mean(axis=0, dtype=np.float64)
        n, d = points.shape
        elsewhere = products_for(n * d * d)
        if elsewhere is not None:
            return cls(n, mean, elsewhere.scatter(points, mean))
        centre = mean if precise else mean.astype(points.dtype)
        scatter = np.zeros((d, d))
        for start in range(0, n, STEP):
            deviations = points[start : start + STEP] - centre
            scatter += deviations.T @ deviations
        return cls(n, mean, scatter)

    @classmethod
    def by_block(
        cls, points: Points, blocks: Blocks, *, precise: bool = False
    ) -> tuple[Moments, ...]:
        """Moments of every block of rows, from which replicates are merged."""
        return tuple(
            cls.of(points[blocks.labels == block], precise=precise) for block in range(blocks.count)
        )

    def merge(self, other: Moments) -> Moments:
        """Return the moments of both sets together."""
        count = self.count + other.count
        gap = other.mean - self.mean
        mean = self.mean + gap * (other.count / count)
        between = np.outer(gap, gap) * (self.count * other.count / count)
        return Moments(count, mean, self.scatter + other.scatter + between)

    def without(self, part: Moments) -> Moments:
        """Return the moments without a part; the inverse of :meth:`merge`."""
        count = self.count - part.count
        gap = self.mean - part.mean
        mean = self.mean + gap * (part.count / count)
        between = np.outer(gap, gap) * (self.count * part.count / count)
        return Moments(count, mean, self.scatter - part.scatter - between)

    @property
    def covariance(self) -> NDArray[np.float64]:
        """Unbiased covariance, shape ``(d, d)``; zeros for a single row."""
        return self.scatter / max(self.count - 1, 1)
