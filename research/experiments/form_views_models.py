"""All views that a model's layers and the usual poolings give of a text, from one forward pass."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from safetensors.torch import load
from torch import Tensor

from calipers.assets import MINILM
from calipers.embedders.minilm import HEADS, WIDTH, find_model, load_tokenizer
from calipers.embedders.states.batches import LengthRun, plan_batches
from calipers.embedders.states.bert import PackedBert

PARTS = ("mean", "std", "first", "last", "max")
POOLINGS = {
    "mean": ("mean",),
    "mean and std": ("mean", "std"),
    "first token": ("first",),
    "last token": ("last",),
    "maximum": ("max",),
}
"""Name of a pooling to the parts that it puts side by side."""


class Model(Protocol):
    """Token ids of texts, and the states of packed ids after the embedding and every layer."""

    name: str
    layers: int
    width: int

    def tokens(self, texts: list[str], max_length: int) -> list[list[int]]: ...

    def states(self, tokens: Tensor, runs: Sequence[LengthRun]) -> Iterator[Tensor]: ...


class MiniLM(PackedBert):
    """The packaged MiniLM, through the encoder that Calipers has for it."""

    name = "minilm"

    def __init__(self) -> None:
        folder = find_model()
        weights = load(MINILM.read(folder, "model.safetensors"))
        self.layers, self.width = 6, WIDTH
        every = range(self.layers + 1)
        super().__init__(weights, heads=HEADS, wanted=every, device="cpu", dtype=torch.float32)
        self._tokenizer = load_tokenizer()

    def tokens(self, texts: list[str], max_length: int) -> list[list[int]]:
        found = [each.ids for each in self._tokenizer.encode_batch_fast(texts)]
        return [each if len(each) <= max_length else _ended(each, max_length) for each in found]

    def states(self, tokens: Tensor, runs: Sequence[LengthRun]) -> Iterator[Tensor]:
        yield from self(tokens, runs).values()


class Folder:
    """A transformers model in a folder, of any kind; the states are its ``hidden_states``."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModel, AutoTokenizer

        self.name = str(folder.resolve())
        self._tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model = AutoModel.from_pretrained(folder, local_files_only=True, use_safetensors=True)
        self._model = (model.get_encoder() if model.config.is_encoder_decoder else model).eval()
        self.layers, self.width = model.config.num_hidden_layers, model.config.hidden_size

    def tokens(self, texts: list[str], max_length: int) -> list[list[int]]:
        found: list[list[int]] = self._tokenizer(texts, truncation=True, max_length=max_length)[
            "input_ids"
        ]
        return found

    def states(self, tokens: Tensor, runs: Sequence[LengthRun]) -> Iterator[Tensor]:
        found = [
            self._model(tokens[run.tokens].view(run.texts, -1), output_hidden_states=True)
            for run in runs
        ]
        for layers in zip(*(each.hidden_states for each in found), strict=True):
            yield torch.cat([layer.flatten(0, 1) for layer in layers])


def _ended(ids: list[int], max_length: int) -> list[int]:
    return ids[: max_length - 1] + ids[-1:]


def pooled(model: Model, ids: list[list[int]], *, max_tokens: int = 4096) -> np.ndarray:
    """Pool the states of each text, float32 of shape ``(texts, layers + 1, PARTS, width)``."""
    shape = (len(ids), model.layers + 1, len(PARTS), model.width)
    vectors = np.empty(shape, dtype=np.float32)
    lengths = np.array([len(each) for each in ids], dtype=np.intp)
    for batch in plan_batches(lengths, max_tokens=max_tokens):
        packed = np.fromiter(chain.from_iterable(ids[row] for row in batch.rows), dtype=np.int64)
        with torch.inference_mode():
            for layer, states in enumerate(model.states(torch.from_numpy(packed), batch.runs)):
                parts = torch.cat([_parts(states, run) for run in batch.runs])
                vectors[batch.rows, layer] = parts.numpy()
    return vectors


def kept(model: Model, texts: list[str], max_length: int, folder: Path | None) -> np.ndarray:
    """Pool the states of texts, or read them from where an earlier run left them."""
    ids = model.tokens(texts, max_length)
    if folder is None:
        return pooled(model, ids)
    key = hashlib.sha256(json.dumps([model.name, ids]).encode()).hexdigest()[:24]
    path = folder / f"{key}.npy"
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        with part.open("wb") as file:
            np.save(file, pooled(model, ids))
        part.replace(path)
    return np.load(path)


def view(vectors: np.ndarray, layer: int, pooling: str) -> np.ndarray:
    """Take one view out of what :func:`pooled` found, shape ``(texts, d)``."""
    return np.hstack([vectors[:, layer, PARTS.index(part)] for part in POOLINGS[pooling]])


def _parts(states: Tensor, run: LengthRun) -> Tensor:
    states = states[run.tokens].view(run.texts, run.length, -1)
    means, largest = states.mean(dim=1), states.amax(dim=1)
    spread = states.std(dim=1, correction=0)
    return torch.stack([means, spread, states[:, 0], states[:, -1], largest], dim=1)
