"""A dense layer for inference, on the fastest matrix product that this build of torch has.

On a CPU, torch hands float32 products to MKL, which reached less than half of oneDNN's speed on
an AMD processor; oneDNN also takes weights that were laid out for it once, and applies the
activation on the way. The operators for it are not part of torch's documented interface, so they
are tried once and must agree with torch's own before they are trusted.

A BERT encoder over packed tokens: the texts of a batch stand end to end, without padding.

Everything but attention works token by token, so it takes all tokens of a batch as one matrix
(T, d); attention takes the texts of one length together. The states equal those of the BertModel
in transformers up to rounding. Between the layers they are float32 whatever the dtype, which
keeps most of bfloat16's error out of the vectors.

The states of any encoder that transformers knows, up to one of its layers.

The states of layer K are what the model gives when its first K layers are all it has: what lies
behind the last layer, such as the closing norm of T5, is then applied to layer K, as bert-score
does. Weights are read from safetensors files only, and no code of the model's folder is run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from calipers.embed.states.batches import Run
from calipers.embed.states.pretrained import layer_count, layer_stack, load_model, position_limit
from calipers.embed.states.token_states import choose_layer
from calipers.errors import InputError

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


class EncoderStates:
    """The first layers of an encoder.

    Parameters
    ----------
    folder
        The model's files.
    layer
        How many layers to keep; None for three quarters of them.
    device
        Where to compute, such as ``"cpu"``.
    dtype
        Precision of the weights.

    Raises
    ------
    InputError
        If transformers cannot load the model, weights are missing, or it has no such layer.
    """

    def __init__(self, folder: Path, *, layer: int | None, device: str, dtype: torch.dtype) -> None:
        model = load_model(folder)
        self.layers = layer_count(model)
        self.layer = choose_layer(layer, self.layers)
        self.positions = position_limit(model)
        _keep(model, self.layer, self.layers)
        self._model, self._device = model.to(device=device, dtype=dtype), device
        self.width = self._check(folder)

    def __call__(self, tokens: Tensor, runs: Sequence[Run]) -> Tensor:
        """Compute the states of a batch, float32 of shape (T, d)."""
        tokens = tokens.to(self._device)
        with torch.inference_mode():
            states = [self._states(tokens[run.tokens].view(run.texts, -1)) for run in runs]
        return torch.cat([each.flatten(0, 1) for each in states]).float()

    def _states(self, ids: Tensor) -> Tensor:
        found: Tensor = self._model(input_ids=ids, attention_mask=torch.ones_like(ids))[0]
        return found

    def _check(self, folder: Path) -> int:
        """See that the layers were cut as meant, on a text of one token; return the width."""
        ids = torch.zeros((1, 1), dtype=torch.int64, device=self._device)
        with torch.inference_mode():
            found = self._model(
                input_ids=ids, attention_mask=torch.ones_like(ids), output_hidden_states=True
            )
        if len(found.hidden_states) != self.layer + 1:
            raise InputError(
                f"{folder}: this kind of model cannot be cut at layer {self.layer}; give the last "
                f"layer, {self.layers}"
            )
        return int(found[0].shape[-1])


def _keep(model: Any, layer: int, layers: int) -> None:
    """Leave out the layers behind the one that is asked for."""
    if layer == layers:
        return
    if hasattr(model, "n_layers"):  # XLM counts them itself
        model.n_layers = layer
    elif model.config.model_type == "albert":  # goes through the same weights again and again
        model.config.num_hidden_layers = layer
    else:
        stack = layer_stack(model, layers)
        if stack is not None:
            del stack[layer:]
