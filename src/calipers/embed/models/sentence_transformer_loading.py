"""How sentence-transformers itself loads a model: quietly, and from its folder alone."""

from __future__ import annotations

from typing import Any

from calipers.embed.device import choose_device, choose_dtype
from calipers.embed.models.model_folder import FoundModel
from calipers.embed.models.sentence_transformer_settings import includes_prompt
from calipers.embed.options import Options
from calipers.embed.states.pretrained import quiet, unreadable
from calipers.errors import InputError, require


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
        return None if limit is None or limit > 1_000_000 else int(limit)
    if limit is not None and asked > limit:
        raise InputError(
            f"max_length must be 1 to {limit}, the most that {name} reads; found {asked}"
        )
    model.max_seq_length = asked
    return asked
