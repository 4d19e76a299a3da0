"""Which modules a sentence-transformers model is made of, as its files say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from calipers.errors import InputError

MODULES = "modules.json"
_LIBRARY = "sentence_transformers."
TRANSFORMER_CONFIGS = (
    "sentence_bert_config.json",
    *(
        f"sentence_{kind}_config.json"
        for kind in ("roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
    ),
)
"""Names that the settings of a Transformer module have had, the newest first."""


@dataclass(frozen=True)
class Module:
    """One step of a sentence-transformers model.

    Attributes
    ----------
    type
        Its class, with the module that holds it.
    path
        Subfolder of its files; empty for the model's own folder.
    """

    type: str
    path: str

    @property
    def kind(self) -> str:
        """Name of its class, such as ``"Pooling"``."""
        return self.type.rpartition(".")[2]

    @property
    def foreign(self) -> bool:
        """Whether its code is not part of the library."""
        return not self.type.startswith(_LIBRARY)


def read_modules(folder: Path) -> tuple[Module, ...]:
    """Read the modules of a model in their order; none where there is no ``modules.json``.

    Raises
    ------
    InputError
        If the file is not a list of modules, or one lies outside the model's folder.
    """
    path = folder / MODULES
    if not path.is_file():
        return ()
    found = read_json(path)
    if not isinstance(found, list) or not found:
        raise InputError(f"{path}: must list the modules of a sentence-transformers model")
    return tuple(_module(path, number, each) for number, each in enumerate(found, start=1))


def _module(path: Path, number: int, entry: Any) -> Module:
    entry = entry if isinstance(entry, Mapping) else {}
    kind, where = entry.get("type"), entry.get("path")
    if not isinstance(kind, str) or not isinstance(where, str):
        raise InputError(f"{path}: module {number} must have a 'type' and a 'path', both strings")
    inside = PurePosixPath(where)
    if inside.is_absolute() or ".." in inside.parts or "\\" in where:
        raise InputError(f"{path}: module {number} must lie in the model's folder; found {where!r}")
    return Module(kind, where)


def read_settings(folder: Path, *names: str) -> dict[str, Any]:
    """Read the first of these JSON files that is there; nothing where none is.

    Raises
    ------
    InputError
        If the file does not hold a JSON object.
    """
    for name in names:
        if (folder / name).is_file():
            found = read_json(folder / name)
            if not isinstance(found, dict):
                kind = type(found).__name__
                raise InputError(f"{folder / name}: must hold a JSON object; found a {kind}")
            return found
    return {}


def read_json(path: Path) -> Any:
    """Read a JSON file.

    Raises
    ------
    InputError
        If it cannot be read, or is no JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except RecursionError as error:
        raise InputError(f"{path}: cannot be read as JSON: it is nested too deeply") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as JSON: {error}") from error
