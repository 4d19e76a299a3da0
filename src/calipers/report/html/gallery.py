"""The pictures of a page: which samples are shown, and their embedded thumbnails.

A picture takes a few thousand bytes, and a list may hold fifty samples with three neighbours each.
The page shows the first of every list, as many as fit its size, alike for all systems; of the
others it names the files.
"""

from __future__ import annotations

import base64
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from statistics import fmean

from calipers.explain.model import Explanation, Side
from calipers.results.comparison import Comparison
from calipers.results.pictures import Pictures
from calipers.samples.thumbnails import SIDE, media_type

LADDER = (50, 24, 12, 8, 4, 2, 1)
"""How many samples of a list are seen as pictures: the first of these that fits."""
LOOKED_AT = 64
"""Thumbnails whose mean size tells how large the others will be."""
MARGIN = 1.15
"""By how much that mean may be too small."""

Key = tuple[int, Side, int]
"""The place of the system (from 1), the side, and the row: what a picture is found by."""


@dataclass
class Gallery:
    """The pictures of a page.

    Attributes
    ----------
    sources
        The pictures of each side, by the place of the system, from 1; the reference and the
        training set stand under 0.
    most
        How many samples of each list are seen as pictures.
    chosen
        Which samples these are.
    left
        Bytes that the pictures may still take.
    missing
        How many pictures could not be shown: their files have changed, or the page was full.
    """

    sources: dict[tuple[int, Side], Pictures] = field(default_factory=dict)
    most: int = 0
    chosen: frozenset[Key] = frozenset()
    left: int = 0
    missing: int = 0

    def __bool__(self) -> bool:
        return bool(self.sources)

    @property
    def says(self) -> str:
        """What a person should know about the pictures of this page."""
        if not self:
            return ""
        size = (
            "A mode is a topic of images: a group of similar images. They are shown at up to "
            f"{SIDE} × {SIDE} pixels; smaller ones are enlarged"
        )
        if self.most >= LADDER[0]:
            return f"{size}."
        return (
            f"{size}. To keep the page small, only the first {self.most} images of each list are "
            "shown; the others are named by file."
        )

    def address(self, place: int, side: Side, row: int) -> str:
        """Return a picture as a data address; empty where it is not shown."""
        key = _key(place, side, row)
        pictures = self.sources.get(key[:2])
        if pictures is None or key not in self.chosen:
            return ""
        data = pictures.thumbnail(row)
        address = "" if data is None else _address(data)
        if not address or len(address) > self.left:
            self.missing += 1
            return ""
        self.left -= len(address)
        return address

    @classmethod
    def of(cls, comparison: Comparison, room: int) -> Gallery:
        """Choose the pictures of a comparison that fit into `room` bytes.

        The gallery is empty where the comparison is not of images.
        """
        sources = dict(_sources(comparison))
        if not sources:
            return cls()
        explanations = [
            (place, explanation)
            for place, system in enumerate(comparison, start=1)
            for explanation in system.explained.values()
        ]
        size = MARGIN * _mean_size(sources, mentions(explanations, LADDER[-1]))
        for most in LADDER:
            listed = list(mentions(explanations, most))
            if len(listed) * size <= room:
                break
        return cls(sources, most, frozenset(listed), room)


def mentions(explanations: Iterable[tuple[int, Explanation]], most: int) -> Iterator[Key]:
    """Return every sample among the first `most` of a list, as often as it is listed."""
    for place, explanation in explanations:
        for side, sample in explanation.listed(most):
            yield _key(place, side, sample.row)


def _key(place: int, side: Side, row: int) -> Key:
    return (place if side == "generated" else 0, side, row)


def _sources(comparison: Comparison) -> Iterator[tuple[tuple[int, Side], Pictures]]:
    reference = comparison.reference_samples
    if reference is None or reference.pictures is None:
        return
    yield (0, "reference"), reference.pictures
    for place, system in enumerate(comparison, start=1):
        if system.samples and system.samples[0].pictures is not None:
            yield (place, "generated"), system.samples[0].pictures
        if system.against is not None and system.against.trained_on is not None:
            yield (0, "train"), system.against.trained_on


def _mean_size(sources: dict[tuple[int, Side], Pictures], keys: Iterable[Key]) -> float:
    made = (
        sources[key[:2]].thumbnail(key[2])
        for key in itertools.islice(keys, LOOKED_AT)
        if key[:2] in sources
    )
    sizes = [len(_address(data)) for data in made if data is not None]
    return fmean(sizes) if sizes else 0.0


def _address(data: bytes) -> str:
    return f"data:{media_type(data)};base64,{base64.b64encode(data).decode('ascii')}"
