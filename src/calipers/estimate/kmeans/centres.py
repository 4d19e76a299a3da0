"""The centres of a round of k-means: their layout, and how far they moved."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.kmeans.kernels import filled
from calipers.numeric.arrays import Floats32
from calipers.numeric.compile import kernel
from calipers.numeric.distances import slack
from calipers.numeric.simd import PANEL, VECTOR_LENGTH


class Centres(NamedTuple):
    """The centres of one round, and how far they have moved since the first.

    Attributes
    ----------
    values, low
        As in :class:`~calipers.estimate.kmeans.kernels.ClusterRows`; the bound is infinite for
        places that hold no centre.
    panels
        The same centres as panels of 48, ``(panels, depth, 48)``.
    drift
        How far each has moved in the last round, float64.
    total
        How far each has moved in all rounds together, never below the truth, float32.
    group_total
        The same for groups of 16: in each round the farthest move counts.
    """

    values: Floats32
    low: Floats32
    panels: Floats32
    drift: NDArray[np.float64]
    total: Floats32
    group_total: Floats32


def place_centres(values: Floats32, before: Centres | None, count: int) -> Centres:
    """Lay out centres, ``(count, depth)`` float32, and add up how far they moved."""
    places = filled(count, PANEL)
    groups = filled(places // VECTOR_LENGTH, VECTOR_LENGTH)
    laid = Centres(
        np.zeros((places, values.shape[1]), np.float32),
        np.full(places, np.inf, np.float32),
        np.zeros((places // PANEL, values.shape[1], PANEL), np.float32),
        np.zeros(places),
        np.zeros(places, np.float32),
        np.zeros(groups, np.float32),
    )
    laid.values[:count] = values
    share = 0.5 * (1 - slack(values.shape[1]))
    _lay_centres(laid, laid if before is None else before, count, share)
    return laid


def unmoved(centres: Centres) -> Centres:
    """Take centres as if they had always been there: distances to them were measured anew."""
    return centres._replace(drift=np.zeros_like(centres.drift))


@kernel
def _lay_centres(laid: Any, before: Any, count: int, share: float) -> None:
    up = np.float32(1 + 2.0**-22)
    for c in range(count):
        squared, moved = 0.0, 0.0
        for t in range(laid.values.shape[1]):
            value = np.float64(laid.values[c, t])
            laid.panels[c // PANEL, t, c % PANEL] = laid.values[c, t]
            squared += value * value
            moved += (value - np.float64(before.values[c, t])) ** 2
        laid.low[c] = share * squared
        laid.drift[c] = np.sqrt(moved)
        laid.total[c] = (before.total[c] + np.float32(laid.drift[c])) * up
    for c in range(0, count, VECTOR_LENGTH):
        farthest = 0.0  # a loop: the maximum of an array compiles ten times as long
        for other in range(c, min(c + VECTOR_LENGTH, laid.drift.shape[0])):
            farthest = max(farthest, laid.drift[other])
        laid.group_total[c // VECTOR_LENGTH] = (
            before.group_total[c // VECTOR_LENGTH] + np.float32(farthest)
        ) * up
