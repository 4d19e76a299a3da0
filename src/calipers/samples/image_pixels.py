"""Any image as red, green and blue, 8 bits each: one rule for grey, palettes, alpha and 16 bits.

Grey becomes three equal channels. What is transparent is laid on white. 16-bit grey is divided by
257 and rounded, so that black stays 0 and white becomes 255 (Pillow itself gives the upper 8 bits
of 16-bit colours). CMYK and other colour spaces are converted by Pillow, without colour profiles.
The orientation that a camera noted is applied. Of an animation the first frame is taken.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from calipers.samples.images import Image

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
