"""Settings that the metrics of a pair of sets share: accepted values and defaults.

The options of commands, the estimates and the results take them from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, Self

Ties = Literal["closed", "open"]
"""Whether the boundary of a ball belongs to it."""

Distance = Literal["euclidean", "cosine"]
"""Of all neighbourhoods."""

Projection = Literal["none", "union"]
"""Where neighbours are searched: among rows as they are, or on the main axes of the union."""

Axes = Literal["union", "reference"]
"""Whose principal axes whole distributions are compared on."""

Norm = Literal["l2", "none"]
"""What is done to rows before: each is scaled to length one, or nothing."""

Buckets = int | Literal["auto", "cube-root"]
"""Number of cells of a quantisation, or the rule that gives it."""


@dataclass(frozen=True)
class Settings:
    """Settings that the metrics of a comparison share.

    Attributes
    ----------
    k, ties
        Of the k-NN balls.
    distance
        Of all neighbourhoods.
    projection
        Where neighbours are searched: ``"none"`` for rows as they are, ``"union"`` for their
        coordinates on the main axes of the union (paper 000).
    axes
        Whose principal axes whole distributions are compared on.
    normalise
        What is done to rows before.
    buckets, restarts
        Of the quantisation behind MAUVE and the frontier integral.
    c
        Scaling constant of MAUVE; None for the one that the paper pairs with the estimator.
    dimensions
        Leading axes of the union that likelihood ratios are estimated on; None for the ten of
        paper 004.
    seed
        Of k-means and of the block labels.
    threads
        Number of threads, None for all cores; no effect on counts.
    """

    k: int = 4
    ties: Ties = "closed"
    distance: Distance = "euclidean"
    projection: Projection = "none"
    axes: Axes = "union"
    normalise: Norm = "l2"
    buckets: Buckets = "auto"
    restarts: int = 5
    c: float | None = None
    dimensions: int | None = None
    seed: int = 0
    threads: int | None = None

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Take the settings among some values, and the defaults for the others."""
        names = [field.name for field in fields(cls)]
        return cls(**{name: values[name] for name in names if values.get(name) is not None})
