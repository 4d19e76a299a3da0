"""Texts of samples for a page: cut alike where they would make it too large, with their length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal

from markupsafe import Markup, escape

from calipers.explain.model import Explanation, Neighbour, Sample
from calipers.report.html.islands import visible
from calipers.report.html.languages import language
from calipers.wording.cells import cut

Side = Literal["reference", "generated"]

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
PACKED = 0.6
"""Bytes that a letter takes in packed data, about."""
MENTION = 32
"""Bytes of packed markup around each mention of a stored text, about."""
FOLDED = 420
"""Characters above which a text is folded until a person opens it."""
LINES = 7
EMPTY = '<em class="empty">empty</em>'


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
    key
        By what a stored text is found; empty where the text itself is shown.
    """

    row: int
    text: str | None
    cut: str = ""
    folded: bool = False
    says: str = ""
    key: str = ""


@dataclass
class TextView:
    """How texts are shown: at most `longest` characters of each."""

    longest: int = LONGEST

    def shown(self, sample: Sample, side: Side) -> Shown:
        """Give a sample of a side as it is shown."""
        return replace(self._shown(sample, side), says=_says(sample))

    def _shown(self, sample: Sample, side: Side) -> Shown:
        text = sample.text
        if text is None:
            return Shown(sample.row, None)
        start = visible(cut(text, self.longest))
        part = f"first {len(start):,} of {len(text):,} characters" if text[self.longest :] else ""
        folded = len(start) > FOLDED or start.count("\n") >= LINES
        return Shown(sample.row, start, part, folded)

    def written(self, sample: Sample, side: Side) -> Markup:
        """Write a sample as markup: its row, what was measured, and its text."""
        return Markup(self._written(sample, side))

    def all_written(self, samples: Iterable[Sample], side: Side) -> Markup:
        """Write several samples as a list; nothing where there are none."""
        items = "".join(f"  <li>{self._written(sample, side)}</li>\n" for sample in samples)
        return Markup(f'<ul class="samples">\n{items}</ul>\n' if items else "")

    def _written(self, sample: Sample, side: Side) -> str:
        shown = self.shown(sample, side)
        facts = " · ".join(filter(None, (f"{side} row {shown.row}", shown.says, shown.cut)))
        row = f'<p class="row">{facts}</p>\n'
        if shown.text is None:
            return row
        folded = " folded" if shown.folded else ""
        if shown.key:
            where = f'data-text="{shown.key}"></div>'
        else:
            where = f">{escape(shown.text) or EMPTY}</div>"
        how = f'class="text{folded}" dir="auto"{language(shown.text)}'
        return f"{row}<div {how}{' ' * bool(shown.key)}{where}\n"


class StoredTexts(TextView):
    """Texts that lists name by a key, each stored once, as the lists of systems share samples.

    Parameters
    ----------
    longest
        Characters that are shown of each.
    """

    def __init__(self, longest: int = LONGEST) -> None:
        super().__init__(longest)
        self.stored: dict[str, str] = {}
        self._known: dict[str, Shown] = {}
        self._place = 0

    @contextmanager
    def of(self, place: int) -> Iterator[None]:
        """Let generated samples be those of the system at a place, from 1."""
        self._place, before = place, self._place
        try:
            yield
        finally:
            self._place = before

    def _shown(self, sample: Sample, side: Side) -> Shown:
        key = text_key(self._place, side, sample.row)
        if key not in self._known:
            shown = super()._shown(sample, side)
            if shown.text:
                self.stored[key] = shown.text
                shown = replace(shown, key=key)
            self._known[key] = shown
        return self._known[key]


def _says(sample: Sample) -> str:
    return distance_text(sample.distance) if isinstance(sample, Neighbour) else ""


def distance_text(distance: float) -> str:
    """Write how far a sample is from another one."""
    return f"distance {distance:.3f}"


def fitting(explanations: Iterable[Explanation], *, taken: int = 0) -> TextView:
    """Choose how much of each text is shown, so that all of them fit a page.

    `taken` tells how many bytes the rest of the page takes.
    """
    listed = (sample for explanation in explanations for sample, _ in _listed(explanation))
    texts = [sample.text[:LONGEST] for sample in listed if sample.text is not None]
    return TextView(_longest(texts, LARGEST - taken - MARKUP * len(texts)))


def fitting_stored(
    explanations: Iterable[tuple[int, Explanation]], *, taken: int = 0
) -> StoredTexts:
    """Choose the same for texts that are stored once each, and packed.

    Explanations come with the place of their system, from 1.
    """
    texts: dict[str, str] = {}
    mentions = 0
    for place, explanation in explanations:
        for sample, side in _listed(explanation):
            mentions += 1
            texts[text_key(place, side, sample.row)] = (sample.text or "")[:LONGEST]
    return StoredTexts(
        _longest(list(texts.values()), (LARGEST - taken - MENTION * mentions) / PACKED)
    )


def listed_keys(explanations: Iterable[tuple[int, Explanation]]) -> frozenset[str]:
    """Give the keys of all texts that the lists of systems name, and that are not empty."""
    return frozenset(
        text_key(place, side, sample.row)
        for place, explanation in explanations
        for sample, side in _listed(explanation)
        if sample.text
    )


def text_key(place: int, side: Side, row: int) -> str:
    """By what the text of a sample is found: its set, 0 for the reference, and its row."""
    return f"{0 if side == 'reference' else place}:{row}"


def _longest(texts: Sequence[str], room: float) -> int:
    """How much of each text is shown where all of them have so many bytes."""
    letters = sum(map(len, texts))
    weight = sum(map(_weight, texts)) / letters if letters else 1.0
    return _fair(sorted(map(len, texts)), int(max(LEAST_ROOM, room) / weight))


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


def _listed(explanation: Explanation) -> Iterator[tuple[Sample, Side]]:
    """Give every sample that is listed, and its side; those of cells are not."""
    for topic in explanation.topics:
        for medoid in topic.reference_medoids:
            yield medoid, "reference"
        for medoid in topic.generated_medoids:
            yield medoid, "generated"
        for uncovered in topic.uncovered_samples:
            yield uncovered, "reference"
    for outlier in explanation.outside:
        yield outlier, "generated"
        for nearest in outlier.nearest:
            yield nearest, "reference"
    for copy in explanation.copies:
        yield copy, "generated"
        if copy.source is not None:
            yield copy.source, "reference"
