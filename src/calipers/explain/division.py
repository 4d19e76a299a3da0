"""Cells of the quantisation, and the topics that they merge into: who is where, at what cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.explain.evidence import Evidence
from calipers.explain.merging import merged
from calipers.explain.space import Labels, Rows, Space, means


@dataclass(frozen=True, eq=False)
class Division:
    """A partition of both sets into regions.

    Attributes
    ----------
    reference, generated
        The region of every row.
    expected, produced, contributions
        Smoothed shares of both sets and the term of the frontier integral, for every region.
    cells
        The cells that make up every region.
    """

    reference: Labels
    generated: Labels
    expected: NDArray[np.float64]
    produced: NDArray[np.float64]
    contributions: NDArray[np.float64]
    cells: tuple[tuple[int, ...], ...]

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How many rows of each set every region holds."""
        return (
            np.bincount(self.reference, minlength=len(self)),
            np.bincount(self.generated, minlength=len(self)),
        )

    @property
    def worst_first(self) -> NDArray[np.intp]:
        """The regions, the largest contribution first."""
        return np.argsort(-self.contributions, kind="stable")


def division_of(evidence: Evidence) -> Division | None:
    """Divide both sets as the quantisation did; None where none was made."""
    if evidence.reference_cells is None or evidence.generated_cells is None:
        return None
    from calipers.curves.contributions import contributions
    from calipers.estimate.histograms import Histograms

    labels = np.asarray(evidence.reference_cells), np.asarray(evidence.generated_cells)
    cells = evidence.cells or max(int(each.max()) for each in labels) + 1
    reference, generated = (np.bincount(each, minlength=cells) for each in labels)
    histograms = Histograms(reference, generated, smoothing="krichevsky-trofimov")
    p, q = histograms.probabilities
    single = tuple((cell,) for cell in range(cells))
    return Division(*labels, p, q, contributions(histograms), single)


def coarser(division: Division, space: Space, topics: int) -> Division:
    """Merge cells into topics by where they lie, the topic with the largest contribution first."""
    topic = _topic_of(division, space, topics)
    summed = _summed(topic, division.contributions)
    order = np.argsort(-summed, kind="stable")
    topic = np.argsort(order)[topic]
    return Division(
        topic[division.reference],
        topic[division.generated],
        _summed(topic, division.expected),
        _summed(topic, division.produced),
        summed[order],
        tuple(tuple(np.flatnonzero(topic == each).tolist()) for each in range(len(order))),
    )


def _summed(topic: NDArray[np.intp], values: NDArray[np.float64]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = np.bincount(topic, values).astype(np.float64)
    return found


def _topic_of(division: Division, space: Space, topics: int) -> NDArray[np.intp]:
    """The topic of every cell; one that holds no row belongs nowhere, and goes to the largest."""
    weights = np.sum(division.counts, axis=0)
    held = weights > 0
    found = merged(_middles(division, space)[held], weights[held], topics)
    largest = int(np.argmax(np.bincount(found, weights[held])))
    topic = np.full(len(weights), largest, np.intp)
    topic[held] = found
    return topic


def _middles(division: Division, space: Space) -> Rows:
    """The mean of the rows of both sets in every cell."""
    rows = np.concatenate([space.reference, space.generated])
    return means(rows, np.concatenate([division.reference, division.generated]), len(division))
