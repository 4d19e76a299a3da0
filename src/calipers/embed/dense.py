"""A dense layer for inference, on the fastest matrix product that this build of torch has.

On a CPU, torch hands float32 products to MKL, which reached less than half of oneDNN's speed on
an AMD processor; oneDNN also takes weights that were laid out for it once, and applies the
activation on the way. The operators for it are not part of torch's documented interface, so they
are tried once and must agree with torch's own before they are trusted.
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor
from torch.nn import functional


class Dense:
    """``x W^T + b``, through GELU if asked.

    Parameters
    ----------
    weight, bias
        Shapes (outputs, inputs) and (outputs,), of one dtype, on the device to compute on.
    gelu
        Whether the exact GELU follows.
    """

    def __init__(self, weight: Tensor, bias: Tensor, *, gelu: bool = False) -> None:
        self._bias, self._gelu = bias, gelu
        self._onednn = weight.device.type == "cpu" and _onednn_agrees(weight.dtype)
        self._weight = _lay_out(weight) if self._onednn else weight

    def __call__(self, states: Tensor) -> Tensor:
        """Apply the layer to rows, shape (T, inputs) to (T, outputs)."""
        if self._onednn:
            return _onednn_product(states, self._weight, self._bias, gelu=self._gelu)
        return _plain_product(states, self._weight, self._bias, gelu=self._gelu)


def _lay_out(weight: Tensor) -> Tensor:
    return torch.ops.mkldnn._reorder_linear_weight(weight.contiguous())


def _onednn_product(states: Tensor, weight: Tensor, bias: Tensor, *, gelu: bool) -> Tensor:
    activation, algorithm = ("gelu", "none") if gelu else ("none", "")
    return torch.ops.mkldnn._linear_pointwise(states, weight, bias, activation, [], algorithm)


def _plain_product(states: Tensor, weight: Tensor, bias: Tensor, *, gelu: bool) -> Tensor:
    product = functional.linear(states, weight, bias)
    return functional.gelu(product) if gelu else product


@cache
def _onednn_agrees(dtype: torch.dtype) -> bool:
    """Whether oneDNN is there, and gives what torch gives on a small example."""
    numbers = torch.arange(32 * 48, dtype=torch.float32).mul(0.37).sin()
    states, weight, bias = numbers.view(48, 32)[:16], numbers.view(48, 32), numbers[:48]
    expected = _plain_product(states, weight, bias, gelu=True)
    states, weight, bias = states.to(dtype), weight.to(dtype), bias.to(dtype)
    try:
        found = _onednn_product(states, _lay_out(weight), bias, gelu=True)
    except (AttributeError, RuntimeError):
        return False
    tolerance = 1e-5 if dtype == torch.float32 else 5e-2
    return bool(torch.allclose(found.float(), expected, rtol=tolerance, atol=tolerance))
