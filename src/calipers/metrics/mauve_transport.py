"""MAUVE_OT: MAUVE with transport costs, which depend on the distance between cells.

The transport frontier is the curve of the pairs (OT(Q, R_λ), OT(P, R_λ)), λ in (0, 1), over
histograms on the same cells: how far both sets are from all that lies between them, in moved mass.
R_λ is either the mixture λP + (1 − λ)Q (linear interpolation; Pillutla et al., JMLR 2023, equation
31) or the barycentre argmin_R λ·OT(P, R) + (1 − λ)·OT(Q, R) (equation 32). MAUVE_OT is the area
under it after x → exp(−c·x), from joint k-means cells (section 7.4.2 and equation 5).

Costs are exact by default, so that equal sets score 1. The paper speaks of entropic plans with the
median cost as ε, which can be asked for; but then equal sets score near 0, and the values that it
prints are not of that kind: where the exact cost to a mixture is (1 − λ)·W, as it nearly is among
many dimensions, the area is e^(−cW)·(1 + cW), and at c = 5 that gives all eight linear values of
its table 17 from the quantised costs W beside them, within 0.004.

Unlike a divergence, a cost has a unit: c multiplies squared distances in the space of the cells.
Rows of length one, the default here as in MAUVE, keep costs below 4; with other rows choose c anew
(:func:`calipers.compare` gives no value of rows that were not scaled unless c is chosen).

What it does not detect: it says little beyond the quantised cost, does not see differences within a
cell, and cannot tell missing quality from missing diversity.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from calipers.brief import Brief
from calipers.catalogue.settings import Buckets, Norm
from calipers.curves.frontier import EDGE, GRID, area_under, positive, transformed
from calipers.errors import checks_keywords
from calipers.estimate.axes import preprocess
from calipers.estimate.quantise import Quantisation, quantise
from calipers.estimate.transport import (
    NoPlanError,
    barycentre,
    entropic,
    exact_barycentre,
    transport_cost,
)
from calipers.metrics.reading import Pins, scored
from calipers.metrics.transport import (
    Cells,
    Regularisation,
    cells_of,
    check_regularisation,
    epsilon_of,
    too_many,
)
from calipers.numeric.arrays import Floats
from calipers.numeric.distances import Points
from calipers.numeric.validation import check_choice
from calipers.score import Score

if TYPE_CHECKING:
    from calipers.catalogue.estimation import EstimationOptions
    from calipers.metrics.pair import Pair

Interpolation = Literal["linear", "barycentric"]


@dataclass(frozen=True, eq=False)
class TransportFrontier(Brief):
    """The trade-off between moving the generated and moving the reference histogram.

    Attributes
    ----------
    weights
        λ of every point, from 0 to 1, shape ``(points,)``.
    generated_cost, reference_cost
        OT(Q, R_λ) and OT(P, R_λ), in squared distances, shape ``(points,)`` each.
    """

    weights: Floats
    generated_cost: Floats
    reference_cost: Floats

    def area(self, c: float = 5.0) -> float:
        """MAUVE_OT: the area under the frontier after x → exp(−c·x), in [0, 1], 1 at no cost.

        `c` is above 0 and multiplies squared distances; JMLR 2023, equation 5.
        """
        return area_under(self.points(c))

    def points(self, c: float = 5.0) -> Floats:
        """Return the curve (exp(−c·OT(Q, R)), exp(−c·OT(P, R))), ``(points + 2, 2)``, with ends."""
        return transformed(self.generated_cost, self.reference_cost, c)


@checks_keywords
def transport_frontier(
    p: Floats,
    q: Floats,
    costs: Floats,
    *,
    interpolation: Interpolation = "linear",
    regularisation: float | None = None,
    grid: int = GRID,
    threads: int | None = None,
) -> TransportFrontier:
    """Trace the costs of moving both histograms onto mixtures, or barycentres, of the two.

    Parameters
    ----------
    p, q
        Masses of the reference and the generated set on the same cells, shape ``(k,)`` each.
    costs
        Between the cells, shape ``(k, k)``, symmetric.
    interpolation
        ``"linear"`` or ``"barycentric"``.
    regularisation
        None for exact costs; else ε of entropic plans π, whose costs are then ⟨π, C⟩.
    grid
        Number of weights λ, evenly spaced in [1e-6, 1 − 1e-6].
    threads
        Number of threads of the exact barycentres (default: all cores).

    Raises
    ------
    NoPlanError
        If a transport problem was not solved to the end.

    Examples
    --------
    >>> import numpy as np
    >>> p, q, costs = np.array([0.75, 0.25]), np.array([0.25, 0.75]), 1 - np.eye(2)
    >>> round(transport_frontier(p, q, costs).area(c=5), 3)
    0.288
    """
    check_choice("interpolation", interpolation, get_args(Interpolation))
    weights = np.linspace(EDGE, 1 - EDGE, grid)
    point = _point(p, q, costs, interpolation, regularisation, threads)
    reference_cost, generated_cost = np.array([point(float(weight)) for weight in weights]).T
    return TransportFrontier(weights, generated_cost, reference_cost)


def _point(
    p: Floats,
    q: Floats,
    costs: Floats,
    interpolation: Interpolation,
    regularisation: float | None,
    threads: int | None,
) -> Callable[[float], tuple[float, float]]:
    """How to find OT(P, R) and OT(Q, R) for a weight λ."""

    def to_mixture(weight: float) -> tuple[float, float]:
        middle = weight * p + (1 - weight) * q
        if regularisation is None:
            return transport_cost(p, middle, costs), transport_cost(q, middle, costs)
        plans = (entropic(side, middle, costs, regularisation=regularisation) for side in (p, q))
        one, other = (plan.transport for plan in plans)
        return one, other

    def to_barycentre(weight: float) -> tuple[float, float]:
        if regularisation is None:
            return exact_barycentre(p, q, costs, weight=weight, threads=threads)[1:]
        return barycentre(p, q, costs, weight=weight, regularisation=regularisation)

    return to_mixture if interpolation == "linear" else to_barycentre


# Beyond, 25 exact points of the frontier take minutes
MOST_CELLS = {"linear": 2_000, "barycentric": 1_000}
METRICS = {"linear": "mauve_ot", "barycentric": "mauve_ot_barycentric"}
UNSCALED = (
    "its constant c is meant for rows of length one, but these were left as given: scale them with "
    "`normalise='l2'`, or choose `c`"
)

UNSCALED_ANSWERS = (
    "its constant c is meant for rows of length one, which answers minus what their prompts "
    "explain are not: choose `c`, or `shared_prompts='others'`"
)


@dataclass(frozen=True)
class MauveTransport(Brief):
    """MAUVE_OT of two sets, by both interpolations."""

    mauve_ot: Score
    mauve_ot_barycentric: Score


@checks_keywords
def mauve_ot(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    c: float = 5.0,
    regularisation: Regularisation | None = None,
    buckets: Buckets = "auto",
    restarts: int = 5,
    seed: int = 0,
    norm: Norm = "l2",
    pca: float | None = 0.9,
    threads: int | None = None,
) -> MauveTransport:
    """Tell how close the generated histogram is to the reference, by transport costs.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``.
    c
        Scaling constant of the area, above 0; multiplies squared distances.
    regularisation
        None for exact costs, ``"median"`` for entropic plans with the median cost, or their ε.
    buckets
        Number of cells, or ``"auto"`` for a tenth of the smaller set, at most 5,000.
    restarts
        Runs of k-means, of which the one with the smallest inertia counts.
    seed
        Seed of k-means.
    norm, pca
        Preprocessing of the rows; see :func:`calipers.metrics.preprocess`.
    threads
        Number of threads (default: all cores).

    Returns
    -------
    MauveTransport
        ``mauve_ot`` and ``mauve_ot_barycentric`` in [0, 1], higher is better; NaN with a reason
        for more than 2,000 (linear) or 1,000 (barycentric) cells, or where a transport problem was
        not solved to the end.

    Raises
    ------
    InputError
        If the arrays do not fit together, are not finite, or an option is out of its range.
    MissingExtraError
        If costs are exact and POT is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> reference, generated = np.random.default_rng(0).normal(size=(2, 100, 2))
    >>> mauve_ot(reference, reference).mauve_ot.value
    1.0
    >>> mauve_ot(reference, -abs(generated)).mauve_ot.value < 0.2
    True
    """
    positive("the scaling constant c", c)
    if regularisation is not None:
        check_regularisation(regularisation)
    rows = preprocess(reference, generated, norm=norm, pca=pca)
    left, right = rows.reference, rows.generated
    cells = quantise(left, right, buckets=buckets, restarts=restarts, seed=seed, threads=threads)
    pins = {"norm": norm, "pca": pca or "none", "seed": seed}
    scores = (
        mauve_ot_score(
            left,
            right,
            cells,
            interpolation=interpolation,
            c=c,
            regularisation=regularisation,
            pins=pins,
            threads=threads,
        )
        for interpolation in get_args(Interpolation)
    )
    return MauveTransport(*scores)


def mauve_ot_score(
    reference: Points,
    generated: Points,
    cells: Quantisation,
    *,
    interpolation: Interpolation = "linear",
    c: float = 5.0,
    regularisation: Regularisation | None = None,
    pins: Pins | None = None,
    threads: int | None = None,
) -> Score:
    """Summarise the transport frontier of a quantisation; see :func:`mauve_ot`."""
    weighted_cells = cells_of(reference, generated, cells)
    value, reason = np.nan, too_many(weighted_cells, MOST_CELLS[interpolation])
    if reason is None:
        try:
            value = _frontier(weighted_cells, interpolation, regularisation, threads).area(c)
        except NoPlanError as failure:
            reason = str(failure)
    made = {
        "c": c,
        "cost": "squared_euclidean",
        "regularisation": "none" if regularisation is None else regularisation,
        **weighted_cells.pins,
        **(pins or {}),
    }
    return scored(METRICS[interpolation], value, made, reason=reason)


def _frontier(
    cells: Cells,
    interpolation: Interpolation,
    regularisation: Regularisation | None,
    threads: int | None,
) -> TransportFrontier:
    epsilon = None if regularisation is None else epsilon_of(cells.costs, regularisation)
    if not cells.costs.any():
        epsilon = None  # all cells in one place: nothing costs anything
    if epsilon == 0:
        raise NoPlanError("the median cost is 0: at least half of the cells lie in one place")
    return transport_frontier(
        cells.reference,
        cells.generated,
        cells.costs,
        interpolation=interpolation,
        regularisation=epsilon,
        threads=threads,
    )


def read_mauve_ot(pair: Pair, _: EstimationOptions) -> Score:
    return _read(pair, "linear")


def read_mauve_ot_barycentric(pair: Pair, _: EstimationOptions) -> Score:
    return _read(pair, "barycentric")


def _read(pair: Pair, interpolation: Interpolation) -> Score:
    if pair.settings.normalise == "none" and pair.settings.c is None:
        pins = {"cost": "squared_euclidean", **pair.estimates.seed_pin}
        reason = UNSCALED if pair.strata is None else UNSCALED_ANSWERS
        return scored(METRICS[interpolation], np.nan, pins, reason=reason)
    return mauve_ot_score(
        *pair.projected,
        pair.estimates.cells,
        interpolation=interpolation,
        c=pair.curves.scaling("quantisation"),
        pins=pair.estimates.seed_pin,
    )
