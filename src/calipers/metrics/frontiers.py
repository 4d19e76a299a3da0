"""MAUVE and its family: distances of two distributions by one construction.

An estimate of the two distributions (histograms over joint k-means cells, or likelihood ratios)
gives a divergence frontier, and the frontier is summed up: its area (MAUVE), its average cost
(frontier integral), its middle (mid-point), its best F_β (Pillutla et al., JMLR 2023, sections 3
and 4; Le Bronnec et al., ACL 2024, figure A.4). Nothing here asks which estimator it
was: that is a field of the signature.

``mauve`` and ``frontier_integral`` take raw counts, as mauve-text does, and equal its values on the
same counts but for two equal histograms, where MAUVE is 1 and mauve-text gives 0.75 or 1; the forms
with a star add ½ to every count (Krichevsky–Trofimov), the default of the paper. With a tenth as
many cells as samples, two equal distributions score about 0.97 by MAUVE*, not 1; and one number
cannot tell missing quality from missing diversity.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from calipers.brief import Brief
from calipers.catalogue.embeddings import METRICS
from calipers.catalogue.estimation import (
    COUNTING,
    DEFAULTS,
    STARRED,
    AveragedOver,
    EstimationOptions,
)
from calipers.catalogue.settings import Buckets, Norm
from calipers.curves.divergence import Divergence
from calipers.curves.divergences import find_divergence
from calipers.curves.frontier import DivergenceFrontier, divergence_frontier, f_divergence, half_of
from calipers.errors import checks_keywords
from calipers.estimate.axes import preprocess
from calipers.estimate.likelihood_ratios import Estimate
from calipers.estimate.quantise import Quantisation, quantise
from calipers.metrics.estimates import cell_pins
from calipers.metrics.reading import Pins, scored
from calipers.score import Score

if TYPE_CHECKING:
    from calipers.metrics.pair import Pair

C = 5.0


def integral_bound(divergence: Divergence) -> float:
    """Return the largest frontier integral, 4∫ λ·f*(λ) dλ + ⅔·f(0); JMLR 2023, property 7(c)."""
    half = half_of(divergence)
    return round(float(2 * (half.at_zero + half.conjugate_at_zero)), 12)


def midpoint_bound(divergence: Divergence) -> float:
    """Return the largest mid-point summary, ½(f(0) + f(2)); JMLR 2023, property 8(c)."""
    return float(divergence.at_zero + divergence(np.array([2.0]))[0]) / 2


BETA = {"frontier_f8": 8.0, "frontier_f1_8": 1 / 8}
"""The weight of recall in the F-scores."""

SUMMARIES: dict[str, Callable[[DivergenceFrontier, float], float]] = {
    "mauve": lambda frontier, c: frontier.area(c),
    "frontier_integral": lambda frontier, _: frontier.integral(),
    "midpoint": lambda frontier, _: frontier.midpoint(),
    "frontier_f8": lambda frontier, c: frontier.f_beta(BETA["frontier_f8"], c),
    "frontier_f1_8": lambda frontier, c: frontier.f_beta(BETA["frontier_f1_8"], c),
}
"""How a number sums up a frontier, given the scaling constant c, by the name of its metric."""

HIGHEST: dict[str, Callable[[Divergence], float]] = {
    "frontier_integral": integral_bound,
    "midpoint": midpoint_bound,
    "divergence": lambda divergence: divergence.at_zero + divergence.conjugate_at_zero,
}
"""The largest value that a divergence allows counts; values begin at 0."""


def summary_score(
    name: str, options: EstimationOptions, frontier: DivergenceFrontier, *, c: float = C, pins: Pins
) -> Score:
    """Read one summary from a frontier.

    Parameters
    ----------
    name
        One of `SUMMARIES`.
    options
        What the frontier was made by, for the key.
    c
        Scaling constant of the area and of F_β.
    pins
        What else pins the score: cells, sizes, seed.

    Returns
    -------
    Score
        In the range that the divergence allows; NaN with the reason where estimated ratios, which
        need not average to 1, give a value beyond it.
    """
    value = SUMMARIES[name](frontier, c)
    summary_pins: dict[str, object] = {}
    if METRICS[name].scaled:
        summary_pins = {"c": c, "grid": len(frontier.weights)}
        summary_pins |= {"beta": BETA[name]} if name in BETA else {"area": "both_axes"}
    reason = None if np.isfinite(value) else _endless(frontier.divergence, frontier.ratios)
    made = _pins(options, summary_pins, pins, frontier.averaged_over)
    return _within(name, options, value, made, reason)


def divergence_score(
    name: str, options: EstimationOptions, estimate: Estimate, *, pins: Pins
) -> Score:
    """Read the f-divergence of the reference from the generated set from any estimate."""
    divergence = find_divergence(options.divergence)
    value = f_divergence(estimate, divergence, points=options.averaged_over)
    reason = None if np.isfinite(value) else _endless(divergence, estimate)
    made = _pins(options, {}, pins, options.averaged_over)
    return _within(name, options, value, made, reason)


ROUNDING = 1e-9


def _within(
    name: str, options: EstimationOptions, value: float, pins: Pins, reason: str | None
) -> Score:
    """Complete a value; one beyond what the divergence allows estimates nothing."""
    low, high = METRICS[name].range_of(options)
    if reason is None and not low - ROUNDING <= value <= high + ROUNDING:
        reason = (
            f"the estimate is {value:.3g}, beyond the {high:g} that it can be at most: the "
            "likelihood ratios are too far off to be averaged over these samples"
        )
        value = np.nan
    value = float(value) if reason else float(np.clip(value, low, high))
    return scored(name, value, pins, options=options, reason=reason)


def range_by(name: str, options: EstimationOptions) -> tuple[float, float]:
    """Return the range of an entry of `HIGHEST` for a divergence."""
    return 0.0, HIGHEST[name](find_divergence(options.divergence))


def _pins(options: EstimationOptions, summary_pins: Pins, pins: Pins, points: AveragedOver) -> Pins:
    counted = options.estimator == COUNTING
    choice = {"smoothing": options.smoothing} if counted else {"points": points}
    return {"divergence": options.divergence, **summary_pins, **choice, **pins}


def _endless(divergence: Divergence, estimate: Estimate) -> str:
    """Why a divergence is infinite: mass that the other side lacks altogether."""
    ratios = estimate.ratios
    for cost, share, sides in (
        (divergence.conjugate_at_zero, ratios.outside_generated, "reference where the generated"),
        (divergence.at_zero, ratios.outside_reference, "generated where the reference"),
    ):
        if np.isinf(cost) and share > 0:
            mass, _, other = sides.partition(" where the ")
            return (
                f"{divergence.name} is infinite: {share:.2%} of the {mass} distribution lies where "
                f"the {other} has nothing"
            )
    return f"{divergence.name} is infinite: a ratio is too large to be distinguished from infinity"


@dataclass(frozen=True)
class Mauve(Brief):
    """MAUVE of two sets, with and without smoothing, and the curves behind it."""

    mauve: Score
    mauve_star: Score
    frontier_integral: Score
    frontier_integral_star: Score
    frontier: DivergenceFrontier
    frontier_star: DivergenceFrontier


@checks_keywords
def mauve(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    c: float = 5.0,
    buckets: Buckets = "auto",
    restarts: int = 5,
    seed: int = 0,
    norm: Norm = "l2",
    pca: float | None = 0.9,
    threads: int | None = None,
) -> Mauve:
    """Tell how close the generated distribution is to the reference, in one number.

    Follows mauve-text 0.4.0 step by step: rows of length one, joint PCA, joint k-means with the
    best of several starts, histograms, divergence frontier, area. The cells are those of our own
    k-means, so values agree up to its seed; on the same cells they are equal, but for two equal
    histograms, where mauve-text gives 0.75 or 1, as rounding falls, and this 1.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``.
    c
        Scaling constant of the area, above 0.
    buckets
        Number of cells, or ``"auto"`` for a tenth of the smaller set, at most 5,000.
    restarts
        Runs of k-means, of which the one with the smallest inertia counts.
    seed
        Seed of k-means; the score varies by 0.005–0.01 with it, by 0.03 with few hundred rows.
    norm, pca
        Preprocessing of the rows; see :func:`calipers.metrics.preprocess`.
    threads
        Number of threads (default: all cores).

    Returns
    -------
    Mauve
        ``mauve`` and ``mauve_star`` in [0, 1], higher is better; ``frontier_integral`` and
        ``frontier_integral_star`` in [0, 1], lower is better; the frontiers themselves.

    Raises
    ------
    InputError
        If the arrays do not fit together, are not finite, or an option is out of its range.

    Examples
    --------
    >>> import numpy as np
    >>> reference, generated = np.random.default_rng(0).normal(size=(2, 100, 2))
    >>> mauve(reference, reference).mauve.value
    1.0
    >>> mauve(reference, -abs(generated)).mauve.value < 0.2
    True
    """
    rows = preprocess(reference, generated, norm=norm, pca=pca, threads=threads)
    cells = quantise(
        rows.reference,
        rows.generated,
        buckets=buckets,
        restarts=restarts,
        seed=seed,
        threads=threads,
    )
    pins = cell_pins(cells) | {"norm": norm, "pca": pca or "none", "seed": seed}
    return mauve_scores(cells, c=c, pins=pins)


def mauve_scores(cells: Quantisation, *, c: float = C, pins: Pins) -> Mauve:
    """Summarise the frontier of the best quantisation, with and without smoothing."""
    plain, star = DEFAULTS, EstimationOptions(smoothing=STARRED)
    best = cells.best
    curves = {
        options: divergence_frontier(best.smoothed(options.smoothing)) for options in (plain, star)
    }

    def score(name: str, options: EstimationOptions) -> Score:
        return summary_score(name, options, curves[options], c=c, pins=pins)

    return Mauve(
        mauve=score("mauve", plain),
        mauve_star=score("mauve", star),
        frontier_integral=score("frontier_integral", plain),
        frontier_integral_star=score("frontier_integral", star),
        frontier=curves[plain],
        frontier_star=curves[star],
    )


def read_mauve(pair: Pair, options: EstimationOptions) -> Score:
    return _read("mauve", pair, options)


def read_frontier_integral(pair: Pair, options: EstimationOptions) -> Score:
    return _read("frontier_integral", pair, options)


def read_midpoint(pair: Pair, options: EstimationOptions) -> Score:
    return _read("midpoint", pair, options)


def read_frontier_f8(pair: Pair, options: EstimationOptions) -> Score:
    return _read("frontier_f8", pair, options)


def read_frontier_f1_8(pair: Pair, options: EstimationOptions) -> Score:
    return _read("frontier_f1_8", pair, options)


def read_divergence(pair: Pair, options: EstimationOptions) -> Score:
    estimate, pins = pair.estimates.estimate(options), pair.curves.pins(options)
    return divergence_score("divergence", options, estimate, pins=pins)


def _read(name: str, pair: Pair, options: EstimationOptions) -> Score:
    made, c = pair.curves, pair.curves.scaling(options.estimator)
    return summary_score(name, options, made.frontier(options), c=c, pins=made.pins(options))
