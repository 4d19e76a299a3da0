"""Load a transformers model from its folder: complete weights, no foreign code, no pickles.

What loading takes is found out before: that transformers knows the model, and free memory. The
headers of safetensors files tell how many numbers a model has. In float32, which float16 is always
turned into, a file in bfloat16 takes twice its size. What a forward pass needs on top is small
beside that, since batches are bounded. Where a system does not tell what is free, nothing is
refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from itertools import takewhile
from pathlib import Path
from typing import Any

from calipers import memory
from calipers.embedders.models.find import FoundModel
from calipers.embedders.models.gguf import is_gguf, read_head
from calipers.embedders.models.model_files import find_weights, read_config
from calipers.embedders.models.tensors import read_header
from calipers.embedders.options import EmbedderOptions, choose_device, choose_dtype
from calipers.embedders.states.gguf_model import load_gguf_model, load_gguf_tokenizer
from calipers.embedders.states.loading import check_complete, quiet, recent, unreadable
from calipers.errors import InputError, require
from calipers.memory import size_words
from calipers.samples.readers.vectors import TensorEntry
from calipers.samples.wording import describe

_POSITIONS = ("max_position_embeddings", "max_encoder_position_embeddings", "max_seq_len")
"""What kinds of models call the number of their positions."""
ENCODERS = frozenset({"t5", "mt5", "umt5"})
"""Encoder–decoders of which transformers builds the encoder alone."""
UNLIMITED = 1_000_000
"""Tokenizers that know no limit name a number beyond this."""


def load_model(
    folder: Path,
    *,
    causal: bool = False,
    stored_dtype: bool = False,
    trust_remote_code: bool = False,
    allow_pickle: bool = False,
) -> Any:
    """Load a model without its head; of an encoder–decoder the encoder; or a causal model.

    Parameters
    ----------
    folder
        The model's files, or its GGUF file.
    causal
        Whether the head that predicts the next token is loaded too.
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
    if is_gguf(folder):
        return load_gguf_model(folder, causal=causal, dtype="float32")
    transformers = require("transformers", extra="models", purpose=f"the model {str(folder)!r}")
    word = "dtype" if recent(transformers, 4, 56) else "torch_dtype"
    kind = transformers.AutoModelForCausalLM if causal else _class(transformers, folder)
    with quiet(transformers):
        try:
            model, loading = kind.from_pretrained(
                str(folder),
                local_files_only=True,
                use_safetensors=None if allow_pickle else True,
                trust_remote_code=trust_remote_code,
                output_loading_info=True,
                ignore_mismatched_sizes=True,  # so that they can be named
                **{word: "auto" if stored_dtype else "float32"},
            )
        except Exception as error:  # transformers raises whatever a broken file leads to
            raise unreadable(folder, "model", error) from error
    for name, stored, needed in sorted(loading["mismatched_keys"]):
        raise InputError(
            f"{folder}: the weights do not fit config.json: {name} has the shape {tuple(stored)}, "
            f"but must have {tuple(needed)}"
        )
    if causal:
        check_complete(folder, loading["missing_keys"])
        return model.eval()
    # The pooler is made for tasks that look at whole texts, and states do not pass through it;
    # nor do those of an encoder pass through its decoder
    idle = "pooler|^decoder\\." if model.config.is_encoder_decoder else "pooler"
    check_complete(folder, (name for name in loading["missing_keys"] if not re.search(idle, name)))
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
    if is_gguf(folder):
        return load_gguf_tokenizer(folder)
    transformers = require("transformers", extra="models", purpose=f"the model {str(folder)!r}")
    with quiet(transformers):
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(
                str(folder), local_files_only=True, trust_remote_code=trust_remote_code
            )
        except Exception as error:  # transformers raises whatever a broken file leads to
            raise unreadable(folder, "tokenizer", error) from error
    longest = tokenizer.model_max_length
    if not isinstance(longest, int | float) or not math.isfinite(longest):
        raise InputError(
            f"{folder}: model_max_length of the tokenizer must be a finite number; "
            f"found {describe(longest)}"
        )
    return tokenizer


Encode = Callable[[list[str]], list[list[int]]]
"""Texts to the ids of their tokens, the model's own marks included, nothing cut."""


def encoder(tokenizer: Any) -> Encode:
    """Return a function from texts to ids; it neither pads nor truncates."""

    def encode(texts: list[str]) -> list[list[int]]:
        ids: list[list[int]] = tokenizer(
            texts, return_attention_mask=False, return_token_type_ids=False, verbose=False
        )["input_ids"]
        return ids

    return encode


def closing(encode: Encode) -> int:
    """Count the tokens that close a text: those that every text ends in."""
    empty, other = encode(["", "a"])
    pairs = zip(reversed(empty), reversed(other), strict=False)
    return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))


def check_length(asked: int, limit: int | None, marks: int) -> int:
    """Return the number of tokens that a person asked for.

    Raises
    ------
    InputError
        If the model cannot read as many, or no word fits beside so many marks.
    """
    if asked <= marks or (limit is not None and asked > limit):
        most = f"to {limit}, the most that the model reads" if limit else "or more"
        raise InputError(f"max_length must be {marks + 1} {most}; found {asked}")
    return asked


def layer_count(model: Any) -> int:
    """Return the number of layers; of a model that also takes images, of its text part."""
    return int(text_config(model, "num_hidden_layers").num_hidden_layers)


def position_limit(model: Any) -> int | None:
    """Return the number of positions of a model; None where they are relative."""
    table = _padded_positions(model)
    if table is not None:
        return int(len(table.weight) - table.padding_idx - 1)
    for name in _POSITIONS:
        positions = getattr(text_config(model, name), name, None)
        if positions is not None:
            return int(positions) if positions > 0 else None
    return None


def padding_position(model: Any) -> int | None:
    """Return the number of the padding token where positions are counted from it."""
    table = _padded_positions(model)
    return None if table is None else int(table.padding_idx)


_RESCALED = ("dynamic", "longrope")


def rescales_positions(model: Any) -> bool:
    """Whether the rotary positions depend on the longest text of a batch."""
    config = text_config(model)
    rotary = str(getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None))
    return any(kind in rotary for kind in _RESCALED)


def text_config(model: Any, name: str | None = None) -> Any:
    """Return the configuration of the text part, or of the model if that has the attribute."""
    config = model.config
    if (name and hasattr(config, name)) or not hasattr(config, "get_text_config"):
        return config
    return config.get_text_config()


def _padded_positions(model: Any) -> Any:
    """The positions of RoBERTa and its kind, who count from behind the padding token's number."""
    for name, part in model.named_modules():
        if name.endswith("position_embeddings") and getattr(part, "padding_idx", None) is not None:
            return part
    return None


def end_at(model: Any, layer: int, folder: Path) -> None:
    """Truncate a model after one layer; its final norm then applies to that layer.

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
        text_config(model, "num_hidden_layers").num_hidden_layers = layer
    ids = torch.zeros((1, 1), dtype=torch.int64)
    with torch.inference_mode():
        output = model(input_ids=ids, attention_mask=ids + 1, output_hidden_states=True)
    if len(output.hidden_states) != layer + 1:
        raise InputError(
            f"{folder}: this kind of model cannot be cut at layer {layer}; give the last layer, "
            f"{layers}"
        )


def layer_stack(model: Any, layers: int) -> Any:
    """Return the list of the model's layers; None if there is none of that length."""
    import torch

    lists = (part for part in model.modules() if isinstance(part, torch.nn.ModuleList))
    return next((part for part in lists if len(part) == layers), None)


def versions(*packages: str) -> dict[str, str]:
    """Return the version of each package that can change a vector."""
    return {
        name: require(name, extra="models", purpose="the embedder").__version__ for name in packages
    }


def _class(transformers: Any, folder: Path) -> Any:
    """What loads the model: of T5 and its kin the encoder alone, which may be all there is."""
    config = read_config(folder)
    if config.get("model_type") in ENCODERS:
        return transformers.AutoModelForTextEncoding
    alone = [name for name in config.get("architectures") or () if name.endswith("EncoderModel")]
    return getattr(transformers, alone[0] if alone else "AutoModel", transformers.AutoModel)


_WIDTH = 4
"""Bytes that a number takes in float32."""
MARGIN = 1.1
"""How many times its weights a model needs, with what it computes."""


def check_fits(name: str, weights: Iterable[Path], *, device: str, dtype: str, torch: Any) -> None:
    """Refuse a model that does not fit in the free memory.

    Parameters
    ----------
    name
        The name of the embedder.
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
    stored = sum(loaded_size(path, "bfloat16") for path in weights)
    check_room(name, needed, stored, device=device, dtype=dtype, torch=torch)


def check_room(name: str, needed: int, stored: int, *, device: str, dtype: str, torch: Any) -> None:
    """Refuse a model whose weights need more bytes than are free.

    Parameters
    ----------
    name
        The name of the embedder.
    needed, stored
        Bytes that its weights take in `dtype`, and as they are stored.
    device, dtype, torch
        As for :func:`check_fits`.

    Raises
    ------
    InputError
        If it needs more than is free.
    """
    free = free_memory(device, torch)
    if free is None or needed * MARGIN <= free:
        return
    auto = "`dtype='auto'`, which takes half of that on hardware that computes in bfloat16, "
    raise InputError(
        f"the model {name!r} does not fit {'in memory' if device == 'cpu' else f'on {device!r}'}: "
        f"its weights take {size_words(needed)} in {dtype}, and with what it computes "
        f"{size_words(needed * MARGIN)}, but {size_words(free)} are free; try "
        f"{auto if stored < needed else ''}a smaller model, or another device"
    )


def loaded_size(path: Path, dtype: str) -> int:
    """Return the bytes that the tensors of a file need while loading, at some precision.

    Only bfloat16 stays as it is stored, and only where it is computed in. The content of a pickled
    file is not known; its own size stands for it.
    """
    if path.suffix != ".safetensors":
        return path.stat().st_size
    return sum(_in_memory(tensor, dtype) for tensor in read_header(path).values())


def _in_memory(tensor: TensorEntry, dtype: str) -> int:
    unchanged = not tensor.floats or (tensor.dtype == "BF16" and dtype == "bfloat16")
    return tensor.size if unchanged else tensor.numbers * _WIDTH


def free_memory(device: str, torch: Any) -> int | None:
    """Return the free bytes where a model will be loaded; None where they are unknown."""
    if device.startswith("cuda"):
        return int(torch.cuda.mem_get_info(device)[0])
    return memory.free_memory()


def check_loadable(model: FoundModel, options: EmbedderOptions) -> None:
    """Refuse a model that cannot be loaded, before loading any of it.

    Raises
    ------
    InputError
        If transformers does not know it, it needs code that may not be run, the device is not
        there, or the weights do not fit in memory.
    MissingExtraError
        If torch or transformers is not installed.
    """
    purpose = f"the model {model.name!r}"
    torch = require("torch", extra="models", purpose=purpose)
    device = choose_device(options.device, torch)
    dtype = choose_dtype(options.dtype, device, torch)
    transformers = require("transformers", extra="models", purpose=purpose)
    if is_gguf(model.folder):
        needed = read_head(model.folder).numbers * _WIDTH
        check_room(model.name, needed, needed, device=device, dtype=dtype, torch=torch)
        return
    _check_known(model, options, transformers)
    weights = find_weights(model.folder, allow_pickle=options.allow_pickle)
    check_fits(model.name, weights, device=device, dtype=dtype, torch=torch)


def _check_known(model: FoundModel, options: EmbedderOptions, transformers: Any) -> None:
    kind = model.config["model_type"]
    known = kind in transformers.CONFIG_MAPPING
    names = model.config.get("architectures") or ()
    custom_code = model.config.get("auto_map") or {}
    if custom_code and not (known and all(hasattr(transformers, name) for name in names)):
        if options.trust_remote_code:
            return
        raise InputError(
            f"the model {model.name!r} needs code of its own (auto_map in config.json), which is "
            "not run unless you trust where it comes from; then add `trust_remote_code=True`"
        )
    if not known:
        raise InputError(
            f"{model.folder / 'config.json'}: transformers {transformers.__version__} does not "
            f"know the model_type {kind!r}; a newer version may"
        )
