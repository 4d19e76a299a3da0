"""What was read from a zip is refused where it does not fit together, before anything reads it.

A zip may come from anywhere. Reports and explanations trust its shapes, types and rows, so all of
them are looked at once, here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from calipers.results.archive_places import check_array, check_places
from calipers.results.samples import Samples
from calipers.results.system import SetSummary, SystemResult

if TYPE_CHECKING:
    from calipers.results.model import Comparison

MOST = 2**53


def check_fits(comparison: Comparison) -> None:
    """Refuse parts that are not those of one comparison.

    Raises
    ------
    TypeError, ValueError
        If a text, a number, a shape or a row cannot be; the message names where.
    """
    _check_settings(comparison.settings)
    summaries = comparison.reference, comparison.train, *(each.summary for each in comparison)
    for summary in summaries:
        if summary is not None:
            _check_summary(summary)
    names = [system.name for system in comparison]
    if len(set(names)) < len(names):
        raise ValueError(f"systems share a name: {names!r:.100}")
    for system in comparison:
        _check_curves(system, comparison.settings["views"])
        for key, score in system.scores.items():
            if score.per_sample is not None:
                check_array(f"{key} of the samples of {system.name!r}", score.per_sample, "biuf", 1)
    reference = comparison.reference_samples
    if reference is not None and reference.vectors:
        _check_all_samples(comparison, reference)


def _check_all_samples(comparison: Comparison, reference: Samples) -> None:
    n = _check_samples("the reference", reference, reference)
    sizes = [
        [_check_samples(system.name, each, reference) for each in system.samples]
        for system in comparison
    ]
    every = n + sum(map(sum, sizes))
    for system, own in zip(comparison, sizes, strict=True):
        if own:
            check_places(system, n, own, every)


def _check_settings(settings: Any) -> None:
    if not isinstance(settings, Mapping):
        raise TypeError(f"settings are {settings!r:.100}, not an object")
    views = settings.get("views")
    if not isinstance(views, list) or not all(isinstance(view, str) for view in views):
        raise TypeError(f"views are {views!r:.100}, not a list of texts")
    for name, least in (("k", 1), ("seed", 0)):
        _check_whole(name, settings.get(name, least), least, optional=True)
    level = settings.get("level")
    if level is not None and not (isinstance(level, float) and 0 < level < 1):
        raise ValueError(f"level is {level!r:.100}, not a number between 0 and 1")


def _check_summary(summary: SetSummary) -> None:
    for name in ("name", "source", "content_hash"):
        value = getattr(summary, name)
        if not isinstance(value, str):
            raise TypeError(f"the {name} of a set is {value!r:.100}, not a text")
    for name in ("n", "n_given"):
        _check_whole(f"{name} of {summary.name!r}", getattr(summary, name), 0)


def _check_whole(name: str, value: Any, least: int, *, optional: bool = False) -> None:
    if optional and value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < MOST:
        raise ValueError(f"{name} is {value!r:.100}, not a whole number of at least {least}")


def _check_samples(name: str, samples: Samples, reference: Samples) -> int:
    """Refuse texts that are none, and vectors unlike those of the reference; how many there are."""
    if set(samples.vectors) != set(reference.vectors):
        raise ValueError(f"the views of {name!r} are not those of the reference")
    for view, vectors in samples.vectors.items():
        where = f"the array of vectors of {name!r} by {view!r}"
        check_array(where, vectors, "iuf", 2)
        if not len(vectors) or vectors.shape[1:] != reference.vectors[view].shape[1:]:
            raise ValueError(f"{where} has shape {vectors.shape}")
        if not np.isfinite(vectors).all():
            raise ValueError(f"{where} holds numbers that are not finite")
    sizes = {len(vectors) for vectors in samples.vectors.values()}
    if samples.listed is not None:
        sizes.add(len(samples.listed))
        if not all(isinstance(text, str) for text in samples.listed):
            raise TypeError(f"a text of {name!r} is no text")
    if len(sizes) > 1:
        raise ValueError(f"{name!r} has vectors or texts of {sorted(sizes)} samples")
    return sizes.pop()


def _check_curves(system: SystemResult, views: Sequence[str]) -> None:
    for key, curve in system.curves.items():
        where = f"the array of curve {key!r} of {system.name!r}"
        check_array(where, curve, "iuf", 2)
        bare = next((key.removeprefix(f"{v}.") for v in views if key.startswith(f"{v}.")), key)
        columns = 2 if bare.split(":")[0] == "prd" else 3
        if not len(curve) or curve.shape[1] != columns:
            raise ValueError(f"{where} has shape {curve.shape}")
    for key, errors in system.curve_errors.items():
        where = f"the array of errors of curve {key!r} of {system.name!r}"
        check_array(where, errors, "iuf", 2)
        if key not in system.curves or errors.shape != system.curves[key].shape:
            raise ValueError(f"{where} has shape {errors.shape}, not that of the curve")
