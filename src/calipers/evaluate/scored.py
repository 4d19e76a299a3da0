"""What scoring a pair gives, and how the files of a system and its views are brought together."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.catalogue.choosing import key
from calipers.score import Score
from calipers.uncertainty.spread import Spread, mean_spread
from calipers.uncertainty.two_sample import TwoSample, of_files

UNDEFINED = re.compile(r"\|undefined:(\d+)")
ABSENT = Score(np.nan, reason="a file of the system has no sample of this group")


@dataclass(frozen=True, eq=False)
class Scored:
    """The scores and curves of one pair, and where its samples lie, by key.

    `k_max` is the largest k for which balls were measured, 0 where none were; `notes` say what is
    to be known of the estimates. Where that was asked for, `spreads` tell how much the scores move,
    `curve_variances` how much the curves move with each set, `tests` whether the sets can be told
    apart.
    """

    scores: Mapping[str, Score]
    curves: Mapping[str, NDArray[Any]]
    neighbours: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    k_max: int = 0
    notes: tuple[str, ...] = ()
    spreads: Mapping[str, Spread] = field(default_factory=dict)
    tests: Mapping[str, TwoSample] = field(default_factory=dict)
    curve_variances: Mapping[str, NDArray[Any]] = field(default_factory=dict)

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
            {**self.curve_variances, **other.curve_variances},
        )


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
    bands = _mean_variances(parts, everywhere)
    return Scored(scores, curves, lie, parts[0].k_max, notes, moved, told, bands)


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
        {key(view, name, views): each for name, each in part.curve_variances.items()},
    )


def undefined_count(score: Score) -> int:
    """How many samples have no value, and are left out of a mean, by its signature."""
    found = UNDEFINED.search(score.signature)
    return 0 if found is None else int(found.group(1))


def _mean_spreads(parts: Sequence[Scored], scores: Mapping[str, Score]) -> dict[str, Spread]:
    everywhere = [name for name in parts[0].spreads if all(name in part.spreads for part in parts)]
    return {
        name: mean_spread([part.spreads[name] for part in parts], scores[name].seeds)
        for name in everywhere
    }


def _mean_variances(parts: Sequence[Scored], names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """How much mean curves move, point by point.

    All files share the reference; each adds a part of what its own samples move. Where files
    scatter more than that explains, their scatter takes its place, as in the intervals of scores.
    """
    found = {}
    for name in names:
        if all(name in part.curve_variances for part in parts):
            reference, own = np.mean([part.curve_variances[name] for part in parts], axis=0)
            between = np.var([part.curves[name] for part in parts], axis=0, ddof=1)
            found[name] = np.stack([reference, np.maximum(own, between) / len(parts)])
    return found


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
