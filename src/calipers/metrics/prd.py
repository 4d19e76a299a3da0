"""PRD: a precision–recall curve over joint k-means cells, with its two F-scores.

Union quantised into 20 cells, one curve for each of 10 runs of k-means, curves averaged angle by
angle; F_8 sums up recall (diversity), F_1/8 precision (quality), each the maximum over the
averaged curve (Sajjadi et al., NeurIPS 2018, section 4.1 and definition of F_β; the authors use
mini-batch k-means, here it is Lloyd's). The ends of the curve are the shares in cells that the
other set reaches at all (theorem 1), and 1 − α(1) is the total variation. Likelihood ratios of any
estimator give such a curve too.

What it does not detect: differences within a cell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from calipers.brief import Brief
from calipers.catalogue.estimation import DEFAULTS, EstimationOptions
from calipers.catalogue.settings import Buckets
from calipers.curves.precision_recall import PrecisionRecallCurve
from calipers.errors import checks_keywords
from calipers.estimate.quantise import Quantisation, quantise
from calipers.metrics.estimates import BUCKETS, RUNS, averaged, cell_pins
from calipers.metrics.reading import Pins, scored
from calipers.numeric.validation import check_whole
from calipers.score import Score

if TYPE_CHECKING:
    from calipers.metrics.pair import Pair


@dataclass(frozen=True)
class Prd(Brief):
    """Diversity (F_8), quality (F_1/8), and the averaged curve that they are read from."""

    f8: Score
    f1_8: Score
    curve: PrecisionRecallCurve


@checks_keywords
def prd(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    buckets: Buckets = BUCKETS,
    runs: int = RUNS,
    seed: int = 0,
    threads: int | None = None,
) -> Prd:
    """Measure quality and diversity separately, on a coarse histogram of both sets.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``; taken as given.
    buckets
        Number of cells (20 in the paper); at most the samples of both sets.
    runs
        Runs of k-means whose curves are averaged.
    seed
        Seed of k-means.
    threads
        Number of threads (default: all cores).

    Returns
    -------
    Prd
        ``f8`` (recall) and ``f1_8`` (precision), in [0, 1], higher is better; the curve.

    Raises
    ------
    InputError
        If the arrays do not fit together, are not finite, or an option is out of its range.

    Examples
    --------
    >>> reference = [[0.0], [1.0], [2.0], [3.0]]
    >>> generated = [[0.5], [1.5], [9.0], [10.0]]
    >>> scores = prd(reference, generated, buckets=2)
    >>> round(scores.f8.value, 3), round(scores.f1_8.value, 3)
    (0.985, 0.504)
    """
    check_whole("runs", runs, 1)
    cells = quantise(
        reference, generated, buckets=buckets, restarts=runs, seed=seed, threads=threads
    )
    return prd_scores(cells, pins=cell_pins(cells, runs="runs") | {"seed": seed})


def prd_scores(cells: Quantisation, *, pins: Pins) -> Prd:
    """Average the curves of all runs and summarise them."""
    curve = averaged(cells)
    f8, f1_8 = (curve_score(name, DEFAULTS, curve, pins=pins) for name in ("prd_f8", "prd_f1_8"))
    return Prd(f8, f1_8, curve)


BETA = {"prd_f8": 8.0, "prd_f1_8": 1 / 8}
"""The weight of recall in the F-scores."""

READINGS: dict[str, Callable[[PrecisionRecallCurve], float]] = {
    "prd_f8": lambda curve: curve.f_beta(BETA["prd_f8"]),
    "prd_f1_8": lambda curve: curve.f_beta(BETA["prd_f1_8"]),
    "max_precision": lambda curve: curve.max_precision,
    "max_recall": lambda curve: curve.max_recall,
    "total_variation": lambda curve: curve.total_variation,
    "prd_area": lambda curve: curve.area(),
}
"""What is read off a precision-recall curve, by the name of its metric."""


def curve_score(
    name: str, options: EstimationOptions, curve: PrecisionRecallCurve, *, pins: Pins
) -> Score:
    """Read one summary from a precision-recall curve, in [0, 1].

    The ends of the curve are NaN with a reason where the estimator gives mass everywhere.
    """
    value = READINGS[name](curve)
    summary_pins = {"beta": BETA[name]} if name in BETA else {}
    return scored(
        name,
        value,
        {**summary_pins, "angles": len(curve.precision), **pins},
        options=options,
        reason=curve.reason if value != value else None,
    )


def read_prd_f8(pair: Pair, options: EstimationOptions) -> Score:
    return _read("prd_f8", pair, options)


def read_prd_f1_8(pair: Pair, options: EstimationOptions) -> Score:
    return _read("prd_f1_8", pair, options)


def read_max_precision(pair: Pair, options: EstimationOptions) -> Score:
    return _read("max_precision", pair, options)


def read_max_recall(pair: Pair, options: EstimationOptions) -> Score:
    return _read("max_recall", pair, options)


def read_total_variation(pair: Pair, options: EstimationOptions) -> Score:
    return _read("total_variation", pair, options)


def read_prd_area(pair: Pair, options: EstimationOptions) -> Score:
    return _read("prd_area", pair, options)


def _read(name: str, pair: Pair, options: EstimationOptions) -> Score:
    curve = pair.curves.trade_off(options)
    return curve_score(name, options, curve, pins=pair.curves.trade_off_pins(options))
