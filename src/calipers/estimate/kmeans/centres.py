"""The centres of one iteration of k-means: their layout, and how far they moved."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.kmeans.kernels import VECTOR_LENGTH, filled
from calipers.numeric import native
from calipers.numeric.arrays import Floats32
from calipers.numeric.distances import slack
from calipers.numeric.panels import PANEL


class Centres(NamedTuple):
    """The centres of one iteration, and how far they have moved since the first.

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
    """Lay out centres, ``(count, depth)`` float32, and accumulate how far they moved."""
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
    old = laid if before is None else before
    moved = laid.drift, laid.total, laid.group_total
    _lay_centres(
        *(laid.values, old.values, old.total, old.group_total, count, share),
        *(laid.low, laid.panels, *moved),
    )
    return laid


def unmoved(centres: Centres) -> Centres:
    """Reset the movement of centres after distances to them were computed anew."""
    return centres._replace(drift=np.zeros_like(centres.drift))


_lay_centres = native.kernel(
    "lay_centres",
    "values f4[places, depth]",
    "before f4[places, depth]",
    "before_total f4[places]",
    "before_group_total f4[groups]",
    "count int",
    "share float",
    "low f4[places] out",
    "panels f4[panel_count, depth, 48] out",
    "drift f8[places] out",
    "total f4[places] out",
    "group_total f4[groups] out",
)
