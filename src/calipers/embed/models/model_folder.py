"""Where a model's files are on this machine, and one hash for all of them.

The hash tells two models in folders apart; a model of the hub goes by its commit.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calipers.embed.models.hub import from_hub
from calipers.embed.models.model_files import check_files, read_config, read_modules
from calipers.embed.options import Options
from calipers.errors import InputError
from calipers.files import at_home, check_plain

_PARTS = (
    "config.json",
    "*.safetensors",
    "model.safetensors.index.json",
    "tokenizer*",
    "vocab*",
    "merges.txt",
    "*.model",
    "*.spm",
    "*.tiktoken",
    "bpe.codes",
    "tekken.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "preprocessor_config.json",
    "processor_config.json",
    "modules.json",
    "config_sentence_transformers.json",
    "sentence_*_config.json",
    "*.py",
)
_OF_MODULES = ("*.json", "*.safetensors", "*.txt", "*.model")


def content_hash(folder: Path, *, pickled: bool = False) -> str:
    """SHA-256 over the names and bytes of the files that make the model and its tokenizer.

    Parameters
    ----------
    folder
        The model's files; those of a sentence-transformers model's modules may lie below it.
    pickled
        Whether pickled weights count too.
    """
    digest = hashlib.sha256()
    for path in sorted(set(_parts(folder, (*_PARTS, *(["*.bin"] if pickled else []))))):
        name = path.relative_to(folder).as_posix()
        digest.update(f"{name}\0{path.stat().st_size}\0".encode())
        for block in _blocks(path):
            digest.update(block)
    return digest.hexdigest()


def _parts(folder: Path, patterns: tuple[str, ...]) -> Iterator[Path]:
    for pattern in patterns:
        yield from folder.glob(pattern)
    below = (*_OF_MODULES, *patterns)
    for module in read_modules(folder):
        if module.path:
            yield from (path for form in below for path in (folder / module.path).glob(form))


def _blocks(path: Path) -> Iterator[bytes]:
    check_plain(path)
    with path.open("rb") as file:
        while block := file.read(1 << 22):
            yield block


@dataclass(frozen=True, eq=False)
class FoundModel:
    """A model whose files are on this machine.

    Attributes
    ----------
    folder
        Where they are.
    name
        What a person calls it: its name on the hub, or that of its folder.
    revision
        The commit on the hub, or the beginning of the hash of its files.
    config
        What its ``config.json`` says; empty for a sentence-transformers model without one.
    """

    folder: Path
    name: str
    revision: str
    config: Mapping[str, Any]


def find_model(name: str, options: Options) -> FoundModel:
    """Find a model: in a folder, in the local Hugging Face cache, or on the hub.

    The hub is asked only for what the cache does not hold, and never with ``options.offline``.

    Parameters
    ----------
    name
        A folder, or the name of a model on the Hugging Face hub.
    options
        ``revision``, ``offline``, ``allow_pickle`` and ``trust_remote_code`` are read.

    Raises
    ------
    InputError
        If there is no such model or revision, it may not or cannot be downloaded, or its files
        are incomplete, damaged, or pickled and `options` do not allow that.
    MissingExtraError
        If a name must be looked up and huggingface_hub is not installed.
    """
    path = at_home(name)
    if not os.path.isdir(path):
        folder, called, commit = from_hub(name, options)
        return FoundModel(folder, called, commit[:12], _config(folder))
    if options.revision is not None:
        raise InputError(
            f"{name}: is a folder, and a revision names a version on the hub; found revision "
            f"{options.revision!r}"
        )
    check_files(path, allow_pickle=options.allow_pickle)
    content = content_hash(path, pickled=options.allow_pickle)
    return FoundModel(path, path.resolve().name, content[:12], _config(path))


def find_folder(model: str | Path, *, offline: bool = True) -> Path:
    """Find the folder of a plain transformers model with safetensors weights.

    Parameters
    ----------
    model
        A folder with ``config.json``, ``*.safetensors`` and the tokenizer's files, or the name of
        a model on the Hugging Face hub.
    offline
        Whether a name may only be looked up in the local cache; False lets it be downloaded.

    Raises
    ------
    InputError
        If there is no such model, it may not or cannot be downloaded, or it lacks a configuration
        or safetensors weights.
    MissingExtraError
        If a name must be looked up and huggingface_hub is not installed.
    """
    if not isinstance(model, str | Path):
        raise InputError(f"model must be 'minilm', a folder or a name on the hub; found {model!r}")
    path = at_home(model)
    if not os.path.isdir(path):
        return from_hub(str(model), Options(offline=offline))[0]
    for pattern in ("config.json", "*.safetensors"):
        if not any(path.glob(pattern)):
            raise InputError(
                f"{path}: the folder of a model must hold config.json and its weights as "
                f"safetensors files; found no {pattern}"
            )
    return path


def _config(folder: Path) -> dict[str, Any]:
    needed = not read_modules(folder) or (folder / "config.json").is_file()
    return read_config(folder) if needed else {}
