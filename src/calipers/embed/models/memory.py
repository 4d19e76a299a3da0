"""What loading a model takes, found out before: that transformers knows it, and free memory.

The headers of safetensors files tell how many numbers a model has. In float32, which float16 is
always turned into, a file in bfloat16 takes twice its size. What a forward pass needs on top is
small beside that, since batches are bounded. Where a system does not tell what is free, nothing is
refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from calipers import memory
from calipers.embed.models.model_files import find_weights
from calipers.embed.models.model_folder import FoundModel
from calipers.embed.models.tensors import read_header
from calipers.embed.options import Options, choose_device, choose_dtype
from calipers.errors import InputError, require
from calipers.memory import size_words
from calipers.samples.readers.vectors import TensorEntry

_WIDTH = 4
"""Bytes that a number takes in float32."""
MARGIN = 1.1
"""How many times its weights a model needs, with what it computes."""


def check_fits(name: str, weights: Iterable[Path], *, device: str, dtype: str, torch: Any) -> None:
    """Refuse a model that does not fit in the memory that is free.

    Parameters
    ----------
    name
        What a person calls it.
    weights
        Its files.
    device, dtype
        Where it will run, such as ``"cuda:0"``, and in which precision.
    torch
        The package, which knows the memory of a GPU.

    Raises
    ------
    InputError
        If it needs more than is free.
    """
    weights = tuple(weights)
    needed = sum(loaded_size(path, dtype) for path in weights)
    free = free_memory(device, torch)
    if free is None or needed * MARGIN <= free:
        return
    stored = sum(loaded_size(path, "bfloat16") for path in weights)
    auto = "--dtype auto, which takes half of that on hardware that computes in bfloat16, "
    raise InputError(
        f"the model {name!r} does not fit {'in memory' if device == 'cpu' else f'on {device!r}'}: "
        f"its weights take {size_words(needed)} in {dtype}, and with what it computes "
        f"{size_words(needed * MARGIN)}, but {size_words(free)} are free; try "
        f"{auto if stored < needed else ''}a smaller model, or another device"
    )


def loaded_size(path: Path, dtype: str) -> int:
    """Bytes that the tensors of a file take while they are loaded, for a precision to compute in.

    Only bfloat16 stays as it is stored, and only where it is computed in. The content of a pickled
    file is not known; its own size stands for it.
    """
    if path.suffix != ".safetensors":
        return path.stat().st_size
    return sum(_in_memory(each, dtype) for each in read_header(path).values())


def _in_memory(tensor: TensorEntry, dtype: str) -> int:
    kept = not tensor.floats or (tensor.dtype == "BF16" and dtype == "bfloat16")
    return tensor.size if kept else tensor.numbers * _WIDTH


def free_memory(device: str, torch: Any) -> int | None:
    """Bytes that are free where a model will be; None where nothing tells."""
    if device.startswith("cuda"):
        return int(torch.cuda.mem_get_info(device)[0])
    return memory.free_memory()


def check_loadable(model: FoundModel, options: Options) -> None:
    """Refuse a model that could not be loaded, before anything of it is.

    Raises
    ------
    InputError
        If transformers does not know it, it needs code that may not be run, the device is not
        there, or the weights do not fit in memory.
    MissingExtraError
        If torch or transformers is not installed.
    """
    purpose = f"the model {model.name!r}"
    torch = require("torch", extra="text", purpose=purpose)
    device = choose_device(options.device, torch)
    dtype = choose_dtype(options.dtype, device, torch)
    _check_known(model, options, require("transformers", extra="text", purpose=purpose))
    weights = find_weights(model.folder, allow_pickle=options.allow_pickle)
    check_fits(model.name, weights, device=device, dtype=dtype, torch=torch)


def _check_known(model: FoundModel, options: Options, transformers: Any) -> None:
    kind = model.config["model_type"]
    known = kind in transformers.CONFIG_MAPPING
    names = model.config.get("architectures") or ()
    own = model.config.get("auto_map") or {}
    if own and not (known and all(hasattr(transformers, name) for name in names)):
        if options.trust_remote_code:
            return
        raise InputError(
            f"the model {model.name!r} needs code of its own (auto_map in config.json), which is "
            "not run unless you trust where it comes from; then add --trust-remote-code "
            "(trust_remote_code=True)"
        )
    if not known:
        raise InputError(
            f"{model.folder / 'config.json'}: transformers {transformers.__version__} does not "
            f"know the model_type {kind!r}; a newer version may"
        )
