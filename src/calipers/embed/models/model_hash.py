"""One number for all files of a model: what tells two models in folders apart."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from calipers.embed.models.sentence_transformer_files import read_modules
from calipers.files import check_plain

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
