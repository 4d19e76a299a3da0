"""The catalogue of text metrics as plain data: what a person should know before asking for one."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from typing import Any

from calipers.text.catalogue import (
    EVERYTHING,
    TEXT_FAMILIES,
    TEXT_METRICS,
    choose_text,
    find_text,
)
from calipers.text.choice import TextChoice
from calipers.text.keys import Option, split_text_key

SIDES = {
    None: "of one set; with a reference, the value of both and the gap",
    "reference": "of texts against the whole reference",
    "train": "of texts against the whole training set; with a reference, the gap too",
    "aligned": "of each text against the reference of its own row (--aligned)",
}
"""What a metric needs to how it is measured."""


def describe_text(names: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Describe text metrics: all of them, or those of families and keys by name.

    Returns
    -------
    list of dict
        The fields of :func:`calipers.metrics.described.describe`, fit for strict JSON, and
        ``measured``: what it is measured of. ``options`` holds for each choice its words or
        numbers, the usual one first, and ``chooses`` what each of them changes; ``slow`` tells
        that families leave it out.

    Raises
    ------
    InputError
        If a name is neither a family nor the key of a text metric.
    """
    asked = list(names) or ["all"]
    found: dict[str, dict[str, Any]] = {}
    for name in asked:
        many = stands_for_many(name)
        for choice in _choices(name):
            data = _describe(choice)
            if many:  # a list has each metric once, by its plain name
                data["key"] = choice.metric.name
            found.setdefault(data["key"], data)
    return list(found.values())


def _choices(name: str) -> list[TextChoice]:
    """What a name stands for, with the slow metrics that a family leaves out."""
    choices = choose_text([name], train=True, aligned=True)
    base, words = split_text_key(name)
    every = base in EVERYTHING
    if words or not (every or base in TEXT_FAMILIES):
        return choices
    families = [each for each in TEXT_METRICS.values() if every or each.family == base]
    choices += [find_text(each.name) for each in families if each.slow]
    order = [each.name for each in families]
    return sorted(choices, key=lambda choice: order.index(choice.metric.name))


def text_questions() -> dict[str, str]:
    """Families by name, each with the question that it answers."""
    return {str(name): question for name, question in TEXT_FAMILIES.items()}


def stands_for_many(name: str) -> bool:
    """Whether a name asks for a family, or for all."""
    return split_text_key(name)[0] in (*EVERYTHING, *TEXT_FAMILIES)


def is_text_name(name: str, others: Iterable[str] = ()) -> bool:
    """Whether a name means a text metric, or is nearer to one than to any of the others."""
    base = split_text_key(name)[0]
    known = {*TEXT_METRICS, *TEXT_FAMILIES, *EVERYTHING[1:]}
    elsewhere = set(others)
    if base != name.partition(":")[0]:  # it said text.
        return True
    if base in known or base in elsewhere:
        return base not in elsewhere
    near = difflib.get_close_matches(base, [*elsewhere, *known], n=1, cutoff=0.6)
    return bool(near) and near[0] not in elsewhere


def _describe(choice: TextChoice) -> dict[str, Any]:
    metric = choice.metric
    usual = metric.shown or (metric.name,)
    return {
        "key": choice.key,
        "family": metric.family,
        "tells": metric.tells,
        "range": [bound if math.isfinite(bound) else None for bound in metric.range],
        "better": metric.better,
        "equal": None,
        "slow": metric.slow,
        "default": not metric.on_request and (choice.key in usual or not choice.named),
        "options": {option.name: _forms(option) for option in metric.takes},
        "chooses": {option.name: option.tells for option in metric.takes},
        "c": None,
        "needs": None if metric.extra is None else f"calipers[{metric.extra}]",
        "needs_if_unequal": False,
        "measured": SIDES[choice.needs],
        "source": metric.source,
        "blind": metric.blind,
    }


def _forms(option: Option) -> list[str | float]:
    return list(option.words) if option.words else [float(option.usual)]
