"""The models that give token states: the packaged MiniLM, and any encoder in a folder.

Weights of the plain BERT kind go through the packed encoder, all other kinds through transformers.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

from calipers.embed.device import choose_device, choose_dtype, token_budget
from calipers.embed.models.model_folder import find_folder
from calipers.embed.states.token_states import TokenEncoder, closing
from calipers.errors import InputError, require
from calipers.files import at_home

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
    kinds = import_module("calipers.embed.states.model_parts")
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
