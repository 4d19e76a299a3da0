"""Image files: looked at once, and decoded again, some at a time, when their pixels are needed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.files import special_kind
from calipers.samples.hashing import hash_images
from calipers.samples.held import Kind
from calipers.samples.image_pixels import BadImageError, decode_bytes
from calipers.samples.images import Image, Images, mode_note, size_note
from calipers.samples.wording import counted

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
