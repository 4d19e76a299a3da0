"""MAUVE_OT: MAUVE with transport costs in place of a divergence, which see how far cells lie apart.

The area under the transport frontier after x → exp(−c·x), from joint k-means cells (Pillutla et
al., JMLR 2023, section 7.4.2 and equation 5), with mixtures (equation 31) or barycentres (equation
32) of both sets between them.

Costs are exact by default, so that equal sets score 1. The paper speaks of entropic plans with the
median cost as ε, which can be asked for; but then equal sets score near 0, and the values that it
prints are not of that kind: where the exact cost to a mixture is (1 − λ)·W, as it nearly is among
many dimensions, the area is e^(−cW)·(1 + cW), and at c = 5 that gives all eight linear values of
its table 17 from the quantised costs W beside them, within 0.004.

Unlike a divergence, a cost has a unit: c multiplies squared distances in the space of the cells.
Rows of length one, the default here as in MAUVE, keep costs below 4; with other rows choose c anew.
It says little beyond the quantised cost, does not see differences within a cell, and cannot tell
missing quality from missing diversity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from calipers.curves.areas import positive
from calipers.estimate.distances import Points
from calipers.estimate.preprocess import Norm, preprocess
from calipers.estimate.quantise import Buckets, Quantisation, quantise
from calipers.estimate.transport_plan import NoPlanError
from calipers.estimate.validate import check_choice
from calipers.metrics.transport_cells import Cells, cells_of, too_many
from calipers.metrics.transport_entropic import Regularisation, check_regularisation, epsilon_of
from calipers.metrics.transport_frontier import (
    Interpolation,
    TransportFrontier,
    transport_frontier,
)
from calipers.score import Score, join_signature, signature

# Beyond, 25 exact points of the frontier take minutes
MOST_CELLS = {"linear": 2_000, "barycentric": 1_000}
METRICS = {"linear": "mauve_ot", "barycentric": "mauve_ot_barycentric"}


@dataclass(frozen=True)
class MauveTransport:
    """How close two sets are by the transport frontier, in both interpolations."""

    mauve_ot: Score
    mauve_ot_barycentric: Score


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
    """Tell how close the generated histogram is to the reference, in moved mass.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``.
    c
        Scaling constant of the area, above 0; multiplies squared distances.
    regularisation
        None for exact costs, ``"median"`` for entropic plans with the median cost, or their ε.
    buckets
        Number of cells, or ``"auto"`` for a tenth of the smaller set.
    restarts
        Runs of k-means, of which the one with the smallest inertia counts.
    seed
        Of k-means.
    norm, pca
        What is done to the rows first; see :func:`calipers.metrics.preprocess`.
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
    """
    _check(c, regularisation)
    rows = preprocess(reference, generated, norm=norm, pca=pca)
    left, right = rows.reference, rows.generated
    cells = quantise(left, right, buckets=buckets, restarts=restarts, seed=seed, threads=threads)
    pins = signature({"norm": norm, "pca": pca or "none", "seed": seed})
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
    pins: str = "",
    threads: int | None = None,
) -> Score:
    """Sum up the transport frontier of a quantisation; see :func:`mauve_ot`."""
    _check(c, regularisation)
    check_choice("interpolation", interpolation, get_args(Interpolation))
    own = cells_of(reference, generated, cells)
    value, reason = np.nan, too_many(own, MOST_CELLS[interpolation])
    if reason is None:
        try:
            value = _frontier(own, interpolation, regularisation, threads).area(c)
        except NoPlanError as failure:
            reason = str(failure)
    made = {"metric": METRICS[interpolation], "c": c, "cost": "squared_euclidean"}
    made |= {"regularisation": "none" if regularisation is None else regularisation}
    line = signature(made | own.pins)
    return Score(value=value, signature=join_signature(line, pins), reason=reason)


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


def _check(c: float, regularisation: Regularisation | None) -> None:
    positive("the scaling constant c", c)
    if regularisation is not None:
        check_regularisation(regularisation)
