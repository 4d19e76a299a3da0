"""Images through any vision model of transformers, from a folder: DINOv2, ViT, CLIP, ResNet, …

Vectors equal what plain transformers code gives for one image at a time, up to rounding, with the
preparation that comes with the model. What they show is what the model learned to tell apart:
models trained on ImageNet or by DINO see objects and textures, and hardly brightness, small noise
or what the processor crops away at the rim; all see an image at a few hundred pixels a side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import PIL
import torch
import transformers
from numpy.typing import NDArray

from calipers.embed.device import choose_device, choose_dtype
from calipers.embed.models.model_folder import FoundModel
from calipers.embed.options import Options
from calipers.embed.protocol import EncodedBatch
from calipers.embed.vision.image_batches import ImageBatches
from calipers.embed.vision.pooling import choose_pooling
from calipers.embed.vision.processor import ImageProcessor, Pixels
from calipers.embed.vision.tower import VisionTower
from calipers.errors import InputError

TAKES = frozenset({"pooling", "layer", "revision", "offline", "trust_remote_code", "allow_pickle"})
ON_CPU, ELSEWHERE = 16, 64
"""Images in one forward pass."""


class VisionEmbedder:
    """A vision model that gives one vector for each image.

    Parameters
    ----------
    model
        Its files.
    options
        ``pooling`` (``"cls"``, ``"mean"`` over patches, ``"max"``; by default the class token, or
        the model's own pooling where it has none), ``layer`` (or stage), device, dtype and batch
        size, and whether pickled weights or code of the folder may be used.

    Raises
    ------
    InputError
        If the folder does not say how images are prepared, the model cannot be loaded or run on
        images, or an option has no meaning for it.
    MissingExtraError
        If transformers is not installed.
    """

    views = ("image",)
    reads = frozenset({"images"})
    at_once = 64

    def __init__(self, model: FoundModel, options: Options) -> None:
        options.check_taken(model.name, TAKES)
        self.name = model.name
        device = choose_device(options.device, torch)
        dtype = choose_dtype(options.dtype, device, torch)
        trust = options.trust_remote_code
        self._processor = ImageProcessor(model.folder, trust_remote_code=trust)
        self._tower = VisionTower(model, options, device=device)
        size = options.batch_size or (ON_CPU if device == "cpu" else ELSEWHERE)
        self._batches = ImageBatches(size=size, name=model.name)
        self._settle(model, options, getattr(torch, dtype))
        self.signature = {
            "embedder": model.name,
            "revision": model.revision,
            "dtype": dtype,
            "device": device.partition(":")[0],
        }
        self.view_signature = {"image": self._pooling.words}
        self.identity = self._identity()

    def prepare(self, samples: Sequence[Any]) -> list[Pixels]:
        """Resize, crop and normalise images as the model wants them.

        Raises
        ------
        InputError
            If an item is no image, or cannot be prepared.
        """
        return self._processor(samples)

    def encode(self, prepared: Sequence[Pixels]) -> EncodedBatch:
        """Turn prepared images into vectors."""
        vectors = self._batches.run(prepared, self._forward)
        return EncodedBatch({"image": vectors}, np.zeros(len(prepared), dtype=np.bool_))

    def embed(self, samples: Sequence[Any]) -> EncodedBatch:
        """Embed images.

        Parameters
        ----------
        samples
            uint8 arrays of shape (height, width, 3), of any sizes.

        Returns
        -------
        EncodedBatch
            ``image``, float32 of shape (n, d).

        Raises
        ------
        InputError
            If an item is no image, or cannot be prepared.
        """
        return self.encode(self.prepare(samples))

    def _settle(self, model: FoundModel, options: Options, dtype: torch.dtype) -> None:
        """Find out on a first image what the model gives, and what is needed of it."""
        grey = np.full((64, 64, 3), 127, dtype=np.uint8)
        pixels = torch.from_numpy(self._processor([grey])[0][None])
        output = self._tower.try_on(pixels)
        self._pooling = choose_pooling(self._tower, output, options, model.name)
        if self._pooling.layer is not None:
            self._tower.cut(self._pooling.layer, self._pooling.layers, pixels)
        own = self._pooling.how == "own"
        missing = [name for name in self._tower.missing if own or "pooler" not in name]
        if missing:
            raise InputError(
                f"{model.folder}: the weights lack {len(missing)} tensors, such as {missing[0]}"
            )
        self._tower.quicken(dtype, pixels)

    def _forward(self, pixels: NDArray[np.float32]) -> NDArray[np.float32]:
        output = self._tower(torch.from_numpy(pixels), hidden=self._pooling.layer is not None)
        vectors: NDArray[np.float32] = self._pooling(output).cpu().numpy()
        return vectors

    def _identity(self) -> str:
        pins = {
            **self.signature,
            "pooling": self._pooling.words,
            "how": self._pooling.how,
            "preparation": self._processor.file_hash,
            "transformers": transformers.__version__,
            "torch": torch.__version__,
            "pillow": PIL.__version__,
        }
        return "|".join(f"{key}:{value}" for key, value in pins.items())
