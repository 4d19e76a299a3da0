"""From values to scores: range and direction from the catalogue, signature, and reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.catalogue.embeddings import METRICS
from calipers.catalogue.estimation import EstimationOptions
from calipers.errors import InputError
from calipers.estimate.knn.neighbourhoods import Neighbourhoods
from calipers.estimate.knn.passes import EXACT
from calipers.score import Score, signature

Pins = Mapping[str, object]


def scored(
    metric: str,
    value: float,
    pins: Pins,
    *,
    options: EstimationOptions | None = None,
    range: tuple[float, float] | None = None,
    reason: str | None = None,
    per_sample: NDArray[Any] | None = None,
    reference: float | None = None,
) -> Score:
    """Complete the value of a metric with the properties in the catalogue.

    Parameters
    ----------
    metric
        A name of the catalogue.
    value, reason, per_sample, reference
        As of :class:`~calipers.score.Score`.
    pins
        All choices behind the value, for its signature.
    options
        What the metric was read by, where its key chooses that.
    range
        A narrower one than the catalogue's, where the sizes of the sets bound the value.
    """
    entry = METRICS[metric]
    key, bounds = metric, entry.range
    if options is not None:
        key, bounds = options.starred_key(metric), entry.range_of(options)
    return Score(
        value=value,
        range=range or bounds,
        better=entry.better,
        signature=signature({"metric": key, **pins}),
        reason=reason,
        per_sample=per_sample,
        reference=reference,
    )


def read_off(
    near: Neighbourhoods, metric: str, value: float, k: int, pins: Pins | None = None, **more: Any
) -> Score:
    """Complete a value of neighbourhoods, whose signature states k, rims, distance and sizes.

    `pins` are what else does; `more` is passed on to :func:`scored`.
    """
    n, m = sizes(near)
    made = {"k": k, "ties": near.ties, "distance": near.distance, **chosen(near)}
    return scored(metric, value, {**made, **(pins or {}), "n": n, "m": m}, **more)


def chosen(near: Neighbourhoods) -> dict[str, object]:
    """Describe how and among which rows neighbours were searched; nothing for all rows."""
    pins: dict[str, object] = {} if near.search == EXACT else {"neighbours": near.search}
    return pins if near.strata is None else pins | {"among": "other_strata"}


def share(
    near: Neighbourhoods, metric: str, hits: NDArray[np.bool_], k: int, pins: Pins | None = None
) -> Score:
    """Return the share of samples that are hit, with the hits themselves."""
    value = int(np.count_nonzero(hits)) / len(hits)
    return read_off(near, metric, value, k, pins, per_sample=hits)


def sizes(near: Neighbourhoods) -> tuple[int, int]:
    """Return the numbers of reference and generated rows."""
    return len(near.reference.radii), len(near.generated.radii)


def too_small(near: Neighbourhoods, k: int, *, measured: bool = True) -> str | None:
    """Explain why these sets have no balls of k neighbours; None where they have.

    Raises
    ------
    InputError
        If the sets are large enough, but the pass over the distances was not asked for it.
    """
    if measured and k <= near.k_max:
        return None
    n, m = sizes(near)
    if min(n, m) <= k:
        return f"k = {k} needs at least {k + 1} samples in each set; found {n} and {m}"
    if near.strata is not None and k <= near.k_max:
        return "not measured where answers to one prompt are not neighbours of each other"
    if near.search != EXACT and k <= near.k_max:
        return "all pairs of samples count, near and far, which an approximate search does not see"
    raise InputError(
        f"the neighbourhoods do not hold what this metric needs for k = {k}; "
        f"found k_max = {near.k_max} and {near.supports}"
    )
