"""Recall by density of the reference: is the periphery lost?

Reference samples are split into bands by how densely the reference lies around them: by the
distance to their k-th nearest other reference sample, r_k(x), whose inverse is the density up to a
power (Loftsgaarden and Quesenberry, 1965). Band 1 holds the samples of the smallest distances, the
core of the reference, the last band the samples of the largest, its periphery; bands are of equal
size up to one sample, and samples of equal distance lie in one band. Recall of a band is the share
of its samples that lie in a generated k-NN ball, as in Kynkäänniemi et al. (NeurIPS 2019): the mean
over bands, weighted by their sizes, is recall itself.

:func:`core_recall` and :func:`peripheral_recall` are of the densest and of the sparsest fifth.
Read a band beside the same band of two sets of one distribution (`--floor`): balls around sparse
samples are wide, so that recall need not be the same in all bands where nothing is lost.

What they do not detect: which kind of sample is lost, as groups do; and in many dimensions, where
distances are alike, the bands differ little in density.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.catalogue.settings import Distance, Ties
from calipers.errors import checks_keywords
from calipers.estimate.knn.neighbourhoods import Neighbourhoods, neighbourhoods
from calipers.metrics.reading import read_off
from calipers.numeric.validation import check_whole
from calipers.score import Score

if TYPE_CHECKING:
    from calipers.catalogue.estimation import EstimationOptions
    from calipers.metrics.pair import Pair

BANDS = 5


@checks_keywords
def recall_by_density(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    bands: int = BANDS,
    k: int = 4,
    ties: Ties = "closed",
    distance: Distance = "euclidean",
    threads: int | None = None,
) -> tuple[Score, ...]:
    """Tell how much of the dense core and of the sparse periphery of the reference is covered.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``; taken as given.
    bands
        How many bands of density, at least 2.
    k, ties, distance, threads
        As for :func:`calipers.metrics.precision_recall`; k also of the density.

    Returns
    -------
    tuple of Score
        Recall of each band in [0, 1], the densest first, higher is better. ``per_sample`` tells of
        every sample of the band whether it is covered, in the order of the rows. NaN with a reason
        where a band is empty, as many distances being equal.

    Raises
    ------
    InputError
        If the arrays do not fit together, are not finite, are too small for k, or `bands` is not a
        whole number from 2.

    Examples
    --------
    >>> reference = [[0.0], [0.1], [0.2], [0.3], [10.0], [12.0], [14.0], [16.0]]
    >>> generated = [[0.0], [0.1], [0.2], [0.3]]
    >>> [band.value for band in recall_by_density(reference, generated, bands=2, k=1)]
    [1.0, 0.0]
    """
    check_whole("bands", bands, 2)
    near = neighbourhoods(reference, generated, k=k, ties=ties, distance=distance, threads=threads)
    return tuple(band_recall(near, k, band, bands) for band in range(1, bands + 1))


def density_bands(near: Neighbourhoods, k: int, bands: int) -> NDArray[np.int64]:
    """Return the band of every reference sample, from 1 for the densest, shape ``(n,)``."""
    radii = near.reference.radii[:, k - 1]
    places = np.searchsorted(np.sort(radii), radii, side="left")
    return np.asarray(1 + places * bands // len(radii), np.int64)


def band_recall(
    near: Neighbourhoods, k: int, band: int, bands: int, *, metric: str = "recall"
) -> Score:
    """Recall of the samples of one band."""
    inside = near.generated.inside[:, k - 1] > 0
    hits = inside[density_bands(near, k, bands) == band]
    value = int(np.count_nonzero(hits)) / len(hits) if len(hits) else np.nan
    reason = None if len(hits) else f"no reference sample is in band {band} of {bands} by density"
    pins = {"band": f"{band}/{bands}", "size": len(hits)}
    return read_off(near, metric, value, k, pins, reason=reason, per_sample=hits)


def core_recall(near: Neighbourhoods, k: int) -> Score:
    """Recall of the densest fifth of the reference."""
    return band_recall(near, k, 1, BANDS, metric="core_recall")


def peripheral_recall(near: Neighbourhoods, k: int) -> Score:
    """Recall of the sparsest fifth of the reference."""
    return band_recall(near, k, BANDS, BANDS, metric="peripheral_recall")


def read_core_recall(pair: Pair, _: EstimationOptions) -> Score:
    return core_recall(pair.neighbourhoods, pair.settings.k)


def read_peripheral_recall(pair: Pair, _: EstimationOptions) -> Score:
    return peripheral_recall(pair.neighbourhoods, pair.settings.k)
