"""Faster stand-ins for parts of a loaded model, which compute the same.

Dense layers take oneDNN's product (:mod:`calipers.embed.states.bert`) on a CPU, and a lower
precision where one is asked for. In that case they alone compute in it: what stands between them,
such as norms and the sums of residuals, stays in float32, which keeps most of bfloat16's error out
of the states. An activation that follows a dense layer is computed with it: transformers writes
some out step by step, and torch's own GELU by the tangent takes as long as a tenth of the layer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from calipers.embed.states.bert import Dense

_ACTIVATIONS = {
    "GELUActivation": "gelu",
    "NewGELUActivation": "gelu_tanh",
    "FastGELUActivation": "gelu_tanh",
    "PytorchGELUTanh": "gelu_tanh",
    "GELUTanh": "gelu_tanh",
    "SiLUActivation": "silu",
    "ReLU": "relu",
    "SiLU": "silu",
}
"""Activations of transformers and torch by the names of their classes."""


class FastLinear(nn.Module):  # type: ignore[misc]
    """A dense layer for inference.

    Parameters
    ----------
    weight, bias
        Shapes (outputs, inputs) and (outputs,), or None for no bias.

    Attributes
    ----------
    wide
        Whether it gives float32 whatever its own precision.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        self._dense = Dense(weight, bias)
        self._dtype = weight.dtype
        self.out_features, self.in_features = weight.shape
        self.wide = True

    @property
    def weight(self) -> Tensor:
        """The weight as it is laid out; some models look at its dtype."""
        return self._dense.weight

    def follow(self, activation: str) -> None:
        """Apply an activation too."""
        self._dense.activation = activation

    def forward(self, states: Tensor) -> Tensor:
        """Apply the layer to the last axis."""
        rows = states.reshape(-1, self.in_features).to(self._dtype)
        found = self._dense(rows).view(*states.shape[:-1], self.out_features)
        return found.float() if self.wide else found


def quicken(model: nn.Module, dtype: torch.dtype, once: Callable[[], object]) -> None:
    """Replace the slow parts of a model, one after the other, so that memory never doubles.

    Parameters
    ----------
    model
        On the device to compute on; changed in place.
    dtype
        Precision of the dense layers. All else becomes float32, but for embeddings, whose weights
        stay as they are and whose rows are float32.
    once
        Runs the model on some input, to see which activations follow which dense layers.
    """
    kinds = _linear_kinds()
    names = [name for name, part in model.named_modules() if type(part) in kinds]
    for name in names:
        _put(model, name, _fast(model.get_submodule(name), dtype))
    for part in model.modules():
        _to_float32(part)
    for name, layer in _followers(model, once).items():
        layer.follow(_activation(model.get_submodule(name)))
        _put(model, name, nn.Identity())


def widen(model: nn.Module, wide: bool) -> None:
    """Say whether the dense layers give float32, which some models need to add things up."""
    for part in model.modules():
        if isinstance(part, FastLinear):
            part.wide = wide


def _activation(part: nn.Module) -> str:
    if type(part) is nn.GELU:
        return "gelu_tanh" if part.approximate == "tanh" else "gelu"
    return _ACTIVATIONS.get(type(part).__name__, "none")


def _followers(model: nn.Module, once: Callable[[], object]) -> dict[str, FastLinear]:
    """Activations that only ever take what one dense layer beside them just gave."""
    given: dict[int, tuple[Tensor, FastLinear]] = {}  # holds the tensors, so that ids stay unique
    found: dict[str, set[FastLinear | None]] = {}

    def leave(layer: FastLinear, inputs: Any, output: Tensor) -> None:
        given[id(output)] = (output, layer)

    def enter(name: str, part: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        source = given.get(id(inputs[0]), (None, None))
        found.setdefault(name, set()).add(source[1])

    hooks = []
    for name, part in model.named_modules():
        if isinstance(part, FastLinear):
            hooks.append(part.register_forward_hook(leave))
        elif _activation(part) != "none":
            hooks.append(part.register_forward_pre_hook(partial(enter, name)))
    try:
        once()
    finally:
        for hook in hooks:
            hook.remove()
    return _pairs(model, found)


def _pairs(model: nn.Module, found: dict[str, set[FastLinear | None]]) -> dict[str, FastLinear]:
    counts = Counter(layer for layers in found.values() for layer in layers)
    pairs = {}
    for name, (first, *more) in found.items():
        beside = model.get_submodule(name.rpartition(".")[0]).children()
        # Experts may share an activation without all having been called
        if first is not None and not more and counts[first] == 1 and first in set(beside):
            pairs[name] = first
    return pairs


def _linear_kinds() -> dict[type[nn.Module], bool]:
    """Kinds of dense layers, and whether their weights lie the other way round."""
    from transformers.pytorch_utils import Conv1D

    return {nn.Linear: False, Conv1D: True}


def _fast(layer: Any, dtype: torch.dtype) -> FastLinear:
    turned = _linear_kinds()[type(layer)]
    weight = layer.weight.data.T if turned else layer.weight.data
    bias = None if layer.bias is None else layer.bias.data.to(dtype)
    return FastLinear(weight.to(dtype).contiguous(), bias)


def _put(model: nn.Module, name: str, part: nn.Module) -> None:
    parent, _, own = name.rpartition(".")
    setattr(model.get_submodule(parent), own, part)


def _to_float32(part: nn.Module) -> None:
    """Bring a part's own tensors to float32, those of an embedding only once they are looked up."""
    if isinstance(part, nn.Embedding):
        if part.weight.dtype != torch.float32:
            part.register_forward_hook(lambda module, given, found: found.float())
        return
    for tensor in (*part.parameters(recurse=False), *part.buffers(recurse=False)):
        if tensor.is_floating_point():
            tensor.data = tensor.data.float()
