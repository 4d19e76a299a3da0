"""The training set: how much generated samples copy from it, compared with chance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calipers.catalogue.choosing import Choice
from calipers.catalogue.settings import Settings
from calipers.embedders import Embeddings
from calipers.errors import InputError
from calipers.estimate.knn.neighbourhoods import Neighbourhoods, neighbourhoods
from calipers.evaluate.inputs import InputSet, where
from calipers.evaluate.scoring import (
    Scored,
    asked_for,
    by_view,
    merge,
    neighbour_fields,
    signature_fields,
)
from calipers.evaluate.spaces import neighbour_rows
from calipers.metrics.copying import (
    are_authentic,
    are_near_copies,
    authenticity_score,
    near_copies_score,
)
from calipers.numeric.blocks import DEFAULT_BLOCKS, Blocks, Clusters
from calipers.results import SetSummary
from calipers.uncertainty.spread import Component, Spread

SMALLEST = 5
"""Rows of a block, at least."""


def check_train(train: InputSet) -> None:
    """Refuse, before the long work, a training set too small for distances within it."""
    if len(train.samples) < 2:
        raise InputError(
            f"{where(train.samples)}: the training set needs at least 2 samples; it has 1"
        )


def score_copies(
    train: Embeddings,
    other: Embeddings,
    choices: Sequence[Choice],
    settings: Settings,
    *,
    train_hash: str,
    clusters: Clusters | None = None,
) -> Scored:
    """Compare one set with the training set, in every view with a requested metric."""
    views, by_views = tuple(train.views), []
    for view, _ in by_view(asked_for(choices), views):
        near = neighbourhoods(
            *neighbour_rows(train.views[view], other.views[view], settings),
            k=1,
            ties=settings.ties,
            distance=settings.distance,
            threads=settings.threads,
        )
        fields = signature_fields(train, view, settings, train=train_hash[:16])
        fields = neighbour_fields(fields, settings)
        scored = Scored(
            {
                "near_copies:train": near_copies_score(near, of="train").signed(**fields),
                "authenticity:train": authenticity_score(near, of="train").signed(**fields),
            },
            neighbours={
                "nearest_train": near.reference.nearest,
                "train_distance": near.reference.distance,
            },
            spreads=_spreads(near, settings.seed, clusters),
        )
        by_views.append(scored.of_view(view, views))
    return merge(by_views)


def _spreads(near: Neighbourhoods, seed: int, clusters: Clusters | None) -> dict[str, Spread]:
    """How much the shares of copies move with the samples; the training set is what it is."""
    marks = {"near_copies:train": are_near_copies(near), "authenticity:train": are_authentic(near)}
    size = len(near.reference.distance)
    count = DEFAULT_BLOCKS if clusters is None else clusters.blocks
    if count == 0 or size < SMALLEST * DEFAULT_BLOCKS:
        return {}
    labels = Blocks.of(size, clusters, seed=seed, count=count).labels
    remaining = size - np.bincount(labels, minlength=count)
    spreads = {}
    for name, marked in marks.items():
        left = np.count_nonzero(marked) - np.bincount(labels, marked, minlength=count)
        spreads[name] = Spread((Component.jackknife("generated", left / remaining),))
    return spreads


def train_warnings(train: SetSummary, reference: SetSummary) -> tuple[str, ...]:
    """Warn where the training set is the reference itself."""
    if reference.content_hash != train.content_hash:
        return ()
    return (
        f"the training set has exactly the samples of {reference.name!r}, which therefore all "
        "count as copies",
    )
