"""Which layer of a model to take states from.

One vector for each token of a text: what metrics that match tokens need.

A text goes through the model once, on its own or beside texts of the same length, so that no
padding ever stands in a batch and a text's states do not depend on its company.

The models that give token states: the packaged MiniLM, and any encoder in a folder.

Weights of the plain BERT kind go through the packed encoder, all other kinds through transformers.

What each kind of model brings along: its tokenizer, its layers, its longest input.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.embed.minilm import HEADS, SHA256, WIDTH, find_model, load_tokenizer, read_verified
from calipers.embed.models.model_files import read_config
from calipers.embed.models.model_folder import content_hash, find_folder
from calipers.embed.options import choose_device, choose_dtype, token_budget
from calipers.embed.states import pretrained
from calipers.embed.states.batches import Batch, Run, plan_batches
from calipers.embed.states.packed import first_layers, is_plain_bert, read_tensors
from calipers.errors import CalipersError, InputError, require
from calipers.files import at_home
from calipers.progress import Advance


def choose_layer(layer: int | None, layers: int) -> int:
    """Return the layer to take: by default three quarters of them, rounded up.

    These are 5 of 6, 9 of 12 and 18 of 24 layers: for BERT and RoBERTa of these depths no more
    than one away from the layer that agreed best with people's judgements of translations
    (WMT16), by the table that comes with bert-score.

    Raises
    ------
    InputError
        If the model does not have the layer.

    Examples
    --------
    >>> choose_layer(None, 6), choose_layer(None, 12), choose_layer(2, 6)
    (5, 9, 2)
    """
    if layer is None:
        return -(-3 * layers // 4)
    if not 1 <= layer <= layers:
        raise InputError(f"layer must be 1 to {layers}, the layers of the model; found {layer}")
    return layer


def form_layer(layers: int) -> int:
    """Return the layer that shows form best: two thirds of them, rounded up.

    Examples
    --------
    >>> form_layer(6), form_layer(12), form_layer(24)
    (4, 8, 16)
    """
    return -(-2 * layers // 3)


Encode = Callable[[list[str]], list[list[int]]]
"""Texts to the ids of their tokens, the model's own marks included, nothing cut."""

Forward = Callable[[NDArray[np.int64], Sequence[Run]], NDArray[np.float32]]
"""The tokens of a batch to their states."""

TEXTS_AT_ONCE = 1024


@dataclass(frozen=True, eq=False)
class TokenIds:
    """Texts as the tokens of a model.

    Attributes
    ----------
    ids
        The tokens of all texts end to end, int32 of shape (T,).
    starts
        Where each text starts in `ids`, int64 of shape (n + 1,).
    truncated
        Which texts were longer than the model reads, bool of shape (n,).
    """

    ids: NDArray[np.int32]
    starts: NDArray[np.int64]
    truncated: NDArray[np.bool_]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens of each text, shape (n,)."""
        return np.diff(self.starts)

    def of(self, text: int) -> slice:
        """Where a text's tokens stand in `ids`, or in anything that has a value for each."""
        return slice(int(self.starts[text]), int(self.starts[text + 1]))


@dataclass(frozen=True, eq=False)
class TokenEncoder:
    """A model that gives a vector for each token. Made by :func:`load_token_encoder`.

    Attributes
    ----------
    encode
        Texts to ids of tokens.
    forward
        Ids of a batch, int64 of shape (T,), and its runs, to states, float32 of shape (T, d).
    marks
        Ids of the tokens that open and close a text, which stand for no word.
    tail
        How many tokens close a text; they are kept where it is cut.
    max_length
        Most tokens of a text, marks included.
    layer, width
        The layer whose states are given, and their d.
    max_tokens, max_texts
        Most tokens and texts in a forward pass; they change no state.
    signature
        Everything that can change a state, for people.
    """

    encode: Encode
    forward: Forward
    marks: frozenset[int]
    tail: int
    max_length: int
    layer: int
    width: int
    max_tokens: int
    max_texts: int | None
    signature: Mapping[str, str]

    def tokenise(self, texts: Sequence[str]) -> TokenIds:
        """Split texts into tokens; a long one keeps its beginning and the marks that close it."""
        parts, lengths, truncated = [np.empty(0, np.int32)], [0], []
        for first in range(0, len(texts), TEXTS_AT_ONCE):
            ids = self.encode(list(texts[first : first + TEXTS_AT_ONCE]))
            truncated += [len(each) > self.max_length for each in ids]
            ids = [self._cut(each) for each in ids]
            parts.append(np.fromiter(chain.from_iterable(ids), dtype=np.int32))
            lengths += map(len, ids)
        starts = np.cumsum(lengths, dtype=np.int64)
        return TokenIds(np.concatenate(parts), starts, np.array(truncated, dtype=np.bool_))

    def states(
        self, tokens: TokenIds, texts: Sequence[int], advance: Advance
    ) -> list[NDArray[np.float32]]:
        """Compute the states of some texts, each of length 1.

        Parameters
        ----------
        tokens
            All texts.
        texts
            Which of them to compute.
        advance
            Told how many texts are done.

        Returns
        -------
        list of array
            For each text float32 of shape (tokens, d).

        Raises
        ------
        CalipersError
            If a state is not finite, as with damaged weights.
        """
        found = [np.empty((0, self.width), np.float32)] * len(texts)
        lengths = tokens.lengths[list(texts)].astype(np.intp)
        filled = np.flatnonzero(lengths)  # a model without marks has no token for an empty text
        plan = plan_batches(lengths[filled], max_tokens=self.max_tokens, max_texts=self.max_texts)
        for batch in plan:
            rows = filled[batch.rows]
            states = self._forward(batch, [tokens.ids[tokens.of(texts[row])] for row in rows])
            ends = np.cumsum(lengths[rows])
            for row, own in zip(rows, np.split(states, ends[:-1]), strict=True):
                found[row] = own
            advance(len(rows))
        return found

    def _cut(self, ids: list[int]) -> list[int]:
        if len(ids) <= self.max_length:
            return ids
        return ids[: self.max_length - self.tail] + ids[len(ids) - self.tail :]

    def _forward(self, batch: Batch, ids: Iterable[NDArray[np.int32]]) -> NDArray[np.float32]:
        packed = np.concatenate(list(ids)).astype(np.int64)
        return _unit(self.forward(packed, batch.runs))


def _unit(states: NDArray[np.float32]) -> NDArray[np.float32]:
    norms = np.linalg.norm(states, axis=1, keepdims=True)
    if not np.isfinite(norms).all():
        raise CalipersError("the model gives states that are not finite; its weights are damaged")
    states /= np.maximum(norms, np.finfo(np.float32).tiny)
    return states


def closing(encode: Encode) -> int:
    """How many tokens close a text: those at the end of an empty text and of any other."""
    empty, other = encode(["", "a"])
    tail = 0
    while tail < min(len(empty), len(other)) and empty[-1 - tail] == other[-1 - tail]:
        tail += 1
    return tail


MINILM = "minilm"


def load_token_encoder(
    model: str | Path = MINILM,
    *,
    layer: int | None = None,
    max_length: int | None = None,
    device: str = "auto",
    dtype: str = "float32",
    batch_size: int | None = None,
    offline: bool = True,
) -> TokenEncoder:
    """Make a model ready that gives a vector for each token.

    Parameters
    ----------
    model
        ``"minilm"`` for the packaged all-MiniLM-L6-v2, the folder of a transformers encoder (of
        an encoder–decoder, its encoder is taken), or its name on the Hugging Face hub.
    layer
        Whose states, from 1 to the model's layers; those behind it are not computed. None for
        three quarters of the depth, rounded up.
    max_length
        Most tokens that are read of a text, marks included; None for all that the model can read.
    device, dtype, batch_size
        As in :func:`calipers.embed.load_embedder`.
    offline
        Whether a name is looked up in the local cache only; False lets it be downloaded.

    Raises
    ------
    InputError
        If there is no such model or layer, it cannot be loaded, or `max_length` does not fit.
    MissingExtraError
        If packages that it needs are not installed.
    CalipersError
        If the packaged weights are not the published ones.
    """
    torch = require("torch", extra="text", purpose=f"the model {str(model)!r}")
    device = choose_device(device, torch)
    chosen = choose_dtype(dtype, device, torch)
    parts = _parts(model, offline)(layer, device, getattr(torch, chosen))
    marks = len(parts.encode([""])[0])
    length = _max_length(max_length, parts.limit, least=marks + 1)
    pins = {**parts.pins, "layer": str(parts.layer), "max_length": str(length)}
    return TokenEncoder(
        encode=parts.encode,
        forward=parts.forward,
        marks=parts.marks,
        tail=closing(parts.encode),
        max_length=length,
        layer=parts.layer,
        width=parts.width,
        max_tokens=token_budget(device, torch),
        max_texts=batch_size,
        signature={**pins, "dtype": chosen, "device": device.partition(":")[0]},
    )


def _parts(model: str | Path, offline: bool) -> Any:
    # As the catalogue of embedders does, so that who asks for a model does not lead to torch
    kinds = import_module("calipers.embed.states.token_states")
    if model == MINILM:
        return kinds.minilm
    folder = find_folder(model, offline=offline)
    local = os.path.isdir(at_home(model))
    name = folder.resolve().name if local else str(model)
    return lambda *how: kinds.from_folder(folder, name, *how)


def _max_length(asked: int | None, limit: int | None, *, least: int) -> int:
    if asked is None and limit is None:
        raise InputError(
            "max_length must be given: neither the model nor its tokenizer says how many tokens "
            "it reads"
        )
    if asked is None:
        assert limit is not None
        return limit
    if asked < least or (limit is not None and asked > limit):
        most = f"{least} to {limit}, the most that the model reads" if limit else f"{least} or more"
        raise InputError(f"max_length must be {most}; found {asked}")
    return asked


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
