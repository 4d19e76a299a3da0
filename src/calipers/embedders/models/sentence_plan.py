"""How a sentence-transformers model makes its embeddings, read from the files of its modules.

Their settings are read in old forms and in new ones, with the dense layers that they hold. What a
:class:`~calipers.embedders.states.pooling.SentencePlan` cannot express is not guessed at: there is
no plan then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from calipers.embedders.models.find import FoundModel
from calipers.embedders.models.model_files import (
    TRANSFORMER_CONFIGS,
    Module,
    find_weights,
    read_settings,
)
from calipers.embedders.models.tensors import pickled_tensors, safe_tensors
from calipers.embedders.options import EmbedderOptions
from calipers.embedders.states.pooling import SentencePlan
from calipers.embedders.states.pretrained import ENCODERS, UNLIMITED, load_tokenizer
from calipers.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor

SETTINGS = "config_sentence_transformers.json"
_NO_PROMPT = "hkunlp/instructor-"
"""Models that the library knows, by name, to leave their prompts out of pooling."""
_POOLS = {
    "cls": ("cls_token", "cls"),
    "max": ("max_tokens", "max"),
    "mean": ("mean_tokens", "mean"),
    "mean_sqrt_len_tokens": ("mean_sqrt_len_tokens", "mean_sqrt_len"),
    "weightedmean": ("weightedmean_tokens", "weighted_mean"),
    "lasttoken": ("lasttoken", "last"),
}
"""Ways to pool to what older versions write for each, in the order in which vectors are joined, and
to the word for it here."""
_ALTERING = (
    "processing_kwargs",
    *(f"{part}_args" for part in ("model", "config", "tokenizer", "processor")),
    *(f"{part}_kwargs" for part in ("model", "config", "tokenizer", "processor")),
)
_TEXT = {"method": "forward", "method_output_name": "last_hidden_state"}
_ENCODERS = frozenset(
    {
        *ENCODERS,
        *("longt5", "switch_transformers", "m2m_100", "marian", "pegasus"),
        *("pegasus_x", "blenderbot", "blenderbot-small", "prophetnet"),
    }
)
"""Encoder–decoders of which sentence-transformers takes the encoder alone; of others, both."""


def read_plan(
    model: FoundModel, modules: Sequence[Module], options: EmbedderOptions
) -> SentencePlan | None:
    """Read how a model makes sentence embeddings; None where only the library can.

    Parameters
    ----------
    model
        The whole model, with the transformer's configuration.
    modules
        What it is made of.
    options
        ``prefix`` takes the place of the model's own prompt, ``max_length`` of its own length;
        ``allow_pickle`` is read too.

    Raises
    ------
    InputError
        If a file cannot be read, or the model gives no sentence embeddings.
    """
    settings = read_settings(model.folder, SETTINGS)
    check_type(model, settings)
    steps = [module for module in modules if module.kind != "Dropout"]
    kinds = [step.kind for step in steps[:2]]
    if any(module.foreign for module in modules) or kinds != ["Transformer", "Pooling"]:
        return None
    transformer, pool = (model.folder / step.path for step in steps[:2])
    module_settings = read_settings(transformer, *TRANSFORMER_CONFIGS)
    dense = _after(model.folder, steps[2:], options)
    if (
        dense is None
        or not is_ordinary(module_settings, model.config)
        or settings.get("truncate_dim")
    ):
        return None
    pooling = read_settings(pool, "config.json")
    plan = SentencePlan(
        pooling=read_pooling(pool / "config.json", pooling),
        normalise=any(step.kind == "Normalize" for step in steps),
        max_length=read_length(transformer, module_settings, model.config),
        prefix=read_prompt(settings, options),
        lower=bool(module_settings.get("do_lower_case")),
        dense=dense,
    )
    if not plan.prefix or includes_prompt(model.name, pooling):
        return plan
    if "weighted_mean" in plan.pooling.split("+"):  # its weights count the tokens of the prompt
        return None
    # As many tokens as the prompt has, without the mark that would close it
    tokenizer = load_tokenizer(transformer, trust_remote_code=options.trust_remote_code)
    prompt = plan.prefix.lower() if plan.lower else plan.prefix
    ids = tokenizer(prompt)["input_ids"][: options.max_length or plan.max_length]
    return replace(plan, skipped=len(ids) - (bool(ids) and ids[-1] in tokenizer.all_special_ids))


def _after(
    folder: Path, steps: Sequence[Module], options: EmbedderOptions
) -> tuple[Dense, ...] | None:
    """The dense layers behind pooling; None where there are other steps, or in another order."""
    kinds = [step.kind for step in steps]
    dense = kinds.count("Dense")
    if kinds[:dense] != ["Dense"] * dense or set(kinds[dense:]) - {"Normalize"}:
        return None
    if any(moves(folder / step.path) for step in steps[dense:]):
        return None
    layers = [read_dense(folder / step.path, options.allow_pickle) for step in steps[:dense]]
    return None if None in layers else tuple(layer for layer in layers if layer is not None)


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


def read_prompt(settings: Mapping[str, Any], options: EmbedderOptions) -> str:
    """Return the text before every sample: the chosen prefix, or the model's default prompt."""
    if options.prefix is not None:
        return options.prefix
    prompts, default = settings.get("prompts"), settings.get("default_prompt_name")
    if not isinstance(prompts, Mapping) or not isinstance(default, str):
        return ""
    prompt = prompts.get(default)
    return prompt if isinstance(prompt, str) else ""


def includes_prompt(name: str, pooling: Mapping[str, Any]) -> bool:
    """Whether the tokens of a prompt count when states are pooled."""
    return bool(pooling.get("include_prompt", True)) and not name.startswith(_NO_PROMPT)


def is_ordinary(module_settings: Mapping[str, Any], config: Mapping[str, Any]) -> bool:
    """Whether the transformer is called on texts in the standard way."""
    inputs = module_settings.get("modality_config") or {"text": _TEXT}
    # Of other encoder–decoders the library reads the decoder, and most encoders that were saved
    # alone can be loaded by their own class only
    kind, whole = config.get("model_type"), bool(config.get("is_encoder_decoder"))
    return (
        not any(module_settings.get(name) for name in _ALTERING)
        and isinstance(inputs, Mapping)
        and inputs.get("text") == _TEXT
        and module_settings.get("module_output_name", "token_embeddings") == "token_embeddings"
        and module_settings.get("transformer_task", "feature-extraction") == "feature-extraction"
        and (kind in ENCODERS or whole == (kind in _ENCODERS))
    )


def read_length(
    folder: Path, module_settings: Mapping[str, Any], config: Mapping[str, Any]
) -> int | None:
    """Read how many tokens of a text the library uses; None where nothing says so.

    Parameters
    ----------
    folder
        The transformer's files.
    module_settings, config
        The settings of its module, and its configuration.

    Raises
    ------
    InputError
        If max_seq_length is no whole number of at least 1.
    """
    length = module_settings.get("max_seq_length")
    if length is not None:
        if isinstance(length, bool) or not isinstance(length, int) or length < 1:
            raise InputError(
                f"{folder}: max_seq_length in {TRANSFORMER_CONFIGS[0]} must be a whole number of "
                f"at least 1; found {length!r}"
            )
        return length
    tokenizer = read_settings(folder, "tokenizer_config.json")
    limits = (tokenizer.get("model_max_length"), config.get("max_position_embeddings"))
    numbers = [limit for limit in limits if isinstance(limit, int | float)]
    return min((int(limit) for limit in numbers if 0 < limit < UNLIMITED), default=None)


def read_pooling(path: Path, settings: Mapping[str, Any]) -> str:
    """Read how states are pooled, in the terms of ``SentencePlan`` of ``states.pooling``.

    Raises
    ------
    InputError
        If a way to pool is not known.
    """
    modes = settings.get("pooling_mode")
    if modes is None:
        flags = {f"pooling_mode_{flag}": mode for mode, (flag, _) in _POOLS.items()}
        modes = [mode for flag, mode in flags.items() if settings.get(flag)] or ["mean"]
    modes = modes if isinstance(modes, list) and modes else [modes]
    for mode in modes:
        if str(mode) not in _POOLS:
            raise InputError(f"{path}: pooling_mode must be of {', '.join(_POOLS)}; found {mode!r}")
    return "+".join(_POOLS[mode][1] for mode in modes)


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
    """Read a dense layer; None unless it is a matrix, a bias and a known activation.

    Raises
    ------
    InputError
        If its weights are missing, damaged, pickled without leave, or not of its shape.
    """
    settings = read_settings(folder, "config.json")
    activation = _ACTIVATIONS.get(str(settings.get("activation_function", _USUAL)))
    if activation is None or settings.get("use_residual") or moves(folder):
        return None
    tensors: dict[str, Tensor] = {}
    for path in find_weights(folder, allow_pickle=allow_pickle):
        safe = path.suffix == ".safetensors"
        tensors |= safe_tensors(path) if safe else pickled_tensors(path, path.read_bytes())
    weight, bias = tensors.get("linear.weight"), tensors.get("linear.bias")
    shape = (settings.get("out_features"), settings.get("in_features"))
    if weight is None or tuple(weight.shape) != shape:
        weight_shape = "none" if weight is None else "x".join(map(str, weight.shape))
        raise InputError(
            f"{folder}: its weights must have linear.weight of out_features x in_features, "
            f"{shape[0]}x{shape[1]}; found {weight_shape}"
        )
    if bias is None and settings.get("bias", True):
        raise InputError(f"{folder}: its weights must have linear.bias; found none")
    return weight.float(), None if bias is None else bias.float(), activation
