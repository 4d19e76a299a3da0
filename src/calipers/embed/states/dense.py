"""A dense layer for inference, on the fastest matrix product that this build of torch has.

On a CPU, torch hands float32 products to MKL, which reached less than half of oneDNN's speed on
an AMD processor; oneDNN also takes weights that were laid out for it once, and applies the
activation on the way. The operators for it are not part of torch's documented interface, so they
are tried once and must agree with torch's own before they are trusted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor
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
    """``x W^T + b``, and an activation if asked.

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
    found: Tensor = ACTIVATIONS[name](functional.linear(states, weight, bias))
    return found


@cache
def _onednn_agrees(dtype: torch.dtype) -> bool:
    """Whether oneDNN is there, and gives what torch gives on a small example."""
    numbers = torch.arange(32 * 48, dtype=torch.float32).mul(0.37).sin()
    states, weight, bias = numbers.view(48, 32)[:16], numbers.view(48, 32), numbers[:48]
    expected = [_plain_product(states, weight, bias, name) for name in ACTIVATIONS]
    states, weight, bias = states.to(dtype), weight.to(dtype), bias.to(dtype)
    try:
        weight = _lay_out(weight)
        found = [_onednn_product(states, weight, bias, name).float() for name in ACTIVATIONS]
    except (AttributeError, RuntimeError):
        return False
    tolerance = 1e-5 if dtype == torch.float32 else 5e-2
    near = {"rtol": tolerance, "atol": tolerance}
    return all(torch.allclose(one, two, **near) for one, two in zip(found, expected, strict=True))
