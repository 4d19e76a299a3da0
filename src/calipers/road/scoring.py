"""From embeddings of one pair to its scores and curves, view by view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers import __version__
from calipers.embed import Embeddings
from calipers.estimate.preprocess import preprocess
from calipers.metrics.catalogue import Choice, key
from calipers.metrics.pair import Pair, Settings
from calipers.score import Score

PCA = 0.9


@dataclass(frozen=True, eq=False)
class Scored:
    """The scores and curves of one pair, by key."""

    scores: Mapping[str, Score]
    curves: Mapping[str, NDArray[Any]]


def score_pair(
    reference: Embeddings,
    generated: Embeddings,
    choices: Sequence[Choice],
    settings: Settings,
    *,
    reference_hash: str,
) -> Scored:
    """Score one generated set against the reference in every view."""
    scores: dict[str, Score] = {}
    curves: dict[str, NDArray[Any]] = {}
    views = tuple(reference.views)
    for view in views:
        wanted = [c.metric for c in choices if c.view in (None, view)]
        if not wanted:
            continue
        rows = preprocess(reference.views[view], generated.views[view], norm="l2", pca=PCA)
        pair = Pair(rows.reference, rows.generated, settings)
        pins = _pins(reference, view, settings, reference_hash)
        for metric in wanted:
            scores[key(view, metric.name, views)] = metric.score(pair).signed(**pins)
        curves |= {key(view, name, views): curve for name, curve in _curves(pair).items()}
    return Scored(scores, curves)


def average(parts: Sequence[Scored]) -> Scored:
    """Bring the seeds of a system together: means of scores and curves, and the single values."""
    if len(parts) == 1:
        return parts[0]
    scores = {name: _mean([part.scores[name] for part in parts]) for name in parts[0].scores}
    curves = {name: np.mean([p.curves[name] for p in parts], axis=0) for name in parts[0].curves}
    return Scored(scores, curves)


def _mean(scores: Sequence[Score]) -> Score:
    values = tuple(score.value for score in scores)
    each = [score.per_sample for score in scores if score.per_sample is not None]
    return replace(
        scores[0].signed(files=len(scores)),
        value=float(np.mean(values)),
        seeds=values,
        per_sample=np.concatenate(each) if each else None,
        reason=next((score.reason for score in scores if score.reason), None),
    )


def _pins(
    embeddings: Embeddings, view: str, settings: Settings, reference_hash: str
) -> dict[str, object]:
    own = embeddings.view_signature.get(view)
    return {
        "norm": "l2",
        "pca": PCA,
        "scope": "pair",
        **embeddings.signature,
        "view": view if own is None else f"{view}({own})",
        "reference": reference_hash[:16],
        "sampling_seed": settings.seed,
        "calipers": __version__,
    }


def _curves(pair: Pair) -> dict[str, NDArray[Any]]:
    """The curves of the estimates that were made; none is made for a curve alone."""
    made = vars(pair)
    curves: dict[str, NDArray[Any]] = {}
    if "prd" in made:
        curves["prd"] = np.stack([pair.prd.curve.precision, pair.prd.curve.recall], axis=1)
    if "mauve" in made:
        for name in ("frontier", "frontier_star"):
            frontier = getattr(pair.mauve, name)
            columns = (frontier.weights, frontier.generated_cost, frontier.reference_cost)
            curves[name] = np.stack(columns, axis=1)
    return curves
