"""Texts of samples on a page, shortened alike where they would make it too large."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from markupsafe import Markup, escape

from calipers.explain.model import Explanation, Neighbour, Sample, Side
from calipers.report.html.gallery import Gallery
from calipers.report.html.islands import visible
from calipers.report.html.languages import language
from calipers.wording.cells import cut

SEPARATED = re.compile(r"(?<=[_./-])(?=[^_./-])")
"""Where a name may be broken: behind the signs that separate its parts."""
LONGEST = 20_000
"""Characters of a text that are shown at most."""
SHORTEST = 400
"""Characters that are shown of every text, however many there are."""
LARGEST = 11_200_000
"""Bytes that a page should not pass, texts, pictures, scripts and all."""
LARGEST_STORED = 2_300_000
"""Bytes that a page of many systems, whose texts are packed, should not pass but for its tables."""
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
    """A sample as shown on the page.

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
    file
        The file of an image; empty where it has none.
    """

    row: int
    text: str | None
    cut: str = ""
    folded: bool = False
    says: str = ""
    key: str = ""
    file: str = ""


SIDES: dict[Side, str] = {"reference": "reference", "generated": "generated", "train": "training"}
"""How the page calls a side before a row."""


@dataclass
class TextView:
    """How samples are shown: at most `longest` characters of each text; images as pictures.

    Attributes
    ----------
    longest
        Characters of a text.
    gallery
        The pictures.
    place
        Of the system whose lists are being written, from 1.
    """

    longest: int = LONGEST
    gallery: Gallery = field(default_factory=Gallery)
    place: int = 0

    @contextmanager
    def of(self, place: int) -> Iterator[None]:
        """Take generated samples from the system with a number, from 1, within a ``with`` block."""
        self.place, before = place, self.place
        try:
            yield
        finally:
            self.place = before

    def turn_to(self, place: int) -> str:
        """Switch to the generated samples of another system; returns an empty text."""
        self.place = place
        return ""

    def shown(self, sample: Sample, side: Side) -> Shown:
        """Return a sample of a side as shown."""
        return replace(self._shown(sample, side), says=_says(sample))

    def _shown(self, sample: Sample, side: Side) -> Shown:
        text = sample.text
        if text is None:
            return Shown(sample.row, None, file=visible(sample.file or ""))
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
        name = f"{SIDES[side]} row {shown.row}"
        facts = " · ".join(filter(None, (name, shown.says, shown.cut)))
        row = f'<p class="row">{facts}</p>\n'
        if shown.text is None:
            return self._pictured(shown, side, name) + row
        folded = " folded" if shown.folded else ""
        if shown.key:
            where = f'data-text="{shown.key}"></div>'
        else:
            where = f">{escape(shown.text) or EMPTY}</div>"
        how = f'class="text{folded}" dir="auto"{language(shown.text)}'
        return f"{row}<div {how}{' ' * bool(shown.key)}{where}\n"

    def _pictured(self, shown: Shown, side: Side, name: str) -> str:
        """Write the picture of an image and its file; nothing of what is none."""
        address = self.gallery.address(self.place, side, shown.row)
        parts = map(escape, SEPARATED.split(shown.file))
        file = f'<p class="file"><bdi>{"<wbr>".join(parts)}</bdi></p>\n' if shown.file else ""
        if not address:
            return file
        alt = escape(", ".join(filter(None, (name, shown.file))))
        return f'<img class="shot" src="{address}" alt="{alt}" loading="lazy">\n{file}'


class StoredTexts(TextView):
    """Texts that lists name by a key, each stored once, since systems share samples.

    Parameters
    ----------
    longest
        Characters that are shown of each.
    """

    def __init__(self, longest: int = LONGEST) -> None:
        super().__init__(longest)
        self.stored: dict[str, str] = {}
        self._known: dict[str, Shown] = {}

    def _shown(self, sample: Sample, side: Side) -> Shown:
        key = text_key(self.place, side, sample.row)
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
    """Write the distance of a sample from another."""
    return f"distance {distance:.3f}"


def fitting(explanations: Iterable[Explanation], *, taken: int = 0) -> TextView:
    """Choose how much of each text is shown, so that all fit on a page.

    `taken` tells how many bytes the rest of the page takes.
    """
    listed = (sample for explanation in explanations for _, sample in explanation.listed())
    texts = [sample.text[:LONGEST] for sample in listed if sample.text is not None]
    return TextView(_longest(texts, LARGEST - taken - MARKUP * len(texts)))


def fitting_stored(
    explanations: Iterable[tuple[int, Explanation]], *, taken: int = 0
) -> StoredTexts:
    """Choose the same for compressed texts stored once each.

    Explanations come with the place of their system, from 1.
    """
    texts: dict[str, str] = {}
    mentions = 0
    for place, explanation in explanations:
        for side, sample in explanation.listed():
            mentions += 1
            texts[text_key(place, side, sample.row)] = (sample.text or "")[:LONGEST]
    room = (LARGEST_STORED - taken - MENTION * mentions) / PACKED
    return StoredTexts(_longest(sorted(set(texts.values())), room))


def listed_keys(explanations: Iterable[tuple[int, Explanation]]) -> frozenset[str]:
    """Return the keys of all texts in the lists of systems that are not empty."""
    return frozenset(
        text_key(place, side, sample.row)
        for place, explanation in explanations
        for side, sample in explanation.listed()
        if sample.text
    )


def text_key(place: int, side: Side, row: int) -> str:
    """Return the key of a sample's text: its set, 0 for the reference, and its row."""
    return f"{place if side == 'generated' else 0}:{row}"


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
