"""Images: a lazily decoded sequence, and images in arrays.

Every image is read as red, green and blue, 8 bits each. Grey becomes three equal channels; what is
transparent is laid on white; floats from 0 to 1 are multiplied by 255. Arrays are checked when they
are given, kept as uint8, and turned into RGB when they are taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self, overload, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.samples.kinds import (
    ROW_HASH,
    SampleKind,
    as_array,
    digest_pixels,
    hash_images,
    read_only,
)
from calipers.samples.wording import counted

CHANNELS = (1, 3, 4)
BLOCK = 2**24
SLIGHT = 0.1

_KINDS = {1: "grey", 3: "RGB", 4: "RGB with alpha"}

AT_ONCE = 64
PIXELS_AT_ONCE = 2**24
"""Pixels that going through images holds at a time: about 50 megabytes."""

Image = NDArray[np.uint8]
"""uint8 of shape (height, width, 3): red, green and blue."""


@runtime_checkable
class Decodes(Protocol):
    """Protocol of objects that decode some of their images."""

    def __len__(self) -> int: ...

    def decode(self, start: int, stop: int) -> list[Image]:
        """Decode consecutive images."""
        ...

    def pixels(self, row: int) -> int:
        """Return the number of pixels of an image, without decoding it."""
        ...

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Keep the given rows, in the given order."""
        ...


class Images(Sequence[Image]):
    """Consecutive images; a row or a slice of them is decoded on access.

    Parameters
    ----------
    decoder
        What decodes them.
    start, stop
        Which of its rows these are, counted from 0.
    """

    def __init__(self, decoder: Decodes, start: int, stop: int) -> None:
        self._decoder = decoder
        self._rows = range(start, stop)

    @classmethod
    def of(cls, decoder: object) -> Images | None:
        """Return all images of a set; None for a set of another kind."""
        return cls(decoder, 0, len(decoder)) if isinstance(decoder, Decodes) else None

    def part(self, first: int, last: int) -> Images:
        """Return some of these images without decoding them, unlike a slice."""
        rows = self._rows[first:last]
        return Images(self._decoder, rows.start, rows.stop)

    def __reduce__(self) -> tuple[Any, ...]:
        # Sent to another process, they leave the other images of their set behind.
        decoder = self._decoder.take(np.arange(self._rows.start, self._rows.stop))
        return type(self), (decoder, 0, len(self))

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
                return self._decoder.decode(rows.start, rows.stop)
            return [self._decoder.decode(row, row + 1)[0] for row in rows]
        row = self._rows[index]
        return self._decoder.decode(row, row + 1)[0]

    def __iter__(self) -> Iterator[Image]:
        """Decode a few at a time, fewer of large ones, so that memory stays bounded."""
        for start, stop in self._few():
            yield from self._decoder.decode(start, stop)

    def _few(self) -> Iterator[tuple[int, int]]:
        start, pixels = self._rows.start, 0
        for row in self._rows:
            more = self._decoder.pixels(row)
            if row > start and (row - start >= AT_ONCE or pixels + more > PIXELS_AT_ONCE):
                yield start, row
                start, pixels = row, 0
            pixels += more
        if start < self._rows.stop:
            yield start, self._rows.stop


def size_note(sizes: Iterable[tuple[int, int]]) -> tuple[str, ...]:
    """Report how many images have which height and width, where they differ."""
    counts = Counter(f"{width} × {height}" for height, width in sizes)
    if len(counts) < 2:
        return ()
    return (f"images of {counted(len(counts), 'size')} (width × height): {_most(counts, 'of ')}",)


def plain_note(plain: int, total: int) -> tuple[str, ...]:
    """Report how many images are of one colour, and so show nothing."""
    if not plain:
        return ()
    verb = "is" if plain == 1 else "are"
    images = counted(total, "image")
    return (f"{plain:,} of {images} {verb} of one colour throughout, and {_shows(plain)} nothing",)


def _shows(count: int) -> str:
    return "shows" if count == 1 else "show"


def is_plain(pixels: NDArray[np.uint8]) -> bool:
    """Whether all pixels of an image are equal, including an image of one pixel."""
    return bool((pixels == pixels[:1, :1]).all())


def mode_note(modes: Iterable[str]) -> tuple[str, ...]:
    """Report how many images have which colours, where they differ."""
    counts = Counter(modes)
    if len(counts) < 2:
        return ()
    return (f"images of several colour modes, all read as RGB: {_most(counts)}",)


def _most(counts: Counter[str], of: str = "", limit: int = 3) -> str:
    shown = [f"{count:,} {of}{kind}" for kind, count in counts.most_common(limit)]
    more = counts.total() - sum(count for _, count in counts.most_common(limit))
    return ", ".join(shown) + (f" and {more:,} {of}others" if more else "")


def as_rgb(array: NDArray[np.uint8]) -> Image:
    """Convert uint8 of shape (h, w), (h, w, 3) or (h, w, 4) to RGB, with alpha over white."""
    if array.ndim == 2:
        return np.repeat(array[..., None], 3, axis=2)
    if array.shape[2] == 3:
        return np.asarray(array)
    alpha = array[..., 3:].astype(np.uint16)
    # A sum of at most 255 × 255, rounded to the nearest of 255 steps.
    mixed = array[..., :3] * alpha + 255 * (255 - alpha)
    return ((mixed + np.uint16(127)) // 255).astype(np.uint8)


@dataclass(frozen=True, eq=False)
class ImageArrays:
    """Images in memory: uint8 arrays of shape (h, w), (h, w, 3) or (h, w, 4), or one stack."""

    arrays: NDArray[np.uint8] | Sequence[NDArray[np.uint8]]
    kind: ClassVar[SampleKind] = "images"
    noun: ClassVar[str] = "image"

    def __len__(self) -> int:
        return len(self.arrays)

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Keep the given rows, in the given order."""
        if isinstance(self.arrays, np.ndarray):
            return type(self)(read_only(self.arrays[rows]))
        return type(self)([self.arrays[row] for row in rows])

    def items(self, start: int, stop: int) -> Images:
        """Return the images of some rows, as RGB on access."""
        return Images(self, start, stop)

    def decode(self, start: int, stop: int) -> list[Image]:
        """Return the pixels of some rows as RGB."""
        return [as_rgb(array) for array in self.arrays[start:stop]]

    def pixels(self, row: int) -> int:
        """Return the number of pixels of an image."""
        return int(np.prod(self.arrays[row].shape[:2]))

    def hash(self, start: int, stop: int) -> str:
        """Hash the shapes and pixels of some rows."""
        return hash_images(b"".join(map(digest_pixels, self.arrays[start:stop])), "pixels")

    def row_hashes(self) -> NDArray[np.bytes_]:
        """Hash the shape and pixels of each image."""
        digests = [digest_pixels(array)[:16] for array in self.arrays]
        return np.frombuffer(b"".join(digests), ROW_HASH)

    def notes(self) -> tuple[str, ...]:
        """Report different sizes and colours, and images of one colour."""
        plain = plain_note(sum(map(is_plain, self.arrays)), len(self))
        if isinstance(self.arrays, np.ndarray):
            return plain
        sizes = size_note((array.shape[0], array.shape[1]) for array in self.arrays)
        return (*sizes, *mode_note(_KINDS[_channels(array)] for array in self.arrays), *plain)


def from_stack(array: NDArray[Any], where: str) -> ImageArrays:
    """Make images from an array of shape (n, h, w) or (n, h, w, c); raise an error if invalid."""
    if array.ndim not in (3, 4) or 0 in array.shape:
        raise InputError(
            f"{where}: images must be an array of shape (n, height, width) or (n, height, width, "
            f"3), but this one has the shape {array.shape}"
        )
    if array.ndim == 3 and array.shape[2] in CHANNELS and array.shape[1] not in CHANNELS:
        height, width, channels = array.shape
        raise InputError(
            f"{where}: an array of shape {array.shape} looks like one image with {channels} "
            f"channels; give several as (n, {height}, {width}, {channels}). If it is {height:,} "
            f"grey images of {width} × {channels} pixels, write images[..., None]"
        )
    return ImageArrays(read_only(as_bytes(_channels_last(array, where), where)))


def from_arrays(values: Iterable[object], where: str) -> ImageArrays:
    """Make images from arrays, one each; raise an error for one that is not an image."""
    return ImageArrays([_one(array, f"{where}: image {n}") for n, array in enumerate(values, 1)])


def as_bytes(array: NDArray[Any], where: str) -> NDArray[np.uint8]:
    """Return uint8 unchanged, and floats from 0 to 1 times 255, rounded; refuse all else."""
    if array.dtype == np.uint8:
        return array
    if array.dtype.kind != "f":
        raise InputError(f"{where}: {_rule(array)}, but these are {array.dtype}; {_hint(array)}")
    low, high = float(array.min()), float(array.max())
    if not (low >= 0 and high <= 1):
        raise InputError(f"{where}: {_rule(array)}, but {_found(low, high)}; {_scaling(low, high)}")
    result = np.empty(array.shape, np.uint8)
    step = max(1, BLOCK // max(1, array[0].size))
    for start in range(0, len(array), step):
        result[start : start + step] = np.rint(array[start : start + step] * 255)
    return result


def _rule(array: NDArray[Any]) -> str:
    return (
        f"an array of shape {array.shape} holds images, whose pixels must be uint8, or floats from "
        "0 to 1"
    )


def _channels_last(array: NDArray[Any], where: str) -> NDArray[Any]:
    """Turn (n, c, h, w) around where that is the only way to read it; drop a channel of grey."""
    if array.ndim == 4 and array.shape[3] not in CHANNELS and array.shape[1] in CHANNELS:
        array = np.moveaxis(array, 1, 3)
    if array.ndim == 4 and array.shape[3] not in CHANNELS:
        raise InputError(
            f"{where}: images of shape (n, height, width, channels) need 1, 3 or 4 channels, but "
            f"this array has the shape {array.shape}"
        )
    return array[..., 0] if array.ndim == 4 and array.shape[3] == 1 else array


def _one(value: object, where: str) -> NDArray[np.uint8]:
    array = as_array(value, where)
    if array.ndim not in (2, 3) or 0 in array.shape:
        raise InputError(
            f"{where}: must have the shape (height, width) or (height, width, 3), "
            f"but its shape is {array.shape}"
        )
    stack = array[None] if array.ndim == 3 else array[None, ..., None]
    return read_only(as_bytes(_channels_last(stack, where), where)[0])


def _channels(array: NDArray[np.uint8]) -> int:
    return 1 if array.ndim == 2 else array.shape[2]


def _found(low: float, high: float) -> str:
    if np.isnan(low) or np.isnan(high):
        return "some are NaN"
    return f"these run from {low:g} to {high:g}"


def _scaling(low: float, high: float) -> str:
    if not np.isfinite([low, high]).all():
        return "put numbers from 0 to 1 there"
    if low > -SLIGHT and high < 1 + SLIGHT:
        return "if they only overshoot a little, give images.clip(0, 1)"
    if -1 <= low < 0 and high <= 1:
        return "if they run from -1 to 1, give (images + 1) / 2"
    if low >= 0 and 128 <= high <= 255:
        return "if they run from 0 to 255, give images / 255"
    if low >= 0:
        return f"divide by the value of white, such as images / {high:g}"
    return "undo their normalisation first, so that black is 0 and white is 1"


def _hint(array: NDArray[Any]) -> str:
    if array.dtype.kind == "b":
        return "give images.astype('uint8') * 255"
    if array.dtype.kind not in "iu":
        return "give numbers"
    low, high = int(array.min()), int(array.max())
    if low >= 0 and 128 <= high <= 255:
        return "if they run from 0 to 255, give images.astype('uint8')"
    if low >= 0 and high <= 1:
        return "if 1 is white, give images.astype('uint8') * 255"
    return f"they run from {low} to {high}; {_scaling(low, high)}"
