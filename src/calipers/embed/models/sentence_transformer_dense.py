"""The dense layers of a sentence-transformers model, read from their folders."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from torch import Tensor

from calipers.embed.models.model_files import find_weights
from calipers.embed.models.sentence_transformer_files import read_settings
from calipers.embed.models.sentence_transformer_settings import moves
from calipers.embed.models.tensor_files import pickled_tensors, safe_tensors
from calipers.errors import InputError

Dense = tuple[Tensor, Tensor | None, str]
"""Weight of shape (outputs, inputs), bias of shape (outputs,) or None, name of the activation."""

_ACTIVATIONS = {
    "torch.nn.modules.linear.Identity": "identity",
    **{
        f"torch.nn.modules.activation.{name}": name.lower()
        for name in ("Tanh", "ReLU", "GELU", "Sigmoid", "SiLU")
    },
}
_USUAL = "torch.nn.modules.activation.Tanh"


def read_dense(folder: Path, allow_pickle: bool = False) -> Dense | None:
    """Read a dense layer; None where it is more than a matrix, a bias and a known activation.

    Raises
    ------
    InputError
        If its weights are missing, damaged, pickled without leave, or not of its shape.
    """
    settings = read_settings(folder, "config.json")
    activation = _ACTIVATIONS.get(str(settings.get("activation_function", _USUAL)))
    if activation is None or settings.get("use_residual") or moves(folder):
        return None
    tensors = _read_tensors(folder, allow_pickle)
    weight, bias = tensors.get("linear.weight"), tensors.get("linear.bias")
    shape = (settings.get("out_features"), settings.get("in_features"))
    if weight is None or tuple(weight.shape) != shape:
        found = "none" if weight is None else "x".join(map(str, weight.shape))
        raise InputError(
            f"{folder}: its weights must have linear.weight of out_features x in_features, "
            f"{shape[0]}x{shape[1]}; found {found}"
        )
    if bias is None and settings.get("bias", True):
        raise InputError(f"{folder}: its weights must have linear.bias; found none")
    return weight.float(), None if bias is None else bias.float(), activation


def _read_tensors(folder: Path, allow_pickle: bool) -> Mapping[str, Tensor]:
    tensors: dict[str, Tensor] = {}
    for path in find_weights(folder, allow_pickle=allow_pickle):
        if path.suffix == ".safetensors":
            tensors |= safe_tensors(path)
        else:
            tensors |= pickled_tensors(path, path.read_bytes())
    return tensors
