"""The states of any encoder that transformers knows, up to one of its layers.

The states of layer K are what the model gives when its first K layers are all it has: what lies
behind the last layer, such as the closing norm of T5, is then applied to layer K, as bert-score
does. Weights are read from safetensors files only, and no code of the model's folder is run.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from calipers.embed.batching import Run
from calipers.embed.layers import choose_layer
from calipers.errors import InputError, require


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
        model = _load(folder)
        self.layers = int(model.config.num_hidden_layers)
        self.layer = choose_layer(layer, self.layers)
        self.positions = _positions(model)
        _keep(model, self.layer, self.layers)
        self._model, self._device = model.eval().to(device=device, dtype=dtype), device
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


def _load(folder: Path) -> Any:
    transformers = require("transformers", extra="text", purpose=f"the model {str(folder)!r}")
    with quiet(transformers):
        try:
            model, loading = transformers.AutoModel.from_pretrained(
                str(folder),
                local_files_only=True,
                use_safetensors=True,
                trust_remote_code=False,
                output_loading_info=True,
            )
        except Exception as error:  # transformers raises whatever a broken file leads to
            raise unreadable(folder, "model", error) from error
    # The pooler is made for tasks that look at whole texts, and states do not pass through it
    missing = sorted(name for name in loading["missing_keys"] if "pooler" not in name)
    if missing:
        raise InputError(f"{folder}: the weights lack {len(missing)} tensors, such as {missing[0]}")
    return model.get_encoder() if model.config.is_encoder_decoder else model


def _keep(model: Any, layer: int, layers: int) -> None:
    """Leave out the layers behind the one that is asked for."""
    model.config.use_cache = False
    if layer == layers:
        return
    if hasattr(model, "n_layers"):  # XLM counts them itself
        model.n_layers = layer
    elif model.config.model_type == "albert":  # goes through the same weights again and again
        model.config.num_hidden_layers = layer
    else:
        lists = (part for part in model.modules() if isinstance(part, torch.nn.ModuleList))
        stack = next((part for part in lists if len(part) == layers), None)
        if stack is not None:
            del stack[layer:]


def _positions(model: Any) -> int | None:
    """How many tokens the model has positions for; None where they are relative."""
    for name, part in model.named_modules():
        if name.endswith("position_embeddings") and getattr(part, "padding_idx", None) is not None:
            # RoBERTa and its kind count from behind the number of the padding token
            return int(part.num_embeddings - part.padding_idx - 1)
    found = getattr(model.config, "max_position_embeddings", None)
    return int(found) if found and found > 0 else None


@contextlib.contextmanager
def quiet(transformers: Any) -> Iterator[None]:
    """Keep transformers from writing on the terminal while it loads."""
    logging = transformers.utils.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def unreadable(folder: Path, part: str, error: Exception) -> InputError:
    """Say that transformers cannot load a part of a model's folder."""
    reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return InputError(f"{folder}: transformers cannot load the {part}: {reason}")
