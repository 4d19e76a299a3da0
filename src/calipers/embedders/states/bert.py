"""A BERT encoder over packed tokens: texts are concatenated without padding.

Everything but attention works token by token, so it takes all tokens of a batch as one matrix
(T, d); attention takes the texts of one length together. The states equal those of the BertModel
in transformers up to rounding, and transformers need not be loaded for them. Between the layers
they are float32 whatever the dtype, which keeps most of bfloat16's error out of the vectors.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from calipers.embedders.models.tensors import safe_tensors
from calipers.embedders.states.batches import LengthRun, States
from calipers.embedders.states.dense import Dense

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
    """Whether a configuration describes a BERT that the packed encoder computes."""
    alike = all(config.get(key, usual) in (usual, None) for key, usual in _PLAIN.items())
    return config.get("model_type") == "bert" and alike


def read_layers(folder: Path, layers: int) -> dict[str, Tensor] | None:
    """Read the embeddings and the first layers, in float32, by their names in the encoder itself.

    None where a weight is missing.
    """
    tensors: dict[str, Tensor] = {}
    for path in sorted(folder.glob("*.safetensors")):
        tensors |= safe_tensors(path)
    tensors = {name.removeprefix("bert."): tensor for name, tensor in tensors.items()}
    names = [f"embeddings.{part}" for part in _EMBEDDINGS]
    for layer in range(layers):
        for part in _LAYER:
            names += [f"encoder.layer.{layer}.{part}.{kind}" for kind in ("weight", "bias")]
    if not tensors.keys() >= set(names):
        return None
    return {name: tensors[name].float() for name in names}


_EPSILON = 1e-12


class _Norm:
    """A layer norm, in float32."""

    def __init__(self, tensors: dict[str, Tensor], name: str) -> None:
        self._weight, self._bias = tensors[f"{name}.weight"], tensors[f"{name}.bias"]

    def __call__(self, states: Tensor) -> Tensor:
        shape = self._weight.shape
        return functional.layer_norm(states, shape, self._weight, self._bias, _EPSILON)


class _Layer:
    """One transformer layer: attention among the tokens of a text, then two dense layers."""

    def __init__(
        self, tensors: dict[str, Tensor], name: str, heads: int, dtype: torch.dtype
    ) -> None:
        def dense(*parts: str, activation: str = "none") -> Dense:
            weight = torch.cat([tensors[f"{name}.{part}.weight"] for part in parts])
            bias = torch.cat([tensors[f"{name}.{part}.bias"] for part in parts])
            return Dense(weight.to(dtype), bias.to(dtype), activation=activation)

        self._heads, self._dtype = heads, dtype
        self._project = dense(*(f"attention.self.{part}" for part in ("query", "key", "value")))
        self._merge = dense("attention.output.dense")
        self._attention_norm = _Norm(tensors, f"{name}.attention.output.LayerNorm")
        self._widen = dense("intermediate.dense", activation="gelu")
        self._narrow = dense("output.dense")
        self._norm = _Norm(tensors, f"{name}.output.LayerNorm")

    def __call__(self, states: Tensor, runs: Sequence[LengthRun]) -> Tensor:
        attended = self._attend(self._project(states.to(self._dtype)), runs)
        states = self._attention_norm(states + self._merge(attended))
        return self._norm(states + self._narrow(self._widen(states.to(self._dtype))))

    def _attend(self, projected: Tensor, runs: Sequence[LengthRun]) -> Tensor:
        """Let each token look at the tokens of its own text, (T, 3d) to (T, d)."""
        attended = projected.new_empty(len(projected), projected.shape[1] // 3)
        for run in runs:
            # (texts, length, 3, heads, d / heads) to three of (texts, heads, length, d / heads)
            shape = (run.texts, run.length, 3, self._heads, -1)
            query, key, value = projected[run.tokens].view(shape).permute(2, 0, 3, 1, 4)
            mixed = functional.scaled_dot_product_attention(query, key, value).transpose(1, 2)
            attended[run.tokens] = mixed.reshape(run.texts * run.length, -1)
        return attended


class PackedBert:
    """The first layers of a BERT encoder, from the tensors of its weights file.

    Parameters
    ----------
    tensors
        The weights by the names that transformers gives them, float32.
    heads
        Attention heads of each layer.
    wanted
        Whose states to give, layers counted from 1; 0 are the embeddings. Layers behind the
        deepest one are not made.
    device
        Where to compute, such as ``"cpu"``.
    dtype
        Precision of the matrix products.
    """

    def __init__(
        self,
        tensors: Mapping[str, Tensor],
        *,
        heads: int,
        wanted: Collection[int],
        device: str,
        dtype: torch.dtype,
    ) -> None:
        tensors = {name: tensor.to(device) for name, tensor in tensors.items()}
        self._device, self._wanted = device, frozenset(wanted)
        self._words = tensors["embeddings.word_embeddings.weight"]
        # A sample is one text, so the token type is 0 throughout
        first_type = tensors["embeddings.token_type_embeddings.weight"][0]
        self._positions = tensors["embeddings.position_embeddings.weight"] + first_type
        self._norm = _Norm(tensors, "embeddings.LayerNorm")
        self._layers = [
            _Layer(tensors, f"encoder.layer.{number}", heads, dtype)
            for number in range(max(wanted))
        ]

    def __call__(self, tokens: Tensor, runs: Sequence[LengthRun]) -> States:
        """Compute the states of some texts.

        Parameters
        ----------
        tokens
            Token ids of all texts end to end, int64 of shape (T,).
        runs
            How the tokens divide into texts.

        Returns
        -------
        dict
            Layer to float32 tensor of shape (T, d).
        """
        with torch.inference_mode():
            states = {0: self._look_up(tokens.to(self._device), runs)}
            for number, layer in enumerate(self._layers, start=1):
                states[number] = layer(states[number - 1], runs)
                if number - 1 not in self._wanted:
                    del states[number - 1]
        return states

    def _look_up(self, tokens: Tensor, runs: Sequence[LengthRun]) -> Tensor:
        places = torch.cat([torch.arange(run.length).repeat(run.texts) for run in runs])
        return self._norm(self._words[tokens] + self._positions[places.to(self._device)])
