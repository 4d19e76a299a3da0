"""How much each point of a curve moves from one draw to another: the jackknife over blocks.

The replicates are those of the scores, so the curves of most are made already. What the starts of
k-means move is left out; what both sets do together is counted by both sides. So bands of frontiers
are rather too wide than too narrow. Those of precision-recall curves are a little too narrow, and
tell nothing where precision or recall is within a few thousandths of the most that it can be: there
a few samples decide, and most draws show no movement at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from calipers.curves import DivergenceFrontier, PrecisionRecallCurve
from calipers.metrics.pair import Pair
from calipers.uncertainty.replicates import LeftOut
from calipers.uncertainty.spread import Doubles
from calipers.uncertainty.without import SIDES


def columns(curve: DivergenceFrontier | PrecisionRecallCurve) -> Doubles:
    """The points of a curve, shape ``(points, columns)``.

    Precision and recall; of a frontier λ, D(Q‖R_λ) and D(P‖R_λ).
    """
    if isinstance(curve, PrecisionRecallCurve):
        return np.stack([curve.precision, curve.recall], axis=1)
    return np.stack([curve.weights, curve.generated_cost, curve.reference_cost], axis=1)


def curve_variances(left_out: LeftOut) -> dict[str, Doubles]:
    """Tell how much the points of every curve move with either set.

    Parameters
    ----------
    left_out
        The pair without each block of each side, after scores were read from it.

    Returns
    -------
    dict
        By key of the curve the variance of each number, for the reference and for the generated
        samples, shape ``(2, points, columns)``; curves that are not read from counts are left out.
    """
    sides = [[_curves(pair) for pair in left_out[side]] for side in SIDES]
    names = set.intersection(*(set(curves) for side in sides for curves in side))
    return {name: np.stack([_variance(side, name) for side in sides]) for name in sorted(names)}


def _curves(pair: Pair) -> Mapping[str, Doubles]:
    return {name: columns(curve) for name, curve in pair.curves.by_key.items()}


def _variance(replicates: Sequence[Mapping[str, Doubles]], name: str) -> Doubles:
    points = np.stack([curves[name] for curves in replicates])
    gaps = points - points.mean(axis=0)
    variance: Doubles = (1 - 1 / len(points)) * (gaps**2).sum(axis=0)
    return variance
