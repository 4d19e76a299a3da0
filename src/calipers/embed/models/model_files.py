"""Whether a folder holds all that a model needs: configuration, weights, tokenizer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from calipers.embed.models.model_kinds import has_tokenizer, reads_images
from calipers.embed.models.safetensors_header import read_header
from calipers.embed.models.sentence_transformer_files import (
    MODULES,
    Module,
    read_json,
    read_modules,
)
from calipers.errors import InputError

SAFE = ("model.safetensors", "model.safetensors.index.json")
PICKLED = ("pytorch_model.bin", "pytorch_model.bin.index.json")
"""One file with all weights, and the list of the files among which they are divided."""
_OTHER = ("*.h5", "*.msgpack", "*.onnx", "*.gguf", "*.tflite", "*.ot")
TRUST_PICKLE = (
    "reading a pickled file can run any code that is in it; if you trust where it comes from, add "
    "--allow-pickle (allow_pickle=True)"
)


def check_files(folder: Path, *, allow_pickle: bool = False) -> None:
    """See that a folder holds a whole model, and that no file of its weights is cut short.

    Raises
    ------
    InputError
        If something is missing or damaged.
    """
    modules = read_modules(folder)
    for module in modules:
        _check_module(folder, module, allow_pickle)
    if not modules:
        check_model(folder, allow_pickle=allow_pickle)


def check_model(folder: Path, *, allow_pickle: bool = False) -> None:
    """The same for a plain transformers model."""
    config = read_config(folder)
    find_weights(folder, allow_pickle=allow_pickle)
    if not isinstance(config.get("model_type"), str):
        raise InputError(
            f"{folder / 'config.json'}: must name the model_type, such as 'gpt2', so that "
            f"transformers knows what to build; found {config.get('model_type')!r}"
        )
    if not reads_images(folder, config) and not has_tokenizer(folder):
        raise InputError(
            f"{folder}: holds a {config['model_type']} model, but no tokenizer (tokenizer.json, "
            "vocab.txt, vocab.json, *.model …); save the model's tokenizer into the same folder"
        )


def read_config(folder: Path) -> dict[str, Any]:
    """Read ``config.json`` as it stands.

    Raises
    ------
    InputError
        If it is not there, or holds no JSON object.
    """
    path = folder / "config.json"
    if not path.is_file():
        adapter = (folder / "adapter_config.json").is_file()
        rest = "; it holds an adapter: merge it into its base model first" if adapter else ""
        raise InputError(f"{folder}: the folder of a model must hold config.json; found none{rest}")
    config = read_json(path)
    if not isinstance(config, dict):
        raise InputError(f"{path}: must hold a JSON object; found a {type(config).__name__}")
    return config


def find_weights(folder: Path, *, allow_pickle: bool = False) -> tuple[Path, ...]:
    """Find the files that hold a model's weights.

    Raises
    ------
    InputError
        If there are none, some are missing or damaged, or they are pickled and may not be read.
    """
    found = _files(folder, *SAFE)
    if found:
        for path in found:
            read_header(path)
        return found
    pickled = _files(folder, *PICKLED)
    if pickled and allow_pickle:
        return pickled
    raise _no_weights(folder, pickled)


def _check_module(folder: Path, module: Module, allow_pickle: bool) -> None:
    own = folder / module.path
    if module.foreign:
        return
    if module.kind == "Transformer":
        check_model(own, allow_pickle=allow_pickle)
    elif module.kind in ("Pooling", "Dense") and not (own / "config.json").is_file():
        raise InputError(
            f"{own}: must hold config.json of the module {module.kind}, which "
            f"{folder / MODULES} names; found none"
        )
    pickled = any((own / name).is_file() for name in PICKLED)
    if module.kind == "Dense" or (pickled and module.path):
        find_weights(own, allow_pickle=allow_pickle)


def _files(folder: Path, whole: str, listed: str) -> tuple[Path, ...]:
    if (folder / whole).is_file():
        return (folder / whole,)
    if not (folder / listed).is_file():
        return ()
    index = read_json(folder / listed)
    places = index.get("weight_map") if isinstance(index, Mapping) else None
    if not isinstance(places, Mapping) or not places:
        raise InputError(f"{folder / listed}: must say in 'weight_map' which file holds a tensor")
    paths = tuple(folder / name for name in sorted(set(map(str, places.values()))))
    missing = [path.name for path in paths if path.parent != folder or not path.is_file()]
    if missing:
        raise InputError(
            f"{folder}: the weights are incomplete: {len(missing)} of {len(paths)} files are "
            f"missing, such as {missing[0]}"
        )
    return paths


def _no_weights(folder: Path, pickled: tuple[Path, ...]) -> InputError:
    if pickled:
        return InputError(
            f"{folder}: the weights are pickled ({pickled[0].name}) and there is no "
            f"{SAFE[0]}: {TRUST_PICKLE}"
        )
    other = next((path.name for form in _OTHER for path in sorted(folder.glob(form))), None)
    rest = f"; {other} is of a kind that is not read here" if other else ""
    return InputError(
        f"{folder}: holds no weights: the folder of a model must hold {SAFE[0]}, or {SAFE[1]} and "
        f"the files that it names{rest}"
    )
