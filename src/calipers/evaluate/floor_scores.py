"""Scores of parts of both sets: what the noise floor and the advice on sample size read."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from calipers.catalogue.choosing import Choice, key, needs_of
from calipers.embed import Embeddings
from calipers.evaluate.scoring import by_name
from calipers.evaluate.spaces import pair_of
from calipers.metrics.pair import Pair, Settings
from calipers.score import Score

Rows = NDArray[np.intp]


class WithoutBlocks(Pair):
    """A pair whose estimates keep no replicates: nothing reads them from a part."""

    @cached_property
    def blocks(self) -> None:
        """No labels."""
        return None


def choices_for(
    shown: Collection[str], choices: Sequence[Choice], views: tuple[str, ...]
) -> list[Choice]:
    """Give the choices behind keys of scores, each for the views that the keys name."""
    return [
        replace(choice, view=view)
        for choice in choices
        for view in views
        if choice.view in (None, view) and key(view, choice.name, views) in shown
    ]


def score_parts(
    reference: tuple[Embeddings, Rows],
    generated: tuple[Embeddings, Rows],
    choices: Sequence[Choice],
    settings: Settings,
) -> dict[str, Score]:
    """Score some rows of both sets, in every view, as a comparison of just these would.

    Every part is projected and quantised by itself, whatever the space of the whole run.
    """
    (left, rows), (right, others) = reference, generated
    views = tuple(left.views)
    found: dict[str, Score] = {}
    for view in views:
        wanted = by_name(choice for choice in choices if choice.view in (None, view))
        if not wanted:
            continue
        given = left.views[view][rows], right.views[view][others]
        needs = needs_of(choice.metric for choice in wanted)
        pair = pair_of(*given, settings, needs, WithoutBlocks)
        scores = {key(view, choice.name, views): choice.score(pair) for choice in wanted}
        found |= {name: replace(score, per_sample=None) for name, score in scores.items()}
    return found
