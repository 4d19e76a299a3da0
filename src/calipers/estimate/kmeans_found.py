"""What k-means knows of each row, and the small steps that all its loops share."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.jit import inlined
from calipers.estimate.kmeans_layout import Floats
from calipers.estimate.lanes import squared_gap
from calipers.estimate.microkernel import address


class Found(NamedTuple):
    """What is known of each row.

    Attributes
    ----------
    labels
        Its centre, int32; -1 before the first round.
    own
        Squared distance to it, float64.
    bounds
        ``(places, centres)``: less a centre's `total`, a lower bound of the distance to it;
        infinite for the row's own centre. Without any row where bounds are not kept.
    groups
        ``(places, groups)``: the same for the nearest of 16 centres, less their `group_total`.
    """

    labels: NDArray[np.int32]
    own: NDArray[np.float64]
    bounds: Floats
    groups: Floats


@inlined
def keep_bound(distance: Any, total: Any) -> Any:
    """A distance never above the true one, to be kept until the centre has moved further."""
    return (distance * np.float32(1 - 2.0**-22) + total) * np.float32(1 - 2.0**-22)


@inlined
def measure(rows: Any, i: int, values: Any, c: int) -> Any:
    """Squared distance of a row to a centre, float64."""
    depth = rows.shape[1]
    return squared_gap(
        address(rows) + np.uintp(4 * i * depth), address(values) + np.uintp(4 * c * depth), depth
    )


@inlined
def place_of(array: Any, i: int, place: int) -> Any:
    """Address of a place in a row of float32."""
    return address(array) + np.uintp(4 * (i * array.shape[1] + place))
