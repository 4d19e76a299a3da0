"""Metrics by the names that a person writes: which are asked for, and what they need measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import Any

from calipers.errors import InputError, unknown_name
from calipers.metrics.choice import Choice, check_extras, find, is_starred, make_choice
from calipers.metrics.entries import FAMILIES, METRICS, Metric
from calipers.metrics.keys import COUNTING, ESTIMATORS, split_key
from calipers.metrics.needs import NOTHING, Needs

__all__ = [
    "FAMILIES",
    "METRICS",
    "Choice",
    "Metric",
    "check_estimator",
    "check_extras",
    "check_keys",
    "choose",
    "find",
    "key",
    "needs_of",
    "split_key",
]


def choose(
    names: str | Iterable[str] | None, views: tuple[str, ...], *, estimator: str = COUNTING
) -> tuple[Choice, ...]:
    """Turn names as a person writes them into metrics and views.

    Parameters
    ----------
    names
        Keys ``[view.]metric[:option…]``, in a list or in one string; a plain name means every view,
        a view every metric in it, a family (``frontier``, ``prd:knn``) all that take the options,
        ``all`` every metric. A name that a family shares with a metric (``ot``, ``mmd``) means the
        family; a colon at its end, ``ot:``, the metric. None means all but those that take their
        own time.
    views
        The views of the embedder, the main one first.
    estimator
        What metrics of the frontier and of the precision-recall curve are estimated by where their
        name does not say.

    Raises
    ------
    InputError
        If a metric, an option or a view is unknown, or options contradict each other; the nearest
        names are suggested.
    """
    check_estimator(estimator)
    if isinstance(names, str):
        names = names.replace(",", " ").split()
    chosen: dict[tuple[str | None, str], Choice] = {}
    for choice in _usual(estimator) if names is None else _all_of(names, views, estimator):
        place = (choice.view, choice.name)
        if choice.named or place not in chosen:
            chosen[place] = choice
    if not chosen:
        raise InputError("metrics must name at least one metric; found none")
    return tuple(chosen.values())


def check_keys(names: Any) -> None:
    """Refuse what cannot be a list of keys; None asks for what is usual."""
    if names is None or isinstance(names, str):
        return
    if not isinstance(names, Iterable):
        raise InputError(f"metrics must be a list of keys, or one string; found {names!r}")
    if isinstance(names, Sequence | Set):
        wrong = [name for name in names if not isinstance(name, str)]
        if wrong:
            raise InputError(f"metrics must be strings such as 'form.recall'; found {wrong[0]!r}")


def check_estimator(estimator: Any) -> None:
    """Refuse what is no name of an estimator."""
    if estimator not in ESTIMATORS:
        raise unknown_name("estimator", str(estimator), ESTIMATORS)


def needs_of(metrics: Iterable[Metric]) -> Needs:
    """Bring together what these metrics need measured, for `Pair.needs`."""
    needs = NOTHING
    for metric in metrics:
        needs |= metric.needs
    return needs


def key(view: str, metric: str, views: tuple[str, ...]) -> str:
    """Return the key of a score: the first view goes without its name."""
    return metric if view == views[0] else f"{view}.{metric}"


def _all_of(names: Iterable[str], views: tuple[str, ...], estimator: str) -> Iterable[Choice]:
    for name in names:
        yield from _expand(str(name), views, estimator)


def _usual(estimator: str) -> list[Choice]:
    usual = [metric for metric in METRICS.values() if not metric.on_request]
    return _many(usual, (), None, estimator)


def _expand(name: str, views: tuple[str, ...], estimator: str) -> list[Choice]:
    every = list(METRICS.values())
    if name == "all":
        return _many(every, (), None, estimator)
    if name in views:
        return _many(every, (), name, estimator)
    view, base, words = split_key(name)
    if view and view not in views:
        raise unknown_name("view", view, views)
    if base == "all":
        _check_plain(name, words)
        return _many(every, (), view or None, estimator)
    if base in FAMILIES and not name.endswith(":"):
        family = [metric for metric in every if metric.family == base]
        found = _many(family, words, view or None, estimator)
        return found or [make_choice(family[0], words, view or None, estimator, named=True)]
    return [find(name, estimator=estimator, view=view or None)]


def _check_plain(name: str, words: Sequence[str]) -> None:
    if words:
        raise InputError(
            f"'all' takes no option; found {name!r}; ask for families such as "
            "'frontier:knn,prd:knn', or --estimator knn"
        )


def _many(
    metrics: Iterable[Metric], words: Sequence[str], view: str | None, estimator: str
) -> list[Choice]:
    """All of the metrics that take the options, and can be read from the estimator."""
    found = []
    for metric in metrics:
        if estimator != COUNTING and is_starred(metric):
            continue
        try:
            found.append(make_choice(metric, words, view, estimator, named=False))
        except InputError:
            if not words:
                raise
    return found
