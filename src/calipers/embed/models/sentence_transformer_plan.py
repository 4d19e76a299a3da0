"""What a sentence-transformers model does around its transformer, read from its files.

The settings mean here what they mean to ``SentenceTransformer.encode``. What a plan cannot
express is not guessed at: `read_plan` then returns None, and the library itself must run the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from calipers.embed.models.model_folder import FoundModel
from calipers.embed.models.sentence_transformer_dense import Dense, read_dense
from calipers.embed.models.sentence_transformer_files import (
    TRANSFORMER_CONFIGS,
    Module,
    read_settings,
)
from calipers.embed.models.sentence_transformer_settings import (
    SETTINGS,
    check_type,
    includes_prompt,
    is_ordinary,
    moves,
    read_length,
    read_pooling,
    read_prompt,
)
from calipers.embed.options import Options
from calipers.embed.states.pooling import SentencePlan


def read_plan(
    model: FoundModel, modules: Sequence[Module], options: Options
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
    if any(each.foreign for each in modules) or kinds != ["Transformer", "Pooling"]:
        return None
    transformer, pool = (model.folder / step.path for step in steps[:2])
    own = read_settings(transformer, *TRANSFORMER_CONFIGS)
    dense = _after(model.folder, steps[2:], options)
    if dense is None or not is_ordinary(own, model.config) or settings.get("truncate_dim"):
        return None
    pooling = read_settings(pool, "config.json")
    plan = SentencePlan(
        pooling=read_pooling(pool / "config.json", pooling),
        normalise=any(step.kind == "Normalize" for step in steps),
        max_length=read_length(transformer, own, model.config),
        prefix=read_prompt(settings, options),
        lower=bool(own.get("do_lower_case")),
        dense=dense,
    )
    if not plan.prefix or includes_prompt(model.name, pooling):
        return plan
    if "weighted_mean" in plan.pooling.split("+"):  # its weights count the tokens of the prompt
        return None
    return replace(plan, skipped=_tokens_of(transformer, plan, options))


def _after(folder: Path, steps: Sequence[Module], options: Options) -> tuple[Dense, ...] | None:
    """The dense layers behind pooling; None where there are other steps, or in another order."""
    kinds = [step.kind for step in steps]
    dense = kinds.count("Dense")
    if kinds[:dense] != ["Dense"] * dense or set(kinds[dense:]) - {"Normalize"}:
        return None
    if any(moves(folder / step.path) for step in steps[dense:]):
        return None
    found = [read_dense(folder / step.path, options.allow_pickle) for step in steps[:dense]]
    layers = tuple(layer for layer in found if layer is not None)
    return layers if len(layers) == dense else None


def _tokens_of(folder: Path, plan: SentencePlan, options: Options) -> int:
    """How many tokens the prompt is, without the mark that would close it."""
    from calipers.embed.states.pretrained import load_tokenizer

    tokenizer = load_tokenizer(folder, trust_remote_code=options.trust_remote_code)
    prompt = plan.prefix.lower() if plan.lower else plan.prefix
    ids = tokenizer(prompt)["input_ids"][: options.max_length or plan.max_length]
    return len(ids) - (bool(ids) and ids[-1] in tokenizer.all_special_ids)
