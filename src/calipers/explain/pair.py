"""One generated set against the reference ──► which samples and topics cause the gap."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.explain.division import Division, coarser, division_of
from calipers.explain.evidence import Evidence
from calipers.explain.model import Explanation
from calipers.explain.outside import copy_of, outlier, rows_copied, rows_outside
from calipers.explain.parts import Region
from calipers.explain.regions import Describer, direction
from calipers.explain.space import Space
from calipers.explain.telling import TellingWords

TOPICS = 12
LIMIT = 50


def explain_pair(
    evidence: Evidence, *, view: str, topics: int = TOPICS, limit: int = LIMIT
) -> Explanation:
    """Tell which samples and topics cause the gap between a generated set and the reference.

    Parameters
    ----------
    evidence
        The vectors, texts and measurements of one pair in one view.
    view
        Its name.
    topics
        Into how many regions the cells are merged, at least 1; no more than there are cells.
    limit
        How many samples outside the support, near copies and cells are listed, at least 1; all
        of them are counted.

    Returns
    -------
    Explanation
        Whatever the evidence allows to tell; `notes` says what it does not.

    Raises
    ------
    InputError
        If the evidence does not fit together, or a parameter is out of its range.
    """
    for name, value in (("topics", topics), ("limit", limit)):
        if type(value) is not int or value < 1:
            raise InputError(f"{name} must be a whole number of at least 1; found {value!r}")
    space = Space.of(evidence)
    outside, copied, cells = rows_outside(evidence), rows_copied(evidence), division_of(evidence)
    merged = None if cells is None else coarser(cells, space, topics)
    regions = _regions(evidence, space, outside, merged, cells, limit)
    covered = evidence.neighbours.get("covered")
    return Explanation(
        view=view,
        n=evidence.n,
        m=evidence.m,
        k=evidence.k,
        score=None if cells is None else float(cells.contributions.sum()),
        topics=regions[0],
        cells=regions[1],
        outside=tuple(outlier(evidence, space, row) for row in _first(outside, limit)),
        outside_count=None if outside is None else len(outside),
        uncovered_count=None if covered is None else int(np.sum(~np.asarray(covered, bool))),
        copies=tuple(copy_of(evidence, row) for row in _first(copied, limit)),
        copies_count=None if copied is None else len(copied),
        notes=tuple(_notes(evidence)),
    )


def _regions(
    evidence: Evidence,
    space: Space,
    outside: NDArray[np.intp] | None,
    topics: Division | None,
    cells: Division | None,
    limit: int,
) -> tuple[tuple[Region, ...], tuple[Region, ...]]:
    if topics is None or cells is None:
        return (), ()
    counted = evidence.words()
    telling = counted and TellingWords(*counted, (topics.reference, topics.generated))
    found = []
    for division, shown in ((topics, len(topics)), (cells, limit)):
        places = division.worst_first[:shown].tolist()
        describer = Describer(evidence, space, division, outside)
        words = _words(telling, division, places)
        found.append(tuple(map(describer.region, places, words)))
    return found[0], found[1]


def _words(
    telling: TellingWords | None, division: Division, places: list[int]
) -> list[tuple[str, ...]]:
    """Of each region the words that the side with more of it uses."""
    if telling is None:
        return [()] * len(places)
    counts = division.counts
    sides = {place: int(direction(*counts, place) == "over") for place in places}
    return telling.of((division.reference, division.generated), len(division), sides)


def _first(rows: NDArray[Any] | None, limit: int) -> list[int]:
    return [] if rows is None else rows[:limit].tolist()


def _notes(evidence: Evidence) -> Iterator[str]:
    lie = evidence.neighbours
    if evidence.reference_cells is None or evidence.generated_cells is None:
        yield (
            "no topics: the sets were not divided into cells; ask for a metric that does so, such "
            "as mauve or frontier_integral"
        )
    elif not evidence.has_words:
        yield "topics have no words: the samples are no texts"
    if "reference_first_k" not in lie:
        yield (
            "no samples outside the support: neighbourhoods were not measured; ask for a metric "
            "of theirs, such as precision"
        )
    elif evidence.realism is None:
        yield "samples outside are sorted by distance alone, since realism was not measured"
    if "covered" not in lie:
        yield "no missed samples: coverage was not measured"
    if "copied" not in lie:
        yield "no near copies: near_copies was not measured"
