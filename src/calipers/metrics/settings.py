"""The choices that the metrics of a comparison share."""

from __future__ import annotations

from dataclasses import dataclass

from calipers.estimate.axes import Projection
from calipers.estimate.knn.balls import Distance
from calipers.estimate.knn.neighbourhoods import Ties
from calipers.estimate.quantise import Buckets


@dataclass(frozen=True)
class Settings:
    """The choices that the metrics of a comparison share.

    Attributes
    ----------
    k, ties
        Of the k-NN balls.
    distance
        Of all neighbourhoods: Euclidean or cosine.
    projection
        Where neighbours are looked for: ``"none"`` for rows of length one as they are,
        ``"union"`` for their coordinates on the main axes of the union (paper 000).
    buckets, restarts
        Of the quantisation behind MAUVE and the frontier integral.
    c
        Scaling constant of MAUVE; None for the one that the paper pairs with the estimator.
    seed
        Of k-means and of the block labels.
    threads
        Number of threads, None for all cores; no effect on counts.
    """

    k: int = 4
    ties: Ties = "closed"
    distance: Distance = "euclidean"
    projection: Projection = "none"
    buckets: Buckets = "auto"
    restarts: int = 5
    c: float | None = None
    seed: int = 0
    threads: int | None = None
