"""Images as a sequence that decodes what is taken of it, and nothing before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, Self, overload, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from calipers.samples.wording import counted

AT_ONCE = 64
PIXELS_AT_ONCE = 2**24
"""Pixels that going through images holds at a time: about 50 megabytes."""

Image = NDArray[np.uint8]
"""uint8 of shape (height, width, 3): red, green and blue."""


@runtime_checkable
class Decodes(Protocol):
    """What can give the pixels of some of its images."""

    def __len__(self) -> int: ...

    def decode(self, start: int, stop: int) -> list[Image]:
        """Decode consecutive images."""
        ...

    def pixels(self, row: int) -> int:
        """Tell how many pixels an image has, without decoding it."""
        ...

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Keep the given rows, in the given order."""
        ...


class Images(Sequence[Image]):
    """Consecutive images: a row or a slice of them is decoded when it is taken.

    Parameters
    ----------
    held
        What decodes them.
    start, stop
        Which of its rows these are, counted from 0.
    """

    def __init__(self, held: Decodes, start: int, stop: int) -> None:
        self._held = held
        self._rows = range(start, stop)

    @classmethod
    def of(cls, held: object) -> Images | None:
        """Return all images that a set holds; None if it holds something else."""
        return cls(held, 0, len(held)) if isinstance(held, Decodes) else None

    def part(self, first: int, last: int) -> Images:
        """Give some of these images, still not decoded; a slice would decode them all at once."""
        rows = self._rows[first:last]
        return Images(self._held, rows.start, rows.stop)

    def __reduce__(self) -> tuple[Any, ...]:
        # Sent to another process, they leave the other images of their set behind.
        held = self._held.take(np.arange(self._rows.start, self._rows.stop))
        return type(self), (held, 0, len(self))

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Image: ...
    @overload
    def __getitem__(self, index: slice) -> list[Image]: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            rows = self._rows[index]
            if rows.step == 1:
                return self._held.decode(rows.start, rows.stop)
            return [self._held.decode(row, row + 1)[0] for row in rows]
        row = self._rows[index]
        return self._held.decode(row, row + 1)[0]

    def __iter__(self) -> Iterator[Image]:
        """Decode a few at a time, fewer of large ones, so that memory stays bounded."""
        for start, stop in self._few():
            yield from self._held.decode(start, stop)

    def _few(self) -> Iterator[tuple[int, int]]:
        start, pixels = self._rows.start, 0
        for row in self._rows:
            more = self._held.pixels(row)
            if row > start and (row - start >= AT_ONCE or pixels + more > PIXELS_AT_ONCE):
                yield start, row
                start, pixels = row, 0
            pixels += more
        if start < self._rows.stop:
            yield start, self._rows.stop


def size_note(sizes: Iterable[tuple[int, int]]) -> tuple[str, ...]:
    """Tell how many images have which height and width, where they differ."""
    found = Counter(f"{width} × {height}" for height, width in sizes)
    if len(found) < 2:
        return ()
    return (f"images of {counted(len(found), 'size')} (width × height): {_most(found, 'of ')}",)


def mode_note(modes: Iterable[str]) -> tuple[str, ...]:
    """Tell how many images have which colours, where they differ."""
    found = Counter(modes)
    if len(found) < 2:
        return ()
    return (f"images of several colour modes, all read as RGB: {_most(found)}",)


def _most(found: Counter[str], of: str = "", limit: int = 3) -> str:
    shown = [f"{count:,} {of}{kind}" for kind, count in found.most_common(limit)]
    more = found.total() - sum(count for _, count in found.most_common(limit))
    return ", ".join(shown) + (f" and {more:,} {of}others" if more else "")
