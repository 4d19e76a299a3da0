"""The states of any encoder that transformers knows, up to one of its layers.

The states of layer K are what the model gives when its first K layers are all it has: what lies
behind the last layer, such as the closing norm of T5, is then applied to layer K, as bert-score
does. Weights are read from safetensors files only, and no code of the model's folder is run.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from calipers.embed.batching import Run
from calipers.embed.layers import choose_layer
from calipers.embed.states.pretrained import layer_count, layer_stack, load_model, position_limit
from calipers.errors import InputError


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
