"""Thumbnails: small image files for a page.

An image that fits is kept pixel by pixel (PNG): artefacts that a person sees in it are its own.
A larger one is made smaller and written as JPEG without subsampled colours.
"""

from __future__ import annotations

import io

from calipers.samples.images import Image

SIDE = 96
"""Pixels of the longer side of a thumbnail, at most."""
QUALITY = 85
STARTS = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
"""How files of the two formats begin."""
LARGEST = 50_000
"""Bytes of a thumbnail, at most: 96 × 96 × 3 of noise are fewer."""


def thumbnail(pixels: Image, side: int = SIDE) -> bytes:
    """Encode an image as a small file, keeping its proportions.

    Parameters
    ----------
    pixels
        uint8 of shape (height, width, 3).
    side
        Pixels of the longer side, at most.

    Returns
    -------
    bytes
        PNG with the same pixels where both sides are at most `side`, else JPEG.
    """
    from PIL import Image as Pillow

    image = Pillow.fromarray(pixels)
    written = io.BytesIO()
    if max(image.size) <= side:
        image.save(written, "PNG", optimize=True)
        return written.getvalue()
    scale = side / max(image.size)
    width, height = (max(1, round(scale * length)) for length in image.size)
    small = image.resize((width, height), Pillow.Resampling.LANCZOS, reducing_gap=3.0)
    small.save(written, "JPEG", quality=QUALITY, subsampling=0, optimize=True)
    return written.getvalue()


def media_type(data: bytes) -> str:
    """Return the format of a thumbnail by its first bytes.

    Raises
    ------
    ValueError
        If it is neither PNG nor JPEG, or too large for a thumbnail.
    """
    found = [name for name, start in STARTS.items() if data.startswith(start)]
    if not found or len(data) > LARGEST:
        raise ValueError(f"{len(data):,} bytes that begin {data[:4]!r} are not a thumbnail")
    return found[0]
