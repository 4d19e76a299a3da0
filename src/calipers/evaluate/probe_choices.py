"""The choices of a probe, checked before anything is read or embedded."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from calipers.catalogue.choosing import check_keys, choose
from calipers.catalogue.keys import split_key
from calipers.errors import InputError, unknown_name
from calipers.evaluate.choices import check_settings
from calipers.evaluate.probe_changes import CHANGES, Change
from calipers.metrics.pair import Settings
from calipers.numeric.validation import check_whole
from calipers.samples import SampleSet, as_sample_set

METRICS = ("mauve_star", "precision", "recall", "classifier_auc")
"""What a view is probed by: scores that `compare` shows, and a classifier, which finds more.

MAUVE*, precision and recall of 250 stories hardly move where sentences change places; held-out rows
are told apart all the same, and a view that a classifier sees a change in is not blind to it.
"""
VIEW = "any"
"""Stands for every view while keys are checked."""


def check_numbers(settings: Settings, seeds: int, max_samples: int | None) -> None:
    """Refuse numbers that no probe could be made with."""
    check_settings(settings)
    check_whole("seeds", seeds, 2)
    check_whole("max_samples", 4 if max_samples is None else max_samples, 4)


def choose_changes(names: str | Iterable[str] | None) -> list[Change]:
    """Find changes by name, in a list or in one string; None for all.

    Raises
    ------
    InputError
        If there is none of that name, or none is named.
    """
    if names is None:
        return list(CHANGES.values())
    listed = names.replace(",", " ").split() if isinstance(names, str) else list(names)
    for name in listed:
        if name not in CHANGES:
            raise unknown_name("change", str(name), CHANGES)
    if not listed:
        raise InputError("changes must name at least one change; found none")
    return [CHANGES[name] for name in dict.fromkeys(listed)]


def choose_metrics(metrics: str | Iterable[str] | None) -> list[str]:
    """Give the keys of the metrics, which must lie between 0 and 1 for a verdict to be read.

    Raises
    ------
    InputError
        If a key is unknown, names a view, or has no such scale.
    """
    check_keys(metrics)
    listed = metrics.replace(",", " ").split() if isinstance(metrics, str) else metrics
    asked = METRICS if listed is None else tuple(listed)
    for each in asked:
        view = split_key(each)[0]
        if view:
            raise InputError(f"{each!r} asks for the view {view!r}; a probe looks at every view")
    choices = choose(asked, (VIEW,))
    for choice in choices:
        scale = choice.metric.range_of(choice.options)
        if scale != (0.0, 1.0) or choice.metric.better == "closest":
            raise InputError(
                f"{choice.name!r} has no scale from 0 to 1, so a probe cannot tell how much a "
                f"change moves it; ask for others, such as {', '.join(METRICS)}"
            )
    return [choice.name for choice in choices]


def read_texts(samples: Any, field: str | None) -> SampleSet:
    """Read the texts of a probe.

    Raises
    ------
    InputError
        If they cannot be read, or are no texts.
    """
    named = isinstance(samples, SampleSet | Path | str)
    found = as_sample_set(samples, name=None if named else "texts", field=field)
    if found.kind != "texts":
        raise InputError(f"{found.name}: a probe changes texts, but this set holds {found.kind}")
    return found


def check_halves(texts: SampleSet, given: int, k: int) -> None:
    """Refuse a set whose halves are too small for balls of k neighbours."""
    if len(texts) // 2 < k + 1:
        cut = f", cut to {len(texts)}" if len(texts) < given else ""
        raise InputError(
            f"{texts.name}: k = {k} needs at least {k + 1} texts in each half, {2 * k + 2} in all; "
            f"it has {given}{cut}"
        )
