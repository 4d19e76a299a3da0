"""What sums up a divergence frontier, and how such a score is signed and bounded.

Everything here is read from an estimate as it comes: which estimator made it is a pin of the
signature, and decides only whether the bounds of the paper hold (they do for histograms).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from calipers.curves.divergence import Divergence
from calipers.curves.divergences import find_divergence
from calipers.curves.expectation import f_divergence, half_of
from calipers.curves.frontier import DivergenceFrontier
from calipers.estimate.likelihood_ratios import Estimate
from calipers.estimate.quantise import Quantisation
from calipers.estimate.smoothing import Smoothing
from calipers.metrics.keys import COUNTING, Options
from calipers.score import Better, Score, signature

STARRED: Smoothing = "krichevsky-trofimov"
"""The smoothing of the scores with a star."""

C = 5.0

Pins = Mapping[str, object]


@dataclass(frozen=True)
class Summary:
    """How one number is read off a frontier.

    Attributes
    ----------
    value
        Of a frontier and the scaling constant c.
    highest
        The largest value that a divergence allows counts; values begin at 0.
    better
        Where it is closer to the reference.
    pins
        What pins it in signatures, beside c where `scaled`.
    scaled
        Whether it depends on c.
    """

    value: Callable[[DivergenceFrontier, float], float]
    highest: Callable[[Divergence], float]
    better: Better
    pins: Pins
    scaled: bool = True


def integral_bound(divergence: Divergence) -> float:
    """The largest frontier integral, 4∫ λ·f*(λ) dλ + ⅔·f(0); JMLR 2023, property 7(c)."""
    half = half_of(divergence)
    return round(float(2 * (half.at_zero + half.conjugate_at_zero)), 12)


def midpoint_bound(divergence: Divergence) -> float:
    """The largest mid-point summary, ½(f(0) + f(2)); JMLR 2023, property 8(c)."""
    return float(divergence.at_zero + divergence(np.array([2.0]))[0]) / 2


SUMMARIES: dict[str, Summary] = {
    "mauve": Summary(
        lambda frontier, c: frontier.area(c), lambda _: 1.0, "higher", {"area": "both_axes"}
    ),
    "frontier_integral": Summary(
        lambda frontier, _: frontier.integral(), integral_bound, "lower", {}, scaled=False
    ),
    "midpoint": Summary(
        lambda frontier, _: frontier.midpoint(), midpoint_bound, "lower", {}, scaled=False
    ),
    "frontier_f8": Summary(
        lambda frontier, c: frontier.f_beta(8, c), lambda _: 1.0, "higher", {"beta": 8.0}
    ),
    "frontier_f1_8": Summary(
        lambda frontier, c: frontier.f_beta(1 / 8, c), lambda _: 1.0, "higher", {"beta": 1 / 8}
    ),
}
"""The numbers that sum up a frontier, by the name of their metric."""


def summary_score(
    name: str, options: Options, frontier: DivergenceFrontier, *, c: float = C, pins: Pins
) -> Score:
    """Read one summary off a frontier.

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
        In the range that the divergence allows. Estimated ratios need not average to 1, so what
        they give is not bounded above unless it is an area or an F_β.
    """
    summary = SUMMARIES[name]
    value = summary.value(frontier, c)
    low, high = range_by(name, options)
    own = {"c": c, "grid": len(frontier.weights)} if summary.scaled else {}
    return Score(
        float(np.clip(value, low, high)),
        range=(low, high),
        better=summary.better,
        signature=_line(name, options, {**own, **summary.pins}, pins),
        reason=None if np.isfinite(value) else _endless(frontier.divergence, frontier.ratios),
    )


def divergence_score(name: str, options: Options, estimate: Estimate, *, pins: Pins) -> Score:
    """Read the f-divergence of the reference from the generated set off any estimate."""
    divergence = find_divergence(options.divergence)
    value = f_divergence(estimate, divergence)
    return Score(
        value,
        range=range_by(name, options),
        better="lower",
        signature=_line(name, options, {}, pins),
        reason=None if np.isfinite(value) else _endless(divergence, estimate),
    )


def range_by(name: str, options: Options) -> tuple[float, float]:
    """The range of a score: for counts up to what the divergence allows."""
    divergence = find_divergence(options.divergence)
    if name in SUMMARIES and SUMMARIES[name].scaled:
        return 0.0, 1.0
    if options.estimator != COUNTING:
        return 0.0, np.inf
    if name in SUMMARIES:
        return 0.0, SUMMARIES[name].highest(divergence)
    return 0.0, divergence.at_zero + divergence.conjugate_at_zero


def quantisation_pins(cells: Quantisation) -> dict[str, object]:
    """What made the best quantisation, and the sizes of both sets."""
    best = cells.best
    return {
        "buckets": cells.buckets,
        "kmeans": "lloyd_random",
        "restarts": len(cells.runs),
        "n": int(np.sum(best.reference)),
        "m": int(np.sum(best.generated)),
    }


def starred_key(metric: str, options: Options) -> str:
    """The canonical key: the usual smoothing is written as a star."""
    if options.smoothing != STARRED:
        return options.key(metric)
    return Options(options.divergence, options.estimator).key(f"{metric}_star")


def _line(name: str, options: Options, own: Pins, pins: Pins) -> str:
    key = {"metric": starred_key(name, options), "divergence": options.divergence}
    smoothing = {"smoothing": options.smoothing} if options.estimator == COUNTING else {}
    return signature({**key, **own, **smoothing, **pins})


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
    return f"{divergence.name} is infinite: a ratio is too large to be told from infinity"
