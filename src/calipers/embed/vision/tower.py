"""The part of a model that sees images, run as transformers runs it, up to one of its layers.

Of a model of images and texts, such as CLIP, the vision tower is taken, and of the usual ones
nothing else is loaded. Where the states of a lower layer are asked for, those behind it are not
computed, if the model can be cut there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from calipers.embed.models.model_folder import FoundModel
from calipers.embed.options import Options
from calipers.embed.states.dense import quicken
from calipers.embed.states.pretrained import layer_stack, quiet, unreadable
from calipers.errors import InputError, require

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
    found
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

    def __init__(self, found: FoundModel, options: Options, *, device: str) -> None:
        model, missing = _load(found, options)
        self._tower = getattr(model, "vision_model", model).eval().float().to(device)
        self._device, self._dtype, self._folder = device, torch.float32, found.folder
        self.missing = missing
        names = {name.rpartition(".")[2]: part for name, part in self._tower.named_parameters()}
        self.has_class = not _CLASS.isdisjoint(names)
        self.first = sum(_tokens(part) for name, part in names.items() if name in _FIRST)
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
        """Run the model on a first image; say so if it takes no images of this kind."""
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
        """Drop the layers behind one of them, if the states up to there stay what they are."""
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
        """Compute in a precision from now on, with faster dense layers.

        Convolutions take the precision only in models without dense layers; beside them they
        stay in float32, as norms and the sums of residuals do.
        """
        if any(isinstance(part, torch.nn.Linear) for part in self._tower.modules()):
            quicken(self._tower, dtype, lambda: self(pixels))
        else:
            self._tower.to(dtype)
            self._dtype = dtype


def _load(found: FoundModel, options: Options) -> tuple[Any, list[str]]:
    transformers = require("transformers", extra="text", purpose=f"the model {found.name!r}")
    with quiet(transformers):
        try:
            model, loading = _class(found, transformers).from_pretrained(
                str(found.folder),
                local_files_only=True,
                use_safetensors=None if options.allow_pickle else True,
                trust_remote_code=options.trust_remote_code,
                output_loading_info=True,
            )
        except Exception as error:  # transformers raises whatever a broken file leads to
            raise unreadable(found.folder, "model", error) from error
    return model, sorted(name for name in loading["missing_keys"] if "mask_token" not in name)


def _class(found: FoundModel, transformers: Any) -> Any:
    alone = None if "auto_map" in found.config else _ALONE.get(found.config["model_type"])
    return getattr(transformers, alone or "AutoModel")


def _tokens(part: Tensor) -> int:
    return 1 if part.dim() == 1 else part.shape[-2]


def _without_mask(tower: Any) -> Callable[[int], dict[str, Tensor]]:
    """Have a masked autoencoder see the whole image; its patches keep their order."""
    if tower.config.model_type != "vit_mae":
        return lambda images: {}
    tower.config.mask_ratio = 0.0
    patches = tower.embeddings.position_embeddings.shape[1] - 1
    order = torch.arange(patches, dtype=torch.float32)
    return lambda images: {"noise": order.to(tower.device).expand(images, -1)}
