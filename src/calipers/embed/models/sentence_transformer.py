"""Any sentence-transformers model: its own embedding as ``meaning``, and ``form`` beside it.

Where its steps are ordinary (a transformer, pooling, dense layers, length one), its files are read
as a :class:`~calipers.embed.states.pooling.SentencePlan` and run in the same engine as any other
model, with vectors that equal ``SentenceTransformer.encode`` to 1e-5. What a plan cannot express is
not guessed at: the library itself runs such a model, which then has the one view ``meaning``. The
library pads texts, so that a vector may move in its last digits with the texts beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.embed.embedder import Embedder, EncodedBatch
from calipers.embed.minilm import not_a_text
from calipers.embed.models.memory import check_loadable
from calipers.embed.models.model_files import (
    TRANSFORMER_CONFIGS,
    Module,
    read_config,
    read_settings,
)
from calipers.embed.models.model_folder import FoundModel
from calipers.embed.models.sentence_transformer_settings import (
    SETTINGS,
    Dense,
    check_type,
    includes_prompt,
    is_ordinary,
    moves,
    read_dense,
    read_length,
    read_pooling,
    read_prompt,
)
from calipers.embed.options import Options, choose_device, choose_dtype
from calipers.embed.states.pooling import SentencePlan
from calipers.embed.states.pretrained import load_tokenizer, quiet, unreadable, versions
from calipers.embed.states.tokens import UNLIMITED
from calipers.errors import CalipersError, InputError, require

TAKES = frozenset(
    {"max_length", "prefix", "revision", "offline", "trust_remote_code", "allow_pickle"}
)
_BATCH = 32


def load(model: FoundModel, modules: Sequence[Module], options: Options) -> Embedder:
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
            "unless you trust where it comes from; then add --trust-remote-code "
            "(trust_remote_code=True)"
        )
    if modules[0].kind == "Transformer" and foreign is None:
        inner = model.folder / modules[0].path
        whole = replace(model, config=read_config(inner))
        check_loadable(replace(whole, folder=inner), options)
        found = _planned(whole, inner_path=modules[0].path, modules=modules, options=options)
        if found is not None:
            return found
    return LibraryEmbedder(model, options)


def _planned(
    model: FoundModel, *, inner_path: str, modules: Sequence[Module], options: Options
) -> Embedder | None:
    from calipers.embed.states.transformer import TransformersEmbedder

    plan = read_plan(model, modules, options)
    if plan is None:
        return None
    inner = replace(model, folder=model.folder / inner_path)
    return TransformersEmbedder(inner, options, plan=plan)


def read_plan(
    model: FoundModel, modules: Sequence[Module], options: Options
) -> SentencePlan | None:
    """Read how a model makes sentence embeddings; None where only the library can.

    Parameters
    ----------
    model
        The whole model, with the transformer's configuration.
    modules
        What it is made of.
    options
        ``prefix`` takes the place of the model's own prompt, ``max_length`` of its own length;
        ``allow_pickle`` is read too.

    Raises
    ------
    InputError
        If a file cannot be read, or the model gives no sentence embeddings.
    """
    settings = read_settings(model.folder, SETTINGS)
    check_type(model, settings)
    steps = [module for module in modules if module.kind != "Dropout"]
    kinds = [step.kind for step in steps[:2]]
    if any(each.foreign for each in modules) or kinds != ["Transformer", "Pooling"]:
        return None
    transformer, pool = (model.folder / step.path for step in steps[:2])
    own = read_settings(transformer, *TRANSFORMER_CONFIGS)
    dense = _after(model.folder, steps[2:], options)
    if dense is None or not is_ordinary(own, model.config) or settings.get("truncate_dim"):
        return None
    pooling = read_settings(pool, "config.json")
    plan = SentencePlan(
        pooling=read_pooling(pool / "config.json", pooling),
        normalise=any(step.kind == "Normalize" for step in steps),
        max_length=read_length(transformer, own, model.config),
        prefix=read_prompt(settings, options),
        lower=bool(own.get("do_lower_case")),
        dense=dense,
    )
    if not plan.prefix or includes_prompt(model.name, pooling):
        return plan
    if "weighted_mean" in plan.pooling.split("+"):  # its weights count the tokens of the prompt
        return None
    return replace(plan, skipped=_tokens_of(transformer, plan, options))


def _after(folder: Path, steps: Sequence[Module], options: Options) -> tuple[Dense, ...] | None:
    """The dense layers behind pooling; None where there are other steps, or in another order."""
    kinds = [step.kind for step in steps]
    dense = kinds.count("Dense")
    if kinds[:dense] != ["Dense"] * dense or set(kinds[dense:]) - {"Normalize"}:
        return None
    if any(moves(folder / step.path) for step in steps[dense:]):
        return None
    found = [read_dense(folder / step.path, options.allow_pickle) for step in steps[:dense]]
    layers = tuple(layer for layer in found if layer is not None)
    return layers if len(layers) == dense else None


def _tokens_of(folder: Path, plan: SentencePlan, options: Options) -> int:
    """How many tokens the prompt is, without the mark that would close it."""
    tokenizer = load_tokenizer(folder, trust_remote_code=options.trust_remote_code)
    prompt = plan.prefix.lower() if plan.lower else plan.prefix
    ids = tokenizer(prompt)["input_ids"][: options.max_length or plan.max_length]
    return len(ids) - (bool(ids) and ids[-1] in tokenizer.all_special_ids)


class LibraryEmbedder(Embedder):
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

    def encode(self, samples: Sequence[Any]) -> EncodedBatch:
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
        pins = {
            **self.signature,
            **self.view_signature,
            **versions("sentence_transformers", "torch", "transformers", "tokenizers"),
        }
        self.identity = "|".join(f"{key}:{value}" for key, value in pins.items())


def _checked(samples: Sequence[Any]) -> list[str]:
    texts = list(samples)
    for text in texts:
        try:
            text.encode()
        except (AttributeError, UnicodeEncodeError) as error:
            raise not_a_text(texts, error) from error
    return texts


def load_by_library(model: FoundModel, options: Options) -> Any:
    """Load a model by the library.

    Raises
    ------
    InputError
        If it cannot be loaded, or the device is not there.
    MissingExtraError
        If sentence-transformers is not installed.
    """
    purpose = f"the model {model.name!r}"
    torch = require("torch", extra="text", purpose=purpose)
    transformers = require("transformers", extra="text", purpose=purpose)
    library = require("sentence_transformers", extra="text", purpose=purpose)
    device = choose_device(options.device, torch)
    dtype = choose_dtype(options.dtype, device, torch)
    word = "dtype" if int(transformers.__version__.partition(".")[0]) >= 5 else "torch_dtype"
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
    """Set how many tokens are read, and return it; None where the model has no limit."""
    limit = getattr(model, "max_seq_length", None)
    if asked is None:
        return None if limit is None or limit > UNLIMITED else int(limit)
    if limit is not None and asked > limit:
        raise InputError(
            f"max_length must be 1 to {limit}, the most that {name} reads; found {asked}"
        )
    model.max_seq_length = asked
    return asked
