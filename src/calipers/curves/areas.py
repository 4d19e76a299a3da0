"""What sums up a trade-off curve: the area under it, and its best F_β."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.estimate.validate import is_positive

from calipers.curves.divergence import Vector


def transformed(generated_cost: Vector, reference_cost: Vector, c: float) -> Vector:
    """Bring costs into the unit square by x → exp(−c·x), and add the ends (1, 0) and (0, 1).

    Pillutla et al., JMLR 2023, equation 5.

    Returns
    -------
    ndarray
        Shape ``(points + 2, 2)``: a column for the generated and one for the reference cost.
    """
    c = positive("the scaling constant c", c)
    curve = np.exp(-c * np.stack([generated_cost, reference_cost], axis=1))
    return np.concatenate([[[1.0, 0.0]], curve, [[0.0, 1.0]]])


def area_under(points: Vector) -> float:
    """The area under a curve of the unit square, in [0, 1]: both trapezoid sums, averaged.

    Points are taken in the order of each axis, as in mauve-text, so that an estimate whose curve
    turns back does not count an area twice; of points with one abscissa the highest comes first,
    as on a falling curve.

    mauve-text leaves the order of such points to the sort, which matters for two equal histograms
    alone: all points are then (1, 1), where the end (1, 0) that comes first cuts the corner off, so
    that it gives 0.75, or 1 where rounding happens to part them. Here the area is 1.
    """
    x, y = points.T
    by_x, by_y = np.lexsort((-y, x)), np.lexsort((-x, y))
    along_x = abs(float(np.trapezoid(y[by_x], x[by_x])))
    along_y = abs(float(np.trapezoid(x[by_y], y[by_y])))
    return min(1.0, 0.5 * (along_x + along_y))


def best_f_beta(precision: Vector, recall: Vector, beta: float) -> float:
    """The largest F_β = (1 + β²)·α·β / (β²·α + β) over the points of a curve, in [0, 1].

    β above 1 weighs recall, below 1 precision; Sajjadi et al., NeurIPS 2018, section 4.1.
    """
    beta = positive("beta", beta)
    # Weights of the harmonic mean: β²/(1 + β²) and 1/(1 + β²), without squaring a large β
    on_recall = 1 / (1 + beta**-2) if beta > 1 else beta**2 / (1 + beta**2)
    below = on_recall * precision + (1 - on_recall) * recall
    above = precision * recall
    return float(np.max(np.divide(above, below, out=np.zeros_like(above), where=below > 0)))


def positive(name: str, given: Any) -> float:
    """Return a number above 0, or refuse what is none."""
    if not is_positive(given):
        raise InputError(f"{name} must be above 0 and finite; found {given}")
    return float(given)
