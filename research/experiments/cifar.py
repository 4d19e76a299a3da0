"""CIFAR-10's photographs in the folder of data: 300 of each of ten classes, 32 × 32 pixels.

The folder is the one that CALIPERS_DATA names, by default ``../shared/data`` beside the checkout.
Of each class the first half may train generators; 120 others, which none of them has seen, are what
everything else is drawn from.
"""

from __future__ import annotations

import functools

import numpy as np
from PIL import Image

from ag_news import DATA
from calipers import embedders
from calipers.embedders import Cache
from calipers.errors import InputError
from calipers.samples import SampleSet

FOLDER = DATA / "cifar10"
CLASSES = (
    "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck",
)  # fmt: skip
"""As CIFAR-10 numbers them."""
EACH = 300
TRAINING, POOL = slice(0, 150), slice(180, 300)
"""Which pictures of each class: for generators to learn from; for everything else."""


@functools.cache
def _all() -> np.ndarray:
    if not (FOLDER / CLASSES[0]).is_dir():
        raise InputError(f"there is no {FOLDER}; set CALIPERS_DATA to the folder that has cifar10")
    return np.stack(
        [
            np.stack([np.asarray(Image.open(path)) for path in sorted(folder.glob("*.jpg"))[:EACH]])
            for folder in (FOLDER / name for name in CLASSES)
        ]
    )


def pictures(which: slice = slice(None)) -> tuple[np.ndarray, np.ndarray]:
    """Give the pictures of all classes, uint8 of shape (n, 32, 32, 3), and the class of each."""
    chosen = _all()[:, which]
    return chosen.reshape(-1, 32, 32, 3), np.repeat(np.arange(len(CLASSES)), chosen.shape[1])


@functools.cache
def features() -> np.ndarray:
    """Embed the pictures of :data:`POOL` by the default for images, shape (10, 120, 1280)."""
    rows, _ = pictures(POOL)
    found = embed(rows)
    return found.reshape(len(CLASSES), -1, found.shape[1])


def embed(rows: np.ndarray) -> np.ndarray:
    """Embed pictures by EfficientNet's view of meaning, each row scaled to length one.

    What was embedded before is read from the cache.
    """
    samples = SampleSet.from_images(rows, name="pictures")
    found = embedders.embed(samples, embedders.load_embedder("efficientnet"), cache=Cache())
    vectors = found.views["meaning"].astype(float)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
