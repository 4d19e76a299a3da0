"""What loading a model takes: that transformers knows it, and memory for its weights."""

from __future__ import annotations

from typing import Any

from calipers.embed.device import choose_device, choose_dtype
from calipers.embed.models.memory import check_fits
from calipers.embed.models.model_files import find_weights
from calipers.embed.models.model_folder import FoundModel
from calipers.embed.options import Options
from calipers.errors import InputError, require


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
