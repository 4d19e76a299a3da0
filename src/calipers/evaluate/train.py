"""The training set: how much of what a model generates is copied from it, and what is normal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calipers.catalogue.choosing import Choice
from calipers.embed import Embeddings
from calipers.errors import InputError
from calipers.estimate.knn.neighbourhoods import Neighbourhoods, neighbourhoods
from calipers.evaluate.inputs import InputSet
from calipers.evaluate.neighbours import train_neighbours
from calipers.evaluate.scored import Scored, keyed
from calipers.evaluate.scoring import neighbour_pins, pins_of
from calipers.evaluate.spaces import neighbour_rows
from calipers.metrics.copying import (
    are_authentic,
    are_near_copies,
    authenticity_score,
    near_copies_score,
)
from calipers.metrics.pair import Settings
from calipers.numeric.blocks import DEFAULT_BLOCKS, Blocks, Clusters
from calipers.results import SetSummary
from calipers.uncertainty.spread import Component, Spread

SMALLEST = 5
"""Rows of a block, at least."""


def check_train(train: InputSet | None) -> None:
    """Say before the long work that a training set is too small to have distances of its own."""
    if train is not None and len(train.samples) < 2:
        source = train.samples.source
        where = train.samples.name if source.startswith("<") else source
        raise InputError(f"{where}: the training set needs at least 2 samples; it has 1")


def score_copies(
    train: Embeddings,
    other: Embeddings,
    choices: Sequence[Choice],
    settings: Settings,
    *,
    train_hash: str,
    clusters: Clusters | None = None,
) -> Scored:
    """Compare one set with the training set, in every view in which something was asked for."""
    found = Scored({}, {})
    views = tuple(train.views)
    for view in views:
        if not any(choice.view in (None, view) for choice in choices):
            continue
        near = neighbourhoods(
            *neighbour_rows(train.views[view], other.views[view], settings.projection),
            k=1,
            ties=settings.ties,
            distance=settings.distance,
            threads=settings.threads,
        )
        pins = neighbour_pins(pins_of(train, view, settings, train=train_hash[:16]), settings)
        scores = {
            "near_copies:train": near_copies_score(near, of="train").signed(**pins),
            "authenticity:train": authenticity_score(near, of="train").signed(**pins),
        }
        spreads = _spreads(near, settings.seed, clusters)
        part = Scored(scores, {}, train_neighbours(near), spreads=spreads)
        found = found.merged(keyed(part, view, views))
    return found


def _spreads(near: Neighbourhoods, seed: int, clusters: Clusters | None) -> dict[str, Spread]:
    """How much the shares of copies move with the samples; the training set is what it is."""
    hits = {"near_copies:train": are_near_copies(near), "authenticity:train": are_authentic(near)}
    size = len(near.reference.distance)
    count = DEFAULT_BLOCKS if clusters is None else clusters.blocks
    if count == 0 or size < SMALLEST * DEFAULT_BLOCKS:
        return {}
    labels = Blocks.of(size, clusters, seed=seed, count=count).labels
    rest = size - np.bincount(labels, minlength=count)
    left = {
        name: (np.count_nonzero(each) - np.bincount(labels, each, minlength=count)) / rest
        for name, each in hits.items()
    }
    return {name: Spread((Component.jackknife("generated", each),)) for name, each in left.items()}


def train_warnings(train: SetSummary, others: Sequence[SetSummary]) -> tuple[str, ...]:
    """Warn where the training set is one of the sets that are compared with it."""
    same = [repr(other.name) for other in others if other.content_hash == train.content_hash]
    if not same:
        return ()
    return (
        f"the training set is {' and '.join(same)} itself, sample for sample, whose samples "
        "therefore all count as copies",
    )
