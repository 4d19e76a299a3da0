"""A transformers model from its folder, with nothing made up, run or unpickled unasked."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from calipers.embed.models.model_files import read_config
from calipers.errors import InputError, require
from calipers.samples.wording import describe

_POSITIONS = ("max_position_embeddings", "max_encoder_position_embeddings", "max_seq_len")
"""What kinds of models call the number of their positions."""
ENCODERS = frozenset({"t5", "mt5", "umt5"})
"""Encoder–decoders of which transformers builds the encoder alone."""


def load_model(
    folder: Path,
    *,
    stored_dtype: bool = False,
    trust_remote_code: bool = False,
    allow_pickle: bool = False,
) -> Any:
    """Load a model without its head; of an encoder–decoder the encoder.

    Parameters
    ----------
    folder
        The model's files.
    stored_dtype
        Whether weights stay in the precision in which they are stored; else they are float32.
    trust_remote_code
        Whether code in the folder may be run.
    allow_pickle
        Whether weights may be read from pickled files where there are no others.

    Raises
    ------
    InputError
        If transformers cannot load the model, or weights are missing.
    """
    transformers = require("transformers", extra="text", purpose=f"the model {str(folder)!r}")
    with quiet(transformers):
        try:
            model, loading = _class(transformers, folder).from_pretrained(
                str(folder),
                local_files_only=True,
                use_safetensors=None if allow_pickle else True,
                trust_remote_code=trust_remote_code,
                output_loading_info=True,
                ignore_mismatched_sizes=True,  # so that they can be named
                **{_dtype_word(transformers): "auto" if stored_dtype else "float32"},
            )
        except Exception as error:  # transformers raises whatever a broken file leads to
            raise unreadable(folder, "model", error) from error
    _check_shapes(folder, loading["mismatched_keys"])
    _check_complete(folder, model, loading["missing_keys"])
    model.config.use_cache = False
    encoder = model.get_encoder() if model.config.is_encoder_decoder else model
    return encoder.eval()


def load_tokenizer(folder: Path, *, trust_remote_code: bool = False) -> Any:
    """Load the tokenizer of a model.

    Raises
    ------
    InputError
        If transformers cannot load it, or it does not say in numbers how much it reads.
    """
    transformers = require("transformers", extra="text", purpose=f"the model {str(folder)!r}")
    with quiet(transformers):
        try:
            found = transformers.AutoTokenizer.from_pretrained(
                str(folder), local_files_only=True, trust_remote_code=trust_remote_code
            )
        except Exception as error:  # transformers raises whatever a broken file leads to
            raise unreadable(folder, "tokenizer", error) from error
    longest = found.model_max_length
    if not isinstance(longest, int | float) or not math.isfinite(longest):
        raise InputError(
            f"{folder}: model_max_length of the tokenizer must be a finite number; "
            f"found {describe(longest)}"
        )
    return found


def layer_count(model: Any) -> int:
    """How many layers a model has; of one that also sees images, those that read text."""
    return int(_text_config(model, "num_hidden_layers").num_hidden_layers)


def position_limit(model: Any) -> int | None:
    """How many tokens the model has positions for; None where they are relative."""
    table = _padded_positions(model)
    if table is not None:
        return int(len(table.weight) - table.padding_idx - 1)
    for name in _POSITIONS:
        found = getattr(_text_config(model, name), name, None)
        if found is not None:
            return int(found) if found > 0 else None
    return None


def padding_position(model: Any) -> int | None:
    """The number of the padding token where positions are counted from behind it."""
    table = _padded_positions(model)
    return None if table is None else int(table.padding_idx)


def _text_config(model: Any, name: str) -> Any:
    """The configuration that has an attribute: the model's, or that of the part that reads text."""
    config = model.config
    if hasattr(config, name) or not hasattr(config, "get_text_config"):
        return config
    return config.get_text_config()


def _padded_positions(model: Any) -> Any:
    """The positions of RoBERTa and its kind, who count from behind the padding token's number."""
    for name, part in model.named_modules():
        if name.endswith("position_embeddings") and getattr(part, "padding_idx", None) is not None:
            return part
    return None


def end_at(model: Any, layer: int, folder: Path) -> None:
    """Make one of the layers the last: what lies behind the last one is then applied to it.

    Parameters
    ----------
    model
        Changed in place; not yet on a device.
    layer
        Counted from 1.
    folder
        Where the model's files are, for messages.

    Raises
    ------
    InputError
        If this kind of model cannot be cut there.
    """
    import torch

    layers = layer_count(model)
    if layer < layers:
        stack = layer_stack(model, layers)
        if hasattr(model, "n_layers"):  # XLM and its kin count them themselves
            model.n_layers = layer
        elif model.config.model_type != "albert" and stack is not None:
            del stack[layer:]
        _text_config(model, "num_hidden_layers").num_hidden_layers = layer
    ids = torch.zeros((1, 1), dtype=torch.int64)
    with torch.inference_mode():
        found = model(input_ids=ids, attention_mask=ids + 1, output_hidden_states=True)
    if len(found.hidden_states) != layer + 1:
        raise InputError(
            f"{folder}: this kind of model cannot be cut at layer {layer}; give the last layer, "
            f"{layers}"
        )


def layer_stack(model: Any, layers: int) -> Any:
    """The list that holds the model's layers, as many as it has; None if there is none."""
    import torch

    lists = (part for part in model.modules() if isinstance(part, torch.nn.ModuleList))
    return next((part for part in lists if len(part) == layers), None)


@contextlib.contextmanager
def quiet(transformers: Any) -> Iterator[None]:
    """Keep transformers from writing on the terminal while it loads."""
    logging = transformers.utils.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def versions(*packages: str) -> dict[str, str]:
    """Tell the version of each package that can change a vector."""
    return {
        name: require(name, extra="text", purpose="the embedder").__version__ for name in packages
    }


def unreadable(folder: Path, part: str, error: Exception) -> InputError:
    """Say that transformers cannot load a part of a model's folder."""
    reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
    if isinstance(error, KeyError):
        reason = f"its files lack the entry {reason}"
    if "weights_only" in reason:  # torch would advise to let the file run its code
        reason = "its pickled weights hold more than tensors, which is not read even with leave"
    return InputError(f"{folder}: transformers cannot load the {part}: {reason}")


def _class(transformers: Any, folder: Path) -> Any:
    """What loads the model: of T5 and its kin the encoder alone, which may be all there is."""
    config = read_config(folder)
    if config.get("model_type") in ENCODERS:
        return transformers.AutoModelForTextEncoding
    alone = [name for name in config.get("architectures") or () if name.endswith("EncoderModel")]
    return getattr(transformers, alone[0] if alone else "AutoModel", transformers.AutoModel)


def _check_shapes(folder: Path, wrong: Any) -> None:
    for name, stored, needed in sorted(wrong):
        raise InputError(
            f"{folder}: the weights do not fit config.json: {name} has the shape {tuple(stored)}, "
            f"but must have {tuple(needed)}"
        )


def _check_complete(folder: Path, model: Any, missing: Any) -> None:
    # The pooler is made for tasks that look at whole texts, and states do not pass through it;
    # nor do those of an encoder pass through its decoder
    idle = "pooler|^decoder\\." if model.config.is_encoder_decoder else "pooler"
    needed = sorted(name for name in missing if not re.search(idle, name))
    if needed:
        raise InputError(f"{folder}: the weights lack {len(needed)} tensors, such as {needed[0]}")


def _dtype_word(transformers: Any) -> str:
    """What this version of transformers calls the precision of the weights."""
    found = re.match(r"(\d+)\.(\d+)", transformers.__version__)
    assert found is not None
    return "dtype" if (int(found[1]), int(found[2])) >= (4, 56) else "torch_dtype"
