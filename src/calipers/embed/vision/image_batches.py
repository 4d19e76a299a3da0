"""Forward passes over images: those of one shape together, as many as fit in memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.embed.states.halving import is_out_of_memory
from calipers.errors import InputError

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
        """Compute the vectors of all images, in their order, float32 of shape (n, d).

        Raises
        ------
        InputError
            If not even one image fits in memory.
        """
        vectors: NDArray[np.float32] | None = None
        for rows in _alike(images):
            while rows:
                part = rows[: self.size]
                found = _tried(forward, [images[row] for row in part])
                if found is None:
                    self._halve(images[part[0]], len(part))
                    continue
                if vectors is None:
                    vectors = np.empty((len(images), found.shape[1]), dtype=np.float32)
                vectors[part] = found
                rows = rows[len(part) :]
        return np.empty((0, 0), dtype=np.float32) if vectors is None else vectors

    def run_bounded(self, images: Iterable[NDArray[Any]], forward: Forward) -> NDArray[np.float32]:
        """Compute the same, holding no more than some of the images at a time.

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
                f"the embedder {self._name!r} has not enough memory for a single image of the "
                f"shape {shape}; choose a smaller model, or device 'cpu' if this was a graphics "
                "card"
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
    try:
        return forward(np.stack(images))
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        # Outside of this block the error, and with it all that was computed so far, is gone
        return None
