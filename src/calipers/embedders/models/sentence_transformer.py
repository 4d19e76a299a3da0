"""Sentence-transformers models: their own embedding as view ``meaning``, with ``form`` beside it.

Where its steps are ordinary (a transformer, pooling, dense layers, length one), its files are read
as a :class:`~calipers.embedders.states.pooling.SentencePlan` and run in the same engine as any
other model, with vectors that equal ``SentenceTransformer.encode`` to 1e-5. What a plan cannot
express is not guessed at: the library itself runs such a model, which then has the one view
``meaning``. The
library pads texts, so that a vector may move in its last digits with the texts beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.embedders.embedder import (
    Embedder,
    EncodedBatch,
    check_texts,
    identity_line,
    model_signature,
)
from calipers.embedders.models.find import FoundModel
from calipers.embedders.models.model_files import Module, read_config, read_settings
from calipers.embedders.models.sentence_plan import (
    SETTINGS,
    check_type,
    includes_prompt,
    read_plan,
    read_prompt,
)
from calipers.embedders.options import EmbedderOptions, choose_device, choose_dtype
from calipers.embedders.reading import UnknownTokens, of_library, of_transformers
from calipers.embedders.states.batches import fits
from calipers.embedders.states.loading import quiet, recent, unreadable
from calipers.embedders.states.pretrained import UNLIMITED, check_loadable, versions
from calipers.errors import CalipersError, InputError, first_line, require
from calipers.lazy import lazily

TAKES = frozenset(
    {"max_length", "prefix", "revision", "offline", "trust_remote_code", "allow_pickle"}
)
_BATCH = 32


def load(model: FoundModel, modules: Sequence[Module], options: EmbedderOptions) -> Embedder:
    """Make the embedder of a sentence-transformers model.

    Raises
    ------
    InputError
        If the model cannot be read or loaded, needs code that may not be run, or does not take an
        option that was chosen.
    MissingExtraError
        If packages that it needs are not installed.
    """
    foreign = next((module for module in modules if module.foreign), None)
    if foreign is not None and not options.trust_remote_code:
        raise InputError(
            f"the model {model.name!r} needs code of its own ({foreign.type}), which is not run "
            "unless you trust where it comes from; then add `trust_remote_code=True`"
        )
    if modules[0].kind == "Transformer" and foreign is None:
        inner = model.folder / modules[0].path
        whole = replace(model, config=read_config(inner))
        check_loadable(replace(whole, folder=inner), options)
        plan = read_plan(whole, modules, options)
        if plan is not None:
            from calipers.embedders.states.transformer import TransformersEmbedder

            return TransformersEmbedder(replace(whole, folder=inner), options, plan=plan)
    return LibraryEmbedder(model, options)


class LibraryEmbedder(Embedder):
    """A sentence-transformers model run by its library.

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

    def __init__(self, model: FoundModel, options: EmbedderOptions) -> None:
        options.check_taken(model.name, TAKES)
        self.name, self._folder = model.name, model.folder
        settings = read_settings(model.folder, SETTINGS)
        check_type(model, settings)
        self._prefix = read_prompt(settings, options)
        self._batch = options.batch_size or _BATCH
        self._model = load_by_library(model, options)
        # Its own word tokenizers give no token for a word that they do not know
        self.leaves_out = not callable(getattr(self._model, "tokenizer", None))
        self._limit = limit_length(self._model, options.max_length, model.name)
        self._sign(model)

    def encode(self, samples: Sequence[Any]) -> EncodedBatch:
        """Embed texts, even empty ones.

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
        texts = check_texts(samples)
        if not texts:
            return EncodedBatch({"meaning": self._vectors(["a"])[:0]}, np.zeros(0, dtype=np.bool_))
        views, given = {"meaning": self._vectors(texts)}, [self._prefix + text for text in texts]
        tokens = self._tokens(given)
        if tokens is None:
            return EncodedBatch(views, self._truncated(texts, tokens))
        read = self._known.read(given, tokens, skip=len(self._prefix))
        return EncodedBatch(views, self._truncated(texts, tokens), read)

    def _vectors(self, texts: list[str]) -> NDArray[np.float32]:
        """The vectors of all texts; a batch that does not fit in memory is halved."""
        encoded: list[NDArray[np.float32]] = []
        while not fits(lambda: encoded.append(self._encoded(texts))):
            if self._batch == 1:
                raise InputError(
                    f"the embedder {self.name!r} does not have enough memory for a single text; "
                    "lower max_length, choose a smaller model, or device 'cpu' if this was a "
                    "graphics card"
                )
            self._batch = max(1, min(self._batch, len(texts)) // 2)
        vectors = encoded[0]
        if not np.isfinite(vectors).all():
            raise CalipersError(f"{self.name} gives vectors that are not finite")
        return vectors

    def _encoded(self, texts: list[str]) -> NDArray[np.float32]:
        # The library itself sorts them by length, and restores their order
        try:
            encoded = self._model.encode(
                self._filled(texts),
                prompt=self._prefix,
                batch_size=self._batch,
                show_progress_bar=False,
                convert_to_numpy=False,
                convert_to_tensor=True,
            )
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            # The modules of a model meet one another here first, as its files have described them
            raise InputError(
                f"{self._folder}: sentence-transformers cannot run the model that its files "
                f"describe: {first_line(error)}"
            ) from error
        vectors: NDArray[np.float32] = encoded.float().cpu().numpy()
        return vectors

    @lazily
    def _known(self) -> UnknownTokens:
        """Counts what the tokenizer does not know."""
        tokenizer = self._model.tokenizer
        return of_transformers(tokenizer) if callable(tokenizer) else of_library(tokenizer)

    def _truncated(self, texts: list[str], tokens: list[Any] | None) -> NDArray[np.bool_]:
        """Which texts were longer than is read; none where the tokenizer does not tell."""
        if self._limit is None or tokens is None:
            return np.zeros(len(texts), dtype=np.bool_)
        return np.array([len(text) > self._limit for text in tokens], dtype=np.bool_)

    def _tokens(self, texts: list[str]) -> list[Any] | None:
        tokenizer = getattr(self._model, "tokenizer", None)
        if callable(tokenizer):  # one of transformers
            tokens = tokenizer(texts, truncation=False, padding=False, verbose=False)
            ids: list[Any] = tokens["input_ids"]
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
        mark = next(filter(None, (getattr(tokenizer, name, None) for name in names)), "")
        return [text if ids else mark for text, ids in zip(texts, tokens, strict=True)]

    def _sign(self, model: FoundModel) -> None:
        self.signature = model_signature(
            model.name,
            model.revision,
            dtype=getattr(self._model, "dtype", None) or "float32",
            device=self._model.device.type,
            max_length=str(self._limit or "any"),
            prefix=self._prefix,
        )
        self.view_signature = {"meaning": "sentence_transformers"}
        packages = versions("sentence_transformers", "torch", "transformers", "tokenizers")
        self.identity = identity_line({**self.signature, **self.view_signature, **packages})


def load_by_library(model: FoundModel, options: EmbedderOptions) -> Any:
    """Load a model with the library.

    Raises
    ------
    InputError
        If it cannot be loaded, or the device is not there.
    MissingExtraError
        If sentence-transformers is not installed.
    """
    purpose = f"the model {model.name!r}"
    torch = require("torch", extra="models", purpose=purpose)
    transformers = require("transformers", extra="models", purpose=purpose)
    library = require("sentence_transformers", extra="models", purpose=purpose)
    device = choose_device(options.device, torch)
    dtype = choose_dtype(options.dtype, device, torch)
    word = "dtype" if recent(transformers, 5) else "torch_dtype"
    with quiet(transformers):
        try:
            loaded = library.SentenceTransformer(
                str(model.folder),
                device=device,
                local_files_only=True,
                trust_remote_code=options.trust_remote_code,
                model_kwargs={
                    word: getattr(torch, dtype),
                    "use_safetensors": None if options.allow_pickle else True,
                },
            )
            if not includes_prompt(model.name, {}):
                loaded.set_pooling_include_prompt(False)
            return loaded.to(getattr(torch, dtype)).eval()
        except Exception as error:  # the library raises whatever a broken file leads to
            raise unreadable(model.folder, "model", error) from error


def limit_length(model: Any, asked: int | None, name: str) -> int | None:
    """Set the number of tokens that are read, and return it; None where the model has no limit."""
    limit = getattr(model, "max_seq_length", None)
    if asked is None:
        return None if limit is None or limit > UNLIMITED else int(limit)
    if limit is not None and asked > limit:
        raise InputError(
            f"max_length must be 1 to {limit}, the most that {name} reads; found {asked}"
        )
    model.max_seq_length = asked
    return asked
