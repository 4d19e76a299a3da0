"""Sphere precision and recall: agreement of how mass is spread around the means.

From α-precision and β-recall (Alaa et al., "How faithful is your synthetic data?", ICML 2022,
sections 3 and 4), without the trained one-class map Φ that the original puts in front, so not
under its name; synthcity reports such values as ``delta_precision_alpha_naive`` and
``delta_coverage_beta_naive``:

- S_α is the ball around the mean of the reference that holds the share α of it, and P_α the share
  of the generated samples in it; sphere_precision sums up how close P_α stays to α;
- S_β is the ball around the mean of the generated set that holds the share β of it, and R_β the
  share of reference samples x whose nearest generated sample lies in S_β and no further from x than
  x's own nearest other reference sample; sphere_recall sums up how close R_β stays to β.

The paper's score is 1 − 2 ∫ |P_α − α| dα. Here the integral is a sum over all spheres that a
sample's distance defines, α being the share that the sphere does hold, over the sum of α:
1 − Σ |P_α − α| / Σ α, in [0, 1] and 1 for equal sets (synthcity divides so too, on a grid of 30
steps). In S_β the quantiles are those of all generated samples, as in the paper; the release takes
them over the nearest generated samples of the reference. The paper looks for the nearest generated
sample within S_β only; here, as in the release, it is the nearest of all.

What they do not detect: anything but distances to a mean. Two sets whose modes lie equally far from
it score the same, and a reference with several modes has its "typical" region where no sample lies.
A missing mode can even raise a value. For two samples of one distribution and of one size
sphere_precision comes to 1, but sphere_recall only to between 0.5 (few dimensions) and 0.65: x's
nearest generated sample is as often further away than its nearest reference sample as not. It also
moves with the ratio of the sizes: 0.26 with a quarter as many generated samples (10 dimensions).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.catalogue.settings import Distance, Ties
from calipers.errors import checks_keywords
from calipers.estimate.axes import unit_rows
from calipers.estimate.knn.neighbourhoods import Neighbourhoods, measure_neighbourhoods
from calipers.metrics.knn_support import PrecisionRecall
from calipers.metrics.reading import read_off, sizes
from calipers.numeric.distances import Points
from calipers.numeric.validation import check_pair
from calipers.score import Score

if TYPE_CHECKING:
    from calipers.catalogue.estimation import EstimationOptions
    from calipers.metrics.pair import Pair

BLOCK = 4096

Scaling = Callable[[Points], NDArray[Any]]


@checks_keywords
def sphere_precision_recall(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    ties: Ties = "closed",
    distance: Distance = "euclidean",
    threads: int | None = None,
) -> PrecisionRecall:
    """Measure quality and diversity by spheres around the mean of each set.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``, at least two rows each; taken as given.
    ties
        Whether a generated sample exactly as far away as the nearest reference sample counts for
        recall: ``"closed"`` (the paper) or ``"open"``. Spheres are always closed.
    distance
        ``"euclidean"``, or ``"cosine"``, for which rows are scaled to length one.
    threads
        Number of threads (default: all cores); no effect on the values.

    Returns
    -------
    PrecisionRecall
        Scores in [0, 1], higher is better. ``precision.per_sample`` gives for every generated row
        the share of the reference that is nearer to its mean, in [0, 1], 1 for rows outside all
        spheres; ``recall.per_sample`` tells for every reference row whether its nearest generated
        row is near enough, whatever the sphere.

    Raises
    ------
    InputError
        If the arrays do not fit together, are not finite, or have a single row.

    Examples
    --------
    >>> reference = [[0.0], [1.0], [2.0], [3.0]]
    >>> generated = [[0.5], [1.5], [9.0], [10.0]]
    >>> scores = sphere_precision_recall(reference, generated)
    >>> round(scores.precision.value, 3), round(scores.recall.value, 3)
    (0.5, 0.667)
    """
    left, right = check_pair(reference, generated)
    near = measure_neighbourhoods(left, right, k=1, ties=ties, distance=distance, threads=threads)
    return PrecisionRecall(
        sphere_precision_score(near, left, right), sphere_recall_score(near, left, right)
    )


def sphere_precision_score(near: Neighbourhoods, reference: Points, generated: Points) -> Score:
    """Agreement of the spheres around the reference's mean on both sets."""
    n, m = sizes(near)
    scaled = _scaling(near.distance, reference, generated)
    centre = _mean(reference, scaled)
    distances = np.sort(_to_centre(reference, centre, scaled))
    other = _to_centre(generated, centre, scaled)
    value, places = (
        _agreement(distances, n, np.sort(other), m),
        np.searchsorted(_spheres(distances), other),
    )
    pins = {"centre": "reference_mean"}
    return read_off(near, "sphere_precision", value, 1, pins, per_sample=places / n)


def sphere_recall_score(near: Neighbourhoods, reference: Points, generated: Points) -> Score:
    """Agreement of the spheres around the generated mean on both sets, near samples alone."""
    n, m = sizes(near)
    scaled = _scaling(near.distance, generated)
    distances = _to_centre(generated, _mean(generated, scaled), scaled)
    reached = near.reference.held[:, 0] > 0
    other = distances[near.generated.nearest[reached]]
    value = _agreement(np.sort(distances), m, np.sort(other), n)
    pins = {"centre": "generated_mean"}
    return read_off(near, "sphere_recall", value, 1, pins, per_sample=reached)


def _spheres(sorted_distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """The radii of the spheres, wider by what rounding may tell equal distances apart."""
    wider: NDArray[np.float64] = sorted_distances * (1 + 1e-9) + 1e-12 * sorted_distances[-1]
    return wider


def _agreement(
    distances: NDArray[np.float64], size: int, other: NDArray[np.float64], other_size: int
) -> float:
    """``1 - sum |share of other - share of own| / sum share of own``, over all own spheres."""
    radii = _spheres(distances)
    alpha = np.searchsorted(distances, radii, side="right").astype(np.int64)
    beta = np.searchsorted(other, radii, side="right").astype(np.int64)
    gap = np.abs(beta * size - alpha * other_size).sum(dtype=np.float64)
    return float(1 - gap / (alpha.sum(dtype=np.float64) * other_size))


def _scaling(distance: Distance, *sets: Points) -> Scaling:
    """How rows become float64: near 1, so that no square underflows; directions for cosines.

    Among rows of length one, Euclidean distances to a centre order as cosines do.
    """
    if distance == "cosine":
        return lambda rows: unit_rows(rows.astype(np.float64))
    largest = max(float(max(rows.max(), -rows.min())) for rows in sets)
    factor = 2.0 ** -float(np.clip(np.frexp(largest)[1], -1000, 1000))
    return lambda rows: rows.astype(np.float64) * factor


def _mean(rows: Points, scaled: Scaling) -> NDArray[np.float64]:
    total = np.zeros(rows.shape[1])
    for start in range(0, len(rows), BLOCK):
        total += scaled(rows[start : start + BLOCK]).sum(axis=0)
    return total / len(rows)


def _to_centre(rows: Points, centre: NDArray[np.float64], scaled: Scaling) -> NDArray[np.float64]:
    """Distance of every row to the centre."""
    gaps = np.empty(len(rows))
    for start in range(0, len(rows), BLOCK):
        part = scaled(rows[start : start + BLOCK]) - centre
        gaps[start : start + BLOCK] = np.sqrt((part * part).sum(axis=1))
    return gaps


def read_sphere_precision(pair: Pair, _: EstimationOptions) -> Score:
    return sphere_precision_score(pair.neighbourhoods, pair.reference, pair.generated)


def read_sphere_recall(pair: Pair, _: EstimationOptions) -> Score:
    return sphere_recall_score(pair.neighbourhoods, pair.reference, pair.generated)
