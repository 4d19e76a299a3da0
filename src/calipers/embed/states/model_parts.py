"""What each kind of model brings along: its tokenizer, its layers, its longest input."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.embed.batching import Run
from calipers.embed.minilm import HEADS, WIDTH, load_tokenizer
from calipers.embed.models.model_files import read_config
from calipers.embed.models.model_folder import content_hash
from calipers.embed.states import pretrained
from calipers.embed.states.packed import first_layers, is_plain_bert, read_tensors
from calipers.embed.states.token_states import Encode, Forward, choose_layer
from calipers.embed.weights import SHA256, find_model, read_verified
from calipers.errors import require

_UNLIMITED = 1_000_000
"""Tokenizers that know no limit name a number beyond this."""
_MINILM_LAYERS, _MINILM_POSITIONS = 6, 512


@dataclass(frozen=True, eq=False)
class Parts:
    """A tokenizer and the first layers of a model.

    Attributes
    ----------
    encode, marks, forward, layer, width
        As in :class:`~calipers.embed.states.token_states.TokenEncoder`.
    limit
        Most tokens that the model reads; None where nothing says so.
    pins
        Which model it is, for signatures.
    """

    encode: Encode
    marks: frozenset[int]
    forward: Forward
    layer: int
    width: int
    limit: int | None
    pins: dict[str, str]


def minilm(layer: int | None, device: str, dtype: Any) -> Parts:
    """The packaged all-MiniLM-L6-v2, verified."""
    from safetensors.torch import load

    folder, chosen = find_model(), choose_layer(layer, _MINILM_LAYERS)
    tokenizer = load_tokenizer(read_verified(folder, "tokenizer.json"))
    tensors = first_layers(load(read_verified(folder, "model.safetensors")), chosen)
    marks = frozenset(tokenizer.token_to_id(mark) for mark in ("[CLS]", "[SEP]"))
    pins = {"model": "minilm", "revision": SHA256["model.safetensors"][:12]}
    packed = _packed(tensors, HEADS, device, dtype)

    def encode(texts: list[str]) -> list[list[int]]:
        return [encoding.ids for encoding in tokenizer.encode_batch_fast(texts)]

    return Parts(encode, marks, packed, chosen, WIDTH, _MINILM_POSITIONS, pins)


def from_folder(folder: Path, name: str, layer: int | None, device: str, dtype: Any) -> Parts:
    """Any encoder that transformers knows, from its folder; plain BERT through packed layers."""
    transformers = require("transformers", extra="text", purpose=f"the model {name!r}")
    pins = {"model": name, "revision": content_hash(folder)[:12]}
    tokenizer = pretrained.load_tokenizer(folder)
    forward, chosen, width, positions = _layers(folder, layer, device, dtype)
    limits = [tokenizer.model_max_length, positions or _UNLIMITED]
    limit = min(limits) if min(limits) < _UNLIMITED else None
    marks = frozenset({tokenizer.cls_token_id, tokenizer.sep_token_id} - {None})
    pins |= {"transformers": transformers.__version__}

    def encode(texts: list[str]) -> list[list[int]]:
        found = tokenizer(
            texts, return_attention_mask=False, return_token_type_ids=False, verbose=False
        )
        ids: list[list[int]] = found["input_ids"]
        return ids

    return Parts(encode, marks, forward, chosen, width, limit, pins)


def _layers(
    folder: Path, layer: int | None, device: str, dtype: Any
) -> tuple[Forward, int, int, int | None]:
    """The layers of a model, which was chosen, its width, and how many tokens it reads."""
    config = read_config(folder)
    if is_plain_bert(config):
        chosen = choose_layer(layer, config["num_hidden_layers"])
        tensors = first_layers(read_tensors(folder), chosen)
        if tensors is not None:
            positions, width = tensors["embeddings.position_embeddings.weight"].shape
            heads = config["num_attention_heads"]
            return _packed(tensors, heads, device, dtype), chosen, width, positions
    from calipers.embed.states.bert import EncoderStates

    found = EncoderStates(folder, layer=layer, device=device, dtype=dtype)
    return _on_arrays(found), found.layer, found.width, found.positions


def _packed(tensors: Any, heads: int, device: str, dtype: Any) -> Forward:
    from calipers.embed.states.bert import PackedBert

    return _on_arrays(PackedBert(tensors, heads=heads, device=device, dtype=dtype).states)


def _on_arrays(states: Callable[[Any, Sequence[Run]], Any]) -> Forward:
    """Let what computes tensors from tensors take and give arrays."""
    import torch

    def forward(ids: NDArray[np.int64], runs: Sequence[Run]) -> NDArray[np.float32]:
        found: NDArray[np.float32] = states(torch.from_numpy(ids), runs).float().cpu().numpy()
        return found

    return forward
