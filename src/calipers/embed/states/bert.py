"""A BERT encoder over packed tokens: the texts of a batch stand end to end, without padding.

Everything but attention works token by token, so it takes all tokens of a batch as one matrix
(T, d); attention takes the texts of one length together. The states equal those of the BertModel
in transformers up to rounding. Between the layers they are float32 whatever the dtype, which
keeps most of bfloat16's error out of the vectors.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import torch
from torch import Tensor
from torch.nn import functional

from calipers.embed.batching import Run
from calipers.embed.states.dense import Dense

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

    def __call__(self, states: Tensor, runs: Sequence[Run]) -> Tensor:
        attended = self._attend(self._project(states.to(self._dtype)), runs)
        states = self._attention_norm(states + self._merge(attended))
        return self._norm(states + self._narrow(self._widen(states.to(self._dtype))))

    def _attend(self, projected: Tensor, runs: Sequence[Run]) -> Tensor:
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
    """A BERT encoder made from the tensors of its weights file.

    Parameters
    ----------
    tensors
        The weights by the names that transformers gives them, float32.
    heads
        Attention heads of each layer.
    device
        Where to compute, such as ``"cpu"``.
    dtype
        Precision of the matrix products.
    """

    def __init__(
        self, tensors: dict[str, Tensor], *, heads: int, device: str, dtype: torch.dtype
    ) -> None:
        tensors = {name: tensor.to(device) for name, tensor in tensors.items()}
        names = {name.rpartition(".attention.self.query.weight")[0] for name in tensors} - {""}
        self._device = device
        self._words = tensors["embeddings.word_embeddings.weight"]
        # A sample is one text, so the token type is 0 throughout
        first_type = tensors["embeddings.token_type_embeddings.weight"][0]
        self._positions = tensors["embeddings.position_embeddings.weight"] + first_type
        self._norm = _Norm(tensors, "embeddings.LayerNorm")
        self._layers = [
            _Layer(tensors, f"encoder.layer.{number}", heads, dtype) for number in range(len(names))
        ]

    def means(
        self, tokens: Tensor, runs: Sequence[Run], *, layers: Collection[int]
    ) -> dict[int, Tensor]:
        """Average the states of each text over its tokens, after some of the layers.

        Parameters
        ----------
        tokens
            Token ids of all texts end to end, int64 of shape (T,).
        runs
            How the tokens divide into texts.
        layers
            After which layers, counted from 1.

        Returns
        -------
        dict
            Layer to float32 tensor of shape (texts, d), in the order of the tokens.
        """
        found = {}
        with torch.inference_mode():
            states = self._look_up(tokens.to(self._device), runs)
            for number, layer in enumerate(self._layers, start=1):
                states = layer(states, runs)
                if number in layers:
                    found[number] = torch.cat([_mean(states, run) for run in runs])
        return found

    def states(self, tokens: Tensor, runs: Sequence[Run]) -> Tensor:
        """Give the state of every token after the last layer, float32 of shape (T, d).

        Parameters
        ----------
        tokens, runs
            As for :meth:`means`.
        """
        with torch.inference_mode():
            states = self._look_up(tokens.to(self._device), runs)
            for layer in self._layers:
                states = layer(states, runs)
        return states

    def _look_up(self, tokens: Tensor, runs: Sequence[Run]) -> Tensor:
        places = torch.cat([torch.arange(run.length).repeat(run.texts) for run in runs])
        return self._norm(self._words[tokens] + self._positions[places.to(self._device)])


def _mean(states: Tensor, run: Run) -> Tensor:
    return states[run.tokens].view(run.texts, run.length, -1).mean(dim=1)
