"""The embedder of any model, by its folder or its name on the hub.

Models that read texts, sentence-transformers models and models that read images each go to the
code that knows them, and each refuses options that mean nothing for it.
"""

from __future__ import annotations

import difflib
import os

from calipers.embedders.catalogue import NAMED
from calipers.embedders.embedder import Embedder
from calipers.embedders.models.find import find_model, is_cached
from calipers.embedders.models.model_files import read_modules, reads_images
from calipers.embedders.options import EmbedderOptions
from calipers.embedders.states.pretrained import check_loadable
from calipers.errors import InputError
from calipers.files import at_home

TAKES = frozenset(
    {
        *("pooling", "layer", "max_length", "prefix"),
        *("revision", "offline", "trust_remote_code", "allow_pickle"),
    }
)
_ALIKE = 0.75
"""How like a known name a name must be to be taken for a slip of it (0 to 1, as difflib has it)."""


def load(name: str, options: EmbedderOptions) -> Embedder:
    """Make the embedder of a model.

    Parameters
    ----------
    name
        The model's folder, or its name on the Hugging Face hub.
    options
        The choices about it.

    Raises
    ------
    InputError
        If there is no such model, its files are incomplete or damaged, it does not fit in memory,
        it needs leave that was not given, or it does not take an option that was chosen.
    MissingExtraError
        If packages that it needs are not installed.
    """
    check_spelling(name, options)
    model = find_model(name, options)
    modules = read_modules(model.folder)
    if modules:
        from calipers.embedders.models import sentence_transformer

        return sentence_transformer.load(model, modules, options)
    check_loadable(model, options)
    if reads_images(model.folder, model.config):
        from calipers.embedders.vision.vision import VisionEmbedder

        return VisionEmbedder(model, options)
    from calipers.embedders.states.transformer import TransformersEmbedder

    return TransformersEmbedder(model, options)


def check_spelling(name: str, options: EmbedderOptions) -> None:
    """Refuse a name close to that of an embedder, before searching the hub for it.

    Raises
    ------
    InputError
        If the name is near a known one, and neither a folder nor a model in the cache.
    """
    if "/" in name or options.revision is not None or os.path.exists(at_home(name)):
        return
    near = difflib.get_close_matches(name.lower(), NAMED, n=1, cutoff=_ALIKE)
    if near and not is_cached(name):
        raise InputError(
            f"no embedder {name!r}; did you mean {near[0]!r}? Known by name are "
            f"{', '.join(sorted(NAMED))}; a model may also be given by its folder (./NAME) or its "
            "name on the hub (PUBLISHER/NAME)"
        )
