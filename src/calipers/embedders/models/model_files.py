"""The files in a model's folder: whether they are complete, and which kind of model they make.

A plain transformers model has a configuration, weights and a tokenizer, or an image processor; a
sentence-transformers model lists its modules, and each has files of its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from calipers.embedders.models.tensors import read_header
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
    """Read the modules of a model in order; none without a ``modules.json``.

    Raises
    ------
    InputError
        If the file is not a list of modules, or one lies outside the model's folder.
    """
    path = folder / MODULES
    if not path.is_file():
        return ()
    entries = read_json(path)
    if not isinstance(entries, list) or not entries:
        raise InputError(f"{path}: must list the modules of a sentence-transformers model")
    modules = []
    for number, entry in enumerate(entries, start=1):
        match entry:
            case {"type": str(kind), "path": str(where)}:
                modules.append(Module(kind, where))
            case _:
                raise InputError(
                    f"{path}: module {number} must have a 'type' and a 'path', both strings"
                )
        inside = PurePosixPath(where)
        if inside.is_absolute() or ".." in inside.parts or "\\" in where:
            raise InputError(
                f"{path}: module {number} must lie in the model's folder; found {where!r}"
            )
    return tuple(modules)


def read_settings(folder: Path, *names: str) -> dict[str, Any]:
    """Read the first of these JSON files that exists; nothing if none does.

    Raises
    ------
    InputError
        If the file does not hold a JSON object.
    """
    for name in names:
        if (folder / name).is_file():
            return _read_object(folder / name)
    return {}


def _read_object(path: Path) -> dict[str, Any]:
    settings = read_json(path)
    if not isinstance(settings, dict):
        raise InputError(f"{path}: must hold a JSON object; found a {type(settings).__name__}")
    return settings


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


VISION = frozenset(
    {
        *("vit", "vit_mae", "vit_msn", "deit", "beit", "data2vec-vision", "levit", "cvt", "pvt"),
        *("dinov2", "dinov2_with_registers", "dinov3_vit", "dinov3_convnext", "ijepa", "hiera"),
        *("clip", "clip_vision_model", "siglip", "siglip_vision_model", "siglip2"),
        *("siglip2_vision_model", "chinese_clip", "chinese_clip_vision_model", "altclip"),
        *("resnet", "regnet", "convnext", "convnextv2", "efficientnet", "bit", "poolformer"),
        *("swin", "swinv2", "swiftformer", "focalnet", "van", "dinat", "pvt_v2", "segformer"),
        *("mobilenet_v1", "mobilenet_v2", "mobilevit", "mobilevitv2", "timm_wrapper"),
    }
)
"""Types of models that read images, alone or beside texts."""

_PROCESSORS = ("preprocessor_config.json", "processor_config.json")
_OF_IMAGES = ("image_processor_type", "image_processor", "image_mean")
_VOCABULARIES = (
    *("tokenizer*", "vocab*", "merges.txt", "bpe.codes", "*.model", "*.spm", "*.tiktoken"),
    *("tekken.json", "spiece.*"),
)


def reads_images(folder: Path, config: Mapping[str, Any]) -> bool:
    """Tell whether the model in a folder reads images.

    It does if its type is one of `VISION`, or if there is an image processor and no tokenizer.
    """
    if config.get("model_type") in VISION:
        return True
    prepares = any(key in read_settings(folder, name) for name in _PROCESSORS for key in _OF_IMAGES)
    return prepares and not has_tokenizer(folder)


def has_tokenizer(folder: Path) -> bool:
    """Tell whether the folder holds any file of a tokenizer."""
    return any(any(folder.glob(pattern)) for pattern in _VOCABULARIES)


SAFE = ("model.safetensors", "model.safetensors.index.json")
PICKLED = ("pytorch_model.bin", "pytorch_model.bin.index.json")
"""One file with all weights, and the list of the files among which they are divided."""
_OTHER = ("*.h5", "*.msgpack", "*.onnx", "*.gguf", "*.tflite", "*.ot")
TRUST_PICKLE = (
    "reading a pickled file can run any code that is in it; if you trust where it comes from, add "
    "`allow_pickle=True`"
)


def check_files(folder: Path, *, allow_pickle: bool = False) -> None:
    """Check that a folder holds a complete model, and that no weight file is truncated.

    Raises
    ------
    InputError
        If something is missing or damaged.
    """
    modules = read_modules(folder)
    if not modules:
        _check_model(folder, allow_pickle)
    for module in modules:
        subfolder = folder / module.path
        if module.foreign:
            continue
        if module.kind == "Transformer":
            _check_model(subfolder, allow_pickle)
        elif module.kind in ("Pooling", "Dense") and not (subfolder / "config.json").is_file():
            raise InputError(
                f"{subfolder}: must hold config.json of the module {module.kind}, which "
                f"{folder / MODULES} names; found none"
            )
        pickled = any((subfolder / name).is_file() for name in PICKLED)
        if module.kind == "Dense" or (pickled and module.path):
            find_weights(subfolder, allow_pickle=allow_pickle)


def _check_model(folder: Path, allow_pickle: bool) -> None:
    """See that a folder holds a whole transformers model."""
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
    """Read ``config.json`` without changes.

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
    return _read_object(path)


def find_weights(folder: Path, *, allow_pickle: bool = False) -> tuple[Path, ...]:
    """Find the files that hold a model's weights.

    Raises
    ------
    InputError
        If there are none, some are missing or damaged, or they are pickled and may not be read.
    """
    safe = _files(folder, *SAFE)
    for path in safe:
        read_header(path)
    pickled = () if safe else _files(folder, *PICKLED)
    if safe or (pickled and allow_pickle):
        return safe or pickled
    if pickled:
        raise InputError(
            f"{folder}: the weights are pickled ({pickled[0].name}) and there is no "
            f"{SAFE[0]}: {TRUST_PICKLE}"
        )
    other = next((path.name for form in _OTHER for path in sorted(folder.glob(form))), None)
    rest = f"; {other} is of a kind that is not read here" if other else ""
    if other is not None and other.endswith(".gguf"):
        rest = f"; of a GGUF model give the file itself: {folder / other}"
    raise InputError(
        f"{folder}: holds no weights: the folder of a model must hold {SAFE[0]}, or {SAFE[1]} and "
        f"the files that it names{rest}"
    )


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
