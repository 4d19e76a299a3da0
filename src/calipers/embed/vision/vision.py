"""Images through any vision model of transformers, from a folder: DINOv2, ViT, CLIP, ResNet, …

Vectors equal what plain transformers code gives for one image at a time, up to rounding, with the
preparation that comes with the model. What they show is what the model learned to tell apart:
models trained on ImageNet or by DINO see objects and textures, and hardly brightness, small noise
or what the processor crops away at the rim; all see an image at a few hundred pixels a side.

A transformer's states are tokens, (n, T, d), the class token and registers before those of the
patches; a convolutional network's are maps, (n, d, height, width). Behind the last layer stands
what the model has for a whole image: its class token behind the closing norm, else its own pooler
(Swin, SigLIP, ConvNeXt, ResNet), else the mean. Of a lower layer, the states are taken raw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import PIL
import torch
import transformers
from numpy.typing import NDArray
from torch import Tensor

from calipers.embed.embedder import Embedder, EncodedBatch
from calipers.embed.models.model_folder import FoundModel
from calipers.embed.options import Options, choose_device, choose_dtype
from calipers.embed.vision.images import ImageBatches, ImageProcessor, Pixels
from calipers.embed.vision.tower import VisionTower
from calipers.errors import InputError

How = Literal["cls", "normed_cls", "own", "mean", "max"]


@dataclass(frozen=True)
class Pooling:
    """Which states of the model become the vector, and how.

    Attributes
    ----------
    how
        ``"cls"``; ``"normed_cls"``, where the model norms nothing but the class token (CLIP);
        ``"own"``, what the model itself gives for an image; ``"mean"``; ``"max"``.
    layer
        Whose states; None for what the model gives at its end.
    layers
        How many layers the model has; 0 if it does not tell.
    first
        Tokens before those of the patches.
    """

    how: How
    layer: int | None
    layers: int
    first: int

    @property
    def words(self) -> str:
        """Name it for the signature, such as ``cls_layer12``."""
        kind = {"normed_cls": "cls", "own": "own_pool"}.get(self.how)
        kind = kind or (self.how if self.how == "cls" else f"{self.how}_patches")
        layer = self.layer or self.layers
        return f"{kind}_layer{layer}" if layer else f"{kind}_last"

    def __call__(self, output: Any) -> Tensor:
        """Give a vector for each image, float32 of shape (n, d)."""
        if self.how in ("own", "normed_cls"):
            return output.pooler_output.flatten(1).float()
        states = output[0] if self.layer is None else output.hidden_states[self.layer]
        if self.how == "cls":
            return states[:, 0].float()
        places = _places(states, self.first).float()  # (n, places, d)
        return places.mean(dim=1) if self.how == "mean" else places.amax(dim=1)


def choose_pooling(tower: VisionTower, output: Any, options: Options, name: str) -> Pooling:
    """Settle on layer and pooling, from what was asked and what the model has.

    Parameters
    ----------
    tower, output
        The model, and what it gave for some image with the states of all layers.
    options
        ``pooling`` and ``layer`` are read.
    name
        What to call the model in messages.

    Raises
    ------
    InputError
        If the model has no such layer or no class token there.
    """
    hidden = getattr(output, "hidden_states", None) or ()
    layers = max(len(hidden) - 1, 0)
    layer = _layer(options.layer, layers, name)
    states = output[0] if layer is None else hidden[layer]
    there = tower.has_class and states.dim() == 3 and states.shape[1] == output[0].shape[1]
    how = _how(options.pooling, tower, output, layer, there, name)
    return Pooling(how, layer, layers, tower.first if there else 0)


def _layer(asked: int | None, layers: int, name: str) -> int | None:
    if asked is not None and asked > layers:
        has = f"has {layers} layers" if layers else "does not tell the states of its layers"
        raise InputError(f"layer: the model {name!r} {has}; found {asked}")
    return None if asked == layers else asked


def _how(
    asked: str | None, tower: VisionTower, output: Any, layer: int | None, there: bool, name: str
) -> How:
    if asked == "last":
        raise InputError(
            f"pooling of the vision model {name!r} must be 'cls', 'mean' or 'max': the patches of "
            "an image have no last one; found 'last'"
        )
    if asked == "cls" and not there:
        raise InputError(
            f"pooling: the model {name!r} has no class token there, so 'cls' is not possible; "
            "use 'mean' or 'max', or leave it out"
        )
    if asked in ("mean", "max"):
        return "mean" if asked == "mean" else "max"
    if there:
        return "normed_cls" if layer is None and _norms_class_alone(tower, output) else "cls"
    pools = layer is None and getattr(output, "pooler_output", None) is not None
    return "own" if pools else "mean"


def _norms_class_alone(tower: VisionTower, output: Any) -> bool:
    if not tower.norms_class or getattr(output, "pooler_output", None) is None:
        return False
    hidden: Sequence[Tensor] = getattr(output, "hidden_states", None) or ()
    return len(hidden) > 0 and bool((hidden[-1] == output[0]).all())


def _places(states: Tensor, first: int) -> Tensor:
    if states.dim() == 4:
        return states.flatten(2).transpose(1, 2)
    return states[:, first:]


TAKES = frozenset({"pooling", "layer", "revision", "offline", "trust_remote_code", "allow_pickle"})
ON_CPU, ELSEWHERE = 16, 64
"""Images in one forward pass."""


class VisionEmbedder(Embedder):
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

        Parameters
        ----------
        samples
            uint8 arrays of shape (height, width, 3), of any sizes.

        Raises
        ------
        InputError
            If an item is no image, or cannot be prepared.
        """
        return self._processor(samples)

    def encode(self, prepared: Sequence[Pixels]) -> EncodedBatch:
        """Turn prepared images into vectors: ``image``, float32 of shape (n, d)."""
        vectors = self._batches.run(prepared, self._forward)
        return EncodedBatch({"image": vectors}, np.zeros(len(prepared), dtype=np.bool_))

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
