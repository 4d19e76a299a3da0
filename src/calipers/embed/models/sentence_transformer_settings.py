"""The files of a sentence-transformers model's modules: what their settings mean, in old forms and
new ones, and the dense layers that they hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from calipers.embed.models.model_files import TRANSFORMER_CONFIGS, find_weights, read_settings
from calipers.embed.models.model_folder import FoundModel
from calipers.embed.models.tensors import pickled_tensors, safe_tensors
from calipers.embed.options import Options
from calipers.embed.states.pretrained import ENCODERS
from calipers.embed.states.tokens import UNLIMITED
from calipers.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor

SETTINGS = "config_sentence_transformers.json"
_NO_PROMPT = "hkunlp/instructor-"
"""Models that the library knows, by name, to leave their prompts out of pooling."""
_FLAGS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
"""What older versions write for each way to pool, in the order in which vectors are joined."""
_POOLS = {
    "cls": "cls",
    "max": "max",
    "mean": "mean",
    "mean_sqrt_len_tokens": "mean_sqrt_len",
    "weightedmean": "weighted_mean",
    "lasttoken": "last",
}
_ALTERING = ("model", "config", "tokenizer", "processor")
_TEXT = {"method": "forward", "method_output_name": "last_hidden_state"}
_ENCODERS = frozenset(
    {
        *ENCODERS,
        *("longt5", "switch_transformers", "m2m_100", "marian", "pegasus"),
        *("pegasus_x", "blenderbot", "blenderbot-small", "prophetnet"),
    }
)
"""Encoder–decoders of which sentence-transformers takes the encoder alone; of others, both."""


def check_type(model: FoundModel, settings: Mapping[str, Any]) -> None:
    """Refuse models of the library that give no vector for a text.

    Raises
    ------
    InputError
        If the settings name another type.
    """
    kind = settings.get("model_type", "SentenceTransformer")
    if kind != "SentenceTransformer":
        raise InputError(
            f"{model.folder / SETTINGS}: must describe a SentenceTransformer, which gives one "
            f"vector for a text; found a {kind}"
        )


def read_prompt(settings: Mapping[str, Any], options: Options) -> str:
    """What stands before every text: the prefix that was chosen, or the model's default prompt."""
    if options.prefix is not None:
        return options.prefix
    prompts, default = settings.get("prompts"), settings.get("default_prompt_name")
    if not isinstance(prompts, Mapping) or not isinstance(default, str):
        return ""
    found = prompts.get(default)
    return found if isinstance(found, str) else ""


def includes_prompt(name: str, pooling: Mapping[str, Any]) -> bool:
    """Whether the tokens of a prompt count when a text's states are pooled."""
    return bool(pooling.get("include_prompt", True)) and not name.startswith(_NO_PROMPT)


def is_ordinary(own: Mapping[str, Any], config: Mapping[str, Any]) -> bool:
    """Whether the transformer is called on texts in the ordinary way."""
    if any(own.get(f"{part}_{word}") for part in _ALTERING for word in ("args", "kwargs")):
        return False
    inputs = own.get("modality_config") or {"text": _TEXT}
    if not isinstance(inputs, Mapping) or inputs.get("text") != _TEXT:
        return False
    if own.get("processing_kwargs"):
        return False
    if own.get("module_output_name", "token_embeddings") != "token_embeddings":
        return False
    # Of other encoder–decoders the library reads the decoder, and most encoders that were saved
    # alone can be loaded by their own class only
    kind, whole = config.get("model_type"), bool(config.get("is_encoder_decoder"))
    if kind not in ENCODERS and whole != (kind in _ENCODERS):
        return False
    return bool(own.get("transformer_task", "feature-extraction") == "feature-extraction")


def read_length(folder: Path, own: Mapping[str, Any], config: Mapping[str, Any]) -> int | None:
    """How many tokens of a text the library reads; None where nothing says so.

    Parameters
    ----------
    folder
        The transformer's files.
    own, config
        The settings of its module, and its configuration.

    Raises
    ------
    InputError
        If max_seq_length is no whole number of at least 1.
    """
    length = own.get("max_seq_length")
    if length is not None:
        if isinstance(length, bool) or not isinstance(length, int) or length < 1:
            raise InputError(
                f"{folder}: max_seq_length in {TRANSFORMER_CONFIGS[0]} must be a whole number of "
                f"at least 1; found {length!r}"
            )
        return length
    tokenizer = read_settings(folder, "tokenizer_config.json")
    limits = (tokenizer.get("model_max_length"), config.get("max_position_embeddings"))
    numbers = [each for each in limits if isinstance(each, int | float)]
    return min((int(each) for each in numbers if 0 < each < UNLIMITED), default=None)


def read_pooling(path: Path, settings: Mapping[str, Any]) -> str:
    """How states are pooled, in the words of :class:`~calipers.embed.states.pooling.SentencePlan`.

    Raises
    ------
    InputError
        If a way to pool is not known.
    """
    modes = settings.get("pooling_mode")
    if modes is None:
        modes = [mode for flag, mode in _FLAGS.items() if settings.get(flag)] or ["mean"]
    modes = modes if isinstance(modes, list) and modes else [modes]
    unknown = [mode for mode in modes if str(mode) not in _POOLS]
    if unknown:
        raise InputError(
            f"{path}: pooling_mode must be of {', '.join(_POOLS)}; found {unknown[0]!r}"
        )
    return "+".join(_POOLS[mode] for mode in modes)


def moves(folder: Path) -> bool:
    """Whether a step reads or writes anything but the sentence's vector."""
    settings = read_settings(folder, "config.json")
    names = (settings.get("module_input_name"), settings.get("module_output_name"))
    return any(name not in (None, "sentence_embedding") for name in names)


Dense: TypeAlias = "tuple[Tensor, Tensor | None, str]"
"""Weight of shape (outputs, inputs), bias of shape (outputs,) or None, name of the activation."""

_ACTIVATIONS = {
    "torch.nn.modules.linear.Identity": "identity",
    **{
        f"torch.nn.modules.activation.{name}": name.lower()
        for name in ("Tanh", "ReLU", "GELU", "Sigmoid", "SiLU")
    },
}
_USUAL = "torch.nn.modules.activation.Tanh"


def read_dense(folder: Path, allow_pickle: bool = False) -> Dense | None:
    """Read a dense layer; None where it is more than a matrix, a bias and a known activation.

    Raises
    ------
    InputError
        If its weights are missing, damaged, pickled without leave, or not of its shape.
    """
    settings = read_settings(folder, "config.json")
    activation = _ACTIVATIONS.get(str(settings.get("activation_function", _USUAL)))
    if activation is None or settings.get("use_residual") or moves(folder):
        return None
    tensors = _read_tensors(folder, allow_pickle)
    weight, bias = tensors.get("linear.weight"), tensors.get("linear.bias")
    shape = (settings.get("out_features"), settings.get("in_features"))
    if weight is None or tuple(weight.shape) != shape:
        found = "none" if weight is None else "x".join(map(str, weight.shape))
        raise InputError(
            f"{folder}: its weights must have linear.weight of out_features x in_features, "
            f"{shape[0]}x{shape[1]}; found {found}"
        )
    if bias is None and settings.get("bias", True):
        raise InputError(f"{folder}: its weights must have linear.bias; found none")
    return weight.float(), None if bias is None else bias.float(), activation


def _read_tensors(folder: Path, allow_pickle: bool) -> Mapping[str, Tensor]:
    tensors: dict[str, Tensor] = {}
    for path in find_weights(folder, allow_pickle=allow_pickle):
        if path.suffix == ".safetensors":
            tensors |= safe_tensors(path)
        else:
            tensors |= pickled_tensors(path, path.read_bytes())
    return tensors
