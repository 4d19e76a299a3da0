"""BERT weights that the packed encoder computes exactly: no padding, fastest products."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calipers.embed.models.tensor_files import safe_tensors

if TYPE_CHECKING:
    from torch import Tensor

_EMBEDDINGS = (
    "word_embeddings.weight",
    "token_type_embeddings.weight",
    "position_embeddings.weight",
    "LayerNorm.weight",
    "LayerNorm.bias",
)
_LAYER = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "attention.output.LayerNorm",
    "intermediate.dense",
    "output.dense",
    "output.LayerNorm",
)
_PLAIN = {
    "hidden_act": "gelu",
    "layer_norm_eps": 1e-12,
    "position_embedding_type": "absolute",
    "is_decoder": False,
    "add_cross_attention": False,
}


def is_plain_bert(config: Mapping[str, Any]) -> bool:
    """Whether a configuration describes the BERT that the packed encoder computes."""
    alike = all(config.get(key, usual) in (usual, None) for key, usual in _PLAIN.items())
    return config.get("model_type") == "bert" and alike


def read_tensors(folder: Path) -> dict[str, Tensor]:
    """Read all weights of a folder, in float32, by their names in the encoder itself."""
    tensors: dict[str, Tensor] = {}
    for path in sorted(folder.glob("*.safetensors")):
        tensors |= safe_tensors(path)
    return {name.removeprefix("bert."): tensor.float() for name, tensor in tensors.items()}


def first_layers(tensors: Mapping[str, Tensor], layers: int) -> dict[str, Tensor] | None:
    """Pick the embeddings and the first layers; None where a weight is missing."""
    try:
        return {name: tensors[name] for name in _names(layers)}
    except KeyError:
        return None


def _names(layers: int) -> list[str]:
    names = [f"embeddings.{part}" for part in _EMBEDDINGS]
    for layer in range(layers):
        for part in _LAYER:
            names += [f"encoder.layer.{layer}.{part}.{kind}" for kind in ("weight", "bias")]
    return names
