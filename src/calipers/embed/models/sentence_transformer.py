"""Any sentence-transformers model: its own embedding as ``meaning``, and ``form`` beside it.

Where its steps are ordinary (a transformer, pooling, dense layers, length one), they run in the
same engine as any other model, with vectors that equal ``SentenceTransformer.encode`` to 1e-5.
Other models run in the library itself and give ``meaning`` alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from calipers.embed.models.model_files import read_config
from calipers.embed.models.model_folder import FoundModel
from calipers.embed.models.model_needs import check_loadable
from calipers.embed.models.sentence_transformer_files import Module
from calipers.embed.options import Options
from calipers.embed.protocol import Embedder
from calipers.errors import InputError


def load(model: FoundModel, modules: Sequence[Module], options: Options) -> Embedder:
    """Make the embedder of a sentence-transformers model.

    Raises
    ------
    InputError
        If the model cannot be read or loaded, needs code that may not be run, or does not take an
        option that was chosen.
    MissingExtraError
        If packages that it needs are not installed.
    """
    foreign = next((module for module in modules if module.foreign), None)
    if foreign is not None and not options.trust_remote_code:
        raise InputError(
            f"the model {model.name!r} needs code of its own ({foreign.type}), which is not run "
            "unless you trust where it comes from; then add --trust-remote-code "
            "(trust_remote_code=True)"
        )
    if modules[0].kind == "Transformer" and foreign is None:
        inner = model.folder / modules[0].path
        whole = replace(model, config=read_config(inner))
        check_loadable(replace(whole, folder=inner), options)
        found = _planned(whole, inner_path=modules[0].path, modules=modules, options=options)
        if found is not None:
            return found
    from calipers.embed.models.sentence_transformer_library import LibraryEmbedder

    return LibraryEmbedder(model, options)


def _planned(
    model: FoundModel, *, inner_path: str, modules: Sequence[Module], options: Options
) -> Embedder | None:
    from calipers.embed.models.sentence_transformer_plan import read_plan
    from calipers.embed.states.transformer import TransformersEmbedder

    plan = read_plan(model, modules, options)
    if plan is None:
        return None
    inner = replace(model, folder=model.folder / inner_path)
    return TransformersEmbedder(inner, options, plan=plan)
