"""Rows of a pair with exchangeable labels, for tests and classifiers.

Rows that were drawn together say the same twice: of every cluster one random row counts. Rows that
answer the same prompts are exchanged within these
(:mod:`calipers.estimate.prompt_strata`); clusters that are the prompts need no more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.prompt_strata import Prompts
from calipers.metrics.pair import Pair
from calipers.numeric.arrays import Indices
from calipers.numeric.blocks import Clusters
from calipers.numeric.distances import Sides


@dataclass(frozen=True, eq=False)
class Exchangeable:
    """Rows of both sets whose labels are exchangeable.

    Attributes
    ----------
    sides
        The rows where whole distributions are compared.
    rows
        Which rows of each set they are.
    prompts
        The number of the prompt of each; None where sets share none.
    pins
        What was left out, for signatures.
    """

    sides: Sides
    rows: tuple[Indices, Indices]
    prompts: Prompts | None
    pins: dict[str, object]


def exchangeable(pair: Pair) -> Exchangeable:
    """Return the exchangeable rows of a pair, found once."""
    return pair.once("exchangeable", lambda: _found(pair))


def _found(pair: Pair) -> Exchangeable:
    every = np.arange(len(pair.reference)), np.arange(len(pair.generated))
    if pair.clusters is None or _are_prompts(pair):
        return Exchangeable(pair.projected, every, pair.prompts, {})
    one, other = (clusters.one_each(pair.settings.seed) for clusters in pair.clusters)
    prompts = None if pair.prompts is None else (pair.prompts[0][one], pair.prompts[1][other])
    left, right = pair.projected
    pins: dict[str, object] = {"rows": "one_of_each_cluster"}
    return Exchangeable((left[one], right[other]), (one, other), prompts, pins)


def _are_prompts(pair: Pair) -> bool:
    """Whether the rows of a cluster are those of a prompt, on both sides."""
    if pair.clusters is None or pair.prompts is None:
        return False
    return all(map(_alike, pair.clusters, pair.prompts))


def _alike(clusters: Clusters, prompts: NDArray[np.int64]) -> bool:
    both = np.unique(np.column_stack([clusters.numbers, prompts]), axis=0)
    return len(both) == len(np.unique(prompts)) == len(clusters.sizes)
