"""From embeddings of one pair to its scores and curves, view by view."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers import __version__
from calipers.curves import DivergenceFrontier, PrecisionRecallCurve
from calipers.embed import Embeddings
from calipers.metrics.catalogue import Choice, key, needs_of
from calipers.metrics.groups import group_scores
from calipers.metrics.pair import Pair, Settings
from calipers.road.certainty import Certainty
from calipers.road.groups import Labels
from calipers.road.neighbours import neighbours
from calipers.road.spaces import PCA, PairSpace, Space
from calipers.score import Score
from calipers.uncertainty.classifier_test import classifier_test
from calipers.uncertainty.mmd_test import mmd_test
from calipers.uncertainty.replicates import Further, spreads
from calipers.uncertainty.spread import Spread, mean_spread
from calipers.uncertainty.two_sample import TwoSample, of_files
from calipers.uncertainty.without import Without

UNDEFINED = re.compile(r"\|undefined:(\d+)")
TESTS = {"classifier_auc": classifier_test, "mmd": mmd_test}
"""The tests of whether two sets can be told apart, by the statistic."""

ABSENT = Score(np.nan, reason="a file of the system has no sample of this group")


@dataclass(frozen=True, eq=False)
class Scored:
    """The scores and curves of one pair, and where its samples lie, by key.

    `k_max` is the largest k for which balls were measured, 0 where none were; `notes` say what is
    to be known of the estimates; `spreads` how much the scores move and `tests` whether the sets
    can be told apart, where that was asked for.
    """

    scores: Mapping[str, Score]
    curves: Mapping[str, NDArray[Any]]
    neighbours: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    k_max: int = 0
    notes: tuple[str, ...] = ()
    spreads: Mapping[str, Spread] = field(default_factory=dict)
    tests: Mapping[str, TwoSample] = field(default_factory=dict)

    @property
    def ranked_spreads(self) -> dict[str, Spread]:
        """How much what ranks a system moves: the gap to the reference, where that counts."""
        below = {
            name: score.reference is not None and score.value < score.reference
            for name, score in self.scores.items()
        }
        return {
            name: spread.times(-1.0) if below[name] else spread
            for name, spread in self.spreads.items()
        }

    def merged(self, other: Scored) -> Scored:
        """Return what both hold."""
        return Scored(
            {**self.scores, **other.scores},
            {**self.curves, **other.curves},
            {**self.neighbours, **other.neighbours},
            max(self.k_max, other.k_max),
            tuple(dict.fromkeys((*self.notes, *other.notes))),
            {**self.spreads, **other.spreads},
            {**self.tests, **other.tests},
        )


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
) -> Scored:
    """Score one generated set against the reference in every view, and by group with `labels`.

    `space` holds the rows of a whole run; without it the pair has one of its own. `certainty`
    asks how much the scores move, too, and whether the sets can be told apart.
    """
    space = space or PairSpace(reference)
    found = Scored({}, {})
    views = tuple(reference.views)
    for view in views:
        wanted = by_name(choice for choice in choices if choice.view in (None, view))
        if not wanted:
            continue
        needs = needs_of(choice.metric for choice in wanted)
        pair = space.pair(view, generated, settings, needs)
        pins = pins_of(reference, view, settings, scope=space.scope, reference=reference_hash[:16])
        part = _score(pair, wanted, labels)
        if certainty is not None:
            part = _sure(part, pair, wanted, labels, certainty)
        signed = {
            name: score.signed(**pins_for(score, pins)) for name, score in part.scores.items()
        }
        found = found.merged(keyed(replace(part, scores=signed), view, views))
    return found


def average(parts: Sequence[Scored]) -> Scored:
    """Bring the seeds of a system together: means of scores and curves, and the single values.

    A group that a file has no sample of has no mean, and says so.
    """
    if len(parts) == 1:
        return parts[0]
    names = dict.fromkeys(name for part in parts for name in part.scores)
    scores = {name: _mean([part.scores.get(name, ABSENT) for part in parts]) for name in names}
    everywhere = [name for name in parts[0].curves if all(name in part.curves for part in parts)]
    curves = {name: np.mean([p.curves[name] for p in parts], axis=0) for name in everywhere}
    lie = {
        name: np.concatenate([part.neighbours[name] for part in parts])
        for name in parts[0].neighbours
    }
    notes = tuple(dict.fromkeys(note for part in parts for note in part.notes))
    moved = _mean_spreads(parts, scores)
    told = {name: of_files([part.tests[name] for part in parts]) for name in parts[0].tests}
    return Scored(scores, curves, lie, parts[0].k_max, notes, moved, told)


def _mean_spreads(parts: Sequence[Scored], scores: Mapping[str, Score]) -> dict[str, Spread]:
    everywhere = [name for name in parts[0].spreads if all(name in part.spreads for part in parts)]
    return {
        name: mean_spread([part.spreads[name] for part in parts], scores[name].seeds)
        for name in everywhere
    }


def pins_for(score: Score, pins: Mapping[str, object]) -> dict[str, object]:
    """The pins that hold for a score: a statistic of one set is read from the rows as embedded."""
    left_out = ("norm", "pca", "scope") if score.better == "closest" else ()
    return {key: value for key, value in pins.items() if key not in left_out}


def undefined_count(score: Score) -> int:
    """How many samples have no value, and are left out of a mean, by its signature."""
    found = UNDEFINED.search(score.signature)
    return 0 if found is None else int(found.group(1))


def by_name(choices: Iterable[Choice]) -> list[Choice]:
    """One choice for each key, where a metric was asked for in one view and in all."""
    return list({choice.name: choice for choice in choices}.values())


def _sure(
    part: Scored, pair: Pair, wanted: Sequence[Choice], labels: Labels | None, asked: Certainty
) -> Scored:
    """Add how much the scores move, and whether both sets can be told apart at all."""
    settings = pair.settings
    tests = {
        name: test(pair.reference, pair.generated, seed=settings.seed, threads=settings.threads)
        for name, test in TESTS.items()
    }
    further = _by_group(pair, labels)
    moved = spreads(pair, wanted, further=further, tested=asked.shown)
    return replace(part, spreads=moved, tests=tests)


def _score(pair: Pair, wanted: Sequence[Choice], labels: Labels | None) -> Scored:
    scores = {choice.name: choice.score(pair) for choice in wanted}
    if labels is not None:
        near, k = pair.neighbourhoods, pair.settings.k
        by_group = group_scores(near, k, labels.reference, labels.generated)
        scores |= {name: score.signed(groups=labels.pin) for name, score in by_group.items()}
    made = Scored(scores, {})
    if "estimates" in vars(pair):
        made = Scored(scores, _curves(pair), notes=pair.estimates.notes)
    if "neighbourhoods" not in vars(pair):
        return made
    near = pair.neighbourhoods
    return replace(made, neighbours=neighbours(near), k_max=near.k_max)


def _by_group(pair: Pair, labels: Labels | None) -> Further | None:
    """What reads the scores of groups off a pair without a block."""
    if labels is None:
        return None
    nearest = labels.reference[pair.neighbourhoods.reference.nearest]

    def read(part: Without) -> dict[str, float]:
        keep = part.kept
        ours, theirs = labels.reference, labels.generated
        close = nearest
        if part.side == "reference":
            ours = ours[keep]
        else:
            theirs = None if theirs is None else theirs[keep]
            close = nearest[keep]
        near, k = part.neighbourhoods, part.settings.k
        found = group_scores(near, k, ours, theirs, nearest=close)
        return {name: score.value for name, score in found.items()}

    return read


def keyed(part: Scored, view: str, views: tuple[str, ...]) -> Scored:
    """Put the view in front of every name, unless it is the main one."""
    return Scored(
        {key(view, name, views): score for name, score in part.scores.items()},
        {key(view, name, views): curve for name, curve in part.curves.items()},
        {key(view, name, views): each for name, each in part.neighbours.items()},
        part.k_max,
        tuple(f"by {view}, {note}" for note in part.notes),
        {key(view, name, views): each for name, each in part.spreads.items()},
        {key(view, name, views): each for name, each in part.tests.items()},
    )


def _mean(scores: Sequence[Score]) -> Score:
    values = tuple(score.value for score in scores)
    each = [score.per_sample for score in scores if score.per_sample is not None]
    first = next(score for score in scores if score is not ABSENT)
    missing = sum(undefined_count(score) for score in scores)
    pins = {"undefined": missing} if missing else {}
    return replace(
        replace(first, signature=UNDEFINED.sub("", first.signature)).signed(
            **pins, files=len(scores)
        ),
        value=float(np.mean(values)),
        seeds=values,
        per_sample=np.concatenate(each) if each else None,
        reason=next((score.reason for score in scores if score.reason), None),
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
    return {name: _columns(curve) for name, curve in pair.curves.by_key.items()}


def _columns(curve: DivergenceFrontier | PrecisionRecallCurve) -> NDArray[Any]:
    if isinstance(curve, PrecisionRecallCurve):
        return np.stack([curve.precision, curve.recall], axis=1)
    return np.stack([curve.weights, curve.generated_cost, curve.reference_cost], axis=1)
