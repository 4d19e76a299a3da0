"""Where a model's files are on this machine, and which files they are."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from calipers.errors import InputError, require

_HUB_NAME = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?")
_NO_MODEL = "model must be 'minilm', a folder or a name on the hub; found {found}"
_PARTS = (
    "config.json",
    "*.safetensors",
    "model.safetensors.index.json",
    "tokenizer*",
    "vocab*",
    "merges.txt",
    "*.model",
    "special_tokens_map.json",
    "added_tokens.json",
)


def find_folder(model: str | Path, *, offline: bool = True) -> Path:
    """Find the folder of a model: as named, or in the local Hugging Face cache.

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
        If there is no such folder, or it lacks a configuration or safetensors weights.
    """
    if not isinstance(model, str | Path):
        raise InputError(_NO_MODEL.format(found=repr(model)))
    path = Path(model).expanduser()
    folder = path if path.is_dir() else _from_hub(path, str(model), offline)
    for pattern in ("config.json", "*.safetensors"):
        if not any(folder.glob(pattern)):
            raise InputError(
                f"{folder}: the folder of a model must hold config.json and its weights as "
                f"safetensors files; found no {pattern}"
            )
    return folder


def read_config(folder: Path) -> dict[str, Any]:
    """Read ``config.json`` as it stands."""
    path = folder / "config.json"
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as JSON: {error}") from error
    if not isinstance(config, dict):
        raise InputError(f"{path}: must hold a JSON object; found a {type(config).__name__}")
    return config


def content_hash(folder: Path) -> str:
    """SHA-256 over the names and bytes of the files that make the model and its tokenizer."""
    digest = hashlib.sha256()
    for path in sorted({path for pattern in _PARTS for path in folder.glob(pattern)}):
        digest.update(f"{path.name}\0{path.stat().st_size}\0".encode())
        for block in _blocks(path):
            digest.update(block)
    return digest.hexdigest()


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(1 << 22):
            yield block


def _from_hub(path: Path, name: str, offline: bool) -> Path:
    if path.exists():
        raise InputError(f"model must be the folder of a model; found the file {name!r}")
    if not _HUB_NAME.fullmatch(name):
        raise InputError(_NO_MODEL.format(found=repr(name)))
    hub = require("huggingface_hub", extra="text", purpose=f"the model {name!r}")
    wanted = ["*.json", "*.safetensors", "*.txt", "*.model"]  # never pickled weights
    try:
        found = hub.snapshot_download(
            name, allow_patterns=wanted, ignore_patterns=["*/*"], local_files_only=offline
        )
    except (OSError, ValueError, hub.errors.HfHubHTTPError) as error:
        raise _not_found(name, offline, error) from error
    return Path(found)


def _not_found(name: str, offline: bool, error: Exception) -> InputError:
    if offline:
        return InputError(
            f"model {name!r} is no folder here and is not in the local Hugging Face cache; give "
            "'minilm', the folder of a model, or offline=False to download it"
        )
    return InputError(f"model {name!r} cannot be downloaded: {str(error).splitlines()[0]}")
