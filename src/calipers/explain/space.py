"""Both sets in the space in which they are compared, and who is near there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.explain.evidence import Evidence

Rows = NDArray[np.float64]
Places = NDArray[np.intp]
Labels = NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class Space:
    """Rows of both sets as distances are taken between them, float64."""

    reference: Rows
    generated: Rows
    cosine: bool

    @classmethod
    def of(cls, evidence: Evidence) -> Space:
        """Bring the vectors to where `compare` looked for neighbours."""
        sets = evidence.rows
        if sets is None:
            from calipers.estimate.axes import preprocess

            pca = 0.9 if evidence.projection == "union" else None
            made = preprocess(evidence.reference_vectors, evidence.generated_vectors, pca=pca)
            sets = made.reference, made.generated
        return cls(
            np.asarray(sets[0], np.float64),
            np.asarray(sets[1], np.float64),
            evidence.distance == "cosine",
        )

    def to_reference(self, row: int) -> Rows:
        """Distances of a generated sample from all reference samples, shape ``(n,)``."""
        point = self.generated[row]
        if not self.cosine:
            return _lengths(self.reference - point)
        lengths = _lengths(self.reference) * np.sqrt(point @ point)
        found: Rows = 1 - self.reference @ point / np.where(lengths > 0, lengths, 1.0)
        return found


class NearMeans:
    """The rows of every region that lie nearest to the region's mean of such rows.

    Parameters
    ----------
    rows
        Shape ``(n, q)``.
    labels
        The region of each, shape ``(n,)``.
    regions
        How many there are.
    among
        Which rows count; all by default.
    """

    def __init__(
        self, rows: Rows, labels: Labels, regions: int, among: NDArray[np.bool_] | None = None
    ) -> None:
        chosen = np.arange(len(rows)) if among is None else np.flatnonzero(among)
        rows, labels = rows[chosen], labels[chosen]
        far = _lengths(rows - means(rows, labels, regions)[labels])
        order = np.lexsort((far, labels))
        self._rows = chosen[order]
        self._starts = np.searchsorted(labels[order], np.arange(regions + 1))

    def of(self, region: int, count: int) -> list[int]:
        """At most `count` rows of a region, nearest to its mean first."""
        first, last = self._starts[region], self._starts[region + 1]
        return [int(row) for row in self._rows[first : min(last, first + count)]]

    def size(self, region: int) -> int:
        """How many rows the region has."""
        return int(self._starts[region + 1] - self._starts[region])


def means(rows: Rows, labels: Labels, regions: int) -> Rows:
    """The mean row of every region, zeros for one without rows, shape ``(regions, q)``."""
    sums = np.zeros((regions, rows.shape[1]))
    np.add.at(sums, labels, rows)
    found: Rows = sums / np.maximum(np.bincount(labels, minlength=regions), 1)[:, None]
    return found


def _lengths(rows: Rows) -> Rows:
    found: Rows = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return found
