"""PRD: precision and recall as a trade-off curve over joint k-means cells, and its two F-scores.

Union quantised into 20 cells, one curve for each of 10 runs of k-means, curves averaged angle by
angle; F_8 sums up recall (diversity), F_1/8 precision (quality), each the maximum over the
averaged curve (Sajjadi et al., NeurIPS 2018, section 4.1 and definition of F_β; the authors use
mini-batch k-means, here it is Lloyd's). Differences within a cell are not seen.
"""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from calipers.curves.precision_recall import (
    PrecisionRecallCurve,
    mean_curve,
    precision_recall_curve,
)
from calipers.estimate.quantise import Buckets, Quantisation, quantise
from calipers.estimate.validate import check_whole
from calipers.score import Score, join_signature, signature

BUCKETS = 20
RUNS = 10


@dataclass(frozen=True)
class Prd:
    """Diversity (F_8), quality (F_1/8), and the averaged curve they are read from."""

    f8: Score
    f1_8: Score
    curve: PrecisionRecallCurve


def prd(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    buckets: Buckets = BUCKETS,
    runs: int = RUNS,
    seed: int = 0,
    threads: int | None = None,
) -> Prd:
    """Tell quality and diversity apart on a coarse histogram of both sets.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``; taken as given.
    buckets
        Number of cells (20 in the paper); at most the samples of both sets.
    runs
        Runs of k-means whose curves are averaged.
    seed
        Of k-means.
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
    """
    check_whole("runs", runs, 1)
    cells = quantise(
        reference, generated, buckets=buckets, restarts=runs, seed=seed, threads=threads
    )
    return prd_scores(cells, pins=signature({"seed": seed}))


def prd_scores(cells: Quantisation, *, pins: str = "") -> Prd:
    """Average the curves of all runs and sum them up."""
    curve = mean_curve([precision_recall_curve(run) for run in cells.runs])
    return Prd(
        _f("prd_f8", curve, 8.0, cells, pins), _f("prd_f1_8", curve, 1 / 8, cells, pins), curve
    )


def _f(
    metric: str, curve: PrecisionRecallCurve, beta: float, cells: Quantisation, pins: str
) -> Score:
    own = {"metric": metric, "beta": beta, "angles": len(curve.precision)}
    cut = {"buckets": cells.buckets, "kmeans": "lloyd_random", "runs": len(cells.runs)}
    sizes = {"n": int(cells.best.reference.sum()), "m": int(cells.best.generated.sum())}
    return Score(curve.f_beta(beta), signature=join_signature(signature(own | cut | sizes), pins))
