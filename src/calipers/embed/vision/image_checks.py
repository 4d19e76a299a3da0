"""What embedders of images take: uint8 arrays of shape (height, width, 3), gone through singly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError

Image = NDArray[np.uint8]


def checked_images(images: Iterable[Any]) -> Iterator[Image]:
    """Go through images, all of which must be colour images of at least one pixel.

    Each is passed on before the next one is taken, so that images decoded on the way
    (:class:`calipers.samples.images.Images`) are not held all at once.

    Raises
    ------
    InputError
        If one of them is something else, when its turn comes.
    """
    for row, image in enumerate(images, start=1):
        if not _is_image(image):
            raise InputError(
                f"image {row} must be an array of uint8 with the shape (height, width, 3); "
                f"found {_words(image)}"
            )
        yield image


def size_words(image: Image) -> str:
    """Say how large an image is, width before height as people do."""
    return f"{image.shape[1]} × {image.shape[0]}"


def _is_image(image: object) -> bool:
    if not isinstance(image, np.ndarray) or image.dtype != np.uint8 or image.ndim != 3:
        return False
    return image.shape[2] == 3 and image.size > 0


def _words(image: object) -> str:
    if isinstance(image, np.ndarray):
        return f"an array of {image.dtype} with the shape {image.shape}"
    return repr(image) if isinstance(image, str) else f"a {type(image).__name__}"
