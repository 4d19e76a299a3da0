"""Metrics by the names that a person writes: which are asked for, and what they need measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from typing import Any

from calipers.errors import InputError, unknown_name
from calipers.metrics.entries import METRICS, Metric
from calipers.metrics.needs import NOTHING, Needs

__all__ = ["METRICS", "Choice", "Metric", "choose", "key", "needs_of"]


@dataclass(frozen=True)
class Choice:
    """A metric that was asked for, in one view or in all of them."""

    metric: Metric
    view: str | None

    @property
    def key(self) -> str:
        """The choice as a person would write it."""
        return self.metric.name if self.view is None else f"{self.view}.{self.metric.name}"


def choose(names: str | Iterable[str] | None, views: tuple[str, ...]) -> tuple[Choice, ...]:
    """Turn names as a person writes them into metrics and views.

    Parameters
    ----------
    names
        Keys ``[view.]metric``, in a list or in one string; a plain name means every view, a view
        every metric in it, ``all`` every metric. None means all but those that share no estimate
        with others and take their own time (TopP, TopR).
    views
        The views of the embedder, the main one first.

    Raises
    ------
    InputError
        If a metric or a view is unknown; the nearest names are suggested.
    """
    if isinstance(names, str):
        names = names.replace(",", " ").split()
    chosen: dict[tuple[str | None, str], Choice] = {}
    usual = [name for name, metric in METRICS.items() if not metric.on_request]
    for name in usual if names is None else names:
        for choice in _expand(name, views):
            chosen.setdefault((choice.view, choice.metric.name), choice)
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


def needs_of(metrics: Iterable[Metric]) -> Needs:
    """Bring together what these metrics need measured, for `Pair.needs`."""
    needs = NOTHING
    for metric in metrics:
        needs |= metric.needs
    return needs


def key(view: str, metric: str, views: tuple[str, ...]) -> str:
    """Return the key of a score: the first view goes without its name."""
    return metric if view == views[0] else f"{view}.{metric}"


def _expand(name: str, views: tuple[str, ...]) -> list[Choice]:
    if name == "all":
        return [Choice(metric, None) for metric in METRICS.values()]
    view, _, rest = name.rpartition(".")
    if view and view not in views:
        raise unknown_name("view", view, views)
    if name in views:
        view, rest = name, "all"
    if rest == "all":
        return [Choice(metric, view) for metric in METRICS.values()]
    base, _, option = rest.partition(":")
    if base not in METRICS:
        raise unknown_name("metric", base, [*METRICS, "all"])
    if option:
        raise InputError(f"metric {base!r} takes no option; found {name!r}{_hint(option)}")
    return [Choice(METRICS[base], view or None)]


def _hint(option: str) -> str:
    """Say what brings the scores that carry an option."""
    if option == "train":
        return "; a training set (--train FILE, train=...) brings these scores by itself"
    if option.startswith(("group=", "own=")):
        return "; a field of groups (--group FIELD, group=...) brings these scores by itself"
    return ""
