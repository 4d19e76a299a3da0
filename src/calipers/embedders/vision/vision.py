"""Embedder of any vision model of transformers, from a folder: DINOv2, ViT, CLIP, ResNet, …

Vectors equal what plain transformers code gives for one image at a time, up to rounding, with the
preparation that comes with the model. What they show is what the model learned to tell apart:
models trained on ImageNet or by DINO see objects and textures, and hardly brightness, small noise
or what the processor crops away at the rim; all see an image at a few hundred pixels a side.

A transformer's states are tokens, (n, T, d), the class token and registers before those of the
patches; a convolutional network's are maps, (n, d, height, width). Behind the last layer stands
what the model has for a whole image: its class token behind the closing norm, else its own pooler
(Swin, SigLIP, ConvNeXt, ResNet), else the mean. Of a lower layer, the states are taken raw, and
those behind it are not computed if the model can be cut there. Of a model of images and texts, such
as CLIP, the vision tower is taken, and of the usual ones nothing else is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import PIL
import torch
import transformers
from numpy.typing import NDArray
from torch import Tensor

from calipers.embedders.embedder import Embedder, EncodedBatch, identity_line, model_signature
from calipers.embedders.models.find import FoundModel
from calipers.embedders.options import EmbedderOptions, choose_device, choose_dtype
from calipers.embedders.states.dense import quicken
from calipers.embedders.states.loading import check_complete, quiet, unreadable
from calipers.embedders.states.pretrained import layer_stack
from calipers.embedders.vision.images import ImageBatches, ImageProcessor, Pixels
from calipers.errors import InputError

_CLASS = frozenset({"cls_token", "class_embedding"})
_FIRST = _CLASS | {"register_tokens", "distillation_token"}
_ALONE = {
    "clip": "CLIPVisionModel",
    "chinese_clip": "ChineseCLIPVisionModel",
    "siglip": "SiglipVisionModel",
}
"""Type of a model of images and texts to the class that loads its vision tower alone."""


class VisionTower:
    """A vision model in memory.

    Parameters
    ----------
    model
        Its files.
    options
        Whether pickled weights and code of the folder may be used.
    device
        Where to compute, at first in float32.

    Attributes
    ----------
    has_class
        Whether its tokens begin with one that stands for the whole image.
    first
        How many tokens stand before those of the patches: class, distillation, registers.
    missing
        Weights that the folder lacks.
    """

    def __init__(self, model: FoundModel, options: EmbedderOptions, *, device: str) -> None:
        with quiet(transformers):
            try:
                whole, loading = _class(model, transformers).from_pretrained(
                    str(model.folder),
                    local_files_only=True,
                    use_safetensors=None if options.allow_pickle else True,
                    trust_remote_code=options.trust_remote_code,
                    output_loading_info=True,
                )
            except Exception as error:  # transformers raises whatever a broken file leads to
                raise unreadable(model.folder, "model", error) from error
        self.missing = [name for name in loading["missing_keys"] if "mask_token" not in name]
        self._tower = getattr(whole, "vision_model", whole).eval().float().to(device)
        self._device, self._dtype, self._folder = device, torch.float32, model.folder
        names = {name.rpartition(".")[2]: part for name, part in self._tower.named_parameters()}
        self.has_class = not _CLASS.isdisjoint(names)
        self.first = sum(
            1 if part.dim() == 1 else part.shape[-2]
            for name, part in names.items()
            if name in _FIRST
        )
        self.norms_class = any(
            name.endswith("post_layernorm") for name, _ in self._tower.named_modules()
        )
        self._more = _without_mask(self._tower)

    def __call__(self, pixels: Tensor, *, hidden: bool = False) -> Any:
        """Run the model on prepared images of one shape; `hidden` keeps the states of all layers.

        Raises
        ------
        InputError
            If the model does not take such images.
        """
        pixels = pixels.to(device=self._device, dtype=self._dtype)
        with torch.inference_mode():
            return self._tower(
                pixel_values=pixels, output_hidden_states=hidden, **self._more(len(pixels))
            )

    def try_on(self, pixels: Tensor) -> Any:
        """Run the model on a first image, and raise an error if it takes no such images."""
        try:
            return self(pixels, hidden=True)
        except TypeError as error:
            raise InputError(
                f"{self._folder}: the model cannot be run on the pixels of an image alone: {error}"
            ) from error
        except (ValueError, RuntimeError) as error:
            shape = " × ".join(map(str, pixels.shape[1:]))
            raise InputError(
                f"{self._folder}: the model cannot be run on an image as its own processor "
                f"prepares it, {shape}: {error}"
            ) from error

    def cut(self, layer: int, layers: int, pixels: Tensor) -> None:
        """Drop the layers after one of them, if the states up to it stay the same."""
        stack = layer_stack(self._tower, layers)
        if stack is None:
            return
        before, behind = self(pixels, hidden=True).hidden_states[layer], list(stack[layer:])
        del stack[layer:]
        try:
            after = self(pixels, hidden=True).hidden_states[layer]
            same = before.shape == after.shape and torch.equal(before, after)
        except (IndexError, RuntimeError, ValueError):
            same = False
        if not same:
            stack.extend(behind)

    def quicken(self, dtype: torch.dtype, pixels: Tensor) -> None:
        """Set the precision, and install faster dense layers.

        Convolutions take the precision only in models without dense layers; beside them they
        stay in float32, as norms and the sums of residuals do.
        """
        if any(isinstance(part, torch.nn.Linear) for part in self._tower.modules()):
            quicken(self._tower, dtype, lambda: self(pixels))
        else:
            self._tower.to(dtype)
            self._dtype = dtype


def _class(model: FoundModel, transformers: Any) -> Any:
    alone = None if "auto_map" in model.config else _ALONE.get(model.config["model_type"])
    return getattr(transformers, alone or "AutoModel")


def _without_mask(tower: Any) -> Callable[[int], dict[str, Tensor]]:
    """Have a masked autoencoder see the whole image; its patches keep their order."""
    if tower.config.model_type != "vit_mae":
        return lambda images: {}
    tower.config.mask_ratio = 0.0
    patches = tower.embeddings.position_embeddings.shape[1] - 1
    order = torch.arange(patches, dtype=torch.float32)
    return lambda images: {"noise": order.to(tower.device).expand(images, -1)}


How = Literal["cls", "normed_cls", "own", "mean", "max"]


@dataclass(frozen=True)
class Pooling:
    """Which states of a vision model become the vector, and how.

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
        """Its name in signatures, such as ``cls_layer12``."""
        kind = {"normed_cls": "cls", "own": "own_pool"}.get(self.how)
        kind = kind or (self.how if self.how == "cls" else f"{self.how}_patches")
        layer = self.layer or self.layers
        return f"{kind}_layer{layer}" if layer else f"{kind}_last"

    def __call__(self, output: Any) -> Tensor:
        """Return a vector for each image, float32 of shape (n, d)."""
        if self.how in ("own", "normed_cls"):
            return output.pooler_output.flatten(1).float()
        states = output[0] if self.layer is None else output.hidden_states[self.layer]
        if self.how == "cls":
            return states[:, 0].float()
        maps = states.dim() == 4
        places = states.flatten(2).transpose(1, 2) if maps else states[:, self.first :]
        places = places.float()  # (n, places, d)
        return places.mean(dim=1) if self.how == "mean" else places.amax(dim=1)


def choose_pooling(tower: VisionTower, output: Any, options: EmbedderOptions, name: str) -> Pooling:
    """Choose layer and pooling from the request and the model.

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
    layer = options.layer
    if layer is not None and layer > layers:
        has = f"has {layers} layers" if layers else "does not tell the states of its layers"
        raise InputError(f"layer: the model {name!r} {has}; found {layer}")
    layer = None if layer == layers else layer
    states = output[0] if layer is None else hidden[layer]
    there = tower.has_class and states.dim() == 3 and states.shape[1] == output[0].shape[1]
    how = _how(options.pooling, tower, output, layer, there, name)
    return Pooling(how, layer, layers, tower.first if there else 0)


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
    pools = layer is None and getattr(output, "pooler_output", None) is not None
    if not there:
        return "own" if pools else "mean"
    hidden: Sequence[Tensor] = getattr(output, "hidden_states", None) or ()
    norms_class_alone = pools and tower.norms_class and hidden
    return "normed_cls" if norms_class_alone and (hidden[-1] == output[0]).all() else "cls"


TAKES = frozenset({"pooling", "layer", "revision", "offline", "trust_remote_code", "allow_pickle"})
ON_CPU, ELSEWHERE = 16, 64
"""Images in one forward pass."""


class VisionEmbedder(Embedder):
    """A vision model with one vector for each image.

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

    def __init__(self, model: FoundModel, options: EmbedderOptions) -> None:
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
        self.signature = model_signature(model.name, model.revision, dtype=dtype, device=device)
        self.view_signature = {"image": self._pooling.words}
        pins = {"pooling": self._pooling.words, "how": self._pooling.how}
        pins |= {"preparation": self._processor.file_hash, "transformers": transformers.__version__}
        pins |= {"torch": torch.__version__, "pillow": PIL.__version__}
        self.identity = identity_line(self.signature | pins)

    def prepare(self, samples: Sequence[Any]) -> list[Pixels]:
        """Resize, crop and normalise images as the model requires.

        Parameters
        ----------
        samples
            uint8 arrays of shape (height, width, 3), of any sizes.

        Raises
        ------
        InputError
            If an item is not an image, or cannot be prepared.
        """
        return self._processor(samples)

    def encode(self, prepared: Sequence[Pixels]) -> EncodedBatch:
        """Turn prepared images into vectors: ``image``, float32 of shape (n, d)."""
        vectors = self._batches.run(prepared, self._forward)
        return EncodedBatch({"image": vectors}, np.zeros(len(prepared), dtype=np.bool_))

    def _settle(self, model: FoundModel, options: EmbedderOptions, dtype: torch.dtype) -> None:
        """Find out on a first image what the model gives, and what is needed of it."""
        grey = np.full((64, 64, 3), 127, dtype=np.uint8)
        pixels = torch.from_numpy(self._processor([grey])[0][None])
        output = self._tower.try_on(pixels)
        self._pooling = choose_pooling(self._tower, output, options, model.name)
        if self._pooling.layer is not None:
            self._tower.cut(self._pooling.layer, self._pooling.layers, pixels)
        own_pooling = self._pooling.how == "own"
        missing = (name for name in self._tower.missing if own_pooling or "pooler" not in name)
        check_complete(model.folder, missing)
        self._tower.quicken(dtype, pixels)

    def _forward(self, pixels: NDArray[np.float32]) -> NDArray[np.float32]:
        output = self._tower(torch.from_numpy(pixels), hidden=self._pooling.layer is not None)
        vectors: NDArray[np.float32] = self._pooling(output).cpu().numpy()
        return vectors
