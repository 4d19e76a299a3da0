"""Sentence-transformers models of unusual build, run by the library itself.

They give the one view ``meaning``, equal to ``SentenceTransformer.encode``. Texts are padded as the
library pads them, so that a vector may move in its last digits with the texts beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.embed.minilm import not_a_text
from calipers.embed.models.model_folder import FoundModel
from calipers.embed.models.sentence_transformer_files import read_settings
from calipers.embed.models.sentence_transformer_loading import limit_length, load_by_library
from calipers.embed.models.sentence_transformer_settings import SETTINGS, check_type, read_prompt
from calipers.embed.options import Options
from calipers.embed.protocol import EncodedBatch
from calipers.errors import CalipersError, InputError, require

TAKES = frozenset(
    {"max_length", "prefix", "revision", "offline", "trust_remote_code", "allow_pickle"}
)
_BATCH = 32


class LibraryEmbedder:
    """A sentence-transformers model as the library runs it.

    Parameters
    ----------
    model
        Its files; nothing else is looked for, and nothing downloaded.
    options
        ``prefix`` takes the place of the model's default prompt; ``max_length``, ``device``,
        ``dtype``, ``batch_size``, ``trust_remote_code``.

    Raises
    ------
    InputError
        If the library cannot load the model, or an option has no meaning for it.
    MissingExtraError
        If sentence-transformers is not installed.
    """

    views = ("meaning",)
    reads = frozenset({"texts"})

    def __init__(self, model: FoundModel, options: Options) -> None:
        options.check_taken(model.name, TAKES)
        self.name, self._folder = model.name, model.folder
        settings = read_settings(model.folder, SETTINGS)
        check_type(model, settings)
        self._prefix = read_prompt(settings, options)
        self._batch = options.batch_size or _BATCH
        self._model = load_by_library(model, options)
        self._limit = limit_length(self._model, options.max_length, model.name)
        self._sign(model)

    def embed(self, samples: Sequence[Any]) -> EncodedBatch:
        """Embed texts; empty ones too.

        Returns
        -------
        EncodedBatch
            ``meaning``, float32 of shape (n, d).

        Raises
        ------
        InputError
            If a sample is not a text that can be written as UTF-8.
        CalipersError
            If a vector is not finite.
        """
        texts = _checked(samples)
        if not texts:
            return EncodedBatch({"meaning": self._vectors(["a"])[:0]}, np.zeros(0, dtype=np.bool_))
        return EncodedBatch({"meaning": self._vectors(texts)}, self._truncated(texts))

    def _vectors(self, texts: list[str]) -> NDArray[np.float32]:
        # The library itself sorts them by length, and restores their order
        try:
            found = self._model.encode(
                self._filled(texts),
                prompt=self._prefix,
                batch_size=self._batch,
                show_progress_bar=False,
                convert_to_numpy=False,
                convert_to_tensor=True,
            )
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            # The modules of a model meet one another here first, as its files have described them
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise InputError(
                f"{self._folder}: sentence-transformers cannot run the model that its files "
                f"describe: {reason}"
            ) from error
        vectors: NDArray[np.float32] = found.float().cpu().numpy()
        if not np.isfinite(vectors).all():
            raise CalipersError(f"{self.name} gives vectors that are not finite")
        return vectors

    def _truncated(self, texts: list[str]) -> NDArray[np.bool_]:
        """Which texts were longer than is read; none where the tokenizer does not tell."""
        tokens = self._tokens([self._prefix + text for text in texts])
        if self._limit is None or tokens is None:
            return np.zeros(len(texts), dtype=np.bool_)
        return np.array([len(each) > self._limit for each in tokens], dtype=np.bool_)

    def _tokens(self, texts: list[str]) -> list[Any] | None:
        tokenizer = getattr(self._model, "tokenizer", None)
        if callable(tokenizer):  # one of transformers
            found = tokenizer(texts, truncation=False, padding=False, verbose=False)
            ids: list[Any] = found["input_ids"]
            return ids
        split = getattr(tokenizer, "tokenize", None)  # one of the library's own
        return None if split is None else [split(text) for text in texts]

    def _filled(self, texts: list[str]) -> list[str]:
        """Put a mark in the place of texts without a token, on which transformers would fail."""
        tokenizer = getattr(self._model, "tokenizer", None)
        if not callable(tokenizer) or self._prefix:
            return texts
        tokens = self._tokens(texts) or []
        names = ("bos_token", "eos_token", "cls_token", "sep_token", "pad_token")
        mark = next((found for name in names if (found := getattr(tokenizer, name, None))), "")
        return [text if ids else mark for text, ids in zip(texts, tokens, strict=True)]

    def _sign(self, model: FoundModel) -> None:
        device, dtype = self._model.device, getattr(self._model, "dtype", None)
        self.signature = {
            "embedder": model.name,
            "revision": model.revision,
            "max_length": str(self._limit or "any"),
            "dtype": str(dtype or "float32").removeprefix("torch."),
            "device": device.type,
        }
        if self._prefix:
            self.signature["prefix"] = repr(self._prefix)
        self.view_signature = {"meaning": "sentence_transformers"}
        pins = {**self.signature, **self.view_signature, **_versions()}
        self.identity = "|".join(f"{key}:{value}" for key, value in pins.items())


def _checked(samples: Sequence[Any]) -> list[str]:
    texts = list(samples)
    for text in texts:
        try:
            text.encode()
        except (AttributeError, UnicodeEncodeError) as error:
            raise not_a_text(texts, error) from error
    return texts


def _versions() -> dict[str, str]:
    packages = ("sentence_transformers", "torch", "transformers", "tokenizers")
    return {
        name: require(name, extra="text", purpose="the embedder").__version__ for name in packages
    }
