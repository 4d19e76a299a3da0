"""Raw pixels as vectors: the brightness of every pixel, row by row, in three colours.

Nothing is learned, so nothing is known of what an image shows: an object that moves by a few
pixels is as far as another object. It serves small, centred images, such as handwritten digits,
and as a check of what a learned embedder adds. Grey images take three equal channels like all
others, so that any two sets of one size fit together; all distances then grow by √3.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from calipers.embedders.embedder import Embedder, EncodedBatch
from calipers.embedders.options import EmbedderOptions
from calipers.embedders.vision.images import checked_images, size_words
from calipers.errors import InputError
from calipers.memory import free_memory
from calipers.samples.images import Image

if TYPE_CHECKING:
    from calipers.samples import SampleSet

TAKES = frozenset({"size"})
COPIES = 4
"""How many times the reference's vectors a comparison holds: two sets, and each of them scaled."""


def load(name: str, options: EmbedderOptions) -> Pixels:
    """Make the embedder of raw pixels."""
    return Pixels(size=options.size)


class Pixels(Embedder):
    """The pixels of images as numbers from 0 to 1.

    Parameters
    ----------
    size
        Side of the square that every image is brought to, with Pillow's bilinear filter, which
        averages where it makes smaller; proportions are not kept. None takes images as they are,
        which must then all have one size.
    """

    name = "pixels"
    views = ("pixels",)
    reads = frozenset({"images"})
    kept = False
    needs_fitting = True

    def __init__(self, *, size: int | None = None, _like: Image | None = None) -> None:
        self._size, self._like = size, _like
        side = "as_given" if size is None else str(size)
        self.signature = {"embedder": self.name, "size": side}
        self.view_signature = {"pixels": "rgb_0_1"}
        self.identity = f"embedder:pixels|size:{side}|pillow:{version('pillow')}"

    def fitted(self, samples: SampleSet) -> Pixels:
        """Fix the image size to that of the reference's first image.

        Raises
        ------
        InputError
            If so many numbers of images as they are would not fit in memory.
        """
        if self._size is not None:
            return self
        first = next(checked_images([samples[0]]))
        needed, free = COPIES * len(samples) * first.size * 4, free_memory()
        if free is not None and needed > free:
            raise InputError(
                f"{samples.name}: {len(samples):,} images of {size_words(first)} pixels, each "
                f"pixel by pixel, need about {needed / 1e9:,.1f} GB for a comparison, but "
                f"{free / 1e9:,.1f} GB are free: bring them to a smaller square with the option "
                "size, as in 'pixels:size=64', or choose a vision model"
            )
        return Pixels(_like=first)

    def encode(self, samples: Sequence[Any]) -> EncodedBatch:
        """Flatten the pixels of images.

        Returns
        -------
        EncodedBatch
            ``pixels``, float32 of shape (n, height × width × 3), each from 0 to 1.

        Raises
        ------
        InputError
            If the images differ in size and no `size` is given, or are no images.
        """
        vectors, like = np.empty((0, 0), dtype=np.float32), self._like
        for row, image in enumerate(checked_images(samples)):
            like = image if like is None else like
            scaled = self._scaled(image, like)
            if not row:
                vectors = np.empty((len(samples), scaled.size), dtype=np.float32)
            vectors[row] = scaled.reshape(-1)
        return EncodedBatch({"pixels": vectors}, np.zeros(len(samples), dtype=np.bool_))

    def _scaled(self, image: Image, like: Image) -> NDArray[np.float32]:
        if self._size is None and image.shape != like.shape:
            raise InputError(
                "the embedder 'pixels' needs images of one size; the first image is "
                f"{size_words(like)} and another is {size_words(image)}: bring all to one size "
                "with the option size, as in 'pixels:size=32'"
            )
        if self._size is not None and image.shape[:2] != (self._size, self._size):
            from PIL import Image as Pillow

            side = (self._size, self._size)
            image = np.asarray(Pillow.fromarray(image).resize(side, Pillow.Resampling.BILINEAR))
        return image.astype(np.float32) / np.float32(255)
