"""How scores are read off neighbourhoods: signed alike, undefined with a reason."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.estimate.knn.neighbourhoods import Neighbourhoods
from calipers.score import Score, signature


def sizes(near: Neighbourhoods) -> tuple[int, int]:
    """The number of reference and of generated rows."""
    return len(near.reference.radii), len(near.generated.radii)


def signed(metric: str, near: Neighbourhoods, k: int, **own: object) -> str:
    """The signature of a score that is read off neighbourhoods: k, rims, distance, sizes."""
    n, m = sizes(near)
    pins = {"metric": metric, "k": k, "ties": near.ties, "distance": near.distance}
    return signature(pins | own | {"n": n, "m": m})


def share(metric: str, hits: NDArray[np.bool_], near: Neighbourhoods, k: int, **own: Any) -> Score:
    """The share of samples that are hit, with the hits themselves."""
    value = int(np.count_nonzero(hits)) / len(hits)
    return Score(value=value, signature=signed(metric, near, k, **own), per_sample=hits)


def too_small(near: Neighbourhoods, k: int, *, measured: bool = True) -> str | None:
    """Why these sets have no balls of k neighbours; None where they were measured.

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
    raise InputError(
        f"the neighbourhoods do not hold what this metric needs for k = {k}; "
        f"found k_max = {near.k_max} and {near.supports}"
    )
