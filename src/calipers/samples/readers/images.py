"""Images as a sequence that decodes what is taken of it, and nothing before.

Any image as red, green and blue, 8 bits each: one rule for grey, palettes, alpha and 16 bits.

Grey becomes three equal channels. What is transparent is laid on white. 16-bit grey is divided by
257 and rounded, so that black stays 0 and white becomes 255 (Pillow itself gives the upper 8 bits
of 16-bit colours). CMYK and other colour spaces are converted by Pillow, without colour profiles.
The orientation that a camera noted is applied. Of an animation the first frame is taken.

Images that a person holds as arrays: checked, kept as uint8, turned into RGB when taken.

Image files: looked at once, and decoded again, some at a time, when their pixels are needed.

From what a person holds (paths, arrays, Pillow images) to images that a sample set can hold.
"""

from __future__ import annotations

import hashlib
import io
import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, overload, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.files import special_kind
from calipers.progress import Progress, Silent
from calipers.samples.contents import Held, Kind, as_array, digest_pixels, hash_images, read_only
from calipers.samples.wording import counted, describe

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


MAX_PIXELS = 89_478_485
"""Most pixels that an image may have, as many as Pillow takes without a warning.

Larger ones are refused before they are decoded: few bytes of a file may be gigabytes of pixels.
"""

FORMATS = ("PNG", "JPEG", "MPO", "WEBP", "BMP", "GIF", "TIFF", "PPM")
"""Pillow's names of the formats that are tried, whatever the suffix says."""

_ORIENTATION = 274

_MOST = f"at most {MAX_PIXELS:,} are read"


@dataclass(frozen=True, eq=False)
class Decoded:
    """One image file's pixels, and what is told about the file.

    Attributes
    ----------
    pixels
        uint8 of shape (height, width, 3).
    mode
        Pillow's name of what the file holds, such as ``"RGB"``, ``"L"`` (grey) or ``"P"``.
    several
        Whether it holds more frames or pages than the first.
    """

    pixels: Image
    mode: str
    several: bool


class BadImageError(Exception):
    """A file is no image that can be read; the text says why, without the file's name."""


def decode_bytes(data: bytes) -> Decoded:
    """Decode an image file completely.

    Raises
    ------
    BadImageError
        If it is empty, no image, damaged, cut short, larger than `MAX_PIXELS` or of a kind whose
        range of values is not known.
    """
    if not data:
        raise BadImageError("is empty")
    try:
        return _decode(data)
    except (BadImageError, MemoryError):
        raise
    except Exception as error:
        # Damaged files make decoders raise nearly anything.
        raise BadImageError(f"is damaged: {error}") from error


def as_rgb(array: NDArray[np.uint8]) -> Image:
    """Turn uint8 of shape (h, w), (h, w, 3) or (h, w, 4) into RGB, alpha laid on white."""
    if array.ndim == 2:
        return np.repeat(array[..., None], 3, axis=2)
    if array.shape[2] == 3:
        return np.asarray(array)
    alpha = array[..., 3:].astype(np.uint16)
    # A sum of at most 255 × 255, rounded to the nearest of 255 steps.
    mixed = array[..., :3] * alpha + 255 * (255 - alpha)
    return ((mixed + np.uint16(127)) // 255).astype(np.uint8)


def image_pixels(image: Any) -> Image:
    """Turn a Pillow image into RGB; its first frame, upright."""
    image.load()
    turned = _upright(image)
    if turned.mode.startswith("I;16") or (turned.mode == "I" and _is_16_bit(image)):
        return as_rgb(_scaled(np.asarray(turned)))
    if turned.mode in ("I", "F"):
        raise BadImageError(
            f"holds {'floats' if turned.mode == 'F' else '32-bit integers'}, whose black and white "
            "are not known; save it with 8 or 16 bits"
        )
    if turned.mode in ("RGBA", "RGBa", "LA", "La", "PA") or "transparency" in turned.info:
        return as_rgb(np.asarray(_converted(turned, "RGBA")))
    return np.array(_converted(turned, "RGB"))


def _decode(data: bytes) -> Decoded:
    from PIL import Image as Pillow
    from PIL import UnidentifiedImageError

    Pillow.init()
    formats = [each for each in FORMATS if each in Pillow.OPEN]
    try:
        image = Pillow.open(io.BytesIO(data), formats=formats)
    except UnidentifiedImageError:
        raise BadImageError(_unknown(data)) from None
    except Pillow.DecompressionBombError:
        raise BadImageError(f"has far too many pixels; {_MOST}") from None
    with image:
        if image.width * image.height > MAX_PIXELS:
            raise BadImageError(f"has {image.width:,} × {image.height:,} pixels; {_MOST}")
        if image.format == "PNG":
            # Loading passes over checksums, and takes what a broken stream gives.
            with Pillow.open(io.BytesIO(data), formats=formats) as checked:
                checked.verify()
        mode = image.mode
        return Decoded(image_pixels(image), mode, _has_several(image))


def _upright(image: Any) -> Any:
    from PIL.Image import Transpose

    turns = {
        2: Transpose.FLIP_LEFT_RIGHT,
        3: Transpose.ROTATE_180,
        4: Transpose.FLIP_TOP_BOTTOM,
        5: Transpose.TRANSPOSE,
        6: Transpose.ROTATE_270,
        7: Transpose.TRANSVERSE,
        8: Transpose.ROTATE_90,
    }
    try:
        turn = turns.get(image.getexif().get(_ORIENTATION))
    except Exception:
        # What a camera noted may be damaged; the pixels are not.
        turn = None
    return image if turn is None else image.transpose(turn)


def _converted(image: Any, mode: str) -> Any:
    return image if image.mode == mode else image.convert(mode)


def _is_16_bit(image: Any) -> bool:
    # Pillow opens some 16-bit files with 32 bits for each value.
    return getattr(image, "format", None) in ("PNG", "PPM")


def _scaled(values: NDArray[Any]) -> NDArray[np.uint8]:
    return ((values.astype(np.uint32) + 128) // 257).astype(np.uint8)


def _has_several(image: Any) -> bool:
    try:
        return bool(getattr(image, "is_animated", False))
    except Exception:
        # The first frame is sound, and no other is looked at.
        return True


def _unknown(data: bytes) -> str:
    start = data[:64].lstrip().lower()
    if start.startswith((b"<svg", b"<?xml", b"<!doctype", b"<html")):
        return "is no image, but a text that begins like SVG or HTML"
    if start.startswith(b"version https://git-lfs"):
        return "is no image, but a pointer of Git LFS; fetch the file itself"
    return f"is no image of a known format ({', '.join(FORMATS[:2] + FORMATS[3:])})"


CHANNELS = (1, 3, 4)
BLOCK = 2**24
SLIGHT = 0.1

_KINDS = {1: "grey", 3: "RGB", 4: "RGB with alpha"}


@dataclass(frozen=True, eq=False)
class ImageArrays:
    """Images in memory: uint8 arrays of shape (h, w), (h, w, 3) or (h, w, 4), or one stack."""

    arrays: NDArray[np.uint8] | Sequence[NDArray[np.uint8]]
    kind: ClassVar[Kind] = "images"
    noun: ClassVar[str] = "image"

    def __len__(self) -> int:
        return len(self.arrays)

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Keep the given rows, in the given order."""
        if isinstance(self.arrays, np.ndarray):
            return type(self)(read_only(self.arrays[rows]))
        return type(self)([self.arrays[row] for row in rows])

    def items(self, start: int, stop: int) -> Images:
        """Give the images of some rows, RGB where they are taken."""
        return Images(self, start, stop)

    def decode(self, start: int, stop: int) -> list[Image]:
        """Give the pixels of some rows as RGB."""
        return [as_rgb(array) for array in self.arrays[start:stop]]

    def pixels(self, row: int) -> int:
        """Tell how many pixels an image has."""
        return int(np.prod(self.arrays[row].shape[:2]))

    def hash(self, start: int, stop: int) -> str:
        """Hash the shapes and pixels of some rows."""
        return hash_images(b"".join(map(digest_pixels, self.arrays[start:stop])), "pixels")

    def notes(self) -> tuple[str, ...]:
        """Tell of different sizes and colours."""
        if isinstance(self.arrays, np.ndarray):
            return ()
        sizes = size_note((array.shape[0], array.shape[1]) for array in self.arrays)
        return (*sizes, *mode_note(_KINDS[_channels(array)] for array in self.arrays))


def from_stack(array: NDArray[Any], where: str) -> ImageArrays:
    """Hold an array of shape (n, h, w) or (n, h, w, c), or say what is wrong with it."""
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
    """Hold arrays of one image each, or name the one that is none."""
    return ImageArrays([_one(each, f"{where}: image {n}") for n, each in enumerate(values, 1)])


def as_bytes(array: NDArray[Any], where: str) -> NDArray[np.uint8]:
    """Return uint8 as it is, and floats from 0 to 1 times 255, rounded; refuse all else."""
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


THREADS = 4
ASKED = 1024
FEW = 2**18
"""Pixels that are decoded sooner than threads are started."""

MODES = {
    "1": "black and white",
    "L": "grey",
    "LA": "grey with alpha",
    "P": "palette",
    "RGBA": "RGB with alpha",
    "I;16": "16-bit grey",
    "I;16B": "16-bit grey",
    "I": "16-bit grey",
}
"""What people call Pillow's modes."""

MAX_BYTES = 2**30
"""Most bytes that an image file may have."""


@dataclass(frozen=True, eq=False)
class ImageFiles:
    """Image files in a fixed order, each of them found to be sound when it was first read.

    Attributes
    ----------
    paths
        Array of n strings.
    digests
        SHA-256 of each file's bytes, uint8 of shape (n, 32).
    sizes
        Height and width, shape (n, 2).
    modes
        What each holds, in Pillow's words, shape (n,).
    several
        Which hold more than one frame or page, bool of shape (n,).
    """

    paths: NDArray[np.object_]
    digests: NDArray[np.uint8]
    sizes: NDArray[np.int64]
    modes: NDArray[np.str_]
    several: NDArray[np.bool_]
    kind: ClassVar[Kind] = "images"
    noun: ClassVar[str] = "image"

    def __len__(self) -> int:
        return len(self.paths)

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Keep the given rows, in the given order."""
        return type(self)(
            self.paths[rows],
            self.digests[rows],
            self.sizes[rows],
            self.modes[rows],
            self.several[rows],
        )

    def items(self, start: int, stop: int) -> Images:
        """Give the images of some rows, decoded where they are taken."""
        return Images(self, start, stop)

    def decode(self, start: int, stop: int) -> list[Image]:
        """Decode the files of some rows.

        Raises
        ------
        InputError
            If a file has vanished or changed since it was first read.
        """
        pixels = int(self.sizes[start:stop].prod(axis=1).sum())
        return list(in_threads(self._decode, range(start, stop), THREADS if pixels > FEW else 1))

    def pixels(self, row: int) -> int:
        """Tell how many pixels an image has."""
        return int(self.sizes[row].prod())

    def hash(self, start: int, stop: int) -> str:
        """Hash the files of some rows."""
        return hash_images(self.digests[start:stop].tobytes(), "image files")

    def notes(self) -> tuple[str, ...]:
        """Tell of different sizes and colours, and of frames that are not looked at."""
        several = int(self.several.sum())
        verb = "holds" if several == 1 else "hold"
        frames = (
            f"{several:,} of {counted(len(self), 'image')} {verb} several frames or pages; the "
            "first is taken",
        )
        sizes = size_note(map(tuple, self.sizes.tolist()))
        modes = mode_note(MODES.get(mode, mode) for mode in self.modes.tolist())
        return (*sizes, *modes, *(frames if several else ()))

    def _decode(self, row: int) -> Image:
        path = self.paths[row]
        try:
            data = read_bytes(path)
            if hashlib.sha256(data).digest() != self.digests[row].tobytes():
                raise BadImageError("it holds other bytes")
            return decode_bytes(data).pixels
        except BadImageError as error:
            raise InputError(
                f"{path}: has changed since it was first read: {error}; run again when it stays "
                "as it is"
            ) from error


@dataclass(frozen=True, slots=True)
class Look:
    """What the first look at a file has found: the file's traits, or what is wrong with it."""

    digest: bytes = b""
    size: tuple[int, int] = (0, 0)
    mode: str = ""
    several: bool = False
    problem: str = ""


def look(path: str) -> Look:
    """Read and decode a file once, and keep no pixels."""
    try:
        data = read_bytes(path)
        decoded = decode_bytes(data)
    except BadImageError as error:
        return Look(problem=str(error))
    height, width = decoded.pixels.shape[:2]
    digest = hashlib.sha256(data).digest()
    return Look(digest, (height, width), decoded.mode, decoded.several)


def sound_files(paths: Sequence[str], looks: Sequence[Look]) -> ImageFiles:
    """Hold the files in which nothing was wrong."""
    sound = [(path, each) for path, each in zip(paths, looks, strict=True) if not each.problem]
    found = [each for _, each in sound]
    return ImageFiles(
        np.array([path for path, _ in sound], object),
        np.frombuffer(b"".join(each.digest for each in found), np.uint8).reshape(-1, 32),
        np.array([each.size for each in found], np.int64).reshape(-1, 2),
        np.array([each.mode for each in found], np.str_),
        np.array([each.several for each in found], np.bool_),
    )


def read_bytes(path: str) -> bytes:
    """Read a file that must be a plain one, and not too large.

    Raises
    ------
    BadImageError
        If it is not there, no file, too large, or cannot be read.
    """
    try:
        file = Path(path)
        if file.is_dir():
            raise BadImageError("is a folder")
        if kind := special_kind(path):
            raise BadImageError(f"is no plain file but {kind}")
        if (size := file.stat().st_size) > MAX_BYTES:
            raise BadImageError(f"has {size:,} bytes; at most {MAX_BYTES:,} are read")
        return file.read_bytes()
    except FileNotFoundError:
        link = os.path.islink(path)
        raise BadImageError("links to nothing" if link else "there is no such file") from None
    except OSError as error:
        raise BadImageError(f"cannot be read: {error.strerror or error}") from error


def in_threads(
    function: Callable[[Any], Any], values: Sequence[Any], threads: int = THREADS
) -> Iterator[Any]:
    """Apply a function in a few threads, with the results in order."""
    if threads == 1 or len(values) < 2:
        yield from map(function, values)
        return
    with ThreadPoolExecutor(threads) as pool:
        # A pool remembers all that it was asked at once, however many values there are.
        for start in range(0, len(values), ASKED):
            yield from pool.map(function, values[start : start + ASKED])


FIRST = 5
"""Bad files that a message names."""


@dataclass(frozen=True, eq=False)
class FoundImages:
    """Images as they will be held, and which of those given they are.

    Attributes
    ----------
    held
        The images.
    rows
        Which of those given they are, counted from 0.
    n_given
        How many were given.
    notes
        What was left out.
    """

    held: Held
    rows: NDArray[np.intp]
    n_given: int
    notes: tuple[str, ...] = ()

    @property
    def left_out(self) -> bool:
        """Whether some of those given are not held."""
        return len(self.rows) < self.n_given


def hold_images(
    images: Any, where: str, *, skip_bad: bool = False, progress: Progress | None = None
) -> FoundImages:
    """Hold images that a person gives as paths, as arrays or as Pillow images.

    Raises
    ------
    InputError
        If there are none, they are of different types, or one cannot be used.
    """
    if isinstance(images, str | os.PathLike):
        raise InputError(
            f"{where}: images must be a list of paths or an array, but this is one path, "
            f"{os.fspath(images)!r}; read a folder with calipers.read_samples"
        )
    if hasattr(images, "__array__") and not is_pillow(images):
        array = as_array(images, where)
        if array.dtype != object or array.ndim != 1:
            return _all_of(from_stack(array, where))
    given = list(images) if isinstance(images, Iterable) and not is_pillow(images) else None
    if given is None:
        raise InputError(
            f"{where}: images must be a list of paths, arrays or Pillow images, or an array of "
            f"shape (n, height, width, 3), but this is {describe(images)}"
        )
    if not given:
        raise InputError(f"{where}: holds no samples")
    if all(isinstance(each, str | os.PathLike) for each in given):
        return hold_files([os.fspath(each) for each in given], where, skip_bad, progress)
    return _all_of(from_arrays((_as_array(n, v, where) for n, v in enumerate(given, 1)), where))


def hold_files(
    paths: Sequence[str], where: str, skip_bad: bool, progress: Progress | None
) -> FoundImages:
    """Look at image files once and hold those that are sound.

    Raises
    ------
    InputError
        If one is not sound and `skip_bad` is False, or none is.
    """
    looks = _looks(paths, where, progress)
    bad = [(path, each.problem) for path, each in zip(paths, looks, strict=True) if each.problem]
    if bad and (not skip_bad or len(bad) == len(paths)):
        raise InputError(_bad_message(bad, len(paths), where))
    rows = np.flatnonzero([not each.problem for each in looks])
    notes = (_left_out(bad, len(paths)),) if bad else ()
    return FoundImages(sound_files(paths, looks), rows, len(paths), notes)


def is_pillow(value: object) -> bool:
    """Tell whether a value is a Pillow image, without importing Pillow for it."""
    return any(
        each.__module__ == "PIL.Image" and each.__name__ == "Image" for each in type(value).__mro__
    )


def _looks(paths: Sequence[str], where: str, progress: Progress | None) -> list[Look]:
    looks = []
    task = (progress or Silent()).task(f"Reading {where}", len(paths))
    with task as advance, warnings.catch_warnings():
        # What Pillow finds odd and reads all the same; what it cannot read is an error.
        warnings.simplefilter("ignore")
        for each in in_threads(look, paths):
            looks.append(each)
            advance(1)
    return looks


def _bad_message(bad: list[tuple[str, str]], total: int, where: str) -> str:
    if total == 1:
        return f"{bad[0][0]}: {bad[0][1]}"
    each = "\n".join(f"  {path}: {problem}" for path, problem in bad[:FIRST])
    more = f"\n  and {len(bad) - FIRST:,} more" if len(bad) > FIRST else ""
    if len(bad) == total:
        return f"{where}: none of {counted(total, 'image file')} can be read:\n{each}{more}"
    return (
        f"{where}: {len(bad):,} of {counted(total, 'image file')} cannot be read; to leave "
        f"{'it' if len(bad) == 1 else 'them'} out give --skip-bad (skip_bad=True in Python):\n"
        f"{each}{more}"
    )


def _left_out(bad: list[tuple[str, str]], total: int) -> str:
    path, problem = bad[0]
    verb = "was" if len(bad) == 1 else "were"
    return (
        f"{len(bad):,} of {counted(total, 'image file')} could not be read and {verb} left out "
        f"(the first: {path}: {problem})"
    )


def _as_array(number: int, value: Any, where: str) -> Any:
    if is_pillow(value):
        try:
            return image_pixels(value)
        except (BadImageError, OSError, ValueError) as error:
            raise InputError(f"{where}: image {number}: {error}") from error
    if hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
        return value
    raise InputError(
        f"{where}: image {number}: must be an array or a Pillow image, or all must be paths, but "
        f"it is {describe(value)}"
    )


def _all_of(held: ImageArrays) -> FoundImages:
    return FoundImages(held, np.arange(len(held)), len(held))
