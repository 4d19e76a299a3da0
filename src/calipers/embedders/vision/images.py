"""Images for models: checked, preprocessed as the model needs, and divided into batches.

What embedders of images take are uint8 arrays of shape (height, width, 3). The image processor of
transformers that comes with a model resizes, crops, scales and normalises them, always the one that
works with Pillow, so that vectors do not depend on whether torchvision is installed. Images pass it
one by one: some processors pad the images of a batch to the largest. Forward passes take those of
one shape together, as many as fit in memory.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.embedders.models.model_files import read_json
from calipers.embedders.states.batches import fits
from calipers.embedders.states.loading import quiet, recent, unreadable
from calipers.errors import InputError, require
from calipers.samples.images import Image


def checked_images(images: Iterable[Any]) -> Iterator[Image]:
    """Iterate over images, checking that each is a colour image of at least one pixel.

    Each is passed on before the next one is taken, so that images decoded on the way
    (:class:`calipers.samples.images.Images`) are not held all at once.

    Raises
    ------
    InputError
        If one of them is something else, when its turn comes.
    """
    for row, image in enumerate(images, start=1):
        array = isinstance(image, np.ndarray)
        if array and image.dtype == np.uint8 and image.shape[2:] == (3,) and image.size:
            yield image
            continue
        given = f"a {type(image).__name__}" if not isinstance(image, str) else repr(image)
        if array:
            given = f"an array of {image.dtype} with the shape {image.shape}"
        raise InputError(
            f"image {row} must be an array of uint8 with the shape (height, width, 3); "
            f"found {given}"
        )


def size_words(image: Image) -> str:
    """Write the size of an image, width before height."""
    return f"{image.shape[1]} × {image.shape[0]}"


Pixels = NDArray[np.float32]

OWN_FILE, SHARED_FILE = "preprocessor_config.json", "processor_config.json"


class ImageProcessor:
    """A model's own preprocessing of images.

    Parameters
    ----------
    folder
        The model's files.
    trust_remote_code
        Whether code of the folder may be run.

    Raises
    ------
    InputError
        If the folder does not say how images are prepared, or transformers cannot read it.
    MissingExtraError
        If transformers is not installed.
    """

    def __init__(self, folder: Path, *, trust_remote_code: bool = False) -> None:
        self._folder, self.file_hash = folder, _file_hash(folder)
        self._process = _load(folder, trust_remote_code)

    def __call__(self, images: Iterable[Any]) -> list[Pixels]:
        """Prepare images; each becomes an array of float32, most often (channels, side, side).

        Raises
        ------
        InputError
            If one of them is not a uint8 array of shape (height, width, 3), or cannot be prepared.
        """
        return [self._one(image) for image in checked_images(images)]

    def _one(self, image: Image) -> Pixels:
        try:
            # A picture three pixels high could be taken for three channels
            prepared = self._process(image, return_tensors="np", input_data_format="channels_last")
        except (ValueError, ZeroDivisionError, OverflowError, TypeError) as error:
            raise InputError(
                f"{self._folder}: an image of {size_words(image)} pixels cannot be prepared as "
                f"this model wants it: {error}"
            ) from error
        return np.asarray(prepared["pixel_values"][0], dtype=np.float32)


def _file_hash(folder: Path) -> str:
    """Hash what the folder says about the preparation, whatever its layout."""
    for name in (SHARED_FILE, OWN_FILE):
        path = folder / name
        if not path.is_file():
            continue
        settings = read_json(path)
        if name == OWN_FILE or "image_processor" in settings:
            return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()
    raise InputError(
        f"{folder}: the folder of a vision model must say how images are prepared; found no "
        f"{OWN_FILE}"
    )


def _load(folder: Path, trust_remote_code: bool) -> Any:
    transformers = require("transformers", extra="models", purpose=f"the model {str(folder)!r}")
    # Before version 5 the one that works with Pillow was called slow
    kind: dict[str, Any] = {"backend": "pil"} if recent(transformers, 5) else {"use_fast": False}
    with quiet(transformers):
        try:
            return transformers.AutoImageProcessor.from_pretrained(
                str(folder), local_files_only=True, trust_remote_code=trust_remote_code, **kind
            )
        except Exception as error:  # transformers raises whatever a broken file leads to
            raise unreadable(folder, "image processor", error) from error


HELD = 2**26
"""Most bytes of images that are gathered before they are run; one image may be larger."""

Forward = Callable[[NDArray[Any]], NDArray[np.float32]]
"""Turns images of one shape, stacked, into a vector for each."""


class ImageBatches:
    """Divides images into batches, and learns how many fit in memory.

    Parameters
    ----------
    size
        Most images in a batch to begin with.
    name
        What to call the embedder in errors.
    """

    def __init__(self, *, size: int, name: str) -> None:
        self.size, self._name = size, name

    def run(self, images: Sequence[NDArray[Any]], forward: Forward) -> NDArray[np.float32]:
        """Compute the vectors of all images in order, float32 of shape (n, d).

        Raises
        ------
        InputError
            If not even one image fits in memory.
        """
        vectors: NDArray[np.float32] | None = None
        for rows in _alike(images):
            while rows:
                some = rows[: self.size]
                batch = _tried(forward, [images[row] for row in some])
                if batch is None:
                    self._halve(images[some[0]], len(some))
                    continue
                if vectors is None:
                    vectors = np.empty((len(images), batch.shape[1]), dtype=np.float32)
                vectors[some] = batch
                rows = rows[len(some) :]
        return np.empty((0, 0), dtype=np.float32) if vectors is None else vectors

    def run_bounded(self, images: Iterable[NDArray[Any]], forward: Forward) -> NDArray[np.float32]:
        """Compute the same vectors, holding only some of the images in memory at a time.

        Raises
        ------
        InputError
            If not even one image fits in memory.
        """
        # A comprehension would hold the last images while the next ones are gathered
        parts = list(map(partial(self.run, forward=forward), _gathered(images)))
        return np.concatenate(parts) if parts else np.empty((0, 0), dtype=np.float32)

    def _halve(self, image: NDArray[Any], tried: int) -> None:
        if tried == 1:
            shape = " × ".join(map(str, image.shape))
            raise InputError(
                f"the embedder {self._name!r} does not have enough memory for a single image of "
                f"the shape {shape}; choose a smaller model, or device 'cpu' if this was a "
                "graphics card"
            )
        self.size = tried // 2


def _gathered(images: Iterable[NDArray[Any]]) -> Iterator[list[NDArray[Any]]]:
    """Gather images up to `HELD` bytes; nothing of those before is kept meanwhile."""
    some: list[NDArray[Any]] = []
    size = 0
    for image in images:
        if some and size + image.nbytes > HELD:
            yield some
            some, size = [], 0
        some.append(image)
        size += image.nbytes
    if some:
        yield some


def _alike(images: Sequence[NDArray[Any]]) -> list[list[int]]:
    rows: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for row, image in enumerate(images):
        rows[image.shape].append(row)
    return list(rows.values())


def _tried(forward: Forward, images: list[NDArray[Any]]) -> NDArray[np.float32] | None:
    vectors: list[NDArray[np.float32]] = []
    return vectors[0] if fits(lambda: vectors.append(forward(np.stack(images)))) else None
