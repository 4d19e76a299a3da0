"""Text metrics by the names that a person writes.

The interface for whoever runs them: :func:`choose_text` turns keys into choices, each with
``.key``, ``.metric``, ``.needs`` (``None``, ``"reference"``, ``"train"`` or ``"aligned"``) and
``.score(generated, reference, train=...)``, which measures corpora that
:func:`calipers.text.tokenise` made together; :func:`check_text_extras` says early which package is
missing. Keys have no view here; a leading ``text.`` is taken off.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from calipers.errors import InputError
from calipers.text.choice import TextChoice, check_text_extras, missing
from calipers.text.entries import TEXT_FAMILIES, TEXT_METRICS, TextMetric
from calipers.text.keys import VIEW, parse_options, split_text_key
from calipers.text.nearby import unknown_text

__all__ = [
    "TEXT_FAMILIES",
    "TEXT_METRICS",
    "TextChoice",
    "TextMetric",
    "check_text_extras",
    "choose_text",
    "find_text",
]

EVERYTHING = ("all", VIEW.removesuffix("."))
"""What stands for every text metric."""


def choose_text(
    metrics: str | Iterable[str] | None = None,
    *,
    reference: bool = True,
    train: bool = False,
    aligned: bool = False,
) -> list[TextChoice]:
    """Turn keys as a person writes them into text metrics.

    Parameters
    ----------
    metrics
        Keys ``metric[:option…]``, in a list or in one string; a family means all its metrics that
        take the options, ``all`` every metric, both without the slow ones, which are asked for by
        their own name. None means those of the default table.
    reference, train, aligned
        Whether there is a reference, a training set, a reference for each row. What needs one that
        is not there is left out, unless it is asked for by its own name.

    Raises
    ------
    InputError
        If a metric or an option is unknown, one that was named needs what is not there, or nothing
        was named.
    """
    there = {None, *(["reference"] if reference else []), *(["train"] if train else [])}
    there |= {"aligned"} if reference and aligned else set()
    chosen: dict[str, TextChoice] = {}
    for choice in _usual() if metrics is None else _all_of(metrics):
        if choice.needs not in there:
            if choice.named:
                raise missing(choice)
            continue
        if choice.named or choice.key not in chosen:
            chosen[choice.key] = choice
    if not chosen:
        raise InputError(f"metrics must name at least one text metric; found {_shown(metrics)}")
    return list(chosen.values())


def find_text(key: str) -> TextChoice:
    """Look up one text metric by ``metric[:option…]``.

    Raises
    ------
    InputError
        If the metric or an option is unknown; the nearest names are suggested.
    """
    base, words = split_text_key(key)
    if base not in TEXT_METRICS:
        raise unknown_text(key)
    return _make(TEXT_METRICS[base], words, named=True)


def is_text_key(key: str) -> bool:
    """Whether a key starts with the name of a text metric or of their families."""
    base = split_text_key(key)[0]
    return base in TEXT_METRICS or base in TEXT_FAMILIES or key in EVERYTHING[1:]


def _usual() -> list[TextChoice]:
    usual = [metric for metric in TEXT_METRICS.values() if not metric.on_request]
    return [
        _make(metric, split_text_key(key)[1], named=False)
        for metric in usual
        for key in metric.shown or (metric.name,)
    ]


def _all_of(names: str | Iterable[str]) -> Iterable[TextChoice]:
    if isinstance(names, str):
        names = names.replace(",", " ").split()
    if not isinstance(names, Iterable):
        raise InputError(f"metrics must be a list of keys, or one string; found {names!r}")
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"metrics must be strings such as 'self_bleu'; found {name!r}")
        yield from _expand(name)


def _expand(name: str) -> list[TextChoice]:
    base, words = split_text_key(name)
    if base in EVERYTHING:
        if words:
            raise InputError(f"{base!r} takes no option; found {name!r}; ask for metrics by name")
        return _every(TEXT_METRICS.values())
    if base in TEXT_FAMILIES:
        family = [metric for metric in TEXT_METRICS.values() if metric.family == base]
        found = _many(family, words) if words else _every(family)
        return found or [_make(family[0], words, named=True)]
    return [find_text(name)]


def _every(metrics: Iterable[TextMetric]) -> list[TextChoice]:
    """All of the metrics that are not slow, by the keys of the default table."""
    return [
        _make(metric, split_text_key(key)[1], named=False)
        for metric in metrics
        if not metric.slow
        for key in metric.shown or (metric.name,)
    ]


def _many(metrics: Iterable[TextMetric], words: Sequence[str]) -> list[TextChoice]:
    """All of the metrics that take the options."""
    found = []
    for metric in metrics:
        try:
            found.append(_make(metric, words, named=False))
        except InputError:
            continue
    return found


def _make(metric: TextMetric, words: Sequence[str], *, named: bool) -> TextChoice:
    return TextChoice(metric, parse_options(metric.name, words, metric.takes), named)


def _shown(metrics: Any) -> str:
    return "none" if metrics is None or not str(metrics).strip() else repr(metrics)
