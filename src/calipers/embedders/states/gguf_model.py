"""GGUF files as transformers models: dequantised weights and the tokenizer.

The numbers are those that the quantised weights stand for, in float32; llama.cpp rounds what goes
into a product too, so its likelihoods differ in the third digit. The tokenizer is made of the
file's vocabulary. How a text is divided before tokens are merged is only named there; a name whose
rule is not known here is refused, since numbers and marks would be cut otherwise than in training.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from calipers.embedders.models.gguf import package, read_head
from calipers.embedders.states.loading import check_complete, quiet, recent, unreadable
from calipers.errors import InputError, require

_NO_MERGES = frozenset({"llama", "gemma4", "t5"})
"""Kinds of vocabularies that divide texts by no rule of their own."""
_AS_GPT2 = frozenset({"gpt-2", "phi-2", "mpt", "olmo", "jais", "trillion", "gigachat", "mellum"})
"""Texts are divided as by GPT-2, which transformers does where it knows nothing else."""
_SINGLE_DIGITS = frozenset(
    {"smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b"}
)
"""As by GPT-2, with every digit on its own."""
_NOT_CAUSAL = frozenset({"bert", "nomic-bert", "jina-bert-v2", "t5", "t5encoder", "umt5"})


def load_gguf_model(path: Path, *, causal: bool, dtype: str) -> Any:
    """Load the model of a GGUF file, without its head or as a causal language model.

    Parameters
    ----------
    path
        The file.
    causal
        Whether the head that predicts the next token is loaded too.
    dtype
        Precision of the weights, such as ``"float32"``.

    Raises
    ------
    InputError
        If it is damaged, transformers cannot load it, or it does not predict the next token.
    MissingExtraError
        If ``gguf`` or ``accelerate`` is not installed.
    """
    head, transformers = read_head(path), _transformers(path)
    if causal and head.architecture in _NOT_CAUSAL:
        raise InputError(
            f"{path}: is not a causal language model: it is a {head.architecture} model, which "
            "does not predict the next token"
        )
    kind = transformers.AutoModelForCausalLM if causal else transformers.AutoModel
    more: dict[str, Any] = {"dtype" if recent(transformers, 4, 56) else "torch_dtype": dtype}
    if hasattr(transformers, "GgufConfig"):  # else the weights may stay quantised
        more["quantization_config"] = transformers.GgufConfig(dequantize=True)
    with alone(path) as folder, quiet(transformers), _read_once():
        try:
            model, loading = kind.from_pretrained(
                str(folder),
                gguf_file=path.name,
                local_files_only=True,
                output_loading_info=True,
                **more,
            )
        except Exception as error:  # transformers raises whatever a broken file leads to
            raise _unreadable(path, "model", error) from error
    check_complete(path, loading["missing_keys"])
    if causal:
        model.generation_config.eos_token_id = head.ends or None
    else:
        model.config.use_cache = False
    return model.eval()


def load_gguf_tokenizer(path: Path) -> Any:
    """Load the tokenizer of a GGUF file.

    Raises
    ------
    InputError
        If transformers cannot make it, or how texts are divided is not known.
    MissingExtraError
        If ``gguf`` is not installed.
    """
    head, transformers = read_head(path), _transformers(path)
    kind, rule = (head.values.get(f"tokenizer.ggml.{key}") for key in ("model", "pre"))
    with alone(path) as folder, quiet(transformers), _read_once():
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(
                str(folder), gguf_file=path.name, local_files_only=True
            )
        except Exception as error:  # transformers raises whatever a broken file leads to
            raise _unreadable(path, "tokenizer", error) from error
    if kind not in _NO_MERGES:
        _divide(tokenizer, path, rule)
    return tokenizer


def _divide(tokenizer: Any, path: Path, rule: str | None) -> None:
    """Have a tokenizer divide texts by the rule that the file names."""
    if rule in _SINGLE_DIGITS:
        from tokenizers import pre_tokenizers

        tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Digits(individual_digits=True),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
            ]
        )
    elif rule not in _AS_GPT2 and rule not in _of_transformers():
        raise InputError(
            f"{path}: divides texts before it makes tokens by the rule {rule!r} "
            "(tokenizer.ggml.pre), which is not known here, so that its tokens would differ from "
            "those in training; give the model as a transformers folder"
        )


def _of_transformers() -> frozenset[str]:
    """The rules that the installed transformers applies by their names."""
    try:
        from transformers.integrations.gguf import gguf_tokenizer_mapping as mapping
    except ImportError:
        return frozenset()
    return frozenset(getattr(mapping, "GGUF_PRE_TOKENIZER_SPLITS", ()))


def _transformers(path: Path) -> Any:
    package(str(path))
    for name in ("torch", "accelerate"):
        require(name, extra="gguf", purpose=f"the model {str(path)!r}")
    return require("transformers", extra="gguf", purpose=f"the model {str(path)!r}")


@contextlib.contextmanager
def alone(path: Path) -> Iterator[Path]:
    """Make a folder that holds only the file, so that nothing else is taken for its parts.

    Where a system makes no links, it is the folder of the file.
    """
    with tempfile.TemporaryDirectory(prefix="calipers-") as place:
        try:
            os.symlink(path.resolve(), Path(place) / path.name)
        except OSError:
            yield path.parent
        else:
            yield Path(place)


_READING = threading.RLock()


@contextlib.contextmanager
def _read_once() -> Iterator[None]:
    """Have transformers read the head of a file once, and faster.

    It asks ``gguf`` for the configuration and for the weights anew, which takes a quarter of a
    minute each for a vocabulary of 262,144: every word is cut out of a memory map, whose views cost
    more than those of an array.
    """
    import gguf

    def hold(self: Any, name: str, value: Any) -> None:
        plain = name == "data" and isinstance(value, np.memmap)
        object.__setattr__(self, name, value.view(np.ndarray) if plain else value)

    kind: Any = type("GGUFReader", (gguf.GGUFReader,), {"__setattr__": hold})

    with _READING:
        before = gguf.GGUFReader
        gguf.GGUFReader = functools.cache(kind)
        try:
            yield
        finally:
            gguf.GGUFReader = before


def _unreadable(path: Path, part: str, error: Exception) -> InputError:
    said = unreadable(path, part, error)
    if re.search("is not supported|Unrecognized|Cannot", str(said)):
        more = "a newer version of transformers may read it, or give a transformers folder"
        return InputError(f"{said}; {more}")
    return said
