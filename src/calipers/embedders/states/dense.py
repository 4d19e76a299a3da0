"""Fast dense layers for inference, and their installation in a loaded model.

On a CPU, torch hands float32 products to MKL, which reached less than half of oneDNN's speed on
an AMD processor; oneDNN also takes weights that were laid out for it once, and applies the
activation on the way. The operators for it are not part of torch's documented interface, so they
are tried once and must agree with torch's own before they are trusted.

In a precision below float32 the dense layers alone compute in it: what stands between them, such
as norms and the sums of residuals, stays in float32, which keeps most of bfloat16's error out of
the states. An activation that follows a dense layer is computed with it: transformers writes some
out step by step, and torch's own GELU by the tangent takes as long as a tenth of the layer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "none": lambda states: states,
    "gelu": functional.gelu,
    "gelu_tanh": lambda states: functional.gelu(states, approximate="tanh"),
    "relu": functional.relu,
    "silu": functional.silu,
}
"""What may follow on the way: the exact GELU, the one by the tangent, ReLU, SiLU."""

_ONEDNN = {
    "none": ("none", ""),
    "gelu": ("gelu", "none"),
    "gelu_tanh": ("gelu", "tanh"),
    "relu": ("relu", ""),
    "silu": ("swish", ""),
}
"""What oneDNN's operator calls them."""


class Dense:
    """``x W^T + b``, optionally followed by an activation.

    Parameters
    ----------
    weight, bias
        Shapes (outputs, inputs) and (outputs,), of one dtype, on the device to compute on; None
        for no bias.
    activation
        One of `ACTIVATIONS`.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None, *, activation: str = "none") -> None:
        self._bias, self.activation = bias, activation
        self._onednn = weight.device.type == "cpu" and _onednn_agrees(weight.dtype)
        self.weight = _lay_out(weight) if self._onednn else weight

    def __call__(self, states: Tensor) -> Tensor:
        """Apply the layer to rows, shape (T, inputs) to (T, outputs)."""
        product = _onednn_product if self._onednn else _plain_product
        return product(states, self.weight, self._bias, self.activation)


def _lay_out(weight: Tensor) -> Tensor:
    return torch.ops.mkldnn._reorder_linear_weight(weight.contiguous())


def _onednn_product(states: Tensor, weight: Tensor, bias: Tensor | None, name: str) -> Tensor:
    activation, algorithm = _ONEDNN[name]
    return torch.ops.mkldnn._linear_pointwise(states, weight, bias, activation, [], algorithm)


def _plain_product(states: Tensor, weight: Tensor, bias: Tensor | None, name: str) -> Tensor:
    product: Tensor = ACTIVATIONS[name](functional.linear(states, weight, bias))
    return product


@cache
def _onednn_agrees(dtype: torch.dtype) -> bool:
    """Whether oneDNN is there, and gives what torch gives on a small example."""
    numbers = torch.arange(32 * 48, dtype=torch.float32).mul(0.37).sin()
    states, weight, bias = numbers.view(48, 32)[:16], numbers.view(48, 32), numbers[:48]
    expected = [_plain_product(states, weight, bias, name) for name in ACTIVATIONS]
    states, weight, bias = states.to(dtype), weight.to(dtype), bias.to(dtype)
    try:
        weight = _lay_out(weight)
        products = [_onednn_product(states, weight, bias, name).float() for name in ACTIVATIONS]
    except (AttributeError, RuntimeError):
        return False
    tolerance = 1e-5 if dtype == torch.float32 else 5e-2
    near = {"rtol": tolerance, "atol": tolerance}
    return all(
        torch.allclose(one, two, **near) for one, two in zip(products, expected, strict=True)
    )


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
        """The weight in its present layout; some models look at its dtype."""
        return self._dense.weight

    def follow(self, activation: str) -> None:
        """Add an activation."""
        self._dense.activation = activation

    def forward(self, states: Tensor) -> Tensor:
        """Apply the layer to the last axis."""
        rows = states.reshape(-1, self.in_features).to(self._dtype)
        outputs = self._dense(rows).view(*states.shape[:-1], self.out_features)
        return outputs.float() if self.wide else outputs


def quicken(model: nn.Module, dtype: torch.dtype, once: Callable[[], object]) -> None:
    """Replace the slow layers of a model one at a time, so that memory does not double.

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
    from transformers.pytorch_utils import Conv1D

    layers = [name for name, part in model.named_modules() if type(part) in (nn.Linear, Conv1D)]
    for name in layers:
        layer = model.get_submodule(name)
        weight = layer.weight.data.T if type(layer) is Conv1D else layer.weight.data
        bias = None if layer.bias is None else layer.bias.data.to(dtype)
        _put(model, name, FastLinear(weight.to(dtype).contiguous(), bias))
        del layer, weight
    for part in model.modules():
        _to_float32(part)
    for name, layer in _followers(model, once).items():
        layer.follow(_activation(model.get_submodule(name)))
        _put(model, name, nn.Identity())


def widen(model: nn.Module, wide: bool) -> None:
    """Choose whether dense layers return float32, which some models need for sums."""
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
    sources: dict[str, set[FastLinear | None]] = {}

    def leave(layer: FastLinear, inputs: Any, output: Tensor) -> None:
        given[id(output)] = (output, layer)

    def enter(name: str, part: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        _, layer = given.get(id(inputs[0]), (None, None))
        sources.setdefault(name, set()).add(layer)

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
    counts = Counter(layer for layers in sources.values() for layer in layers)
    followers = {}
    for name, (first, *more) in sources.items():
        beside = model.get_submodule(name.rpartition(".")[0]).children()
        # Experts may share an activation without all having been called
        if first is not None and not more and counts[first] == 1 and first in set(beside):
            followers[name] = first
    return followers


def _put(model: nn.Module, name: str, part: nn.Module) -> None:
    parent, _, attribute = name.rpartition(".")
    setattr(model.get_submodule(parent), attribute, part)


def _to_float32(part: nn.Module) -> None:
    """Bring a part's own tensors to float32, those of an embedding only once they are looked up."""
    if isinstance(part, nn.Embedding):
        if part.weight.dtype != torch.float32:
            part.register_forward_hook(lambda module, given, output: output.float())
        return
    for tensor in (*part.parameters(recurse=False), *part.buffers(recurse=False)):
        if tensor.is_floating_point():
            tensor.data = tensor.data.float()
