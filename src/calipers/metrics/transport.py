"""Optimal transport: the cost of moving the generated samples onto the reference.

All costs are mean squared distances, so their unit is that of squared distances: costs in different
spaces do not compare (Pillutla et al., JMLR 2023, section 7.4.2, unless said otherwise).

**Plug-in** (:func:`optimal_transport`): W₂²(P̂, Q̂) = min over plans π of Σ π_ij·|x_i − y_j|², with
uniform weights on the samples of both sides (the plug-in estimate of OT_ρ). Equal to POT's
``emd2(a, b, dist(x, y))`` where that reaches the optimum; by default it stops, at some thousand
rows a side, before that.

**Quantised** (:func:`quantised_transport`): OT(P̂_k, Q̂_k) over joint k-means cells at cost
|c_i − c_j|², c_i the mean of the cell's rows of both sets. Coarser than the plug-in cost and far
less biased by the number of samples; the paper finds that it ranks systems better. Equal to POT's
``emd2``.

**Entropic** (:func:`entropic_transport`): between the same histograms, π minimises
⟨π, C⟩ + ε·KL(π‖P ⊗ Q) (Cuturi, NeurIPS 2013), by default with ε the median of all pairwise costs.

- ``entropic`` is ⟨π, C⟩. The plan is spread out, so equal sets do not score 0: at the median cost
  it is close to the mean cost of all pairs, and says more about the spread of the sets than about
  their gap.
- ``debiased`` is the Sinkhorn divergence OT_ε(P, Q) − ½OT_ε(P, P) − ½OT_ε(Q, Q) of the regularised
  values (Feydy et al., AISTATS 2019): for squared distances never negative, and 0 for equal
  histograms alone. Of ⟨π, C⟩ neither would hold. It runs from OT at ε = 0 to the squared distance
  of the means at ε = ∞; at the median cost it is near that end.

**Sliced** (:func:`sliced_wasserstein`), for large sets: SW₂² = E_θ W₂²(θ·P̂, θ·Q̂) over directions θ
uniform on the sphere (Rabin et al., 2011; Bonneel et al., 2015), estimated with a fixed number of
them. In one dimension the best plan pairs quantile with quantile, so a direction costs a sort. The
square of POT's ``sliced_wasserstein_distance(..., p=2)`` for the same directions. In the mean over
all directions it is 0 only for equal sets and at most W₂²/d; with a finite number of them it
wanders about that, and may exceed W₂²/d.

What they do not detect:

- Plug-in: a small gap among many dimensions. Two samples of one distribution are far apart there
  (the cost falls as n^(−2/d) only), costs of different n do not compare, and the paper finds the
  plug-in cost to rank systems against people's judgement.
- Quantised and entropic: differences within a cell.
- Sliced: a gap along few of many dimensions is thinned out, and may be missed with few directions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.brief import Brief
from calipers.catalogue.settings import Buckets
from calipers.errors import InputError, checks_keywords
from calipers.estimate.measures import CentredRows, centred, squared_distances
from calipers.estimate.quantise import Quantisation, quantise
from calipers.estimate.transport import NoPlanError, assign, entropic, transport_cost
from calipers.metrics.estimates import cell_pins
from calipers.metrics.reading import Pins, scored
from calipers.numeric.arrays import Floats
from calipers.numeric.distances import Points
from calipers.numeric.row_sets import RowSets
from calipers.numeric.threads import workers
from calipers.numeric.tiles import spans
from calipers.numeric.validation import check_pair, check_whole, is_positive
from calipers.score import Score

if TYPE_CHECKING:
    from calipers.catalogue.estimation import EstimationOptions
    from calipers.metrics.pair import Pair

MOST_CELLS = 5_000


@dataclass(frozen=True, eq=False)
class Cells:
    """Two histograms over the same cells, and the costs of moving between cells.

    Attributes
    ----------
    reference, generated
        Shares of the samples in every cell, shape ``(k,)`` each; cells without a sample are left
        out.
    costs
        Squared distances of the cells' means, shape ``(k, k)``.
    pins
        What made them, for signatures.
    """

    reference: Floats
    generated: Floats
    costs: Floats
    pins: dict[str, object]


@checks_keywords
def quantised_transport(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    buckets: Buckets = "auto",
    restarts: int = 5,
    seed: int = 0,
    threads: int | None = None,
) -> Score:
    """Measure the cost of moving the generated histogram onto the reference histogram.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``; taken as given.
    buckets
        Number of cells, or ``"auto"`` for a tenth of the smaller set, at most 5,000.
    restarts
        Runs of k-means, of which the one with the smallest inertia counts.
    seed
        Seed of k-means.
    threads
        Number of threads (default: all cores).

    Returns
    -------
    Score
        At least 0, lower is better, 0 for equal sets; NaN with a reason for more than 5,000 cells,
        or where the solver did not reach the optimum.

    Raises
    ------
    InputError
        If the arrays do not fit together, are not finite, or an option is out of its range.
    MissingExtraError
        If POT is not installed.

    Examples
    --------
    >>> reference = [[0.0], [1.0], [2.0], [3.0]]
    >>> generated = [[0.5], [1.5], [9.0], [10.0]]
    >>> round(quantised_transport(reference, generated, buckets=2).value, 3)
    33.347
    """
    left, right = check_pair(reference, generated)
    cells = quantise(left, right, buckets=buckets, restarts=restarts, seed=seed, threads=threads)
    return quantised_transport_score(left, right, cells, pins={"seed": seed})


def quantised_transport_score(
    reference: Points, generated: Points, cells: Quantisation, *, pins: Pins | None = None
) -> Score:
    """Move one histogram of a quantisation onto the other; see :func:`quantised_transport`."""
    filled_cells = cells_of(reference, generated, cells)
    value, reason = np.nan, too_many(filled_cells, MOST_CELLS)
    if reason is None:
        try:
            value = transport_cost(
                filled_cells.reference, filled_cells.generated, filled_cells.costs
            )
        except NoPlanError as failure:
            reason = str(failure)
    made = {"cost": "squared_euclidean", **filled_cells.pins, **(pins or {})}
    return scored("ot_quantised", value, made, reason=reason)


def cells_of(reference: Points, generated: Points, cells: Quantisation) -> Cells:
    """Take the histograms and the cells' means of the best run of a quantisation.

    Raises
    ------
    InputError
        If the quantisation is not one of these rows.
    """
    sides, labels = (reference, generated), cells.labels
    sizes = tuple(map(len, sides)), tuple(map(len, labels))
    if sizes[0] != sizes[1]:
        raise InputError(
            f"the quantisation must be one of the given rows; found {sizes[1][0]} and "
            f"{sizes[1][1]} labels for {sizes[0][0]} and {sizes[0][1]} rows"
        )
    names, placed = np.unique(np.concatenate(labels), return_inverse=True)
    (n, m), d = sizes[0], reference.shape[1]
    p, q = (np.bincount(part, minlength=len(names)) for part in (placed[:n], placed[n:]))
    centre, sums = centred(reference, generated)[0].centre, np.zeros((len(names), d))
    for place, part in RowSets(sides).blocks():
        moved = part.astype(np.float64) - centre
        for column in range(d):
            sums[:, column] += np.bincount(
                placed[place], weights=moved[:, column], minlength=len(names)
            )
    middles = CentredRows.of(sums / (p + q)[:, None])
    pins = cell_pins(cells) | {"d": d}
    return Cells(p / n, q / m, squared_distances(middles, middles), pins)


def too_many(cells: Cells, most: int) -> str | None:
    """Explain that there are more cells than a measure can take in reasonable time and memory."""
    k = len(cells.reference)
    return None if k <= most else f"{k:,} cells are more than the {most:,} that it takes"


Regularisation = float | Literal["median"]


@dataclass(frozen=True)
class EntropicTransport(Brief):
    """The cost of the entropic plan, and the Sinkhorn divergence."""

    entropic: Score
    debiased: Score


@checks_keywords
def entropic_transport(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    regularisation: Regularisation = "median",
    buckets: Buckets = "auto",
    restarts: int = 5,
    seed: int = 0,
    threads: int | None = None,
) -> EntropicTransport:
    """Measure the entropically regularised cost of moving one histogram onto the other.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``; taken as given.
    regularisation
        ε, above 0, in the unit of squared distances, or ``"median"``: the median cost between two
        different cells.
    buckets
        Number of cells, or ``"auto"`` for a tenth of the smaller set, at most 5,000.
    restarts
        Runs of k-means, of which the one with the smallest inertia counts.
    seed
        Seed of k-means.
    threads
        Number of threads of k-means (default: all cores).

    Returns
    -------
    EntropicTransport
        ``entropic`` and ``debiased``, at least 0, lower is better; NaN with a reason for more than
        5,000 cells, or where Sinkhorn's iteration does not converge.

    Raises
    ------
    InputError
        If the arrays do not fit together, are not finite, or an option is out of its range.

    Examples
    --------
    >>> reference = [[0.0], [1.0], [2.0], [3.0]]
    >>> generated = [[0.5], [1.5], [9.0], [10.0]]
    >>> scores = entropic_transport(reference, generated, buckets=2)
    >>> round(scores.entropic.value, 3), round(scores.debiased.value, 3)
    (33.347, 20.679)
    """
    check_regularisation(regularisation)
    left, right = check_pair(reference, generated)
    cells = quantise(left, right, buckets=buckets, restarts=restarts, seed=seed, threads=threads)
    pins = {"seed": seed}
    return entropic_transport_scores(left, right, cells, regularisation=regularisation, pins=pins)


def entropic_transport_scores(
    reference: Points,
    generated: Points,
    cells: Quantisation,
    *,
    regularisation: Regularisation = "median",
    pins: Pins | None = None,
) -> EntropicTransport:
    """Move one histogram of a quantisation onto the other; see :func:`entropic_transport`."""
    filled_cells = cells_of(reference, generated, cells)
    values, reason = (np.nan, np.nan), too_many(filled_cells, MOST_CELLS)
    if reason is None:
        try:
            values = _values(filled_cells, epsilon_of(filled_cells.costs, regularisation))
        except NoPlanError as failure:
            reason = str(failure)
    made = {"regularisation": regularisation, **filled_cells.pins, **(pins or {})}
    return EntropicTransport(
        entropic=scored("ot_entropic", values[0], made, reason=reason),
        debiased=scored("ot_debiased", values[1], made, reason=reason),
    )


def check_regularisation(regularisation: object) -> None:
    """Refuse values other than "median" and numbers above 0."""
    if regularisation != "median" and not is_positive(regularisation):
        raise InputError(
            f"regularisation must be 'median' or a number above 0; found {regularisation!r}"
        )


def epsilon_of(costs: NDArray[np.float64], regularisation: Regularisation) -> float:
    """Return the regularisation as a number: by default the median cost between cells.

    0 where there are no two different cells, or where all lie in one place.
    """
    if not isinstance(regularisation, str):
        return float(regularisation)
    between = costs[np.triu_indices(len(costs), 1)]
    return float(np.median(between)) if len(between) else 0.0


def _values(cells: Cells, epsilon: float) -> tuple[float, float]:
    if not cells.costs.any():
        return 0.0, 0.0
    if epsilon == 0:
        raise NoPlanError("the median cost is 0: at least half of the cells lie in one place")
    p, q = cells.reference, cells.generated
    across, *within = (
        entropic(a, b, cells.costs, regularisation=epsilon) for a, b in ((p, q), (p, p), (q, q))
    )
    return across.transport, max(0.0, across.value - sum(side.value for side in within) / 2)


PROJECTIONS = 500
DIRECTIONS_PER_CHUNK = 16

Places = tuple[NDArray[np.int64], NDArray[np.int64], Floats]


@checks_keywords
def sliced_wasserstein(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    projections: int = PROJECTIONS,
    seed: int = 0,
    threads: int | None = None,
) -> Score:
    """Measure the distance of the sets along random directions, in time n·log n.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``; taken as given.
    projections
        Number of random directions; the value varies with them, by about √(2/projections) of
        itself where the gap lies along one direction.
    seed
        Seed of the directions.
    threads
        Number of threads (default: all cores); no effect on the value.

    Returns
    -------
    Score
        The mean squared distance, at least 0, lower is better, 0 for equal sets.

    Raises
    ------
    InputError
        If the arrays do not fit together, are not finite, or an option is out of its range.

    Examples
    --------
    >>> round(sliced_wasserstein([[0.0], [2.0]], [[3.0], [5.0]]).value, 9)
    9.0
    """
    check_whole("projections", projections, 1)
    check_whole("seed", seed, 0)
    left, right = check_pair(reference, generated)
    d = left.shape[1]
    pins = {"projections": projections, "seed": seed, "n": len(left), "m": len(right), "d": d}
    value = _mean_cost(*centred(left, right), _directions(projections, d, seed), threads)
    return scored("sliced_wasserstein", value, pins)


def _directions(count: int, d: int, seed: int) -> Floats:
    """Directions uniform on the sphere, shape ``(count, d)``."""
    drawn = np.random.default_rng(seed).standard_normal((count, d))
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    return drawn


def _mean_cost(
    left: CentredRows, right: CentredRows, directions: Floats, threads: int | None
) -> float:
    places = _merged(len(left.squares), len(right.squares))

    def work(span: tuple[int, int]) -> float:
        chosen = directions[slice(*span)]
        return _cost(_projected(left, chosen), _projected(right, chosen), places)

    with workers(threads) as pool:
        total = math.fsum(pool.map(work, spans(len(directions), DIRECTIONS_PER_CHUNK)))
    return total / len(directions)


def _projected(rows: CentredRows, directions: Floats) -> Floats:
    """Coordinates of all rows along some directions, shape ``(directions, n)``."""
    n = len(rows.squares)
    projections = np.empty((len(directions), n))
    for span in spans(n, 4096):
        projections[:, slice(*span)] = directions @ rows.span(span).points.T
    return projections


def _cost(x: Floats, y: Floats, places: Places | None) -> float:
    """Summed squared W₂ of rows of projections, shapes ``(rows, n)`` and ``(rows, m)``."""
    x.sort(axis=1)
    y.sort(axis=1)
    if places is None:
        x -= y
        return float(np.einsum("ij,ij->", x, x)) / len(x[0])
    of_x, of_y, mass = places
    gaps = x[:, of_x] - y[:, of_y]
    return float(np.einsum("ij,ij,j->", gaps, gaps, mass))


def _merged(n: int, m: int) -> Places | None:
    """Which order statistics share each stretch of quantiles, and its mass; None where n = m.

    The stretches end at the multiples of 1/n and of 1/m; in units of 1/(n·m) they are whole.
    """
    if n == m:
        return None
    ends = np.union1d(np.arange(1, n + 1) * m, np.arange(1, m + 1) * n)
    starts = np.concatenate([[0], ends[:-1]])
    return starts // m, starts // n, (ends - starts) / (n * m)


MOST_PAIRS = 400_000_000  # 3.2 GB of costs


@checks_keywords
def optimal_transport(
    reference: ArrayLike, generated: ArrayLike, *, threads: int | None = None
) -> Score:
    """Measure the cost of moving the generated samples onto the reference samples.

    Exact. Sets of equal size are paired by an auction and shortest augmenting paths; sets of
    different size, whose rows then weigh 1/n and 1/m, go through POT's network simplex. Takes
    8·n·m bytes.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``; taken as given.
    threads
        Number of threads for the costs (default: all cores); no effect on the value.

    Returns
    -------
    Score
        The squared distance W₂², at least 0, lower is better, 0 for equal sets; NaN with a reason
        where ``n * m`` is above 400 million, or where the solver did not reach the optimum.

    Raises
    ------
    InputError
        If the arrays do not fit together or are not finite.
    MissingExtraError
        If ``n`` and ``m`` differ and POT is not installed.

    Examples
    --------
    >>> optimal_transport([[0.0], [2.0]], [[3.0], [1.0]]).value
    1.0
    """
    left, right = check_pair(reference, generated)
    n, m = len(left), len(right)
    value, reason = np.nan, None
    if n * m > MOST_PAIRS:
        reason = (
            f"{n:,} x {m:,} costs are more than the {MOST_PAIRS:,} that it holds in memory; "
            "take fewer samples, or sliced_wasserstein"
        )
    else:
        try:
            value = squared_wasserstein(left, right, threads=threads)
        except NoPlanError as failure:
            reason = str(failure)
    pins = {"cost": "squared_euclidean", "weights": "uniform", "n": n, "m": m, "d": left.shape[1]}
    return scored("ot", value, pins, reason=reason)


def squared_wasserstein(
    reference: Points, generated: Points, *, threads: int | None = None
) -> float:
    """Compute the exact W₂² of checked rows; see :func:`optimal_transport`."""
    left, right = centred(reference, generated)
    costs = cost_matrix(left, right, threads=threads)
    n, m = costs.shape
    if n != m:
        return transport_cost(np.full(n, 1 / n), np.full(m, 1 / m), costs)
    partner = assign(costs)
    gaps = left.given.astype(np.float64) - right.given[partner]
    return float(np.einsum("ij,ij->", gaps, gaps)) / len(gaps)


def cost_matrix(
    left: CentredRows, right: CentredRows, *, threads: int | None = None
) -> NDArray[np.float64]:
    """Compute all squared distances in float64, shape ``(n, m)``."""
    costs = np.empty((len(left.squares), len(right.squares)))

    def work(span: tuple[int, int]) -> None:
        costs[slice(*span)] = squared_distances(left.span(span), right)

    with workers(threads) as pool:
        for _ in pool.map(work, spans(len(costs), 256)):
            pass
    return costs


def read_ot(pair: Pair, _: EstimationOptions) -> Score:
    return optimal_transport(*pair.projected, threads=pair.settings.threads)


def read_ot_quantised(pair: Pair, _: EstimationOptions) -> Score:
    made = pair.estimates
    return quantised_transport_score(*pair.projected, made.cells, pins=made.seed_pin)


def read_ot_entropic(pair: Pair, _: EstimationOptions) -> Score:
    return _entropic(pair).entropic


def read_ot_debiased(pair: Pair, _: EstimationOptions) -> Score:
    return _entropic(pair).debiased


def read_sliced_wasserstein(pair: Pair, _: EstimationOptions) -> Score:
    settings = pair.settings
    return sliced_wasserstein(*pair.projected, seed=settings.seed, threads=settings.threads)


def _entropic(pair: Pair) -> EntropicTransport:
    made = pair.estimates
    return pair.once(
        "entropic",
        lambda: entropic_transport_scores(*pair.projected, made.cells, pins=made.seed_pin),
    )
