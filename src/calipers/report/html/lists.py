"""Explanations ──► the lists of the page: topics, failures, what is not covered, near copies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from calipers.catalogue.shown import views_of
from calipers.explain.model import Explanation
from calipers.report.html.texts import Shown, Texts
from calipers.report.html.wording import count
from calipers.report.names import VIEWS, clean, shorten
from calipers.report.numbers import MISSING, share
from calipers.report.of_data import comparison_of, explanation_of
from calipers.report.shown import short
from calipers.report.table import Data
from calipers.report.topics import outcome, ratio_words
from calipers.report.verdict import furthest_first

LONGEST_WORD = 200
"""Cells of a keyword at most; where words have no spaces, one may be a whole text."""

MEDOIDS = ("reference_medoids", "generated_medoids", "uncovered_samples")
"""Samples of a topic in an explanation."""

FIRST = 8
"""Entries of a list that are seen at once; the others open."""


@dataclass(frozen=True)
class Topic:
    """A topic: keywords, shares of both sides, its part of the gap, and texts for it.

    `ratio` says how many times larger the generated share is, with an interval; empty for what was
    not tested. `bar` is its share of the gap beside the largest one, 0 to 100.
    """

    keywords: tuple[str, ...]
    reference: str
    generated: str
    expected: str
    produced: str
    share: str
    bar: float
    uncovered: int | None
    ratio: str = ""
    reference_texts: tuple[Shown, ...] = ()
    generated_texts: tuple[Shown, ...] = ()
    uncovered_texts: tuple[Shown, ...] = ()


@dataclass(frozen=True)
class Failure:
    """A sample, what was measured of it, and the reference samples to compare it with."""

    sample: Shown
    measured: str
    beside: tuple[Shown, ...]


@dataclass(frozen=True)
class ViewLists:
    """All that one explanation says; counts are None where they were not measured.

    `outcome` says which topics differ; those that do not are the `others`.
    """

    view: str
    sees: str
    summary: tuple[str, ...]
    outcome: str
    under: tuple[Topic, ...]
    over: tuple[Topic, ...]
    others: tuple[Topic, ...]
    worst: tuple[Failure, ...]
    worst_count: str
    uncovered: tuple[Topic, ...]
    uncovered_count: str
    copies: tuple[Failure, ...]
    copies_count: str
    cells: tuple[Topic, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class SystemLists:
    """The explanations of one system, by view in the order of the run; `place` counts from 1."""

    place: int
    name: str
    views: tuple[ViewLists, ...]


def system_lists(data: Data, texts: Texts) -> list[SystemLists]:
    """Give the lists of every system that was explained, furthest from the reference first."""
    told = data.get("explanations") or {}
    most = data["comparison"].get("settings", {}).get("k_max")
    made = []
    for row in furthest_first(comparison_of(data["comparison"])):
        system = data["comparison"]["systems"][row]
        by_view = told.get(system["name"]) or {}
        known = [view for view in views_of(data["comparison"]["settings"]) if view in by_view]
        found = tuple(_lists(by_view[view], texts, most) for view in known)
        made.append(SystemLists(row + 1, short(system["name"]), found))
    return [each for each in made if each.views]


def _lists(told: Data, texts: Texts, most: int | None) -> ViewLists:
    explanation, topics = explanation_of(told), list(told.get("topics") or ())
    largest = max((t["share"] or 0.0 for t in topics), default=0.0)

    def shown(chosen: Sequence[int]) -> tuple[Topic, ...]:
        return tuple(
            replace(
                _topic(topics[place], texts, largest),
                ratio=ratio_words(explanation.topics[place], explanation.level),
            )
            for place in chosen
        )

    uncovered = sorted(
        (t for t in topics if t.get("uncovered")), key=lambda t: t["uncovered"], reverse=True
    )
    return ViewLists(
        view=clean(told["view"]),
        sees=VIEWS.get(told["view"], ""),
        summary=tuple(_summary(told)),
        outcome=outcome(explanation),
        under=shown(_places(explanation, "under")),
        over=shown(_places(explanation, "over")),
        others=shown(_places(explanation)),
        worst=tuple(_outlier(each, texts, most) for each in told.get("outside") or ()),
        worst_count=count(told.get("outside_count")),
        uncovered=tuple(_topic(topic, texts, largest) for topic in uncovered),
        uncovered_count=count(told.get("uncovered_count")),
        copies=tuple(_copy(each, texts) for each in told.get("copies") or ()),
        copies_count=count(told.get("copies_count")),
        cells=tuple(_cell(each, told) for each in told.get("cells") or ()),
        notes=tuple(clean(note) for note in told.get("notes") or ()),
    )


def _places(explanation: Explanation, direction: str = "") -> list[int]:
    """Give the places of the topics that differ in a direction; of those that do not for none."""
    return [
        place
        for place, topic in enumerate(explanation.topics)
        if (topic.direction if topic.significant else "") == direction
    ]


def _summary(told: Data) -> Iterator[str]:
    """Say the counts in sentences."""
    for key, side, words in (
        ("outside_count", "m", "generated samples lie outside the reference's support"),
        ("uncovered_count", "n", "reference samples are covered by no generated sample"),
        ("copies_count", "m", "generated samples are near copies of a reference sample"),
    ):
        found, size = told.get(key), told.get(side)
        if found is not None and size:
            yield f"{count(found)} of {count(size)} {words} ({share(found / size)})"


def _topic(topic: Data, texts: Texts, largest: float) -> Topic:
    part = topic.get("share")

    def shown(samples: str) -> tuple[Shown, ...]:
        return tuple(texts.shown(sample) for sample in topic.get(samples) or ())

    return Topic(
        keywords=tuple(shorten(clean(word), LONGEST_WORD) for word in topic.get("keywords") or ()),
        reference=count(topic.get("reference")),
        generated=count(topic.get("generated")),
        expected=share(topic.get("reference_share", topic.get("expected"))),
        produced=share(topic.get("generated_share", topic.get("produced"))),
        share=share(part),
        bar=round(100 * part / largest, 1) if part and largest > 0 else 0.0,
        uncovered=topic.get("uncovered"),
        reference_texts=shown("reference_medoids"),
        generated_texts=shown("generated_medoids"),
        uncovered_texts=shown("uncovered_samples"),
    )


def _cell(cell: Data, told: Data) -> Topic:
    """A cell without its texts: topics show theirs, and cells lie within topics."""
    largest = max((each["share"] or 0.0 for each in told["cells"]), default=0.0)
    return _topic({**cell, **dict.fromkeys(MEDOIDS)}, Texts(0), largest)


def _outlier(outlier: Data, texts: Texts, most: int | None) -> Failure:
    realism, k = outlier.get("realism"), outlier.get("first_k")
    held = f"first inside at k = {k}" if k else ""
    if k and most is not None and k > most:
        held = f"outside at every k up to {most}"
    parts = [f"realism {realism:.2f}" if realism is not None else "", held]
    near = [(each, f"distance {_distance(each)}") for each in outlier.get("nearest") or ()]
    beside = tuple(texts.shown(each, says=says) for each, says in near)
    return Failure(texts.shown(outlier), "; ".join(filter(None, parts)), beside)


def _copy(copy: Data, texts: Texts) -> Failure:
    source = copy.get("source")
    beside = (texts.shown(source),) if source else ()
    return Failure(texts.shown(copy), f"distance {_distance(copy)}", beside)


def _distance(sample: Data) -> str:
    distance = sample.get("distance")
    return MISSING if distance is None else f"{distance:.3f}"
