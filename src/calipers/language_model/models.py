"""Language models by name, and the kinds of names.

============================  ==================================================================
``ngram``, ``ngram:order=3``  an interpolated n-gram model, fitted on texts that are at hand
``https://host/v1#MODEL``     a model of a server that speaks OpenAI's API
``vllm:NAME``                 a model that vLLM runs in this process
``FOLDER``, ``NAME``          a causal model of transformers, in a folder or the local cache
============================  ==================================================================
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from calipers.embedders.options import EmbedderOptions
from calipers.errors import InputError
from calipers.language_model.model import LanguageModel


def is_fitted(model: object) -> bool:
    """Whether a name means a model that is fitted on the given texts."""
    return isinstance(model, str) and model.partition(":")[0] == "ngram"


def find_language_model(
    name: str,
    options: EmbedderOptions,
    *,
    fit_on: Sequence[str] | None = None,
    max_requests: int | None = None,
    chat: bool = False,
) -> LanguageModel:
    """Find a language model by its name.

    Parameters
    ----------
    name
        As the table above has it.
    options
        ``device``, ``dtype``, ``batch_size``, ``revision``, ``offline``, ``trust_remote_code``,
        ``allow_pickle`` and ``endpoint`` are read, by the backends that they mean something to.
    fit_on
        The texts that an n-gram model is fitted on.
    max_requests
        Most requests to a server; None for no limit.
    chat
        Whether a server is asked in its chat form.

    Raises
    ------
    InputError
        If there is no such model, it is not a causal language model, or nothing to fit it on.
    MissingExtraError
        If its backend is not installed.
    """
    if not name.strip():
        raise InputError("the language model has no name; give a folder, ngram or an address")
    kind, _, rest = name.partition(":")
    if is_fitted(name):
        from calipers.language_model.ngram import fit_ngram, read_ngram_options

        if fit_on is None:
            raise InputError(f"{name} is fitted on texts: give them with `reference` or `fit_on`")
        return fit_ngram(fit_on, **read_ngram_options(rest))
    if options.endpoint is not None or re.match(r"[a-z][a-z0-9+.-]*://", name, re.IGNORECASE):
        from calipers.language_model.endpoint import load_endpoint

        return load_endpoint(name, options, max_requests=max_requests, chat=chat)
    if kind == "vllm":
        from calipers.language_model.vllm import load_vllm

        return load_vllm(rest, options)
    from calipers.language_model.causal import load_causal

    return load_causal(name, options)
