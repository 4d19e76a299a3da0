"""Assignment of items to annotators, and the order of texts in them, by counts and a seed.

Items that lack ratings are given out so that each annotator meets the pairs of systems equally
often, and among those the pairs that have the fewest ratings so far; what is still open is decided
by the seed. Attention checks come at places that the seed chooses, one in each part of the work.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

First = Literal["a", "b"]


@dataclass(frozen=True)
class Candidate:
    """An item that an annotator may be shown.

    Attributes
    ----------
    item
        Its number.
    stratum
        The pair of systems, or the system, that it is of.
    """

    item: int
    stratum: str


def choose(
    candidates: Sequence[Candidate],
    *,
    shown: Mapping[str, int],
    everyone: Mapping[str, float],
    seed: int,
    annotator: int,
) -> Candidate | None:
    """Choose the next item of an annotator.

    Parameters
    ----------
    candidates
        Items that lack ratings and that this annotator has not seen.
    shown
        How many items of each stratum this annotator was shown.
    everyone
        Which share of its ratings each stratum has, given or under way.
    seed
        Of the study.
    annotator
        Number of the annotator.

    Returns
    -------
    Candidate or None
        None if there is nothing to show.
    """
    if not candidates:
        return None
    strata = {candidate.stratum for candidate in candidates}
    chosen = min(
        strata,
        key=lambda stratum: (
            shown.get(stratum, 0),
            everyone.get(stratum, 0.0),
            draw(seed, "stratum", annotator, stratum, shown.get(stratum, 0)),
        ),
    )
    # Items of one stratum are given out in an order of the annotator's own, so that two who ask
    # at once are not always after the same one
    return min(
        (candidate for candidate in candidates if candidate.stratum == chosen),
        key=lambda candidate: draw(seed, "item", annotator, candidate.item),
    )


def choose_first(counts: Mapping[str, int], *, seed: int, annotator: int, item: int) -> First:
    """Choose the text that is shown first: the one shown first less often, ties by the seed.

    Parameters
    ----------
    counts
        How often each of ``"a"`` and ``"b"`` of this item was first.
    seed, annotator, item
        What decides else.
    """
    a, b = counts.get("a", 0), counts.get("b", 0)
    if a != b:
        return "a" if a < b else "b"
    return "a" if draw(seed, "first", annotator, item) < 0.5 else "b"


def check_places(number: int, goal: int, *, seed: int, annotator: int) -> list[int]:
    """Choose after how many items each attention check of an annotator comes.

    Parameters
    ----------
    number
        Of checks.
    goal
        Items that the annotator is expected to answer.

    Returns
    -------
    list of int
        Ascending; one in each of `number` equal parts of the work, never before the first item.
    """
    width = max(goal, 1) / max(number, 1)
    places = [
        math.floor((part + draw(seed, "check", annotator, part)) * width) for part in range(number)
    ]
    return [max(place, 1) for place in places]


def draw(seed: int, *names: object) -> float:
    """Return a number in [0, 1) that is determined by a seed and some names."""
    content = "\x1f".join(map(str, (seed, *names))).encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(content, digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def tally(names: Iterable[str]) -> dict[str, int]:
    """Count how often each name occurs."""
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return counts
