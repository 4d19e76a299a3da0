"""The choices of a comparison, checked before anything is read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from calipers.catalogue.choosing import check_estimator, check_keys
from calipers.errors import InputError
from calipers.evaluate.clusters import check_cluster
from calipers.evaluate.groups import check_group
from calipers.metrics.pair import Settings
from calipers.numeric.validation import check_choice, check_whole, is_positive


def check_settings(settings: Settings) -> None:
    """Refuse choices that no metric could be measured by.

    Raises
    ------
    InputError
        If one is out of its range; cells are checked once the sizes of the sets are known.
    """
    check_whole("k", settings.k, 1)
    check_whole("seed", settings.seed, 0)
    check_whole("threads", 1 if settings.threads is None else settings.threads, 1)
    check_choice("ties", settings.ties, ("closed", "open"))
    check_choice("distance", settings.distance, ("euclidean", "cosine"))
    check_choice("projection", settings.projection, ("none", "union"))
    _check_scaling(settings.c)


def check_scope(
    *, metrics: Any, estimator: Any, group: Any, cluster: Any, max_samples: Any, shared: Any
) -> None:
    """Refuse what cannot name metrics, an estimator, a field, a size, or a scope."""
    check_whole("max_samples", 2 if max_samples is None else max_samples, 2)
    check_group(group)
    check_cluster(cluster)
    check_keys(metrics)
    check_estimator(estimator)
    if not isinstance(shared, bool):
        raise InputError(f"shared must be True or False; found {shared!r}")


def _check_scaling(c: Any) -> None:
    """Refuse a scaling constant that brings every frontier to one point."""
    if c is not None and not is_positive(c):
        raise InputError(f"c must be a number above 0, or None; found {c!r}")


def listed(names: Iterable[str]) -> list[str]:
    """Names once each, in their order."""
    return list(dict.fromkeys(names))
