"""Texts of samples for a page: cut alike where they would make it too large, with their length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from calipers.explain.model import Explanation, Neighbour, Sample
from calipers.report.html.islands import visible

LONGEST = 20_000
"""Characters of a text that are shown at most."""
SHORTEST = 400
"""Characters that are shown of every text, however many there are."""
LARGEST = 11_200_000
"""Bytes that a page should not pass, texts, pictures, scripts and all."""
LEAST_ROOM = 1_000_000
"""Bytes that the listed texts may take, whatever the pictures take."""
MARKUP = 400
"""Bytes around a text, about."""
FOLDED = 420
"""Characters above which a text is folded until a person opens it."""
LINES = 7


@dataclass(frozen=True)
class Shown:
    """A sample as the page shows it.

    Attributes
    ----------
    row
        Its place in its set, from 0.
    text
        What is shown of its text; None where there is none.
    cut
        How much of it that is, in words; empty for all.
    folded
        Whether it is long enough to be folded.
    says
        What was measured of it.
    """

    row: int
    text: str | None
    cut: str = ""
    folded: bool = False
    says: str = ""


@dataclass(frozen=True)
class TextView:
    """How texts are shown: at most `longest` characters of each."""

    longest: int = LONGEST

    def shown(self, sample: Sample) -> Shown:
        """Give a sample as it is shown."""
        says = distance_text(sample.distance) if isinstance(sample, Neighbour) else ""
        text = sample.text
        if text is None:
            return Shown(sample.row, None, says=says)
        start = visible(text[: self.longest])
        cut = f"first {len(start):,} of {len(text):,} characters" if text[self.longest :] else ""
        folded = len(start) > FOLDED or start.count("\n") >= LINES
        return Shown(sample.row, start, cut, folded, says)


def distance_text(distance: float) -> str:
    """Write how far a sample is from another one."""
    return f"distance {distance:.3f}"


def fitting(explanations: Iterable[Explanation], *, taken: int = 0) -> TextView:
    """Choose how much of each text is shown, so that all of them fit a page.

    `taken` tells how many bytes the rest of the page takes.
    """
    listed = (sample for explanation in explanations for sample in _listed(explanation))
    texts = [sample.text[:LONGEST] for sample in listed if sample.text is not None]
    letters = sum(map(len, texts))
    weight = sum(map(_weight, texts)) / letters if letters else 1.0
    room = max(LEAST_ROOM, LARGEST - taken - MARKUP * len(texts))
    return TextView(_fair(sorted(map(len, texts)), int(room / weight)))


def _fair(sizes: Sequence[int], budget: int) -> int:
    """Find the length at which texts are cut: short ones leave what they save to the others.

    Examples
    --------
    >>> _fair([10, 700, 5000], 2710)
    2000
    """
    left = budget
    for place, size in enumerate(sizes):
        room = left // (len(sizes) - place)
        if size > room:
            return min(LONGEST, max(SHORTEST, room))
        left -= size
    return LONGEST


def _weight(text: str) -> int:
    """Bytes of a text in a page, where a quotation mark takes five."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    return size + 4 * sum(map(text.count, "'\"&<>"))


def _listed(explanation: Explanation) -> Iterator[Sample]:
    """Give every sample that is listed; those of cells are not."""
    for topic in explanation.topics:
        yield from topic.reference_medoids
        yield from topic.generated_medoids
        yield from topic.uncovered_samples
    for outlier in explanation.outside:
        yield outlier
        yield from outlier.nearest
    for copy in explanation.copies:
        yield copy
        if copy.source is not None:
            yield copy.source
