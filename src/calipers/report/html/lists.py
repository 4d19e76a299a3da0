"""The lists of the page from explanations: topics, failures, uncovered samples, near copies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from calipers.catalogue.shown import views_of
from calipers.evaluate.verdict import furthest_first
from calipers.explain.model import Copy, Explanation, Outlier, Region, Sample, Topic
from calipers.report.html.texts import distance_text
from calipers.report.html.wording import count
from calipers.report.topics import outcome, ratio_words
from calipers.results.comparison import Comparison
from calipers.wording.names import clean, sees, shorten
from calipers.wording.numbers import defined, share
from calipers.wording.short_names import short

LONGEST_WORD = 200
"""Cells of a keyword at most; where words have no spaces, one may be a whole text."""

NAMED = 2
"""Samples that name a cell of images."""

FIRST = 8
"""Entries of a list that are seen at once; the others open."""


@dataclass(frozen=True)
class ViewLists:
    """The lists and sentences of the page for one explanation.

    Attributes
    ----------
    explanation
        Of a system by one view.
    k_max
        The largest k at which it was measured which ball holds a sample; None where not known.
    pictured
        Whether its samples are images that the page shows.
    """

    explanation: Explanation
    k_max: int | None = None
    pictured: bool = False

    @property
    def view(self) -> str:
        """The name of the view."""
        return clean(self.explanation.view)

    @property
    def sees(self) -> str:
        """What the view represents; empty where that is unknown."""
        return sees(self.explanation.view, "images" if self.pictured else None)

    @property
    def summary(self) -> list[str]:
        """The counts, in sentences."""
        return list(_summary(self.explanation))

    @property
    def outcome(self) -> str:
        """How many topics differ."""
        return outcome(self.explanation)

    @property
    def notes(self) -> list[str]:
        """What could not be determined, and why."""
        return [clean(note) for note in self.explanation.notes]

    @property
    def uncovered(self) -> Sequence[Topic]:
        """The topics with uncovered reference samples, those with most first."""
        lacking = [topic for topic in self.explanation.topics if topic.uncovered]
        return sorted(lacking, key=lambda topic: topic.uncovered or 0, reverse=True)

    def bar(self, topic: Topic) -> float:
        """Return the share of a topic in the gap relative to the largest one, 0 to 100."""
        largest = max((defined(one.share) or 0.0 for one in self.explanation.topics), default=0.0)
        part = defined(topic.share)
        return round(100 * part / largest, 1) if part and largest > 0 else 0.0

    def ratio(self, topic: Topic) -> str:
        """Return how many times larger the generated share of a topic is, with an interval."""
        return ratio_words(topic, self.explanation.level)

    def measured(self, sample: Outlier | Copy) -> str:
        """Describe what was measured of a failure."""
        if isinstance(sample, Copy):
            return distance_text(sample.distance)
        k = f"first inside at k = {sample.first_k}" if sample.first_k else ""
        if k and self.k_max is not None and sample.first_k > self.k_max:
            k = f"outside at every k up to {self.k_max}"
        realism = "" if sample.realism is None else f"realism {sample.realism:.2f}"
        return "; ".join(filter(None, (realism, k)))


@dataclass(frozen=True)
class SystemLists:
    """The explanations of one system, by view in the order of the run; `place` counts from 1."""

    place: int
    name: str
    views: tuple[ViewLists, ...]


def system_lists(comparison: Comparison) -> list[SystemLists]:
    """Return the lists of every explained system, furthest from the reference first."""
    views, k_max = views_of(comparison.settings), comparison.settings.get("k_max")
    lists = []
    for row in furthest_first(comparison):
        system = comparison.systems[row]
        explanations = [system.explained[view] for view in views if view in system.explained]
        pictured = bool(system.samples and system.samples[0].pictures)
        shown = tuple(ViewLists(explanation, k_max, pictured) for explanation in explanations)
        lists.append(SystemLists(row + 1, short(system.name), shown))
    return [system for system in lists if system.views]


def beside(sample: Outlier | Copy) -> Sequence[Sample]:
    """Return the reference samples to show beside a failure."""
    if isinstance(sample, Outlier):
        return sample.nearest
    return () if sample.source is None else (sample.source,)


def files(samples: Sequence[Sample]) -> str:
    """List the files of the first samples of a region, or their rows where there are none."""
    return ", ".join(clean(sample.file or f"row {sample.row}") for sample in samples[:NAMED])


def keywords(region: Region) -> list[str]:
    """Return the keywords of a topic or cell, each on one line."""
    return [shorten(clean(word), LONGEST_WORD) for word in region.keywords]


def _summary(explanation: Explanation) -> Iterator[str]:
    """Say the counts in sentences."""
    n, m = explanation.n, explanation.m
    for number, size, words in (
        (explanation.outside_count, m, "generated samples lie outside the reference's support"),
        (explanation.uncovered_count, n, "reference samples are covered by no generated sample"),
        (explanation.copies_count, m, "generated samples are near copies of a reference sample"),
    ):
        if number is not None and size:
            yield f"{count(number)} of {count(size)} {words} ({share(number / size)})"
