"""Every file against every other: the shares that lie inside one another, as matrices."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, product

import numpy as np

from calipers.embed import Embeddings
from calipers.errors import InputError
from calipers.estimate.knn.neighbourhoods import neighbourhoods
from calipers.evaluate.scoring import neighbour_pins, pins_of
from calipers.evaluate.spaces import neighbour_rows
from calipers.metrics.knn_support import precision_score, recall_score
from calipers.metrics.pair import Settings
from calipers.progress import Advance
from calipers.results.overlap import OverlapView
from calipers.samples import SampleSet
from calipers.score import signature


@dataclass(frozen=True, eq=False)
class File:
    """One file of a system, and its embeddings."""

    samples: SampleSet
    embeddings: Embeddings


@dataclass(frozen=True, eq=False)
class Member:
    """One system and its files."""

    name: str
    files: tuple[File, ...]


Place = tuple[int, int]


def pair_count(members: Sequence[Member]) -> int:
    """Count the pairs of files of one view, each once."""
    places = combinations_with_replacement(range(len(members)), 2)
    return sum(len(list(_file_pairs(members, place))) for place in places)


def measure_view(
    members: Sequence[Member], view: str, settings: Settings, advance: Advance
) -> OverlapView:
    """Measure every pair of files once, and bring those of two systems together."""
    shares = _every_share(members, view, settings, advance)
    rows = range(len(members))
    pairs = [[len(list(_file_pairs(members, (i, j)))) for j in rows] for i in rows]
    return OverlapView(
        name=view,
        names=tuple(member.name for member in members),
        sizes=tuple(min(len(file.samples) for file in member.files) for member in members),
        precision=np.array([[_mean(shares[i, j]) for j in rows] for i in rows]),
        precision_sd=np.array([[_sd(shares[i, j], pairs[i][j]) for j in rows] for i in rows]),
        file_pairs=np.array(pairs),
        signatures=tuple(
            tuple(_signature(members[i], members[j], view, settings, pairs[i][j]) for j in rows)
            for i in rows
        ),
    )


def _every_share(
    members: Sequence[Member], view: str, settings: Settings, advance: Advance
) -> dict[Place, list[float]]:
    """How much of j lies inside i, for all pairs of their files, sorted.

    One pass over a pair gives both directions: how much of the second lies inside the first is the
    precision with the first as reference, and the recall with the second as reference.
    """
    shares: dict[Place, list[float]] = defaultdict(list)
    for i, j in combinations_with_replacement(range(len(members)), 2):
        for left, right in _file_pairs(members, (i, j)):
            of_right, of_left = _shares(left, right, view, settings)
            shares[i, j].append(of_right)
            shares[j, i].append(of_left)
            advance(1)
    return defaultdict(list, {place: sorted(values) for place, values in shares.items()})


def _file_pairs(members: Sequence[Member], place: Place) -> Iterator[tuple[File, File]]:
    """Pairs of files of two systems; within one system each two different ones, once."""
    left, right = (members[index].files for index in place)
    yield from combinations(left, 2) if place[0] == place[1] else product(left, right)


def _shares(left: File, right: File, view: str, settings: Settings) -> tuple[float, float]:
    """How much of the right file lies inside the left one, and of the left inside the right.

    Joint axes round differently when sides are swapped, so the content decides who comes first:
    the order of the systems moves no digit.
    """
    if right.samples.content_hash < left.samples.content_hash:
        return _shares(right, left, view, settings)[::-1]
    try:
        sides = left.embeddings.views[view], right.embeddings.views[view]
        near = neighbourhoods(
            *neighbour_rows(*sides, settings.projection, settings.threads),
            k=settings.k,
            ties=settings.ties,
            distance=settings.distance,
            threads=settings.threads,
        )
    except InputError as error:
        names = f"{left.samples.name} (as reference) and {right.samples.name} (as generated)"
        raise InputError(f"{names}: {error}") from error
    return precision_score(near, settings.k).value, recall_score(near, settings.k).value


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else math.nan


def _sd(values: Sequence[float], pairs: int) -> float:
    return float(np.std(values, ddof=1)) if pairs > 1 else math.nan


def _signature(left: Member, right: Member, view: str, settings: Settings, pairs: int) -> str:
    pins = {
        "metric": "precision,recall",
        "k": settings.k,
        "ties": settings.ties,
        "distance": settings.distance,
        "n": _sizes(left),
        "m": _sizes(right),
    }
    hashes = {"reference": _hashes(left), "generated": _hashes(right)}
    own = left.files[0].embeddings
    shared = neighbour_pins(pins_of(own, view, settings, **hashes), settings)
    return signature({**pins, **shared, "file_pairs": pairs})


def _sizes(member: Member) -> str:
    return "+".join(map(str, sorted({len(file.samples) for file in member.files})))


def _hashes(member: Member) -> str:
    return "+".join(file.samples.content_hash[:16] for file in member.files)
