"""From embeddings of one pair to its scores and curves, view by view."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from calipers import __version__
from calipers.catalogue.choosing import Choice, needs_of
from calipers.catalogue.embeddings import METRICS
from calipers.embed import Embeddings
from calipers.evaluate.clusters import Both
from calipers.evaluate.groups import Labels
from calipers.evaluate.intervals import Certainty, with_certainty
from calipers.evaluate.neighbours import cell_labels, neighbours
from calipers.evaluate.scored import Scored, keyed
from calipers.evaluate.spaces import PCA, PairSpace, Space
from calipers.metrics.groups import group_scores
from calipers.metrics.pair import Pair, Settings
from calipers.score import Score
from calipers.uncertainty.replicates import columns


def score_pair(
    reference: Embeddings,
    generated: Embeddings,
    choices: Sequence[Choice],
    settings: Settings,
    *,
    reference_hash: str,
    labels: Labels | None = None,
    space: Space | None = None,
    certainty: Certainty | None = None,
    clusters: Both | None = None,
) -> Scored:
    """Score one generated set against the reference in every view, and by group with `labels`.

    `space` holds the rows of a whole run; without it the pair has one of its own. `certainty`
    asks how much the scores move, too, and whether the sets can be told apart; `clusters` which
    rows of each set belong together.
    """
    space = space or PairSpace(reference)
    found = Scored({}, {})
    views = tuple(reference.views)
    for view in views:
        wanted = by_name(choice for choice in choices if choice.view in (None, view))
        if not wanted:
            continue
        needs = needs_of(choice.metric for choice in wanted)
        pair = space.pair(view, generated, settings, needs, clusters)
        pins = pins_of(reference, view, settings, scope=space.scope, reference=reference_hash[:16])
        part = _score(pair, wanted, labels)
        if certainty is not None:
            part = with_certainty(part, pair, wanted, labels, certainty)
        signed = {
            name: score.signed(**pins_for(name, score, pins, settings))
            for name, score in part.scores.items()
        }
        found = found.merged(keyed(replace(part, scores=signed), view, views))
    return found


def pins_for(
    name: str, score: Score, pins: Mapping[str, object], settings: Settings
) -> dict[str, object]:
    """The pins that hold for a score: a statistic of one set is read from the rows as embedded."""
    if METRICS[name.partition(":")[0]].family in ("support", "copying"):
        return neighbour_pins(pins, settings)
    left_out = ("norm", "pca", "scope") if score.better == "closest" else ()
    return {key: value for key, value in pins.items() if key not in left_out}


def neighbour_pins(pins: Mapping[str, object], settings: Settings) -> dict[str, object]:
    """The pins of what is read from neighbours: rows that are not projected are nobody's scope."""
    if settings.projection == "union":
        return dict(pins)
    return {k: "none" if k == "pca" else pin for k, pin in pins.items() if k != "scope"}


def by_name(choices: Iterable[Choice]) -> list[Choice]:
    """One choice for each key, where a metric was asked for in one view and in all."""
    return list({choice.name: choice for choice in choices}.values())


def _score(pair: Pair, wanted: Sequence[Choice], labels: Labels | None) -> Scored:
    scores = {choice.name: choice.score(pair) for choice in wanted}
    if labels is not None:
        near, k = pair.neighbourhoods, pair.settings.k
        by_group = group_scores(near, k, labels.reference, labels.generated)
        scores |= {name: score.signed(groups=labels.pin) for name, score in by_group.items()}
    made = Scored(scores, {})
    if "estimates" in vars(pair):
        made = Scored(scores, _curves(pair), cell_labels(pair), notes=pair.estimates.notes)
    if "neighbourhoods" not in vars(pair):
        return made
    near = pair.neighbourhoods
    return replace(
        made,
        neighbours={**neighbours(near, pair.settings.k), **made.neighbours},
        k_max=near.k_max,
    )


def pins_of(
    embeddings: Embeddings, view: str, settings: Settings, *, scope: str = "pair", **hashes: str
) -> dict[str, object]:
    """What every score of a view is signed with; `hashes` name the set that it is held against."""
    own = embeddings.view_signature.get(view)
    return {
        "norm": "l2",
        "pca": PCA,
        "scope": scope,
        **embeddings.signature,
        "view": view if own is None else f"{view}({own})",
        **hashes,
        "sampling_seed": settings.seed,
        "calipers": __version__,
    }


def _curves(pair: Pair) -> dict[str, NDArray[Any]]:
    """The curves that were made; none is made for itself alone."""
    return {name: columns(curve) for name, curve in pair.curves.by_key.items()}
