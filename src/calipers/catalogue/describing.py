"""The catalogue as plain data: what to know of a metric before asking for it."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from calipers.catalogue.choosing import (
    ON_LIKELIHOODS,
    ON_TEXTS,
    Catalogue,
    Choice,
    choose,
    choose_likelihood,
    choose_text,
    find_likelihood,
    find_text,
)
from calipers.catalogue.embeddings import FAMILIES, METRICS
from calipers.catalogue.estimation import (
    COUNTING,
    DEFAULTS,
    ESTIMATORS,
    PAIRED_C,
    EstimationOptions,
)
from calipers.catalogue.keys import TEXT, VIEW, Option, split_key, split_text_key
from calipers.catalogue.likelihoods import LIKELIHOOD, LIKELIHOOD_FAMILIES, LIKELIHOODS
from calipers.catalogue.metric import Metric
from calipers.catalogue.texts import TEXT_FAMILIES, TEXT_METRICS
from calipers.errors import InputError

SIDES = {
    None: "of one set; with a reference, the value of both and the gap",
    "reference": "of texts against the whole reference",
    "train": "of texts against the whole training set; with a reference, the gap too",
    "aligned": "of each text against the reference of its own row (--aligned)",
    "generator": "of both sets by two models (--reference, --generator)",
}
"""What a text metric needs to how it is measured."""

Chosen = Callable[[str], list[Choice]]


def describe_all(names: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Describe metrics on embeddings: all, or those of the named families and keys.

    Returns
    -------
    list of dict
        Plain data, fit for strict JSON: ``key``, ``family``, ``tells``, ``range`` (None for no
        bound), ``better``, ``equal`` (what a set scores against itself, where that is fixed;
        ``"inf"`` where it has no bound), ``default`` (whether it is measured unless others are
        asked for), ``options`` (the words that it takes, the default first), ``c`` (the scaling
        constant that goes with each estimator, where the metric has one), ``needs`` (an extra of
        Calipers, with ``needs_if_unequal`` only for sets of different size), ``source``, ``blind``
        (what it does not detect).

    Raises
    ------
    InputError
        If a name is neither a family nor the key of a metric.
    """
    asked = list(names) or ["all"]
    for name in asked:
        view, metric, words = split_key(name)
        if view:
            key = ":".join((metric, *words))
            raise InputError(f"metrics are the same in every view: ask for {key!r}; found {name!r}")
    return [_describe(choice) for choice in choose(asked, ())]


def describe_text(names: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Describe text metrics: all, or those of the named families and keys.

    Returns
    -------
    list of dict
        The fields of :func:`describe_all`, and ``measured``: what it is measured of. ``options``
        holds for each choice its words or numbers, the default first, and ``chooses`` what each of
        them changes; ``slow`` tells that families leave it out.

    Raises
    ------
    InputError
        If a name is neither a family nor the key of a text metric.
    """

    def chosen(name: str) -> list[Choice]:
        return choose_text([name], train=True, aligned=True)

    return _describe_in(ON_TEXTS, names, chosen, find_text)


def describe_likelihood(names: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Describe metrics on language-model likelihoods: all, or those that are named.

    Raises
    ------
    InputError
        If a name is neither a family nor the key of such a metric.
    """

    def chosen(name: str) -> list[Choice]:
        return choose_likelihood([name], decoding=True, generator=True)

    return _describe_in(ON_LIKELIHOODS, names, chosen, find_likelihood)


def _describe_in(
    catalogue: Catalogue, names: Iterable[str], chosen: Chosen, find: Callable[[str], Choice]
) -> list[dict[str, Any]]:
    entries: dict[str, dict[str, Any]] = {}
    for name in list(names) or ["all"]:
        many = _stands_for_many(catalogue, name)
        for choice in _choices(catalogue, name, chosen, find):
            data = _describe(choice)
            if (many and choice.metric.name not in METRICS) or (catalogue is ON_TEXTS and many):
                data["key"] = choice.metric.name  # a list has each metric once, by its plain name
            entries.setdefault(data["key"], data)
    return list(entries.values())


def describe_either(name: str) -> Sequence[dict[str, Any]]:
    """Describe a name: a metric on embeddings, on texts or on likelihoods.

    ``text.`` stands before a key whose metric has a namesake that measures embeddings.
    """
    if is_likelihood_name(name):
        return describe_likelihood([name])
    if not is_text_name(name):
        return describe_all([name])
    return [
        {**entry, "key": f"{VIEW}{entry['key']}"}
        if split_text_key(entry["key"])[0] in METRICS
        else entry
        for entry in describe_text([name])
    ]


def questions() -> dict[str, str]:
    """Families by name, each with the question that it answers."""
    families = (FAMILIES, TEXT_FAMILIES, LIKELIHOOD_FAMILIES)
    return {family.name: family.question for group in families for family in group.values()}


def stands_for_many(name: str) -> bool:
    """Whether a name means all metrics on embeddings or a family of them, even with options."""
    base = split_key(name)[1]
    return base == "all" or (base in FAMILIES and not name.endswith(":"))


def stands_for_many_texts(name: str) -> bool:
    """Whether a name means all metrics, or a family, on texts or on likelihoods."""
    return _stands_for_many(ON_LIKELIHOODS if is_likelihood_name(name) else ON_TEXTS, name)


def _stands_for_many(catalogue: Catalogue, name: str) -> bool:
    return split_text_key(name)[0] in (*catalogue.everything, *catalogue.families)


def is_likelihood_name(name: str) -> bool:
    """Whether a name means a metric on language-model likelihoods."""
    base, words = split_text_key(name)
    names = {*LIKELIHOODS, *LIKELIHOOD_FAMILIES, LIKELIHOOD}
    return base in names and (base not in METRICS or "model" in words)


def is_text_name(name: str) -> bool:
    """Whether a name means a text metric, or is closer to one than to any on embeddings."""
    base = split_text_key(name)[0]
    known = {*TEXT_METRICS, *TEXT_FAMILIES, TEXT}
    elsewhere = {*METRICS, *FAMILIES, "all"}
    if base != name.partition(":")[0]:  # it said text.
        return True
    if base in known or base in elsewhere:
        return base not in elsewhere
    near = difflib.get_close_matches(base, [*elsewhere, *known], n=1, cutoff=0.6)
    return bool(near) and near[0] not in elsewhere


def _tells(choice: Choice) -> str:
    """One line on the metric; counts and cells are spoken of where it takes the defaults."""
    tells, options = choice.metric.tells, choice.options
    if not isinstance(options, EstimationOptions) or replace(options, divergence="kl") == DEFAULTS:
        return tells
    tells = tells.partition(", raw counts")[0]
    if options.estimator != COUNTING:
        tells = tells.replace(" over 20 cells", "").replace("in cells that", "in what")
    return tells.removesuffix(",")


def _equal(choice: Choice) -> float | str | None:
    """What a set scores against itself; estimated ratios leave that open."""
    equal = choice.metric.equal
    if equal is None or choice.option("estimator") != COUNTING:
        return None
    return "inf" if equal == math.inf else equal


def _choices(
    catalogue: Catalogue, name: str, chosen: Chosen, find: Callable[[str], Choice]
) -> list[Choice]:
    """What a name stands for, with the slow metrics that a family leaves out."""
    choices = chosen(name)
    base, words = split_text_key(name)
    every = base in catalogue.everything
    if words or not (every or base in catalogue.families):
        return choices
    families = [metric for metric in catalogue.metrics.values() if every or metric.family == base]
    choices += [find(metric.name) for metric in families if metric.slow]
    order = [metric.name for metric in families]
    return sorted(choices, key=lambda choice: order.index(choice.metric.name))


def _describe(choice: Choice) -> dict[str, Any]:
    metric, options = choice.metric, choice.options
    texts = metric.kind != "embeddings"
    default = choice.name in metric.keys or (texts and not choice.named)
    return {
        "key": choice.name,
        "family": metric.family,
        "tells": _tells(choice),
        "range": [_number(bound) for bound in metric.range_of(options)],
        "better": metric.better,
        "equal": _equal(choice),
        **({"slow": metric.slow} if texts else {}),
        "default": not metric.on_request and default,
        "options": {option.name: _forms(option) for option in metric.options},
        **({"chooses": {option.name: option.tells for option in metric.options}} if texts else {}),
        "c": {name: PAIRED_C[name] for name in ESTIMATORS} if metric.scaled else None,
        "needs": _extra(metric),
        "needs_if_unequal": metric.extra_if_unequal,
        **({"measured": SIDES[choice.needs]} if texts else {}),
        "source": metric.source,
        "blind": metric.blind_of(options),
    }


def _forms(option: Option) -> list[str | float]:
    return list(option.forms) if option.words else [float(option.default)]


def _extra(metric: Metric) -> str | None:
    return None if metric.extra is None else f"calipers[{metric.extra}]"


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
