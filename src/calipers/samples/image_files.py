"""Image files: checked once, and decoded a few at a time when their pixels are needed.

16-bit grey is divided by 257 and rounded, so that black stays 0 and white becomes 255 (Pillow
itself gives the upper 8 bits of 16-bit colours). CMYK and other colour spaces are converted by
Pillow, without colour profiles. The orientation that a camera noted is applied. Of an animation the
first frame is taken.

:func:`hold_images` takes what a person gives (paths, arrays or Pillow images) to images that a
sample set can hold.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.files import special_kind
from calipers.progress import Progress, Silent
from calipers.samples.images import (
    Image,
    ImageArrays,
    Images,
    as_rgb,
    from_arrays,
    from_stack,
    is_plain,
    mode_note,
    plain_note,
    size_note,
)
from calipers.samples.kinds import ROW_HASH, SampleData, SampleKind, as_array, hash_images
from calipers.samples.wording import counted, describe

MAX_BYTES = 2**30
"""Most bytes that an image file may have."""

MAX_PIXELS = 89_478_485
"""Most pixels that an image may have, as many as Pillow takes without a warning.

Larger ones are refused before they are decoded: few bytes of a file may be gigabytes of pixels.
"""

FORMATS = ("PNG", "JPEG", "MPO", "WEBP", "BMP", "GIF", "TIFF", "PPM")
"""Pillow's names of the formats that are tried, whatever the suffix says."""

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

_ORIENTATION = 274

_MOST = f"at most {MAX_PIXELS:,} are read"


THREADS = 4
ASKED = 1024
"""Files that threads are asked for at once."""

FEW = 2**18
"""Pixels that are decoded sooner than threads are started."""

FIRST = 5
"""Bad files that a message names."""


@dataclass(frozen=True, eq=False)
class Decoded:
    """The pixels of one image file, and notes on the file.

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
    """An unreadable image file; the text gives the reason, without the file's name."""


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


def image_pixels(image: Any) -> Image:
    """Convert the first frame of a Pillow image to upright RGB."""
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
    formats = [name for name in FORMATS if name in Pillow.OPEN]
    try:
        image = Pillow.open(io.BytesIO(data), formats=formats)
    except UnidentifiedImageError:
        raise BadImageError(_unknown(data)) from None
    except Pillow.DecompressionBombError as error:
        raise BadImageError(f"has {_pixels_told(error)} pixels; {_MOST}") from None
    with image:
        if image.width * image.height > MAX_PIXELS:
            raise BadImageError(f"has {image.width:,} × {image.height:,} pixels; {_MOST}")
        if image.format == "PNG":
            # Loading passes over checksums, and takes what a broken stream gives.
            with Pillow.open(io.BytesIO(data), formats=formats) as checked:
                checked.verify()
        mode = image.mode
        return Decoded(image_pixels(image), mode, _has_several(image))


def _pixels_told(error: Exception) -> str:
    """How many pixels Pillow says that an image has, of which it gives no more."""
    told = re.search(r"\((\d+) pixels\)", str(error))
    return "far too many" if told is None else f"{int(told[1]):,}"


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
        return "is not an image but a text that begins like SVG or HTML"
    if start.startswith(b"version https://git-lfs"):
        return "is not an image but a Git LFS pointer; fetch the file with: git lfs pull"
    return f"is not an image of a known format ({', '.join(FORMATS[:2] + FORMATS[3:])})"


@dataclass(frozen=True, eq=False)
class ImageFiles:
    """Image files in a fixed order, each checked when it was first read.

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
    plain
        Which are of one colour throughout, bool of shape (n,).
    """

    paths: NDArray[np.object_]
    digests: NDArray[np.uint8]
    sizes: NDArray[np.int64]
    modes: NDArray[np.str_]
    several: NDArray[np.bool_]
    plain: NDArray[np.bool_]
    kind: ClassVar[SampleKind] = "images"
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
            self.plain[rows],
        )

    def items(self, start: int, stop: int) -> Images:
        """Return the images of some rows, decoded on access."""
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
        """Return the number of pixels of an image."""
        return int(self.sizes[row].prod())

    def hash(self, start: int, stop: int) -> str:
        """Hash the files of some rows."""
        return hash_images(self.digests[start:stop].tobytes(), "image files")

    def row_hashes(self) -> NDArray[np.bytes_]:
        """Return the first bytes of the SHA-256 of each file."""
        return np.frombuffer(self.digests[:, :16].tobytes(), ROW_HASH)

    def notes(self) -> tuple[str, ...]:
        """Report sizes, colours, ignored frames, and images of one colour."""
        several = int(self.several.sum())
        verb = "holds" if several == 1 else "hold"
        frames = (
            f"{several:,} of {counted(len(self), 'image')} {verb} several frames or pages; the "
            "first is taken",
        )
        sizes = size_note(map(tuple, self.sizes.tolist()))
        modes = mode_note(MODES.get(mode, mode) for mode in self.modes.tolist())
        plain = plain_note(int(self.plain.sum()), len(self))
        return (*sizes, *modes, *(frames if several else ()), *plain)

    def _decode(self, row: int) -> Image:
        path = self.paths[row]
        try:
            data = read_bytes(path)
            if hashlib.sha256(data).digest() != self.digests[row].tobytes():
                raise BadImageError("its content differs")
            return decode_bytes(data).pixels
        except BadImageError as error:
            raise InputError(
                f"{path}: has changed since it was first read: {error}; run again when the "
                "file no longer changes"
            ) from error


@dataclass(frozen=True, slots=True)
class FirstLook:
    """The result of the first check of a file: its properties, or the error."""

    digest: bytes = b""
    size: tuple[int, int] = (0, 0)
    mode: str = ""
    several: bool = False
    plain: bool = False
    problem: str = ""


def look(path: str) -> FirstLook:
    """Read and decode a file once, without keeping pixels."""
    try:
        data = read_bytes(path)
        decoded = decode_bytes(data)
    except BadImageError as error:
        return FirstLook(problem=str(error))
    height, width = decoded.pixels.shape[:2]
    digest = hashlib.sha256(data).digest()
    plain = is_plain(decoded.pixels)
    return FirstLook(digest, (height, width), decoded.mode, decoded.several, plain)


def sound_files(paths: Sequence[str], looks: Sequence[FirstLook]) -> ImageFiles:
    """Keep the files without errors."""
    sound = [(path, file) for path, file in zip(paths, looks, strict=True) if not file.problem]
    files = [file for _, file in sound]
    return ImageFiles(
        np.array([path for path, _ in sound], object),
        np.frombuffer(b"".join(file.digest for file in files), np.uint8).reshape(-1, 32),
        np.array([file.size for file in files], np.int64).reshape(-1, 2),
        np.array([file.mode for file in files], np.str_),
        np.array([file.several for file in files], np.bool_),
        np.array([file.plain for file in files], np.bool_),
    )


def read_bytes(path: str) -> bytes:
    """Read a file that must be a regular one and not too large.

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
            raise BadImageError(f"is not a regular file but {kind}")
        if (size := file.stat().st_size) > MAX_BYTES:
            raise BadImageError(f"has {size:,} bytes; at most {MAX_BYTES:,} are read")
        return file.read_bytes()
    except FileNotFoundError:
        link = os.path.islink(path)
        raise BadImageError(
            "is a link to a file that does not exist" if link else "there is no such file"
        ) from None
    except OSError as error:
        raise BadImageError(f"cannot be read: {error.strerror or error}") from error


def in_threads(
    function: Callable[[Any], Any], values: Sequence[Any], threads: int = THREADS
) -> Iterator[Any]:
    """Apply a function in a few threads, returning results in order."""
    if threads == 1 or len(values) < 2:
        yield from map(function, values)
        return
    with ThreadPoolExecutor(threads) as pool:
        # A pool remembers all that it was asked at once, however many values there are.
        for start in range(0, len(values), ASKED):
            yield from pool.map(function, values[start : start + ASKED])


@dataclass(frozen=True, eq=False)
class FoundImages:
    """The images that a set keeps, and their positions among those given.

    Attributes
    ----------
    data
        The images.
    rows
        Which of those given they are, counted from 0.
    n_given
        How many were given.
    notes
        What was left out.
    """

    data: SampleData
    rows: NDArray[np.intp]
    n_given: int
    notes: tuple[str, ...] = ()

    @property
    def left_out(self) -> bool:
        """Whether some of the given images were left out."""
        return len(self.rows) < self.n_given


def hold_images(
    images: Any, where: str, *, skip_bad: bool = False, progress: Progress | None = None
) -> FoundImages:
    """Make images from paths, arrays or Pillow images.

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
    if all(isinstance(image, str | os.PathLike) for image in given):
        return hold_files([os.fspath(image) for image in given], where, skip_bad, progress)
    return _all_of(from_arrays((_as_array(n, v, where) for n, v in enumerate(given, 1)), where))


def hold_files(
    paths: Sequence[str], where: str, skip_bad: bool, progress: Progress | None
) -> FoundImages:
    """Check image files once, and keep the valid ones.

    Raises
    ------
    InputError
        If one is not sound and `skip_bad` is False, or none is.
    """
    looks = _looks(paths, where, progress)
    bad = [(path, file.problem) for path, file in zip(paths, looks, strict=True) if file.problem]
    if bad and (not skip_bad or len(bad) == len(paths)):
        raise InputError(_bad_message(bad, len(paths), where))
    rows = np.flatnonzero([not file.problem for file in looks])
    notes = (_left_out(bad, len(paths)),) if bad else ()
    return FoundImages(sound_files(paths, looks), rows, len(paths), notes)


def is_pillow(value: object) -> bool:
    """Tell whether a value is a Pillow image, without importing Pillow."""
    return any(
        base.__module__ == "PIL.Image" and base.__name__ == "Image" for base in type(value).__mro__
    )


def _looks(paths: Sequence[str], where: str, progress: Progress | None) -> list[FirstLook]:
    looks = []
    task = (progress or Silent()).task(f"Reading {where}", len(paths))
    with task as advance, warnings.catch_warnings():
        # What Pillow finds odd and reads all the same; what it cannot read is an error.
        warnings.simplefilter("ignore")
        for file in in_threads(look, paths):
            looks.append(file)
            advance(1)
    return looks


def _bad_message(bad: list[tuple[str, str]], total: int, where: str) -> str:
    if total == 1:
        return f"{bad[0][0]}: {bad[0][1]}"
    listed = "\n".join(f"  {path}: {problem}" for path, problem in bad[:FIRST])
    more = f"\n  and {len(bad) - FIRST:,} more" if len(bad) > FIRST else ""
    if len(bad) == total:
        return f"{where}: none of {counted(total, 'image file')} can be read:\n{listed}{more}"
    return (
        f"{where}: {len(bad):,} of {counted(total, 'image file')} cannot be read; to leave "
        f"{'it' if len(bad) == 1 else 'them'} out, use `skip_bad=True`:\n"
        f"{listed}{more}"
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


def _all_of(images: ImageArrays) -> FoundImages:
    return FoundImages(images, np.arange(len(images)), len(images))
